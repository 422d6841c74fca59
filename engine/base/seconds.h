// Instants in nanoseconds, and the whole seconds that expiry goes by.
#ifndef LISTSTORE_ENGINE_BASE_SECONDS_H_
#define LISTSTORE_ENGINE_BASE_SECONDS_H_

#include <cstdint>

namespace liststore {

inline constexpr int64_t kNanosPerSecond = 1'000'000'000;

// The second in which an instant lies, both since the Unix epoch. Exact for every argument.
constexpr int64_t WholeSeconds(uint64_t nanos) {
  return static_cast<int64_t>(nanos / static_cast<uint64_t>(kNanosPerSecond));
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_SECONDS_H_
