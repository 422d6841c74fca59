// What somebody read lately: the example of docs/embedding.md, which shows this file word for word; README.md
// shows a part of it.
#include <cstdio>
#include <vector>

#include "liststore/list_store.h"

int main() {
  auto store = liststore::ListStore::Open({});
  if (!store.ok()) return 1;
  constexpr int64_t kThirtyDays = 30 * 86'400;
  if (!(*store)->CreateListFeature("user", "reading_history", kThirtyDays).ok()) return 1;

  const uint64_t now = liststore::SystemClock::Instance().NowNanos();
  const liststore::ListId list{"user", "reading_history", "", "17"};
  const std::vector<liststore::NewItem> read = {{now - 2, "story-1"}, {now - 1, "story-2"}};
  if (!(*store)->AddListItems(list, read).ok()) return 1;

  liststore::ListItems newest;  // used again from call to call, a read allocates nothing
  if (!(*store)->GetListItems(list, {.limit = 10}, &newest).ok()) return 1;
  for (const liststore::ListItemView item : newest) {
    std::printf("%.*s\n", static_cast<int>(item.value.size()), item.value.data());
  }
  return (*store)->RemoveListItemsWithValue(list, "story-1").value_or(0) == 1 ? 0 : 1;
}
