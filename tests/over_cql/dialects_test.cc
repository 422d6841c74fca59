// The rules of docs/cql_support.md, "Where Cassandra differs": each statement is answered as
// ScyllaDB does, and as Cassandra does by a server that is like one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace dialects_test {

constexpr const char* kSchema[] = {
    "CREATE TABLE t (p int, c int, v int, s int static, l list<int>, m map<int, int>, "
    "PRIMARY KEY (p, c))",
    "CREATE TABLE e (p text PRIMARY KEY, v int)",
    "CREATE TABLE i (p int PRIMARY KEY, v text)",
    "CREATE INDEX ON i(v)",
    "CREATE TABLE w (p int, c int, v int, w int, s int static, PRIMARY KEY (p, c))",
    "CREATE TABLE d (p int, c int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)",
    "CREATE MATERIALIZED VIEW dv AS SELECT p, c FROM d WHERE p IS NOT NULL AND c IS NOT NULL "
    "PRIMARY KEY (c, p)",
};
constexpr const char* kRows[] = {
    "INSERT INTO t (p, c, v, l, m) VALUES (1, 1, 10, [7], {5: 6})",
    "INSERT INTO t (p, c, v) VALUES (1, 2, 20)",
    "INSERT INTO t (p, c, v) VALUES (2, 1, 30)",
    "INSERT INTO t (p, c, v) VALUES (0, 1, 40)",
    "INSERT INTO e (p, v) VALUES ('a', 1)",
    "INSERT INTO i (p, v) VALUES (1, 'x')",
    "INSERT INTO w (p, c, v, w, s) VALUES (1, 1, 10, 11, 12)",
    "INSERT INTO d (p, c) VALUES (1, 1)",
    "INSERT INTO d (p, c) VALUES (1, 2)",
    "INSERT INTO d (p, c) VALUES (1, 3)",
};

struct Rule {
  const char* name;  // of the rule of Dialect
  const char* statement;
  const char* scylla;
  const char* cassandra;
};

constexpr const char* kFiltering =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

