// Partitions on probation each have an entry in the queue, whatever comes, goes and is swept:
// Table::Verify says so. One without would never be evicted.
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>

#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/evicting_lane.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace table_probation_test {

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

class EvictingTable : public EvictingLane {
 public:
  explicit EvictingTable(uint64_t addresses)
      : EvictingLane(std::make_unique<FewAddresses>(addresses), uint64_t{64} << 20) {
    AddTable();
  }
  OpStatus Insert(uint64_t number) { return EvictingLane::Insert(0, number); }
  OpStatus Delete(uint64_t number) { return EvictingLane::Delete(0, number); }
};

// Most go again, so that a sweep begins with the next that comes. It takes that one's entry along.
TEST(TableProbationTest, APartitionThatBeginsASweepKeepsItsEntry) {
  EvictingTable evicting(UINT64_MAX);
  constexpr uint64_t kWent = 300;
  for (uint64_t i = 0; i < kWent; ++i) ASSERT_EQ(evicting.Insert(i), OpStatus::kOk);
  for (uint64_t i = 0; i < kWent; ++i) ASSERT_EQ(evicting.Delete(i), OpStatus::kOk);
  for (uint64_t i = kWent; i < 2 * kWent; ++i) {
    ASSERT_EQ(evicting.Insert(i), OpStatus::kOk);
    evicting.Verify();
  }
  // All of them can be evicted.
  while (evicting.Evict()) {
  }
  EXPECT_EQ(evicting.Partitions(), 0u);
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
        ASSERT_EQ(evicting.Delete(number), OpStatus::kOk);  // evicted, perhaps
      } else {
        there.insert(number);
        ASSERT_EQ(evicting.Insert(number), OpStatus::kOk);
      }
      if (step % 50 == 0) evicting.Verify();
    }
    while (evicting.Evict()) {
    }
    EXPECT_EQ(evicting.Partitions(), 0u) << addresses << " addresses";
  }
}

}  // namespace table_probation_test
}  // namespace liststore::testing
