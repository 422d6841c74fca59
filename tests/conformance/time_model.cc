#include "tests/conformance/time_model.h"

#include <algorithm>

#include "tests/conformance/read_model.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

// Timeuuids count from 15 October 1582.
constexpr int64_t kFirstTick = -0x01B21DD213814000;
constexpr int64_t kMillisPerDay = 86'400'000;
constexpr int64_t kDaysBefore1970 = int64_t{1} << 31;

std::string Digits(int64_t number, size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

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

std::string DateText(std::string_view date) {
  int64_t days = FloorDivide(MillisOfDate(date), kMillisPerDay);
  int64_t year = 1970;
  const auto is_leap = [&] { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); };
  while (days < 0) {
    --year;
    days += is_leap() ? 366 : 365;
  }
  for (int64_t of_year = 0; days >= (of_year = is_leap() ? 366 : 365); ++year) days -= of_year;
  const int64_t months[] = {31, is_leap() ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int month = 0;
  while (days >= months[month]) days -= months[month++];
  return Digits(year, 4) + "-" + Digits(month + 1, 2) + "-" + Digits(days + 1, 2);
}

std::string TimeText(std::string_view time) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  const int64_t seconds = IntOf(time) / kNanosPerSecond;
  return Digits(seconds / 3600, 2) + ":" + Digits(seconds / 60 % 60, 2) + ":" +
         Digits(seconds % 60, 2) + "." + Digits(IntOf(time) % kNanosPerSecond, 9);
}

std::string TimestampText(std::string_view timestamp) {
  const int64_t millis = IntOf(timestamp);
  const int64_t of_day = millis - FloorDivide(millis, kMillisPerDay) * kMillisPerDay;
  const std::string time = TimeText(BytesOfInt(of_day * 1'000'000, 8));
  return DateText(DateOfMillis(millis)) + " " + time.substr(0, time.size() - 6) + "Z";
}

int64_t FloorDivide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace liststore::testing
