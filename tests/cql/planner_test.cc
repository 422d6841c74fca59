// What is planned how, and what is refused in which words.
#include "engine/cql/planner/planner.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace planner_test {

ColumnDefinition Key(std::string name, DataType type, uint16_t position) {
  return {std::move(name), std::move(type), ColumnKind::kPartitionKey, position, false};
}
ColumnDefinition Clustering(std::string name, DataType type, uint16_t position,
                            bool descending = false) {
  return {std::move(name), std::move(type), ColumnKind::kClustering, position, descending};
}
ColumnDefinition Static(std::string name, DataType type) {
  return {std::move(name), std::move(type), ColumnKind::kStatic, 0, false};
}
ColumnDefinition Regular(std::string name, DataType type) {
  return {std::move(name), std::move(type), ColumnKind::kRegular, 0, false};
}

std::shared_ptr<const TableDefinition> Table(std::string name,
                                             std::vector<ColumnDefinition> columns,
                                             std::vector<IndexDefinition> indexes = {}) {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = "ks";
  table->name = std::move(name);
  table->columns = std::move(columns);
  table->indexes = std::move(indexes);
  CompleteTable(*table);
  return table;
}

// ks.list_items with its local index, ks.t of many columns with a global one, ks.shared with static
// columns.
Schema TestSchema() {
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables["list_items"] =
      Table("list_items",
            {Key("feature_key", CqlType::kText, 0), Key("entity_id", CqlType::kText, 1),
             Clustering("item_key", CqlType::kText, 0, true), Regular("value", CqlType::kBlob)},
            {{"list_items_by_value", "value", true}});
  keyspace->tables["t"] =
      Table("t",
            {Key("p", CqlType::kInt, 0), Clustering("a", CqlType::kInt, 0),
             Clustering("b", CqlType::kText, 1), Clustering("c", CqlType::kInt, 2, true),
             Regular("v", CqlType::kInt), Regular("w", CqlType::kText)},
            {{"t_v", "v", false}});
  keyspace->tables["shared"] =
      Table("shared", {Key("p", CqlType::kInt, 0), Clustering("c", CqlType::kInt, 0),
                       Clustering("d", CqlType::kInt, 1), Static("r", CqlType::kInt),
                       Static("s", CqlType::kInt), Regular("v", CqlType::kInt)});
  keyspace->tables["lists"] =
      Table("lists", {Key("p", CqlType::kInt, 0), Regular("l", DataType::List(CqlType::kText))});
  Schema schema;
  schema.keyspaces["ks"] = keyspace;
  return schema;
}

cql::CqlOr<std::shared_ptr<const cql::Plan>> PlanIt(std::string_view text) {
  return cql::PlanText(text, TestSchema(), "ks");
}
const cql::SelectPlan& Select(const std::shared_ptr<const cql::Plan>& plan) {
  return std::get<cql::SelectPlan>(plan->body);
}

TEST(PlannerTest, TheListModelsReadIsOneSliceOfOnePartition) {
  const auto plan = PlanIt(
      "SELECT value, item_key FROM list_items WHERE feature_key = ? AND entity_id = ? AND "
      "item_key >= ? ORDER BY item_key DESC LIMIT ?");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const cql::SelectPlan& select = Select(*plan);
  EXPECT_TRUE(select.is_single_partition());
  EXPECT_TRUE(select.clustering.prefix.empty());
  ASSERT_EQ(select.clustering.slices.size(), 1u);
  EXPECT_TRUE(select.clustering.slices[0].is_lower);
  EXPECT_TRUE(select.clustering.slices[0].inclusive);
  EXPECT_FALSE(select.reversed) << "newest first is the table's order";
  EXPECT_TRUE(select.filters.empty());
  ASSERT_EQ(select.selections.size(), 2u);
  EXPECT_EQ(select.selections[0].name, "value");
  ASSERT_EQ((*plan)->variables.size(), 4u);
  EXPECT_EQ((*plan)->variables[0].name, "feature_key");
  EXPECT_EQ((*plan)->variables[3].name, "[limit]");
  EXPECT_EQ((*plan)->partition_key_variables, (std::vector<uint16_t>{0, 1}));
}

