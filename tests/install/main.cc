// What a stranger's first program may look like. Standard output is compared by the test.
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "liststore/clock.h"
#include "liststore/list_item.h"
#include "liststore/list_store.h"
#include "liststore/options.h"
#include "liststore/stats.h"
#include "liststore/version.h"

int main() {
  constexpr uint64_t kNow = 1'700'000'000'000'000'000;
  const liststore::ManualClock clock(kNow);
  liststore::Options options;
  options.clock = &clock;
  options.memory_limit_bytes = 64 << 20;
  auto store = liststore::ListStore::Open(options);
  if (!store.ok()) return 1;
  if (!(*store)->CreateListFeature("user", "reading_history", 86'400).ok()) return 2;

  const liststore::ListId list{"user", "reading_history", "", "17"};
  const std::vector<liststore::NewItem> items = {{kNow - 1, "older"}, {kNow, "newer"}};
  if (!(*store)->AddListItems(list, items).ok()) return 3;

  liststore::ListItems newest;
  if (!(*store)->GetListItems(list, liststore::GetOptions{}, &newest).ok()) return 4;
  std::printf("liststore %s:", liststore::kVersion);
  for (const liststore::ListItemView item : newest) {
    std::printf(" %.*s", static_cast<int>(item.value.size()), item.value.data());
  }
  std::printf(", keys of %zu characters, %u tables\n", newest[0].item_key().size(),
              static_cast<unsigned>((*store)->GetStats().tables.size()));
  return 0;
}
