// The order of partitions that IN names. Source, where nothing else is said: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, get_IN_values, partition_ranges_from_singles.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace in_order_test {

class InOrder : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    // v is its row's number.
    Say("CREATE TABLE t (a text, b int, c int, s int STATIC, v int, PRIMARY KEY ((a, b), c))");
    int v = 0;
    for (const char* a : {"xx", "yy", "zz"}) {
      for (const char* b : {"-1", "0", "2"}) {
        for (const char* c : {"1", "2"}) Insert(a, b, c, ++v);
      }
    }
    Say("CREATE TABLE o (p int, c int, d int, s int STATIC, PRIMARY KEY (p, c, d))");
    for (const char* p : {"1", "2", "3"}) {
      for (const char* c : {"1", "2"}) {
        for (const char* d : {"1", "2"}) {
          Say(std::string("INSERT INTO o (p, c, d) VALUES (") + p + ", " + c + ", " + d + ")");
        }
      }
    }
  }
  void Insert(const std::string& a, const std::string& b, const std::string& c, int v) {
    Say("INSERT INTO t (a, b, c, v) VALUES ('" + a + "', " + b + ", " + c + ", " +
        std::to_string(v) + ")");
  }
  // In pages of so many rows.
  std::string Paged(const std::string& select, int32_t size) {
    CqlAnswer all;
    CqlParameters parameters{.page_size = size, .paging_state = {}, .default_timestamp = {}};
    do {
      CqlAnswer page = session_->Run({select, {}}, parameters);
      if (!page.error.empty()) return page.error;
      all.rows.insert(all.rows.end(), page.rows.begin(), page.rows.end());
      parameters.paging_state = page.paging_state;
    } while (!parameters.paging_state.empty());
    return ToText(all);
  }
};

TEST_F(InOrder, IsThatOfTheValuesAndTheLastColumnIsTheFastest) {
  const std::string both = "a IN ('zz', 'xx') AND b IN (2, -1, 0)";
  const struct {
    const char* rule;
    std::string select;
    const char* rows;
  } kRows[] = {
      {"values by their type", "SELECT v FROM t WHERE " + both,
       "1; 2; 3; 4; 5; 6; 13; 14; 15; 16; 17; 18"},
      {"whichever column is said first",
       "SELECT v FROM t WHERE b IN (2, -1) AND a IN ('zz', 'xx') AND c = 1", "1; 5; 13; 17"},
      {"beside =", "SELECT v FROM t WHERE a IN ('zz', 'xx', 'yy') AND b = 0 AND c = 1", "3; 9; 15"},
      {"once each", "SELECT v FROM t WHERE a IN ('zz', 'xx', 'zz') AND b IN (0, 0) AND c = 1",
       "3; 15"},
      {"without nulls", "SELECT v FROM t WHERE a IN ('zz', null, 'xx') AND b = 0 AND c = 1",
       "3; 15"},
      {"a slice of rows", "SELECT v FROM t WHERE " + both + " AND c > 1", "2; 4; 6; 14; 16; 18"},
      {"a filter", "SELECT v FROM t WHERE " + both + " AND v > 3 ALLOW FILTERING",
       "4; 5; 6; 13; 14; 15; 16; 17; 18"},
      {"a filter on the key, which WHERE names whole",
       "SELECT v FROM t WHERE " + both + " AND c = 1 AND b > -1 ALLOW FILTERING", "3; 5; 15; 17"},
      {"LIMIT counts in it", "SELECT v FROM t WHERE " + both + " LIMIT 3", "1; 2; 3"},
      {"PER PARTITION LIMIT", "SELECT v FROM t WHERE " + both + " PER PARTITION LIMIT 1",
       "1; 3; 5; 13; 15; 17"},
      {"both limits", "SELECT v FROM t WHERE " + both + " PER PARTITION LIMIT 1 LIMIT 4",
       "1; 3; 5; 13"},
      {"DISTINCT", "SELECT DISTINCT a, b FROM t WHERE a IN ('zz', 'xx') AND b IN (2, -1)",
       "xx -1; xx 2; zz -1; zz 2"},
      {"JSON", "SELECT JSON c, v FROM t WHERE " + both + " AND c = 1 LIMIT 2",
       "{\"c\": 1, \"v\": 1}; {\"c\": 1, \"v\": 3}"},
      {"groups", "SELECT b, sum(v) FROM t WHERE " + both + " GROUP BY a, b",
       "-1 3; 0 7; 2 11; -1 27; 0 31; 2 35"},
      {"LIMIT of groups", "SELECT b, sum(v) FROM t WHERE " + both + " GROUP BY a, b LIMIT 2",
       "-1 3; 0 7"},
      {"the first row of an aggregate", "SELECT v, count(*) FROM t WHERE " + both, "1 12"},
      {"partitions that are not there",
       "SELECT v FROM t WHERE a IN ('zzz', 'xx', 'a') AND b IN (0, 9) AND c = 1", "3"},
      {"backwards only within a partition",
       "SELECT v FROM t WHERE a = 'xx' AND b = 0 ORDER BY c DESC", "4; 3"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Say(row.select), row.rows) << row.rule;
    EXPECT_EQ(Say(row.select), row.rows) << row.rule;  // once as a text, once prepared
    for (const int32_t size : {1, 2, 5, 100}) EXPECT_EQ(Paged(row.select, size), row.rows);
  }
}

