// DISTINCT, ORDER BY, GROUP BY and limits: what a SELECT may say, and which of several errors is
// told. Source of all of it: ScyllaDB cql3/statements/select_statement.cc, the functions named.
#include "engine/cql/planner/plan_select.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/planner/planner.h"
#include "gtest/gtest.h"

namespace liststore {
namespace plan_select_test {

std::shared_ptr<const TableDefinition> Table(std::string name,
                                             std::vector<ColumnDefinition> columns,
                                             std::vector<IndexDefinition> indexes) {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = "ks";
  table->name = std::move(name);
  table->columns = std::move(columns);
  table->indexes = std::move(indexes);
  CompleteTable(*table);
  return table;
}

Schema TestSchema() {
  const auto key = [](std::string name, uint16_t position) {
    return ColumnDefinition{std::move(name), CqlType::kInt, ColumnKind::kPartitionKey, position,
                            false};
  };
  const auto clustering = [](std::string name, uint16_t position, bool descending) {
    return ColumnDefinition{std::move(name), CqlType::kInt, ColumnKind::kClustering, position,
                            descending};
  };
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables["t"] =
      Table("t",
            {key("p", 0), clustering("a", 0, false), clustering("b", 1, false),
             clustering("c", 2, true), ColumnDefinition{"s", CqlType::kInt, ColumnKind::kStatic},
             ColumnDefinition{"v", CqlType::kInt, ColumnKind::kRegular},
             ColumnDefinition{"w", CqlType::kInt, ColumnKind::kRegular}},
            {{"t_v", "v", false}});
  keyspace->tables["two"] =
      Table("two",
            {key("p", 0), key("q", 1), clustering("a", 0, false), clustering("b", 1, false),
             ColumnDefinition{"s", CqlType::kInt, ColumnKind::kStatic},
             ColumnDefinition{"v", CqlType::kInt, ColumnKind::kRegular}},
            {});
  Schema schema;
  schema.keyspaces["ks"] = keyspace;
  return schema;
}

cql::CqlOr<std::shared_ptr<const cql::Plan>> PlanIt(const std::string& text) {
  return cql::PlanText(text, TestSchema(), "ks");
}

constexpr std::string_view kFiltering =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

// An error, or "" where there is none.
struct Example {
  std::string_view statement;
  std::string_view error;
};

void Check(std::span<const Example> examples) {
  for (const Example& example : examples) {
    const auto plan = PlanIt(std::string(example.statement));
    EXPECT_EQ(plan.ok() ? "" : plan.error().message, example.error) << example.statement;
    if (!plan.ok()) {
      EXPECT_EQ(plan.error().code, CqlErrorCode::kInvalid) << example.statement;
    }
  }
}

// validate_distinct_selection.
TEST(PlanSelectTest, DistinctWantsAllKeyColumnsOfKeyRangesAlone) {
  constexpr std::string_view kNoP =
      "SELECT DISTINCT queries must request all the partition key columns (missing p)";
  constexpr std::string_view kNoQ =
      "SELECT DISTINCT queries must request all the partition key columns (missing q)";
  Check(std::to_array<Example>({
      {"SELECT DISTINCT s FROM t WHERE p = 1", ""},
      {"SELECT DISTINCT s FROM t WHERE p IN (1, 2)", ""},
      {"SELECT DISTINCT s FROM t WHERE p IN ?", ""},
      {"SELECT DISTINCT p FROM two WHERE p = 0 AND q = 0", ""},
      {"SELECT DISTINCT q, s FROM two WHERE p = 0 AND q IN (1, 2)", ""},
      {"SELECT DISTINCT writetime(s), CAST(s AS text) AS x FROM t WHERE p = 1", ""},
      {"SELECT JSON DISTINCT s FROM t WHERE p = 1 GROUP BY p", ""},
      {"SELECT DISTINCT count(*) FROM t WHERE p = 1", ""},
      {"SELECT DISTINCT p FROM t", ""},
      {"SELECT DISTINCT s FROM t", kNoP},
      {"SELECT DISTINCT s FROM t WHERE token(p) > 0", kNoP},
      {"SELECT DISTINCT s FROM t WHERE p > 0 ALLOW FILTERING", kNoP},
      {"SELECT DISTINCT count(*) FROM t", kNoP},
      {"SELECT DISTINCT p FROM two WHERE p = 0 ALLOW FILTERING", kNoQ},
      {"SELECT DISTINCT p FROM two WHERE p = 0 AND q > 0 ALLOW FILTERING", kNoQ},
  }));
}

// validate_distinct_selection; cql3/restrictions/statement_restrictions.cc, constructor.
TEST(PlanSelectTest, DistinctLooksAtItsWhereFirst) {
  constexpr std::string_view kWhere =
      "SELECT DISTINCT with WHERE clause only supports restriction by partition key.";
  Check(std::to_array<Example>({
      {"SELECT DISTINCT v FROM t WHERE p = 1 AND a = 1", kWhere},
      {"SELECT DISTINCT v FROM t WHERE v = 1", kWhere},
      {"SELECT DISTINCT p, s FROM t WHERE p = 1 AND s = 1 ALLOW FILTERING", kWhere},
      {"SELECT DISTINCT s FROM t WHERE p = 1 AND a = 1",
       "Cannot restrict clustering columns when selecting only static columns"},
      {"SELECT DISTINCT w, v FROM t",
       "SELECT DISTINCT queries must only request partition key columns and/or static columns (not "
       "w)"},
      {"SELECT DISTINCT * FROM t WHERE p = 1",
       "SELECT DISTINCT queries must only request partition key columns and/or static columns (not "
       "a)"},
  }));
}

// verify_ordering_is_valid.
TEST(PlanSelectTest, OrderMayLeaveOutWhatHasOneValue) {
  constexpr std::string_view kNoA =
      "Unsupported order by relation - column a doesn't have an ordering or EQ relation.";
  constexpr std::string_view kNoB =
      "Unsupported order by relation - column b doesn't have an ordering or EQ relation.";
  constexpr std::string_view kDeclared =
      "Order by currently only supports the ordering of columns following their declared order in "
      "the PRIMARY KEY";
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = 1 AND a = 0 ORDER BY b", ""},
      {"SELECT * FROM t WHERE p = 1 AND a IN (0) ORDER BY b", ""},
      {"SELECT * FROM t WHERE p = 1 AND (a, b) = (0, 0) ORDER BY c", ""},
      {"SELECT * FROM t WHERE p = 1 AND (a, b) IN ((0, 0)) ORDER BY c", ""},
      {"SELECT * FROM t WHERE p = 1 AND a = 0 ORDER BY a, b", ""},
      {"SELECT * FROM t WHERE p IN (1, 2) AND a = 0 AND b = 0 ORDER BY a, c DESC", ""},
      {"SELECT * FROM t WHERE p = 1 ORDER BY b", kNoA},
      {"SELECT * FROM t WHERE p = 1 AND a IN (0, 1) ORDER BY b", kNoA},
      {"SELECT * FROM t WHERE p = 1 AND a > 0 ORDER BY b", kNoA},
      {"SELECT * FROM t WHERE p = 1 ORDER BY c", kNoA},
      {"SELECT * FROM t WHERE p = 1 ORDER BY a, c", kNoB},
      {"SELECT * FROM t WHERE p = 1 ORDER BY b, a", kDeclared},
      {"SELECT * FROM t WHERE p = 1 ORDER BY a, a", kDeclared},
      {"SELECT * FROM t WHERE p = 1 ORDER BY a, b DESC",
       "Unsupported order by relation - only reversing all columns is supported, but column b has "
       "opposite ordering"},
      {"SELECT * FROM t WHERE p = 1 ORDER BY a, b, c",
       "Unsupported order by relation - only reversing all columns is supported, but column c has "
       "opposite ordering"},
  }));
  const auto reversed = [](const std::string& order) {
    const auto plan = PlanIt("SELECT * FROM t WHERE p = 1 AND a = 0 AND b = 0 ORDER BY " + order);
    EXPECT_TRUE(plan.ok()) << order;
    return plan.ok() && std::get<cql::SelectPlan>((*plan)->body).reversed;
  };
  EXPECT_FALSE(reversed("c DESC")) << "the table's order";
  EXPECT_TRUE(reversed("c"));
  EXPECT_TRUE(reversed("a DESC, c ASC"));
}

