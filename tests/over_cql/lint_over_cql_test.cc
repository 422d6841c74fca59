// liststore.lint over the wire: planted sins are found, a clean run has none.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/instruments/lint.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace lint_over_cql_test {

constexpr uint64_t kNow = 1'724'949'845'430'000'000;
constexpr int64_t kNowMicros = kNow / 1000;

class LintOverCql : public CqlSessionTest {
 protected:
  using ClientTimestamps = CqlServerOptions::ClientTimestamps;

  void SetUp() override { Start(ClientTimestamps::kHonour); }

  void Start(ClientTimestamps client_timestamps) {
    CqlServerOptions options;
    options.client_timestamps = client_timestamps;
    options.manual_clock = &clock_;
    options.journal_entries = 1000;
    StartServer(options, "ks");
    Must("CREATE TABLE ks.t (k int PRIMARY KEY, v text)");
    Must("CREATE TABLE ks.old (k int PRIMARY KEY, v text) WITH default_time_to_live = 60");
  }

  std::vector<ResultRow> Must(const std::string& text, std::vector<BoundParameter> values = {},
                              bool prepared = false, std::optional<int64_t> timestamp = {}) {
    CqlAnswer answer =
        session_->Run({text, std::move(values), prepared},
                      {.page_size = {}, .paging_state = {}, .default_timestamp = timestamp});
    EXPECT_EQ(answer.error, "") << text;
    return answer.rows;
  }
  // Rule, subject and count.
  std::vector<ResultRow> Found(const std::string& rule = {}) {
    return Must("SELECT rule, subject, count FROM liststore.lint" +
                (rule.empty() ? "" : " WHERE rule = '" + rule + "' ALLOW FILTERING"));
  }
  static ResultRow Row(std::string rule, std::string subject, int64_t count) {
    return {std::move(rule), std::move(subject), cql::EncodeBigint(count)};
  }

  ManualClock clock_{kNow};
};

TEST_F(LintOverCql, FindsNothingInACleanRun) {
  for (int i = 0; i < 5; ++i) {
    Must("INSERT INTO ks.t (k, v) VALUES (?, ?) USING TTL 60", {{cql::EncodeInt(i)}, {"x"}}, true,
         kNowMicros);
    Must("INSERT INTO ks.old (k, v) VALUES (?, ?)", {{cql::EncodeInt(i)}, {"x"}}, true);
    Must("SELECT v FROM ks.t WHERE k = ?", {{cql::EncodeInt(i)}}, true);
    Must("DELETE FROM ks.t WHERE k = ?", {{cql::EncodeInt(i)}}, true);
  }
  Must(
      "BEGIN BATCH UPDATE ks.t USING TTL 5 SET v = 'a' WHERE k = 1; DELETE FROM ks.t WHERE k = 1; "
      "APPLY BATCH");
  Must("SELECT v FROM ks.t WHERE k = 1");
  Must("SELECT v FROM ks.t WHERE k = 2");
  EXPECT_EQ(Found(), std::vector<ResultRow>());
}

TEST_F(LintOverCql, FindsStatementsThatShouldBePreparedByTheirShape) {
  for (int i = 0; i < 4; ++i) Must("SELECT v FROM ks.t WHERE k = " + std::to_string(i));
  EXPECT_EQ(Found(),
            std::vector<ResultRow>({Row("unprepared", "SELECT v FROM ks.t WHERE k = ?", 4)}));
}

TEST_F(LintOverCql, FindsFiltering) {
  const std::string text = "SELECT k FROM ks.t WHERE v = 'x' ALLOW FILTERING";
  Must(text);
  Must("SELECT k FROM ks.t WHERE v = ? ALLOW FILTERING", {{"y"}}, true);
  Must("SELECT k FROM ks.t WHERE k = 1 AND v = 'ALLOW FILTERING' ALLOW FILTERING");
  EXPECT_EQ(
      Found("allow_filtering"),
      std::vector<ResultRow>(
          {Row("allow_filtering", "SELECT k FROM ks.t WHERE k = ? AND v = ? ALLOW FILTERING", 1),
           Row("allow_filtering", "SELECT k FROM ks.t WHERE v = ? ALLOW FILTERING", 2)}));
}

TEST_F(LintOverCql, FindsBatchesOverSeveralPartitions) {
  const CqlStatement one{"DELETE FROM ks.t WHERE k = ?", {{cql::EncodeInt(1)}}, true};
  const CqlStatement two{"DELETE FROM ks.t WHERE k = 2", {}, false};
  EXPECT_EQ(session_->RunBatch(true, {one, one}, {}).error, "");
  EXPECT_EQ(Found("batch_partitions"), std::vector<ResultRow>());
  EXPECT_EQ(session_->RunBatch(false, {one, two}, {}).error, "");
  EXPECT_EQ(
      Found("batch_partitions"),
      std::vector<ResultRow>({Row(
          "batch_partitions", "DELETE FROM ks.t WHERE k = ?; DELETE FROM ks.t WHERE k = ?", 1)}));
}

