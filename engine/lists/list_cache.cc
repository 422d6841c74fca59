// ListCache: reads of a store that load the lists it does not have.
#include "liststore/list_cache.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/mutex.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/lists/feature_entry.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "engine/lists/load_flight.h"
#include "engine/lists/loaded_list.h"
#include "engine/lists/remaining_time.h"
#include "engine/lists/writes_under_way.h"

namespace liststore {
namespace {

constexpr size_t kListsPerLoadMaxMax = 65'535;

absl::Status CheckSeconds(std::string_view name, int64_t seconds) {
  if (seconds >= 0 && seconds <= kFeatureTtlSecondsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(name), " ", seconds, " is not within 0 to ", kFeatureTtlSecondsMax));
}

absl::Status CheckCacheOptions(const ListCacheOptions& options) {
  if (options.loader == nullptr) return absl::InvalidArgumentError("loader is not set");
  if (options.lists_per_load_max < 1 || options.lists_per_load_max > kListsPerLoadMaxMax) {
    return absl::InvalidArgumentError(absl::StrCat("lists_per_load_max ",
                                                   options.lists_per_load_max,
                                                   " is not within 1 to ", kListsPerLoadMaxMax));
  }
  LS_RETURN_IF_ERROR(CheckSeconds("fresh_for_seconds", options.fresh_for_seconds));
  LS_RETURN_IF_ERROR(CheckSeconds("absent_for_seconds", options.absent_for_seconds));
  LS_RETURN_IF_ERROR(CheckSeconds("stale_for_seconds", options.stale_for_seconds));
  LS_RETURN_IF_ERROR(CheckSeconds("refresh_ahead_seconds", options.refresh_ahead_seconds));
  if (options.refresh_ahead_seconds != 0 &&
      options.refresh_ahead_seconds >= options.fresh_for_seconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("refresh_ahead_seconds ", options.refresh_ahead_seconds,
                     " is not less than fresh_for_seconds ", options.fresh_for_seconds));
  }
  return absl::OkStatus();
}

using Flights = std::vector<std::shared_ptr<LoadFlight>>;

}  // namespace

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

  absl::StatusOr<FlightTable::Joined> Join(const ListRef& list);
  // Loads the lists of flights that the caller leads; all have landed when it returns.
  void Load(const Flights& flights);
  void LoadSome(std::span<const std::shared_ptr<LoadFlight>> flights);
  // Whether a list has no live items at the source, and so counts as absent.
  bool IsOver(const ListId& list, std::span<const NewItem> items);
  // Puts what was loaded into the store and lands the flight.
  bool Land(LoadFlight& flight, std::span<const NewItem> items);
  bool LandFailed(LoadFlight& flight, absl::Status status);
  // Waits for a flight and answers a read from it. `items` is what the store had, and `held` its
  // state.
  absl::Status Answer(const LoadFlight& flight, bool leads, Held held, const GetOptions& get,
                      ListItems& items);
  // The flight of a list to be refreshed; nullptr if it is being loaded already.
  std::shared_ptr<LoadFlight> BeginRefresh(const ListRef& list);
  // Drops the copy, because of `write`.
  absl::Status Forget(const ListRef& list, const ListKey& key, WritesUnderWay::Write& write);
  // Loads by the executor.
  void HandOut(Flights flights);

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

// The loader's side of some flights.
class ListCache::Impl::LoadOfFlights final : public ListLoad {
 public:
  LoadOfFlights(Impl& cache, std::span<const std::shared_ptr<LoadFlight>> flights)
      : cache_(cache), flights_(flights) {}
  // Also if the loader throws, no read waits forever.
  ~LoadOfFlights() override { FailOthers(absl::InternalError("the loader did not return")); }

  size_t size() const override { return flights_.size(); }
  const ListId& list(size_t index) const override { return At(index).list(); }
  void Answer(size_t index, std::span<const NewItem> items) override {
    if (!cache_.Land(At(index), items)) cache_.Count(&ListCacheStats::answers_ignored);
  }
  void Fail(size_t index, absl::Status status) override {
    LS_CHECK(!status.ok(), "a failure has a status that says so");
    if (!cache_.LandFailed(At(index), std::move(status))) {
      cache_.Count(&ListCacheStats::answers_ignored);
    }
  }
  // Lands the flights without an answer.
  void FailOthers(const absl::Status& status) {
    for (const auto& flight : flights_) {
      if (!flight->landed()) cache_.LandFailed(*flight, status);
    }
  }

