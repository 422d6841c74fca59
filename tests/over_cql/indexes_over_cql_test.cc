// Indexes over the wire: what they answer, what still needs ALLOW FILTERING.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace indexes_over_cql_test {

constexpr char kNeedsFiltering[] =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

struct Step {
  std::string statement;
  std::string answer;
};

class Indexes : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, q int, c int, d int, s int static, v int, "
        "PRIMARY KEY ((p, q), c, d))");
    for (const char* row : {"1, 1, 1, 1, 10", "1, 1, 1, 2, 20", "1, 1, 2, 1, 30", "1, 2, 1, 1, 10",
                            "2, 1, 3, 1, 10", "2, 1, 3, 2, 40"}) {
      Say("INSERT INTO t (p, q, c, d, v) VALUES (" + std::string(row) + ")");
    }
    Say("UPDATE t SET s = 7 WHERE p = 1 AND q = 1");
    Say("UPDATE t SET s = 8 WHERE p = 1 AND q = 2");
    Say("UPDATE t SET s = 7 WHERE p = 3 AND q = 3");  // there are no rows
  }
  void Run(std::initializer_list<Step> steps) {
    for (const Step& step : steps) EXPECT_EQ(Say(step.statement), step.answer) << step.statement;
  }
  // Rows whatever the order of their partitions.
  std::string Sorted(const std::string& where, const std::string& columns = "p, q, c, d") {
    return SortedRows(Say("SELECT " + columns + " FROM t WHERE " + where));
  }
  static std::string SortedRows(const std::string& answer) {
    std::vector<std::string> rows;
    for (size_t at = 0; at <= answer.size();) {
      const size_t end = std::min(answer.find("; ", at), answer.size());
      rows.push_back(answer.substr(at, end - at));
      at = end + 2;
    }
    std::ranges::sort(rows);
    std::string sorted;
    for (const std::string& row : rows) sorted += (sorted.empty() ? "" : "; ") + row;
    return sorted;
  }
};

TEST_F(Indexes, OnAColumnOfThePartitionKey) {
  EXPECT_EQ(Say("SELECT * FROM t WHERE p = 2"), kNeedsFiltering);
  EXPECT_EQ(Say("CREATE INDEX by_p ON t(p)"), "");
  EXPECT_EQ(Sorted("p = 2"), "2 1 3 1; 2 1 3 2");
  EXPECT_EQ(Sorted("p = 1"), "1 1 1 1; 1 1 1 2; 1 1 2 1; 1 2 1 1");
  EXPECT_EQ(Sorted("p = 1 AND c = 1 ALLOW FILTERING"), "1 1 1 1; 1 1 1 2; 1 2 1 1");
  EXPECT_EQ(SortedRows(Say("SELECT DISTINCT p, q FROM t WHERE p = 1")), "1 1; 1 2");
  Run({
      {"SELECT count(*) FROM t WHERE p = 1", "4"},
      {"SELECT count(*) FROM t WHERE p = null", "0"},
      {"SELECT * FROM t WHERE q = 1", kNeedsFiltering},
      {"SELECT * FROM t WHERE p = 1 AND c = 1", kNeedsFiltering},
      {"SELECT * FROM t WHERE p = 1 AND v = 10", kNeedsFiltering},
      {"SELECT * FROM t WHERE p IN (1, 2)", kNeedsFiltering},
      {"SELECT * FROM t WHERE p > 1",
       "Only EQ and IN relation are supported on the partition key (unless you use the token() "
       "function or ALLOW FILTERING)"},
      {"SELECT * FROM t WHERE p = 1 ORDER BY c", "ORDER BY with 2ndary indexes is not supported."},
      {"SELECT v FROM t WHERE p = 1 AND q = 2", "10"},
      {"DROP INDEX by_p", ""},
      {"SELECT * FROM t WHERE p = 2", kNeedsFiltering},
  });
}

