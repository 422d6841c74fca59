#include "engine/storage/partition/range_tombstones.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/hash_address.h"
#include "tests/storage/test_arena.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace range_tombstones_test {

// Keys are numbers below this, as strings of a length that varies, in their order.
constexpr size_t kKeys = 96;

std::string KeyOf(size_t number) {
  std::string key(1, static_cast<char>(number));
  if (number % 3 == 0) key += std::string(number, 'k');
  return key;
}

// Random operations, compared with one tombstone for each key.
class TombstonesModel {
 public:
  explicit TombstonesModel(uint64_t seed) : rng_(seed) {}

  void Step(uint64_t add_percent) {
    const uint64_t choice = rng_.Below(100);
    if (choice < add_percent) {
      Add();
    } else if (choice < add_percent + 4) {
      const WriteTimestamp timestamp = AnyTimestamp();
      tombstones_.Cover(timestamp);
      Forget([&](const Tombstone& at) { return at.timestamp <= timestamp; });
    } else if (choice < add_percent + 8) {
      now_ += rng_.Between(0, 12);
      Purge();
    } else {
      Compare();
    }
    tombstones_.Verify();
  }
  void Compare() {
    int64_t next = kNoExpiry;
    for (size_t i = 0; i < kKeys; ++i) {
      ASSERT_EQ(tombstones_.At({KeyOf(i), false}), expected_[i]) << "key " << i;
      if (!expected_[i].present()) continue;
      const int64_t purge = expected_[i].PurgeSeconds(grace_.grace_seconds);
      if (next == kNoExpiry || purge < next) next = purge;
    }
    ASSERT_EQ(tombstones_.NextPurge(grace_), next);
    // As few stretches as there can be, with the bounds that were given.
    size_t stretches = 0;
    for (size_t i = 0; i < kKeys; ++i) {
      const bool begins = i == 0 || expected_[i] != expected_[i - 1];
      if (expected_[i].present() && begins) ++stretches;
    }
    ASSERT_EQ(tombstones_.size(), stretches);
    size_t key = 0;
    tombstones_.ForEach([&](const ClusteringRange& range, const Tombstone& tombstone) {
      while (!expected_[key].present()) ++key;
      ASSERT_EQ(range.lower.bytes, KeyOf(key));
      ASSERT_EQ(tombstone, expected_[key]);
      while (key < kKeys && expected_[key] == tombstone) ++key;
      if (!range.upper.at_end) {
        ASSERT_EQ(range.upper.bytes, KeyOf(key));
      }
    });
  }
  void FreeAll() {
    while (tombstones_.has_dead()) ASSERT_GT(tombstones_.FreeDead(5), 0u);
    const size_t stretches = tombstones_.size();
    ASSERT_EQ(tombstones_.FreeSome(stretches / 2), stretches == 0);
    ASSERT_TRUE(tombstones_.FreeSome(stretches));
    ASSERT_EQ(arena_.arena().live_bytes(), 0u);
  }

 private:
  // Now and then later than all before.
  WriteTimestamp AnyTimestamp() {
    if (rng_.OneIn(6)) latest_ += 2;
    return {rng_.Between(1, latest_)};
  }

  // A few, for which everything was prepared before the first of them.
  void Add() {
    struct Addition {
      size_t begin;
      size_t end;
      std::string lower;
      std::string upper;
      ClusteringRange range;
      Tombstone tombstone;
    };
    std::deque<Addition> additions;
    storage::RangeTombstones::Scratch scratch;
    const size_t others = rng_.Below(4);
    while (additions.size() <= others) {
      const size_t begin = rng_.Below(kKeys);
      const size_t end =
          std::min(kKeys, begin + rng_.Below(rng_.OneIn(8) ? kKeys : 6));  // may be empty
      Addition& addition = additions.emplace_back();
      addition.begin = begin;
      addition.end = end;
      addition.lower = KeyOf(begin);
      addition.upper = KeyOf(end);
      addition.range.lower.bytes = addition.lower;
      addition.range.upper.bytes = addition.upper;
      addition.range.upper.at_end = end == kKeys;
      addition.tombstone = {AnyTimestamp(), now_ - rng_.Between(0, 3)};
      tombstones_.PrepareAdd(addition.range, addition.tombstone, others, scratch);
    }
    const size_t prepared = scratch.capacity();
    for (const Addition& addition : additions) {
      const uint64_t live = arena_.arena().live_bytes();
      const size_t promised = tombstones_.AddBytes(addition.range, addition.tombstone, scratch_);
      tombstones_.Add(addition.range, addition.tombstone, scratch);
      ASSERT_LE(arena_.arena().live_bytes(), live + promised);
      ASSERT_EQ(scratch.capacity(), prepared);
      for (size_t i = addition.begin; i < addition.end; ++i) {
        expected_[i] = expected_[i].present()
                           ? Tombstone::Stronger(expected_[i], addition.tombstone)
                           : addition.tombstone;
      }
    }
  }
  void Purge() {
    if (rng_.OneIn(2)) {
      // A few at a time, and what lies over one key.
      const size_t before = tombstones_.size();
      tombstones_.Purge(now_, grace_, 2);
      ASSERT_TRUE(before - tombstones_.size() <= 2 || tombstones_.size() == 0);
      const size_t key = rng_.Below(kKeys);
      tombstones_.PurgeAt({KeyOf(key), false}, now_, grace_);
      const Tombstone at = tombstones_.At({KeyOf(key), false});
      ASSERT_TRUE(!at.present() || !grace_.Gone(at, now_));
    }
    tombstones_.Purge(now_, grace_);
    Forget([&](const Tombstone& at) { return grace_.Gone(at, now_); });
  }
  template <typename Goes>
  void Forget(Goes&& goes) {
    for (Tombstone& at : expected_) {
      if (at.present() && goes(at)) at = {};
    }
  }