 private:
  LoadFlight& At(size_t index) const {
    LS_CHECK(index < flights_.size(), "the list is one of the load's");
    return *flights_[index];
  }
  Impl& cache_;
  const std::span<const std::shared_ptr<LoadFlight>> flights_;
};

// ---- Loads ----

ListCache::Impl::Held ListCache::Impl::HeldOf(const ListItems& items) {
  if (items.presence() != ListPresence::kComplete) return Held::kMissing;
  const int64_t fresh_until = items.fresh_until_seconds();
  if (fresh_until == 0) return Held::kFresh;
  const int64_t left = fresh_until - NowSeconds();
  if (left <= 0) return Held::kStale;
  return left <= options_.refresh_ahead_seconds ? Held::kAgeing : Held::kFresh;
}

bool ListCache::Impl::MayServeStale(const ListItems& items) {
  return NowSeconds() < items.fresh_until_seconds() + options_.stale_for_seconds;
}

absl::StatusOr<FlightTable::Joined> ListCache::Impl::Join(const ListRef& list) {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  FlightTable::Joined joined = flights_.Join(list, key.partition_key());
  if (joined.flight->loading_thread() == std::this_thread::get_id() && !joined.flight->landed()) {
    return absl::FailedPreconditionError("the loader asked for a list that it is loading");
  }
  return joined;
}

bool ListCache::Impl::IsOver(const ListId& list, std::span<const NewItem> items) {
  if (items.empty()) return true;
  const std::string feature_key = FeatureKey(list.entity_type, list.feature, list.version);
  ListStore::Impl& store = store_impl();
  const AddGate::Pass pass(store.registry.add_gate());
  const absl::StatusOr<int64_t> ttl = store.TtlOf(store.registry.Find(feature_key), feature_key);
  if (!ttl.ok()) return false;  // the put returns the error
  const uint64_t now_nanos = store.Now();
  return std::all_of(items.begin(), items.end(), [&](const NewItem& item) {
    return item.timestamp_nanos <= kItemKeyNanosMax &&
           RemainingSeconds(item.timestamp_nanos, *ttl, now_nanos) == 0;
  });
}

bool ListCache::Impl::Land(LoadFlight& flight, std::span<const NewItem> items) {
  if (flight.landed()) return false;
  const bool absent = IsOver(flight.list(), items);
  const int64_t fresh_for = absent ? options_.absent_for_seconds : options_.fresh_for_seconds;
  if (fresh_for != 0) flight.fresh_until_seconds = NowSeconds() + fresh_for;
  const PutListOptions put{.fresh_until_seconds = flight.fresh_until_seconds,
                           .unless_written_since = flight.mark};
  if (!absent || fresh_for != 0) {
    const absl::StatusOr<bool> kept = store_->PutList(flight.list(), items, put);
    if (absl::IsResourceExhausted(kept.status())) {
      Count(&ListCacheStats::loads_not_kept);
      store_->ForgetList(flight.list()).IgnoreError();  // it may have older content
    } else if (!kept.ok()) {
      return LandFailed(flight, kept.status());
    } else if (!*kept) {
      Count(&ListCacheStats::loads_overtaken);
    }
  } else {
    store_->ForgetList(flight.list()).IgnoreError();
  }
  // After the put: a read that does not find the flight finds the list.
  flights_.Remove(flight);
  if (!flight.Land(absl::OkStatus(), items)) return false;
  Count(&ListCacheStats::lists_loaded);
  if (items.empty()) Count(&ListCacheStats::lists_absent);
  return true;
}

bool ListCache::Impl::LandFailed(LoadFlight& flight, absl::Status status) {
  flights_.Remove(flight);
  if (!flight.Land(std::move(status), {})) return false;
  Count(&ListCacheStats::load_failures);
  return true;
}

void ListCache::Impl::LoadSome(std::span<const std::shared_ptr<LoadFlight>> flights) {
  LoadOfFlights load(*this, flights);
  for (const auto& flight : flights) {
    // Before the source is read: the loaded content may lack changes made from here on.
    const absl::StatusOr<uint64_t> mark = store_->LoadMark(flight->list());
    // The list's names were checked when its key was made: the heap refuses.
    if (!mark.ok()) return load.FailOthers(mark.status());
    flight->mark = *mark;
  }
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = options_.loader(load);
  const auto took = static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  CountLoaderCall(took);
  if (status.ok()) status = absl::InternalError("the loader did not answer for the list");
  load.FailOthers(status);
}

void ListCache::Impl::Load(const Flights& flights) {
  for (const auto& flight : flights) flight->NoteLoading();
  for (size_t first = 0; first < flights.size(); first += options_.lists_per_load_max) {
    LoadSome(std::span(flights).subspan(
        first, std::min(options_.lists_per_load_max, flights.size() - first)));
  }
}