// Sources: of ScyllaDB's answers the files that the planners name; of Cassandra's, those that
// engine/cql/syntax/dialect.h names for the rule.
const Rule kRules[] = {
    {"slices_of_all_need_filtering", "SELECT p FROM t WHERE c > 1", "1", kFiltering},
    {"slices_of_all_need_filtering", "SELECT p FROM t WHERE token(p) > 0 AND c > 0", "",
     kFiltering},
    {"slices_of_all_need_filtering", "SELECT p FROM t WHERE c > 1 ALLOW FILTERING", "1", "1"},
    {"one_relation_for_a_column", "SELECT v FROM t WHERE p = 1 AND c > 0 AND c > 1", "20",
     "More than one restriction was found for the start bound on c"},
    {"one_relation_for_a_column", "SELECT v FROM t WHERE p = 1 AND c < 9 AND c <= 1", "10",
     "More than one restriction was found for the end bound on c"},
    {"one_relation_for_a_column", "SELECT v FROM t WHERE p = 1 AND c > 0 AND c < 2", "10", "10"},
    {"one_relation_for_a_column",
     "SELECT v FROM t WHERE p = 1 AND c = 1 AND c IN (1, 2) ALLOW FILTERING", "10",
     "c cannot be restricted by more than one relation if it includes an Equal"},
    {"one_relation_for_a_column",
     "SELECT v FROM t WHERE p = 1 AND c IN (1, 2) AND c = 1 ALLOW FILTERING", "10",
     "c cannot be restricted by more than one relation if it includes a IN"},
    {"one_relation_for_a_column", "SELECT v FROM t WHERE p = 1 AND c > 0 AND c = 1 ALLOW FILTERING",
     "10", "Column \"c\" cannot be restricted by both an equality and an inequality relation"},
    {"refuses_index_beside_in", "SELECT p FROM i WHERE v = 'x' AND p IN (1, 2) ALLOW FILTERING",
     "1", "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported"},
    {"refuses_index_beside_in", "SELECT p FROM i WHERE v = 'x' AND p IN (1)", "1", "1"},
    {"refuses_empty_keys", "SELECT v FROM e WHERE p = ''", "", "Key may not be empty"},
    {"refuses_empty_keys", "SELECT v FROM e WHERE p IN ('a', '')", "1", "Key may not be empty"},
    {"refuses_empty_indexed", "SELECT p FROM i WHERE v = ''", "", "Key may not be empty"},
    {"refuses_empty_indexed", "SELECT p FROM i WHERE v = '' AND p = 1", "", "Key may not be empty"},
    {"merges_filtered_and_stably",
     "SELECT p FROM t WHERE p IN (0, 1, 2) AND v > 20 ORDER BY c DESC ALLOW FILTERING", "0; 2",
     "0; 2"},
    {"merges_filtered_and_stably", "SELECT v FROM t WHERE p IN (0, 1, 2) ORDER BY c DESC",
     "20; 30; 10; 40", "20; 40; 10; 30"},
    {"merges_filtered_and_stably",
     "SELECT v FROM t WHERE p IN (1, 2) AND v > 0 ORDER BY c ALLOW FILTERING", "10; 20; 30",
     "10; 30; 20"},
    {"one_relation_for_a_column", "SELECT v FROM t WHERE token(p) > 0 AND token(p) > 1", "",
     "More than one restriction was found for the start bound on p"},
    {"one_relation_for_a_column", "UPDATE t SET v = 10 WHERE p = 1 AND p = 1 AND c = 1", "",
     "p cannot be restricted by more than one relation if it includes an Equal"},
    {"one_relation_for_a_column", "DELETE FROM t WHERE p = 9 AND c > 1 AND c > 2", "",
     "More than one restriction was found for the start bound on c"},
    {"in_as_base_orders", "SELECT p FROM t WHERE p IN (2, 1, 0) AND c = 1", "0; 1; 2", "0; 1; 2"},
    {"in_as_base_orders", "SELECT c FROM dv WHERE c IN (3, 1, 2)", "1; 2; 3", "3; 2; 1"},
    {"in_as_base_orders", "SELECT c FROM dv WHERE c IN (3, 1, 2) LIMIT 1", "1", "3"},
    {"refuses_partition_limit_of_one", "SELECT DISTINCT p FROM t PER PARTITION LIMIT 1", "1; 0; 2",
     "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries"},
    {"refuses_partition_limit_of_one", "SELECT count(*) FROM t PER PARTITION LIMIT 1", "4",
     "PER PARTITION LIMIT is not allowed with aggregate queries."},
    {"refuses_elements_of_lists", "SELECT l[0] FROM t WHERE p = 1 AND c = 1", "7",
     "Element selection is only allowed on sets and maps, but l is a list"},
    {"refuses_elements_of_lists", "SELECT m[5] FROM t WHERE p = 1 AND c = 1", "6", "6"},
    {"has_date_of", "SELECT dateOf(minTimeuuid(0)) FROM e", "0", "Unknown function 'dateof'"},
    {"has_date_of", "SELECT unixTimestampOf(minTimeuuid(0)) FROM e", "0",
     "Unknown function 'unixtimestampof'"},
    {"answers_of_conditions_vary", "UPDATE w SET v = 1 WHERE p = 1 AND c = 1 IF w = 0", "false 11",
     "false 11"},
    {"answers_of_conditions_vary", "UPDATE w SET v = 1 WHERE p = 9 AND c = 1 IF w = 0",
     "false null", "false"},
    {"answers_of_conditions_vary", "UPDATE w SET v = 1 WHERE p = 9 AND c = 1 IF EXISTS",
     "false null null null null null", "false"},
    {"answers_of_conditions_vary", "INSERT INTO w (p, c, v) VALUES (1, 1, 5) IF NOT EXISTS",
     "false 1 1 12 10 11", "false 1 1 null 10 11"},
    {"answers_of_conditions_vary",
     "UPDATE w SET v = 1 WHERE p = 1 AND c = 1 IF s = 0 AND w = 0 AND v = 0", "false 12 10 11",
     "false 11 10 12"},
    {"answers_of_conditions_vary", "UPDATE w SET v = 10 WHERE p = 1 AND c = 1 IF v = 10", "true 10",
     "true"},
    {"answers_of_conditions_vary",
     "BEGIN BATCH UPDATE w SET v = 1 WHERE p = 1 AND c = 1 IF v = 0 "
     "UPDATE w SET v = 2 WHERE p = 1 AND c = 2 APPLY BATCH",
     "false 1 1 10; false 1 null null", "false 1 1 10"},
    // In the order of the rows, not of the statements; without those that are not there.
    {"answers_of_conditions_vary",
     "BEGIN BATCH UPDATE t SET v = 1 WHERE p = 1 AND c = 7 IF v = 0 "
     "UPDATE t SET v = 1 WHERE p = 1 AND c = 2 IF v = 0 "
     "UPDATE t SET v = 2 WHERE p = 1 AND c = 1 IF v = 5 APPLY BATCH",
     "false 1 null null; false 1 2 20; false 1 1 10", "false 1 1 10; false 1 2 20"},
    {"has_drop_compact_storage", "ALTER TABLE t DROP COMPACT STORAGE",
     "line 1:27 : Unexpected 'STORAGE'",
     "DROP COMPACT STORAGE is disabled. Enable in cassandra.yaml to use."},
    {"one_kind_of_condition_for_a_row",
     "BEGIN BATCH UPDATE w SET v = 1 WHERE p = 1 AND c = 1 IF v = 0 "
     "UPDATE w SET w = 2 WHERE p = 1 AND c = 1 IF EXISTS APPLY BATCH",
     "false 1 1 12 10 11; false 1 1 12 10 11",
     "Cannot mix IF conditions and IF EXISTS for the same row"},
    {"one_kind_of_condition_for_a_row",
     "BEGIN BATCH INSERT INTO w (p, c) VALUES (1, 1) IF NOT EXISTS "
     "UPDATE w SET w = 2 WHERE p = 1 AND c = 1 IF EXISTS APPLY BATCH",
     "false 1 1 12 10 11; false 1 1 12 10 11",
     "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row"},
    {"refuses_order_of_empty_collections", "UPDATE t SET v = 1 WHERE p = 1 AND c = 2 IF m < {}",
     "Invalid comparison with null for operator \"<\"",
     "Invalid comparison with an empty map for operator \"<\""},
    {"refuses_order_of_empty_collections", "UPDATE t SET v = 20 WHERE p = 1 AND c = 2 IF m = {}",
     "true null", "true"},
};

