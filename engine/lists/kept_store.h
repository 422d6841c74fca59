// KeptStore: opens a ListStore through any FileCalls. The public face is ListStore::Open.
#ifndef LISTSTORE_ENGINE_LISTS_KEPT_STORE_H_
#define LISTSTORE_ENGINE_LISTS_KEPT_STORE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/disk/file_calls.h"
#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "liststore/options.h"

namespace liststore {

class KeptStore {
 public:
  // `calls` and `log_clock`, by which a disk that failed is tried again, outlive the store.
  static absl::StatusOr<std::unique_ptr<ListStore>> Open(
      disk::FileCalls& calls, Options options, const Clock& log_clock = SystemClock::Instance());
  // The same without its last steps, the keeper's beginning and the threads: nothing is kept so far, and the
  // directory has its lock more at most.
  static absl::StatusOr<std::unique_ptr<ListStore>> Prepare(disk::FileCalls& calls, Options options,
                                                            const Clock& log_clock);
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_KEPT_STORE_H_
