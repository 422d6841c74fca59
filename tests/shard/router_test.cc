#include "engine/shard/router.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace router_test {

constexpr uint32_t kShardCounts[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 255, 1024};

TEST(RouterTest, EveryVector) {
  const auto vectors = testing::LoadVectors("tokens.json");
  for (const char* list : {"cases", "shard_formula"}) {
    for (const auto& example : testing::ArrayAt(vectors, list)) {
      const auto* ignored = example.as_object().if_contains("ignore_msb");
      if (ignored != nullptr && ignored->as_int64() != shard::Router::kIgnoreMsbBits) continue;
      const Token token{testing::Int64At(example, "token")};
      for (const auto& shard : testing::ValueAt(example, "shards").as_object()) {
        const auto shards = static_cast<uint32_t>(std::stoul(std::string(shard.key())));
        EXPECT_EQ(shard::Router(shards, 0).ShardOf(token).value, shard.value().as_int64())
            << token.value << " of " << shards;
      }
    }
  }
}

// Ends of segments, of shards' pieces and of the ring, and anything else.
Token RandomToken(Random& rng, uint32_t shards) {
  const uint64_t segment = rng.Below(4) == 0 ? (rng.OneIn(2) ? 0 : 4095) : rng.Below(4096);
  uint64_t offset = rng.Next() >> 12;
  if (rng.OneIn(3)) {
    const unsigned __int128 boundary = static_cast<unsigned __int128>(rng.Below(shards + 1)) << 52;
    offset = static_cast<uint64_t>(boundary / shards) + rng.Below(5) - 2;
  }
  return Token::FromBiased(segment << 52 | (offset & ((uint64_t{1} << 52) - 1)));
}

TEST(RouterTest, TokensComeBack) {
  Random rng(testing::TestSeed());
  for (const uint32_t shards : kShardCounts) {
    for (uint32_t lane_bits = 0; lane_bits <= 6; ++lane_bits) {
      const shard::Router router(shards, lane_bits);
      for (int i = 0; i < 2'000; ++i) {
        const Token token = RandomToken(rng, shards);
        const shard::Router::Place place = router.PlaceOf(token);
        ASSERT_LT(place.lane, router.lanes());
        ASSERT_EQ(router.ShardOfLane(place.lane), router.ShardOf(token)) << token.value;
        ASSERT_EQ(router.TokenOf(place.lane, place.address), token)
            << shards << " shards, " << lane_bits << " lane bits";
      }
    }
  }
}

TEST(RouterTest, AddressesAscendAsTokensDoWithinALane) {
  Random rng(testing::TestSeed());
  for (const uint32_t shards : kShardCounts) {
    for (const uint32_t lane_bits : {0u, 4u}) {
      const shard::Router router(shards, lane_bits);
      for (int i = 0; i < 5'000; ++i) {
        const Token a = RandomToken(rng, shards);
        const Token b =
            rng.OneIn(2) ? RandomToken(rng, shards) : Token::FromBiased(a.biased() + rng.Below(3));
        const shard::Router::Place a_place = router.PlaceOf(a);
        const shard::Router::Place b_place = router.PlaceOf(b);
        if (a_place.lane != b_place.lane) continue;
        ASSERT_EQ(a_place.address <=> b_place.address, a <=> b)
            << a.value << " " << b.value << " of " << shards;
      }
    }
  }
}

// Every token lies in the range of its segment and shard, and the ranges, one behind the other, are
// the ring in order.
TEST(RouterTest, RangesVisitTheRingInOrder) {
  Random rng(testing::TestSeed());
  for (const uint32_t shards : {1u, 2u, 3u, 7u, 16u}) {
    for (const uint32_t lane_bits : {0u, 1u, 4u, 6u}) {
      const shard::Router router(shards, lane_bits);
      struct Visit {
        uint64_t range;
        uint64_t address;
        Token token;
      };
      std::vector<Visit> visits;
      for (int i = 0; i < 5'000; ++i) {
        const Token token = RandomToken(rng, shards);
        const shard::Router::Place place = router.PlaceOf(token);
        const shard::ShardId shard = router.ShardOf(token);
        const uint32_t segment = shard::Router::SegmentOf(token);
        const shard::Router::AddressRange range = router.RangeOf(segment, shard);
        ASSERT_EQ(range.lane, place.lane) << token.value;
        ASSERT_LE(range.first, place.address) << token.value;
        ASSERT_GE(range.last, place.address) << token.value;
        visits.push_back({uint64_t{segment} * shards + shard.value, place.address, token});
      }
      std::sort(visits.begin(), visits.end(), [](const Visit& a, const Visit& b) {
        return a.range != b.range ? a.range < b.range : a.address < b.address;
      });
      ASSERT_TRUE(std::is_sorted(visits.begin(), visits.end(),
                                 [](const Visit& a, const Visit& b) { return a.token < b.token; }))
          << shards << " shards, " << lane_bits << " lane bits";
    }
  }
}

TEST(RouterTest, RangesOfALaneTouchAndFillIt) {
  for (const uint32_t lane_bits : {0u, 1u, 4u, 6u, 12u}) {
    const shard::Router router(3, lane_bits);
    for (uint32_t shard = 0; shard < router.shards(); ++shard) {
      shard::Router::AddressRange before;
      for (uint32_t segment = 0; segment < shard::Router::kSegments; ++segment) {
        const shard::Router::AddressRange range = router.RangeOf(segment, {shard});
        const bool first_of_lane = segment == 0 || range.lane != before.lane;
        ASSERT_EQ(range.first, first_of_lane ? 0 : before.last + 1) << segment;
        if (first_of_lane && segment != 0) {
          ASSERT_EQ(before.last, std::numeric_limits<uint64_t>::max());
          ASSERT_EQ(range.lane, before.lane + 1);
        }
        before = range;
      }
      ASSERT_EQ(before.last, std::numeric_limits<uint64_t>::max());
      ASSERT_EQ(before.lane + 1, (shard + 1) * router.lanes_per_shard());
    }
  }
}

// What the directory relies on: its slots are numbered by the address's top bits.
TEST(RouterTest, AddressesAreUniformWithinALane) {
  Random rng(testing::TestSeed());
  const shard::Router router(3, 2);
  constexpr int kBuckets = 16;
  constexpr int kPerBucket = 1'000;
  std::vector<std::vector<int>> counts(router.lanes(), std::vector<int>(kBuckets));
  const auto tokens = static_cast<int>(router.lanes()) * kBuckets * kPerBucket;
  for (int i = 0; i < tokens; ++i) {
    const shard::Router::Place place = router.PlaceOf({static_cast<int64_t>(rng.Next())});
    ++counts[place.lane][place.address >> 60];
  }
  for (const std::vector<int>& lane : counts) {
    for (const int count : lane) EXPECT_NEAR(count, kPerBucket, 6 * 32);  // six standard deviations
  }
}

}  // namespace router_test
}  // namespace liststore
