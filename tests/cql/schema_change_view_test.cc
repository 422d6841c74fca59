// CREATE, ALTER and DROP MATERIALIZED VIEW, and what views forbid their tables.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "engine/cql/schema/create_statement.h"
#include "tests/cql/schema_changes.h"

namespace liststore::testing {
namespace schema_change_view_test {

using Kind = cql::SchemaChange::Kind;
using Action = SchemaAction::Kind;

class ViewTest : public SchemaChanges {
 protected:
  ViewTest() {
    Must(
        "CREATE TABLE t (p text, q int, c int, d timestamp, v text, w frozen<list<int>>, m "
        "map<int, "
        "int>, l duration, PRIMARY KEY ((p, q), c, d))");
  }
  void MakeView() {
    Must(
        "CREATE MATERIALIZED VIEW mv AS SELECT * FROM t WHERE v IS NOT NULL AND p IS NOT NULL AND "
        "q "
        "IS NOT NULL AND c > 5 AND d IS NOT NULL PRIMARY KEY ((v, q), d, p, c) WITH CLUSTERING "
        "ORDER BY (p DESC) AND comment = 'x' AND synchronous_updates = true");
  }
  // With all that every view of t needs.
  static std::string Create(const std::string& head, const std::string& key,
                            const std::string& more = "") {
    return head + " WHERE p IS NOT NULL AND q IS NOT NULL AND c IS NOT NULL AND d IS NOT NULL" +
           more + " PRIMARY KEY (" + key + ")";
  }
};

TEST_F(ViewTest, AViewIsATableOfItsColumns) {
  MakeView();
  const TableDefinition& view = Table("mv");
  ASSERT_TRUE(view.view.has_value());
  EXPECT_EQ(view.view->base, "t");
  EXPECT_EQ(view.view->base_id, Table("t").id);
  EXPECT_TRUE(view.view->all_columns);
  EXPECT_EQ(view.view->where,
            "v IS NOT null AND p IS NOT null AND q IS NOT null AND c > 5 AND d IS NOT null");
  EXPECT_EQ(Table("t").views, std::vector<std::string>{"mv"});
  EXPECT_EQ(view.storage.clustering.size(), 3u);
  const std::string text = cql::CreateViewText(view, false);
  EXPECT_EQ(
      text.substr(0, text.find(" (d ASC")),
      "CREATE MATERIALIZED VIEW ks.mv AS\n"
      "    SELECT v, q, d, p, c, l, m, w\n"
      "    FROM ks.t\n"
      "    WHERE v IS NOT null AND p IS NOT null AND q IS NOT null AND c > 5 AND d IS NOT null\n"
      "    PRIMARY KEY ((v, q), d, p, c)\n"
      "    WITH CLUSTERING ORDER BY");
  EXPECT_NE(text.find(" (d ASC, p DESC, c ASC)\n    AND bloom"), std::string::npos);
  Must("CREATE MATERIALIZED VIEW again" + text.substr(text.find(" AS\n")));
  EXPECT_EQ(Table("again").columns, view.columns);
  EXPECT_EQ(Table("again").view->where, view.view->where);
}

TEST_F(ViewTest, WhatIsToldAndDone) {
  const cql::SchemaChange created =
      Must(Create("CREATE MATERIALIZED VIEW mv AS SELECT w FROM t", "c, d, p, q"));
  EXPECT_EQ(created.kind, Kind::kCreated);
  EXPECT_EQ(created.table, "mv");
  ASSERT_EQ(created.actions.size(), 2u);
  EXPECT_EQ(created.actions[0].kind, Action::kCreateTable);
  EXPECT_EQ(created.actions[1].kind, Action::kFillView);
  EXPECT_EQ(Table("mv").CountOf(ColumnKind::kRegular), 1u);
  const cql::SchemaChange again =
      Must(Create("CREATE MATERIALIZED VIEW IF NOT EXISTS mv AS SELECT w FROM t", "c, d, p, q"));
  EXPECT_EQ(again.kind, Kind::kCreated);
  EXPECT_FALSE(again.alters_schema);
  const cql::SchemaChange altered = Must("ALTER MATERIALIZED VIEW mv WITH comment = 'y'");
  EXPECT_EQ(altered.kind, Kind::kUpdated);
  EXPECT_TRUE(altered.actions.empty());
  EXPECT_EQ(Table("mv").options.comment, "y");
  const cql::SchemaChange truncated = Must("TRUNCATE t");
  ASSERT_EQ(truncated.actions.size(), 2u);
  EXPECT_EQ(truncated.actions[1].table, "mv");
  const cql::SchemaChange dropped = Must("DROP MATERIALIZED VIEW mv");
  EXPECT_EQ(dropped.kind, Kind::kDropped);
  ASSERT_EQ(dropped.actions.size(), 2u);
  EXPECT_EQ(dropped.actions[0].kind, Action::kRenewTable);
  EXPECT_EQ(dropped.actions[1].kind, Action::kDropTable);
  EXPECT_TRUE(Table("t").views.empty());
  EXPECT_EQ(Must("DROP MATERIALIZED VIEW IF EXISTS mv").kind, Kind::kNothing);
}

TEST_F(ViewTest, Refusals) {
  Must("CREATE TABLE counted (p int PRIMARY KEY, n counter)");
  Must("CREATE TABLE graceless (p int PRIMARY KEY, v int) WITH gc_grace_seconds = 0");
  Must("CREATE TABLE shared (p int, c int, s int STATIC, v int, PRIMARY KEY (p, c))");
  MakeView();
  const std::string mv = "CREATE MATERIALIZED VIEW x AS SELECT ";
  const std::string no_ttl =
      "Cannot set or alter default_time_to_live for a materialized view. Data in a materialized "
      "view "
      "always expire at the same time than the corresponding data in the parent table.";
  for (
      const Refusal& refusal : std::initializer_list<Refusal>{
          {mv + "* FROM no PRIMARY KEY (p)", kInvalid, "unconfigured table no"},
          {"CREATE MATERIALIZED VIEW no.x AS SELECT * FROM t PRIMARY KEY (p)", kInvalid,
           "Keyspace no does not exist"},
          {mv + "* FROM system.local PRIMARY KEY (key)", kInvalid,
           "Cannot create a materialized view on a table in a separate keyspace ('system' != "
           "'ks')"},
          {"CREATE MATERIALIZED VIEW liststore.x AS SELECT * FROM list_items PRIMARY KEY (p)",
           kUnauthorized, "liststore keyspace is not user-modifiable."},
          {"CREATE MATERIALIZED VIEW \"a b\" AS SELECT * FROM t PRIMARY KEY (p)", kInvalid,
           "\"a b\" is not a valid materialized view name (must contain alphanumeric character "
           "only: "
           "[0-9A-Za-z] or the underscore)"},
          {"CREATE MATERIALIZED VIEW " + std::string(65'001, 'x') +
               " AS SELECT * FROM t PRIMARY KEY (p)",
           kInvalid, "Materialized view name of 65001 bytes; liststore has at most 65000"},
          {mv + "* FROM counted PRIMARY KEY (p)", kInvalid,
           "Materialized views are not supported on counter tables"},
          {mv + "* FROM mv PRIMARY KEY (p)", kInvalid,
           "Materialized views cannot be created against other materialized views"},
          {mv + "* FROM graceless WHERE v IS NOT NULL PRIMARY KEY (v, p)", kInvalid,
           "Cannot create materialized view 'x' for base table 'graceless' with gc_grace_seconds "
           "of "
           "0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too "
           "low "
           "might cause undelivered updates to expire before being replayed."},
          {mv + "v AS y FROM t PRIMARY KEY (p)", kInvalid,
           "Cannot use alias when defining a materialized view"},
          {mv + "count(*) FROM t PRIMARY KEY (p)", kInvalid,
           "Cannot use general expressions when defining a materialized view"},
          {mv + "nope FROM t PRIMARY KEY (p)", kInvalid,
           "Unknown column name detected in CREATE MATERIALIZED VIEW statement: nope"},
          {Create(mv + "* FROM t", "nope, p, q, c, d"), kInvalid,
           "Unknown column name detected in CREATE MATERIALIZED VIEW statement: nope"},
          {mv + "* FROM t WHERE nope IS NOT NULL PRIMARY KEY (p)", kInvalid,
           "Unrecognized name nope"},
          {Create(mv + "* FROM t", "p, p, q, c, d"), kInvalid,
           "Duplicate entry found in PRIMARY KEY: p"},
          {Create(mv + "* FROM t", "m, p, q, c, d"), kInvalid,
           "Cannot use MultiCell column 'm' in PRIMARY KEY of materialized view"},
          {Create(mv + "* FROM t", "l, p, q, c, d"), kInvalid,
           "Cannot use Duration column 'l' in PRIMARY KEY of materialized view"},
          {mv + "* FROM shared WHERE c IS NOT NULL AND s IS NOT NULL PRIMARY KEY (s, c, p)",
           kInvalid, "Cannot use Static column 's' in PRIMARY KEY of materialized view"},
          {mv + "* FROM shared WHERE c IS NOT NULL PRIMARY KEY (c, p)", kInvalid,
           "Unable to include static column 's' which would be included by Materialized View "
           "SELECT "
           "* statement"},
          {Create(mv + "* FROM t", "v, w, p, q, c, d", " AND v IS NOT NULL AND w IS NOT NULL"),
           kInvalid,
           "Cannot include more than one non-primary key column 'w' in materialized view primary "
           "key"},
          {Create(mv + "* FROM t", "v, p, q, c, d"), kInvalid,
           "Primary key column 'v' is required to be filtered by 'IS NOT NULL'"},
          {mv + "* FROM t WHERE p IS NOT NULL PRIMARY KEY (p, q)", kInvalid,
           "Primary key column 'q' is required to be filtered by 'IS NOT NULL'"},
          {Create(mv + "* FROM t", "p, c"), kInvalid,
           "Cannot create Materialized View x without primary key columns from base t (q, d)"},
          {Create(mv + "* FROM t", "p, q, c, d", " AND v = 'x'"), kInvalid,
           "Non-primary key columns cannot be restricted in the SELECT statement used for "
           "materialized view x creation (got restrictions on: v)"},
          {Create(mv + "* FROM t", "p, q, c, d") + " WITH CLUSTERING ORDER BY (p DESC)", kInvalid,
           "CLUSTERING ORDER BY lists p which is not a clustering column in the view"},
          {Create(mv + "* FROM t", "p, q, c, d") + " WITH default_time_to_live = 5", kInvalid,
           no_ttl},
          {Create(mv + "* FROM t", "p, q, c, d") + " WITH COMPACT STORAGE", kInvalid,
           "Cannot use 'COMPACT STORAGE' when defining a materialized view"},
          {Create(mv + "* FROM t", "p, q, c, d") + " WITH cdc = {'enabled': 'false'}", kInvalid,
           "Cannot enable CDC for a materialized view"},
          {Create("CREATE MATERIALIZED VIEW mv AS SELECT * FROM t", "p, q, c, d"), kAlreadyExists,
           "Cannot add already existing table \"mv\" to keyspace \"ks\""},
          {"ALTER MATERIALIZED VIEW t WITH comment = 'x'", kInvalid,
           "Cannot use ALTER MATERIALIZED VIEW on Table"},
          {"ALTER MATERIALIZED VIEW no WITH comment = 'x'", kInvalid, "unconfigured table no"},
          {"ALTER MATERIALIZED VIEW mv WITH default_time_to_live = 5", kInvalid, no_ttl},
          {"ALTER MATERIALIZED VIEW mv WITH gc_grace_seconds = 0", kInvalid,
           "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to "
           "TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered "
           "updates to expire before being replayed."},
          {"DROP MATERIALIZED VIEW t", kInvalid, "Cannot use DROP MATERIALIZED VIEW on Table"},
          {"DROP MATERIALIZED VIEW no", kConfig,
           "Cannot drop non existing materialized view 'no' in keyspace 'ks'."},
          {"DROP TABLE mv", kInvalid, "Cannot use DROP TABLE on Materialized View"},
          {"DROP TABLE t", kInvalid,
           "Cannot drop table when materialized views still depend on it (ks.{mv})"},
          {"TRUNCATE mv", kInvalid,
           "Cannot TRUNCATE materialized view directly; must truncate base table instead"},
          {"CREATE INDEX ON mv(w)", kInvalid,
           "Secondary indexes are not supported on materialized views"},
          {"ALTER TABLE mv ADD y int", kInvalid, "Cannot use ALTER TABLE on Materialized View"},
          {"ALTER TABLE t DROP w", kInvalid,
           "Cannot drop column w from base table ks.t: materialized view mv needs this column"},
          {"ALTER TABLE t WITH gc_grace_seconds = 0", kInvalid,
           "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since "
           "this "
           "value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause "
           "undelivered updates to expire before being replayed."},
          {"ALTER TABLE t ALTER d TYPE bigint", kConfig,
           "Cannot change d from type timestamp to type bigint: types are not order-compatible."},
      }) {
    ExpectRefused(refusal);
  }
}

TEST_F(ViewTest, NothingIsAlteredThatTheirWhereNeeds) {
  Must("CREATE TYPE pair (a int, b int)");
  Must("CREATE TABLE u (p int, c frozen<pair>, v int, PRIMARY KEY (p, c))");
  Must(
      "CREATE MATERIALIZED VIEW by_v AS SELECT * FROM u WHERE v > 5 AND p IS NOT NULL AND c IS NOT "
      "NULL PRIMARY KEY ((v, p), c)");
  Must(
      "CREATE MATERIALIZED VIEW by_c AS SELECT * FROM u WHERE c = {a: 1, b: 2} AND p IS NOT NULL "
      "PRIMARY KEY (p, c)");
  ExpectRefused({"ALTER TABLE u ALTER v TYPE blob", kInvalid,
                 "Cannot alter table ks.u: the WHERE of materialized view by_v would be wrong: "
                 "Invalid INTEGER constant (5) for \"v\" of type blob"});
  ExpectRefused({"ALTER TYPE pair RENAME a TO x", kInvalid,
                 "Cannot alter type ks.pair: the WHERE of materialized view by_c would be wrong: "
                 "Unknown field 'a' in value of user defined type pair"});
  Must("ALTER TABLE u ALTER v TYPE varint");
  Must("ALTER TYPE pair ADD z int");
  EXPECT_TRUE(Table("by_v").FindColumn("v")->type.is(CqlType::kVarint));
  Must("DROP MATERIALIZED VIEW by_c");
  Must("ALTER TYPE pair RENAME a TO x");
}

TEST_F(ViewTest, ViewsChangeWithTheirTables) {
  MakeView();
  Must(Create("CREATE MATERIALIZED VIEW few AS SELECT w FROM t", "v, c, d, p, q",
              " AND v IS NOT NULL"));
  const cql::SchemaChange added = Must("ALTER TABLE t ADD (a int, b set<int>)");
  EXPECT_EQ(added.views, (std::vector<std::string>{"few", "mv"}))
      << "those who listen hear of both";
  ASSERT_EQ(added.actions.size(), 2u) << "together, the table and the view that has all columns";
  EXPECT_EQ(added.actions[0].kind, Action::kRebuildTable);
  EXPECT_EQ(added.actions[1].kind, Action::kRebuildTable);
  EXPECT_NE(Table("mv").FindColumn("b"), nullptr);
  EXPECT_EQ(Table("few").FindColumn("b"), nullptr);
  Must("ALTER TABLE t RENAME q TO \"Q\"");
  EXPECT_EQ(Table("mv").view->where,
            "v IS NOT null AND p IS NOT null AND \"Q\" IS NOT null AND c > 5 AND d IS NOT null");
  EXPECT_NE(Table("few").FindColumn("Q"), nullptr);
  Must("DROP MATERIALIZED VIEW mv");
  // The key's cell decides how long its rows live; other columns are not needed.
  Must("ALTER TABLE t DROP a");
  ExpectRefused({"ALTER TABLE t ALTER v TYPE int", kConfig,
                 "Cannot change v from type text to type int: types are incompatible."});
  Must("ALTER TABLE t ALTER v TYPE blob");
  EXPECT_TRUE(Table("few").FindColumn("v")->type.is(CqlType::kBlob));
  const cql::SchemaChange gone = Must("DROP KEYSPACE ks");
  EXPECT_EQ(gone.actions.size(), 2u);
}

}  // namespace schema_change_view_test
}  // namespace liststore::testing
