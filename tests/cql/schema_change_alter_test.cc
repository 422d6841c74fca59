// ALTER TABLE: what it does and what it is refused with.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/schema_actions.h"
#include "gtest/gtest.h"
#include "tests/cql/schema_changes.h"

namespace liststore::testing {
namespace schema_change_alter_test {

using ActionKind = SchemaAction::Kind;
using Kind = cql::SchemaChange::Kind;

class AlterTableTest : public SchemaChanges {
 protected:
  AlterTableTest() { Must("CREATE TABLE t (p text, c text, b int, d blob, PRIMARY KEY (p, c))"); }
};

TEST_F(AlterTableTest, AddPutsColumnsIntoTheirOrderAndMovesTheCells) {
  const Uuid id = Table("t").id;
  const cql::SchemaChange change = Must("ALTER TABLE t ADD (a bigint, c2 text)");
  EXPECT_EQ(change.kind, Kind::kUpdated);
  EXPECT_EQ(change.target, cql::SchemaChange::Target::kTable);
  ASSERT_EQ(change.actions.size(), 1u);
  // b and d were 0 and 1; a, b, c2, d are 0 to 3.
  EXPECT_EQ(change.actions[0],
            (SchemaAction{ActionKind::kRebuildTable, "ks", "t", {{ColumnId{1}, ColumnId{3}}, {}}}));
  EXPECT_EQ(Table("t").FindColumn("d")->position, 3);
  EXPECT_EQ(Table("t").id, id) << "it is the same table";
}

TEST_F(AlterTableTest, DropLeavesTheCellsBehind) {
  const cql::SchemaChange change = Must("ALTER TABLE t DROP b");
  EXPECT_EQ(change.actions.at(0), (SchemaAction{ActionKind::kRebuildTable,
                                                "ks",
                                                "t",
                                                {{std::nullopt, ColumnId{0}}, {}},
                                                {{"b", false, 0, false, 1000}}}))
      << "but for those of a time to come";
  EXPECT_EQ(Table("t").FindColumn("b"), nullptr);
  Must("ALTER TABLE t DROP (d)");
  EXPECT_TRUE(Table("t").storage.regular.empty());
}

TEST_F(AlterTableTest, RenameIsOfKeyColumnsAndNeedsNothingOfStorage) {
  const cql::SchemaChange change = Must("ALTER TABLE t RENAME p TO pp AND c TO cc");
  EXPECT_EQ(change.kind, Kind::kUpdated);
  EXPECT_TRUE(change.actions.empty());
  EXPECT_EQ(Table("t").columns[0].name, "pp");
  EXPECT_EQ(Table("t").storage.clustering[0].name, "cc");
}

TEST_F(AlterTableTest, OptionsKeepWhatIsNotGiven) {
  Must("ALTER TABLE t WITH comment = 'x' AND gc_grace_seconds = 5");
  const cql::SchemaChange change = Must("ALTER TABLE t WITH default_time_to_live = 60");
  EXPECT_EQ(change.actions.at(0), (SchemaAction{ActionKind::kRetimeTable, "ks", "t", {}}));
  EXPECT_EQ(Table("t").options.comment, "x");
  EXPECT_EQ(Table("t").storage.gc_grace_seconds, 5);
  EXPECT_EQ(Table("t").storage.default_ttl_seconds, 60);
  EXPECT_TRUE(Must("ALTER TABLE t WITH comment = 'y'").actions.empty());
}

// Source: ScyllaDB types/types.cc, is_compatible_with and is_value_compatible_with.
TEST_F(AlterTableTest, TypesWithPartsWidenInThem) {
  Must("CREATE TYPE pair (a int, b int)");
  Must("CREATE TYPE triple (x int, y int, z text)");
  struct Row {
    std::string before;
    std::string after;
    bool taken;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"tuple<int, int>", "tuple<int, int, text>", true},
           {"tuple<int, int, text>", "tuple<int, int>", false},
           {"tuple<int, int>", "tuple<int, text>", false},
           {"tuple<int>", "tuple<varint, text>", true},
           {"tuple<int>", "blob", true},
           {"list<int>", "blob", false},
           {"frozen<list<int>>", "blob", true},
           {"list<int>", "list<varint>", true},
           {"frozen<list<int>>", "frozen<list<varint>>", true},
           {"set<ascii>", "set<text>", true},
           {"set<int>", "set<varint>", false},
           {"map<ascii, int>", "map<text, varint>", true},
           {"map<int, int>", "map<varint, int>", false},
           {"list<int>", "set<int>", false},
           {"list<int>", "frozen<list<int>>", false},
           {"frozen<pair>", "frozen<triple>", true},
           {"pair", "triple", true},
           {"frozen<triple>", "frozen<pair>", false},
           {"pair", "frozen<triple>", false},
           {"frozen<tuple<int, int>>", "frozen<triple>", false},
           {"frozen<pair>", "frozen<tuple<int, int, text>>", true},
           {"smallint", "varint", true},
       }) {
    Must("CREATE TABLE u (p int PRIMARY KEY, v " + row.before + ")");
    const cql::CqlOr<cql::SchemaChange> change = Run("ALTER TABLE u ALTER v TYPE " + row.after);
    EXPECT_EQ(change.ok(), row.taken) << row.before << " -> " << row.after;
    Must("DROP TABLE u");
  }
}