TEST_F(LintOverCql, FindsReadsOfManyPartitions) {
  std::string keys = "1";
  for (size_t i = 2; i <= instruments::kLintKeysMax; ++i) keys += ", " + std::to_string(i);
  Must("SELECT v FROM ks.t WHERE k IN (" + keys + ")");
  EXPECT_EQ(Found("in_keys"), std::vector<ResultRow>());
  Must("SELECT v FROM ks.t WHERE k IN (" + keys + ", 99)");
  EXPECT_EQ(
      Must("SELECT subject, count, detail FROM liststore.lint WHERE rule = 'in_keys' ALLOW "
           "FILTERING"),
      std::vector<ResultRow>({{"ks.t", cql::EncodeBigint(1), "21 partitions, more than 20"}}));
}

TEST_F(LintOverCql, FindsRowsThatLastForEver) {
  Must("INSERT INTO ks.t (k, v) VALUES (1, 'x')");
  Must(
      "BEGIN BATCH UPDATE ks.t SET v = 'a' WHERE k = 1; UPDATE ks.t SET v = 'b' WHERE k = 1; "
      "APPLY BATCH");
  Must("UPDATE ks.old SET v = 'a' WHERE k = 1");
  EXPECT_EQ(Found(), std::vector<ResultRow>({Row("no_ttl", "ks.t", 2)}));
}

TEST_F(LintOverCql, FindsClocksThatAreAhead) {
  const std::string insert = "INSERT INTO ks.old (k) VALUES (?)";
  Must(insert, {{cql::EncodeInt(1)}}, true, kNowMicros + instruments::kLintAheadMicrosMax);
  EXPECT_EQ(Found(), std::vector<ResultRow>());
  Must(insert, {{cql::EncodeInt(1)}}, true, kNowMicros + instruments::kLintAheadMicrosMax + 1);
  Must("UPDATE ks.t USING TIMESTAMP ? AND TTL 5 SET v = 'x' WHERE k = 1",
       {{cql::EncodeBigint(kNowMicros + 5 * instruments::kLintAheadMicrosMax)}}, true);
  EXPECT_EQ(Found(), std::vector<ResultRow>({Row("future_timestamp", "ks.old", 1),
                                             Row("future_timestamp", "ks.t", 1)}));
}

