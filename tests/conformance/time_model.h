// Times as CQL's types hold them, computed by their definitions.
#ifndef LISTSTORE_TESTS_CONFORMANCE_TIME_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_TIME_MODEL_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace liststore::testing {

// Steps of 100 ns since 1970.
constexpr int64_t kTicksPerMicro = 10;
constexpr int64_t kTicksPerMilli = 10'000;

// A UUID of version 1, and the time of one. The last eight bytes of the first and of the last
// timeuuid of a step; they are in order as signed bytes. Source: RFC 4122.
constexpr uint64_t kFirstOfTick = 0x8080808080808080;
constexpr uint64_t kLastOfTick = 0x7f7f7f7f7f7f7f7f;
std::string TimeuuidOf(int64_t ticks, uint64_t low);
int64_t TicksOf(std::string_view timeuuid);
// 1, 4, ...; 0: its variant is not that of RFC 4122.
int VersionOf(std::string_view uuid);

// A `date`, and the milliseconds at which one begins.
std::string DateOfMillis(int64_t millis);
int64_t MillisOfDate(std::string_view date);

// As JSON shows them, without quotes: 2023-11-14, 22:13:20.000000000, 2023-11-14 22:13:20.000Z. Of
// years with four digits.
std::string DateText(std::string_view date);
std::string TimeText(std::string_view time);
std::string TimestampText(std::string_view timestamp);

// Rounds down.
int64_t FloorDivide(int64_t value, int64_t divisor);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_TIME_MODEL_H_
