// A list of an odd shape beside a small one.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/workload.h"
#include "bench/shapes/shapes.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kItemsRead = 10;
constexpr uint64_t kLoadedAtOnce = 1'000;
constexpr uint64_t kSmallItems = 20;
constexpr uint64_t kSmallValueBytes = 24;
constexpr uint64_t kItemNanos = 1'000;  // between two items
constexpr uint64_t kSecondsBack = 86'400;

absl::Status WrongList(const std::string& list, const char* what) {
  return absl::DataLossError(absl::StrCat("list ", list, ": ", what));
}

// A list that holds the items [0, next_).
class ListSide {
 public:
  ListSide(ListStore& store, ListFeature feature, std::string name, uint32_t number, uint64_t items,
           uint64_t value_bytes)
      : key(std::move(name)),
        store_(store),
        feature_(feature),
        entity_id_(EntityIdOfList(number)),
        number_(number),
        first_nanos_(SystemClock::Instance().NowNanos() - kSecondsBack * 1'000'000'000),
        loaded_(items),
        value_(value_bytes, '\0') {}

  absl::Status Load() {
    while (next_ < loaded_) {
      const uint64_t count = std::min(kLoadedAtOnce, loaded_ - next_);
      std::vector<std::string> values(count, std::string(value_.size(), '\0'));
      std::vector<NewItem> items(count);
      for (uint64_t i = 0; i < count; ++i) {
        items[i] = MakeItem(next_ + i, values[i]);
      }
      LS_ASSIGN_OR_RETURN(const AddResult added,
                          store_.AddListItems({feature_, entity_id_}, items));
      if (added.stored != count) return WrongList(entity_id_, "items were not stored");
      next_ += count;
    }
    return absl::OkStatus();
  }

  absl::Status Get() {
    const auto begin = Steady::now();
    LS_RETURN_IF_ERROR(store_.GetListItems({feature_, entity_id_}, {.limit = kItemsRead}, &items_));
    get.Record(NanosSince(begin));
    const NewItem newest = MakeItem(next_ - 1, value_);
    if (items_.size() != std::min<uint64_t>(kItemsRead, next_) || items_[0].value != newest.value ||
        items_[0].timestamp_nanos != newest.timestamp_nanos) {
      return WrongList(entity_id_, "the newest items are others");
    }
    return absl::OkStatus();
  }

  absl::Status Add() {
    const NewItem item = MakeItem(next_, value_);
    const auto begin = Steady::now();
    LS_ASSIGN_OR_RETURN(const AddResult added,
                        store_.AddListItems({feature_, entity_id_}, {&item, 1}));
    add.Record(NanosSince(begin));
    if (added.stored != 1) return WrongList(entity_id_, "an item was not stored");
    ++next_;
    return absl::OkStatus();
  }

  // Removes one of those that were loaded and, untimed, adds it again: the list keeps its length.
  absl::Status Remove(Random& random) {
    const NewItem item = MakeItem(random.Below(loaded_), value_);
    const auto begin = Steady::now();
    LS_ASSIGN_OR_RETURN(const size_t removed,
                        store_.RemoveListItemsWithValue({feature_, entity_id_}, item.value));
    remove.Record(NanosSince(begin));
    if (removed != 1) return WrongList(entity_id_, "an item was not found by its value");
    LS_ASSIGN_OR_RETURN(const AddResult added,
                        store_.AddListItems({feature_, entity_id_}, {&item, 1}));
    return added.stored == 1 ? absl::OkStatus() : WrongList(entity_id_, "an item was not stored");
  }

  const std::string key;
  Histogram get, add, remove;

 private:
  static uint64_t NanosSince(Steady::time_point begin) {
    return static_cast<uint64_t>(std::chrono::nanoseconds(Steady::now() - begin).count());
  }
  NewItem MakeItem(uint64_t item, std::string& value) const {
    BenchItems::WriteValue(number_, static_cast<uint32_t>(item), {value.data(), value.size()});
    return {first_nanos_ + item * kItemNanos, value};
  }

  ListStore& store_;
  const ListFeature feature_;
  const std::string entity_id_;
  const uint32_t number_;
  const uint64_t first_nanos_;
  const uint64_t loaded_;
  uint64_t next_ = 0;
  std::string value_;
  ListItems items_;
};

// Both sides in turn, operation by operation, so that whatever else the machine does meets both.
absl::Status MeasureList(uint64_t items, uint64_t value_bytes, const char* key, double seconds,
                         ShapeReport* report) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, ListStore::Open(Options()));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature));
  ListSide sides[] = {
      {*store, feature, key, 1, items, value_bytes},
      {*store, feature, absl::StrCat(key, "_small"), 2, kSmallItems, kSmallValueBytes}};
  for (ListSide& side : sides) LS_RETURN_IF_ERROR(side.Load());
  Random random(1);
  const auto end = Steady::now() + std::chrono::duration<double>(seconds);
  do {
    for (int i = 0; i < 64; ++i) {
      for (ListSide& side : sides) LS_RETURN_IF_ERROR(side.Get());
    }
    for (ListSide& side : sides) LS_RETURN_IF_ERROR(side.Add());
    for (ListSide& side : sides) LS_RETURN_IF_ERROR(side.Remove(random));
    store->Reclaim();
  } while (Steady::now() < end);

  const auto line = [&](const char* name, Histogram ListSide::*latency) {
    for (const ListSide& side : sides) {
      report->Latency(absl::StrCat(side.key, "_", name),
                      absl::StrCat(name, &side == sides ? "" : ", the small list"), side.*latency);
    }
    report->Ratios(absl::StrCat(key, "_", name), absl::StrCat(name, ", by the small list"),
                   sides[0].*latency, sides[1].*latency);
  };
  line("get10", &ListSide::get);
  line("add1", &ListSide::add);
  line("remove", &ListSide::remove);
  return absl::OkStatus();
}

}  // namespace

absl::Status MeasureLongList(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat("a list of ", options.long_items, " items, beside one of ",
                             kSmallItems, "; values of ", kSmallValueBytes, " bytes"));
  return MeasureList(options.long_items, kSmallValueBytes, "long_list", options.seconds, report);
}

absl::Status MeasureLongValues(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat("a list of ", kSmallItems, " values of ", options.value_bytes,
                             " bytes, beside one with ", kSmallValueBytes));
  return MeasureList(kSmallItems, options.value_bytes, "long_values", options.seconds, report);
}

}  // namespace liststore
