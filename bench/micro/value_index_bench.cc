// Rows by value: what it costs to find one in a list, and what keeping them findable costs a write.
//
// A million rows in lists of `items` each, drawn at random, so that small lists come from memory
// and not from the cache. Values are 24 bytes and all different; leaves are full, 255 rows each.
// docs/decisions/0005-value-index.md compares builds that differ in
// LargePartition::kScannedLeavesMax.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/benchmark.h"

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"
#include "engine/storage/table.h"

namespace liststore {
namespace {

constexpr int64_t kRows = 1'000'000;
constexpr size_t kValueBytes = 24;
constexpr size_t kRowsPerUpsert = 100;
constexpr int64_t kNowSeconds = 1'724'949'845;
constexpr int64_t kTtlSeconds = 30 * 86'400;
constexpr ColumnId kValueColumn = 0;

TableSchema ListItemsSchema() {
  TableSchema schema;
  schema.keyspace = "bench";
  schema.name = "list_items";
  schema.partition_key = {{"feature_key", CqlType::kText}, {"entity_id", CqlType::kText}};
  schema.clustering = {{"item_key", CqlType::kText, /*descending=*/true}};
  schema.regular = {{"value", CqlType::kBlob}};
  schema.indexes = {{"list_items_by_value", kValueColumn}};
  return schema;
}

class AddressOfToken final : public storage::AddressOf {
 public:
  uint64_t operator()(std::string_view partition_key) const override {
    return TokenOf(partition_key).biased();
  }
};

class CountingSink final : public RowSink {
 public:
  void OnRows(std::span<const RowView> rows) override { rows_ += rows.size(); }
  void OnPackedRun(const PackedRun&) override { LS_UNREACHABLE("a read by value sends no runs"); }
  bool AcceptsPackedRuns() const override { return false; }
  uint64_t rows() const { return rows_; }

 private:
  uint64_t rows_ = 0;
};

// One item of one list: the same key and value whenever it is asked for. The digest in the key is
// not MD5, whose cost is not in question here.
struct Item {
  Item(uint64_t list, uint64_t number) {
    const uint64_t mixed = (list << 32 | number) * 0x9e37'79b9'7f4a'7c15u;
    const std::array<uint64_t, 3> words = {mixed, list, number};
    static_assert(sizeof(words) == kValueBytes);
    std::memcpy(value, words.data(), kValueBytes);
    uint8_t digest[16];
    std::memcpy(digest, words.data(), sizeof(digest));
    const auto nanos = (static_cast<uint64_t>(kNowSeconds) + number) * 1'000'000'000u;
    PackItemKeyFromDigest(nanos, digest, key.data());
    cell = {.column = kValueColumn, .live = true, .value = {value, kValueBytes}};
  }
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;

  RowUpdate row() const {
    return {.key = {{key.data(), key.size()}, true},
            .marker = true,
            .ttl_seconds = kTtlSeconds,
            .expiry_seconds = kNowSeconds + kTtlSeconds,
            .cells = {&cell, 1}};
  }

  char value[kValueBytes];
  PackedItemKey key;
  CellUpdate cell;
};

class Lists {
 public:
  explicit Lists(int64_t items) : items_(static_cast<uint64_t>(items)) {
    const uint64_t lists = static_cast<uint64_t>(kRows) / items_;
    for (uint64_t list = 0; list < lists; ++list) {
      const std::string entity = "user-" + std::to_string(list);
      std::string& key = keys_.emplace_back();
      AppendPartitionKey(std::array<std::string_view, 2>{"user#reading_history|v2", entity}, key);
      Fill(list);
    }
  }

  uint64_t lists() const { return keys_.size(); }
  uint64_t items() const { return items_; }
  storage::Table& table() { return table_; }
  storage::PartitionRef partition(uint64_t list) const {
    return {keys_[list], address_of_(keys_[list])};
  }
  WriteContext NextWrite() {
    return {.timestamp = {kNowSeconds * 1'000'000 + ++writes_}, .now_seconds = kNowSeconds};
  }
  void Add(uint64_t list, const Item& item) {
    const RowUpdate row = item.row();
    const OpStatus status = table_.Upsert(partition(list), {&row, 1}, NextWrite());
    LS_CHECK(status == OpStatus::kOk, "there is no limit");
  }

