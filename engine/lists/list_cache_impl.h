// What a ListCache is made of; for its own sources.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_CACHE_IMPL_H_
#define LISTSTORE_ENGINE_LISTS_LIST_CACHE_IMPL_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/mutex.h"
#include "engine/base/seconds.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "engine/lists/load_flight.h"
#include "engine/lists/writes_under_way.h"
#include "liststore/list_cache.h"

namespace liststore {

class ListCache::Impl {
 public:
  Impl(ListCacheOptions cache_options, std::unique_ptr<ListStore> list_store)
      : options_(std::move(cache_options)), store_(std::move(list_store)) {}
  ~Impl() {
    const MutexLock lock(refreshes_mutex_);
    while (refreshes_under_way_ != 0) refreshes_ended_.wait(refreshes_mutex_);
  }

  ListStore& store() { return *store_; }
  ListStore::Impl& store_impl() { return *store_->impl_; }

  // Completes a read: `items` is what the store has.
  absl::Status Served(const ListRef& list, const GetOptions& get, ListItems& items);
  absl::Status MultiGet(const ListRefs& lists, const GetOptions& get,
                        std::vector<ListItems>& items);
  // `change` is for the writer, without the list's names; `apply` changes the copy.
  template <typename Apply>
  absl::Status Write(const ListRef& list, ListChange change, const Apply& apply);
  absl::Status Invalidate(const ListRef& list);
  ListCacheStats stats() const {
    const MutexLock lock(stats_mutex_);
    return stats_;
  }

 private:
  class LoadOfFlights;
  class Refresh;
  class Led;
  using AllLed = std::vector<Led>;
  struct Joined;
  enum class Held : uint8_t {
    kFresh,
    kAgeing,  // fresh, but to be refreshed
    kStale,
    kMissing,
  };
  void Count(uint64_t ListCacheStats::*counter) {
    const MutexLock lock(stats_mutex_);
    ++(stats_.*counter);
  }
  void CountLoaderCall(uint64_t nanos) {
    const MutexLock lock(stats_mutex_);
    ++stats_.loader_calls;
    stats_.load_nanos += nanos;
    stats_.load_nanos_max = std::max(stats_.load_nanos_max, nanos);
  }

  int64_t NowSeconds() { return WholeSeconds(store_impl().NowForReads()); }
  Held HeldOf(const ListItems& items);
  // Whether a list may be served although its load has failed.
  bool MayServeStale(const ListItems& items);

  absl::StatusOr<Joined> Join(const ListRef& list);
  // Loads the lists of flights that the caller leads; all have landed when it returns.
  void Load(std::span<const Led> flights);
  void LoadSome(std::span<const Led> flights);
  // Whether a list has no live items at the source, and so counts as absent.
  bool IsOver(const ListId& list, std::span<const NewItem> items);
  // Puts what was loaded into the store and lands the flight.
  bool Land(LoadFlight& flight, std::span<const NewItem> items);
  bool LandFailed(LoadFlight& flight, absl::Status status) noexcept;
  // Waits for a flight and answers a read from it. `items` is what the store had, and `held` its
  // state.
  absl::Status Answer(const LoadFlight& flight, bool leads, Held held, const GetOptions& get,
                      ListItems& items);
  // The flight of a list to be refreshed; none if it is being loaded already.
  Led BeginRefresh(const ListRef& list);
  // Drops the copy, because of `write`.
  absl::Status Forget(const ListRef& list, const ListKey& key, WritesUnderWay::Write& write);
  // Loads by the executor. Where the heap refuses that, the lists stay as they are.
  void HandOut(AllLed flights);

  const ListCacheOptions options_;
  const std::unique_ptr<ListStore> store_;
  FlightTable flights_;
  WritesUnderWay writes_;

  // Only loads, reads that wait for them and failed writes are counted: the mutex is cheap for
  // them.
  mutable Mutex stats_mutex_;
  ListCacheStats stats_ ABSL_GUARDED_BY(stats_mutex_);

  Mutex refreshes_mutex_;
  std::condition_variable_any refreshes_ended_;
  size_t refreshes_under_way_ ABSL_GUARDED_BY(refreshes_mutex_) = 0;  // handed to the executor
};

// The duty to land a flight, of whoever leads it: what has not landed when this goes has failed. The
// heap may refuse something anywhere on the way, and others have joined.
class ListCache::Impl::Led {
 public:
  Led() = default;
  Led(Impl& cache, std::shared_ptr<LoadFlight> flight)
      : cache_(&cache), flight_(std::move(flight)) {}
  Led(Led&& other) noexcept = default;
  Led& operator=(Led&& other) = delete;
  ~Led() {
    if (flight_ != nullptr && !flight_->landed()) cache_->LandFailed(*flight_, HeapRefused());
  }

  // Null: it leads none.
  LoadFlight* flight() const { return flight_.get(); }

 private:
  Impl* cache_ = nullptr;
  std::shared_ptr<LoadFlight> flight_;
};

struct ListCache::Impl::Joined {
  std::shared_ptr<LoadFlight> flight;
  Led led;  // of the flight, where it is new
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_CACHE_IMPL_H_