  Random rng_;
  TestArena arena_;
  storage::RangeTombstones tombstones_{arena_.arena()};
  storage::RangeTombstones::Scratch scratch_;
  std::array<Tombstone, kKeys> expected_;
  const GracePolicy grace_{20, 0};
  int64_t now_ = 1'000;
  int64_t latest_ = 20;
};

TEST(RangeTombstonesTest, AgreesWithOneTombstoneForEachKey) {
  const uint64_t seed = TestSeed();
  Random seeds(seed);
  for (int run = 0; run < 40; ++run) {
    TombstonesModel model(seeds.Next());
    const uint64_t add_percent = 20 + seeds.Below(60);
    for (uint64_t step = 0; step < 400; ++step) {
      model.Step(add_percent);
      if (::testing::Test::HasFatalFailure()) {
        FAIL() << "run " << run << ", step " << step << ", seed " << seed;
      }
    }
    model.Compare();
    model.FreeAll();
  }
}

std::string Numbered(uint32_t number) {
  std::string key = std::to_string(number);
  return std::string(8 - key.size(), '0') + key;
}

// In an order that is none of the keys'.
TEST(RangeTombstonesTest, WhatADeletionTakesDoesNotGrowWithTheirNumber) {
  TestArena arena;
  storage::RangeTombstones tombstones(arena.arena());
  storage::RangeTombstones::Scratch scratch;
  constexpr uint32_t kRanges = 1 << 15;
  for (uint32_t i = 0; i < kRanges; ++i) {
    const uint32_t number = (i * 40'503) % kRanges;
    const std::string lower = Numbered(2 * number);
    const std::string upper = Numbered(2 * number + 1);
    ClusteringRange range;
    range.lower.bytes = lower;
    range.upper = ClusteringBound::At(upper, false);
    const Tombstone tombstone{{i + 1}, i};
    ASSERT_LE(tombstones.AddBytes(range, tombstone, scratch), 96u);
    tombstones.Add(range, tombstone, scratch);
  }
  tombstones.Verify();
  EXPECT_EQ(tombstones.size(), kRanges);
  // One over all of them takes all their places, an old one those between them.
  const ClusteringRange all;
  EXPECT_EQ(tombstones.AddBytes(all, {{kRanges + 1}, 0}, scratch), 64u);
  tombstones.Cover({kRanges - 100});
  EXPECT_EQ(tombstones.size(), 100u);
  tombstones.Add(all, {{1}, 0}, scratch);
  EXPECT_EQ(tombstones.size(), 201u);
  tombstones.Verify();
  tombstones.Add(all, {{kRanges + 1}, 0}, scratch);
  EXPECT_EQ(tombstones.size(), 1u);
  tombstones.Verify();
}

// The limit lets in what the deletions take, not as much for each of them as all take.
TEST(RangeTombstonesTest, ATableTakesThousandsOfThem) {
  constexpr int64_t kNow = 1'700'000'000;
  TableSchema schema;
  schema.partition_key = {{"p", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kBlob}};
  schema.regular = {{"v", CqlType::kBlob}};
  schema.gc_grace_seconds = 1'000;
  HashAddress address_of;
  memory::MemoryBudget budget{uint64_t{4} << 20};
  memory::PagePool pool{budget};
  storage::Table table(schema, pool, budget, address_of);
  const storage::PartitionRef partition{"p", address_of("p")};
  for (uint32_t i = 0; i < 20'000; ++i) {
    const std::string lower = Numbered(2 * i);
    const std::string upper = Numbered(2 * i + 1);
    ClusteringRange range;
    range.lower.bytes = lower;
    range.upper = ClusteringBound::At(upper, false);
    ASSERT_EQ(table.DeleteRange(partition, range, {{kNow * 1'000'000 + i}, kNow, true}),
              OpStatus::kOk)
        << i;
  }
  // The partition goes in slices, and all that it held with it.
  ASSERT_EQ(table.DeletePartition(partition, {{kNow * 1'000'001}, kNow, true}), OpStatus::kOk);
  while (table.Reclaim(kNow + 2'000, 1'000) > 0) {
  }
  EXPECT_EQ(table.stats().partitions, 0u);
  table.Verify();
}

}  // namespace range_tombstones_test
}  // namespace liststore::testing