 private:
  void Fill(uint64_t list) {
    for (uint64_t first = 0; first < items_; first += kRowsPerUpsert) {
      std::vector<std::unique_ptr<Item>> items;
      std::vector<RowUpdate> rows;
      for (uint64_t i = first; i < std::min<uint64_t>(first + kRowsPerUpsert, items_); ++i) {
        items.push_back(std::make_unique<Item>(list, i));
        rows.push_back(items.back()->row());
      }
      const OpStatus status = table_.Upsert(partition(list), rows, NextWrite());
      LS_CHECK(status == OpStatus::kOk, "there is no limit");
    }
  }

  const uint64_t items_;
  AddressOfToken address_of_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  storage::Table table_{ListItemsSchema(), pool_, budget_, address_of_};
  std::vector<std::string> keys_;
  int64_t writes_ = 0;
};

// Made once for all benchmarks of one size.
Lists& ListsOf(int64_t items) {
  static std::unique_ptr<Lists> lists;
  if (lists == nullptr || lists->items() != static_cast<uint64_t>(items)) {
    lists.reset();
    lists = std::make_unique<Lists>(items);
  }
  return *lists;
}

void Report(benchmark::State& state, Lists& lists) {
  const storage::TableStats stats = lists.table().stats();
  state.counters["bytes_per_row"] =
      static_cast<double>(stats.live_bytes) / static_cast<double>(stats.rows);
  lists.table().Verify();
}

// Reads the one row that has a value.
void BM_FindByValue(benchmark::State& state) {
  Lists& lists = ListsOf(state.range(0));
  Random rng(1712);
  for (auto _ : state) {
    const uint64_t list = rng.Below(lists.lists());
    const Item item(list, rng.Below(lists.items()));
    ReadSpec spec;
    spec.value_filter = ReadSpec::ValueFilter{kValueColumn, item.cell.value};
    CountingSink sink;
    lists.table().Read(lists.partition(list), spec, kNowSeconds, sink);
    LS_CHECK(sink.rows() == 1, "values differ");
  }
  Report(state, lists);
}

// Removes the one row that has a value, and adds it again.
void BM_RemoveByValueAndAdd(benchmark::State& state) {
  Lists& lists = ListsOf(state.range(0));
  Random rng(1712);
  for (auto _ : state) {
    const uint64_t list = rng.Below(lists.lists());
    const Item item(list, rng.Below(lists.items()));
    uint64_t removed = 0;
    const OpStatus status = lists.table().DeleteRowsByValue(
        lists.partition(list), kValueColumn, item.cell.value, lists.NextWrite(), &removed);
    LS_CHECK(status == OpStatus::kOk && removed == 1, "values differ");
    lists.Add(list, item);
  }
  Report(state, lists);
}

// The same by key: nothing is looked for, but the index is kept.
void BM_RemoveByKeyAndAdd(benchmark::State& state) {
  Lists& lists = ListsOf(state.range(0));
  Random rng(1712);
  for (auto _ : state) {
    const uint64_t list = rng.Below(lists.lists());
    const Item item(list, rng.Below(lists.items()));
    const ClusteringKeyView key = item.row().key;
    uint64_t removed = 0;
    const OpStatus status =
        lists.table().DeleteRows(lists.partition(list), {&key, 1}, lists.NextWrite(), &removed);
    LS_CHECK(status == OpStatus::kOk && removed == 1, "the row is there");
    lists.Add(list, item);
  }
  Report(state, lists);
}

constexpr int64_t kSizes[] = {20, 100, 250, 500, 1'000, 2'000, 4'000, 8'000, 100'000, 1'000'000};

// Size by size, so that ListsOf fills each once.
[[maybe_unused]] const bool registered = [] {
  for (const int64_t items : kSizes) {
    benchmark::RegisterBenchmark("find_by_value", BM_FindByValue)->ArgName("items")->Arg(items);
    benchmark::RegisterBenchmark("remove_by_value_and_add", BM_RemoveByValueAndAdd)
        ->ArgName("items")
        ->Arg(items);
    benchmark::RegisterBenchmark("remove_by_key_and_add", BM_RemoveByKeyAndAdd)
        ->ArgName("items")
        ->Arg(items);
  }
  return true;
}();

}  // namespace
}  // namespace liststore
