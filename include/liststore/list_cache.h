// ListCache: a cache of lists in a service, in front of a slower store (the source).
//
// A read of a cached list is as fast as a read of a ListStore. A read of another list calls the
// service's loader, puts the whole list into the store and answers from it; however many reads miss
// the same list at a time, it is loaded once. The store underneath has a memory limit and evicts
// (MemoryPolicy::kEvict). A list that it holds in part only counts as missing, so that a part is
// never taken for the whole.
//
//   liststore::ListCacheOptions options;
//   options.store.memory_limit_bytes = 512 << 20;
//   options.fresh_for_seconds = 60;
//   options.loader = [&](liststore::ListLoad& load) {
//     for (size_t i = 0; i < load.size(); ++i) load.Answer(i, database.Items(load.list(i)));
//     return absl::OkStatus();
//   };
//   auto cache = liststore::ListCache::Open(std::move(options));
//   (*cache)->store().CreateListFeature("user", "reading_history", 30 * 86'400);
//   ...
//   liststore::ListItems items;
//   absl::Status status = (*cache)->GetListItems(list, {.limit = 10}, &items);
//
// Thread-safe. The loader and the writer run on the thread of the call that needs them; refreshes
// run on the executor's thread, if there is an executor. No part of the store is locked meanwhile:
// they may be slow, and may call the cache.
#ifndef LISTSTORE_LIST_CACHE_H_
#define LISTSTORE_LIST_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "liststore/list_item.h"
#include "liststore/list_ref.h"
#include "liststore/list_store.h"
#include "liststore/options.h"

namespace liststore {

// One call of the loader: the lists to load, all different, and where their items go. Valid for the
// length of the call.
class ListLoad {
 public:
  virtual ~ListLoad() = default;
  virtual size_t size() const = 0;
  // `index` < size() (checked), here and below. Valid for the length of the call.
  virtual const ListId& list(size_t index) const = 0;
  // Gives the whole content of a list, in any order; no items: the source has no such list. The
  // items are copied, and reads that wait for the list continue, before this returns. Any thread
  // may call it until the loader returns. Only the first answer for a list counts; later ones are
  // ignored, and counted in ListCacheStats::answers_ignored.
  virtual void Answer(size_t index, std::span<const NewItem> items) = 0;
  // Says that this list could not be loaded. `status` is not OK.
  virtual void Fail(size_t index, absl::Status status) = 0;
};

// Loads lists from the source. An error applies to all lists that got no answer. If the loader
// returns OK, a list without an answer is an Internal error.
using ListLoader = std::function<absl::Status(ListLoad& load)>;

// A change of a list, for the source.
struct ListChange {
  enum class Kind : uint8_t {
    kAdd,              // adds `items`
    kRemoveWithValue,  // removes all items whose value equals `value`
    kRemoveAll,        // removes all items
  };
  Kind kind = Kind::kAdd;
  ListId list = {};
  std::span<const NewItem> items = {};
  std::string_view value = {};
};

// Applies a change to the source. After an error the change may or may not have been applied.
using ListWriter = std::function<absl::Status(const ListChange& change)>;

// What happens to the cached copy of a list that changes.
enum class CacheWritePolicy : uint8_t {
  kThrough,  // it is changed too
  kAround,   // it is dropped, and the next read loads the list
};

struct ListCacheOptions {
  // The store underneath. memory_policy and lists_live_elsewhere are set by the cache. With a data_dir
  // the cache is warm when it is opened again; docs/cache.md says what may be stale then.
  Options store;

  // Required.
  ListLoader loader;
  // The most lists in one call of the loader; more are loaded by several calls, one after the
  // other. 1 to 65,535.
  size_t lists_per_load_max = 1'000;

  // How long a loaded list is fresh, that is, served without loading it again. 0: until it is
  // evicted or has expired. This and the next three options are at most 20 years.
  int64_t fresh_for_seconds = 0;
  // How long the cache remembers that the source does not have a list, or that all of its items
  // have expired, so that reads of it do not reach the source each time. 0: not at all.
  int64_t absent_for_seconds = 10;
  // How much longer a list that is no longer fresh is served if it cannot be loaded.
  int64_t stale_for_seconds = 0;
  // The first read that finds a list with at most this much freshness left refreshes it, that is,
  // loads it again; this read and those that come meanwhile get the present copy. Less than
  // fresh_for_seconds. 0: lists are not refreshed ahead.
  int64_t refresh_ahead_seconds = 0;
  // Runs refreshes, for example on threads of a pool; it must run each task once. Unset: they run
  // on the thread of the read. The destructor of the cache waits for the tasks that it has handed
  // out.
  std::function<void(std::function<void()>)> executor;