constexpr const char* kMixing =
    "Mixing single column relations and multi column relations on clustering columns is not "
    "allowed";
constexpr const char* kSkipped =
    "Clustering columns may not be skipped in multi-column relations. They should appear in the "
    "PRIMARY KEY order";

// On the tables u and x, of which both have all rows of values that are 1 or 2 when it begins. From
// top to bottom: deletions come last. Source of the words: ScyllaDB cql3/expr/restrictions.cc,
// cql3/restrictions/statement_restrictions.cc.
const Rule kTuples[] = {
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, 1)",
     kSkipped, "1 1 2; 1 2 1; 1 2 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND (d, e) >= (1, 2)",
     kSkipped, "1 1 2; 1 2 1; 1 2 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c = 2 AND (d, e) < (2, 2)",
     kSkipped, "2 1 1; 2 1 2; 2 2 1"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c = 2 AND (d, e) <= (1, 2)",
     kSkipped, "2 1 1; 2 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) AND (d, e) < (2, 2)",
     kSkipped, "1 1 2; 1 2 1"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) AND (d) <= (1)", kSkipped,
     "1 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND d < 2 AND (d, e) > (1, 1)", kSkipped,
     "1 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND (d, e) >= (2, 2) AND c = 1",
     kSkipped, "1 2 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND c IN (2, 1) AND (d, e) > (1, 1)", kSkipped,
     "1 1 2; 1 2 1; 1 2 2; 2 1 2; 2 2 1; 2 2 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND (c, d) IN ((2, 1), (1, 2)) AND e > 1", kMixing,
     "1 2 2; 2 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND (c, d) = (2, 1) AND e <= 1",
     kMixing, "2 1 1"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND (c, d) = (2, 1) AND (e) = (2)",
     kSkipped, "2 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c = 2 AND (d, e) = (1, 2)",
     kSkipped, "2 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND c = 2 AND (d, e) IN ((2, 2), (1, 1), (2, 1))", kSkipped,
     "2 1 1; 2 2 1; 2 2 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND d = 2 AND (e) > (1)",
     kSkipped, "1 2 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c = 1 AND (d, e) > (1, 1)",
     kSkipped, "1 2 1; 1 2 2; 1 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c = 1 AND (d, e) >= (1, 2)",
     kSkipped, "1 2 1; 1 2 2; 1 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c = 2 AND (d, e) < (2, 2)",
     kSkipped, "2 2 1; 2 1 1; 2 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c = 2 AND (d, e) <= (1, 2)",
     kSkipped, "2 1 1; 2 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM x WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) AND (d, e) < (2, 2)",
     kSkipped, "1 2 1; 1 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM x WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) AND (d) <= (1)", kSkipped,
     "1 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM x WHERE p = 1 AND c = 1 AND d < 2 AND (d, e) > (1, 1)", kSkipped,
     "1 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND (d, e) >= (2, 2) AND c = 1",
     kSkipped, "1 2 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM x WHERE p = 1 AND c IN (2, 1) AND (d, e) > (1, 1)", kSkipped,
     "1 2 1; 1 2 2; 1 1 2; 2 2 1; 2 2 2; 2 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM x WHERE p = 1 AND (c, d) IN ((2, 1), (1, 2)) AND e > 1", kMixing,
     "1 2 2; 2 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND (c, d) = (2, 1) AND e <= 1",
     kMixing, "2 1 1"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND (c, d) = (2, 1) AND (e) = (2)",
     kSkipped, "2 1 2"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c = 2 AND (d, e) = (1, 2)",
     kSkipped, "2 1 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM x WHERE p = 1 AND c = 2 AND (d, e) IN ((2, 2), (1, 1), (2, 1))", kSkipped,
     "2 2 1; 2 2 2; 2 1 1"},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c = 1 AND d = 2 AND (e) > (1)",
     kSkipped, "1 2 2"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) ORDER BY c DESC, d DESC, e "
     "DESC LIMIT 2",
     kSkipped, "1 2 2; 1 2 1"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND (c, d) = (1, 2) AND d = 2", kMixing,
     "d cannot be restricted by more than one relation if it includes an Equal"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND c > 1 AND (c, d) = (1, 2)", kMixing,
     "Column \"c\" cannot be restricted by both an equality and an inequality relation"},
    {"tuples_behind_columns",
     "SELECT c FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) AND (d, e) >= (1, 2)", kSkipped,
     "More than one restriction was found for the start bound on d, e"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, 1) AND e < 2",
     kSkipped,
     "Column \"e\" cannot be restricted by two inequalities not starting with the same column"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND c > 1 AND (d, e) > (1, 1)", kSkipped,
     "Clustering column \"d\" cannot be restricted (preceding column \"c\" is restricted by a "
     "non-EQ relation)"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND (d, e) = (1, 1) AND c > 1", kSkipped,
     "PRIMARY KEY column \"d\" cannot be restricted (preceding column \"c\" is restricted by a "
     "non-EQ relation)"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND (d, e) > (1, 1)", kSkipped,
     "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not restricted"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND (d, e) > (1, 1) ALLOW FILTERING",
     kSkipped, "Multi-column slice restrictions cannot be used for filtering."},
    {"tuples_behind_columns",
     "SELECT c FROM u WHERE p = 1 AND (d, e) IN ((1, 1), (2, 2)) ALLOW FILTERING", kSkipped,
     "IN restrictions are not supported on indexed columns"},
    {"tuples_behind_columns",
     "SELECT c, d, e FROM u WHERE p = 1 AND (d, e) = (2, 1) ALLOW FILTERING", kSkipped,
     "1 2 1; 2 2 1"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND c = 1 AND (d, e) > (1, null)",
     kSkipped, "Invalid null value in condition for column e"},
    {"tuples_behind_columns", "SELECT c FROM u WHERE p = 1 AND c = 1 AND (e, d) > (1, 1)", kSkipped,
     "Clustering columns must appear in the PRIMARY KEY order in multi-column relations"},
    {"tuples_behind_columns", "UPDATE u SET v = 1 WHERE p = 1 AND c = 1 AND (d, e) = (1, 1)",
     kSkipped, ""},
    {"tuples_behind_columns", "DELETE FROM u WHERE p = 1 AND c = 1 AND (d, e) < (2, 1)", kSkipped,
     ""},
    {"tuples_behind_columns", "DELETE FROM u WHERE p = 1 AND c IN (1, 2) AND (d, e) >= (2, 2)",
     kSkipped, ""},
    {"tuples_behind_columns", "SELECT c, d, e FROM u WHERE p = 1 AND c IN (1, 2)",
     "1 1 1; 1 1 2; 1 2 1; 1 2 2; 2 1 1; 2 1 2; 2 2 1; 2 2 2", "1 2 1; 2 1 1; 2 1 2; 2 2 1"},
    {"tuples_behind_columns", "DELETE FROM x WHERE p = 1 AND c = 1 AND (d, e) < (2, 1)", kSkipped,
     ""},
    {"tuples_behind_columns", "DELETE FROM x WHERE p = 1 AND c IN (1, 2) AND (d, e) >= (2, 2)",
     kSkipped, ""},
    {"tuples_behind_columns", "SELECT c, d, e FROM x WHERE p = 1 AND c IN (1, 2)",
     "1 2 1; 1 2 2; 1 1 1; 1 1 2; 2 2 1; 2 2 2; 2 1 1; 2 1 2", "1 2 1; 2 2 1; 2 1 1; 2 1 2"},
};