TEST_F(InOrder, OfValuesThatAreBound) {
  const std::string minus("\xff\xff\xff\xff", 4), zero(4, '\0'), two("\0\0\0\2", 4);
  const auto framed = [](const std::string& value) { return std::string("\0\0\0\4", 4) + value; };
  const std::string list =
      std::string("\0\0\0\4", 4) + framed(two) + framed(minus) + framed(zero) + framed(two);
  for (const bool prepared : {false, true}) {
    EXPECT_EQ(ToText(session_->Run(
                  {"SELECT v FROM t WHERE a = 'yy' AND b IN ? AND c = 1", {{list}}, prepared})),
              "7; 9; 11");
    EXPECT_EQ(ToText(session_->Run({"SELECT v FROM t WHERE a IN (?, ?) AND b IN (?, ?) AND c = 1",
                                    {{"zz"}, {"xx"}, {two}, {minus}},
                                    prepared})),
              "1; 5; 13; 17");
  }
}

// By the order of each type, not by bytes.
TEST_F(InOrder, OfOtherTypes) {
  const struct {
    const char* type;
    std::vector<std::string> values;
    const char* rows;  // as JSON
  } kRows[] = {
      {"bigint", {"5", "-3", "1", "-9"}, "-9; -3; 1; 5"},
      {"varint", {"128", "-1", "3", "-300"}, "-300; -1; 3; 128"},
      {"decimal", {"1.5", "-2.25", "1e3", "0.1"}, "-2.25; 0.1; 1.5; 1E+3"},
      {"double", {"2.5", "-1.5", "0.25", "-0.5"}, "-1.5; -0.5; 0.25; 2.5"},
      {"boolean", {"true", "false"}, "false; true"},
      {"date", {"'1970-01-02'", "'1969-01-01'"}, "\"1969-01-01\"; \"1970-01-02\""},
      {"inet", {"'9.0.0.1'", "'10.0.0.1'"}, "\"9.0.0.1\"; \"10.0.0.1\""},
      // By their time.
      {"timeuuid",
       {"00000002-0000-1000-8080-808080808080", "00000001-0001-1000-8080-808080808080"},
       "\"00000002-0000-1000-8080-808080808080\"; \"00000001-0001-1000-8080-808080808080\""},
      {"frozen<list<int>>", {"[2]", "[1, 5]", "[1]", "[]"}, "[]; [1]; [1, 5]; [2]"},
      {"frozen<tuple<int, int>>", {"(2, 0)", "(-1, 7)", "(-1, -8)"}, "[-1, -8]; [-1, 7]; [2, 0]"},
  };
  for (const auto& row : kRows) {
    Say(std::string("CREATE TABLE typed (p ") + row.type + " PRIMARY KEY)");
    std::string list;
    for (const std::string& value : row.values) {
      Must("INSERT INTO k.typed (p) VALUES (" + value + ")");
      list += (list.empty() ? "" : ", ") + value;
    }
    std::string found;
    for (const ResultRow& found_row :
         Must("SELECT toJson(p) FROM k.typed WHERE p IN (" + list + ")").rows) {
      found += (found.empty() ? "" : "; ") + found_row[0].value_or("null");
    }
    EXPECT_EQ(found, row.rows) << row.type;
    Say("DROP TABLE typed");
  }
}

