// Timestamps, dates, times and durations as text.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_TIME_TEXT_H_
#define LISTSTORE_ENGINE_CQL_VALUES_TIME_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/model/types/duration.h"

namespace liststore::cql {

// Errors of all parsers are Invalid, "marshaling error: ...". Sources: ScyllaDB types/types.cc,
// duration.cc.

// Milliseconds since the epoch: of an integer, or of yyyy-mm-dd[( |T)hh:mm[:ss[.fff]]][zone] with a
// zone of Z, +hh:mm, +hhmm or +hh. Without one it is UTC (ScyllaDB: the server's own, which is UTC
// where servers are). Not 'now', which the planner takes: it depends on the time.
CqlOr<int64_t> ParseTimestampText(std::string_view text);
// Days, 2^31 being the epoch: of such a number, or of yyyy-mm-dd with years of any length.
CqlOr<uint32_t> ParseDateText(std::string_view text);
// Nanoseconds since midnight: hh:mm:ss[.fffffffff].
CqlOr<int64_t> ParseTimeText(std::string_view text);

// 1y2mo3w4d5h6m7s8ms9us10ns in that order, each at most once; P1Y2M3DT4H5M6S; P2W;
// P0001-02-03T04:05:06; each with a minus in front.
CqlOr<Duration> ParseDurationText(std::string_view text);

// Of years that ParseTimestampText does not take, in the form that PrintTimestampText gives them, but
// with a blank for its T. nullopt: any other text.
std::optional<int64_t> ReadPrintedTimestamp(std::string_view text);

// Years have four digits, or more, and a sign before 0000: then no text is read back. Source:
// ScyllaDB types/types.cc, time_point_to_string, simple_date_to_string.
std::string PrintTimestampText(int64_t milliseconds);
std::string PrintDateText(uint32_t days);
// Whether the text is read back: of years from 1400 to 9999, of dates up from 0000.
bool HasTimestampText(int64_t milliseconds);
bool HasDateText(uint32_t days);
// Of at least 0 and less than a day.
std::string PrintTimeText(int64_t nanoseconds);
// In the units above; of a duration of nothing it is empty, which is no literal.
std::string PrintDurationText(const Duration& duration);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_TIME_TEXT_H_
