// ListCache: lists kept beside a service, in front of the slower store where they live.
//
// A read that finds its list here is answered at the speed of a ListStore. One that does not calls
// the service's loader, once per list however many ask for it at that moment, puts what came into
// the store, whole, and answers from it. The store underneath has a memory limit and evicts
// (MemoryPolicy::kEvict); a list of which it has only a part counts as missing, so that a part is
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
// Thread-safe. The loader and the writer run on the thread of the call that needs them (refreshes
// on the executor's, if there is one), while no part of the store is held: they may take their
// time, and may call the cache.
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

// One call of the loader: the lists that are wanted, all different, and where their items go. Lives
// for the length of the call.
class ListLoad {
 public:
  virtual ~ListLoad() = default;
  virtual size_t size() const = 0;
  // `index` < size(), checked, here and below. Borrowed for the length of the call.
  virtual const ListId& list(size_t index) const = 0;
  // The whole content of a list, in any order; none: the source has no such list. Copied before
  // this returns, and from then on those who wait for the list go on. Any thread, until the loader
  // returns. The first answer counts; later ones are ignored and counted.
  virtual void Answer(size_t index, std::span<const NewItem> items) = 0;
  // This list could not be loaded. `status` is not OK.
  virtual void Fail(size_t index, absl::Status status) = 0;
};

// Loads lists from the source. An error is that of all lists without an answer; with OK, a list
// without one is an Internal error.
using ListLoader = std::function<absl::Status(ListLoad& load)>;

// A change of a list, on its way to the source.
struct ListChange {
  enum class Kind : uint8_t {
    kAdd,              // `items`
    kRemoveWithValue,  // all items of `value`
    kRemoveAll,
  };
  Kind kind = Kind::kAdd;
  ListId list = {};
  std::span<const NewItem> items = {};
  std::string_view value = {};
};

// Carries a change out at the source. An error means that it may or may not have happened there.
using ListWriter = std::function<absl::Status(const ListChange& change)>;

// What becomes of the cache's copy when a list changes.
enum class CacheWritePolicy : uint8_t {
  kThrough,  // it changes as well
  kAround,   // it goes, and the next read loads
};

struct ListCacheOptions {
  // The store underneath. memory_policy and lists_live_elsewhere are set by the cache.
  Options store;

  // Required.
  ListLoader loader;
  // Lists that one call of the loader asks for; more are loaded by several calls, one after the
  // other. 1 to 65,535.
  size_t lists_per_load_max = 1'000;

  // How long a loaded list is served without asking again. 0: until it is evicted or has expired.
  // All three at most 20 years.
  int64_t fresh_for_seconds = 0;
  // The same for lists that the source does not have, or of which all items are over, so that
  // asking for them again and again does not reach it each time. 0: they are not remembered.
  int64_t absent_for_seconds = 10;
  // A list that is not fresh any more is served so much longer when it cannot be loaded.
  int64_t stale_for_seconds = 0;
  // The first read that finds a list with less freshness left than this loads it anew, ahead of
  // need; it, and those that come meanwhile, get what is there. Less than fresh_for_seconds.
  int64_t refresh_ahead_seconds = 0;
  // Runs refreshes somewhere else, some time; each task once. Unset: they run on the thread of the
  // read. The cache's destructor waits for tasks that it has handed out.
  std::function<void(std::function<void()>)> executor;

  // Carries out changes made through the cache. Unset: the service has done so itself, before.
  ListWriter writer;
  CacheWritePolicy write_policy = CacheWritePolicy::kThrough;
};

// Since the cache was opened. How reads were answered is in Stats::cache of the store: what is not
// a hit there was loaded. A write-through looks at the copy first, which counts there as a read.
struct ListCacheStats {
  uint64_t loader_calls = 0;
  uint64_t lists_loaded = 0;     // answered by the loader, those it does not have included
  uint64_t lists_absent = 0;     // among them: the source has no such list
  uint64_t load_failures = 0;    // lists that could not be loaded
  uint64_t load_nanos = 0;       // spent in the loader, in all
  uint64_t load_nanos_max = 0;   // by the longest call
  uint64_t reads_joined = 0;     // reads that waited for a load begun by another
  uint64_t stale_served = 0;     // reads answered by a list no longer fresh
  uint64_t refreshes = 0;        // lists loaded ahead of need
  uint64_t loads_overtaken = 0;  // lists that changed while they were loaded, and were not kept
  uint64_t loads_not_kept = 0;   // lists that the store had no room for
  uint64_t answers_ignored = 0;  // second answers for a list
  uint64_t writer_failures = 0;
};

class ListCache {
 public:
  // InvalidArgument: no loader, or an option out of its bounds. Else as ListStore::Open.
  static absl::StatusOr<std::unique_ptr<ListCache>> Open(ListCacheOptions options);
  // On a store that there is already, for one as it was saved (saved_store.h): lists that are fresh
  // in it are answered without a load. options.store is not looked at. InvalidArgument also: it is
  // not of MemoryPolicy::kEvict with lists_live_elsewhere, or nullptr. What changed at the source
  // since the file was written the store does not know: fresh_for_seconds bounds for how long, and
  // a list without a freshness is to be invalidated.
  static absl::StatusOr<std::unique_ptr<ListCache>> Open(ListCacheOptions options,
                                                         std::unique_ptr<ListStore> store);
  // No operation may be running; waits for refreshes.
  ~ListCache();
  ListCache(const ListCache&) = delete;
  ListCache& operator=(const ListCache&) = delete;

  // --- Reads: as those of ListStore, of the source's lists. -------------------------------------
  // An error of the loader is the call's, unless the list may be served stale. `items` then has
  // nothing. FailedPrecondition: a loader asks for a list that it is loading, or that its
  // thread is to load by the next call. Reads that find a list gone whose refresh the executor has
  // not begun wait for it: the executor does not run tasks on threads that read.

  absl::Status GetListItems(const ListRef& list, const GetOptions& options, ListItems* items);
  // All lists that have to be loaded are loaded by one call of the loader (lists_per_load_max). An
  // error is the first list's that has one; the others are filled all the same.
  absl::Status MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                 std::vector<ListItems>* items);

  // --- Writes: the source first, by the writer; then the copy here. ------------------------------
  // A read that begins after a write returned sees it: a load that began before is not kept. When
  // the writer fails, its error is returned and the copy forgotten, as what became of the source is
  // unknown. What the store cannot take (its limit, a feature it does not know) is no error: the
  // copy goes. It also goes when changes of one list overlap, through here or told by Invalidate:
  // nobody knows in which order they came to the source. Without a writer, changes of a list are
  // told one after the other, in the order in which the source has them.

  absl::Status AddListItems(const ListRef& list, std::span<const NewItem> items);
  absl::Status RemoveListItemsWithValue(const ListRef& list, std::string_view value);
  absl::Status RemoveAllListItems(const ListRef& list);
  // The source has changed by another way: the copy goes.
  absl::Status Invalidate(const ListRef& list);

  // --- Housekeeping -----------------------------------------------------------------------------

  // The store underneath: features, statistics, Reclaim. What is written to it is not written to
  // the source.
  ListStore& store();
  ListCacheStats GetStats() const;

 private:
  class Impl;
  explicit ListCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_CACHE_H_