TEST(PlannerTest, PartitionKeyVariablesFollowTheKeyNotTheText) {
  const auto plan =
      PlanIt("SELECT * FROM list_items WHERE item_key = ? AND entity_id = ? AND feature_key = ?");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ((*plan)->partition_key_variables, (std::vector<uint16_t>{2, 1}));
  EXPECT_TRUE(Select(*plan).at_most_one_row);
  const auto constant =
      PlanIt("SELECT * FROM list_items WHERE entity_id = ? AND feature_key = 'f'");
  ASSERT_TRUE(constant.ok());
  EXPECT_TRUE((*constant)->partition_key_variables.empty()) << "not all of it is bound";
  EXPECT_FALSE(Select(*constant).at_most_one_row);
}

TEST(PlannerTest, AValueIsLookedUpThroughTheLocalIndexWithinAPartition) {
  const auto plan = PlanIt(
      "SELECT item_key FROM list_items WHERE feature_key = ? AND entity_id = ? AND value = ?");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_TRUE(Select(*plan).index.has_value());
  EXPECT_TRUE(Select(*plan).filters.empty());
  const auto with_slice = PlanIt(
      "SELECT item_key FROM list_items WHERE feature_key = ? AND entity_id = ? AND value = ? AND "
      "item_key >= ?");
  ASSERT_TRUE(with_slice.ok()) << with_slice.error().message;
  EXPECT_EQ(Select(*with_slice).clustering.slices.size(), 1u);
}

TEST(PlannerTest, AGlobalIndexNeedsNoPartition) {
  const auto plan = PlanIt("SELECT * FROM t WHERE v = 1");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(Select(*plan).index.has_value());
  EXPECT_TRUE(Select(*plan).partition_key.empty());
}

TEST(PlannerTest, NamesTypesAndAliasesOfSelections) {
  const auto plan =
      PlanIt("SELECT a, v AS x, ttl(v), writetime(w), token(p), count(*) FROM t WHERE p = 1");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::vector<std::pair<std::string, std::string>> columns;
  for (const cql::Selection& selection : Select(*plan).selections) {
    columns.emplace_back(selection.name, selection.type.ToString());
  }
  EXPECT_EQ(columns,
            (std::vector<std::pair<std::string, std::string>>{{"a", "int"},
                                                              {"x", "int"},
                                                              {"ttl(v)", "int"},
                                                              {"writetime(w)", "bigint"},
                                                              {"system.token(p)", "bigint"},
                                                              {"count", "bigint"}}));
}

TEST(PlannerTest, InMarkersAreListsCalledIn) {
  const auto plan = PlanIt("SELECT * FROM t WHERE p IN ? AND a IN (?, 3) AND b = 'x'");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ((*plan)->variables.size(), 2u);
  EXPECT_EQ((*plan)->variables[0].name, "in(p)");
  EXPECT_EQ((*plan)->variables[0].type.ToString(), "list<int>");
  const auto tuples = PlanIt("SELECT * FROM t WHERE p = 1 AND (a, b) > ? AND (a, b) < ?");
  ASSERT_TRUE(tuples.ok()) << tuples.error().message;
  EXPECT_EQ((*tuples)->variables[0].name, "(a,b)");
  EXPECT_EQ((*tuples)->variables[0].type.ToString(), "frozen<tuple<int, text>>");
  const auto in = PlanIt("SELECT * FROM t WHERE p = 1 AND (a, b) IN ?");
  ASSERT_TRUE(in.ok()) << in.error().message;
  EXPECT_EQ((*in)->variables[0].name, "in((a,b))");
  EXPECT_EQ((*in)->variables[0].type.ToString(), "list<frozen<tuple<int, text>>>");
  EXPECT_EQ((*plan)->variables[1].name, "value(in(a))");
  EXPECT_EQ(Select(*plan).clustering.prefix_columns(), 2u);
}

