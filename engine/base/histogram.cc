#include "engine/base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "engine/base/check.h"

namespace liststore {

size_t Histogram::BucketOf(uint64_t nanos) {
  if (nanos < kSubBuckets) return static_cast<size_t>(nanos);
  // `shift` drops all bits but the leading one and the kSubBucketBits after it.
  const int shift = static_cast<int>(std::bit_width(nanos)) - 1 - kSubBucketBits;
  const size_t bucket =
      static_cast<size_t>(shift) * kSubBuckets + static_cast<size_t>(nanos >> shift);
  LS_DCHECK(bucket < kBuckets, "every value has a bucket");
  return bucket;
}

uint64_t Histogram::MiddleOf(size_t bucket) {
  if (bucket < 2 * kSubBuckets) return bucket;
  const size_t shift = bucket / kSubBuckets - 1;
  const uint64_t lowest = (kSubBuckets + bucket % kSubBuckets) << shift;
  return lowest + ((uint64_t{1} << shift) - 1) / 2;
}

void Histogram::Record(uint64_t nanos, uint64_t count) {
  if (count == 0) return;
  buckets_[BucketOf(nanos)] += count;
  count_ += count;
  min_ = std::min(min_, nanos);
  max_ = std::max(max_, nanos);
  sum_ += static_cast<double>(nanos) * static_cast<double>(count);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

uint64_t Histogram::Percentile(double percent) const {
  LS_CHECK(percent >= 0 && percent <= 100, "a percentile lies between 0 and 100");
  if (count_ == 0) return 0;
  // 99.9 is no binary fraction: without the allowance the 999th of 1000 would be the 1000th.
  constexpr double kRoundingAllowance = 1 - 1e-12;
  const double wanted = std::ceil(percent / 100 * static_cast<double>(count_) * kRoundingAllowance);
  if (percent == 100) return max_;
  const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  if (rank == 1) return min_;
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    // The middle of the outermost buckets may lie outside of what was recorded.
    if (seen >= rank) return std::clamp(MiddleOf(i), min_, max_);
  }
  LS_UNREACHABLE("the buckets add up to the count");
}

std::string Histogram::Summary() const {
  char count[32];
  std::snprintf(count, sizeof(count), "%llu", static_cast<unsigned long long>(count_));
  return std::string("n=") + count + " mean=" + FormatNanos(static_cast<uint64_t>(Mean())) +
         " p50=" + FormatNanos(Percentile(50)) + " p99=" + FormatNanos(Percentile(99)) +
         " p99.9=" + FormatNanos(Percentile(99.9)) + " max=" + FormatNanos(Max());
}

void Histogram::Verify() const {
  uint64_t total = 0;
  size_t first = kBuckets;
  size_t last = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i] == 0) continue;
    total += buckets_[i];
    first = std::min(first, i);
    last = i;
  }
  LS_CHECK(total == count_, "the buckets add up to the count");
  if (count_ == 0) return;
  LS_CHECK(first == BucketOf(min_), "the first non-empty bucket is the minimum's");
  LS_CHECK(last == BucketOf(max_), "the last non-empty bucket is the maximum's");
}

std::string FormatNanos(uint64_t nanos) {
  struct Unit {
    uint64_t nanos;
    const char* name;
  };
  static constexpr Unit kUnits[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}};
  char text[40];
  for (const Unit& unit : kUnits) {
    if (nanos < unit.nanos) continue;
    const double value = static_cast<double>(nanos) / static_cast<double>(unit.nanos);
    // 9.95 would print as "9.9" or "10.0" by the mood of the last bit: one rule for both sides.
    std::snprintf(text, sizeof(text), value < 9.95 ? "%.1f%s" : "%.0f%s", value, unit.name);
    return text;
  }
  std::snprintf(text, sizeof(text), "%lluns", static_cast<unsigned long long>(nanos));
  return text;
}

}  // namespace liststore
