// Reads while much memory is given back at once: by expiry, by deletion.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/embedded/situations.h"
#include "bench/load/core_gaps.h"
#include "bench/measure/elapsed.h"
#include "bench/measure/machine.h"
#include "bench/measure/workload.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kItemsRead = 10;
// Reads between two looks at the run queue, which cost as much as a read.
constexpr size_t kChunk = 64;
constexpr double kReclaimPatienceSeconds = 120;

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// As busy as whoever gives memory back will be, so that before and after have as many cores taken.
ClockGaps ReadTheClock(double seconds) {
  ClockGaps gaps;
  for (const CoreGap& gap : ReadClock(seconds)) {
    const auto nanos = static_cast<uint64_t>(gap.end - gap.begin);
    gaps.above_max += nanos > kReadNanosMax;
    gaps.longest_nanos = std::max(gaps.longest_nanos, nanos);
  }
  return gaps;
}

// As much memory as a store gives back, given back at once by nobody's code: mapped, touched,
// unmapped.
void MapTouchAndUnmap(uint64_t bytes) {
  if (bytes == 0) return;
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  LS_CHECK(at != MAP_FAILED, "the system has as much memory as the store had");
  static_cast<void>(::madvise(at, bytes, MADV_HUGEPAGE));
  std::memset(at, 1, bytes);
  LS_CHECK(::munmap(at, bytes) == 0, "a mapping of ours can be unmapped");
}

// The lists [0, lists) of one feature, which all hold the same number of items.
struct ReadTarget {
  ListFeature feature;
  uint64_t lists;
  size_t items;
  // They may be found empty from phase 1 on, and have to be from phase 2 on.
  bool vanish;
};

// A thread that reads random lists of `targets` in turn, from construction until Stop.
class Reader {
 public:
  static constexpr int kPhases = 4;

  Reader(const ListStore& store, std::vector<ReadTarget> targets)
      : store_(store), targets_(std::move(targets)), thread_([this] { Run(); }) {}
  ~Reader() { Stop().IgnoreError(); }

