// Tables WITH COMPACT STORAGE: what they may have, what is refused of them, and how the schema
// tables and DESCRIBE show them.
#include <gtest/gtest.h>

#include <string>

#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace compact_storage_test {

class CompactStorageTest : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    // Sparse; dense of one clustering column, of two, and without a value.
    Must("CREATE TABLE sparse (p int PRIMARY KEY, alpha int, beta_ int) WITH COMPACT STORAGE");
    Must("CREATE TABLE dense (p int, c int, v int, PRIMARY KEY (p, c)) WITH COMPACT STORAGE");
    Must(
        "CREATE TABLE two (p int, c int, d int, v int, PRIMARY KEY (p, c, d)) WITH COMPACT "
        "STORAGE AND CLUSTERING ORDER BY (c DESC, d ASC)");
    Must("CREATE TABLE bare (p int, c int, PRIMARY KEY (p, c)) WITH COMPACT STORAGE");
  }
};

TEST_F(CompactStorageTest, WhatIsRefused) {
  struct Case {
    const char* statement;
    const char* error;
  };
  // Sources: ScyllaDB cql3/statements/create_table_statement.cc (raw_statement::prepare),
  // alter_table_statement.cc (prepare_schema_mutations, add_column), create_index_statement.cc
  // (validate_while_executing), update_statement.cc (add_update_for_key), delete_statement.cc
  // (prepare_internal).
  const Case cases[] = {
      {"CREATE TABLE x (p int PRIMARY KEY) WITH COMPACT STORAGE",
       "No definition found that is not part of the PRIMARY KEY"},
      {"CREATE TABLE x (p int PRIMARY KEY, l list<int>) WITH COMPACT STORAGE",
       "Non-frozen collections and UDTs are not supported with COMPACT STORAGE"},
      {"CREATE TABLE x (p int, c int, l set<int>, PRIMARY KEY (p, c)) WITH COMPACT STORAGE",
       "Non-frozen collections and UDTs are not supported with COMPACT STORAGE"},
      {"CREATE TABLE x (p int, c int, s int static, PRIMARY KEY (p, c)) WITH COMPACT STORAGE",
       "Static columns are not supported in COMPACT STORAGE tables"},
      {"CREATE TABLE x (p int, c int, w int, v int, PRIMARY KEY (p, c)) WITH COMPACT STORAGE",
       "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the "
       "PRIMARY KEY (got: v, w)"},
      {"ALTER TABLE dense ADD w int", "Cannot add new column to a COMPACT STORAGE table"},
      {"ALTER TABLE bare ADD w int", "Cannot add new column to a COMPACT STORAGE table"},
      {"ALTER TABLE sparse ADD s int static",
       "Static columns are not allowed in COMPACT STORAGE tables"},
      {"ALTER TABLE sparse ADD l list<int>",
       "Cannot use non-frozen collections with a non-composite PRIMARY KEY"},
      {"ALTER TABLE sparse DROP alpha", "Cannot drop columns from a non-CQL3 table"},
      {"ALTER TABLE dense DROP v", "Cannot drop columns from a non-CQL3 table"},
      // Cql.g, alterTableStatement: there is no such statement.
      {"ALTER TABLE dense DROP COMPACT STORAGE", "line 1:31 : Unexpected 'STORAGE'"},
      {"ALTER TABLE dense DROP COMPACT", "Cannot drop columns from a non-CQL3 table"},
      {"CREATE INDEX ON dense(v)",
       "Secondary indexes are not supported on COMPACT STORAGE tables that have clustering "
       "columns"},
      {"INSERT INTO dense (p, c) VALUES (1, 1)",
       "Column v is mandatory for this COMPACT STORAGE table"},
      {"DELETE FROM dense WHERE p = 1 AND c > 1",
       "Range deletions on \"compact storage\" schemas are not supported"},
  };
  for (const Case& row : cases) EXPECT_EQ(Say(row.statement), row.error) << row.statement;
  Must("ALTER TABLE sparse ADD d int");
  Must("CREATE INDEX ON sparse(alpha)");
  Must("ALTER TABLE dense RENAME c TO k");
  Must("ALTER TABLE dense WITH comment = 'x'");
  Must("DELETE FROM two WHERE p = 1 AND c > 1");
}