class DialectsTest : public CqlDialogueTest {
 protected:
  void StartLike(const char* like, uint32_t journal = 0) {
    CqlServerOptions options;
    options.manual_clock = &clock_;
    options.client_timestamps = CqlServerOptions::ClientTimestamps::kHonour;
    options.like = like;
    options.journal_entries = journal;
    StartServer(options, "k");
    Say("USE k");
    for (const char* const statement : kSchema) Must(statement);
    for (const char* const statement : kRows) Must(statement);
  }
  void AddTriples() {
    Must("CREATE TABLE u (p int, c int, d int, e int, v int, PRIMARY KEY (p, c, d, e))");
    Must(
        "CREATE TABLE x (p int, c int, d int, e int, v int, PRIMARY KEY (p, c, d, e)) "
        "WITH CLUSTERING ORDER BY (c ASC, d DESC, e ASC)");
    for (const char* const table : {"u", "x"}) {
      for (int i = 0; i < 8; ++i) {
        Must("INSERT INTO " + std::string(table) + " (p, c, d, e) VALUES (1, " +
             std::to_string(1 + i / 4) + ", " + std::to_string(1 + i / 2 % 2) + ", " +
             std::to_string(1 + i % 2) + ")");
      }
    }
  }
};

TEST_F(DialectsTest, ScyllaAnswersByItsRules) {
  for (const char* const like : {"", "scylla:2025.1"}) {
    StartLike(like);
    for (const Rule& rule : kRules) {
      EXPECT_EQ(Say(rule.statement), rule.scylla) << rule.name << ": " << rule.statement;
    }
  }
}

