// What giving back an expired row costs.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/workload.h"
#include "bench/peers/peer_rows.h"
#include "bench/peers/row_wheel.h"
#include "bench/shapes/shapes.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/lists/remaining_time.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint32_t kItemsPerList = 20;
constexpr size_t kExpiringValueBytes = 24;
constexpr int64_t kTtlSeconds = 7'200;
constexpr uint64_t kStartNanos = uint64_t{1'760'000'000} * kNanosPerSecond;

// Rows of which row i of a list ends with a second of its own, or all in one.
struct Spread {
  const char* key;
  const char* name;
  uint32_t seconds;
};
constexpr Spread kSpreads[] = {{"burst", "all in one second", 1},
                               {"spread", "over an hour, each list's over a minute", 3'600}};

// The item's end, in seconds from the start. Of a list: one after the other, oldest first.
int64_t EndOf(const Spread& spread, uint32_t list, uint32_t number) {
  if (spread.seconds == 1) return 60;
  return 60 + list % (spread.seconds - 60) + 3 * number;
}

// A list's place in each round of additions: neighbours in time are strangers, as with the lists of
// a service's users, each of which gets an item now and then.
uint32_t ListAt(uint32_t place, uint32_t lists) {
  constexpr uint64_t kStep = 2'654'435'761;  // a prime: every list has its turn in a round
  return static_cast<uint32_t>(place * kStep % lists);
}

NewItem ItemOf(const Spread& spread, uint32_t list, uint32_t number, std::string& value) {
  BenchItems::WriteValue(list, number, {value.data(), value.size()});
  const auto end = static_cast<uint64_t>(EndOf(spread, list, number));
  return {kStartNanos + end * kNanosPerSecond -
              static_cast<uint64_t>(kTtlSeconds) * kNanosPerSecond + number,
          value};
}

double NanosPerRow(Steady::duration time, uint64_t rows) {
  return std::chrono::duration<double, std::nano>(time).count() / static_cast<double>(rows);
}

// Nanoseconds a row, second by second until all have gone.
absl::StatusOr<double> MeasureOurs(const Spread& spread, uint32_t lists) {
  ManualClock clock(kStartNanos);
  Options options;
  options.clock = &clock;
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, ListStore::Open(options));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kTtlSeconds));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature));
  std::string value(kExpiringValueBytes, '\0');
  for (uint32_t number = 0; number < kItemsPerList; ++number) {
    for (uint32_t place = 0; place < lists; ++place) {
      const uint32_t list = ListAt(place, lists);
      const NewItem item = ItemOf(spread, list, number, value);
      LS_ASSIGN_OR_RETURN(const AddResult added,
                          store->AddListItems({feature, EntityIdOfList(list)}, {&item, 1}));
      if (added.stored != 1) return absl::DataLossError("an item was not stored");
    }
  }
  while (store->Reclaim() > 0) {
  }
  Steady::duration time{};
  while (store->NextExpirySeconds().has_value()) {
    clock.AdvanceSeconds(1);
    const auto begin = Steady::now();
    while (store->Reclaim() > 0) {
    }
    time += Steady::now() - begin;
  }
  for (uint32_t list = 0; list < lists; list += std::max(1u, lists / 100)) {
    LS_ASSIGN_OR_RETURN(const size_t left, store->CountListItems({feature, EntityIdOfList(list)}));
    if (left != 0) return absl::DataLossError("items are left that have ended");
  }
  return NanosPerRow(time, uint64_t{lists} * kItemsPerList);
}

absl::StatusOr<double> MeasureRowWheel(const Spread& spread, uint32_t lists) {
  constexpr int64_t kStart = kStartNanos / kNanosPerSecond;
  RowWheel wheel(kStart, 2 * kTtlSeconds);
  std::string value(kExpiringValueBytes, '\0');
  int64_t last = 0;
  for (uint32_t number = 0; number < kItemsPerList; ++number) {
    for (uint32_t place = 0; place < lists; ++place) {
      const uint32_t list = ListAt(place, lists);
      const NewItem item = ItemOf(spread, list, number, value);
      const int64_t end = EndOf(spread, list, number);
      wheel.Add(EntityIdOfList(list), PeerItemKey(item), item.value, kStart + end);
      last = std::max(last, end);
    }
  }
  Steady::duration time{};
  size_t rows = 0;
  for (int64_t second = 1; second <= last; ++second) {
    const auto begin = Steady::now();
    rows += wheel.Advance(kStart + second);
    time += Steady::now() - begin;
  }
  if (rows != uint64_t{lists} * kItemsPerList) return absl::DataLossError("rows are left");
  return NanosPerRow(time, rows);
}

}  // namespace

absl::Status MeasureExpiryCost(const ShapeOptions& options, ShapeReport* report) {
  const auto lists = static_cast<uint32_t>(std::max<uint64_t>(options.rows / kItemsPerList, 1));
  report->Begin(absl::StrCat(uint64_t{lists} * kItemsPerList, " rows in lists of ", kItemsPerList,
                             " expire; time to give one back"));
  for (const Spread& spread : kSpreads) {
    LS_ASSIGN_OR_RETURN(const double ours, MeasureOurs(spread, lists));
    LS_ASSIGN_OR_RETURN(const double linked, MeasureRowWheel(spread, lists));
    const std::string key = absl::StrCat("expiry_", spread.key);
    report->Number(key + "_ours", absl::StrCat(spread.name, ", ours"), ours, "ns a row");
    report->Number(key + "_linked", absl::StrCat(spread.name, ", a link in every row"), linked,
                   "ns a row");
  }
  return absl::OkStatus();
}

}  // namespace liststore
