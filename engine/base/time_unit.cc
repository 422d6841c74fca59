#include "engine/base/time_unit.h"

#include <utility>

#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr uint64_t kYear2000Seconds = 946'684'800;
constexpr uint64_t kTenYearsSeconds = uint64_t{3653} * 86'400;
constexpr uint64_t kNanosOfSecond = 1'000'000'000;

constexpr std::pair<TimeUnit, uint64_t> kUnitsOfSecond[] = {
    {TimeUnit::kSeconds, 1},
    {TimeUnit::kMilliseconds, 1'000},
    {TimeUnit::kMicroseconds, 1'000'000},
    {TimeUnit::kNanoseconds, kNanosOfSecond}};

}  // namespace

std::string_view ToString(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return "seconds";
    case TimeUnit::kMilliseconds:
      return "milliseconds";
    case TimeUnit::kMicroseconds:
      return "microseconds";
    case TimeUnit::kNanoseconds:
      return "nanoseconds";
  }
  LS_UNREACHABLE("there is no other unit");
}

std::optional<TimeUnit> LikelyUnit(uint64_t time, uint64_t now_nanos) {
  const uint64_t end_seconds = now_nanos / kNanosOfSecond + kTenYearsSeconds;
  for (const auto& [unit, of_second] : kUnitsOfSecond) {
    const uint64_t seconds = time / of_second;
    if (seconds >= kYear2000Seconds && seconds < end_seconds) return unit;
  }
  return std::nullopt;
}

}  // namespace liststore