  // Applies changes made through the cache to the source. Unset: the service has changed the source
  // itself before it tells the cache.
  ListWriter writer;
  CacheWritePolicy write_policy = CacheWritePolicy::kThrough;
};

// Counts since the cache was opened. Stats::cache of the store says how reads were answered: what
// is not a hit there was loaded. A write-through reads the copy first, which counts there as a
// read.
struct ListCacheStats {
  uint64_t loader_calls = 0;
  uint64_t lists_loaded = 0;     // lists that the loader answered for, absent ones included
  uint64_t lists_absent = 0;     // of these, lists that the source does not have
  uint64_t load_failures = 0;    // lists that could not be loaded
  uint64_t load_nanos = 0;       // time in the loader, all calls
  uint64_t load_nanos_max = 0;   // time of the longest call
  uint64_t reads_joined = 0;     // reads that waited for a load begun by another read
  uint64_t stale_served = 0;     // reads answered with a list that was no longer fresh
  uint64_t refreshes = 0;        // lists loaded ahead (refresh_ahead_seconds)
  uint64_t loads_overtaken = 0;  // lists not kept, because they changed while they were loaded
  uint64_t loads_not_kept = 0;   // lists not kept, because the store had no room
  uint64_t answers_ignored = 0;  // second answers for one list
  uint64_t writer_failures = 0;  // calls of the writer that returned an error
};

class ListCache {
 public:
  // InvalidArgument: no loader, or an option out of bounds. Other errors: as ListStore::Open.
  static absl::StatusOr<std::unique_ptr<ListCache>> Open(ListCacheOptions options);
  // Opens a cache on an existing store, for example one loaded from a file (saved_store.h): lists
  // that are fresh in it are answered without a load. options.store is ignored. InvalidArgument
  // also: `store` is nullptr, or not opened with MemoryPolicy::kEvict and lists_live_elsewhere. The
  // store does not know what changed at the source after the file was written: fresh_for_seconds
  // bounds how long old content is served; invalidate lists that were put without a freshness.
  static absl::StatusOr<std::unique_ptr<ListCache>> Open(ListCacheOptions options,
                                                         std::unique_ptr<ListStore> store);
  // No operation may be running. Waits for refreshes.
  ~ListCache();
  ListCache(const ListCache&) = delete;
  ListCache& operator=(const ListCache&) = delete;

  // ---- Reads ----
  // Like those of ListStore, of the source's lists. An error of the loader is returned, and `items`
  // is empty, unless the list may be served stale. FailedPrecondition: a loader asked for a list
  // that it is loading, or that its thread will load with its next call. A read of a list that is
  // gone while its refresh waits in the executor waits for that refresh, so the executor must not
  // run tasks on threads that read.

  absl::Status GetListItems(const ListRef& list, const GetOptions& options, ListItems* items);
  // One call of the loader, or several with lists_per_load_max, loads all lists that are missing.
  // Returns the first list's error; the lists without an error are filled nevertheless.
  absl::Status MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                 std::vector<ListItems>* items);

  // ---- Writes ----
  // A write changes the source first, through the writer, and then the copy. A read that begins
  // after a write has returned sees the write: a load that began earlier is not kept. If the writer
  // fails, its error is returned and the copy is dropped, since the state of the source is unknown.
  // It is no error if the store cannot apply the change (memory limit, unknown feature): the copy
  // is dropped. It is also dropped when writes or invalidations of one list overlap, since their
  // order at the source is unknown. Without a writer, the service must report the changes of a list
  // one after the other, in the order in which the source has them.

  absl::Status AddListItems(const ListRef& list, std::span<const NewItem> items);
  absl::Status RemoveListItemsWithValue(const ListRef& list, std::string_view value);
  absl::Status RemoveAllListItems(const ListRef& list);
  // Drops the copy, because the list was changed at the source in another way.
  absl::Status Invalidate(const ListRef& list);

  // ---- Housekeeping ----

  // The store underneath, for features, statistics and Reclaim. Writes to it do not reach the
  // source.
  ListStore& store();
  ListCacheStats GetStats() const;

 private:
  class Impl;
  explicit ListCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_CACHE_H_
