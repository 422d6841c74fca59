// Latency histogram with logarithmic buckets: records nanoseconds, answers percentiles, adds up
// across threads by merging.
#ifndef LISTSTORE_ENGINE_BASE_HISTOGRAM_H_
#define LISTSTORE_ENGINE_BASE_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace liststore {

// Each power of two is cut into 32 equal buckets, so a bucket is at most 1/32 of its values wide
// and a percentile, reported as the middle of its bucket, is off by at most 1/64 (1.6 %). Values
// below 64 are exact. The whole range of uint64_t has a bucket: nothing is clamped, no range is
// configured.
//
// Not thread-safe: one histogram per recording thread, merged when the threads are done.
// Record O(1), one cache line; percentiles O(buckets). 15 KiB, never allocates.
//
// Invariants (Verify() checks them):
//  (1) the buckets add up to Count();
//  (2) the first and the last non-empty bucket are those of Min() and Max().
class Histogram {
 public:
  // Adds `count` observations of `nanos`.
  void Record(uint64_t nanos, uint64_t count = 1);
  // Adds all observations of `other`.
  void Merge(const Histogram& other);
  void Clear() { *this = Histogram(); }

  uint64_t Count() const { return count_; }
  // Exact. 0 while the histogram is empty.
  uint64_t Min() const { return count_ == 0 ? 0 : min_; }
  uint64_t Max() const { return max_; }
  // Exact up to the rounding of a double. 0 while the histogram is empty.
  double Mean() const;
  // The smallest value that at least `percent` of the observations do not exceed, within the
  // bucket's error; `percent` in [0, 100]. 0 is Min(), 100 is Max(), 0 while the histogram is
  // empty.
  uint64_t Percentile(double percent) const;

  // "n=1000 mean=31us p50=30us p99=210us p99.9=1.4ms max=9.0ms".
  std::string Summary() const;

  // Ends the process unless the invariants hold. For tests.
  void Verify() const;

 private:
  static constexpr int kSubBucketBits = 5;
  static constexpr uint64_t kSubBuckets = uint64_t{1} << kSubBucketBits;
  // One linear run for values below kSubBuckets, then one run per remaining power of two.
  static constexpr size_t kBuckets = (64 - kSubBucketBits + 1) * kSubBuckets;

  static size_t BucketOf(uint64_t nanos);
  // The middle of the values that fall into `bucket`.
  static uint64_t MiddleOf(size_t bucket);

  uint64_t count_ = 0;
  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
  // A double: nanoseconds times counts can pass 64 bits in a long run.
  double sum_ = 0;
  std::array<uint64_t, kBuckets> buckets_{};
};

// "31ns", "4.2us", "210us", "1.4ms", "12s": two significant digits or whole units.
std::string FormatNanos(uint64_t nanos);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_HISTOGRAM_H_
