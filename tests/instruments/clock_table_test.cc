#include "engine/instruments/clock_table.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/cql/values/encode_value.h"
#include "engine/model/types/duration.h"
#include "gtest/gtest.h"

namespace liststore {
namespace clock_table_test {

constexpr uint64_t kStart = 1'700'000'000'123'456'789;
constexpr uint64_t kSecond = 1'000'000'000;

std::optional<int64_t> NothingExpires(uint64_t /*now_nanos*/) { return std::nullopt; }

// `cell` of the one row.
std::optional<std::string> Cell(const instruments::ClockTable& table, std::string_view column) {
  const Schema schema;
  const cql::NodeFacts node;
  const auto rows = table.Rows({schema, node, {}, 0});
  EXPECT_EQ(rows.size(), 1u);
  const ColumnDefinition* found = table.definition()->FindColumn(column);
  EXPECT_NE(found, nullptr) << column;
  return rows.at(0).at(static_cast<size_t>(found - table.definition()->columns.data()));
}

TEST(ClockTableTest, ShowsTheTimeTwice) {
  ServerClock clock(kStart);
  const instruments::ClockTable table(clock, NothingExpires);
  EXPECT_EQ(table.definition()->keyspace, "liststore");
  EXPECT_EQ(table.definition()->name, "clock");
  EXPECT_EQ(Cell(table, "key"), "clock");
  EXPECT_EQ(Cell(table, "mode"), "manual");
  EXPECT_EQ(Cell(table, "now"), cql::EncodeBigint(1'700'000'000'123));
  EXPECT_EQ(Cell(table, "now_nanos"), cql::EncodeBigint(kStart));
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
    {"a timestamp sets the time", "now", cql::EncodeBigint(1'800'000'000'000),
     1'800'000'000 * kSecond, ""},
    {"so do nanoseconds", "now_nanos", cql::EncodeBigint(1'800'000'000'000'000'001),
     1'800'000'000'000'000'001, ""},
    {"seconds are added", "advance_seconds", cql::EncodeBigint(60), kStart + 60 * kSecond, ""},
    {"a duration is added", "advance", EncodeDuration({0, 1, 5}), kStart + 86'400 * kSecond + 5,
     ""},
    {"no time at all is fine", "advance_seconds", cql::EncodeBigint(0), kStart, ""},
    {"not backwards", "now", cql::EncodeBigint(1'600'000'000'000), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not before the epoch", "now", cql::EncodeBigint(-1), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not far before it", "now", cql::EncodeBigint(INT64_MIN), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not by seconds", "advance_seconds", cql::EncodeBigint(-1), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"not by a duration", "advance", EncodeDuration({0, -1, 0}), kStart,
     "liststore.clock: the clock cannot go backwards"},
    {"months differ in length", "advance", EncodeDuration({1, 0, 0}), kStart,
     "liststore.clock: months have no fixed length: advance by days"},
    {"time ends", "now", cql::EncodeBigint(INT64_MAX), kStart,
     "liststore.clock: the time lies behind the year 2262"},
    {"by seconds too", "advance_seconds", cql::EncodeBigint(9'000'000'000), kStart,
     "liststore.clock: the time lies behind the year 2262"},
    {"and by days", "advance", EncodeDuration({0, INT32_MAX, 0}), kStart,
     "liststore.clock: the time lies behind the year 2262"},
    {"null is no time", "now", std::nullopt, kStart, "liststore.clock: now cannot be null"},
    {"an empty value is none", "now", "", kStart, "liststore.clock: a time cannot be empty"},
    {"the mode that it has is fine", "mode", "manual", kStart, ""},
    {"there is nothing to jump to", "jump", "next_expiry", kStart,
     "liststore.clock: nothing expires: no row and no cell that lives has a TTL"},
    {"there is one thing to jump to", "jump", "tomorrow", kStart,
     "liststore.clock: jump 'tomorrow' is not next_expiry"},
    {"a mode that there is not", "mode", "sun", kStart,
     "liststore.clock: mode 'sun' is not real, manual or scaled:FACTOR"},
    {"a factor that is none", "mode", "scaled:0", kStart,
     "liststore.clock: mode 'scaled:0': the factor is a decimal number from 0.000001 to 1000000"},
};

TEST(ClockTableTest, WritesMoveTheClock) {
  for (const WriteCase& write : kWrites) {
    SCOPED_TRACE(write.name);
    ServerClock clock(kStart);
    instruments::ClockTable table(clock, NothingExpires);
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
  instruments::ClockTable table(clock, NothingExpires);
  EXPECT_EQ(table
                .Write({{"key", "clock"},
                        {"advance_seconds", cql::EncodeBigint(1)},
                        {"now_nanos", cql::EncodeBigint(INT64_MAX)}})
                ->message,
            "liststore.clock: one statement changes the clock once");
  EXPECT_EQ(table.Write({{"key", "clock"}})->message,
            "liststore.clock: set one of now, now_nanos, advance, advance_seconds, jump and mode");
  EXPECT_EQ(table.Write({{"key", "other"}, {"advance_seconds", cql::EncodeBigint(1)}})->message,
            "liststore.clock: the only key is 'clock'");
  EXPECT_EQ(clock.NowNanos(), kStart);
}

std::string ErrorOf(instruments::ClockTable& table, const char* column, const std::string& value) {
  const auto error = table.Write({{"key", "clock"}, {column, value}});
  return error ? error->message : "";
}

TEST(ClockTableTest, ARealClockIsFrozenFirst) {
  ManualClock machine(kStart);
  ServerClock clock(machine, machine);
  instruments::ClockTable table(clock, NothingExpires);
  EXPECT_EQ(Cell(table, "mode"), "real");
  for (const int64_t seconds : {1, -1}) {
    EXPECT_EQ(ErrorOf(table, "advance_seconds", cql::EncodeBigint(seconds)),
              "liststore.clock: the clock follows the machine's and cannot be moved; freeze it "
              "first: UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'");
  }
  EXPECT_EQ(ErrorOf(table, "mode", "manual"), "");
  EXPECT_EQ(ErrorOf(table, "advance_seconds", cql::EncodeBigint(60)), "");
  EXPECT_EQ(Cell(table, "now_nanos"), cql::EncodeBigint(kStart + 60 * kSecond));
  EXPECT_EQ(ErrorOf(table, "mode", "real"),
            "liststore.clock: the clock is ahead of the machine's and cannot go backwards: mode "
            "'real' waits until the machine's has come as far");
  EXPECT_EQ(Cell(table, "mode"), "manual");
  machine.AdvanceSeconds(90);
  EXPECT_EQ(ErrorOf(table, "mode", "real"), "");
  EXPECT_EQ(Cell(table, "now_nanos"), cql::EncodeBigint(kStart + 90 * kSecond));
}

TEST(ClockTableTest, AScaledClockIsShownAsItIsWritten) {
  ManualClock machine(kStart);
  ServerClock clock(machine, machine);
  instruments::ClockTable table(clock, NothingExpires);
  EXPECT_EQ(ErrorOf(table, "mode", "scaled:60.50"), "");
  EXPECT_EQ(Cell(table, "mode"), "scaled:60.5");
  machine.AdvanceSeconds(2);
  EXPECT_EQ(Cell(table, "now_nanos"), cql::EncodeBigint(kStart + 121 * kSecond));
  EXPECT_EQ(ErrorOf(table, "advance_seconds", cql::EncodeBigint(9)), "");
  EXPECT_EQ(Cell(table, "now_nanos"), cql::EncodeBigint(kStart + 130 * kSecond));
}

TEST(ClockTableTest, JumpsGoToTheNextExpiry) {
  const uint64_t first = 1'700'000'000 + 5;
  ManualClock machine(kStart);
  ServerClock clock(machine, machine);
  std::optional<uint64_t> takes_nanos;
  instruments::ClockTable table(clock, [&](uint64_t now_nanos) -> std::optional<int64_t> {
    if (takes_nanos) machine.AdvanceNanos(*takes_nanos);
    return static_cast<int64_t>(std::max(first, now_nanos / kSecond + 10));
  });
  EXPECT_NE(ErrorOf(table, "jump", "next_expiry").find("freeze it first"), std::string::npos);
  EXPECT_EQ(clock.SetMode({.mode = ServerClock::Mode::kManual}), ServerClock::Change::kDone);
  EXPECT_EQ(ErrorOf(table, "jump", "next_expiry"), "");
  EXPECT_EQ(clock.NowNanos(), (1'700'000'000 + 10) * kSecond);
  EXPECT_EQ(clock.SetMode({ServerClock::Mode::kScaled, 1'000'000}), ServerClock::Change::kDone);
  EXPECT_EQ(ErrorOf(table, "jump", "next_expiry"), "");
  EXPECT_EQ(clock.NowNanos(), (1'700'000'000 + 20) * kSecond);
  takes_nanos = 60 * kSecond;
  EXPECT_EQ(ErrorOf(table, "jump", "next_expiry"), "") << "it came there by itself meanwhile";
  EXPECT_EQ(clock.NowNanos(), (1'700'000'000 + 80) * kSecond);
  EXPECT_EQ(clock.Set(ServerClock::kNanosMax), ServerClock::Change::kDone);
  EXPECT_EQ(ErrorOf(table, "jump", "next_expiry"),
            "liststore.clock: the time lies behind the year 2262");
}

TEST(ClockTableTest, AClockThatWasHandedInKeepsItsMode) {
  ManualClock machine(kStart);
  ServerClock followed(static_cast<const Clock&>(machine));
  instruments::ClockTable table(followed, NothingExpires);
  EXPECT_EQ(Cell(table, "mode"), "real");
  EXPECT_EQ(ErrorOf(table, "advance_seconds", cql::EncodeBigint(1)),
            "liststore.clock: the clock is that of the program that started the server, or of its "
            "store, and is moved there alone");
  EXPECT_EQ(ErrorOf(table, "mode", "manual"),
            "liststore.clock: the mode cannot be changed: the clock is CqlServerOptions::clock, or "
            "its store's, which belongs to the program that started the server");
  ServerClock shared(&machine);
  instruments::ClockTable shared_table(shared, NothingExpires);
  EXPECT_EQ(Cell(shared_table, "mode"), "manual");
  EXPECT_EQ(ErrorOf(shared_table, "mode", "real"),
            "liststore.clock: the mode cannot be changed: the clock is "
            "CqlServerOptions::manual_clock, which belongs to the program that started the server");
  EXPECT_EQ(ErrorOf(shared_table, "advance_seconds", cql::EncodeBigint(1)), "");
  EXPECT_EQ(machine.NowNanos(), kStart + kSecond);
}

}  // namespace clock_table_test
}  // namespace liststore