// handle_unrecognized_ordering_column, prepare_restrictions.
TEST(PlanSelectTest, AliasesAreNoColumns) {
  Check(std::to_array<Example>({
      {"SELECT a AS x FROM t WHERE p = 1 ORDER BY x",
       "Aliases are not allowed in order by clause ('x')"},
      {"SELECT a AS x FROM t WHERE p = 1 ORDER BY y", "Order by on unknown column y"},
      {"SELECT a AS x FROM t WHERE x = 1",
       "Aliases aren't allowed in the WHERE clause (name: 'x')"},
      {"SELECT a AS x FROM t WHERE y = 1", "Unrecognized name y"},
  }));
}

// prepare_group_by, equality_restricted.
TEST(PlanSelectTest, GroupsMayLeaveOutWhatTheTextSetsEqual) {
  Check(std::to_array<Example>({
      {"SELECT v FROM two WHERE p = 0 GROUP BY q ALLOW FILTERING", ""},
      {"SELECT v FROM two WHERE p = 0 AND q = 0 GROUP BY a", ""},
      {"SELECT v FROM two WHERE p = 0 AND q = 0 AND a = 0 GROUP BY b", ""},
      {"SELECT v FROM two WHERE q = 0 GROUP BY p, a ALLOW FILTERING", ""},
      {"SELECT v FROM two WHERE p = 0 AND q = 0 AND (a) = (0) GROUP BY p, q, b",
       "Group by column b is out of order"},
      {"SELECT v FROM t WHERE p = 1 AND a IN (0) GROUP BY b", "Group by column b is out of order"},
      {"SELECT v FROM t WHERE p IN (1) GROUP BY a", "Group by column a is out of order"},
      {"SELECT v FROM two WHERE p = 0 AND q = 0 GROUP BY p",
       "GROUP BY must include the entire partition key"},
      {"SELECT v FROM t GROUP BY p, p", "Group by column p is out of order"},
      {"SELECT DISTINCT p FROM t WHERE p = 1 GROUP BY p, a",
       "Grouping on clustering columns is not allowed for SELECT DISTINCT queries"},
  }));
}

