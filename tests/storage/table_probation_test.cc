// Partitions on probation each have an entry in the queue, whatever comes, goes and is swept:
// Table::Verify says so. One without would never be evicted.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace table_probation_test {

constexpr int64_t kNow = 1'700'000'000;

TableSchema Schema() {
  TableSchema schema;
  schema.partition_key = {{"p", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kBlob}};
  schema.regular = {{"v", CqlType::kBlob}};
  return schema;
}

// Of `count` places; keys that share one collide.
class FewAddresses final : public storage::AddressOf {
 public:
  explicit FewAddresses(uint64_t count) : count_(count) {}
  uint64_t operator()(std::string_view partition_key) const override {
    return Hash64(partition_key) % count_ * (UINT64_MAX / count_);
  }

 private:
  const uint64_t count_;
};

class EvictingTable {
 public:
  explicit EvictingTable(uint64_t addresses) : address_of_(addresses) {
    table_.EnableEviction({.lives_elsewhere = true}, eviction_);
  }

  void Insert(const std::string& key) {
    const CellUpdate cell{.value = "value"};
    RowUpdate row;
    row.key = {"row", false};
    row.cells = {&cell, 1};
    ASSERT_EQ(table_.Upsert(RefTo(key), {&row, 1}, Write()), OpStatus::kOk);
  }
  void Delete(const std::string& key) {
    ASSERT_EQ(table_.DeletePartition(RefTo(key), Write()), OpStatus::kOk);
  }

  storage::Table& table() { return table_; }
  bool Evict() { return eviction_.EvictAfterRefusal(0, kNow); }
  void Verify() {
    table_.Verify();
    eviction_.Verify();
  }

 private:
  storage::PartitionRef RefTo(const std::string& key) const { return {key, address_of_(key)}; }
  WriteContext Write() { return {{++timestamp_}, kNow, false}; }

  const FewAddresses address_of_;
  memory::MemoryBudget budget_{uint64_t{64} << 20};
  memory::PagePool pool_{budget_};
  storage::LaneEviction eviction_;
  storage::Table table_{Schema(), pool_, budget_, address_of_};
  int64_t timestamp_ = kNow * 1'000'000;
};

std::string Numbered(uint64_t number) { return "partition " + std::to_string(number); }

// Most go again, so that a sweep begins with the next that comes. It takes that one's entry along.
TEST(TableProbationTest, APartitionThatBeginsASweepKeepsItsEntry) {
  EvictingTable evicting(UINT64_MAX);
  constexpr uint64_t kWent = 300;
  for (uint64_t i = 0; i < kWent; ++i) evicting.Insert(Numbered(i));
  for (uint64_t i = 0; i < kWent; ++i) evicting.Delete(Numbered(i));
  for (uint64_t i = kWent; i < 2 * kWent; ++i) {
    evicting.Insert(Numbered(i));
    evicting.Verify();
  }
  // All of them can be evicted.
  while (evicting.Evict()) {
  }
  EXPECT_EQ(evicting.table().stats().partitions, 0u);
}

// Partitions come, go, come back and are evicted while sweeps are under way; several at one address.
TEST(TableProbationTest, EachHasAnEntryWhateverTheOrder) {
  Random random(TestSeed());
  for (const uint64_t addresses : {uint64_t{16}, uint64_t{256}, UINT64_MAX}) {
    EvictingTable evicting(addresses);
    std::set<uint64_t> there;
    for (uint64_t step = 0; step < TestSteps(20'000); ++step) {
      const uint64_t number = random.Below(400);
      if (random.OneIn(1'000)) {
        evicting.Evict();
      } else if (there.erase(number) != 0) {
        evicting.Delete(Numbered(number));  // evicted, perhaps
      } else {
        there.insert(number);
        evicting.Insert(Numbered(number));
      }
      if (step % 50 == 0) evicting.Verify();
    }
    while (evicting.Evict()) {
    }
    EXPECT_EQ(evicting.table().stats().partitions, 0u) << addresses << " addresses";
  }
}

}  // namespace table_probation_test
}  // namespace liststore::testing
