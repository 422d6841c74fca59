// EvictingLane: tables of a lane that make room for each other, as tests of eviction begin.
#ifndef LISTSTORE_TESTS_STORAGE_EVICTING_LANE_H_
#define LISTSTORE_TESTS_STORAGE_EVICTING_LANE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/lane_eviction.h"
#include "engine/storage/table.h"

namespace liststore::testing {

class EvictingLane {
 public:
  static constexpr int64_t kNow = 1'700'000'000;

  EvictingLane(std::unique_ptr<const storage::AddressOf> address_of, uint64_t limit_bytes)
      : address_of_(std::move(address_of)), budget_(limit_bytes) {}

  static TableSchema Schema() {
    TableSchema schema;
    schema.partition_key = {{"p", CqlType::kText}};
    schema.clustering = {{"c", CqlType::kBlob}};
    schema.regular = {{"v", CqlType::kBlob}};
    return schema;
  }
  storage::Table& AddTable(bool takes_part = true) {
    tables_.push_back(std::make_unique<storage::Table>(Schema(), pool_, budget_, *address_of_));
    tables_.back()->EnableEviction({.lives_elsewhere = true}, eviction_);
    tables_.back()->TakePart(takes_part);
    return *tables_.back();
  }

  static std::string Key(uint64_t number) { return "partition " + std::to_string(number); }
  // `key` stays.
  storage::PartitionRef RefTo(const std::string& key) const { return {key, (*address_of_)(key)}; }
  // Of partitions by their numbers.
  OpStatus Insert(size_t table, uint64_t number, std::string_view value = "value",
                  std::string_view row_key = "row") {
    const CellUpdate cell{.value = value};
    RowUpdate row;
    row.key = {row_key, false};
    row.cells = {&cell, 1};
    const std::string key = Key(number);
    return tables_[table]->Upsert(RefTo(key), {&row, 1}, Write());
  }
  OpStatus Delete(size_t table, uint64_t number) {
    const std::string key = Key(number);
    return tables_[table]->DeletePartition(RefTo(key), Write());
  }

  // False: nothing can go.
  bool Evict() { return eviction_.EvictAfterRefusal(0, kNow); }
  uint64_t Partitions() const {
    uint64_t sum = 0;
    for (const auto& table : tables_) sum += table->stats().partitions;
    return sum;
  }
  void Verify() {
    for (const auto& table : tables_) table->Verify();
    eviction_.Verify();
  }

 protected:
  WriteContext Write() { return {{++timestamp_}, kNow, false}; }

  const std::unique_ptr<const storage::AddressOf> address_of_;
  memory::MemoryBudget budget_;
  memory::PagePool pool_{budget_};
  storage::LaneEviction eviction_;
  std::vector<std::unique_ptr<storage::Table>> tables_;
  int64_t timestamp_ = kNow * 1'000'000;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_STORAGE_EVICTING_LANE_H_
