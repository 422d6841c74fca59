#include "engine/storage/range_tombstones.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace liststore::storage {
namespace {

// An end of a stretch: bytes, or behind everything.
struct End {
  std::string_view bytes;
  bool at_end;
};

bool Before(const End& a, const End& b) {
  if (a.at_end || b.at_end) return !a.at_end && b.at_end;
  return a.bytes < b.bytes;
}

}  // namespace

RangeTombstones::RangeTombstones(memory::Arena& arena)
    : arena_(arena), stretches_(memory::ArenaAllocator<Stretch>(&arena)) {}

RangeTombstones::Bytes RangeTombstones::Copy(std::string_view bytes) const {
  return Bytes(bytes.data(), bytes.size(), memory::ArenaAllocator<char>(&arena_));
}

void RangeTombstones::Add(const ClusteringRange& range, const Tombstone& tombstone) {
  if (range.lower.at_end) return;
  End position{range.lower.bytes, false};
  const End upper{range.upper.bytes, range.upper.at_end};
  if (!Before(position, upper)) return;

  std::vector<Stretch, memory::ArenaAllocator<Stretch>> result{
      memory::ArenaAllocator<Stretch>(&arena_)};
  result.reserve(2 * stretches_.size() + 1);
  const auto lay = [&](const End& from, const End& to, const Tombstone& over) {
    if (!Before(from, to)) return;
    if (!result.empty() && result.back().tombstone == over && !result.back().to_end &&
        std::string_view(result.back().upper) == from.bytes) {
      result.back().upper = Copy(to.bytes);
      result.back().to_end = to.at_end;
      return;
    }
    result.push_back(
        {Copy(from.bytes), Copy(to.at_end ? std::string_view() : to.bytes), to.at_end, over});
  };
  for (const Stretch& stretch : stretches_) {
    const End low{stretch.lower, false};
    const End high{stretch.upper, stretch.to_end};
    const End& first = Before(low, position) ? low : position;
    if (!Before(position, high)) {  // wholly before what is left of the new one
      lay(low, high, stretch.tombstone);
      continue;
    }
    if (!Before(low, upper)) {  // wholly behind it
      lay(position, upper, tombstone);
      position = upper;
      lay(low, high, stretch.tombstone);
      continue;
    }
    lay(first, Before(low, position) ? position : low,
        Before(low, position) ? stretch.tombstone : tombstone);
    const End& inner_low = Before(low, position) ? position : low;
    const End& inner_high = Before(high, upper) ? high : upper;
    lay(inner_low, inner_high, Tombstone::Stronger(stretch.tombstone, tombstone));
    lay(upper, high, stretch.tombstone);
    position = inner_high;
  }
  lay(position, upper, tombstone);
  stretches_.swap(result);
}

Tombstone RangeTombstones::At(ClusteringKeyView key) const {
  if (stretches_.empty()) return {};
  char text[kItemKeyTextBytes];
  const std::string_view plain = PlainKey(key, text);
  const auto behind = std::upper_bound(
      stretches_.begin(), stretches_.end(), plain,
      [](std::string_view bytes, const Stretch& s) { return bytes < std::string_view(s.lower); });
  if (behind == stretches_.begin()) return {};
  const Stretch& stretch = *(behind - 1);
  if (!stretch.to_end && plain >= std::string_view(stretch.upper)) return {};
  return stretch.tombstone;
}

void RangeTombstones::Cover(WriteTimestamp timestamp) {
  stretches_.erase(
      std::remove_if(stretches_.begin(), stretches_.end(),
                     [&](const Stretch& s) { return s.tombstone.timestamp <= timestamp; }),
      stretches_.end());
}

bool RangeTombstones::Purge(int64_t now_seconds, const GracePolicy& grace) {
  const auto end = std::remove_if(stretches_.begin(), stretches_.end(), [&](const Stretch& s) {
    return grace.Gone(s.tombstone, now_seconds);
  });
  const bool changed = end != stretches_.end();
  stretches_.erase(end, stretches_.end());
  return changed;
}

int64_t RangeTombstones::NextPurge(const GracePolicy& grace) const {
  int64_t next = kNoExpiry;
  for (const Stretch& stretch : stretches_) {
    const int64_t purge = stretch.tombstone.PurgeSeconds(grace.grace_seconds);
    if (next == kNoExpiry || purge < next) next = purge;
  }
  return next;
}

size_t RangeTombstones::AddBytesMax(const ClusteringRange& range) const {
  size_t bytes = memory::Arena::BlockBytes((2 * stretches_.size() + 4) * sizeof(Stretch));
  // Every end may be copied twice: once for each stretch that it comes to bound.
  bytes += 4 * (memory::Arena::BlockBytes(range.lower.bytes.size() + 64) +
                memory::Arena::BlockBytes(range.upper.bytes.size() + 64));
  for (const Stretch& stretch : stretches_) {
    bytes += 2 * (memory::Arena::BlockBytes(stretch.lower.size() + 64) +
                  memory::Arena::BlockBytes(stretch.upper.size() + 64));
  }
  return bytes;
}

void RangeTombstones::Verify() const {
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    LS_CHECK(stretch.to_end || stretch.lower < stretch.upper, "a stretch is not empty");
    if (i > 0) {
      LS_CHECK(!stretches_[i - 1].to_end && stretches_[i - 1].upper <= stretch.lower,
               "stretches ascend and do not overlap");
    }
  }
}

}  // namespace liststore::storage