TEST_F(Indexes, OnClusteringColumns) {
  const std::string not_a_prefix =
      "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not restricted";
  EXPECT_EQ(Say("SELECT * FROM t WHERE d = 2"), not_a_prefix);
  EXPECT_EQ(Say("CREATE INDEX ON t(d)"), "");
  EXPECT_EQ(Sorted("d = 2"), "1 1 1 2; 2 1 3 2");
  EXPECT_EQ(Sorted("d = 2 AND v = 40 ALLOW FILTERING"), "2 1 3 2");
  Run({
      {"SELECT c, v FROM t WHERE p = 1 AND q = 1 AND d = 1", "1 10; 2 30"},
      {"SELECT c, v FROM t WHERE p = 1 AND q = 1 AND d = 1 LIMIT 1", "1 10"},
      {"SELECT c, v FROM t WHERE p = 1 AND q = 1 AND c = 1 AND d = 2", "1 20"},
      {"SELECT c, v FROM t WHERE p = 1 AND q = 1 AND c = 1 AND d = 2 ORDER BY c", "1 20"},
      {"SELECT * FROM t WHERE c = 1 AND d = 2", kNeedsFiltering},
      {"SELECT * FROM t WHERE p = 1 AND q = 1 AND d > 1", not_a_prefix},
      {"SELECT * FROM t WHERE c > 1 AND d = 2",
       "Clustering column \"d\" cannot be restricted (preceding column \"c\" is restricted by a "
       "non-EQ relation)"},
      {"SELECT * FROM t WHERE p = 1 AND q IN (1, 2) AND d = 1",
       "Index cannot be used if the partition key is restricted with IN clause. This query would "
       "require filtering instead."},
      {"SELECT * FROM t WHERE p = 1 AND q = 1 AND d = 1 ORDER BY c",
       "ORDER BY with 2ndary indexes is not supported."},
      {"DELETE FROM t WHERE p = 1 AND q = 1 AND d = 1",
       "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not "
       "restricted"},
      {"CREATE INDEX ON t(c)", ""},
      {"SELECT count(*) FROM t WHERE c = 3", "2"},
      {"SELECT count(*) FROM t WHERE c = 1 AND d = 1", kNeedsFiltering},
      {"SELECT d FROM t WHERE token(p, q) = token(1, 1) AND c = 1", "1; 2"},
  });
}

TEST_F(Indexes, ALocalOneOnAClusteringColumnAsksForThePartition) {
  Run({
      {"CREATE INDEX ON t((p, q), d)", ""},
      {"SELECT c FROM t WHERE p = 1 AND q = 1 AND d = 1", "1; 2"},
      {"SELECT c FROM t WHERE d = 1",
       "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not "
       "restricted"},
      {"DROP INDEX t_d_idx", ""},
  });
}

TEST_F(Indexes, OnStaticColumns) {
  EXPECT_EQ(Say("SELECT * FROM t WHERE s = 7"), kNeedsFiltering);
  EXPECT_EQ(Say("CREATE INDEX ON t((p, q), s)"),
            "Local indexes containing static columns are not supported.");
  EXPECT_EQ(Say("CREATE INDEX ON t(s)"), "");
  EXPECT_EQ(Sorted("s = 7"), "1 1 1 1; 1 1 1 2; 1 1 2 1; 3 3 null null");
  EXPECT_EQ(Sorted("s = 7", "p, s"), "1 7; 1 7; 1 7; 3 7");
  Run({
      {"SELECT v FROM t WHERE s = 8", "10"},
      {"SELECT v FROM t WHERE p = 1 AND q = 1 AND s = 7", "10; 20; 30"},
      {"SELECT v FROM t WHERE p = 1 AND q = 1 AND s = 8", ""},
      {"SELECT v FROM t WHERE p = 1 AND q = 1 AND c = 2 AND s = 7", "30"},
      {"SELECT * FROM t WHERE s = 7 AND v = 10", kNeedsFiltering},
      {"SELECT v FROM t WHERE s = 7 AND v = 20 ALLOW FILTERING", "20"},
      {"SELECT * FROM t WHERE p = 1 AND q IN (1, 2) AND s = 7", kNeedsFiltering},
      {"SELECT DISTINCT p, q FROM t WHERE s = 7",
       "SELECT DISTINCT with WHERE clause only supports restriction by partition key."},
      {"UPDATE t SET s = 9 WHERE p = 1 AND q = 2", ""},
      {"SELECT v FROM t WHERE s = 8", ""},
      {"DELETE s FROM t WHERE p = 1 AND q = 2", ""},
      {"SELECT v FROM t WHERE s = 9", ""},
      {"ALTER TABLE t DROP s",
       "Cannot drop column s from base table k.t: materialized view t_s_idx_index needs this "
       "column"},
  });
}