TEST_F(DialectsTest, CassandraAnswersByItsRules) {
  StartLike("cassandra:5.0");
  for (const Rule& rule : kRules) {
    // As text and prepared.
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Say(rule.statement), rule.cassandra) << rule.name << ": " << rule.statement;
    }
  }
}

TEST_F(DialectsTest, TuplesBehindColumns) {
  StartLike("");
  AddTriples();
  for (const Rule& rule : kTuples) EXPECT_EQ(Say(rule.statement), rule.scylla) << rule.statement;
  for (const char* const like : {"cassandra:3.11", "cassandra:5.0"}) {
    StartLike(like);
    AddTriples();
    for (const Rule& rule : kTuples) {
      EXPECT_EQ(Say(rule.statement), rule.cassandra) << like << ": " << rule.statement;
    }
  }
}

TEST_F(DialectsTest, VersionsOfCassandraDiffer) {
  for (const char* const like : {"cassandra:3.11", "cassandra:4.1"}) {
    StartLike(like);
    EXPECT_EQ(Say("SELECT dateOf(minTimeuuid(0)) FROM e"), "0") << like;
    EXPECT_EQ(Say("SELECT p FROM t WHERE c > 1"), kFiltering) << like;
  }
}

// Source: Cassandra cql3/statements/SelectStatement.java, execute.
TEST_F(DialectsTest, PagesOfWhatIsMerged) {
  const CqlParameters pages{.page_size = 1, .paging_state = {}, .default_timestamp = {}};
  const CqlStatement one{"SELECT v FROM t WHERE p IN (1) ORDER BY c", {}, false};
  const std::string refused =
      "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must "
      "either remove the ORDER BY or the IN and sort client side, or disable paging for this query";
  StartLike("cassandra:5.0");
  EXPECT_EQ(session_->Run(one, pages).error, refused);
  EXPECT_EQ(ToText(session_->Run(one)), "10; 20");
  CqlStatement limited = one;
  limited.text += " LIMIT 1";
  EXPECT_EQ(ToText(session_->Run(limited, pages)), "10");
  for (const char* const like : {"cassandra:4.1", "scylla:2025.1"}) {
    StartLike(like);
    EXPECT_EQ(ToText(session_->Run(one, pages)), "10") << like;
    const CqlStatement two{"SELECT v FROM t WHERE p IN (9, 1) ORDER BY c", {}, false};
    EXPECT_EQ(session_->Run(two, pages).error, refused) << like;
  }
}

