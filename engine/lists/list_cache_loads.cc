// Loads of a ListCache: whoever leads one, and those who wait for it.
#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/lists/feature_entry.h"
#include "engine/lists/list_cache_impl.h"
#include "engine/lists/loaded_list.h"
#include "engine/lists/remaining_time.h"

namespace liststore {
namespace {

absl::Status NotReturned() noexcept {
  try {
    return absl::InternalError("the loader did not return");
  } catch (const std::bad_alloc&) {
    return HeapRefused();
  }
}

}  // namespace

// The loader's side of some flights.
class ListCache::Impl::LoadOfFlights final : public ListLoad {
 public:
  LoadOfFlights(Impl& cache, std::span<const Led> flights) : cache_(cache), flights_(flights) {}
  // Also if the loader throws, no read waits forever.
  ~LoadOfFlights() override {
    if (!std::ranges::all_of(flights_, IsLanded)) FailOthers(NotReturned());
  }

  size_t size() const override { return flights_.size(); }
  const ListId& list(size_t index) const override { return At(index).list(); }
  void Answer(size_t index, std::span<const NewItem> items) override {
    LoadFlight& flight = At(index);
    bool counts = false;
    try {
      counts = cache_.Land(flight, items);
    } catch (const std::bad_alloc&) {
      counts = cache_.LandFailed(flight, HeapRefused());
    }
    if (!counts) cache_.Count(&ListCacheStats::answers_ignored);
  }
  void Fail(size_t index, absl::Status status) override {
    LS_CHECK(!status.ok(), "a failure has a status that says so");
    if (!cache_.LandFailed(At(index), std::move(status))) {
      cache_.Count(&ListCacheStats::answers_ignored);
    }
  }
  // Lands the flights without an answer.
  void FailOthers(const absl::Status& status) {
    for (const Led& led : flights_) {
      if (!IsLanded(led)) cache_.LandFailed(*led.flight(), status);
    }
  }

 private:
  LoadFlight& At(size_t index) const {
    LS_CHECK(index < flights_.size(), "the list is one of the load's");
    return *flights_[index].flight();
  }
  static bool IsLanded(const Led& led) { return led.flight()->landed(); }

  Impl& cache_;
  const std::span<const Led> flights_;
};

// Lists that are loaded by the executor, whose last copy of the work may live for long.
class ListCache::Impl::Refresh {
 public:
  Refresh(Impl& cache, AllLed flights) : cache_(cache), flights_(std::move(flights)) {
    const MutexLock lock(cache_.refreshes_mutex_);
    ++cache_.refreshes_under_way_;
  }
  Refresh(const Refresh&) = delete;
  Refresh& operator=(const Refresh&) = delete;
  ~Refresh() { End(); }

  void Run() {
    // Ends also if the loader throws, so that the cache's destructor does not wait forever.
    const absl::Cleanup end = [this] { End(); };
    cache_.Load(flights_);
  }

 private:
  void End() {
    if (std::exchange(has_ended_, true)) return;
    flights_.clear();
    const MutexLock lock(cache_.refreshes_mutex_);
    --cache_.refreshes_under_way_;
    // Under the mutex: once it is free, the cache may be destroyed.
    cache_.refreshes_ended_.notify_all();
  }

  Impl& cache_;
  AllLed flights_;
  bool has_ended_ = false;
};

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

absl::StatusOr<ListCache::Impl::Joined> ListCache::Impl::Join(const ListRef& list) {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  auto [flight, leads] = flights_.Join(list, key.partition_key());
  if (leads) return Joined{flight, Led(*this, flight)};
  if (flight->loading_thread() == std::this_thread::get_id() && !flight->landed()) {
    return absl::FailedPreconditionError("the loader asked for a list that it is loading");
  }
  return Joined{std::move(flight), Led()};
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
    // There is no room for it, or the disk refuses it.
    if (absl::IsResourceExhausted(kept.status()) || absl::IsUnavailable(kept.status())) {
      Count(&ListCacheStats::loads_not_kept);
      store_->ForgetList(flight.list()).IgnoreError();  // it may have older content
    } else if (!kept.ok() && !absl::IsUnknown(kept.status())) {
      return LandFailed(flight, kept.status());
    } else if (kept.ok() && !*kept) {
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

bool ListCache::Impl::LandFailed(LoadFlight& flight, absl::Status status) noexcept {
  flights_.Remove(flight);
  if (!flight.Land(std::move(status), {})) return false;
  Count(&ListCacheStats::load_failures);
  return true;
}

void ListCache::Impl::LoadSome(std::span<const Led> flights) {
  LoadOfFlights load(*this, flights);
  for (const Led& led : flights) {
    LoadFlight& flight = *led.flight();
    // Before the source is read: the loaded content may lack changes made from here on.
    const absl::StatusOr<uint64_t> mark = store_->LoadMark(flight.list());
    // The list's names were checked when its key was made: the heap refuses.
    if (!mark.ok()) return load.FailOthers(mark.status());
    flight.mark = *mark;
  }
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = options_.loader(load);
  const auto took = static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  CountLoaderCall(took);
  if (status.ok()) status = absl::InternalError("the loader did not answer for the list");
  load.FailOthers(status);
}

void ListCache::Impl::Load(std::span<const Led> flights) {
  for (const Led& led : flights) led.flight()->NoteLoading();
  while (!flights.empty()) {
    const size_t count = std::min(options_.lists_per_load_max, flights.size());
    LoadSome(flights.first(count));
    flights = flights.subspan(count);
  }
}

ListCache::Impl::Led ListCache::Impl::BeginRefresh(const ListRef& list) {
  absl::StatusOr<Joined> joined = Join(list);
  if (!joined.ok() || joined->led.flight() == nullptr) return {};  // it is being loaded
  Count(&ListCacheStats::refreshes);
  return std::move(joined->led);
}

void ListCache::Impl::HandOut(AllLed flights) {
  if (flights.empty()) return;
  try {
    const auto refresh = std::make_shared<Refresh>(*this, std::move(flights));
    options_.executor([refresh] { refresh->Run(); });
  } catch (const std::bad_alloc&) {
  }
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

}  // namespace liststore
