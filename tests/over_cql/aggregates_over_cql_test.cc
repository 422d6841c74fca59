// Expressions, aggregates and groups in SELECT, over the wire.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/cql/values/encode_value.h"
#include "liststore/server_clock.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace aggregates_over_cql_test {

using Rows = std::vector<ResultRow>;

class AggregatesOverCqlTest : public CqlSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.server_clock = &clock_;
    StartServer(options, "k");
    Run("CREATE TABLE k.t (p int, c int, d int, v int, b blob, x decimal, i varint, f float, "
        "PRIMARY "
        "KEY (p, c, d))");
    // Of partition p: c and d below p, v = 100 p + 10 c + d.
    for (int p = 1; p <= 3; ++p) {
      for (int c = 0; c < p; ++c) {
        for (int d = 0; d < p; ++d) {
          Run("INSERT INTO k.t (p, c, d, v) VALUES (" + std::to_string(p) + ", " +
              std::to_string(c) + ", " + std::to_string(d) + ", " +
              std::to_string(100 * p + 10 * c + d) + ")");
        }
      }
    }
  }

  Rows Run(const CqlStatement& statement, const CqlParameters& parameters = {}) {
    const CqlAnswer answer = Must(statement, parameters);
    EXPECT_TRUE(parameters.page_size.has_value() || answer.paging_state.empty());
    return answer.rows;
  }
  Rows Run(const std::string& text) { return Run(CqlStatement{text, {}}); }

  ServerClock clock_{1'700'000'000'000'000'000};
};

TEST_F(AggregatesOverCqlTest, FunctionsOfEachRow) {
  EXPECT_EQ(
      Run("SELECT CAST(v AS text), intAsBlob(d), blobAsInt(b) FROM k.t WHERE p = 2 AND c = 1"),
      (Rows{{"210", cql::EncodeInt(0), std::nullopt}, {"211", cql::EncodeInt(1), std::nullopt}}));
  EXPECT_EQ(Run({"SELECT intAsBlob(?), (text) ?, v FROM k.t WHERE p = ?",
                 {{cql::EncodeInt(7)}, {std::string("x")}, {cql::EncodeInt(1)}},
                 /*prepared=*/true}),
            (Rows{{cql::EncodeInt(7), "x", cql::EncodeInt(100)}}));
  EXPECT_EQ(Run("SELECT DISTINCT p, token(p) FROM k.t WHERE p = 1"),
            Run("SELECT p, token((int) 1) FROM k.t WHERE p = 1"));
  std::set<std::string> uuids;
  for (const ResultRow& row : Run("SELECT now() FROM k.t")) uuids.insert(row[0].value_or(""));
  EXPECT_EQ(uuids.size(), 14u) << "each row has its own";
  EXPECT_EQ(Run("SELECT toUnixTimestamp(now()) FROM k.t WHERE p = 1"),
            (Rows{{cql::EncodeBigint(1'700'000'000'000)}}));
}

TEST_F(AggregatesOverCqlTest, AFunctionThatFailsEndsTheStatement) {
  Run("UPDATE k.t SET b = 0x01 WHERE p = 2 AND c = 1 AND d = 0");
  const std::string error =
      "In call to function blobasint, value 0x01 is not a valid binary representation for type int";
  EXPECT_EQ(Refusal("SELECT blobAsInt(b) FROM k.t"), error);
  EXPECT_EQ(Refusal("SELECT max(blobAsInt(b)) FROM k.t"), error);
  EXPECT_EQ(Refusal("SELECT blobAsInt(max(b)) FROM k.t"), error);
  EXPECT_EQ(Run("SELECT blobAsInt(b) FROM k.t WHERE p = 2 AND c = 0").size(), 2u);
}

TEST_F(AggregatesOverCqlTest, AggregatesOfExpressions) {
  EXPECT_EQ(
      Run("SELECT sum(v), avg(v), min(v), max(v), count(v), count(*), count(b) FROM k.t WHERE "
          "p = 2"),
      (Rows{{cql::EncodeInt(822), cql::EncodeInt(205), cql::EncodeInt(200), cql::EncodeInt(211),
             cql::EncodeBigint(4), cql::EncodeBigint(4), cql::EncodeBigint(0)}}));
  EXPECT_EQ(Run("SELECT max(CAST(v AS text)), CAST(sum(CAST(v AS bigint)) AS text), c FROM k.t "
                "WHERE p = 2"),
            (Rows{{"211", "822", cql::EncodeInt(0)}}));
  EXPECT_EQ(Run("SELECT sum(v), avg(v), min(v), count(*), v, CAST(max(v) AS text) FROM k.t WHERE p "
                "= 9"),
            (Rows{{cql::EncodeInt(0), cql::EncodeInt(0), std::nullopt, cql::EncodeBigint(0),
                   std::nullopt, std::nullopt}}));
}

