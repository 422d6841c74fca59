#include "tests/conformance/time_model.h"

#include "tests/conformance/read_model.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

// Timeuuids count from 15 October 1582.
constexpr int64_t kFirstTick = -0x01B21DD213814000;
constexpr int64_t kMillisPerDay = 86'400'000;
constexpr int64_t kDaysBefore1970 = int64_t{1} << 31;

}  // namespace

std::string TimeuuidOf(int64_t ticks, uint64_t low) {
  const int64_t time = ticks - kFirstTick;
  return BytesOfInt(time, 4) + BytesOfInt(time >> 32, 2) +
         BytesOfInt((time >> 48 & 0xfff) | 0x1000, 2) + BytesOfInt(static_cast<int64_t>(low), 8);
}

int64_t TicksOf(std::string_view timeuuid) {
  const int64_t high = IntOf(timeuuid.substr(6, 2)) & 0xfff;
  const int64_t middle = IntOf(timeuuid.substr(4, 2)) & 0xffff;
  const int64_t low = IntOf(timeuuid.substr(0, 4)) & 0xffffffff;
  return (high << 48 | middle << 32 | low) + kFirstTick;
}

int VersionOf(std::string_view uuid) {
  const bool has_variant = uuid.size() == 16 && (static_cast<unsigned char>(uuid[8]) >> 6) == 2;
  return has_variant ? static_cast<unsigned char>(uuid[6]) >> 4 : 0;
}

std::string DateOfMillis(int64_t millis) {
  return BytesOfInt(FloorDivide(millis, kMillisPerDay) + kDaysBefore1970, 4);
}

int64_t MillisOfDate(std::string_view date) {
  return ((IntOf(date) & 0xffffffff) - kDaysBefore1970) * kMillisPerDay;
}

int64_t FloorDivide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace liststore::testing