  // What is read from now on counts for `phase`.
  void EnterPhase(int phase) { phase_.store(phase, std::memory_order_release); }
  absl::Status Stop() {
    stop_.store(true, std::memory_order_release);
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  // After Stop.
  const ReadWatch& watch(int phase) const { return watches_[phase]; }

 private:
  void Run() {
    Random random(17);
    const RunQueueWait run_queue;
    std::vector<std::string> ids(kChunk);
    while (status_.ok() && !stop_.load(std::memory_order_acquire)) {
      for (size_t i = 0; i < kChunk; ++i) {
        ids[i] = EntityIdOfList(static_cast<uint32_t>(random.Below(TargetOf(i).lists)));
      }
      waited_nanos_ = run_queue.Nanos();
      for (size_t i = 0; i < kChunk && status_.ok(); ++i) Read(TargetOf(i), ids[i], run_queue);
    }
  }

  const ReadTarget& TargetOf(size_t i) const { return targets_[i % targets_.size()]; }

  void Read(const ReadTarget& target, const std::string& id, const RunQueueWait& run_queue) {
    const int phase = phase_.load(std::memory_order_acquire);
    const auto begin = Steady::now();
    status_ = store_.GetListItems({target.feature, id}, {.limit = kItemsRead}, &items_);
    const auto nanos = static_cast<uint64_t>((Steady::now() - begin).count());
    ReadWatch& watch = watches_[phase];
    watch.latency.Record(nanos);
    if (nanos > kReadNanosMax) {
      ++watch.above_max;
      const uint64_t waited = run_queue.Nanos();
      const uint64_t on_core = nanos - std::min(nanos, waited - waited_nanos_);
      waited_nanos_ = waited;
      watch.above_max_on_core += on_core > kReadNanosMax;
      watch.longest_on_core_nanos = std::max(watch.longest_on_core_nanos, on_core);
    } else {
      watch.longest_on_core_nanos = std::max(watch.longest_on_core_nanos, nanos);
    }
    CheckAnswer(target, id, phase, phase_.load(std::memory_order_acquire));
  }

  // The phase may have changed while the read was on its way: then either answer is right.
  void CheckAnswer(const ReadTarget& target, const std::string& id, int before, int after) {
    if (!status_.ok()) return;
    const size_t expected = std::min(kItemsRead, target.items);
    const bool whole = items_.size() == expected;
    const bool empty = items_.empty();
    if (target.vanish ? (whole && before <= 1) || (empty && after >= 1) : whole) return;
    status_ = absl::DataLossError(
        absl::StrCat("list ", id, " had ", items_.size(), " items where ", expected,
                     target.vanish ? " or, once they were gone, none" : "", " were expected"));
  }

  const ListStore& store_;
  const std::vector<ReadTarget> targets_;
  std::atomic<int> phase_{0};
  std::atomic<bool> stop_{false};
  // The thread's own until Stop has joined it.
  absl::Status status_;
  ListItems items_;
  uint64_t waited_nanos_ = 0;
  std::array<ReadWatch, kPhases> watches_;
  std::thread thread_;  // last: it uses the others
};

// Fills lists [0, lists) of a new feature; all items of it expire in the same second. The items'
// timestamps are `base_nanos` and the nanoseconds behind it.
absl::Status Fill(ListStore& store, const std::string& name, int64_t ttl_seconds, uint64_t lists,
                  uint32_t items_per_list, uint64_t base_nanos) {
  absl::Status status = store.CreateListFeature(kBenchEntityType, name, ttl_seconds);
  if (!status.ok()) return status;
  const auto feature = store.FindListFeature(kBenchEntityType, name);
  if (!feature.ok()) return feature.status();
  std::vector<std::string> values(items_per_list, std::string(24, '\0'));
  std::vector<NewItem> items(items_per_list);
  const BenchItems contents(base_nanos, items_per_list, values[0].size());
  for (uint64_t list = 0; list < lists; ++list) {
    for (uint32_t i = 0; i < items_per_list; ++i) {
      contents.WriteValue(static_cast<uint32_t>(list), i, values[i].data());
      items[i] = {base_nanos + i, values[i]};
    }
    const auto added =
        store.AddListItems({*feature, EntityIdOfList(static_cast<uint32_t>(list))}, items);
    if (!added.ok()) return added.status();
    if (added->stored != items_per_list) return absl::DataLossError("items of a list not stored");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExpiryResult> MeasureExpiry(uint64_t rows, uint32_t items_per_list, double seconds) {
  constexpr int64_t kTtlSeconds = 86'400;
  const uint64_t lists = std::max<uint64_t>(rows / items_per_list, 1);
  const uint64_t now_seconds = SystemClock::Instance().NowNanos() / kNanosPerSecond;
  ManualClock clock(now_seconds * kNanosPerSecond);
  Options options;
  options.clock = &clock;
  options.background_reclaim = true;
  const auto store = ListStore::Open(options);
  if (!store.ok()) return store.status();
  absl::Status status = Fill(**store, "due", kTtlSeconds, lists, items_per_list, clock.NowNanos());
  status.Update(
      Fill(**store, "staying", 30 * kTtlSeconds, lists, items_per_list, clock.NowNanos()));
  if (!status.ok()) return status;
  const auto due = (*store)->FindListFeature(kBenchEntityType, "due");
  const auto staying = (*store)->FindListFeature(kBenchEntityType, "staying");
  LS_CHECK(due.ok() && staying.ok(), "the benchmark's names are valid");

  ExpiryResult result;
  result.rows = lists * items_per_list;
  Reader reader(**store,
                {{*due, lists, items_per_list, true}, {*staying, lists, items_per_list, false}});
  result.clock = ReadTheClock(seconds);
  reader.EnterPhase(1);
  clock.AdvanceSeconds(kTtlSeconds);
  reader.EnterPhase(2);
  const auto begin = Steady::now();
  const auto reclaimed = [&] { return (*store)->GetStats().tables.at(0).expired_rows; };
  while (reclaimed() < result.rows && SecondsSince(begin) < kReclaimPatienceSeconds) Sleep(0.01);
  result.seconds = SecondsSince(begin);
  reader.EnterPhase(3);
  status = reader.Stop();
  if (!status.ok()) return status;
  if (reclaimed() != result.rows) {
    return absl::DataLossError(
        absl::StrCat(reclaimed(), " rows reclaimed, ", result.rows, " have expired"));
  }
  result.quiet = reader.watch(0);
  result.reads = reader.watch(2);
  return result;
}

absl::StatusOr<DeletionResult> MeasureDeletion(ListStore& store, uint64_t lists, double seconds) {
  constexpr uint64_t kOtherLists = 20'000;
  constexpr uint32_t kOtherItems = 20;
  absl::Status status = Fill(store, "other", kBenchTtlSeconds, kOtherLists, kOtherItems,
                             SystemClock::Instance().NowNanos());
  if (!status.ok()) return status;
  const auto other = store.FindListFeature(kBenchEntityType, "other");
  LS_CHECK(other.ok(), "the benchmark's names are valid");
  while (store.Reclaim() != 0) {
  }

  DeletionResult result;
  result.lists = lists;
  result.resident_before = ResidentBytes();
  Reader reader(store, {{*other, kOtherLists, kOtherItems, false}});
  result.clock = ReadTheClock(seconds);
  reader.EnterPhase(1);
  const auto begin = Steady::now();
  status = store.DeleteListFeature(kBenchEntityType, kBenchFeature);
  result.call_seconds = SecondsSince(begin);
  if (!status.ok()) return status;
  auto slice = Steady::now();
  while (store.Reclaim(1000) != 0 && SecondsSince(begin) < kReclaimPatienceSeconds) {
    result.longest_slice_seconds = std::max(result.longest_slice_seconds, SecondsSince(slice));
    slice = Steady::now();
  }
  result.reclaim_seconds = SecondsSince(begin);
  reader.EnterPhase(2);
  result.resident_after = ResidentBytes();
  // A virtual machine may hand what came free on to its host for seconds.
  Sleep(seconds);
  MapTouchAndUnmap(result.resident_before -
                   std::min(result.resident_before, result.resident_after));
  reader.EnterPhase(3);
  result.control_clock = ReadTheClock(std::max(seconds, result.reclaim_seconds));
  status = reader.Stop();
  if (!status.ok()) return status;
  const uint64_t left = store.GetStats().tables.at(0).partitions;
  if (left != kOtherLists) {
    return absl::DataLossError(absl::StrCat(left, " lists are left, ", kOtherLists, " expected"));
  }
  result.quiet = reader.watch(0);
  result.reads = reader.watch(1);
  result.control = reader.watch(3);
  return result;
}

}  // namespace liststore