TEST_F(DialectsTest, PagesOfPartitionsThatDescend) {
  StartLike("cassandra:5.0");
  CqlParameters pages{.page_size = 1, .paging_state = {}, .default_timestamp = {}};
  std::string all;
  for (int i = 0; i < 9; ++i) {
    const CqlAnswer page = Must({"SELECT c FROM dv WHERE c IN (2, 3, 1)", {}, false}, pages);
    all += ToText(page) + ",";
    pages.paging_state = page.paging_state;
    if (pages.paging_state.empty()) break;
  }
  EXPECT_EQ(all, "3,2,1,,");
}

// Source: ScyllaDB cql3/Cql.g, max_expression_nesting; Cassandra's grammar has no limit.
TEST_F(DialectsTest, ExpressionsInsideOfEachOther) {
  const auto nested = [](int depth) {
    return "SELECT p FROM e WHERE v = " + std::string(static_cast<size_t>(depth), '(') + "1" +
           std::string(static_cast<size_t>(depth), ')') + " ALLOW FILTERING";
  };
  StartLike("");
  EXPECT_EQ(Say(nested(13)), "expression nested too deeply");
  StartLike("cassandra:5.0");
  EXPECT_NE(Say(nested(90)), "expression nested too deeply");
  EXPECT_EQ(Say(nested(101)), "expression nested too deeply");
}

// Source: Cassandra cql3/Json.java.
TEST_F(DialectsTest, JsonAndStaticColumns) {
  const char* const insert = R"(INSERT INTO w JSON '{"p": 1, "c": 2}')";
  StartLike("");
  Must(insert);
  EXPECT_EQ(Say("SELECT c, s FROM w WHERE p = 1 AND c = 2"), "2 12");
  StartLike("cassandra:5.0");
  Must(insert);
  EXPECT_EQ(Say("SELECT c, s FROM w WHERE p = 1 AND c = 2"), "2 null");
}

// Sources: Cassandra schema/CompactionParams.java, CompressionParams.java, CachingParams.java,
// SpeculativeRetryParam.java.
TEST_F(DialectsTest, OptionsOfTables) {
  const auto options = [&](const std::string& table) {
    return Say(
        "SELECT JSON compaction, compression, caching, speculative_retry FROM "
        "system_schema.tables WHERE keyspace_name = 'k' AND table_name = '" +
        table + "'");
  };
  const std::string begin = R"({"compaction": {"class": "org.apache.cassandra.db.compaction.)";
  const std::string end = R"("class": "org.apache.cassandra.io.compress.LZ4Compressor"}, )"
                          R"("caching": {"keys": "ALL", "rows_per_partition": "NONE"}, )"
                          R"("speculative_retry": ")";
  const std::string thresholds = R"("max_threshold": "32", "min_threshold": "4"})";
  StartLike("cassandra:3.11");
  EXPECT_EQ(options("e"), begin + "SizeTieredCompactionStrategy\", " + thresholds +
                              R"(, "compression": {"chunk_length_in_kb": "64", )" + end +
                              "99PERCENTILE\"}");
  StartLike("cassandra:5.0");
  EXPECT_EQ(options("e"), begin + "SizeTieredCompactionStrategy\", " + thresholds +
                              R"(, "compression": {"chunk_length_in_kb": "16", )" + end + "99p\"}");
  Must(
      "CREATE TABLE o (p int PRIMARY KEY) WITH compaction = {'class': "
      "'LeveledCompactionStrategy'} AND compression = {'class': 'LZ4Compressor', "
      "'chunk_length_in_kb': 4} AND speculative_retry = '50percentile' AND read_repair = 'NONE' "
      "AND additional_write_policy = '99p'");
  EXPECT_EQ(options("o"), begin + "LeveledCompactionStrategy\", " + thresholds +
                              R"(, "compression": {"chunk_length_in_kb": "4", )" + end + "50p\"}");
  EXPECT_EQ(Say("CREATE TABLE n (p int PRIMARY KEY) WITH compaction = {'class': 'Nope'}"),
            "Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.Nope'");
  EXPECT_EQ(Say("CREATE TABLE n (p int PRIMARY KEY) WITH compression = {'chunk_length_in_kb': 4}"),
            "Missing sub-option 'class' for the 'compression' option.");
}

}  // namespace dialects_test
}  // namespace liststore::testing
