// The short commands as the statements on `liststore.*` that they are.
#ifndef LISTSTORE_TOOLS_INSTRUMENTS_STATEMENTS_H_
#define LISTSTORE_TOOLS_INSTRUMENTS_STATEMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace liststore {

inline constexpr char kShowClock[] = "SELECT mode, now FROM liststore.clock";
inline constexpr char kJumpClock[] =
    "UPDATE liststore.clock SET jump = 'next_expiry' WHERE key = 'clock'";
inline constexpr char kListFaults[] =
    "SELECT name, action, applies, op, tbl, statement, consistency, key, connection, times, "
    "probability, seed, "
    "hits, remaining, warning FROM liststore.faults";
inline constexpr char kClearFaults[] = "TRUNCATE liststore.faults";
inline constexpr char kShowBaseline[] =
    "SELECT baseline, keyspaces, tables, rows, bytes FROM liststore.data";
inline constexpr char kSnapshot[] =
    "UPDATE liststore.snapshots SET action = 'save' WHERE key = 'snapshots'";
inline constexpr char kShowSnapshot[] =
    "SELECT last_number, last_rows, last_bytes, last_taken, log_bytes, directory FROM "
    "liststore.snapshots";
inline constexpr char kNewestRequest[] =
    "SELECT seq FROM liststore.requests WHERE journal = 'requests' ORDER BY seq DESC LIMIT 1";

// `time`: 2026-01-01, 2026-01-01T12:00:00Z, or milliseconds since 1970: as CQL has timestamps.
std::string SetClock(std::string_view time);
// `mode`: real, manual, scaled:60.
std::string SetClockMode(std::string_view mode);
// InvalidArgument: `duration` is none of CQL (1h30m, 500ms, 30d).
absl::StatusOr<std::string> AdvanceClock(std::string_view duration);

// `settings`: COLUMN=VALUE, of the columns of liststore.faults. InvalidArgument: there is no such
// column, or the value is none of its type.
absl::StatusOr<std::string> AddFault(std::string_view name,
                                     const std::vector<std::string>& settings);
std::string RemoveFault(std::string_view name);

// `action`: mark, reset, forget.
std::string DoWithData(std::string_view action);

// Requests behind the one of that number, oldest first; `columns`: "*", or names with commas.
std::string RequestsAfter(int64_t seq, std::string_view columns);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_INSTRUMENTS_STATEMENTS_H_