TEST_F(AlterTableTest, KeysWithMorePartsAreThoseOfAnotherTable) {
  Must("CREATE TABLE u (p int, c frozen<tuple<int>>, PRIMARY KEY (p, c))");
  const cql::SchemaChange change = Must("ALTER TABLE u ALTER c TYPE frozen<tuple<int, text>>");
  EXPECT_EQ(change.actions.at(0).kind, ActionKind::kRebuildTable);
  ExpectRefused({"ALTER TABLE u ALTER c TYPE frozen<tuple<varint, text, int>>", kConfig,
                 "Cannot change c from type frozen<tuple<int, text>> to type "
                 "frozen<tuple<varint, text, int>>: types are not order-compatible."});
}

// Source: ScyllaDB cql3/statements/alter_table_statement.cc, drop_column.
TEST_F(AlterTableTest, ADropAsOfATimeKeepsWhatWasWrittenLater) {
  drop_micros_ = 700;
  const cql::SchemaChange drop = Must("ALTER TABLE t DROP (b, d) USING TIMESTAMP 700");
  EXPECT_EQ(Table("t").dropped.at("b").at_micros, 700);
  ASSERT_EQ(drop.actions.size(), 1u);
  EXPECT_EQ(drop.actions[0].keeps,
            (std::vector<ColumnToKeep>{{"b", false, 0, false, 700}, {"d", false, 1, false, 700}}));
  drop_micros_ = std::nullopt;
  // As storage does.
  auto kept = std::make_shared<KeptCells>();
  kept->parts.push_back(std::make_shared<const KeptPart>(KeptPart{nullptr, {KeptCell()}}));
  TableDefinition table = Table("t");
  table.dropped.at("b").kept = kept;
  table.dropped.at("d").kept = kept;
  KeyspaceDefinition keyspace = *schema_.FindKeyspace("ks");
  keyspace.tables["t"] = std::make_shared<TableDefinition>(table);
  schema_.keyspaces["ks"] = std::make_shared<KeyspaceDefinition>(keyspace);

  const cql::SchemaChange add = Must("ALTER TABLE t ADD (a text, b varint)");
  EXPECT_EQ(add.actions.at(0).restores, (std::vector<ColumnToRestore>{{1, kept}}));
  EXPECT_EQ(Table("t").dropped.at("b").kept, nullptr);
  EXPECT_TRUE(Must("ALTER TABLE t ADD d int").actions.at(0).restores.empty()) << "a blob is no int";
  table = Table("t");
  table.dropped.at("b").kept = kept;
  keyspace = *schema_.FindKeyspace("ks");
  keyspace.tables["t"] = std::make_shared<TableDefinition>(table);
  schema_.keyspaces["ks"] = std::make_shared<KeyspaceDefinition>(keyspace);
  EXPECT_TRUE(Must("TRUNCATE t").alters_schema);
  EXPECT_EQ(Table("t").dropped.at("b").kept, nullptr) << "it is gone with the rest";
}

