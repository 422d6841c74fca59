// Selected expressions: what results are called, of which types they are, what is refused.
#include "engine/cql/planner/plan_selector.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/planner/planner.h"
#include "gtest/gtest.h"

namespace liststore {
namespace plan_selector_test {

Schema TestSchema() {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = "ks";
  table->name = "f";
  const auto regular = [](std::string name, DataType type) {
    return ColumnDefinition{std::move(name), std::move(type), ColumnKind::kRegular, 0, false};
  };
  const auto user = [](std::string name, std::vector<std::string> fields,
                       std::vector<DataType> types) {
    auto names = std::make_shared<UserTypeNames>();
    names->keyspace = "ks";
    names->name = names->name_in_cql = std::move(name);
    names->fields = std::move(fields);
    return DataType::Frozen(DataType::User(std::move(names), std::move(types)));
  };
  const DataType place = user("place", {"x", "y"}, {CqlType::kInt, CqlType::kInt});
  const DataType home = user("home", {"city", "at"}, {CqlType::kText, place});
  table->columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                    {"q", CqlType::kText, ColumnKind::kPartitionKey, 1, false},
                    {"c", CqlType::kTimeuuid, ColumnKind::kClustering, 0, false},
                    {"d", CqlType::kInt, ColumnKind::kClustering, 1, false},
                    regular("b", CqlType::kBlob),
                    regular("n", CqlType::kBigint),
                    regular("s", CqlType::kText),
                    regular("t", CqlType::kTimestamp),
                    regular("u", home),
                    regular("v", CqlType::kInt),
                    regular("x", CqlType::kDecimal)};
  CompleteTable(*table);
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables["f"] = table;
  Schema schema;
  schema.keyspaces["ks"] = keyspace;
  return schema;
}

cql::CqlOr<std::shared_ptr<const cql::Plan>> PlanIt(const std::string& text) {
  return cql::PlanText(text, TestSchema(), "ks");
}
std::string ErrorOf(const std::string& text) {
  const auto plan = PlanIt(text);
  return plan.ok() ? "" : plan.error().message;
}

struct Example {
  std::string_view selector;
  std::string_view name;
  std::string_view type;
};

const Example kExamples[] = {
    {"todate(c)", "system.todate(c)", "date"},
    {"toDate(now())", "system.todate(system.now())", "date"},
    {"system.toUnixTimestamp(t)", "system.tounixtimestamp(t)", "bigint"},
    {"blobAsInt(b)", "system.blobasint(b)", "int"},
    {"intAsBlob(?)", "system.intasblob(?)", "blob"},
    {"tinyintAsBlob(4)", "system.tinyintasblob(4)", "blob"},
    {"token(p, q)", "system.token(p, q)", "bigint"},
    {"token(p, 'x')", "system.token(p, 'x')", "bigint"},
    {"uuid()", "system.uuid()", "uuid"},
    {"CAST(v AS text)", "cast(v as text)", "text"},
    {"CAST(CAST(v AS varint) AS ascii)", "cast(cast(v as varint) as ascii)", "ascii"},
    {"CAST(v AS int)", "v", "int"},
    {"CAST(toTimestamp(c) AS date)", "cast(system.totimestamp(c) as date)", "date"},
    {"CAST(ttl(v) AS double)", "cast(ttl(v) as double)", "double"},
    {"sum(v)", "system.sum(v)", "int"},
    {"SUM(CAST(v AS bigint))", "system.sum(cast(v as bigint))", "bigint"},
    {"avg(x)", "system.avg(x)", "decimal"},
    {"min(todate(c))", "system.min(system.todate(c))", "date"},
    {"max(writetime(v))", "system.max(writetime(v))", "bigint"},
    {"count(v)", "system.count(v)", "bigint"},
    {"count(*)", "count", "bigint"},
    {"CAST(avg(v) AS text)", "cast(system.avg(v) as text)", "text"},
    {"intAsBlob(max(v))", "system.intasblob(system.max(v))", "blob"},
    {"(int) 5", "(int)5", "int"},
    {"(text) ?", "(text)?", "text"},
    {"todate(c) AS day", "day", "date"},
    {"u.city", "u.city", "text"},
    {"u.at", "u.at", "frozen<place>"},
    {"u.at.y", "u.at.y", "int"},
    {"max(u).at.x", "system.max(u).at.x", "int"},
    {"sum(u.at.x)", "system.sum(u.at.x)", "int"},
    {"CAST(u.at.x AS text)", "cast(u.at.x as text)", "text"},
    {"intAsBlob(u.at.y)", "system.intasblob(u.at.y)", "blob"},
};

TEST(PlanSelectorTest, ResultsHaveScyllaDbsNamesAndTypes) {
  for (const Example& example : kExamples) {
    const auto plan = PlanIt("SELECT " + std::string(example.selector) + " FROM f");
    ASSERT_TRUE(plan.ok()) << example.selector << ": " << plan.error().message;
    const cql::Selection& selection = std::get<cql::SelectPlan>((*plan)->body).selections[0];
    EXPECT_EQ(selection.name, example.name) << example.selector;
    EXPECT_EQ(selection.type.ToString(), example.type) << example.selector;
  }
}

TEST(PlanSelectorTest, ArgumentsThatAreBoundHaveNamesAndTypes) {
  const auto plan = PlanIt("SELECT intAsBlob(?), (text) ?, token(p, ?) FROM f WHERE p = ?");
  EXPECT_FALSE(plan.ok()) << "that needs filtering";
  const auto good =
      PlanIt("SELECT intAsBlob(?), (text) ?, token(p, ?) FROM f WHERE p = ? AND q = ?");
  ASSERT_TRUE(good.ok()) << good.error().message;
  std::vector<std::string> variables;
  for (const cql::BindVariable& variable : (*good)->variables) {
    variables.push_back(variable.name + " " + variable.type.ToString());
  }
  EXPECT_EQ(variables, (std::vector<std::string>{"arg0(system.intasblob) int", "(text)? text",
                                                 "arg1(system.token) text", "p int", "q text"}));
  EXPECT_EQ((*good)->partition_key_variables, (std::vector<uint16_t>{3, 4}));
}

const std::pair<std::string_view, std::string_view> kRefusals[] = {
    {"SELECT mintimeuuid(s) FROM f",
     "Type error: s cannot be passed as argument 0 of function system.mintimeuuid of type "
     "timestamp"},
    {"SELECT todate(v) FROM f",
     "Invalid call to function todate, none of its type signatures match (known type signatures: "
     "system.todate : (timestamp) -> date, system.todate : (timeuuid) -> date)"},
    {"SELECT todate(nothing) FROM f", "Unrecognized name nothing"},
    {"SELECT u.town FROM f", "u of type frozen<home> has no field town"},
    {"SELECT max(u.at.z) FROM f", "u.at of type frozen<place> has no field z"},
    {"SELECT v.x FROM f", "Invalid field selection: v of type int is not a user type"},
    {"SELECT sum(v).x FROM f", "Invalid field selection: sum(v) of type int is not a user type"},
    {"SELECT intAsBlob(?.x) FROM f", "Could not infer type of ?"},
    {"SELECT intAsBlob(v[1]) FROM f", "Column v is not a map/list, cannot be subscripted"},
    {"SELECT v[1] FROM f", "Column v is not a map/list, cannot be subscripted"},
    {"SELECT 1 FROM f", "Could not infer type of 1"},
    {"SELECT ? FROM f", "Could not infer type of ?"},
    {"SELECT CAST(1 AS text) FROM f", "Could not infer type of cast argument 1"},
    {"SELECT CAST(s AS int) FROM f",
     "org.apache.cassandra.db.marshal.UTF8Type cannot be cast to "
     "org.apache.cassandra.db.marshal.Int32Type"},
    {"SELECT CAST(b AS text) FROM f",
     "org.apache.cassandra.db.marshal.BytesType cannot be cast to "
     "org.apache.cassandra.db.marshal.UTF8Type"},
    {"SELECT sum(sum(v)) FROM f", "SELECT clause contains aggeregation of an aggregation"},
    {"SELECT max(count(*)) FROM f", "SELECT clause contains aggeregation of an aggregation"},
    {"SELECT min(v, v) FROM f", "min() function requires only 1 argument"},
    {"SELECT max(?) FROM f", "max() function is only valid when argument types are known"},
    {"SELECT v FROM f GROUP BY v", "Group by non-primary-key column v"},
    {"SELECT v FROM f GROUP BY z", "Group by unknown column z"},
    {"SELECT v FROM f GROUP BY q", "Group by column q is out of order"},
    {"SELECT v FROM f GROUP BY p, q, d", "Group by column d is out of order"},
    {"SELECT v FROM f GROUP BY p, q, c, c", "Group by column c is out of order"},
    {"SELECT v FROM f GROUP BY p", "GROUP BY must include the entire partition key"},
    {"SELECT v FROM f WHERE p = 1 AND q IN ('a', 'b') GROUP BY c",
     "Group by column c is out of order"},
    {"SELECT DISTINCT p, q FROM f GROUP BY p, q, c",
     "Grouping on clustering columns is not allowed for SELECT DISTINCT queries"},
    {"SELECT DISTINCT p, q, toDate(c) FROM f",
     "SELECT DISTINCT queries must only request partition key columns and/or static columns (not "
     "c)"},
    {"SELECT DISTINCT p, CAST(p AS text) FROM f",
     "SELECT DISTINCT queries must request all the partition key columns (missing q)"},
    {"INSERT INTO f (p, q, c, d, v) VALUES (1, 'q', now(), 1, sum(1))",
     "Ambiguous call to function sum (can be matched by following signatures: system.sum : "
     "(decimal) -> decimal, system.sum : (varint) -> varint, system.sum : (double) -> double, "
     "system.sum : (float) -> float, system.sum : (bigint) -> bigint, system.sum : (int) -> int, "
     "system.sum : (smallint) -> smallint, system.sum : (tinyint) -> tinyint): use type casts to "
     "disambiguate"},
    {"INSERT INTO f (p, q, c, d, v) VALUES (1, 'q', now(), 1, max((int) 1))",
     "Aggregation functions are not supported in the SET clause"},
};

TEST(PlanSelectorTest, WhatIsWrongIsRefused) {
  for (const auto& [statement, message] : kRefusals) {
    EXPECT_EQ(ErrorOf(std::string(statement)), message) << statement;
  }
}

TEST(PlanSelectorTest, GroupsFollowThePrimaryKey) {
  const auto groups_of = [](const std::string& text) {
    const auto plan = PlanIt("SELECT v FROM f " + text);
    EXPECT_TRUE(plan.ok()) << text << ": " << plan.error().message;
    if (!plan.ok()) return std::vector<uint16_t>{};
    const auto& select = std::get<cql::SelectPlan>((*plan)->body);
    EXPECT_TRUE(select.is_aggregate);
    return select.group_by;
  };
  EXPECT_EQ(groups_of("GROUP BY p, q"), (std::vector<uint16_t>{0, 1}));
  EXPECT_EQ(groups_of("GROUP BY p, q, c, d"), (std::vector<uint16_t>{0, 1, 2, 3}));
  EXPECT_EQ(groups_of("WHERE p = 1 AND q = 'x' GROUP BY c"), (std::vector<uint16_t>{2}));
  EXPECT_EQ(groups_of("WHERE p = 1 AND q = 'x' AND c = now() GROUP BY d"),
            (std::vector<uint16_t>{3}));
  EXPECT_EQ(groups_of("WHERE p IN (1, 2) AND q = 'x' GROUP BY p, q"),
            (std::vector<uint16_t>{0, 1}));
}

}  // namespace plan_selector_test
}  // namespace liststore
