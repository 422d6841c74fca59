// Saving a store to a file, and opening one from it: for services that restart without losing their
// lists. docs/saved_store.md describes the file byte by byte.
//
//   liststore::SaveListStore(*store, "/var/lib/service/lists.saved");
//   ...
//   auto store = liststore::LoadListStore("/var/lib/service/lists.saved", options);
//   if (!store.ok()) store = liststore::ListStore::Open(options);   // empty
//
// A file holds all features and versions, and every item with its value, write timestamp, TTL and
// the instant at which it ends; of lists that were also written by CQL, deletions and what else
// later writes may depend on; of lists in a cache, whether they are complete, and their freshness
// (docs/cache.md, Restarts). Nothing of it depends on the number of shards.
//
// No exception is thrown.
#ifndef LISTSTORE_SAVED_STORE_H_
#define LISTSTORE_SAVED_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "liststore/list_store.h"
#include "liststore/options.h"

namespace liststore {

struct SaveOptions {
  // Returns when the file would survive a loss of power. False: as soon as other processes see it;
  // for files that a crash of the machine may take.
  bool sync = true;
};

struct SavedStoreInfo {
  uint64_t lists = 0;  // with those that were put empty and are kept
  uint64_t items = 0;  // with those that only shadow others, where CQL has written
  uint64_t features = 0;
  uint64_t bytes = 0;           // of the file
  uint64_t saved_at_nanos = 0;  // since the epoch, by the clock of the store that was saved
};

// Writes all content of `store` to `path`, in place of a file that is there: first to
// "<path>.saving", which is then renamed, so that `path` is the old file or the new one and never a
// part. Mode 0600.
//
// Any thread; other operations go on meanwhile. The store is copied in slices of about 128 lists,
// each under one short hold. Every list is as it was at one instant of the call, whole; different
// lists at different instants: an addition to many lists may be in the file in part, whatever was
// there before the call and not changed since is in it. A feature deleted meanwhile leaves nothing
// behind. A list longer than a slice is copied in one hold too, 10 ns an item: a million items hold
// its lane for 10 ms. Memory: some hundred KiB, and twice the longest list.
//
// Errors: what the kernel says of the file (NotFound: no such directory; PermissionDenied;
// ResourceExhausted: no space), Unavailable: another save to `path` is under way. After an error
// the old file is there unchanged, but when the last step, the sync of the directory, has failed.
absl::StatusOr<SavedStoreInfo> SaveListStore(const ListStore& store, const std::string& path,
                                             const SaveOptions& options = {});

// Opens a store with the content of a file. Items that have ended meanwhile, by `options.clock`,
// are left out; the others end when they would have. `options.shards` may be another number, and
// values longer than `options.value_bytes_max` stay. Writes get timestamps above all of those
// loaded.
//
// There is a store only when the whole file was sound and fitted. InvalidArgument: an option, or
// not a saved store. FailedPrecondition: of a newer version. DataLoss: damaged or cut off; the
// message says at which offset, in which block, what was expected and found. ResourceExhausted: it
// does not fit options.memory_limit_bytes; a store that evicts keeps what fits. NotFound,
// PermissionDenied: the file.
//
// `info`, when given, receives what was in the file.
absl::StatusOr<std::unique_ptr<ListStore>> LoadListStore(const std::string& path, Options options,
                                                         SavedStoreInfo* info = nullptr);

}  // namespace liststore

#endif  // LISTSTORE_SAVED_STORE_H_