std::shared_ptr<LoadFlight> ListCache::Impl::BeginRefresh(const ListRef& list) {
  absl::StatusOr<FlightTable::Joined> joined = Join(list);
  if (!joined.ok() || !joined->leads) return nullptr;  // it is being loaded
  Count(&ListCacheStats::refreshes);
  return std::move(joined->flight);
}

void ListCache::Impl::HandOut(Flights flights) {
  if (flights.empty()) return;
  {
    const MutexLock lock(refreshes_mutex_);
    ++refreshes_under_way_;
  }
  options_.executor([this, flights = std::move(flights)] {
    // Counts down even if the loader throws, so that the destructor does not wait forever.
    struct Ended {
      ~Ended() {
        const MutexLock lock(cache.refreshes_mutex_);
        --cache.refreshes_under_way_;
        // Under the mutex: once it is free, the cache may be destroyed.
        cache.refreshes_ended_.notify_all();
      }
      Impl& cache;
    } const ended{*this};
    Load(flights);
  });
}

absl::Status ListCache::Impl::Answer(const LoadFlight& flight, bool leads, Held held,
                                     const GetOptions& get, ListItems& items) {
  if (!leads) Count(&ListCacheStats::reads_joined);
  absl::Status status = flight.Wait();
  if (!status.ok()) {
    if (held == Held::kStale && MayServeStale(items)) {
      Count(&ListCacheStats::stale_served);
      return absl::OkStatus();
    }
    items.clear();
    return status;
  }
  // From the loaded content, since the store may have evicted it again.
  const std::string feature_key =
      FeatureKey(flight.list().entity_type, flight.list().feature, flight.list().version);
  ListStore::Impl& store = store_impl();
  int64_t ttl_seconds = kFeatureTtlSecondsMax;  // not used without items
  if (!flight.items().empty()) {
    const AddGate::Pass pass(store.registry.add_gate());
    const absl::StatusOr<int64_t> ttl = store.TtlOf(store.registry.Find(feature_key), feature_key);
    if (!ttl.ok()) {  // the feature was deleted meanwhile
      items.clear();
      return ttl.status();
    }
    ttl_seconds = *ttl;
  }
  ReadLoadedList(flight.items(), ttl_seconds, store.Now(), flight.fresh_until_seconds, get, items);
  return absl::OkStatus();
}

// ---- Reads ----

absl::Status ListCache::Impl::Served(const ListRef& list, const GetOptions& get, ListItems& items) {
  const Held held = HeldOf(items);
  if (held == Held::kFresh) return absl::OkStatus();
  if (held == Held::kAgeing) {
    if (std::shared_ptr<LoadFlight> flight = BeginRefresh(list)) {
      options_.executor != nullptr ? HandOut({std::move(flight)}) : Load({std::move(flight)});
    }
    return absl::OkStatus();
  }
  absl::StatusOr<FlightTable::Joined> joined = Join(list);
  if (!joined.ok()) {
    items.clear();
    return joined.status();
  }
  if (joined->leads) Load({joined->flight});
  return Answer(*joined->flight, joined->leads, held, get, items);
}

absl::Status ListCache::Impl::MultiGet(const ListRefs& lists, const GetOptions& get,
                                       std::vector<ListItems>& items) {
  LS_RETURN_IF_ERROR(store_->MultiGetListItems(lists, get, &items));
  struct Missing {
    size_t index;
    Held held;
    FlightTable::Joined joined;
  };
  std::vector<Missing> missing;
  Flights led;
  Flights refreshed;
  absl::Status first_error;
  const auto failed = [&](size_t i, const absl::Status& status) {
    items[i].clear();
    if (first_error.ok()) first_error = InList(i, status);
  };
  for (size_t i = 0; i < lists.size(); ++i) {
    const Held held = HeldOf(items[i]);
    if (held == Held::kFresh) continue;
    if (held == Held::kAgeing) {
      if (std::shared_ptr<LoadFlight> flight = BeginRefresh(lists[i])) {
        (options_.executor != nullptr ? refreshed : led).push_back(std::move(flight));
      }
      continue;
    }
    absl::StatusOr<FlightTable::Joined> joined = Join(lists[i]);
    if (!joined.ok()) {
      failed(i, joined.status());
      continue;
    }
    if (joined->leads) led.push_back(joined->flight);
    missing.push_back({i, held, *std::move(joined)});
  }
  // Before the first call of the loader: it may ask for lists of the next call, and must not wait
  // for itself.
  for (const auto& flight : led) flight->NoteLoading();
  HandOut(std::move(refreshed));
  // First, since other reads may wait for these.
  Load(led);
  for (const Missing& one : missing) {
    const absl::Status status =
        Answer(*one.joined.flight, one.joined.leads, one.held, get, items[one.index]);
    if (!status.ok()) failed(one.index, status);
  }
  return first_error;
}

