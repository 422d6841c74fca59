// CREATE, ALTER and DROP TYPE: what becomes of the schema, and what is refused in which words.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "engine/cql/schema/create_statement.h"
#include "engine/cql/schema/schema_change.h"
#include "engine/model/schema_difference.h"
#include "tests/cql/schema_changes.h"

namespace liststore {
namespace user_types_test {

using testing::Refusal;

class UserTypesTest : public testing::SchemaChanges {
 protected:
  const DataType& Type(std::string_view name) {
    return schema_.FindKeyspace("ks")->types.find(name)->second;
  }
  std::string ColumnType(std::string_view table, std::string_view column) {
    return Table(table).FindColumn(column)->type.ToString();
  }
};

TEST_F(UserTypesTest, ATypeIsOfItsKeyspace) {
  const cql::SchemaChange change =
      Must("CREATE TYPE address (street text, \"No\" int, tags set<text>)");
  EXPECT_EQ(change.kind, cql::SchemaChange::Kind::kCreated);
  EXPECT_EQ(change.target, cql::SchemaChange::Target::kType);
  EXPECT_EQ(change.keyspace + "." + change.type, "ks.address");
  EXPECT_TRUE(change.alters_schema);
  EXPECT_TRUE(change.actions.empty()) << "storage has nothing to do";
  EXPECT_EQ(
      cql::CreateTypeText(Type("address")),
      "CREATE TYPE ks.address (\n    street text,\n    \"No\" int,\n    tags set<text>\n);\n");
  EXPECT_FALSE(Must("CREATE TYPE IF NOT EXISTS address (a int)").alters_schema);
  EXPECT_EQ(Type("address").parameters().size(), 3u) << "it stays as it is";

  Must("CREATE TABLE t (p frozen<address> PRIMARY KEY, l frozen<list<address>>)");
  EXPECT_EQ(ColumnType("t", "p"), "frozen<address>");
  EXPECT_EQ(ColumnType("t", "l"), "frozen<list<frozen<address>>>");
  EXPECT_TRUE(Table("t").FindColumn("p")->type.parameters()[2].is_frozen()) << "and what is in it";
}

TEST_F(UserTypesTest, AChangeReachesWhereverTheTypeIsUsed) {
  Must("CREATE TYPE inner (a int)");
  Must("CREATE TYPE outer (i frozen<inner>, l frozen<list<inner>>)");
  Must("CREATE TABLE t (p int, c frozen<outer>, v tuple<int, frozen<inner>>, PRIMARY KEY (p, c))");
  const cql::SchemaChange change = Must("ALTER TYPE inner ADD b text");
  EXPECT_EQ(change.kind, cql::SchemaChange::Kind::kUpdated);
  ASSERT_EQ(change.actions.size(), 1u) << "rows are ordered by it";
  EXPECT_EQ(change.actions[0],
            (SchemaAction{SchemaAction::Kind::kRebuildTable, "ks", "t", {{ColumnId{0}}, {}}}));
  const DataType& inner = Type("inner");
  EXPECT_EQ(inner.parameters().size(), 2u);
  EXPECT_EQ(Type("outer").parameters()[0], DataType::Frozen(inner));
  const DataType& key = Table("t").FindColumn("c")->type;
  EXPECT_EQ(key.parameters()[1].parameters()[0], DataType::Frozen(inner));
  EXPECT_EQ(Table("t").storage.clustering[0].type, key) << "rows are ordered by it";
  EXPECT_EQ(Table("t").FindColumn("v")->type.parameters()[1], DataType::Frozen(inner));
  Must("ALTER TYPE inner RENAME a TO aa AND b TO bb");
  EXPECT_EQ(Type("inner").user().fields, (std::vector<std::string>{"aa", "bb"}));
  EXPECT_EQ(Table("t").FindColumn("v")->type.parameters()[1].user().fields,
            Type("inner").user().fields);
  Must("ALTER TYPE inner ALTER bb TYPE blob");
  EXPECT_EQ(Type("inner").parameters()[1].ToString(), "blob");
}

TEST_F(UserTypesTest, ATypeGoesWhenNothingUsesIt) {
  Must("CREATE TYPE a (x int)");
  Must("CREATE TYPE b (a frozen<a>)");
  Must("CREATE TABLE t (p int PRIMARY KEY, v frozen<map<int, b>>)");
  ExpectRefused(
      {"DROP TYPE a", kInvalid, "Cannot drop user type ks.a as it is still used by user type b"});
  ExpectRefused(
      {"DROP TYPE b", kInvalid, "Cannot drop user type ks.b as it is still used by table ks.t"});
  Must("DROP TABLE t");
  // Source: ScyllaDB cql3/statements/drop_type_statement.cc, validate_while_executing.
  EXPECT_EQ(Must("DROP TYPE IF EXISTS nowhere.t").kind, cql::SchemaChange::Kind::kNothing);
  ExpectRefused({"DROP TYPE nowhere.t", kInvalid, "Cannot drop type in unknown keyspace nowhere"});
  EXPECT_EQ(Must("DROP TYPE b").kind, cql::SchemaChange::Kind::kDropped);
  Must("DROP TYPE a");
  EXPECT_TRUE(schema_.FindKeyspace("ks")->types.empty());
  EXPECT_EQ(Must("DROP TYPE IF EXISTS a").kind, cql::SchemaChange::Kind::kNothing);
}

TEST_F(UserTypesTest, Refusals) {
  Must("CREATE TYPE t1 (a int, b text)");
  Must("CREATE TYPE t2 (t frozen<t1>)");
  Must("CREATE TABLE keyed (p frozen<t2> PRIMARY KEY)");
  Must("CREATE TYPE t3 (a int)");
  Must("CREATE TABLE sorted (p int, c frozen<t3>, PRIMARY KEY (p, c))");
  Must("CREATE TYPE nesting (l list<int>)");
  Must("CREATE TYPE t4 (a int)");
  Must("CREATE TABLE parts (p int PRIMARY KEY, v t4)");
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"CREATE TYPE t1 (x int)", kInvalid, "A user type of name ks.t1 already exists"},
           {"CREATE TYPE x (a int, a text)", kInvalid, "Duplicate field name 61 in type x"},
           {"CREATE TYPE x (c counter)", kInvalid, "A user type cannot contain counters"},
           {"CREATE TYPE x (a t1)", kInvalid,
            "A user type cannot contain non-frozen user type fields"},
           {"CREATE TYPE x (a frozen<y>)", kInvalid, "Unknown type ks.y"},
           {"CREATE TYPE nowhere.x (a int)", kInvalid,
            "Cannot add type in unknown keyspace nowhere"},
           {"CREATE TYPE system.x (a int)", kUnauthorized,
            "system keyspace is not user-modifiable."},
           {"ALTER TYPE x ADD a int", kInvalid, "No user type named ks.x exists."},
           {"ALTER TYPE nowhere.x ADD a int", kInvalid,
            "Cannot alter type in unknown keyspace nowhere"},
           {"ALTER TYPE t3 ADD a text", kInvalid,
            "Cannot add new field a to type ks.t3: a field of the same name already exists"},
           {"ALTER TYPE t3 ADD d duration", kInvalid,
            "Cannot add new field to type ks.t3 because it is used in the clustering key column c "
            "of table ks.sorted where durations are not allowed"},
           {"ALTER TYPE t1 ADD c int", kInvalid,
            "Cannot add new field to type ks.t1 because it is used in the partition key column p "
            "of table ks.keyed"},
           {"ALTER TYPE t3 ADD t frozen<t3>", kInvalid,
            "Cannot add new field t of type frozen<t3> to type ks.t3 as this would create a "
            "circular reference"},
           {"ALTER TYPE t3 RENAME x TO y", kInvalid, "Unknown field x in type ks.t3"},
           {"ALTER TYPE t3 ALTER a TYPE text", kInvalid,
            "Type text in incompatible with previous type int of field a in user type ks.t3"},
           {"DROP TYPE x", kInvalid, "No user type named ks.x exists."},
           {"DROP TYPE nowhere.x", kInvalid, "Cannot drop type in unknown keyspace nowhere"},
           {"CREATE TABLE x (p int PRIMARY KEY, v frozen<system.t1>)", kInvalid,
            "Statement on keyspace ks cannot refer to a user type in keyspace system; user types "
            "can only be used in the keyspace they are defined in"},
           {"CREATE TABLE x (p t1 PRIMARY KEY)", kInvalid,
            "Invalid non-frozen user-defined type for PRIMARY KEY component p"},
           {"CREATE TABLE x (p int PRIMARY KEY, v list<t1>)", kInvalid,
            "Non-frozen user types or collections are not allowed inside collections: list<t1>"},
           {"CREATE TABLE x (p int PRIMARY KEY, v nesting)", kInvalid,
            "Non-frozen UDTs with nested non-frozen collections are not supported"},
           {"ALTER TYPE t4 ADD l list<int>", kInvalid,
            "Non-frozen UDTs with nested non-frozen collections are not supported"},
           {"CREATE INDEX ON parts(v)", kInvalid, "Cannot create secondary index on UDT column v"},
       }) {
    ExpectRefused(refusal);
  }
}