// Only IN does so.
TEST_F(InOrder, OthersComeByToken) {
  const std::string scan = Say("SELECT a, b FROM t WHERE c = 1 ALLOW FILTERING");
  EXPECT_EQ(Say("SELECT DISTINCT a, b FROM t"), scan);
  EXPECT_EQ(Say("SELECT DISTINCT a, b FROM t WHERE token(a, b) > -9223372036854775808"), scan);
  EXPECT_EQ(Say("SELECT a, b FROM t WHERE a IN ('zz', 'yy', 'xx') AND c = 1 ALLOW FILTERING"), scan)
      << "a part of the key";
  EXPECT_EQ(Say("SELECT a, b FROM t WHERE a > '' AND b IN (2, 0, -1) AND c = 1 ALLOW FILTERING"),
            scan);
  EXPECT_NE(scan, "xx -1; xx 0; xx 2; yy -1; yy 0; yy 2; zz -1; zz 0; zz 2");
  Say("CREATE TABLE i (p int, c int, v int, PRIMARY KEY (p, c))");
  Say("CREATE INDEX ON i (v)");
  for (const char* p : {"1", "2", "3", "4", "5"}) {
    Say(std::string("INSERT INTO i (p, c, v) VALUES (") + p + ", 1, 7)");
  }
  const std::string by_token = Say("SELECT p FROM i");
  EXPECT_NE(by_token, "1; 2; 3; 4; 5");
  EXPECT_EQ(Say("SELECT p FROM i WHERE v = 7"), by_token);
  // There IN filters.
  EXPECT_EQ(Say("SELECT p FROM i WHERE v = 7 AND p IN (5, 4, 3, 2, 1) ALLOW FILTERING"),
            "1; 2; 3; 4; 5");
}

TEST_F(InOrder, OfAViewThatDescendsItIsTheSame) {
  Say("CREATE TABLE d (p int, c int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)");
  for (const char* c : {"1", "2", "3"})
    Say(std::string("INSERT INTO d (p, c) VALUES (7, ") + c + ")");
  EXPECT_EQ(Say("CREATE MATERIALIZED VIEW by_c AS SELECT * FROM d WHERE p IS NOT NULL AND c IS NOT "
                "NULL PRIMARY KEY (c, p)"),
            "");
  EXPECT_EQ(Say("SELECT c FROM by_c WHERE c IN (3, 1, 2)"), "1; 2; 3");
}

// Source: ScyllaDB cql3/statements/select_statement.cc, process_results_complex,
// get_ordering_comparator.
TEST_F(InOrder, BesideItOrderByMergesPartitions) {
  const struct {
    const char* rule;
    const char* select;
    const char* rows;
  } kRows[] = {
      {"all columns", "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c, d",
       "1 1 1; 1 1 3; 1 2 1; 1 2 3; 2 1 1; 2 1 3; 2 2 1; 2 2 3"},
      {"rows that are equal so far stand in the order of keys",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c",
       "1 1 1; 1 2 1; 1 1 3; 1 2 3; 2 1 1; 2 2 1; 2 1 3; 2 2 3"},
      {"backwards all of it is turned round",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c DESC, d DESC",
       "2 2 3; 2 2 1; 2 1 3; 2 1 1; 1 2 3; 1 2 1; 1 1 3; 1 1 1"},
      {"rows that are equal so far as well",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c DESC",
       "2 1 3; 2 2 3; 2 1 1; 2 2 1; 1 1 3; 1 2 3; 1 1 1; 1 2 1"},
      {"a column with one value may be left out",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) AND c = 2 ORDER BY d DESC",
       "2 2 3; 2 2 1; 2 1 3; 2 1 1"},
      {"each partition up to LIMIT",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c DESC LIMIT 2", "2 1 3; 2 2 3"},
      {"up to an odd one", "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c DESC LIMIT 1",
       "2 2 3"},
      {"up to PER PARTITION LIMIT",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) ORDER BY c PER PARTITION LIMIT 3",
       "1 1 1; 1 2 1; 1 1 3; 1 2 3; 2 1 1; 2 1 3"},
      {"groups are not merged",
       "SELECT c, max(d), p FROM o WHERE p IN (3, 1) GROUP BY p, c ORDER BY c DESC",
       "2 2 1; 1 2 1; 2 2 3; 1 2 3"},
      {"nor what filters pass",
       "SELECT c, d, p FROM o WHERE p IN (3, 1) AND d = 1 ORDER BY c DESC ALLOW FILTERING",
       "2 1 1; 1 1 1; 2 1 3; 1 1 3"},
      {"nor a single partition", "SELECT c, d FROM o WHERE p IN (3) ORDER BY c DESC",
       "2 2; 2 1; 1 2; 1 1"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Say(row.select), row.rows) << row.rule;
    EXPECT_EQ(Say(row.select), row.rows) << row.rule;
  }
}

