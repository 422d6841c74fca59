// Views of indexes over the wire: their columns, their rows, and what may be done with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/model/token.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace index_views_over_cql_test {

constexpr uint8_t kRegister = 0x0b;
constexpr uint8_t kEvent = 0x0c;

class IndexViews : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, q int, c int, d int, s int static, v int, l list<int>, "
        "m map<int, int>, e set<int>, PRIMARY KEY ((p, q), c, d)) "
        "WITH CLUSTERING ORDER BY (c DESC, d ASC)");
  }
  // As in CqlDialogueTest, but that short texts are told from numbers by their bytes.
  std::string Say(const std::string& text, std::vector<BoundParameter> parameters = {}) {
    clock_.AdvanceNanos(1'000'000);
    prepares_ = !prepares_;
    const bool prepared = prepares_ && !text.starts_with("USE ");
    const CqlAnswer answer = session_->Run({text, std::move(parameters), prepared});
    if (!answer.error.empty()) return answer.error;
    std::string said;
    for (const ResultRow& row : answer.rows) {
      if (!said.empty()) said += "; ";
      for (size_t i = 0; i < row.size(); ++i) {
        const bool is_text =
            row[i] && std::ranges::all_of(*row[i], [](char c) { return c >= ' '; });
        said += (i == 0 ? "" : " ") + (is_text ? *row[i] : ToText(row[i]));
      }
    }
    return said;
  }
  // "name type kind position" of each column, those of the key in their order.
  std::string Columns(const std::string& view) {
    std::string columns;
    for (const char* kind : {"partition_key", "clustering", "regular"}) {
      const std::string rows =
          Say("SELECT column_name, position, type, clustering_order, kind FROM "
              "system_schema.columns WHERE keyspace_name = 'k' AND table_name = '" +
              view + "' AND kind = '" + kind + "' ALLOW FILTERING");
      if (!rows.empty()) columns += (columns.empty() ? "" : "; ") + rows;
    }
    return columns;
  }
  static std::string TokenOfKey(int p, int q) {
    std::string key;
    for (const int part : {p, q})
      key += std::string("\0\4\0\0\0", 5) + static_cast<char>(part) + '\0';
    // Two bytes of length, the value, a zero byte.
    return std::to_string(TokenOf(key).value);
  }

 private:
  bool prepares_ = false;
};

struct ColumnsCase {
  const char* rule;
  const char* target;
  const char* select;   // of all columns, in the order of `SELECT *`
  const char* columns;  // as system_schema.columns has them, by name within their kinds
  const char* where;
};