// ---- Writes ----

absl::Status ListCache::Impl::Invalidate(const ListRef& list) {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  // A running write may have reached the source before the change that is reported here.
  WritesUnderWay::Write write(writes_, key.partition_key());
  return Forget(list, key, write);
}

absl::Status ListCache::Impl::Forget(const ListRef& list, const ListKey& key,
                                     WritesUnderWay::Write& write) {
  write.WaitForOthers();
  // The store refuses the put of a running load, because the list has changed. The load is
  // detached, because reads that begin now must not join it.
  absl::Status status = store_->ForgetList(list).status();
  flights_.Detach(key.partition_key());
  return status;
}

template <typename Apply>
absl::Status ListCache::Impl::Write(const ListRef& list, ListChange change, const Apply& apply) {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  WritesUnderWay::Write write(writes_, key.partition_key());
  if (options_.writer != nullptr) {
    change.list = list.id();
    absl::Status status = options_.writer(change);
    if (!status.ok()) {
      Count(&ListCacheStats::writer_failures);
      Forget(list, key, write).IgnoreError();
      return status;
    }
  }
  bool applied = false;
  if (options_.write_policy == CacheWritePolicy::kThrough) {
    // Only a complete copy is changed: a list begun by a change takes memory and answers no read.
    ListItems probe;
    // Where the heap refuses the look, the copy goes: the source has changed already.
    const bool is_known = store_->GetListItems(list, {.limit = 1}, &probe).ok();
    if (is_known && probe.presence() == ListPresence::kComplete && write.BeginApply()) {
      applied = apply().ok();
      write.EndApply();
    }
  }
  if (!applied) return Forget(list, key, write);
  flights_.Detach(key.partition_key());
  return absl::OkStatus();
}

// ---- The public face ----

absl::StatusOr<std::unique_ptr<ListCache>> ListCache::Open(ListCacheOptions options) try {
  LS_RETURN_IF_ERROR(CheckCacheOptions(options));
  options.store.memory_policy = MemoryPolicy::kEvict;
  options.store.lists_live_elsewhere = true;
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ListStore> store, ListStore::Open(options.store));
  return std::unique_ptr<ListCache>(
      new ListCache(std::make_unique<Impl>(std::move(options), std::move(store))));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<std::unique_ptr<ListCache>> ListCache::Open(ListCacheOptions options,
                                                           std::unique_ptr<ListStore> store) try {
  LS_RETURN_IF_ERROR(CheckCacheOptions(options));
  if (store == nullptr || !store->impl_->holds_copies()) {
    return absl::InvalidArgumentError(
        "the store of a cache must have MemoryPolicy::kEvict and lists_live_elsewhere");
  }
  return std::unique_ptr<ListCache>(
      new ListCache(std::make_unique<Impl>(std::move(options), std::move(store))));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

ListCache::ListCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ListCache::~ListCache() = default;
ListStore& ListCache::store() { return impl_->store(); }
ListCacheStats ListCache::GetStats() const { return impl_->stats(); }

absl::Status ListCache::GetListItems(const ListRef& list, const GetOptions& options,
                                     ListItems* items) try {
  LS_RETURN_IF_ERROR(impl_->store().GetListItems(list, options, items));
  return impl_->Served(list, options, *items);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                          std::vector<ListItems>* items) try {
  return impl_->MultiGet(lists, options, *items);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::AddListItems(const ListRef& list, std::span<const NewItem> items) try {
  return impl_->Write(list, {.kind = ListChange::Kind::kAdd, .items = items},
                      [&] { return impl_->store().AddListItems(list, items).status(); });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::RemoveListItemsWithValue(const ListRef& list, std::string_view value) try {
  return impl_->Write(list, {.kind = ListChange::Kind::kRemoveWithValue, .value = value}, [&] {
    return impl_->store().RemoveListItemsWithValue(list, value).status();
  });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::RemoveAllListItems(const ListRef& list) try {
  return impl_->Write(list, {.kind = ListChange::Kind::kRemoveAll},
                      [&] { return impl_->store().RemoveAllListItems(list).status(); });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::Invalidate(const ListRef& list) { return impl_->Invalidate(list); }

}  // namespace liststore
