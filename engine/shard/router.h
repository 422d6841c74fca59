// Router: which shard, lane and directory address a token has. ScyllaDB's rule for shards (biased
// token round robin), so that shard-aware drivers reach the right core; lanes and addresses are our
// own. Source of the shard rule: ScyllaDB `dht/token-sharding.cc`, docs/dev/protocol-extensions.md.
//
// The ring is cut into 4096 segments by the top 12 bits of the biased token, and each segment into
// one piece a shard. A shard's tokens are therefore anything but uniform in their high bits: the
// address squeezes the other shards out. Within a segment a token has 52 bits y; the product y *
// shards is shard (above bit 52) and offset (below), and the dense token is segment ++ offset. Its
// top bits number the lane within the shard, the rest, shifted up, is the address in the lane.
//
// What must stay true (router_test proves it for many shard counts):
//  (1) the address is injective within a lane, and TokenOf(PlaceOf(t)) == t;
//  (2) within a lane, addresses ascend as tokens do;
//  (3) a lane holds whole segments of one shard: segments, in them shards, in them addresses is the
//      order of the ring.
//
// Immutable and thread-safe. PlaceOf is one multiplication, 1 ns; TokenOf one division, for scans.
#ifndef LISTSTORE_ENGINE_SHARD_ROUTER_H_
#define LISTSTORE_ENGINE_SHARD_ROUTER_H_

#include <compare>
#include <cstdint>

#include "engine/base/check.h"
#include "engine/model/token.h"

namespace liststore::shard {

// One core's share of the ring, in ScyllaDB's sense.
struct ShardId {
  uint32_t value = 0;
  constexpr auto operator<=>(const ShardId&) const = default;
};

class Router {
 public:
  // Bits of the token that do not count for the shard. ScyllaDB's default; drivers are told.
  static constexpr int kIgnoreMsbBits = 12;
  static constexpr uint32_t kSegments = uint32_t{1} << kIgnoreMsbBits;
  static constexpr uint32_t kShardsMax = 1024;
  // A lane holds at least one whole segment.
  static constexpr uint32_t kLanesPerShardLog2Max = kIgnoreMsbBits;

  // Where a token lives: `lane` counts over all shards (shard * lanes_per_shard + lane in the
  // shard).
  struct Place {
    uint32_t lane = 0;
    uint64_t address = 0;
    constexpr bool operator==(const Place&) const = default;
  };

  // Addresses of one lane, both ends included.
  struct AddressRange {
    uint32_t lane = 0;
    uint64_t first = 0;
    uint64_t last = 0;
    constexpr bool operator==(const AddressRange&) const = default;
  };

  // 1 to kShardsMax shards, each with 2^lanes_per_shard_log2 lanes.
  constexpr Router(uint32_t shards, uint32_t lanes_per_shard_log2)
      : shards_(shards), lane_bits_(lanes_per_shard_log2) {
    LS_CHECK(shards >= 1 && shards <= kShardsMax, "shards are between 1 and 1024");
    LS_CHECK(lanes_per_shard_log2 <= kLanesPerShardLog2Max, "a lane holds at least one segment");
  }

  constexpr uint32_t shards() const { return shards_; }
  constexpr uint32_t lanes_per_shard() const { return uint32_t{1} << lane_bits_; }
  constexpr uint32_t lanes() const { return shards_ << lane_bits_; }

  constexpr ShardId ShardOf(Token token) const {
    return {static_cast<uint32_t>(ProductOf(token) >> kOffsetBits)};
  }

  constexpr Place PlaceOf(Token token) const {
    const uint64_t product = ProductOf(token);
    const auto shard = static_cast<uint32_t>(product >> kOffsetBits);
    const uint64_t dense = (token.biased() & ~kOffsetMask) | (product & kOffsetMask);
    LS_DCHECK(shard < shards_, "a token belongs to one of the shards");
    return {LaneOf(shard, dense), dense << lane_bits_};
  }

  // The inverse of PlaceOf; `address` is one that PlaceOf gave out for `lane`.
  constexpr Token TokenOf(uint32_t lane, uint64_t address) const {
    LS_DCHECK(lane < lanes(), "lanes are numbered over all shards");
    const uint64_t lane_in_shard = lane & (lanes_per_shard() - 1);
    // Shifted in two steps: a shift by 64 is undefined when there is one lane a shard.
    const uint64_t dense = (address >> lane_bits_) | (lane_in_shard << 1 << (63 - lane_bits_));
    const uint64_t product =
        uint64_t{ShardOfLane(lane).value} << kOffsetBits | (dense & kOffsetMask);
    LS_DCHECK(product % shards_ == 0, "the address is one that PlaceOf gave out");
    return Token::FromBiased((dense & ~kOffsetMask) | product / shards_);
  }

  constexpr ShardId ShardOfLane(uint32_t lane) const { return {lane >> lane_bits_}; }

  // Scans over the whole ring go segment by segment (0 to kSegments - 1), in each shard by shard,
  // in each through RangeOf: that is ascending token order.
  static constexpr uint32_t SegmentOf(Token token) {
    return static_cast<uint32_t>(token.biased() >> kOffsetBits);
  }
  constexpr AddressRange RangeOf(uint32_t segment, ShardId shard) const {
    LS_DCHECK(segment < kSegments, "segments are the values of 12 bits");
    LS_DCHECK(shard.value < shards_, "shards are numbered from zero");
    const uint64_t first = uint64_t{segment} << kOffsetBits;
    const uint64_t last = first | kOffsetMask;
    const uint64_t below_last = (uint64_t{1} << lane_bits_) - 1;
    return {LaneOf(shard.value, first), first << lane_bits_, (last << lane_bits_) | below_last};
  }

 private:
  static constexpr int kOffsetBits = 64 - kIgnoreMsbBits;
  static constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1;

  // Shard above bit 52, offset in the shard's piece of the segment below.
  constexpr uint64_t ProductOf(Token token) const {
    static_assert(kShardsMax <= uint64_t{1} << kIgnoreMsbBits, "the product fits 64 bits");
    return (token.biased() & kOffsetMask) * shards_;
  }
  constexpr uint32_t LaneOf(uint32_t shard, uint64_t dense) const {
    // In two steps, as in TokenOf.
    return (shard << lane_bits_) | static_cast<uint32_t>(dense >> 1 >> (63 - lane_bits_));
  }

  uint32_t shards_;
  uint32_t lane_bits_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ROUTER_H_
