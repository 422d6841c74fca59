// Saving a store to a file, and loading it from there, for services that keep their lists over a
// restart. docs/saved_store.md describes the format of the file.
//
//   liststore::SaveListStore(*store, "/var/lib/service/lists.saved");
//   ...
//   auto store = liststore::LoadListStore("/var/lib/service/lists.saved", options);
//   if (!store.ok()) store = liststore::ListStore::Open(options);   // empty
//
// The file holds all features and versions, and every item with its value, write timestamp, TTL and
// expiry; for lists that were also written through CQL, the tombstones and everything else that
// later writes may depend on; for cached lists, whether they are complete, and their freshness
// (docs/cache.md, Restarts). It does not depend on the number of shards.
//
// Throws no exceptions.
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
  // True: returns when the file survives a loss of power. False: returns as soon as other processes
  // see the file, which a crash of the machine may destroy.
  bool sync = true;
  SnapshotCompression compression = SnapshotCompression::kNone;
};

struct SavedStoreInfo {
  uint64_t lists = 0;  // also lists that were put empty
  uint64_t items = 0;  // also tombstones of items, where CQL has written
  uint64_t features = 0;
  uint64_t bytes = 0;           // of the file
  uint64_t saved_at_nanos = 0;  // since the epoch, by the clock of the store that was saved
};

// Writes all content of `store` to `path` and replaces a file there. Writes to "<path>.saving" and
// then renames it, so that `path` is always the whole old file or the whole new one. Mode 0600.
//
// Any thread may call it; other operations continue meanwhile. The store is copied in slices of
// about 128 lists, each under one short lock. Each list is saved whole, as it was at one instant of
// the call, but different lists at different instants: an addition to many lists may be in the file
// in part. What was there before the call and did not change meanwhile is in the file. A feature
// that is deleted meanwhile leaves nothing in it. A list longer than a slice is also copied under
// one lock, 10 ns per item: a million items lock their part of the store for 10 ms. Needs some
// hundred KiB of memory, and twice the longest list.
//
// Errors: those of the kernel for the file (NotFound: no such directory; PermissionDenied;
// ResourceExhausted: no space). Unavailable: another save to `path` is running. After an error the
// old file is unchanged, except when the last step, the sync of the directory, fails.
absl::StatusOr<SavedStoreInfo> SaveListStore(const ListStore& store, const std::string& path,
                                             const SaveOptions& options = {});

// Opens a store with the content of a file. Items that have expired meanwhile, by `options.clock`,
// are left out; the others expire when they would have. The number of shards may differ from that
// of the saved store, and values longer than `options.value_bytes_max` are kept. Later writes get
// timestamps above all loaded ones.
//
// Returns a store only if the whole file is valid and fits. InvalidArgument: an option is out of
// bounds, or the file is not a saved store. FailedPrecondition: the file is of a newer version.
// DataLoss: the file is damaged or truncated; the message says at which offset, in which block,
// what was expected and what was found. ResourceExhausted: the content does not fit into
// options.memory_limit_bytes; a store that evicts keeps what fits. NotFound, PermissionDenied: the
// file cannot be read.
//
// With `options.data_dir`, which has to be empty, what was loaded is there as a snapshot before this returns;
// FailedPrecondition: the directory has something.
//
// `info`, if not nullptr, receives what was in the file.
absl::StatusOr<std::unique_ptr<ListStore>> LoadListStore(const std::string& path, Options options,
                                                         SavedStoreInfo* info = nullptr);

}  // namespace liststore

#endif  // LISTSTORE_SAVED_STORE_H_