TEST(PlannerTest, OneNamedMarkerIsOneVariable) {
  const auto plan = PlanIt("SELECT * FROM t WHERE p = :x AND a = :x");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ((*plan)->variables.size(), 1u);
  const auto mixed = PlanIt("SELECT * FROM t WHERE p = :x AND a = 1 AND b = :x");
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().message, "variable :x has type int which doesn't match b");
}

TEST(PlannerTest, TheListModelsWrites) {
  const auto insert = PlanIt(
      "INSERT INTO list_items (feature_key, entity_id, item_key, value) VALUES (?, ?, ?, ?) USING "
      "TTL ?");
  ASSERT_TRUE(insert.ok()) << insert.error().message;
  const auto& plan = std::get<cql::ModificationPlan>((*insert)->body);
  EXPECT_EQ(plan.kind, cql::ModificationPlan::Kind::kInsert);
  EXPECT_EQ(plan.assignments.size(), 1u);
  EXPECT_EQ((*insert)->variables[4].name, "[ttl]");
  EXPECT_EQ((*insert)->partition_key_variables, (std::vector<uint16_t>{0, 1}));

  const auto remove = PlanIt(
      "DELETE FROM list_items WHERE feature_key = ? AND entity_id = ? AND item_key IN (?, ?, ?)");
  ASSERT_TRUE(remove.ok()) << remove.error().message;
  EXPECT_EQ(
      std::get<cql::ModificationPlan>((*remove)->body).clustering.prefix[0].alternatives.size(),
      3u);
  const auto all = PlanIt("DELETE FROM list_items WHERE feature_key = ? AND entity_id = ?");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_TRUE(std::get<cql::ModificationPlan>((*all)->body).clustering.empty());
}

constexpr char kFiltering[] =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

struct Refusal {
  std::string_view statement;
  std::string message;
};