// Source: ScyllaDB index/secondary_index_manager.cc, create_view_for_index.
TEST_F(IndexViews, HaveTheColumnsThatFollowFromTheirIndex) {
  const ColumnsCase cases[] = {
      {"the column, the table's token, the rest of the table's key", "v",
       "v, idx_token, p, q, c, d",
       "v 0 int NONE partition_key; c 3 int DESC clustering; d 4 int ASC clustering; "
       "idx_token 0 bigint ASC clustering; p 1 int ASC clustering; q 2 int ASC clustering",
       "v IS NOT NULL"},
      {"of a local index the partition key stays", "(p, q), v", "p, q, v, c, d",
       "p 0 int NONE partition_key; q 1 int NONE partition_key; c 1 int DESC clustering; "
       "d 2 int ASC clustering; v 0 int ASC clustering",
       "v IS NOT NULL"},
      {"a local index on a clustering column keeps its order", "(p, q), c", "p, q, c, d",
       "p 0 int NONE partition_key; q 1 int NONE partition_key; c 0 int DESC clustering; "
       "d 1 int ASC clustering",
       "c IS NOT NULL"},
      {"a column of the partition key is not there twice", "q", "q, idx_token, p, c, d",
       "q 0 int NONE partition_key; c 2 int DESC clustering; d 3 int ASC clustering; "
       "idx_token 0 bigint ASC clustering; p 1 int ASC clustering",
       "q IS NOT NULL"},
      {"nor a clustering column", "d", "d, idx_token, p, q, c",
       "d 0 int NONE partition_key; c 3 int DESC clustering; idx_token 0 bigint ASC clustering; "
       "p 1 int ASC clustering; q 2 int ASC clustering",
       "d IS NOT NULL"},
      {"a static column has no clustering columns beside it", "s", "s, idx_token, p, q",
       "s 0 int NONE partition_key; idx_token 0 bigint ASC clustering; p 1 int ASC clustering; "
       "q 2 int ASC clustering",
       "s IS NOT NULL"},
      {"equal values of a list are kept apart by where they stand", "values(l)",
       "coll_value, idx_token, p, q, c, d, keys_for_values_idx",
       "coll_value 0 int NONE partition_key; c 3 int DESC clustering; d 4 int ASC clustering; "
       "idx_token 0 bigint ASC clustering; keys_for_values_idx 5 timeuuid ASC clustering; "
       "p 1 int ASC clustering; q 2 int ASC clustering",
       ""},
      {"those of a map by their keys", "m",
       "coll_value, idx_token, p, q, c, d, keys_for_values_idx",
       "coll_value 0 int NONE partition_key; c 3 int DESC clustering; d 4 int ASC clustering; "
       "idx_token 0 bigint ASC clustering; keys_for_values_idx 5 int ASC clustering; "
       "p 1 int ASC clustering; q 2 int ASC clustering",
       ""},
      {"keys of a map are different", "keys(m)", "coll_value, idx_token, p, q, c, d",
       "coll_value 0 int NONE partition_key; c 3 int DESC clustering; d 4 int ASC clustering; "
       "idx_token 0 bigint ASC clustering; p 1 int ASC clustering; q 2 int ASC clustering",
       ""},
      {"an entry is a tuple", "entries(m)", "coll_value, idx_token, p, q, c, d",
       "coll_value 0 frozen<tuple<int, int>> NONE partition_key; c 3 int DESC clustering; "
       "d 4 int ASC clustering; idx_token 0 bigint ASC clustering; p 1 int ASC clustering; "
       "q 2 int ASC clustering",
       ""},
      {"elements of a set are its keys", "e", "coll_value, idx_token, p, q, c, d",
       "coll_value 0 int NONE partition_key; c 3 int DESC clustering; d 4 int ASC clustering; "
       "idx_token 0 bigint ASC clustering; p 1 int ASC clustering; q 2 int ASC clustering",
       ""},
  };
  for (const ColumnsCase& c : cases) {
    SCOPED_TRACE(c.rule);
    EXPECT_EQ(Say("CREATE INDEX i ON t(" + std::string(c.target) + ")"), "");
    EXPECT_EQ(Columns("i_index"), c.columns);
    EXPECT_EQ(Say("SELECT " + std::string(c.select) + " FROM i_index"), "");
    EXPECT_EQ(Say("SELECT base_table_name, where_clause, include_all_columns FROM "
                  "system_schema.views WHERE keyspace_name = 'k' AND view_name = 'i_index'"),
              "t " + std::string(c.where) + " false");
    EXPECT_EQ(Say("SELECT view_name FROM system.built_views WHERE keyspace_name = 'k'"), "i_index");
    EXPECT_EQ(Say("DROP INDEX i"), "");
    EXPECT_EQ(Say("SELECT * FROM i_index"), "unconfigured table i_index");
    EXPECT_EQ(Columns("i_index"), "");
  }
}

// Source: ScyllaDB index/secondary_index_manager.cc, get_available_column_name.
TEST_F(IndexViews, TakeNamesThatTheTableHasNot) {
  Say("CREATE TABLE n (idx_token int PRIMARY KEY, coll_value int, coll_value_1 int, "
      "keys_for_values_idx int, l list<int>)");
  EXPECT_EQ(Say("CREATE INDEX i ON n(l)"), "");
  EXPECT_EQ(Say("SELECT coll_value_2, idx_token_1, idx_token, keys_for_values_idx_1 FROM i_index"),
            "");
}

