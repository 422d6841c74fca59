// What many updates of a row leave when they are merged together: what they leave one after the other.
#include "engine/storage/partition/row_body.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace row_body_test {

using storage::RowBody;

constexpr int64_t kNow = 1'000;
constexpr ColumnId kCollection = 1;  // between two that have no elements

// Random updates, whose cells are borrowed from it.
class Updates {
 public:
  explicit Updates(uint64_t seed) : rng_(seed) {}

  RowUpdate Next() {
    RowUpdate update;
    update.marker = rng_.OneIn(4);
    if (rng_.OneIn(4)) {
      // Over, its shadow too, or not.
      update.ttl_seconds = rng_.OneIn(2) ? 5 : 50;
      update.expiry_seconds = kNow - 2 + static_cast<int64_t>(rng_.Below(4)) * 20;
    }
    std::vector<CellUpdate>& cells = cells_.emplace_back();
    AddPlain(0, cells);
    if (rng_.OneIn(8)) {
      cells.push_back({.column = kCollection, .live = false, .makes_way = rng_.OneIn(2)});
    }
    const size_t elements = rng_.OneIn(6) ? 20 : rng_.Below(4);
    for (size_t i = 0; i < elements; ++i) {
      cells.push_back({.column = kCollection,
                       .live = !rng_.OneIn(3),
                       .value = Value(),
                       .path = kPaths[rng_.Below(kPaths.size())]});
    }
    AddPlain(2, cells);
    update.cells = cells;
    return update;
  }
  uint64_t Below(uint64_t end) { return rng_.Below(end); }

 private:
  inline static const std::vector<std::string> kPaths = {"a", "b", "c", "d", "e", "f", "g"};

  std::string_view Value() {
    static const std::string kValues[] = {"", "1", "2"};
    return kValues[rng_.Below(3)];
  }
  void AddPlain(ColumnId column, std::vector<CellUpdate>& cells) {
    if (rng_.OneIn(3)) {
      cells.push_back({.column = column, .live = !rng_.OneIn(3), .value = Value()});
    }
  }

  Random rng_;
  std::deque<std::vector<CellUpdate>> cells_;
};

std::string Encoded(const RowBody& body) {
  std::string bytes;
  body.EncodeComplex(bytes);
  return bytes;
}

TEST(RowBodyTest, UpdatesThatAreMergedTogetherLeaveWhatTheyLeaveOneByOne) {
  const uint64_t seed = TestSeed();
  for (uint64_t round = 0; round < 20'000; ++round) {
    Updates updates(seed + round);
    const GracePolicy grace{updates.Below(2) == 0 ? 0 : 20, 0};
    RowBody one_by_one, together;
    for (int i = 0; i < 3; ++i) {
      const RowUpdate before = updates.Next();
      const WriteContext write{{static_cast<int64_t>(98 + updates.Below(5))}, kNow, true};
      one_by_one.Merge(before, write, grace);
      together.Merge(before, write, grace);
    }
    const WriteContext write{{100}, kNow, true};
    std::vector<RowUpdate> all;
    for (uint64_t i = updates.Below(8); i > 0; --i) all.push_back(updates.Next());
    std::vector<const RowUpdate*> pointers;
    for (const RowUpdate& update : all) {
      one_by_one.Merge(update, write, grace);
      pointers.push_back(&update);
    }
    together.MergeAll(pointers, write, grace);
    ASSERT_EQ(Encoded(together), Encoded(one_by_one)) << "seed " << seed + round;
  }
}

}  // namespace row_body_test
}  // namespace liststore::testing