TEST(PlannerTest, Refusals) {
  const Refusal refusals[] = {
      {"SELECT * FROM nothing", "unconfigured table nothing"},
      {"SELECT * FROM other.t", "Keyspace other does not exist"},
      {"SELECT x FROM t", "Unrecognized name x"},
      {"SELECT * FROM t WHERE x = 1", "Unrecognized name x"},
      {"SELECT * FROM list_items WHERE feature_key = 'f'", kFiltering},
      {"SELECT * FROM list_items WHERE value = 0x00", kFiltering},
      {"SELECT * FROM list_items WHERE feature_key IN ('f', 'g') AND entity_id = 'e' AND value = "
       "0x00",
       kFiltering},
      {"SELECT * FROM t WHERE p > 1",
       "Only EQ and IN relation are supported on the partition key (unless you use the token() "
       "function or ALLOW FILTERING)"},
      {"SELECT * FROM t WHERE p = 1 AND b = 'x'",
       "PRIMARY KEY column \"b\" cannot be restricted as preceding column \"a\" is not restricted"},
      {"SELECT * FROM t WHERE p = 1 AND a > 1 AND b = 'x'",
       "Clustering column \"b\" cannot be restricted (preceding column \"a\" is restricted by a "
       "non-EQ relation)"},
      {"SELECT * FROM t WHERE p = 1 AND w = 'x'", kFiltering},
      {"SELECT * FROM t WHERE p = 1 AND token(p) > 5",
       "Columns \"ColumnDefinition{name=p, type=org.apache.cassandra.db.marshal.Int32Type, "
       "kind=PARTITION_KEY, componentIndex=0, droppedAt=-9223372036854775808}\" cannot be "
       "restricted by both a normal relation and a token relation"},
      {"SELECT * FROM t WHERE p = 1 AND (a, b) > (1, 'x') AND a = 2",
       "Mixing single column relations and multi column relations on clustering columns is not "
       "allowed"},
      {"SELECT * FROM t WHERE v = 1 AND p = 2 ORDER BY a",
       "ORDER BY with 2ndary indexes is not supported."},
      {"SELECT * FROM t ORDER BY a",
       "ORDER BY is only supported when the partition key is restricted by an EQ or an IN."},
      {"SELECT * FROM t WHERE p = 1 ORDER BY v",
       "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v"},
      {"SELECT * FROM t WHERE p = 1 ORDER BY x", "Order by on unknown column x"},
      {"SELECT * FROM t WHERE p = 1 ORDER BY a DESC, b ASC",
       "Unsupported order by relation - only reversing all columns is supported, but column b has "
       "opposite ordering"},
      {"SELECT ttl(a) FROM t", "TTL is not legal on partition key component a"},
      {"SELECT writetime(p) FROM t", "WRITETIME is not legal on partition key component p"},
      {"SELECT DISTINCT p, v FROM t",
       "SELECT DISTINCT queries must only request partition key columns and/or static columns (not "
       "v)"},
      {"SELECT DISTINCT feature_key FROM list_items",
       "SELECT DISTINCT queries must request all the partition key columns (missing entity_id)"},
      {"INSERT INTO t (p, a, b, v) VALUES (1, 2, 'x', 3)", "Missing mandatory PRIMARY KEY part c"},
      {"INSERT INTO t (p, a, b, c) VALUES (1, 2, 'x')", "Unmatched column names/values"},
      {"INSERT INTO t (p, a, b, c, x) VALUES (1, 2, 'x', 4, 5)", "Unknown identifier x"},
      {"INSERT INTO t (p, p, a, b, c) VALUES (1, 1, 2, 'x', 4)",
       "Multiple definitions found for column p"},
      {"INSERT INTO t (p, a, b, c, v) VALUES (1, 2, 'x', 4, 'y')",
       "Invalid STRING constant (y) for \"v\" of type int"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND a = 2", "Missing mandatory PRIMARY KEY part b"},
      {"DELETE v, w FROM t WHERE p = 1 AND a = 2",
       "Primary key column 'b' must be specified in order to modify column 'v'"},
      {"INSERT INTO shared (p, v, s) VALUES (1, 2, 3)", "Missing mandatory PRIMARY KEY part c"},
      {"INSERT INTO shared (p, c, s) VALUES (1, 2, 3)", "Missing mandatory PRIMARY KEY part d"},
      {"INSERT INTO shared (p) VALUES (1)", "Missing mandatory PRIMARY KEY part c"},
      {"INSERT INTO shared (s) VALUES (1)", "Missing mandatory PRIMARY KEY part p"},
      {"UPDATE shared SET s = 1, s = 2 WHERE p = 1", "Multiple incompatible setting of column s"},
      {"UPDATE shared SET s = 1, v = 2 WHERE p = 1", "Missing mandatory PRIMARY KEY part c"},
      {"UPDATE shared SET s = 1 WHERE p = 1 AND c = 2 AND d = 3",
       "Invalid restrictions on clustering columns since the UPDATE statement modifies only static "
       "columns"},
      {"DELETE s FROM shared WHERE p = 1 AND c > 2",
       "Invalid restrictions on clustering columns since the DELETE statement modifies only static "
       "columns"},
      {"UPDATE shared SET s = 1 WHERE p = 1 AND c = 2 AND d = 3 IF r = 4",
       "Invalid restrictions on clustering columns since the UPDATE statement modifies only static "
       "columns"},
      {"UPDATE shared SET s = 1 WHERE p = 1 IF v = 4", "Missing mandatory PRIMARY KEY part c"},
      {"DELETE FROM shared WHERE p = 1 IF s = 4",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to delete non static columns"},
      {"DELETE s FROM shared WHERE p = 1 IF v = 4",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to use IF condition on non static columns"},
      {"DELETE s, v FROM shared WHERE p = 1",
       "Primary key column 'c' must be specified in order to modify column 'v'"},
      {"UPDATE shared SET v = 1 WHERE p = 1 AND s = 2",
       "Invalid where clause contains non PRIMARY KEY columns: s"},
      {"SELECT s, p FROM shared WHERE p = 1 AND c = 2",
       "Cannot restrict clustering columns when selecting only static columns"},
      {"SELECT DISTINCT p, s FROM shared WHERE p = 1 AND c = 2",
       "Cannot restrict clustering columns when selecting only static columns"},
      {"SELECT DISTINCT p, s FROM shared WHERE s = 2 ALLOW FILTERING",
       "SELECT DISTINCT with WHERE clause only supports restriction by partition key."},
      {"SELECT DISTINCT s FROM shared",
       "SELECT DISTINCT queries must request all the partition key columns (missing p)"},
      {"UPDATE t SET a = 1 WHERE p = 1 AND a = 2 AND b = 'x' AND c = 4",
       "PRIMARY KEY part a found in SET part"},
      {"UPDATE t SET v = 1, v = 2 WHERE p = 1 AND a = 2 AND b = 'x' AND c = 4",
       "Multiple incompatible setting of column v"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND a = 2 AND b = 'x' AND c > 4",
       "Invalid operator in where clause (a = 2) AND (b = 'x') AND (c > 4)"},
      {"DELETE v FROM t WHERE p = 1 AND a = 2 AND b = 'x' AND c > 4",
       "Range deletions are not supported for specific columns"},
      {"DELETE FROM list_items WHERE feature_key = 'f' AND entity_id = 'e' AND value = 0x00",
       "Invalid where clause contains non PRIMARY KEY columns: value"},
      {"DELETE FROM list_items WHERE feature_key = 'f'",
       "Missing mandatory PRIMARY KEY part entity_id"},
      {"DELETE item_key FROM list_items WHERE feature_key = 'f' AND entity_id = 'e' AND item_key = "
       "'k'",
       "Invalid identifier item_key for deletion (should not be a PRIMARY KEY part)"},
      {"BEGIN BATCH USING TTL 5 INSERT INTO t (p, a, b, c) VALUES (1, 2, 'x', 4) APPLY BATCH",
       "Global TTL on the BATCH statement is not supported."},
      {"BEGIN BATCH USING TIMESTAMP 5 INSERT INTO t (p, a, b, c) VALUES (1, 2, 'x', 4) USING "
       "TIMESTAMP 6 APPLY BATCH",
       "Timestamp must be set either on BATCH or individual statements"},
  };
  for (const Refusal& refusal : refusals) {
    const auto plan = PlanIt(refusal.statement);
    ASSERT_FALSE(plan.ok()) << refusal.statement;
    EXPECT_EQ(plan.error().message, refusal.message) << refusal.statement;
    EXPECT_EQ(plan.error().code, CqlErrorCode::kInvalid) << refusal.statement;
  }
}

TEST(PlannerTest, StaticColumnsAreWrittenWithRowsAndWithout) {
  const auto modification = [](const std::shared_ptr<const cql::Plan>& plan) {
    return std::get<cql::ModificationPlan>(plan->body);
  };
  for (const std::string_view text :
       {"INSERT INTO shared (s, r, p) VALUES (1, 2, 3)",
        "UPDATE shared SET s = 1, r = 2 WHERE p = 3", "DELETE s, r FROM shared WHERE p = 3"}) {
    const auto plan = PlanIt(text);
    ASSERT_TRUE(plan.ok()) << text << ": " << plan.error().message;
    const cql::ModificationPlan change = modification(*plan);
    EXPECT_TRUE(change.only_statics) << text;
    EXPECT_TRUE(change.assignments.empty()) << text;
    ASSERT_EQ(change.static_assignments.size(), 2u) << text;
    EXPECT_EQ(change.static_assignments[0].column, 0) << text << ": r comes first";
  }
  for (const std::string_view text :
       {"INSERT INTO shared (p, c, d, s) VALUES (1, 2, 3, 4)",
        "UPDATE shared SET s = 1, v = 2 WHERE p = 3 AND c = 4 AND d = 5",
        "DELETE s, v FROM shared WHERE p = 3 AND c = 4 AND d IN (5, 6)",
        "UPDATE shared SET s = 1 WHERE p = 3 AND c = 4 AND d = 5 IF v = 6"}) {
    const auto plan = PlanIt(text);
    ASSERT_TRUE(plan.ok()) << text << ": " << plan.error().message;
    EXPECT_FALSE(modification(*plan).only_statics) << text;
    EXPECT_EQ(modification(*plan).static_assignments.size(), 1u) << text;
  }
}

TEST(PlannerTest, WhatNeedsFilteringIsFilteredWhenAllowed) {
  const std::pair<std::string_view, size_t> statements[] = {
      {"SELECT * FROM t WHERE p = 1 AND w = 'x' ALLOW FILTERING", 1},
      {"SELECT * FROM t WHERE p > 1 ALLOW FILTERING", 1},
      {"SELECT * FROM t WHERE p = 1 AND b = 'x' ALLOW FILTERING", 1},
      {"SELECT * FROM t WHERE w = 'x' AND b = 'y' AND p = 3 ALLOW FILTERING", 2},
      {"SELECT * FROM list_items WHERE feature_key = 'f' ALLOW FILTERING", 1},
  };
  for (const auto& [statement, filters] : statements) {
    const auto plan = PlanIt(statement);
    ASSERT_TRUE(plan.ok()) << statement << ": " << plan.error().message;
    EXPECT_EQ(Select(*plan).filters.size(), filters) << statement;
  }
}

// Its rows lie in several ranges.
TEST(PlannerTest, ASliceOverBothDirectionsNeedsNoFiltering) {
  const auto plan = PlanIt("SELECT * FROM t WHERE p = 1 AND (a, b, c) > (1, 'x', 2)");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(Select(*plan).clustering.slices.size(), 1u);
  EXPECT_FALSE(Select(*plan).clustering.is_one_range);
  EXPECT_TRUE(Select(*plan).filters.empty());
}

TEST(PlannerTest, ClusteringRestrictionsOfAScanAreWarnedAbout) {
  const auto plan = PlanIt("SELECT * FROM t WHERE a > 3");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(Select(*plan).warns_of_filtering);
  EXPECT_EQ(Select(*plan).clustering.slices.size(), 1u);
}

// Sources: ScyllaDB cql3/expr/prepare_expr.cc, list_index; cql3/lists.cc;
// cql3/statements/modification_statement.cc, insert_prepared_json_statement.
TEST(PlannerTest, MarkersHaveTheNamesOfTheirPlaces) {
  const std::pair<std::string_view, std::vector<std::string>> examples[] = {
      {"UPDATE lists SET l[?] = ? WHERE p = ? IF l[?] = ?",
       {"idx(l)", "value(l)", "p", "index(l)", "value(l)"}},
      {"DELETE l[?] FROM lists WHERE p = ?", {"idx(l)", "p"}},
      {"INSERT INTO lists JSON ?", {""}},
      {"BEGIN BATCH USING TIMEOUT ? DELETE FROM lists WHERE p = ? APPLY BATCH", {"[timeout]", "p"}},
      {"BEGIN BATCH USING TIMEOUT :t DELETE FROM lists WHERE p = ? APPLY BATCH", {"t", "p"}},
  };
  for (const auto& [statement, names] : examples) {
    const auto plan = PlanIt(statement);
    ASSERT_TRUE(plan.ok()) << statement << ": " << plan.error().message;
    std::vector<std::string> found;
    for (const cql::BindVariable& variable : (*plan)->variables) found.push_back(variable.name);
    EXPECT_EQ(found, names) << statement;
  }
}

TEST(PlannerTest, WithoutAKeyspaceTablesAreNamedInFull) {
  const auto bare = cql::PlanText("SELECT * FROM t", TestSchema(), "");
  ASSERT_FALSE(bare.ok());
  EXPECT_EQ(bare.error().message,
            "No keyspace has been specified. USE a keyspace, or explicitly specify "
            "keyspace.tablename");
  EXPECT_TRUE(cql::PlanText("SELECT * FROM ks.t", TestSchema(), "").ok());
}

}  // namespace planner_test
}  // namespace liststore