// Source: ScyllaDB cql3/statements/update_statement.cc, add_update_for_key: there are no markers.
TEST_F(CompactStorageTest, RowsLiveByTheirValues) {
  Must("INSERT INTO dense (p, c, v) VALUES (1, 1, 5)");
  Must("INSERT INTO dense (p, c, v) VALUES (1, 2, 6)");
  Must("UPDATE dense SET v = null WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT * FROM dense"), "1 2 6");
  Must("DELETE v FROM dense WHERE p = 1 AND c = 2");
  EXPECT_EQ(Say("SELECT * FROM dense"), "");
  Must("INSERT INTO sparse (p, alpha) VALUES (1, 2)");
  Must("UPDATE sparse SET alpha = null WHERE p = 1");
  EXPECT_EQ(Say("SELECT * FROM sparse"), "");
  Must("INSERT INTO bare (p, c) VALUES (1, 2)");
  EXPECT_EQ(Say("SELECT * FROM bare"), "1 2");
  Must("DELETE FROM bare WHERE p = 1 AND c = 2");
  EXPECT_EQ(Say("SELECT * FROM bare"), "");
  Must("INSERT INTO two (p, c, d, v) VALUES (1, 1, 1, 7)");
  Must("INSERT INTO two (p, c, d, v) VALUES (1, 2, 1, 8)");
  EXPECT_EQ(Say("SELECT c, v FROM two WHERE p = 1"), "2 8; 1 7");
}

// Sources: ScyllaDB db/schema_tables.cc, add_table_or_view_to_schema_mutation; schema/schema.cc,
// v3_columns::from_v2_schema, prepare_dense_schema.
TEST_F(CompactStorageTest, SchemaTables) {
  const auto flags = [&](const std::string& table) {
    return Say(
        "SELECT JSON flags FROM system_schema.tables WHERE keyspace_name = 'k' AND "
        "table_name = '" +
        table + "'");
  };
  EXPECT_EQ(flags("sparse"), R"({"flags": []})");
  EXPECT_EQ(flags("dense"), R"({"flags": ["dense"]})");
  EXPECT_EQ(flags("two"), R"({"flags": ["compound", "dense"]})");
  EXPECT_EQ(flags("bare"), R"({"flags": ["dense"]})");
  const auto columns = [&](const std::string& table) {
    return Say(
        "SELECT column_name, kind, type FROM system_schema.columns WHERE keyspace_name = "
        "'k' AND table_name = '" +
        table + "'");
  };
  // Texts of four and eight bytes read as numbers.
  EXPECT_NE(columns("sparse").find("column1 clustering"), std::string::npos);
  EXPECT_NE(columns("sparse").find("alpha static int"), std::string::npos);
  EXPECT_NE(columns("bare").find("value"), std::string::npos);
  EXPECT_NE(columns("bare").find("empty"), std::string::npos);
  EXPECT_EQ(columns("dense").find("value"), std::string::npos);
}

// Source: ScyllaDB schema/schema.cc, schema::describe.
TEST_F(CompactStorageTest, Describe) {
  const CqlAnswer answer = Must("DESCRIBE TABLE two");
  ASSERT_EQ(answer.rows.size(), 1u);
  const std::string text = answer.rows[0].back().value_or("");
  EXPECT_NE(text.find("CLUSTERING ORDER BY (c DESC, d ASC)\n    AND COMPACT STORAGE\n    AND "),
            std::string::npos)
      << text;
}

}  // namespace compact_storage_test
}  // namespace liststore::testing