// make_partition_slice, get_inner_loop_limit.
TEST(PlanSelectTest, ALimitOfPartitionsGoesWithAggregatesAndDistinct) {
  Check(std::to_array<Example>({
      {"SELECT count(*) FROM t PER PARTITION LIMIT 1", ""},
      {"SELECT sum(v), a FROM t PER PARTITION LIMIT ? LIMIT ?", ""},
      {"SELECT DISTINCT p FROM t PER PARTITION LIMIT 1", ""},
  }));
}

// prepare.
TEST(PlanSelectTest, ErrorsComeInOrder) {
  constexpr std::string_view kNested = "SELECT clause contains aggeregation of an aggregation";
  constexpr std::string_view kIndexed = "ORDER BY with 2ndary indexes is not supported.";
  Check(std::to_array<Example>({
      // Selectors.
      {"SELECT max(count(*)), nope FROM t", "Unrecognized name nope"},
      {"SELECT max(count(*)) FROM t WHERE nope = 1", kNested},
      {"SELECT intasblob(max(min(v))) FROM t", kNested},
      {"SELECT nope FROM t WHERE p > 1", "Unrecognized name nope"},
      // WHERE.
      {"SELECT DISTINCT w FROM t WHERE w = 1", kFiltering},
      {"SELECT * FROM t WHERE w = 1 ORDER BY nope", kFiltering},
      // DISTINCT.
      {"SELECT DISTINCT v FROM t ORDER BY nope",
       "SELECT DISTINCT queries must only request partition key columns and/or static columns (not "
       "v)"},
      // ORDER BY.
      {"SELECT * FROM t WHERE p = 1 AND a > 1 AND v = 1 ORDER BY a", kIndexed},
      {"SELECT * FROM t WHERE a = 1 AND v = 1 ORDER BY a", kIndexed},
      {"SELECT * FROM t WHERE p = 1 GROUP BY nope ORDER BY other",
       "Order by on unknown column other"},
      // ALLOW FILTERING.
      {"SELECT * FROM t WHERE a = 1 AND v = 1 GROUP BY nope", kFiltering},
      // GROUP BY, then what follows.
      {"SELECT * FROM t GROUP BY nope USING TIMEOUT 1mo", "Group by unknown column nope"},
  }));
}

}  // namespace plan_select_test
}  // namespace liststore
