// A server's clock as its clients move it, over the wire.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/cql/values/encode_value.h"
#include "liststore/server_clock.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace clock_over_cql_test {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'700'000'000 * kSecond;

class ClockOverCqlTest : public CqlSessionTest {
 protected:
  // A server with one table, and a session on it; the clock outlives them.
  void Start(CqlServerOptions options) {
    StartServer(options, "k");
    Must("CREATE TABLE k.t (p int, c int, v int, w int, PRIMARY KEY (p, c))");
  }

  void SetClock(const std::string& assignment) {
    Must("UPDATE liststore.clock SET " + assignment + " WHERE key = 'clock'");
  }
  size_t Rows() { return Must("SELECT * FROM k.t").rows.size(); }
};

TEST_F(ClockOverCqlTest, EachJumpTakesOneRowOrCell) {
  ServerClock clock(kStart);
  CqlServerOptions options;
  options.shards = 3;
  options.server_clock = &clock;
  Start(options);
  for (int row = 1; row <= 9; ++row) {
    Must("INSERT INTO k.t (p, c, v) VALUES (" + std::to_string(row % 4) + ", " +
         std::to_string(row) + ", 1) USING TTL " + std::to_string(1000 * row));
  }
  // A row of two cells that end before it does.
  Must("INSERT INTO k.t (p, c) VALUES (7, 7)");
  Must("UPDATE k.t USING TTL 1500 SET v = 1 WHERE p = 7 AND c = 7");
  Must("UPDATE k.t USING TTL 2500 SET w = 1 WHERE p = 7 AND c = 7");
  for (size_t gone = 1; gone <= 9; ++gone) {
    SetClock("jump = 'next_expiry'");
    EXPECT_EQ(clock.NowNanos(), kStart + gone * 1000 * kSecond);
    EXPECT_EQ(Rows(), 10 - gone);
    if (gone > 2) continue;
    SetClock("jump = 'next_expiry'");
    EXPECT_EQ(clock.NowNanos(), kStart + (gone * 1000 + 500) * kSecond);
    EXPECT_EQ(Rows(), 10 - gone) << "it was a cell";
    EXPECT_EQ(Cell(gone == 1 ? "SELECT v FROM k.t WHERE p = 7" : "SELECT w FROM k.t WHERE p = 7"),
              "null");
  }
  EXPECT_NE(Refusal("UPDATE liststore.clock SET jump = 'next_expiry' WHERE key = 'clock'")
                .find("nothing expires"),
            std::string::npos);
  StopServer();
}

TEST_F(ClockOverCqlTest, AJumpPassesOverWhatAMarkRemembers) {
  ServerClock clock(kStart);
  CqlServerOptions options;
  options.server_clock = &clock;
  Start(options);
  Must("INSERT INTO k.t (p, c, v) VALUES (1, 1, 1) USING TTL 10");
  Must("INSERT INTO k.t (p, c, v) VALUES (2, 2, 2) USING TTL 20");
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Must("DELETE FROM k.t WHERE p = 1");
  SetClock("jump = 'next_expiry'");
  EXPECT_EQ(clock.NowNanos(), kStart + 20 * kSecond);
  EXPECT_EQ(Rows(), 0u);
  StopServer();
}

// A timestamp of a client's clock, which is not the server's.
CqlParameters ClientTime() { return {{}, {}, 123'456}; }

constexpr char kInsert[] = "INSERT INTO k.t (p, c, v) VALUES (1, 1, 1)";
constexpr char kWriteTime[] = "SELECT WRITETIME(v) FROM k.t";

TEST_F(ClockOverCqlTest, ClientTimestampsCountWhileTheClockIsReal) {
  const ManualClock machine(kStart);
  ServerClock clock(machine, machine);
  CqlServerOptions options;
  options.server_clock = &clock;
  Start(options);
  const std::string client = cql::EncodeBigint(123'456);
  Must({kInsert, {}}, ClientTime());
  EXPECT_EQ(Cell(kWriteTime), client);
  SetClock("mode = 'manual'");
  Must({kInsert, {}}, ClientTime());
  const std::string frozen = Cell(kWriteTime);
  EXPECT_EQ(frozen, cql::EncodeBigint(kStart / 1000)) << "frozen while it ran";
  SetClock("mode = 'scaled:2'");
  SetClock("advance = 1s");
  const CqlAnswer batch = session_->RunBatch(true, {{kInsert, {}}}, 123'456);
  EXPECT_EQ(batch.error, "");
  EXPECT_EQ(Cell(kWriteTime), cql::EncodeBigint(kStart / 1000 + 1'000'000));
  const CqlAnswer prepared = session_->Run({kInsert, {}, true}, ClientTime());
  EXPECT_EQ(prepared.error, "");
  EXPECT_EQ(Cell(kWriteTime), cql::EncodeBigint(kStart / 1000 + 1'000'001))
      << "and those of groups";
  Must("DELETE FROM k.t WHERE p = 1");
  Must({std::string(kInsert) + " USING TIMESTAMP 1700000100000000", {}}, ClientTime());
  EXPECT_EQ(Cell(kWriteTime), cql::EncodeBigint(1'700'000'100'000'000)) << "USING TIMESTAMP counts";
  StopServer();
}

TEST_F(ClockOverCqlTest, WhoeverSaysSoKeepsOrReplacesThemAlways) {
  ManualClock manual(kStart);
  CqlServerOptions options;
  options.manual_clock = &manual;
  options.client_timestamps = CqlServerOptions::ClientTimestamps::kHonour;
  Start(options);
  Must({kInsert, {}}, ClientTime());
  EXPECT_EQ(Cell(kWriteTime), cql::EncodeBigint(123'456));

  const ManualClock machine(kStart);
  ServerClock clock(machine, machine);
  options.manual_clock = nullptr;
  options.server_clock = &clock;
  options.client_timestamps = CqlServerOptions::ClientTimestamps::kReplace;
  Start(options);
  Must({kInsert, {}}, ClientTime());
  EXPECT_EQ(Cell(kWriteTime), cql::EncodeBigint(kStart / 1000));
  StopServer();
}

TEST_F(ClockOverCqlTest, AManualClockOfTheProgramReplacesThemToo) {
  ManualClock manual(kStart);
  CqlServerOptions options;
  options.manual_clock = &manual;
  Start(options);
  Must({kInsert, {}}, ClientTime());
  EXPECT_EQ(Cell(kWriteTime), cql::EncodeBigint(kStart / 1000));
  EXPECT_NE(Refusal("UPDATE liststore.clock SET mode = 'real' WHERE key = 'clock'")
                .find("CqlServerOptions::manual_clock"),
            std::string::npos);
  StopServer();
}

}  // namespace clock_over_cql_test
}  // namespace liststore::testing