TEST_F(Indexes, OnValuesKeysAndEntriesOfCollections) {
  Say("CREATE TABLE u (p int, c int, l list<int>, s set<text>, m map<text, int>, PRIMARY KEY "
      "(p, c))");
  Say("INSERT INTO u (p, c, l, s, m) VALUES (1, 1, [7, 8, 7], {'aaaaa'}, {'k': 1, 'j': 2})");
  Say("INSERT INTO u (p, c, l, s, m) VALUES (1, 2, [8], {'aaaaa', 'bbbbb'}, {'k': 2, 'i': 2})");
  Run({
      {"SELECT c FROM u WHERE l CONTAINS 7", kNeedsFiltering},
      {"CREATE INDEX ON u(l)", ""},
      {"CREATE INDEX ON u(values(s))", ""},
      {"CREATE INDEX ON u(m)", ""},
      {"SELECT c FROM u WHERE l CONTAINS 7", "1"},
      {"SELECT c FROM u WHERE l CONTAINS 8", "1; 2"},
      {"SELECT c FROM u WHERE s CONTAINS 'aaaaa'", "1; 2"},
      {"SELECT c FROM u WHERE s CONTAINS 'bbbbb'", "2"},
      {"SELECT c FROM u WHERE m CONTAINS 2", "1; 2"},
      {"SELECT c FROM u WHERE m CONTAINS null", ""},
      {"SELECT c FROM u WHERE m CONTAINS 1 AND m CONTAINS 2", kNeedsFiltering},
      {"SELECT c FROM u WHERE m CONTAINS 1 AND m CONTAINS 2 ALLOW FILTERING", "1"},
      {"SELECT c FROM u WHERE m CONTAINS KEY 'i'", kNeedsFiltering},
      {"SELECT c FROM u WHERE m['k'] = 2", kNeedsFiltering},
      {"CREATE INDEX ON u(keys(m))", ""},
      {"CREATE INDEX ON u(entries(m))", ""},
      {"SELECT c FROM u WHERE m CONTAINS KEY 'i'", "2"},
      {"SELECT c FROM u WHERE m['k'] = 2", "2"},
      {"SELECT c FROM u WHERE m['k'] = 3", ""},
      {"SELECT c FROM u WHERE p = 1 AND m['j'] = 2", "1"},
      {"SELECT c FROM u WHERE p = 1 AND c = 2 AND m['j'] = 2", ""},
      {"SELECT c FROM u WHERE m CONTAINS KEY 'k' AND m CONTAINS 1", kNeedsFiltering},
      {"SELECT c FROM u WHERE l CONTAINS 8 AND m CONTAINS 1", kNeedsFiltering},
      {"SELECT c FROM u WHERE l CONTAINS 8 AND m CONTAINS 1 ALLOW FILTERING", "1"},
      {"SELECT c FROM u WHERE p = 1 AND l CONTAINS 8 ORDER BY c",
       "ORDER BY with 2ndary indexes is not supported."},
      {"UPDATE u SET l = l - [8], m['k'] = 5 WHERE p = 1 AND c = 2", ""},
      {"DELETE s['aaaaa'] FROM u WHERE p = 1 AND c = 1", ""},
      {"SELECT c FROM u WHERE l CONTAINS 8", "1"},
      {"SELECT c FROM u WHERE m['k'] = 2", ""},
      {"SELECT c FROM u WHERE m CONTAINS 5", "2"},
      {"SELECT c FROM u WHERE s CONTAINS 'aaaaa'", "2"},
      {"ALTER TABLE u ADD x int", ""},
      {"SELECT c FROM u WHERE m CONTAINS 5", "2"},
      {"DROP INDEX u_l_idx", ""},
      {"SELECT c FROM u WHERE l CONTAINS 8", kNeedsFiltering},
  });
}

