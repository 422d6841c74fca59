// SavedStore: saves a list store to a file and loads it, through any FileCalls. The public face is
// liststore/saved_store.h.
#ifndef LISTSTORE_ENGINE_LISTS_SAVED_STORE_H_
#define LISTSTORE_ENGINE_LISTS_SAVED_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/disk/byte_stream.h"
#include "engine/disk/file_calls.h"
#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "liststore/options.h"
#include "liststore/saved_store.h"

namespace liststore {

class SavedStore {
 public:
  static absl::StatusOr<SavedStoreInfo> Save(disk::FileCalls& calls, const ListStore& store,
                                             const std::string& path, const SaveOptions& options);
  // `calls` and `log_clock` are those of the data directory: KeptStore::Open. It has to be empty, and
  // begins with what was loaded when all of it is there: a load that ends before leaves it empty.
  static absl::StatusOr<std::unique_ptr<ListStore>> Load(
      disk::ByteSource& source, Options options, SavedStoreInfo* info,
      disk::FileCalls& calls = disk::KernelFileCalls(),
      const Clock& log_clock = SystemClock::Instance());
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_SAVED_STORE_H_
