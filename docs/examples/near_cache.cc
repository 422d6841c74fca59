// A cache beside a service, in front of a store that is slow: the example of docs/embedding.md,
// which shows this file word for word.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "liststore/list_cache.h"

// Stands for the slow store: reading histories by user.
using Histories = std::map<std::string, std::vector<liststore::NewItem>, std::less<>>;

int main() {
  const uint64_t now = liststore::SystemClock::Instance().NowNanos();
  const Histories slow_store = {{"17", {{now - 2, "story-1"}, {now - 1, "story-2"}}}};

  liststore::ListCacheOptions options;
  options.store.memory_limit_bytes = uint64_t{64} << 20;
  options.fresh_for_seconds = 60;
  options.loader = [&](liststore::ListLoad& load) {
    std::printf("%zu lists loaded\n", load.size());
    for (size_t i = 0; i < load.size(); ++i) {
      const auto found = slow_store.find(load.list(i).entity_id);
      if (found == slow_store.end()) {
        load.Answer(i, {});  // there is no such list, which is remembered as well
      } else {
        load.Answer(i, found->second);
      }
    }
    return absl::OkStatus();
  };
  auto cache = liststore::ListCache::Open(std::move(options));
  if (!cache.ok()) return 1;
  if (!(*cache)->store().CreateListFeature("user", "reading_history", 30 * 86'400).ok()) return 1;

  const std::vector<liststore::ListId> lists = {{"user", "reading_history", "", "17"},
                                                {"user", "reading_history", "", "18"}};
  std::vector<liststore::ListItems> histories;  // used again from call to call
  for (int round = 0; round < 2; ++round) {
    if (!(*cache)->MultiGetListItems(lists, {.limit = 10}, &histories).ok()) return 1;
    for (size_t i = 0; i < lists.size(); ++i) {
      std::printf("user %s: %zu items\n", lists[i].entity_id.data(), histories[i].size());
    }
  }
  return 0;
}