TEST_F(AggregatesOverCqlTest, SumsHaveTheirTypesAndMayOverflow) {
  Run("INSERT INTO k.t (p, c, d, v, x, i, f) VALUES (7, 0, 0, 2147483647, 1.5, "
      "9223372036854775808, 0.5)");
  Run("INSERT INTO k.t (p, c, d, v, x, i, f) VALUES (7, 0, 1, 1, 2.25, 1, 0.25)");
  EXPECT_EQ(Refusal("SELECT sum(v) FROM k.t WHERE p = 7"),
            "Sum overflow. Values should be casted to a wider type.");
  EXPECT_EQ(Run("SELECT sum(CAST(v AS bigint)), avg(v) FROM k.t WHERE p = 7"),
            (Rows{{cql::EncodeBigint(2147483648), cql::EncodeInt(1073741824)}}));
  EXPECT_EQ(Run("SELECT CAST(sum(x) AS text), CAST(avg(x) AS text), CAST(sum(i) AS text), CAST("
                "avg(i) AS text), CAST(sum(f) AS text) FROM k.t WHERE p = 7"),
            (Rows{{"3.75", "1.88", "9223372036854775809", "4611686018427387904", "0.75"}}));
}

TEST_F(AggregatesOverCqlTest, GroupsOfPartitionsAndOfRows) {
  Rows by_partition = Run("SELECT p, count(*), max(v) FROM k.t GROUP BY p");
  std::sort(by_partition.begin(), by_partition.end());
  EXPECT_EQ(by_partition, (Rows{{cql::EncodeInt(1), cql::EncodeBigint(1), cql::EncodeInt(100)},
                                {cql::EncodeInt(2), cql::EncodeBigint(4), cql::EncodeInt(211)},
                                {cql::EncodeInt(3), cql::EncodeBigint(9), cql::EncodeInt(322)}}));
  EXPECT_EQ(Run("SELECT c, sum(v), v FROM k.t WHERE p = 3 GROUP BY c"),
            (Rows{{cql::EncodeInt(0), cql::EncodeInt(903), cql::EncodeInt(300)},
                  {cql::EncodeInt(1), cql::EncodeInt(933), cql::EncodeInt(310)},
                  {cql::EncodeInt(2), cql::EncodeInt(963), cql::EncodeInt(320)}}));
  EXPECT_EQ(
      Run("SELECT c, v FROM k.t WHERE p = 3 GROUP BY c ORDER BY c DESC LIMIT 2"),
      (Rows{{cql::EncodeInt(2), cql::EncodeInt(322)}, {cql::EncodeInt(1), cql::EncodeInt(312)}}));
  EXPECT_EQ(Run("SELECT d, count(*) FROM k.t WHERE p = 3 AND c = 1 GROUP BY d").size(), 3u);
  EXPECT_TRUE(Run("SELECT c, count(*) FROM k.t WHERE p = 9 GROUP BY c").empty());
  EXPECT_EQ(Run("SELECT DISTINCT p FROM k.t WHERE p IN (3, 9) GROUP BY p"),
            (Rows{{cql::EncodeInt(3)}}));
}

TEST_F(AggregatesOverCqlTest, LimitsCountGroupsAndPagesDoNotSplitThem) {
  EXPECT_EQ(
      Run("SELECT c, count(*) FROM k.t WHERE p IN (2, 3) GROUP BY p, c PER PARTITION LIMIT 1"),
      (Rows{{cql::EncodeInt(0), cql::EncodeBigint(2)}, {cql::EncodeInt(0), cql::EncodeBigint(3)}}));
  EXPECT_EQ(
      Run("SELECT c FROM k.t WHERE p IN (2, 3) GROUP BY p, c PER PARTITION LIMIT 2 LIMIT 3").size(),
      3u);
  EXPECT_EQ(Run({"SELECT p, c FROM k.t GROUP BY p, c", {}},
                {.page_size = 1, .paging_state = "", .default_timestamp = {}})
                .size(),
            6u);
  EXPECT_EQ(Run("SELECT count(*) FROM k.t PER PARTITION LIMIT 1"), (Rows{{cql::EncodeBigint(14)}}))
      << "without groups it has no effect";
  EXPECT_EQ(
      Run("SELECT c, sum(v) FROM k.t WHERE v > 310 GROUP BY p, c ALLOW FILTERING"),
      (Rows{{cql::EncodeInt(1), cql::EncodeInt(623)}, {cql::EncodeInt(2), cql::EncodeInt(963)}}));
}

