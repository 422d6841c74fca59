#include "engine/faces/http/api_tables.h"

namespace liststore::http_face {
namespace {

using enum JsonType;

// What they are is told in docs/cql_support.md, of each table in its section.
constexpr ApiColumn kClock[] = {
    {"key", kString, false, "clock"},
    {"mode", kString, true, "real, manual, or scaled:FACTOR"},
    {"now", kString, true, "The time; to write it moves the clock there"},
    {"now_nanos", kInteger, true, "The same in nanoseconds since 1970"},
    {"advance", kString, true, "A duration, as 1h30m: moves the clock on"},
    {"advance_seconds", kInteger, true, "Moves the clock on"},
    {"jump", kString, true, "next_expiry: moves the clock to when the next row or cell expires"}};
constexpr ApiColumn kData[] = {
    {"key", kString, false, "data"},
    {"action", kString, true, "mark: the present is the baseline; reset: back to it; forget"},
    {"baseline", kString, false, "When it was marked; null: there is no baseline"},
    {"keyspaces", kInteger, false, "That users have made"},
    {"tables", kInteger, false, "In them"},
    {"rows", kInteger, false, "Stored in them"},
    {"bytes", kInteger, false, "Of them"}};
constexpr ApiColumn kFaults[] = {
    {"name", kString, true, "Its name; another one of that name goes"},
    {"action", kString, true, "read_timeout, unavailable, delay 200ms, close_connection ...",
     ApiWords::kLowerCase},
    {"op", kString, true, "SELECT, INSERT ...; null: all but PREPARE", ApiWords::kOperation},
    {"tbl", kString, true, "keyspace.table; null: all"},
    {"statement", kString, true, "A part of the statement's text"},
    {"consistency", kString, true, "LOCAL_QUORUM", ApiWords::kConsistency},
    {"key", kString, true, "The partition key, its columns joined by :"},
    {"connection", kString, true, "The client's address:port, or what its driver is called"},
    {"times", kInteger, true, "For so many requests; null: until it is removed"},
    {"probability", kNumber, true, "That it happens, 0 to 1; null: always"},
    {"seed", kInteger, true, "Of the probability and of delays"},
    {"applies", kBoolean, true, "The statement runs, only its answer is lost"},
    {"hits", kInteger, false, "How often it has happened"},
    {"remaining", kInteger, false, "How often it will; null: always"},
    {"warning", kString, false, "Why nothing meets it as things are; null: something may"}};
constexpr ApiColumn kJournal[] = {{"key", kString, false, "journal"},
                                  {"enabled", kBoolean, true, "Requests are written down"},
                                  {"capacity", kInteger, true, "How many are kept"},
                                  {"kept", kInteger, false, "That are there"},
                                  {"recorded", kInteger, false, "Since the start"},
                                  {"dropped", kInteger, false, "That went to make room"}};
constexpr ApiColumn kRequests[] = {
    {"journal", kString, false, "requests"},
    {"seq", kInteger, false, "Ascending, without gaps"},
    {"at", kString, false, "When it had arrived, by the server's clock"},
    {"client", kString, false, "address:port"},
    {"consistency", kString, false, "", ApiWords::kConsistency},
    {"dead_rows", kInteger, false, "Deleted or expired rows that its reads passed over"},
    {"driver", kString, false, "What the client's driver is called"},
    {"duration_us", kInteger, false, "What it took by the machine's clock"},
    {"error", kString, false, "The message"},
    {"key", kString, false, "The partition key"},
    {"op", kString, false, "SELECT, INSERT ...", ApiWords::kOperation},
    {"outcome", kString, false, "ok, no_answer, or an error's name", ApiWords::kLowerCase},
    {"page_size", kInteger, false, ""},
    {"prepared", kBoolean, false, ""},
    {"serial_consistency", kString, false, "", ApiWords::kConsistency},
    {"statement", kString, false, "Its text"},
    {"tbl", kString, false, "keyspace.table"},
    {"timestamp", kInteger, false, "The client's, in microseconds"},
    {"user", kString, false, "Who had logged in"},
    {"values", kStrings, false, "What was bound, as literals of CQL"}};
constexpr ApiColumn kLint[] = {
    {"lint", kString, false, "lint"},
    {"rule", kString, false, "unprepared, allow_filtering ...", ApiWords::kLowerCase},
    {"subject", kString, false, "A statement or a table"},
    {"count", kInteger, false, "How often"},
    {"detail", kString, false, "Of the first, or of the largest"},
    {"seq", kInteger, false, "Of the first request, in the journal"}};
constexpr ApiColumn kSnapshots[] = {
    {"key", kString, false, "snapshots"},
    {"action", kString, true, "save: takes one, and answers when it is there"},
    {"directory", kString, false, "Where everything is kept"},
    {"commit_log", kString, false, "off, os, periodic or sync"},
    {"log_bytes", kInteger, false, "Of the log's files"},
    {"last_number", kInteger, false, "Of the last snapshot of this run; null: there was none"},
    {"last_rows", kInteger, false, ""},
    {"last_bytes", kInteger, false, ""},
    {"last_taken", kString, false, ""}};
constexpr ApiColumn kMemory[] = {
    {"kind", kString, true, "process, rows, connections, statements, journal, sketches, connection",
     ApiWords::kLowerCase},
    {"name", kString, true, "all, or a client's address:port"},
    {"bytes", kInteger, false, "That are held"},
    {"limit_bytes", kInteger, true, "That may be; of process, or else of rows, it may be changed"}};
constexpr ApiColumn kCounters[] = {{"name", kString, false, "What is counted"},
                                   {"value", kInteger, false, "Since the start"}};
constexpr ApiColumn kSlowTurns[] = {{"loop", kInteger, false, "From 0"},
                                    {"number", kInteger, false, "From 1, of all loops"},
                                    {"ended", kString, false, "By the server's clock"},
                                    {"took_us", kInteger, false, "Microseconds"},
                                    {"waited_for_core_us", kInteger, false, "Of them, at most"},
                                    {"work", kString, false, "What was done"}};
constexpr ApiColumn kHotPartitions[] = {
    {"top", kString, false, "partitions"},
    {"rank", kInteger, false, "From 1, the hottest first"},
    {"key", kString, false, "The partition key"},
    {"longest_us", kInteger, false, "Of the requests that were looked at"},
    {"looked_at", kInteger, false, "How many that were, of all partitions"},
    {"more_max", kInteger, false, "Requests that it may have had beside, at most"},
    {"of_requests", kInteger, false, "How many there were, of all partitions"},
    {"reads", kInteger, false, "Requests that read it"},
    {"seconds", kInteger, false, "In which they came, up to 300"},
    {"tbl", kString, false, "keyspace.table"},
    {"writes", kInteger, false, "Requests that wrote to it"}};
constexpr ApiColumn kUnsupported[] = {
    {"kind", kString, false, "refused, or no effect", ApiWords::kLowerCase},
    {"code", kString, false, "LS-0004"},
    {"count", kInteger, false, "How often"},
    {"feature", kString, false, "Its name"},
    {"first_at", kString, false, "By the server's clock"},
    {"first_statement", kString, false, "What asked for it first"},
    {"instead", kString, false, "The nearest way that works"}};

constexpr ApiTable kTables[] = {
    {.name = "clock",
     .summary = "The server's clock: how it goes, and what time it is",
     .key_column = "key",
     .key = "clock",
     .can_be_written = true,
     .columns = kClock},
    {.name = "data",
     .summary = "What is stored: marks, and resets to them",
     .key_column = "key",
     .key = "data",
     .can_be_written = true,
     .columns = kData},
    {.name = "faults",
     .summary = "What is to go wrong, for which statements",
     .can_be_written = true,
     .can_be_emptied = true,
     .has_rows_by_name = true,
     .columns = kFaults},
    {.name = "journal",
     .summary = "The journal of requests: how much of it there is",
     .key_column = "key",
     .key = "journal",
     .can_be_written = true,
     .columns = kJournal},
    {.name = "requests",
     .summary = "The last requests of clients, oldest first",
     .can_be_emptied = true,
     .columns = kRequests},
    {.name = "lint", .summary = "Habits of clients that would hurt at scale", .columns = kLint},
    {.name = "snapshots",
     .summary = "Where everything is kept, and the last snapshot",
     .key_column = "key",
     .key = "snapshots",
     .can_be_written = true,
     .columns = kSnapshots},
    {.name = "memory",
     .summary = "What is held, for whom, and within which limits",
     .key_column = "name",
     .key = "all",
     .can_be_written = true,
     .columns = kMemory},
    {.name = "counters", .summary = "What became of clients since the start", .columns = kCounters},
    {.name = "slow_turns",
     .summary = "Turns of a loop that took a millisecond or more",
     .columns = kSlowTurns},
    {.name = "hot_partitions",
     .summary = "Partitions that clients asked for most in the last minutes",
     .columns = kHotPartitions},
    {.name = "unsupported",
     .summary = "What clients asked for and did not get",
     .columns = kUnsupported}};

}  // namespace

std::span<const ApiTable> ApiTables() { return kTables; }

}  // namespace liststore::http_face
