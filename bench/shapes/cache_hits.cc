// Hits of a cache while another thread adds, evicts and loads.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/workload.h"
#include "bench/shapes/shapes.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "liststore/list_cache.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;
// Some 40 MiB of lists that are read all the time, and ten times the limit of others.
constexpr uint32_t kHotLists = 20'000;
constexpr uint32_t kCachedLists = kHotLists + 400'000;
constexpr uint32_t kCachedItems = 20;
constexpr size_t kCachedValueBytes = 24;
constexpr size_t kHitLimit = 10;

// What the lists behind the cache hold; the loader answers from it.
class Source {
 public:
  Source() : contents_(SystemClock::Instance().NowNanos(), kCachedItems, kCachedValueBytes) {}

  // Lists that this thread had loaded.
  static uint64_t& LoadsOfThread() {
    static thread_local uint64_t loads = 0;
    return loads;
  }

  absl::Status Load(ListLoad& load) const {
    std::vector<std::string> values(kCachedItems, std::string(kCachedValueBytes, '\0'));
    std::vector<NewItem> items(kCachedItems);
    for (size_t i = 0; i < load.size(); ++i) {
      const uint32_t list = ListOfEntityId(load.list(i).entity_id);
      for (uint32_t number = 0; number < kCachedItems; ++number) {
        contents_.WriteValue(list, number, values[number].data());
        items[number] = {contents_.TimestampOf(list, number), values[number]};
      }
      load.Answer(i, items);
      ++LoadsOfThread();
    }
    return absl::OkStatus();
  }

  absl::Status Check(uint32_t list, const ListItems& items) const {
    if (items.size() == kHitLimit &&
        items[0].timestamp_nanos == contents_.TimestampOf(list, kCachedItems - 1)) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat("list ", list, " was answered with another's items"));
  }

 private:
  static uint32_t ListOfEntityId(std::string_view id) {
    // Entity ids are a letter and digits.
    return static_cast<uint32_t>(
        std::stoul(std::string(id.substr(id.find_first_of("0123456789")))));
  }

  const BenchItems contents_;
};

// Reads and adds to lists that are not read again soon, as fast as it gets to, until it is stopped.
class Disturber {
 public:
  explicit Disturber(ListCache& cache) : cache_(cache), thread_([this] { Run(); }) {}
  ~Disturber() { Stop().IgnoreError(); }
  absl::Status Stop() {
    stop_.store(true, std::memory_order_release);
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  uint64_t additions() const { return additions_; }  // after Stop

 private:
  void Run() {
    Random random(43);
    std::string value(kCachedValueBytes, '\0');
    ListItems items;
    while (status_.ok() && !stop_.load(std::memory_order_acquire)) {
      const auto list = static_cast<uint32_t>(kHotLists + random.Below(kCachedLists - kHotLists));
      const std::string id = EntityIdOfList(list);
      const ListId key{kBenchEntityType, kBenchFeature, "", id};
      if (additions_ % 2 == 0) status_ = cache_.GetListItems(key, {.limit = kHitLimit}, &items);
      if (!status_.ok()) return;
      BenchItems::WriteValue(list, static_cast<uint32_t>(kCachedItems + additions_), value);
      const NewItem item{SystemClock::Instance().NowNanos(), value};
      status_ = cache_.AddListItems(key, {&item, 1});
      ++additions_;
    }
  }

  ListCache& cache_;
  std::atomic<bool> stop_{false};
  // The thread's own until Stop has joined it.
  absl::Status status_;
  uint64_t additions_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

absl::Status MeasureCacheHits(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat("hits of ", kHotLists, " lists in a cache of ", kMemoryBytes >> 20,
                             " MiB while another thread adds to and loads others"));
  const Source source;
  ListCacheOptions cache_options;
  cache_options.store.memory_limit_bytes = kMemoryBytes;
  cache_options.store.background_reclaim = true;
  cache_options.loader = [&source](ListLoad& load) { return source.Load(load); };
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListCache> cache,
                      ListCache::Open(std::move(cache_options)));
  ListStore& store = cache->store();
  LS_RETURN_IF_ERROR(store.CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store.FindListFeature(kBenchEntityType, kBenchFeature));
  ListItems items;
  Random random(47);
  Histogram hits;
  uint64_t misses = 0;
  const auto read = [&](uint32_t list, bool counts) -> absl::Status {
    const std::string id = EntityIdOfList(list);
    const uint64_t loads = Source::LoadsOfThread();
    const auto begin = Steady::now();
    LS_RETURN_IF_ERROR(cache->GetListItems({feature, id}, {.limit = kHitLimit}, &items));
    const auto nanos = std::chrono::nanoseconds(Steady::now() - begin).count();
    const bool hit = Source::LoadsOfThread() == loads;
    if (counts && hit) hits.Record(static_cast<uint64_t>(nanos));
    misses += counts && !hit ? 1 : 0;
    return source.Check(list, items);
  };
  // Twice, so that the policy knows them.
  for (uint32_t i = 0; i < 2 * kHotLists; ++i) LS_RETURN_IF_ERROR(read(i % kHotLists, false));

  Disturber disturber(*cache);
  const auto warm = Steady::now() + std::chrono::duration<double>(options.seconds / 2);
  const auto end = warm + std::chrono::duration<double>(options.seconds);
  CacheStats before = store.GetStats().cache;
  uint64_t loaded_before = cache->GetStats().lists_loaded;
  bool counts = false;
  for (auto now = Steady::now(); now < end || hits.Count() == 0; now = Steady::now()) {
    if (!counts && now >= warm) {
      counts = true;
      before = store.GetStats().cache;
      loaded_before = cache->GetStats().lists_loaded;
    }
    LS_RETURN_IF_ERROR(read(static_cast<uint32_t>(random.Below(kHotLists)), counts));
  }
  const CacheStats after = store.GetStats().cache;
  const uint64_t loaded = cache->GetStats().lists_loaded - loaded_before;
  LS_RETURN_IF_ERROR(disturber.Stop());
  const auto rate = [&](uint64_t count) { return static_cast<double>(count) / options.seconds; };
  report->Latency("hits", "get 10, of lists that are there", hits);
  report->Number("hits_missed_share", "reads that missed",
                 static_cast<double>(misses) / static_cast<double>(misses + hits.Count()), "");
  report->Number("hits_loads_per_s", "loads", rate(loaded), "lists a second");
  report->Number("hits_evictions_per_s", "evictions", rate(after.evictions - before.evictions),
                 "lists a second");
  report->Number("hits_additions", "additions, in all", static_cast<double>(disturber.additions()),
                 "items");
  return absl::OkStatus();
}

}  // namespace liststore