TEST_F(AlterTableTest, TypesWidenWhereValuesStayValid) {
  EXPECT_TRUE(Must("ALTER TABLE t ALTER b TYPE varint").actions.empty());
  EXPECT_TRUE(Table("t").FindColumn("b")->type.is(CqlType::kVarint));
  Must("ALTER TABLE t ALTER p TYPE blob");
  EXPECT_EQ(Must("ALTER TABLE t ALTER c TYPE blob").actions.at(0).kind, ActionKind::kRebuildTable)
      << "item keys are packed in text columns alone";
  Must("ALTER TABLE t ALTER d TYPE blob");
}

TEST_F(AlterTableTest, Refusals) {
  Must("CREATE INDEX by_b ON t((p), b)");
  Must("CREATE TABLE single (p int PRIMARY KEY)");
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"ALTER TABLE no ADD a int", kInvalid, "unconfigured table no"},
           {"ALTER TABLE no.t ADD a int", kInvalid, "Keyspace no does not exist"},
           {"ALTER TABLE system.local ADD a int", kUnauthorized,
            "system keyspace is not user-modifiable."},
           {"ALTER TABLE by_b_index ADD a int", kInvalid,
            "Cannot use ALTER TABLE on Materialized View"},
           {"ALTER TABLE t ADD p int", kInvalid,
            "Invalid column name p because it conflicts with a PRIMARY KEY part"},
           {"ALTER TABLE t ADD b int", kInvalid,
            "Invalid column name b because it conflicts with an existing column"},
           {"ALTER TABLE t ADD (x int, x int)", kInvalid,
            "Invalid column name x because it conflicts with an existing column"},
           {"ALTER TABLE single ADD s int static", kInvalid,
            "Static columns are only useful (and thus allowed) if the table has at least one "
            "clustering column"},
           {"ALTER TABLE t ADD n counter", kConfig,
            "Cannot add a counter column (n) in a non counter column family"},
           {"ALTER TABLE t ADD l map<frozen<tuple<duration>>, int>", kInvalid,
            cql::CqlError::Unsupported(cql::CqlFeature::kDurationKeys,
                                       "l map<frozen<tuple<duration>>, int>")
                .message},
           {"ALTER TABLE t ADD l set<list<int>>", kInvalid,
            "Non-frozen user types or collections are not allowed inside collections: "
            "set<list<int>>"},
           {"ALTER TABLE t DROP x", kInvalid, "Column x was not found in table t"},
           {"ALTER TABLE t DROP c", kInvalid, "Cannot drop PRIMARY KEY part c"},
           {"ALTER TABLE t DROP b", kInvalid,
            "Cannot drop column b from base table ks.t: materialized view by_b_index needs this "
            "column"},
           {"ALTER TABLE t RENAME x TO y", kInvalid, "Cannot rename unknown column x in table t"},
           {"ALTER TABLE t RENAME p TO c", kInvalid,
            "Cannot rename column p to c in table t; another column of that name already exist"},
           {"ALTER TABLE t RENAME b TO y", kInvalid, "Cannot rename non PRIMARY KEY part b"},
           {"ALTER TABLE t ALTER x TYPE int", kInvalid, "Column x was not found in table t"},
           {"ALTER TABLE t ALTER d TYPE int", kConfig,
            "Cannot change d from type blob to type int: types are incompatible."},
           {"ALTER TABLE t ALTER c TYPE int", kConfig,
            "Cannot change c from type text to type int: types are not order-compatible."},
           {"ALTER TABLE t ALTER b TYPE varint", kConfig,
            "Cannot change b from type int to type varint: types are not order-compatible."},
           {"ALTER TABLE t WITH id = '5a1c395e-b41f-11e5-9f22-ba0be0483c18'", kConfig,
            "Cannot alter table id."},
           {"ALTER TABLE t WITH foo = 1", kSyntax, "Unknown property 'foo'"},
       }) {
    ExpectRefused(refusal);
  }
}

