// The two times of a cell: when it was written (microseconds, decides who wins) and when it ends
// (whole seconds). Source: ScyllaDB `mutation/timestamp.hh`, `gc_clock.hh`.
#ifndef LISTSTORE_ENGINE_MODEL_TIME_H_
#define LISTSTORE_ENGINE_MODEL_TIME_H_

#include <compare>
#include <cstdint>
#include <limits>

namespace liststore {

// Microseconds, given by the client or by the shard. -2^63 means "none", so that it loses to all.
struct WriteTimestamp {
  int64_t micros = std::numeric_limits<int64_t>::min();

  static constexpr WriteTimestamp None() { return {}; }
  constexpr bool is_none() const { return micros == std::numeric_limits<int64_t>::min(); }
  constexpr auto operator<=>(const WriteTimestamp&) const = default;
};

// A TTL above this is refused (20 years of 365 days). Source: ScyllaDB `cql3/attributes.cc`.
inline constexpr int64_t kTtlSecondsMax = 630'720'000;

// Expiry instants are seconds since the epoch; a cell is dead when expiry <= now. 0: never expires.
inline constexpr int64_t kNoExpiry = 0;

constexpr bool IsExpired(int64_t expiry_seconds, int64_t now_seconds) {
  return expiry_seconds != kNoExpiry && expiry_seconds <= now_seconds;
}

// Floor division of microseconds to seconds, right for negative write timestamps too.
constexpr int64_t FloorSeconds(WriteTimestamp timestamp) {
  const int64_t q = timestamp.micros / 1'000'000;
  return timestamp.micros % 1'000'000 < 0 ? q - 1 : q;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TIME_H_