TEST_F(UserTypesTest, RenamesGoByTheNamesOfBefore) {
  Must("CREATE TYPE part (a int, b text, c blob)");
  Must("ALTER TYPE part RENAME a TO b AND b TO a");
  EXPECT_EQ(schema_.FindKeyspace("ks")->types.at("part").user().fields,
            (std::vector<std::string>{"b", "a", "c"}));
  Must("ALTER TYPE part RENAME b TO c AND c TO d");
  EXPECT_EQ(schema_.FindKeyspace("ks")->types.at("part").user().fields,
            (std::vector<std::string>{"c", "a", "d"}));
  ExpectRefused(
      {"ALTER TYPE part RENAME d TO e AND e TO f", kInvalid, "Unknown field e in type ks.part"});
}

// A global index is by the partition key of the view that ScyllaDB keeps it in.
TEST_F(UserTypesTest, TypesThatIndexesAreByStayAsTheyAre) {
  Must("CREATE TYPE part (a int)");
  Must(
      "CREATE TABLE t (p int, c int, v frozen<part>, l list<frozen<part>>, "
      "m map<int, frozen<part>>, PRIMARY KEY (p, c))");
  const auto refused = [](const std::string& change, const std::string& where) {
    return Refusal{"ALTER TYPE part " + change, kInvalid,
                   "Cannot add new field to type ks.part because it is used in the " + where};
  };
  for (const auto& [target, column] : {std::pair("v", "v"), std::pair("values(l)", "coll_value"),
                                       std::pair("entries(m)", "coll_value")}) {
    Must(std::string("CREATE INDEX i ON t(") + target + ")");
    const std::string where =
        std::string("partition key column ") + column + " of table ks.i_index";
    ExpectRefused(refused("ADD b int", where));
    ExpectRefused(refused("RENAME a TO b", where));
    Must("DROP INDEX i");
  }
  Must("CREATE INDEX i ON t(keys(m))");
  Must("ALTER TYPE part ADD b int");
  Must("DROP INDEX i");
  Must("CREATE INDEX i ON t((p), v)");
  Must("ALTER TYPE part ADD c int");
  ExpectRefused(refused("ADD d duration",
                        "clustering key column v of table ks.i_index where durations are not "
                        "allowed"));
}

TEST_F(UserTypesTest, DifferencesNameTypes) {
  const Schema empty = schema_;
  Must("CREATE TYPE a (x int)");
  Must("CREATE TABLE t (p int PRIMARY KEY, v frozen<a>)");
  const Schema before = schema_;
  Must("ALTER TYPE a ADD y int");
  using Kind = SchemaDifference::Kind;
  using Differences = std::vector<SchemaDifference>;
  EXPECT_EQ(DifferencesBetween(empty, before),
            (Differences{{Kind::kCreated, "ks", "", "a"}, {Kind::kCreated, "ks", "t"}}));
  EXPECT_EQ(DifferencesBetween(before, schema_),
            (Differences{{Kind::kUpdated, "ks", "", "a"}, {Kind::kUpdated, "ks", "t"}}));
  EXPECT_EQ(DifferencesBetween(before, empty),
            (Differences{{Kind::kDropped, "ks", "t"}, {Kind::kDropped, "ks", "", "a"}}));
}

}  // namespace user_types_test
}  // namespace liststore