// Sources: ScyllaDB schema/schema.cc, column computations; db/schema_tables.cc, computed_columns;
// db/tags/extension.hh; db/view/view.cc, create_virtual_column.
TEST_F(IndexViews, AreInTheTablesOfTheSchema) {
  for (const char* index : {"by_v ON t(v)", "by_l ON t(l)", "by_m ON t(m)", "by_k ON t(keys(m))",
                            "by_e ON t(e)", "by_n ON t(entries(m))", "by_p ON t(p)"}) {
    EXPECT_EQ(Say("CREATE INDEX " + std::string(index)), "");
  }
  const auto computed = [this](const std::string& view) {
    return Say(
        "SELECT column_name, blobAsText(computation) FROM system_schema.computed_columns "
        "WHERE keyspace_name = 'k' AND table_name = '" +
        view + "'");
  };
  const std::string token = "idx_token {\"type\":\"token_v2\"}";
  const auto of_collection = [&](const std::string& kind, const std::string& column) {
    return "coll_value {\"type\":\"collection_" + kind + "\",\"collection_name\":\"" + column +
           "\"}; " + token;
  };
  EXPECT_EQ(computed("by_v_index"), token);
  EXPECT_EQ(computed("by_l_index"), of_collection("values", "l") +
                                        "; keys_for_values_idx {\"type\":\"collection_keys\","
                                        "\"collection_name\":\"l\"}");
  EXPECT_EQ(computed("by_k_index"), of_collection("keys", "m"));
  EXPECT_EQ(computed("by_e_index"), of_collection("keys", "e"));
  EXPECT_EQ(computed("by_n_index"), of_collection("entries", "m"));
  const std::string hidden =
      "SELECT column_name, type FROM system_schema.view_virtual_columns "
      "WHERE keyspace_name = 'k' AND view_name = ";
  EXPECT_EQ(Say(hidden + "'by_v_index'"), "");
  EXPECT_EQ(Say(hidden + "'by_p_index'"),
            "e set<int>; l map<timeuuid, empty>; m map<int, empty>; v empty");
  EXPECT_EQ(Say("CREATE INDEX local ON t((p, q), v)"), "");
  const std::string extensions =
      "SELECT toJson(extensions) FROM system_schema.views WHERE keyspace_name = 'k' AND view_name "
      "= ";
  EXPECT_EQ(Say(extensions + "'by_v_index'"), "{}");
  EXPECT_EQ(
      Say(extensions + "'local_index'"),
      "{\"scylla_tags\": \"0x010000001f00000073797374656d3a73796e6368726f6e6f75735f766965775f7"
      "5706461746573"
      "0400000074727565\"}");
  EXPECT_EQ(Say("SELECT count(*) FROM system_schema.scylla_tables WHERE keyspace_name = 'k' AND "
                "table_name = 'local_index'"),
            "1");
  EXPECT_EQ(Say("SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'k'"), "t");
  EXPECT_EQ(Say("SELECT status FROM system_distributed.view_build_status WHERE keyspace_name = 'k' "
                "AND view_name = 'by_v_index'"),
            "SUCCESS");
}

class RowsOfIndexViews : public IndexViews {
 protected:
  void SetUp() override {
    IndexViews::SetUp();
    for (const char* row :
         {"1, 1, 1, 1, 10", "1, 1, 1, 2, 20", "1, 1, 2, 1, 10", "1, 2, 1, 1, 10"}) {
      Say("INSERT INTO t (p, q, c, d, v) VALUES (" + std::string(row) + ")");
    }
    Say("INSERT INTO t (p, q, c, d) VALUES (2, 1, 3, 1)");
    Say("UPDATE t SET s = 7 WHERE p = 1 AND q = 1");
    Say("UPDATE t SET s = 7 WHERE p = 3 AND q = 3");  // there are no rows
    Say("UPDATE t SET l = [5, 6, 5], m = {1: 5, 2: 5}, e = {5, 6} WHERE p = 1 AND q = 1 AND c = 1 "
        "AND d = 1");
  }
  // Rows of two partitions of the table, in the order of their tokens.
  static std::string InOrder(const std::string& of_1_1, const std::string& of_1_2) {
    return std::stoll(TokenOfKey(1, 1)) < std::stoll(TokenOfKey(1, 2)) ? of_1_1 + "; " + of_1_2
                                                                       : of_1_2 + "; " + of_1_1;
  }
};