TEST_F(InOrder, WithoutAKeyComeStaticValuesFirst) {
  Say("INSERT INTO o (p, s) VALUES (2, 5)");
  Say("INSERT INTO o (p, s) VALUES (9, 5)");
  EXPECT_EQ(Say("SELECT p, c FROM o WHERE p IN (1, 9) ORDER BY c, d LIMIT 2"), "9 null; 1 1");
  EXPECT_EQ(Say("SELECT p, c FROM o WHERE p IN (1, 9) ORDER BY c DESC, d DESC"),
            "1 2; 1 2; 1 1; 1 1; 9 null");
}

// Source: ScyllaDB cql3/statements/select_statement.cc,
// execute_without_checking_exception_message_aggregate_or_paged, needs_post_query_ordering;
// cql3/expr/restrictions.cc, validate_and_prepare_new_restriction.
TEST_F(InOrder, WhichOfThemHavePages) {
  const std::string refused =
      "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must "
      "either remove the ORDER BY or the IN and sort client side, or disable paging for this query";
  const struct {
    const char* where;
    bool is_refused;
  } kRows[] = {
      {"p IN (1, 3) ORDER BY c", true},
      {"p IN (1, 1) ORDER BY c", true},
      {"p IN (1) ORDER BY c", false},
      {"p IN () ORDER BY c", false},
      {"p = 1 AND p IN (1, 3) ORDER BY c", true},
      {"p = 1 AND p IN (1) ORDER BY c", false},
      {"p = 1 AND p = 1 ORDER BY c", false},
      {"p IN (1, 3) ORDER BY c LIMIT 1", false},
      {"p IN (1, 3) AND d = 1 ORDER BY c ALLOW FILTERING", true},
      {"p IN (1, 3)", false},
  };
  for (const auto& row : kRows) {
    const std::string answer = Paged(std::string("SELECT c FROM o WHERE ") + row.where, 2);
    EXPECT_EQ(answer == refused, row.is_refused) << row.where << ": " << answer;
  }
  const std::string one("\0\0\0\1\0\0\0\4\0\0\0\1", 12);
  EXPECT_EQ(session_
                ->Run({"SELECT c FROM o WHERE p IN ? ORDER BY c", {{one}}},
                      {.page_size = 2, .paging_state = {}, .default_timestamp = {}})
                .error,
            refused)
      << "whatever it is bound to";
}

TEST_F(InOrder, AHundredCombinationsAreCountedOnce) {
  const auto list = [](int from, int to) {
    std::string text;
    for (int i = from; i <= to; ++i) text += (i == from ? "" : ", ") + std::to_string(i);
    return text;
  };
  const auto refusal = [&](const std::string& where) {
    return Say("SELECT v FROM t WHERE " + where);
  };
  const auto too_many = [](int count) {
    return "size of partition-key IN list or partition-key cartesian product of IN list " +
           std::to_string(count) +
           " is greater than maximum 100. Use --max-partition-key-restrictions-per-query "
           "configuration option to change default setting.";
  };
  EXPECT_EQ(refusal("a = 'none' AND b IN (" + list(1, 100) + ", " + list(1, 100) + ")"), "");
  EXPECT_EQ(refusal("a = 'none' AND b IN (" + list(1, 101) + ")"), too_many(101));
  EXPECT_EQ(refusal("a IN ('n', 'm', 'n') AND b IN (" + list(1, 50) + ", 1)"), "");
  EXPECT_EQ(refusal("a IN ('n', 'm', 'n') AND b IN (" + list(1, 51) + ", 1)"), too_many(102));
  EXPECT_EQ(refusal("a IN () AND b IN (" + list(1, 101) + ")"), "") << "there is none";
}

}  // namespace in_order_test
}  // namespace liststore::testing
