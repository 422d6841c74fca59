// TimeUnit: in which unit a time since 1970 seems to be, where another one is expected.
#ifndef LISTSTORE_ENGINE_BASE_TIME_UNIT_H_
#define LISTSTORE_ENGINE_BASE_TIME_UNIT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace liststore {

enum class TimeUnit : uint8_t {
  kSeconds,
  kMilliseconds,
  kMicroseconds,
  kNanoseconds
};

std::string_view ToString(TimeUnit unit);

// The unit in which `time` lies between the year 2000 and ten years behind now; nullopt: in none, as small
// numbers that tests use, and whatever is before 2000 by that clock. No time does so in two of them.
std::optional<TimeUnit> LikelyUnit(uint64_t time, uint64_t now_nanos);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_TIME_UNIT_H_