// Sources: ScyllaDB db/view/view.cc, view_updates; schema/schema.cc, token_column_computation.
TEST_F(RowsOfIndexViews, FollowFromThoseOfTheTable) {
  Say("CREATE INDEX i ON t(v)");
  const std::string one = TokenOfKey(1, 1);
  const std::string two = TokenOfKey(1, 2);
  EXPECT_EQ(Say("SELECT * FROM i_index WHERE v = 10"),
            InOrder("10 " + one + " 1 1 2 1; 10 " + one + " 1 1 1 1", "10 " + two + " 1 2 1 1"));
  EXPECT_EQ(Say("SELECT * FROM i_index WHERE v = 20"), "20 " + one + " 1 1 1 2");
  EXPECT_EQ(Say("SELECT count(*) FROM i_index"), "4");
  EXPECT_EQ(Say("SELECT q, c FROM i_index WHERE v = 10 AND idx_token = " + one), "1 2; 1 1");
  EXPECT_EQ(Say("SELECT q, c FROM i_index WHERE v = 10 AND idx_token = " + one +
                " AND p = 1 AND q = 1 AND c < 2"),
            "1 1");
  EXPECT_EQ(Say("SELECT q, c FROM i_index WHERE v = 10 AND idx_token = " + one +
                " ORDER BY idx_token DESC"),
            "1 1; 1 2");
  EXPECT_EQ(Say("SELECT d FROM i_index WHERE v IN (20, 30)"), "2");
  EXPECT_EQ(Say("SELECT d FROM i_index WHERE v = ?", {{std::string("\0\0\0\x14", 4)}}), "2");
  EXPECT_EQ(Say("SELECT d FROM i_index WHERE token(v) = token(20)"), "2");
  EXPECT_EQ(
      Say("SELECT v FROM i_index WHERE c = 2"),
      "PRIMARY KEY column \"c\" cannot be restricted as preceding column \"idx_token\" is not "
      "restricted");
  EXPECT_EQ(Say("SELECT v FROM i_index WHERE c = 2 ALLOW FILTERING"), "10");
  EXPECT_EQ(Say("SELECT writetime(c) FROM i_index"),
            "WRITETIME is not legal on partition key component c");
}

