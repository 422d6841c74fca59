#include "engine/control/clock_table.h"

#include <string>
#include <string_view>

#include "engine/cql/encode_value.h"
#include "engine/model/duration.h"
#include "gtest/gtest.h"

namespace liststore {
namespace {

constexpr uint64_t kStart = 1'700'000'000'123'456'789;
constexpr uint64_t kSecond = 1'000'000'000;

// `cell` of the one row.
std::optional<std::string> Cell(const ClockTable& table, std::string_view column) {
  const Schema schema;
  const NodeFacts node;
  const auto rows = table.Rows({schema, node, {}, 0});
  EXPECT_EQ(rows.size(), 1u);
  const ColumnDefinition* found = table.definition()->FindColumn(column);
  EXPECT_NE(found, nullptr) << column;
  return rows.at(0).at(static_cast<size_t>(found - table.definition()->columns.data()));
}

TEST(ClockTableTest, ShowsTheTimeTwice) {
  ServerClock clock(kStart);
  const ClockTable table(clock);
  EXPECT_EQ(table.definition()->keyspace, "liststore");
  EXPECT_EQ(table.definition()->name, "clock");
  EXPECT_EQ(Cell(table, "key"), "clock");
  EXPECT_EQ(Cell(table, "mode"), "manual");
  EXPECT_EQ(Cell(table, "now"), EncodeBigint(1'700'000'000'123));
  EXPECT_EQ(Cell(table, "now_nanos"), EncodeBigint(kStart));
  EXPECT_EQ(Cell(table, "advance"), std::nullopt);
  EXPECT_EQ(Cell(table, "advance_seconds"), std::nullopt);
}

struct WriteCase {
  const char* name;
  const char* column;
  std::optional<std::string> value;
  uint64_t now_nanos;  // behind the write
  const char* error;   // empty: it succeeds
};

const WriteCase kWrites[] = {
    {"a timestamp sets the time", "now", EncodeBigint(1'800'000'000'000), 1'800'000'000 * kSecond,
     ""},
    {"so do nanoseconds", "now_nanos", EncodeBigint(1'800'000'000'000'000'001),
     1'800'000'000'000'000'001, ""},
    {"seconds are added", "advance_seconds", EncodeBigint(60), kStart + 60 * kSecond, ""},
    {"a duration is added", "advance", EncodeDuration({0, 1, 5}), kStart + 86'400 * kSecond + 5,
     ""},
    {"no time at all is fine", "advance_seconds", EncodeBigint(0), kStart, ""},
    {"not backwards", "now", EncodeBigint(1'600'000'000'000), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not before the epoch", "now", EncodeBigint(-1), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not far before it", "now", EncodeBigint(INT64_MIN), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not by seconds", "advance_seconds", EncodeBigint(-1), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not by a duration", "advance", EncodeDuration({0, -1, 0}), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"months differ in length", "advance", EncodeDuration({1, 0, 0}), kStart,
     "liststore.clock: months have no fixed length: advance by days"},
    {"time ends", "now", EncodeBigint(INT64_MAX), kStart,
     "liststore.clock: the time lies behind the year 2262"},
    {"by seconds too", "advance_seconds", EncodeBigint(9'000'000'000), kStart,
     "liststore.clock: the time lies behind the year 2262"},
    {"and by days", "advance", EncodeDuration({0, INT32_MAX, 0}), kStart,
     "liststore.clock: the time lies behind the year 2262"},
    {"null is no time", "now", std::nullopt, kStart, "liststore.clock: now cannot be null"},
    {"an empty value is none", "now", "", kStart, "liststore.clock: a time cannot be empty"},
    {"the mode stays", "mode", "real", kStart,
     "liststore.clock: the mode is chosen when the server starts"},
};

TEST(ClockTableTest, WritesMoveTheClock) {
  for (const WriteCase& write : kWrites) {
    SCOPED_TRACE(write.name);
    ServerClock clock(kStart);
    ClockTable table(clock);
    const auto error = table.Write({{"key", "clock"}, {write.column, write.value}});
    EXPECT_EQ(error ? error->message : "", write.error);
    if (error) {
      EXPECT_EQ(error->code, CqlErrorCode::kInvalid);
    }
    EXPECT_EQ(clock.NowNanos(), write.now_nanos);
  }
}

TEST(ClockTableTest, AStatementMovesItOnce) {
  ServerClock clock(kStart);
  ClockTable table(clock);
  EXPECT_EQ(table
                .Write({{"key", "clock"},
                        {"advance_seconds", EncodeBigint(1)},
                        {"now_nanos", EncodeBigint(INT64_MAX)}})
                ->message,
            "liststore.clock: one statement moves the clock once");
  EXPECT_EQ(table.Write({{"key", "clock"}})->message,
            "liststore.clock: set one of now, now_nanos, advance and advance_seconds");
  EXPECT_EQ(table.Write({{"key", "other"}, {"advance_seconds", EncodeBigint(1)}})->message,
            "liststore.clock: the only key is 'clock'");
  EXPECT_EQ(clock.NowNanos(), kStart);
}

TEST(ClockTableTest, ARealClockIsNotMoved) {
  const ManualClock machine(kStart);
  ServerClock clock(machine);
  ClockTable table(clock);
  EXPECT_EQ(Cell(table, "mode"), "real");
  EXPECT_EQ(
      table.Write({{"key", "clock"}, {"advance_seconds", EncodeBigint(1)}}),
      CqlError::Invalid(
          "liststore.clock: the clock follows the machine's; only a manual clock can be moved"));
}

}  // namespace
}  // namespace liststore
