// What becomes of a read on a loop that comes to a row of which it would make much: it is begun elsewhere,
// and what the loop has done for it by then is told.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/query_processor.h"
#include "engine/model/row_view.h"
#include "engine/protocol/request.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore::testing {
namespace wide_rows_test {

using execute::Deferral;

class WideRows : public ::testing::Test {
 protected:
  static constexpr int kNarrowRows = 500;

  // Partition 1: a wide row; partition 2: narrow ones, and the wide one behind them.
  WideRows() {
    client_.keyspace = "k";
    Run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "1}");
    Run("CREATE TABLE t (p int, c int, w int, v text, PRIMARY KEY (p, c))");
    const std::string wide = std::string(100'000, 'v') + "')";
    Run("INSERT INTO t (p, c, w, v) VALUES (1, 0, 1, '" + wide);
    for (int c = 0; c < kNarrowRows; ++c) {
      Run("INSERT INTO t (p, c, w, v) VALUES (2, " + std::to_string(c) + ", 0, 'v')");
    }
    Run("INSERT INTO t (p, c, w, v) VALUES (2, " + std::to_string(kNarrowRows) + ", 1, '" + wide);
    client_.place = {.units_max = execute::kLoopUnitsMax, .time_max = std::chrono::hours(1)};
  }

  execute::Outcome Run(std::string_view text) {
    protocol::Request request;
    request.message = protocol::Query{text, {}};
    execute::RequestView view({}, request);
    OutputBuffer out;
    processor_.Handle({&view, 1}, client_, out);
    client_.statements.EndTurn();
    EXPECT_FALSE(view.outcome.error) << text << ": " << view.outcome.message;
    return view.outcome;
  }
  Deferral DeferralOf(std::string_view columns, std::string_view rest) {
    return Run("SELECT " + std::string(columns) + " FROM t WHERE " + std::string(rest)).deferral;
  }

  ManualClock clock_{1'700'000'000'000'000'000};
  shard::Engine engine_{shard::EngineOptions()};
  cql::VirtualTables virtual_tables_;
  execute::QueryProcessor processor_{engine_, clock_, virtual_tables_, {}};
  execute::ClientState client_;
};

constexpr std::string_view kTenTimes = "v, v, v, v, v, v, v, v, v, v";
constexpr std::string_view kCall = "blobAsText(textAsBlob(v))";

TEST_F(WideRows, ThatAreMetAtOnceHaveCostTheLoopNothing) {
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 1"), Deferral::kLarge);
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 2 AND c = 500"), Deferral::kLarge);
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 2 AND c >= 490 AND w = 1 ALLOW FILTERING"),
            Deferral::kLarge);
}

TEST_F(WideRows, BehindOthersHaveTheReadOfThoseInVain) {
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 2"), Deferral::kInOrder);
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 2 AND w = 1 ALLOW FILTERING"), Deferral::kInOrder);
  // Rows that are gone are looked at as well.
  clock_.AdvanceNanos(1'000'000'000);
  client_.place = {};
  Run("UPDATE t USING TTL 1 SET v = 'v' WHERE p = 3 AND c = 0");
  for (int c = 0; c < kNarrowRows; ++c) {
    Run("INSERT INTO t (p, c, v) VALUES (3, " + std::to_string(c) + ", 'v') USING TTL 1");
  }
  Run("INSERT INTO t (p, c, v) VALUES (3, 500, '" + std::string(100'000, 'v') + "')");
  clock_.AdvanceNanos(2'000'000'000);
  client_.place = {.units_max = execute::kLoopUnitsMax, .time_max = std::chrono::hours(1)};
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 3"), Deferral::kInOrder);
}

// Which takes long to find out what of it lives.
TEST_F(WideRows, OfManyCellsAreNotLookedAt) {
  client_.place = {};
  Run("CREATE TABLE m (p int, c int, v int, m map<int, int>, PRIMARY KEY (p, c))");
  std::string elements;
  for (int i = 0; i < static_cast<int>(kEncodedRowCells); ++i) {
    elements += (i == 0 ? "" : ", ") + std::to_string(i) + ": 1";
  }
  const auto set_elements = [&](int p, int c) {
    Run("UPDATE m SET m = m + {" + elements + "} WHERE p = " + std::to_string(p) +
        " AND c = " + std::to_string(c));
  };
  set_elements(1, 1);
  set_elements(2, 1'000);
  for (int c = 0; c < kNarrowRows; ++c) {
    Run("INSERT INTO m (p, c, v) VALUES (2, " + std::to_string(c) + ", 1)");
  }
  client_.place = {.units_max = execute::kLoopUnitsMax, .time_max = std::chrono::hours(1)};
  const auto deferral_of = [&](const std::string& columns, const std::string& rest) {
    return Run("SELECT " + columns + " FROM m WHERE " + rest).deferral;
  };
  for (const char* const columns : {"c", "v", "m", "count(m)", "max(v)"}) {
    EXPECT_EQ(deferral_of(columns, "p = 1"), Deferral::kLarge) << columns;
    EXPECT_EQ(deferral_of(columns, "p = 1 AND v = 7 ALLOW FILTERING"), Deferral::kLarge) << columns;
    EXPECT_EQ(deferral_of(columns, "p = 2"), Deferral::kInOrder) << columns;
    EXPECT_EQ(deferral_of(columns, "p = 2 AND c < 1000"), Deferral::kNo) << columns;
  }
  EXPECT_EQ(deferral_of("JSON *", "p = 1"), Deferral::kOvertaken) << "it calls a function";
  // It is counted as a row without a look at what it has.
  EXPECT_EQ(deferral_of("count(*)", "p = 1"), Deferral::kNo);
}

// The same value again and again.
TEST_F(WideRows, ThatManyFiltersLookAtAreNotLookedAt) {
  client_.place = {};
  Run("CREATE TABLE f (p int PRIMARY KEY, v int, s set<int>)");
  std::string elements;
  for (int i = 0; i < static_cast<int>(kEncodedRowCells) - 1; ++i) {
    elements += (i == 0 ? "" : ", ") + std::to_string(i);
  }
  Run("INSERT INTO f (p, s) VALUES (1, {" + elements + "})");
  client_.place = {.units_max = execute::kLoopUnitsMax, .time_max = std::chrono::hours(1)};
  const auto deferral_of = [&](int filters) {
    std::string text = "SELECT p FROM f WHERE p = 1";
    for (int i = 0; i < filters; ++i) text += " AND s CONTAINS " + std::to_string(i);
    return Run(text + " ALLOW FILTERING").deferral;
  };
  EXPECT_EQ(deferral_of(2), Deferral::kNo);
  EXPECT_EQ(deferral_of(99), Deferral::kInOrder);
}

// What functions make of them is short as a rule, and need not keep its place.
TEST_F(WideRows, OfFunctionsAreOvertaken) {
  EXPECT_EQ(DeferralOf(kCall, "p = 1"), Deferral::kOvertaken);
  EXPECT_EQ(DeferralOf(kCall, "p = 2"), Deferral::kOvertaken);
}

TEST_F(WideRows, ThatAreLeftOutDeferNothing) {
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 1 AND w = 0 ALLOW FILTERING"), Deferral::kNo);
  EXPECT_EQ(DeferralOf(kCall, "p = 1 AND w = 0 ALLOW FILTERING"), Deferral::kNo);
  EXPECT_EQ(DeferralOf(kTenTimes, "p = 2 AND c < 500"), Deferral::kNo);
}

}  // namespace wide_rows_test
}  // namespace liststore::testing