TEST_F(RowsOfIndexViews, AreThoseOfTheMoment) {
  Say("CREATE INDEX i ON t(v)");
  const std::string select = "SELECT c, d FROM i_index WHERE v = 20";
  EXPECT_EQ(Say(select), "1 2");
  Say("UPDATE t SET v = 30 WHERE p = 1 AND q = 1 AND c = 1 AND d = 2");
  EXPECT_EQ(Say(select), "");
  EXPECT_EQ(Say("SELECT c, d FROM i_index WHERE v = 30"), "1 2");
  Say("UPDATE t USING TTL 10 SET v = 20 WHERE p = 1 AND q = 1 AND c = 1 AND d = 2");
  EXPECT_EQ(Say(select), "1 2");
  clock_.AdvanceNanos(10'000'000'000);
  EXPECT_EQ(Say(select), "") << "with the cell, although the row is there";
  EXPECT_EQ(Say("SELECT count(*) FROM t WHERE p = 1 AND q = 1 AND c = 1 AND d = 2"), "1");
  Say("DELETE FROM t WHERE p = 1 AND q = 1");
  EXPECT_EQ(Say("SELECT p, q FROM i_index"), "1 2");
  Say("TRUNCATE t");
  EXPECT_EQ(Say("SELECT p, q FROM i_index"), "");
}

struct RowsCase {
  const char* rule;
  const char* target;
  const char* select;
  const char* rows;
};

// Sources: ScyllaDB index/secondary_index_manager.cc, create_view_for_index; schema/schema.cc,
// collection_column_computation.
TEST_F(RowsOfIndexViews, OfAllKindsOfIndexes) {
  const RowsCase cases[] = {
      {"a local index sorts a partition by value", "(p, q), v",
       "SELECT v, c, d FROM i_index WHERE p = 1 AND q = 1", "10 2 1; 10 1 1; 20 1 2"},
      {"and is read by its value", "(p, q), v",
       "SELECT c, d FROM i_index WHERE p = 1 AND q = 1 AND v = 10 AND c = 1", "1 1"},
      {"a local index on a clustering column", "(p, q), d",
       "SELECT d, c FROM i_index WHERE p = 1 AND q = 1", "1 2; 1 1; 2 1"},
      {"whose descending order merges partitions too", "(p, q), c",
       "SELECT c FROM i_index WHERE p = 1 AND q IN (1, 2) ORDER BY c DESC", "2; 1; 1; 1"},
      {"both ways", "(p, q), c", "SELECT c FROM i_index WHERE p = 1 AND q IN (1, 2) ORDER BY c ASC",
       "1; 1; 1; 2"},
      {"a row without a value is not there, of a key column it is", "c",
       "SELECT p, q, d FROM i_index WHERE c = 3", "2 1 1"},
      {"a column of the partition key", "p", "SELECT q, c, d FROM i_index WHERE p = 2", "1 3 1"},
      {"static values are one row a partition", "s", "SELECT count(*) FROM i_index WHERE s = 7",
       "2"},
      {"equal elements of a list are rows of their own", "l",
       "SELECT coll_value, c FROM i_index WHERE coll_value = 5", "5 1; 5 1"},
      {"values of a map", "m", "SELECT keys_for_values_idx FROM i_index WHERE coll_value = 5",
       "1; 2"},
      {"keys of a map", "keys(m)", "SELECT c, d FROM i_index WHERE coll_value = 2", "1 1"},
      {"entries of a map", "entries(m)", "SELECT c, d FROM i_index WHERE coll_value = (2, 5)",
       "1 1"},
      {"an entry that is none", "entries(m)", "SELECT c, d FROM i_index WHERE coll_value = (2, 6)",
       ""},
      {"elements of a set", "e", "SELECT c, d FROM i_index WHERE coll_value = 6", "1 1"},
  };
  for (const RowsCase& c : cases) {
    EXPECT_EQ(Say("CREATE INDEX i ON t(" + std::string(c.target) + ")"), "") << c.rule;
    EXPECT_EQ(Say(c.select), c.rows) << c.rule;
    EXPECT_EQ(Say("DROP INDEX i"), "") << c.rule;
  }
}

// More rows than one look at a partition takes.
TEST_F(IndexViews, AreReadWhole) {
  Say("CREATE INDEX i ON t(v)");
  for (int batch = 0; batch < 3; ++batch) {
    std::string rows;
    for (int i = 0; i < 1000; ++i) {
      rows += "INSERT INTO t (p, q, c, d, v) VALUES (1, 1, " + std::to_string(batch) + ", " +
              std::to_string(i) + ", " + std::to_string(i % 2) + ") ";
    }
    EXPECT_EQ(Say("BEGIN UNLOGGED BATCH " + rows + "APPLY BATCH"), "");
  }
  EXPECT_EQ(Say("SELECT count(*) FROM i_index"), "3000");
  EXPECT_EQ(Say("SELECT count(*) FROM i_index WHERE v = 1"), "1500");
  EXPECT_EQ(Say("SELECT c, d FROM i_index WHERE v = 1 LIMIT 2"), "2 1; 2 3");
}

struct StatementCase {
  const char* statement;
  const char* answer;
};

// Sources: ScyllaDB cql3/statements/modification_statement.cc, truncate_statement.cc,
// alter_table_statement.cc, alter_view_statement.cc, create_index_statement.cc;
// service/migration_manager.cc.
TEST_F(IndexViews, AreNotWrittenAndGoWithTheirIndex) {
  Say("CREATE INDEX i ON t(v)");
  const StatementCase cases[] = {
      {"INSERT INTO i_index (v, idx_token, p, q, c, d) VALUES (1, 2, 3, 4, 5, 6)",
       "Cannot directly modify a materialized view"},
      {"DELETE FROM i_index WHERE v = 1", "Cannot directly modify a materialized view"},
      {"UPDATE i_index SET v = 1 WHERE v = 1", "PRIMARY KEY part v found in SET part"},
      {"TRUNCATE i_index",
       "Cannot TRUNCATE materialized view directly; must truncate base table instead"},
      {"DROP TABLE i_index", "Cannot use DROP TABLE on Materialized View"},
      {"DROP MATERIALIZED VIEW i_index", "Cannot use DROP MATERIALIZED VIEW on Index"},
      {"ALTER TABLE i_index ADD x int", "Cannot use ALTER TABLE on Materialized View"},
      {"CREATE INDEX ON i_index(c)", "Secondary indexes are not supported on materialized views"},
      {"CREATE MATERIALIZED VIEW w AS SELECT * FROM i_index WHERE v IS NOT NULL PRIMARY KEY (v)",
       "Materialized views cannot be created against other materialized views"},
      {"CREATE TABLE i_index (p int PRIMARY KEY)",
       "Cannot add already existing table \"i_index\" to keyspace \"k\""},
      {"ALTER MATERIALIZED VIEW i_index WITH comment = 'found' AND gc_grace_seconds = 7", ""},
      {"SELECT comment, gc_grace_seconds FROM system_schema.views WHERE keyspace_name = 'k' AND "
       "view_name = 'i_index'",
       "found 7"},
      {"ALTER TABLE t ADD x int", ""},
      {"SELECT comment FROM system_schema.views WHERE keyspace_name = 'k'", "found"},
      {"ALTER TABLE t RENAME c TO cc", ""},
      {"SELECT cc FROM i_index", ""},
      {"SELECT c FROM i_index", "Unrecognized name c"},
      {"DROP TABLE t", ""},
      {"SELECT * FROM i_index", "unconfigured table i_index"},
      {"SELECT view_name FROM system_schema.views WHERE keyspace_name = 'k'", ""},
  };
  for (const StatementCase& c : cases) EXPECT_EQ(Say(c.statement), c.answer) << c.statement;
}

// The rows of an index on a key column live as long as any cell. Source: ScyllaDB
// cql3/statements/alter_table_statement.cc, drop_column.
TEST_F(IndexViews, OnKeyColumnsNeedAllCells) {
  Say("CREATE INDEX i ON t(c)");
  EXPECT_EQ(
      Say("ALTER TABLE t DROP v"),
      "Cannot drop column v from base table k.t: materialized view i_index needs this column");
  EXPECT_EQ(Say("ALTER TABLE t DROP s"), "");
  EXPECT_EQ(Say("DROP INDEX i"), "");
  EXPECT_EQ(Say("ALTER TABLE t DROP v"), "");
}

// Source: ScyllaDB cql3/statements/describe_statement.cc; schema/schema.cc, describe.
TEST_F(IndexViews, AreDescribedAsIndexes) {
  Say("CREATE INDEX i ON t(v)");
  const std::string described = "k index i_index CREATE INDEX i ON k.t(v);\n";
  EXPECT_EQ(Say("DESCRIBE INDEX i"), described);
  EXPECT_EQ(Say("DESCRIBE MATERIALIZED VIEW i_index"), described);
  EXPECT_EQ(Say("DESCRIBE i_index"), described);
  EXPECT_EQ(Say("DESCRIBE TABLE i_index"), "Cannot use DESC TABLE on materialized View");
  EXPECT_EQ(Say("DESCRIBE TABLES"), "k table t");
}

// Names that an index's view has, or would have, and what only tables with views are refused.
// Sources: ScyllaDB cql3/statements/create_index_statement.cc, build_index_schema;
// index/secondary_index_manager.cc, get_available_index_name;
// cql3/statements/alter_table_statement.cc, prepare_schema_update.
TEST_F(IndexViews, TakeTheirNamesFromTables) {
  Say("CREATE TABLE taken_index (p int PRIMARY KEY, v int)");
  Say("CREATE TABLE t_v_idx_index (p int PRIMARY KEY, v int)");
  const StatementCase cases[] = {
      {"ALTER TABLE t WITH gc_grace_seconds = 0", ""},
      {"ALTER TABLE t WITH gc_grace_seconds = 100", ""},
      {"CREATE INDEX taken ON t(v)",
       "Index taken cannot be created, because table taken_index already exists"},
      {"CREATE INDEX IF NOT EXISTS taken ON t(v)",
       "Index taken cannot be created, because table taken_index already exists"},
      {"CREATE INDEX ON t(v)", ""},
      {"SELECT v FROM t_v_idx_1_index", ""},
      {"CREATE TABLE IF NOT EXISTS t_v_idx_1_index (p int PRIMARY KEY)", ""},
      {"DELETE FROM t_v_idx_1_index WHERE v = 1", "Cannot directly modify a materialized view"},
      {"CREATE MATERIALIZED VIEW t_v_idx_1_index AS SELECT p FROM taken_index WHERE p IS NOT NULL "
       "PRIMARY KEY (p)",
       "Cannot add already existing table \"t_v_idx_1_index\" to keyspace \"k\""},
      {"ALTER TABLE t WITH gc_grace_seconds = 0",
       "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this "
       "value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause "
       "undelivered updates to expire before being replayed."},
      {"ALTER MATERIALIZED VIEW t_v_idx_1_index WITH gc_grace_seconds = 0",
       "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to TTL "
       "undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to "
       "expire before being replayed."},
      {"ALTER MATERIALIZED VIEW t_v_idx_1_index WITH default_time_to_live = 5",
       "Cannot set or alter default_time_to_live for a materialized view. Data in a materialized "
       "view always expire at the same time than the corresponding data in the parent table."},
      {"DROP TABLE IF EXISTS t_v_idx_1_index", "Cannot use DROP TABLE on Materialized View"},
      {"DROP MATERIALIZED VIEW IF EXISTS t_v_idx_1_index",
       "Cannot use DROP MATERIALIZED VIEW on Index"},
      {"BEGIN BATCH DELETE FROM t_v_idx_1_index WHERE v = 1 APPLY BATCH",
       "Cannot directly modify a materialized view"},
      {"DROP INDEX t_v_idx_1", ""},
      {"CREATE TABLE t_v_idx_1_index (p int PRIMARY KEY)", ""},
      {"DROP KEYSPACE k", ""},
      {"SELECT view_name FROM system.built_views WHERE keyspace_name = 'k'", ""},
  };
  for (const StatementCase& c : cases) EXPECT_EQ(Say(c.statement), c.answer) << c.statement;
}

// Source: ScyllaDB index/secondary_index.cc, serialize_targets; schema/schema.cc,
// describe_index_columns.
TEST_F(IndexViews, OfFrozenCollectionsAreOfTheWhole) {
  Say("CREATE TABLE f (p int, c int, b frozen<list<int>>, PRIMARY KEY (p, c))");
  Say("CREATE INDEX i ON f(FULL(b))");
  Say("CREATE INDEX j ON f((p), FULL(b))");
  EXPECT_EQ(Say("SELECT index_name, toJson(options) FROM system_schema.indexes WHERE keyspace_name "
                "= 'k' AND table_name = 'f'"),
            "i {\"target\": \"b\"}; "
            "j {\"target\": \"{\\\"pk\\\":[\\\"p\\\"],\\\"ck\\\":[\\\"b\\\"]}\"}");
  EXPECT_EQ(Say("DESCRIBE INDEX i"), "k index i_index CREATE INDEX i ON k.f(full(b));\n");
  EXPECT_EQ(Say("DESCRIBE INDEX j"), "k index j_index CREATE INDEX j ON k.f((p), full(b));\n");
  Say("INSERT INTO f (p, c, b) VALUES (1, 2, [3])");
  EXPECT_EQ(Say("SELECT p, c FROM i_index WHERE b = [3]"), "1 2");
  EXPECT_EQ(Say("SELECT c FROM j_index WHERE p = 1 AND b = [3]"), "2");
}

// What was prepared for a view is prepared again when its index is another one.
TEST_F(RowsOfIndexViews, OfStatementsThatWerePrepared) {
  const CqlStatement select{"SELECT * FROM i_index", {}, /*prepared=*/true};
  Say("CREATE INDEX i ON t(v)");
  EXPECT_EQ(Must(select).rows.at(0).size(), 6u);
  Say("DROP INDEX i");
  EXPECT_EQ(Refusal(select), "unconfigured table i_index");
  Say("CREATE INDEX i ON t(s)");
  EXPECT_EQ(Must(select).rows.at(0).size(), 4u);
}

TEST_F(IndexViews, AreAsAResetLeftThem) {
  Say("CREATE INDEX i ON t(v)");
  Say("INSERT INTO t (p, q, c, d, v) VALUES (1, 1, 1, 1, 10)");
  EXPECT_EQ(Say("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'"), "");
  EXPECT_EQ(Say("SELECT tables, rows FROM liststore.data"), "1 1");
  Say("INSERT INTO t (p, q, c, d, v) VALUES (1, 1, 1, 2, 10)");
  Say("CREATE INDEX j ON t(d)");
  EXPECT_EQ(Say("SELECT d FROM i_index WHERE v = 10"), "1; 2");
  EXPECT_EQ(Say("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'"), "");
  EXPECT_EQ(Say("SELECT d FROM i_index WHERE v = 10"), "1");
  EXPECT_EQ(Say("SELECT * FROM j_index"), "unconfigured table j_index");
}

// Source: ScyllaDB db/schema_applier.cc, do_merge_schema; transport/event_notifier.cc.
TEST_F(IndexViews, ListenersAreToldOfThem) {
  RawCqlClient listener(server_->cql_port());
  ASSERT_TRUE(listener.StartUp());
  ASSERT_TRUE(listener.Ask({.opcode = kRegister, .body = StringListBody({"SCHEMA_CHANGE"})}));
  const auto next = [&] {
    const auto event = listener.Read();
    EXPECT_TRUE(event && event->opcode == kEvent);
    const std::string& body = event->body;
    std::string words;
    for (size_t at = 0; at < body.size(); at += 2 + LoadBigEndian16(body.data() + at)) {
      words += (at == 0 ? "" : " ") + body.substr(at + 2, LoadBigEndian16(body.data() + at));
    }
    return words;
  };
  Say("CREATE INDEX i ON t(v)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE k i_index");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  // Those who listen hear of a view also where it stays as it was.
  Say("ALTER TABLE t ADD x int");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k i_index");
  Say("ALTER TABLE t ADD y int static");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  Say("CREATE MATERIALIZED VIEW w AS SELECT p, q, c, d FROM t WHERE d IS NOT NULL AND p IS NOT "
      "NULL AND q IS NOT NULL AND c IS NOT NULL PRIMARY KEY (d, p, q, c)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE k w");
  Say("ALTER TABLE t ADD (z int, y1 int static)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k i_index");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k w");
  Say("ALTER TABLE t ALTER v TYPE int");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k i_index");
  Say("DROP MATERIALIZED VIEW w");
  EXPECT_EQ(next(), "SCHEMA_CHANGE DROPPED TABLE k w");
  Say("ALTER TABLE t DROP x");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  Say("ALTER TABLE t WITH comment = 'x'");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  Say("ALTER TABLE t RENAME d TO dd");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k i_index");
  Say("ALTER MATERIALIZED VIEW i_index WITH comment = 'x'");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k i_index");
  Say("DROP INDEX i");
  EXPECT_EQ(next(), "SCHEMA_CHANGE DROPPED TABLE k i_index");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k t");
  // A type's tables and views change with it. Source: ScyllaDB cql3/statements/
  // alter_type_statement.cc, prepare_announcement_mutations.
  Say("CREATE TYPE y (a int)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TYPE k y");
  Say("CREATE TABLE u (p int PRIMARY KEY, y frozen<y>)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE k u");
  Say("CREATE MATERIALIZED VIEW b AS SELECT * FROM u WHERE p IS NOT NULL AND y IS NOT NULL "
      "PRIMARY KEY (p, y)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE k b");
  Say("CREATE INDEX i ON u((p), y)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE k i_index");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k u");
  Say("ALTER TYPE y ADD b int");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TYPE k y");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k u");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k b");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE k i_index");
  Say("DROP KEYSPACE k");
  for (const char* gone :
       {"TABLE k b", "TABLE k i_index", "TABLE k t", "TABLE k u", "TYPE k y", "KEYSPACE k"}) {
    EXPECT_EQ(next(), std::string("SCHEMA_CHANGE DROPPED ") + gone);
  }
}

// To a Cassandra an index is no table.
TEST_F(IndexViews, AreNotThereInCassandrasLook) {
  CqlServerOptions options;
  options.manual_clock = &clock_;
  options.looks_like_scylla = false;
  StartServer(options, "k");
  Say("USE k");
  Say("CREATE TABLE t (p int PRIMARY KEY, v int)");
  EXPECT_EQ(Say("CREATE INDEX i ON t(v)"), "");
  EXPECT_EQ(Say("SELECT * FROM i_index"), "unconfigured table i_index");
  EXPECT_EQ(Say("SELECT view_name FROM system_schema.views"), "");
  EXPECT_EQ(Say("SELECT view_name FROM system.built_views"), "");
  EXPECT_EQ(Say("SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'k' AND "
                "table_name = 'i_index'"),
            "");
  EXPECT_EQ(Say("DESCRIBE INDEX i"), "k index i CREATE INDEX i ON k.t(v);\n");
}

}  // namespace index_views_over_cql_test
}  // namespace liststore::testing