TEST_F(Indexes, OnAStaticCollection) {
  Run({
      {"CREATE TABLE u (p int, c int, m map<int, int> static, PRIMARY KEY (p, c))", ""},
      {"CREATE INDEX ON u(keys(m))", ""},
      {"INSERT INTO u (p, c) VALUES (1, 1)", ""},
      {"UPDATE u SET m[7] = 1 WHERE p = 1", ""},
      {"UPDATE u SET m[8] = 1 WHERE p = 2", ""},
      {"SELECT p, c FROM u WHERE m CONTAINS KEY 7", "1 1"},
      {"SELECT p, c FROM u WHERE m CONTAINS KEY 8", "2 null"},
  });
}

TEST_F(Indexes, TheSchemaSaysWhatOfACollectionIsIndexed) {
  Say("CREATE TABLE u (p int PRIMARY KEY, l list<int>, s set<int>, m map<int, int>, "
      "f frozen<set<int>>)");
  const struct {
    const char *target, *option, *described;
  } cases[] = {
      {"l", "values(l)", "values(l)"},
      {"s", "keys(s)", "values(s)"},  // as ScyllaDB has it; what is described can be run
      {"m", "values(m)", "values(m)"},
      {"keys(m)", "keys(m)", "keys(m)"},
      {"entries(m)", "entries(m)", "entries(m)"},
      {"full(f)", "f", "full(f)"},  // the same
  };
  for (const auto& one : cases) {
    Say("CREATE INDEX target ON u(" + std::string(one.target) + ")");
    EXPECT_EQ(Cell("SELECT toJson(options) FROM system_schema.indexes WHERE keyspace_name = 'k' "
                   "AND table_name = 'u'"),
              "{\"target\": \"" + std::string(one.option) + "\"}");
    const std::string described = Say("DESCRIBE INDEX k.target");
    EXPECT_NE(described.find("CREATE INDEX target ON k.u(" + std::string(one.described) + ");"),
              std::string::npos)
        << described;
    Say("DROP INDEX target");
  }
}

TEST_F(Indexes, AValueOfAnIndexedStaticColumnIsNoLongerThanAKey) {
  Say("CREATE TABLE u (p int, c int, s text static, PRIMARY KEY (p, c))");
  Say("CREATE INDEX ON u(s)");
  EXPECT_EQ(Say("UPDATE u SET s = ? WHERE p = 1", {{std::string(65'533, 'x')}}), "");
  EXPECT_EQ(Say("UPDATE u SET s = ? WHERE p = 1", {{std::string(65'534, 'x')}}),
            "Key length of 65536 is longer than maximum of 65535");
}

TEST_F(Indexes, APreparedStatementHearsOfAnIndexThatGoes) {
  Say("CREATE INDEX by_p ON t(p)");
  const std::string select = "SELECT count(*) FROM t WHERE p = ?";
  EXPECT_EQ(Say(select, {{cql::EncodeInt(2)}}), "2");
  Say("DROP INDEX by_p");
  EXPECT_EQ(Say(select, {{cql::EncodeInt(2)}}), kNeedsFiltering);
  Say("CREATE INDEX ON t(p)");
  EXPECT_EQ(Say(select, {{cql::EncodeInt(2)}}), "2");
}

TEST_F(Indexes, AResetBringsThemBack) {
  Run({
      {"CREATE INDEX by_part ON t(p)", ""},
      {"CREATE INDEX by_shared ON t(s)", ""},
      {"UPDATE liststore.data SET action = 'mark' WHERE key = 'data'", ""},
      {"DROP INDEX by_part", ""},
      {"DROP INDEX by_shared", ""},
      {"CREATE INDEX by_d ON t(d)", ""},
      {"UPDATE t SET s = 7 WHERE p = 1 AND q = 2", ""},
      {"UPDATE liststore.data SET action = 'reset' WHERE key = 'data'", ""},
      {"SELECT index_name FROM system_schema.indexes WHERE keyspace_name = 'k'",
       "by_part; by_shared"},
      {"SELECT count(*) FROM t WHERE p = 1", "4"},
      {"SELECT v FROM t WHERE s = 8", "10"},
  });
}

}  // namespace indexes_over_cql_test
}  // namespace liststore::testing