TEST_F(AlterTableTest, ColumnsThatWereDroppedAreRemembered) {
  Must("CREATE TYPE part (a int, b text)");
  Must("ALTER TABLE t ADD (l list<ascii>, s set<frozen<part>>, u part)");
  Must("ALTER TABLE t DROP b");
  EXPECT_EQ(Table("t").dropped.at("b"), (DroppedColumn{CqlType::kInt, 1000}));
  now_micros_ = 2000;
  Must("ALTER TABLE t ADD b text");
  EXPECT_EQ(Table("t").dropped.at("b"), (DroppedColumn{CqlType::kInt, 1000}));
  Must("ALTER TABLE t DROP (b, l, s, u)");
  EXPECT_EQ(Table("t").dropped.at("b"), (DroppedColumn{CqlType::kText, 2000}));
  EXPECT_EQ(Table("t").dropped.at("s").type.ToString(), "set<frozen<tuple<int, text>>>");
  EXPECT_EQ(Table("t").dropped.at("u").type.ToString(), "frozen<tuple<int, text>>");
  Must("ALTER TABLE t RENAME c TO cc");
  EXPECT_EQ(Table("t").dropped.size(), 4u);
}

TEST_F(AlterTableTest, ColumnsThatWereDroppedComeAgainWithATypeThatFits) {
  Must("CREATE TYPE part (a int)");
  Must(
      "CREATE TABLE again (p int PRIMARY KEY, v int, l list<ascii>, s set<frozen<part>>, "
      "m map<ascii, int>, f frozen<list<int>>)");
  Must("ALTER TABLE again DROP (l, s, m, f)");
  Must("ALTER TYPE part ADD b int");
  const auto refused = [](const std::string& name, const std::string& type) {
    return Refusal{"ALTER TABLE again ADD " + name + " " + type, kInvalid,
                   "Cannot add a collection with the name " + name +
                       " because a collection with the same name and a different type has already "
                       "been used in the past"};
  };
  ExpectRefused(refused("l", "list<int>"));
  ExpectRefused(refused("l", "set<ascii>"));
  ExpectRefused(refused("s", "set<int>"));
  ExpectRefused(refused("m", "map<int, int>"));
  ExpectRefused(refused("m", "map<ascii, bigint>"));
  // Another text of the same order, a type with more fields, one cell where there were several,
  // several where there was one.
  Must(
      "ALTER TABLE again ADD (l list<text>, s set<frozen<part>>, m frozen<map<int, int>>, "
      "f set<text>)");
  Must("CREATE TABLE counts (p int PRIMARY KEY, n counter, o counter)");
  Must("ALTER TABLE counts DROP n");
  ExpectRefused({"ALTER TABLE counts ADD n counter", kInvalid,
                 "Cannot re-add previously dropped counter column n"});
}

TEST_F(AlterTableTest, TablesOfTheListStoreHaveOptionsAlone) {
  EXPECT_EQ(Must("ALTER TABLE liststore.list_items WITH default_time_to_live = 9").kind,
            Kind::kUpdated);
  EXPECT_EQ(schema_.FindTable("liststore", "list_items")->storage.default_ttl_seconds, 9);
  ExpectRefused({"ALTER TABLE liststore.list_items ADD a int", kInvalid,
                 "Cannot alter columns of table liststore.list_items: it belongs to the list "
                 "store"});
  ExpectRefused({"ALTER TABLE liststore.list_features WITH comment = 'x'", kInvalid,
                 "Cannot alter table liststore.list_features: it belongs to the list store"});
}

}  // namespace schema_change_alter_test
}  // namespace liststore::testing
