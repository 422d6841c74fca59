// A store at its memory limit: what it refuses must leave nothing behind, what it accepts must
// stay.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/embedded/situations.h"
#include "bench/measure/elapsed.h"
#include "bench/measure/machine.h"
#include "bench/measure/workload.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kValueBytesMax = 16 << 10;
constexpr size_t kItemsMax = 8;          // of an addition to one list
constexpr size_t kListsPerAddition = 8;  // of an addition to several
// Lists get about this long before the limit is reached.
constexpr uint64_t kItemsPerList = 20;
constexpr uint64_t kBytesPerItem = 600;  // on average

// For the limit to be reached, which takes seconds.
constexpr double kFillPatienceSeconds = 120;

// Most values are short, some long, a few very long.
size_t ValueBytes(Random& random) {
  const uint64_t kind = random.Below(100);
  if (kind < 80) return 8 + random.Below(57);
  if (kind < 95) return 65 + random.Below(960);
  return 1025 + random.Below(kValueBytesMax - 1024);
}

// What a list has to hold: the items [first, first + count).
struct Expected {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct Counts {
  uint64_t operations = 0;
  uint64_t refused = 0;
  uint64_t left_behind = 0;
  uint64_t lists_checked = 0;
};

// One thread with lists of its own, `number`-th of `stride`.
class Worker {
 public:
  Worker(ListStore& store, const BenchItems& items, uint64_t lists, uint32_t stride,
         uint32_t number, uint64_t seed)
      : store_(store),
        feature_(*store.FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion)),
        items_(items),
        stride_(stride),
        number_(number),
        random_(seed),
        lists_(lists),
        values_(kListsPerAddition * kValueBytesMax) {}

  // One operation; false after the first wrong answer.
  bool Step() {
    ++counts_.operations;
    const uint64_t kind = random_.Below(100);
    if (kind < 60) {
      AddToOne();
    } else if (kind < 70) {
      AddToSeveral();
    } else if (kind < 88) {
      CheckNewest(Pick());
    } else if (kind < 98) {
      RemoveOldest();
    } else {
      RemoveAll();
    }
    return status_.ok();
  }

  void CheckAllLists() {
    for (size_t i = 0; i < lists_.size() && status_.ok(); ++i) {
      if (!HoldsWhatIsExpected(i)) Fail(i, "does not hold what was accepted");
      ++counts_.lists_checked;
    }
  }

  const Counts& counts() const { return counts_; }
  const absl::Status& status() const { return status_; }

 private:
  size_t Pick() { return random_.Below(lists_.size()); }
  uint32_t ListNumber(size_t i) const { return static_cast<uint32_t>(i * stride_ + number_); }
  std::string EntityId(size_t i) const { return EntityIdOfList(ListNumber(i)); }
  void Fail(size_t i, const std::string& what) {
    status_ =
        absl::DataLossError(absl::StrCat("at the memory limit: list ", EntityId(i), " ", what));
  }

  // Item `number` of list i; its value is written to place `place` of values_. The length follows
  // from the item too, so that it can be removed by value later.
  NewItem MakeItem(size_t i, uint32_t number, size_t place) {
    Random length(ListNumber(i) * uint64_t{1'000'003} + number);
    const std::span<char> value(&values_[place * kValueBytesMax], ValueBytes(length));
    BenchItems::WriteValue(ListNumber(i), number, value);
    return {items_.TimestampOf(ListNumber(i), number), {value.data(), value.size()}};
  }

  void AddToOne() {
    const size_t i = Pick();
    Expected& list = lists_[i];
    const size_t count = random_.OneIn(4) ? 1 + random_.Below(kItemsMax) : 1;
    NewItem items[kItemsMax];
    for (size_t k = 0; k < count; ++k) {
      items[k] = MakeItem(i, list.first + list.count + static_cast<uint32_t>(k), k);
    }
    const auto added = store_.AddListItems({feature_, EntityId(i)}, {items, count});
    if (added.ok()) {
      list.count += static_cast<uint32_t>(count);
    } else if (absl::IsResourceExhausted(added.status())) {
      ++counts_.refused;
      counts_.left_behind += !HoldsWhatIsExpected(i);
    } else {
      status_ = added.status();
    }
  }

  void AddToSeveral() {
    size_t chosen[kListsPerAddition];
    std::string ids[kListsPerAddition];
    NewItem items[kListsPerAddition];
    ListAddition additions[kListsPerAddition];
    const size_t begin = Pick();
    for (size_t k = 0; k < kListsPerAddition; ++k) {
      chosen[k] = (begin + k) % lists_.size();
      const Expected& list = lists_[chosen[k]];
      ids[k] = EntityId(chosen[k]);
      items[k] = MakeItem(chosen[k], list.first + list.count, k);
      additions[k] = {{kBenchEntityType, kBenchFeature, kBenchVersion, ids[k]}, {&items[k], 1}};
    }
    const auto added = store_.AddListItemsMulti(additions);
    if (added.ok()) {
      for (const size_t i : chosen) ++lists_[i].count;
    } else if (absl::IsResourceExhausted(added.status())) {
      ++counts_.refused;
      bool whole = true;
      for (const size_t i : chosen) whole = HoldsWhatIsExpected(i) && whole;
      counts_.left_behind += !whole;
    } else {
      status_ = added.status();
    }
  }