TEST_F(LintOverCql, FindsTimestampsInAnotherUnit) {
  const auto update = [&](int64_t timestamp) {
    Must("UPDATE ks.old USING TIMESTAMP ? SET v = 'x' WHERE k = 1",
         {{cql::EncodeBigint(timestamp)}}, true);
  };
  update(kNowMicros);
  update(1);
  update(-5);
  EXPECT_EQ(Found(), std::vector<ResultRow>());
  update(kNowMicros / 1'000'000);
  update(kNowMicros / 1'000);
  EXPECT_EQ(Found(), std::vector<ResultRow>({Row("timestamp_unit", "ks.old", 2)}));
  EXPECT_EQ(Must("SELECT detail FROM liststore.lint").at(0).at(0),
            "timestamp " + std::to_string(kNowMicros / 1'000'000) +
                " looks like seconds since 1970; microseconds are wanted");
}

TEST_F(LintOverCql, TimestampsOfDriversThatHaveNoEffectAreNoHabit) {
  Start(ClientTimestamps::kByClock);
  Must("INSERT INTO ks.old (k) VALUES (?)", {{cql::EncodeInt(1)}}, true,
       kNowMicros + 5 * instruments::kLintAheadMicrosMax);
  EXPECT_EQ(Found(), std::vector<ResultRow>());
  Must("UPDATE ks.old USING TIMESTAMP " +
       std::to_string(kNowMicros + 5 * instruments::kLintAheadMicrosMax) +
       " SET v = 'x' WHERE k = 1");
  EXPECT_EQ(Found(), std::vector<ResultRow>({Row("future_timestamp", "ks.old", 1)}));
}

TEST_F(LintOverCql, WhatFailedIsNoHabit) {
  for (int i = 0; i < 5; ++i) session_->Run({"SELECT missing FROM ks.t", {}, false});
  EXPECT_EQ(Found(), std::vector<ResultRow>());
}

TEST_F(LintOverCql, FindsPartitionsThatHaveGrownTooLarge) {
  Must(
      "CREATE TABLE ks.p (p text, c int, v blob, PRIMARY KEY (p, c)) WITH default_time_to_live = "
      "60");
  const std::string mebibyte(1 << 20, 'x');
  const auto add = [&](const char* partition, int row) {
    Must("INSERT INTO ks.p (p, c, v) VALUES (?, ?, ?)",
         {{partition}, {cql::EncodeInt(row)}, {mebibyte}}, true);
  };
  for (int row = 0; row < 9; ++row) {
    add("a", row);
    add("b", row);
    add("c", row);
  }
  EXPECT_TRUE(Found().empty()) << "27 MiB, in partitions of 9";
  for (int row = 9; row < 11; ++row) {
    add("a", row);
    add("c", row);
  }
  EXPECT_EQ(Found(), std::vector<ResultRow>({Row("large_partition", "ks.p", 2)}));
  const std::vector<ResultRow> more = Must("SELECT detail, seq FROM liststore.lint");
  const size_t bytes = 11 * (mebibyte.size() + 4) + 1;
  EXPECT_EQ(more.at(0).at(0), "partition a has " + std::to_string(bytes) +
                                  " bytes of keys and values, more than 10485760");
  EXPECT_EQ(more[0][1], std::nullopt);
  Must("DELETE FROM ks.p WHERE p = 'a'");
  EXPECT_EQ(Found(), std::vector<ResultRow>({Row("large_partition", "ks.p", 1)}));
  clock_.AdvanceSeconds(60);
  Must("DELETE FROM ks.p WHERE p = 'c'");
  EXPECT_TRUE(Found().empty());
}

TEST_F(LintOverCql, FindsReadsThatPassOverTombstones) {
  Must(
      "CREATE TABLE ks.d (p int, c int, v int, PRIMARY KEY (p, c)) WITH default_time_to_live = 60");
  const auto remove = [&](int row) {
    Must("INSERT INTO ks.d (p, c, v) VALUES (1, ?, 0)", {{cql::EncodeInt(row)}}, true, kNowMicros);
    Must("DELETE FROM ks.d WHERE p = 1 AND c = ?", {{cql::EncodeInt(row)}}, true, kNowMicros + 1);
  };
  const auto read = [&](bool alone) {
    Must("SELECT c FROM ks.d WHERE p = 1 LIMIT ?", {{cql::EncodeInt(alone ? 2000 : 5)}}, true);
    Must("SELECT c FROM ks.d", {}, true);
    Must("SELECT COUNT(*) FROM ks.d WHERE p = 1", {}, true);
  };
  Must("INSERT INTO ks.d (p, c, v) VALUES (1, 5000, 0)", {}, true, kNowMicros);
  for (int row = 0; row < 1000; ++row) remove(row);
  Must("TRUNCATE liststore.requests");
  read(true);
  read(false);
  EXPECT_TRUE(Found().empty()) << "a thousand are well";
  // Of a PREPARE and an EXECUTE each, and of an EXECUTE alone when they come again.
  std::vector<ResultRow> dead_rows;
  for (int i = 0; i < 6; ++i) {
    if (i < 3) dead_rows.push_back({cql::EncodeBigint(0)});
    dead_rows.push_back({cql::EncodeBigint(1000)});
  }
  EXPECT_EQ(Must("SELECT dead_rows FROM liststore.requests WHERE tbl = 'ks.d' ALLOW FILTERING"),
            dead_rows);
  remove(1000);
  Must("TRUNCATE liststore.requests");
  for (const bool alone : {true, false}) {
    read(alone);
    EXPECT_EQ(Found(), std::vector<ResultRow>({Row("tombstones", "ks.d", alone ? 3 : 6)}));
  }
  EXPECT_EQ(Must("SELECT detail FROM liststore.lint").at(0).at(0),
            "1001 rows that are deleted or over were passed over, more than 1000");
  Must("TRUNCATE liststore.requests");
  Must("SELECT c FROM ks.d WHERE p = 1 AND c = 5000", {}, true);
  EXPECT_TRUE(Found().empty()) << "what lies beside is not passed over";
}

TEST(StatementShape, HasNoLiterals) {
  EXPECT_EQ(instruments::StatementShape("SELECT a1 FROM t2 WHERE k='it''s' AND b=-1.5 AND c=0xff"),
            "SELECT a1 FROM t2 WHERE k=? AND b=? AND c=?");
  EXPECT_EQ(instruments::StatementShape(""), "");
  EXPECT_EQ(instruments::StatementShape("SELECT 'unfinished"), "SELECT 'unfinished");
}

}  // namespace lint_over_cql_test
}  // namespace liststore::testing
