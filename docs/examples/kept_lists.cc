// Lists that are there again when the program starts the next time: an example of
// docs/embedding.md, which shows this file word for word.
#include <cstdio>

#include "liststore/list_store.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  liststore::Options options;
  options.data_dir = argv[1];
  options.commit_log = liststore::CommitLog::kSync;
  auto store = liststore::ListStore::Open(options);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
    return 1;
  }
  const absl::Status created = (*store)->CreateListFeature("user", "reading_history", 30 * 86'400);
  if (!created.ok() && !absl::IsAlreadyExists(created)) return 1;

  const liststore::ListId list{"user", "reading_history", "", "17"};
  const liststore::NewItem read{liststore::SystemClock::Instance().NowNanos(), "story-1"};
  if (!(*store)->AddListItems(list, {&read, 1}).ok()) return 1;  // on the disk when it returns
  std::printf("read so far: %zu\n", (*store)->CountListItems(list).value_or(0));

  // Now and then: what the log has is read again at the start.
  if ((*store)->GetStats().log_bytes > (uint64_t{1} << 30))
    return (*store)->Snapshot().ok() ? 0 : 1;
  return 0;
}