// Source: ScyllaDB cql3/statements/select_statement.cc, prepare_group_by.
TEST_F(AggregatesOverCqlTest, GroupsMayLeaveOutColumnsOfOneValue) {
  Run("CREATE TABLE k.two (p int, q int, a int, v int, PRIMARY KEY ((p, q), a))");
  for (const char* values : {"0, 0, 0", "0, 0, 1", "0, 1, 0", "1, 0, 0"}) {
    Run("INSERT INTO k.two (p, q, a) VALUES (" + std::string(values) + ")");
  }
  Rows groups = Run("SELECT q, count(*) FROM k.two WHERE p = 0 GROUP BY q ALLOW FILTERING");
  std::sort(groups.begin(), groups.end());
  EXPECT_EQ(groups, (Rows{{cql::EncodeInt(0), cql::EncodeBigint(2)},
                          {cql::EncodeInt(1), cql::EncodeBigint(1)}}));
  EXPECT_EQ(
      Run("SELECT a, count(*) FROM k.two WHERE p = 0 AND q = 0 GROUP BY a"),
      (Rows{{cql::EncodeInt(0), cql::EncodeBigint(1)}, {cql::EncodeInt(1), cql::EncodeBigint(1)}}));
}

// Source: ScyllaDB cql3/statements/select_statement.cc, validate_distinct_selection.
TEST_F(AggregatesOverCqlTest, DistinctHasOneRowForEachPartition) {
  Run("CREATE TABLE k.s (p int, c int, s int static, PRIMARY KEY (p, c))");
  Run("INSERT INTO k.s (p, c, s) VALUES (1, 1, 10)");
  Run("INSERT INTO k.s (p, c) VALUES (1, 2)");
  Run("INSERT INTO k.s (p, c) VALUES (2, 1)");
  Run("INSERT INTO k.s (p, s) VALUES (3, 30)");
  EXPECT_EQ(Run("SELECT DISTINCT s FROM k.s WHERE p = 1"), (Rows{{cql::EncodeInt(10)}}));
  EXPECT_EQ(Run("SELECT DISTINCT s FROM k.s WHERE p = 2"), (Rows{{std::nullopt}}));
  EXPECT_EQ(Run("SELECT DISTINCT s FROM k.s WHERE p = 3 PER PARTITION LIMIT 5"),
            (Rows{{cql::EncodeInt(30)}}));
  EXPECT_TRUE(Run("SELECT DISTINCT s FROM k.s WHERE p = 4").empty());
  EXPECT_EQ(Run("SELECT DISTINCT s FROM k.s WHERE p IN (1, 2, 3, 4)").size(), 3u);
  EXPECT_EQ(Run("SELECT DISTINCT count(*) FROM k.t WHERE p IN (2, 3)"),
            (Rows{{cql::EncodeBigint(2)}}))
      << "partitions are counted";
}

TEST_F(AggregatesOverCqlTest, VirtualTablesGroupToo) {
  const Rows groups =
      Run("SELECT keyspace_name, count(*) FROM system_schema.tables GROUP BY keyspace_name");
  const Rows tables = Run("SELECT keyspace_name FROM system_schema.tables");
  std::set<std::string> keyspaces;
  for (const ResultRow& row : tables) keyspaces.insert(row[0].value_or(""));
  EXPECT_EQ(groups.size(), keyspaces.size());
  int64_t rows = 0;
  for (const ResultRow& row : groups) {
    rows += static_cast<int64_t>(LoadBigEndian64(row[1]->data()));
  }
  EXPECT_EQ(static_cast<size_t>(rows), tables.size());
}

}  // namespace aggregates_over_cql_test
}  // namespace liststore::testing