  void RemoveOldest() {
    const size_t i = Pick();
    Expected& list = lists_[i];
    const NewItem oldest = MakeItem(i, list.first, 0);
    const auto removed = store_.RemoveListItemsWithValue({feature_, EntityId(i)}, oldest.value);
    if (!removed.ok()) {
      status_ = removed.status();
    } else if (*removed != (list.count > 0 ? 1 : 0)) {
      Fail(i, "did not have its oldest item");
    } else if (list.count > 0) {
      ++list.first;
      --list.count;
    }
  }

  void RemoveAll() {
    const size_t i = Pick();
    Expected& list = lists_[i];
    const auto removed = store_.RemoveAllListItems({feature_, EntityId(i)});
    if (!removed.ok()) {
      status_ = removed.status();
    } else if (*removed != list.count) {
      Fail(i, absl::StrCat("lost ", *removed, " items instead of ", list.count));
    }
    list.first += list.count;
    list.count = 0;
  }

  void CheckNewest(size_t i) {
    const Expected& list = lists_[i];
    status_ = store_.GetListItems({feature_, EntityId(i)}, {.limit = 10}, &read_);
    if (!status_.ok()) return;
    if (read_.size() != std::min<size_t>(10, list.count)) {
      Fail(i, absl::StrCat("has ", read_.size(), " items of its newest 10 where ", list.count,
                           " are expected in all, after ", counts_.operations, " operations and ",
                           counts_.refused, " refusals"));
    }
    for (size_t k = 0; k < read_.size() && status_.ok(); ++k) {
      const NewItem item = MakeItem(i, list.first + list.count - 1 - static_cast<uint32_t>(k), 0);
      const ListItemView got = read_[k];
      if (got.timestamp_nanos != item.timestamp_nanos || got.value != item.value) {
        Fail(i, "returned another item");
      }
    }
  }

  // The whole list, by its timestamps.
  bool HoldsWhatIsExpected(size_t i) {
    const Expected& list = lists_[i];
    const absl::Status read =
        store_.GetListItems({feature_, EntityId(i)}, {.limit = list.count + kItemsMax}, &read_);
    if (!read.ok() || read_.size() != list.count) return false;
    uint32_t number = list.first + list.count;
    for (const ListItemView item : read_) {
      if (item.timestamp_nanos != items_.TimestampOf(ListNumber(i), --number)) return false;
    }
    return true;
  }

  ListStore& store_;
  const ListFeature feature_;
  const BenchItems& items_;
  const uint32_t stride_;
  const uint32_t number_;
  Random random_;
  std::vector<Expected> lists_;
  std::vector<char> values_;
  ListItems read_;
  Counts counts_;
  absl::Status status_;
};

// Runs the workers until the limit has been reached for `seconds` and all lists were checked, and
// meanwhile looks at how much memory there is.
void RunWorkers(std::vector<Worker>& workers, const ListStore& store, double seconds,
                uint64_t resident_before, LimitResult* result) {
  std::atomic<bool> stop{false};
  std::atomic<size_t> running{workers.size()};
  std::vector<std::thread> threads;
  const auto begin = Steady::now();
  auto limit_begin = begin;
  for (Worker& worker : workers) {
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed) && worker.Step()) {
      }
      worker.CheckAllLists();
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) {
    const uint64_t resident = ResidentBytes();
    result->resident_bytes =
        std::max(result->resident_bytes, resident - std::min(resident, resident_before));
    const Stats stats = store.GetStats();
    result->held_bytes = std::max(result->held_bytes, stats.held_bytes);
    if (stats.refused_writes == 0 && SecondsSince(begin) < kFillPatienceSeconds) {
      limit_begin = Steady::now();
    }
    if (SecondsSince(limit_begin) >= seconds) stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

absl::StatusOr<LimitResult> MeasureMemoryLimit(uint64_t limit_bytes, uint32_t threads,
                                               double seconds, uint64_t seed) {
  LimitResult result;
  result.limit_bytes = limit_bytes;
  result.seconds = seconds;
  Options options;
  options.memory_limit_bytes = limit_bytes;
  const uint64_t lists = std::max<uint64_t>(limit_bytes / (kBytesPerItem * kItemsPerList) / threads,
                                            2 * kListsPerAddition);
  const BenchItems items(SystemClock::Instance().NowNanos(), 0, kValueBytesMax);

  const uint64_t resident_before = ResidentBytes();
  auto store = ListStore::Open(options);
  if (!store.ok()) return store.status();
  absl::Status status =
      (*store)->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds);
  status.Update((*store)->CreateListFeatureVersion(kBenchEntityType, kBenchFeature, kBenchVersion));
  if (!status.ok()) return status;
  std::vector<Worker> workers;
  for (uint32_t i = 0; i < threads; ++i) {
    workers.emplace_back(**store, items, lists, threads, i, seed + i);
  }
  RunWorkers(workers, **store, seconds, resident_before, &result);

  for (const Worker& worker : workers) {
    if (!worker.status().ok()) return worker.status();
    result.operations += worker.counts().operations;
    result.refused += worker.counts().refused;
    result.left_behind += worker.counts().left_behind;
    result.lists_checked += worker.counts().lists_checked;
  }
  if (result.left_behind > 0) {
    return absl::DataLossError(
        absl::StrCat(result.left_behind, " refused additions left something behind"));
  }
  return result;
}

}  // namespace liststore
