#include "engine/storage/partition/value_index.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "tests/storage/test_arena.h"
#include "tests/support/seed.h"

namespace liststore {
namespace value_index_test {

using Entry = std::pair<uint32_t, uint32_t>;  // hash, leaf id

// How a run draws its hashes.
struct Shape {
  const char* name;
  uint32_t (*hash)(Random& rng);
  std::optional<bool> overflows;  // else by chance
};

const Shape kShapes[] = {
    {"uniform", [](Random& rng) { return static_cast<uint32_t>(rng.Next()); }, false},
    {"few values", [](Random& rng) { return static_cast<uint32_t>(rng.Below(40) * 0x9e3779b9u); },
     true},
    {"one value", [](Random&) { return 0xfedcba98u; }, true},
    {"one bucket", [](Random& rng) { return static_cast<uint32_t>(rng.Below(1 << 16) << 16); },
     true},
    {"both ends",
     [](Random& rng) {
       const auto near = static_cast<uint32_t>(rng.Below(200));
       return rng.OneIn(2) ? near : UINT32_MAX - near;
     },
     std::nullopt},
};

constexpr uint64_t kLeaves = 500;

class IndexModel {
 public:
  IndexModel(const Shape& shape, uint64_t seed) : shape_(shape), rng_(seed) {}

  void Step(uint64_t add_percent) {
    const uint64_t choice = rng_.Below(100);
    if (choice < add_percent) {
      Add();
    } else if (choice < 90) {
      Remove();
    } else if (choice < 95) {
      Rename();
    } else {
      Look(AnyHash());
    }
    ASSERT_EQ(index_.size(), entries_.size());
  }
  void VerifyAll() {
    index_.Verify();
    for (const auto& [hash, leaf] : entries_) ASSERT_TRUE(index_.Contains(hash, leaf));
    arena_.arena().Verify();
  }
  void Empty() {
    while (!entries_.empty()) {
      const Entry entry = *entries_.begin();
      index_.Remove(entry.first, entry.second);
      entries_.erase(entries_.begin());
    }
    ASSERT_EQ(index_.size(), 0u);
    ASSERT_EQ(arena_.arena().live_bytes(), 0u);
  }
  size_t size() const { return entries_.size(); }
  const storage::ValueIndex& index() const { return index_; }
  uint64_t live_bytes() { return arena_.arena().live_bytes(); }

 private:
  // Half of the time one that is there.
  Entry AnyEntry() {
    if (!entries_.empty() && rng_.OneIn(2)) {
      auto at = entries_.lower_bound({shape_.hash(rng_), 0});
      if (at == entries_.end()) at = entries_.begin();
      return *at;
    }
    return {shape_.hash(rng_), static_cast<uint32_t>(rng_.Below(kLeaves))};
  }
  uint32_t AnyHash() { return AnyEntry().first; }

  void Add() {
    const size_t adds = rng_.OneIn(10) ? rng_.Below(300) + 1 : 1;
    for (size_t i = 0; i < adds; ++i) {
      const Entry entry = AnyEntry();
      index_.Add(entry.first, entry.second);
      entries_.insert(entry);
    }
  }
  void Remove() {
    for (uint64_t i = rng_.OneIn(10) ? rng_.Below(300) + 1 : 1; i > 0; --i) {
      const Entry entry = AnyEntry();
      index_.Remove(entry.first, entry.second);
      entries_.erase(entry);
    }
  }
  void Rename() {
    const Entry entry = AnyEntry();
    const auto to = static_cast<uint32_t>(rng_.Below(kLeaves));
    if (entries_.contains({entry.first, to})) return;
    index_.Rename(entry.first, entry.second, to);
    if (entries_.erase(entry) != 0) entries_.insert({entry.first, to});
  }
  void Look(uint32_t hash) {
    index_.Prefetch(hash);
    std::multiset<uint32_t> seen;
    index_.ForEachLeaf(hash, [&](uint32_t leaf) { seen.insert(leaf); });
    std::multiset<uint32_t> expected;
    for (auto at = entries_.lower_bound({hash, 0}); at != entries_.end() && at->first == hash;
         ++at) {
      expected.insert(at->second);
    }
    ASSERT_EQ(seen, expected);
  }

  const Shape& shape_;
  Random rng_;
  TestArena arena_;
  storage::ValueIndex index_{arena_.arena()};
  std::set<Entry> entries_;
};

class ValueIndexModelTest : public ::testing::TestWithParam<Shape> {};

TEST_P(ValueIndexModelTest, AgreesWithASet) {
  const uint64_t seed = testing::TestSeed(20'261'123);
  SCOPED_TRACE("seed " + std::to_string(seed));
  IndexModel model(GetParam(), seed);
  const uint64_t steps = testing::TestSteps(20'000);
  size_t most = 0;
  // Up and down, and up again.
  for (const uint64_t add_percent : {60, 35, 55, 30}) {
    for (uint64_t step = 0; step < steps / 4; ++step) {
      model.Step(add_percent);
      if (HasFatalFailure()) return;
      most = std::max(most, model.index().overflow_size());
      if (step % 1'000 == 0) model.VerifyAll();
    }
    model.VerifyAll();
  }
  EXPECT_EQ(most != 0, GetParam().overflows.value_or(most != 0));
  model.Empty();
}

INSTANTIATE_TEST_SUITE_P(Shapes, ValueIndexModelTest, ::testing::ValuesIn(kShapes),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// What a large list pays for each of its items, and that a list that gets short gives it back.
TEST(ValueIndex, BytesFollowTheEntries) {
  TestArena arena;
  storage::ValueIndex index(arena.arena());
  Random rng(testing::TestSeed(7));
  std::vector<uint32_t> hashes;
  for (size_t i = 0; i < 200'000; ++i) {
    hashes.push_back(static_cast<uint32_t>(rng.Next()));
    index.Add(hashes.back(), static_cast<uint32_t>(i % 1'000));
    if (i == 1'500 || i % 20'000 == 19'999) {
      const double each =
          static_cast<double>(arena.arena().live_bytes()) / static_cast<double>(index.size());
      EXPECT_LT(each, 13) << i;
    }
  }
  EXPECT_EQ(index.overflow_size(), 0u);
  for (size_t i = 0; i < 199'000; ++i) index.Remove(hashes[i], static_cast<uint32_t>(i % 1'000));
  const double each =
      static_cast<double>(arena.arena().live_bytes()) / static_cast<double>(index.size());
  EXPECT_LT(each, 40);
  index.Verify();
}

// As a growing vector of indexes does.
TEST(ValueIndex, Moves) {
  TestArena arena;
  storage::ValueIndex first(arena.arena());
  for (uint32_t i = 0; i < 1'000; ++i) first.Add(i * 0x9e3779b9u, i);
  storage::ValueIndex second(std::move(first));
  EXPECT_EQ(first.size(), 0u);
  EXPECT_EQ(second.size(), 1'000u);
  EXPECT_TRUE(second.Contains(0x9e3779b9u, 1));
  first.Verify();
  second.Verify();
  second.clear();
  EXPECT_EQ(arena.arena().live_bytes(), 0u);
}

}  // namespace value_index_test
}  // namespace liststore
