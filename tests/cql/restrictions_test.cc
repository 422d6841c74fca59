// WHERE: relations that go together, what they mean together, and which of several errors is told.
// Sources: ScyllaDB cql3/restrictions/statement_restrictions.cc, where no other file is named.
#include "engine/cql/planner/restrictions.h"

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
namespace restrictions_test {

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
  const auto key = [](std::string name, uint16_t position, DataType type = CqlType::kInt) {
    return ColumnDefinition{std::move(name), std::move(type), ColumnKind::kPartitionKey, position,
                            false};
  };
  const auto clustering = [](std::string name, uint16_t position, bool descending = false,
                             DataType type = CqlType::kInt) {
    return ColumnDefinition{std::move(name), std::move(type), ColumnKind::kClustering, position,
                            descending};
  };
  const auto cell = [](std::string name, DataType type = CqlType::kInt,
                       ColumnKind kind = ColumnKind::kRegular) {
    return ColumnDefinition{std::move(name), std::move(type), kind};
  };
  const DataType list = DataType::List(CqlType::kInt);
  const DataType map = DataType::Map(CqlType::kText, CqlType::kInt);
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables["t"] =
      Table("t",
            {key("p", 0), clustering("b", 0), clustering("c", 1), clustering("d", 2, true),
             cell("s", CqlType::kInt, ColumnKind::kStatic), cell("v"), cell("w"), cell("l", list)},
            {});
  keyspace->tables["two"] =
      Table("two", {key("p", 0), key("q", 1), clustering("c", 0), cell("v"), cell("w")},
            {{"two_v", "v", false}});
  keyspace->tables["texts"] =
      Table("texts",
            {key("p", 0), key("q", 1, CqlType::kText), clustering("c", 0, false, CqlType::kText),
             clustering("d", 1, false, DataType::Frozen(list)), cell("v")},
            {});
  keyspace->tables["indexed"] =
      Table("indexed",
            {key("p", 0), clustering("c", 0), clustering("d", 1), cell("v"), cell("w"),
             cell("l", list), cell("m", map), cell("n", map)},
            {{"i_v", "v", false},
             {"i_w", "w", true},
             {"i_c", "c", false},
             {"i_l", "l", false, IndexedPart::kValues},
             {"i_m", "m", false, IndexedPart::kKeys},
             {"i_n", "n", false, IndexedPart::kEntries}});
  Schema schema;
  schema.keyspaces["ks"] = keyspace;
  return schema;
}

cql::CqlOr<std::shared_ptr<const cql::Plan>> PlanIt(std::string_view text) {
  return cql::PlanText(std::string(text), TestSchema(), "ks");
}

constexpr std::string_view kFiltering =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";
constexpr std::string_view kOnlyEqual =
    "Only EQ and IN relation are supported on the partition key (unless you use the token() "
    "function or ALLOW FILTERING)";
constexpr std::string_view kMixing =
    "Mixing single column relations and multi column relations on clustering columns is not "
    "allowed";
constexpr std::string_view kBehindSlice =
    "Clustering column \"d\" cannot be restricted (preceding column \"c\" is restricted by a "
    "non-EQ "
    "relation)";
constexpr std::string_view kBeforeSlice =
    "PRIMARY KEY column \"d\" cannot be restricted (preceding column \"c\" is restricted by a "
    "non-EQ relation)";

// An error, or "" where there is none.
struct Example {
  std::string_view statement;
  std::string_view error;
};

void Check(std::span<const Example> examples) {
  for (const Example& example : examples) {
    const auto plan = PlanIt(example.statement);
    EXPECT_EQ(plan.ok() ? "" : plan.error().message, example.error) << example.statement;
    if (!plan.ok()) {
      EXPECT_EQ(plan.error().code, CqlErrorCode::kInvalid) << example.statement;
    }
  }
}

// possible_lhs_values, num_clustering_prefix_columns_that_need_not_be_filtered.
TEST(RestrictionsTest, SeveralRelationsOnAColumnNeedNoFiltering) {
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = 1 AND p = 2", ""},
      {"SELECT * FROM t WHERE p = 1 AND p = 1", ""},
      {"SELECT * FROM t WHERE p = 1 AND p IN (1, 2)", ""},
      {"SELECT * FROM t WHERE p IN ? AND p IN (1, ?)", ""},
      {"SELECT * FROM t WHERE p = 1 AND p = null", ""},
      {"SELECT * FROM t WHERE p = 1 AND p > 0", kOnlyEqual},
      {"SELECT * FROM t WHERE p = 1 AND p > 0 ALLOW FILTERING", ""},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND b = 2", ""},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND b > 0", ""},
      {"SELECT * FROM t WHERE p = 1 AND b > 0 AND b = 1", ""},
      {"SELECT * FROM t WHERE p = 1 AND b IN (1, 2) AND b IN (2, 3)", ""},
      {"SELECT * FROM t WHERE p = 1 AND b IN (1, 2) AND b > 1", ""},
      {"SELECT * FROM t WHERE p = 1 AND b > 1 AND b > 2 AND b < 9", ""},
      {"SELECT * FROM t WHERE p = 1 AND c = 1 AND b = 1 AND b = 1 AND d > 1 AND c = 1", ""},
      {"SELECT * FROM t WHERE b = 1 AND p = 1 AND b = 1", ""},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND c = 1 AND c > 0 AND d = 0", kBehindSlice},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND c = 1 AND d = 0 AND c > 0", kBeforeSlice},
      {"SELECT * FROM indexed WHERE v = 1 AND v = 1", ""},
      {"SELECT * FROM indexed WHERE v = 1 AND v = 2", ""},
      {"SELECT * FROM indexed WHERE v = 1 AND v > 0", kFiltering},
      {"SELECT * FROM indexed WHERE p = 1 AND p = 1 AND w = 1", ""},
      {"SELECT * FROM t WHERE v = 1 AND v = 1", kFiltering},
  }));
}

TEST(RestrictionsTest, RelationsOnAKeyColumnAreOnePartOfTheKey) {
  const auto select = [](std::string_view text) {
    const auto plan = PlanIt(text);
    EXPECT_TRUE(plan.ok()) << text;
    return std::get<cql::SelectPlan>((*plan)->body);
  };
  const cql::SelectPlan both = select("SELECT * FROM t WHERE p = 1 AND p IN (1, 2)");
  ASSERT_EQ(both.partition_key.size(), 1u);
  EXPECT_EQ(both.partition_key[0].also.size(), 1u);
  EXPECT_TRUE(both.filters.empty());
  const cql::SelectPlan rows =
      select("SELECT * FROM t WHERE p = 1 AND b = 1 AND b > 0 AND c = 1 ALLOW FILTERING");
  ASSERT_EQ(rows.clustering.prefix.size(), 1u);
  EXPECT_EQ(rows.clustering.prefix[0].also.size(), 1u);
  EXPECT_TRUE(rows.clustering.slices.empty());
  EXPECT_EQ(rows.filters.size(), 1u) << "c stands behind a slice";
  const cql::SelectPlan filtered = select("SELECT * FROM t WHERE p = 1 AND p > 0 ALLOW FILTERING");
  EXPECT_EQ(filtered.partition_key.size(), 1u);
  EXPECT_EQ(filtered.filters.size(), 1u);
}

// add_restriction and what it calls: relation by relation, in the order of the text.
TEST(RestrictionsTest, ErrorsComeInTheOrderOfTheRelations) {
  constexpr std::string_view kContains =
      "Cannot restrict clustering columns by a CONTAINS relation without a secondary index or "
      "filtering";
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p > 1 AND zz = 1", kOnlyEqual},
      {"SELECT * FROM t WHERE zz = 1 AND p > 1", "Unrecognized name zz"},
      {"SELECT * FROM t WHERE p > 1 AND v = 'a'", kOnlyEqual},
      {"SELECT * FROM t WHERE w = 1 AND p > 1", kOnlyEqual},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND c > 1 AND d = 1 AND zz = 1", kBehindSlice},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND d = 1 AND c > 1 AND zz = 1", kBeforeSlice},
      {"SELECT * FROM t WHERE p = 1 AND d = 1 AND zz = 1", "Unrecognized name zz"},
      {"SELECT * FROM texts WHERE p = 1 AND q = 'q' AND c > 'c' AND d CONTAINS 2", kBehindSlice},
      {"SELECT * FROM texts WHERE p = 1 AND q = 'q' AND d CONTAINS 2", kContains},
      {"SELECT * FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%' AND d CONTAINS 2", kContains},
      {"SELECT * FROM t WHERE v IS NOT NULL AND zz = 1",
       "restriction 'v IS NOT null' is only supported in materialized view creation"},
  }));
}

// The constructor: for all relations together.
TEST(RestrictionsTest, ThenWhatIsWrongTogether) {
  constexpr std::string_view kGap =
      "PRIMARY KEY column \"c\" cannot be restricted as preceding column \"b\" is not restricted";
  Check(std::to_array<Example>({
      {"SELECT * FROM two WHERE p = 1 AND c = 1 AND w = 1", kFiltering},
      {"SELECT s FROM t WHERE p = 1 AND c = 1",
       "Cannot restrict clustering columns when selecting only static columns"},
      {"SELECT * FROM t WHERE p = 1 AND c = 1 AND w = 1", kGap},
      {"SELECT * FROM t WHERE c = 1", kGap},
      {"SELECT * FROM t WHERE p = 1 AND w = 1", kFiltering},
      {"SELECT DISTINCT p FROM t WHERE p = 1 AND w = 1", kFiltering},
      {"SELECT * FROM two WHERE p = 1 AND q IN (1, 2) AND v = 1", kFiltering},
      {"SELECT * FROM indexed WHERE c = 1 AND v = 1 ORDER BY c",
       "ORDER BY with 2ndary indexes is not supported."},
      {"SELECT * FROM indexed WHERE c = 1 AND v = 1", kFiltering},
  }));
}

// cql3/statements/select_statement.cc, check_needs_filtering, looks at key ranges and indexes alone.
TEST(RestrictionsTest, LikeOnTheNextClusteringColumnNeedsNoLeave) {
  Check(std::to_array<Example>({
      {"SELECT * FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%'", ""},
      {"SELECT * FROM texts WHERE p = 1 AND q IN ('q', 'r') AND c LIKE 'a%'", ""},
      {"SELECT * FROM texts WHERE c LIKE 'a%'", kFiltering},
      {"SELECT * FROM texts WHERE p = 1 AND c LIKE 'a%'", kFiltering},
  }));
  const auto plan = PlanIt("SELECT * FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%'");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(std::get<cql::SelectPlan>((*plan)->body).filters.size(), 1u);
}

// cql3/expr/restrictions.cc, validate_and_prepare_new_restriction.
TEST(RestrictionsTest, InOfOneIsAnEquality) {
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = 0 AND b IN (1) ORDER BY c", ""},
      {"SELECT * FROM t WHERE p = 0 AND (b, c) IN ((1, 1)) ORDER BY d", ""},
      {"SELECT * FROM indexed WHERE v IN (1)", ""},
      {"SELECT * FROM indexed WHERE v IN (?)", ""},
      {"SELECT * FROM indexed WHERE c IN (1)", ""},
      {"SELECT * FROM indexed WHERE v IN ?", kFiltering},
      {"SELECT * FROM indexed WHERE v IN (1, 1)", kFiltering},
      {"SELECT * FROM indexed WHERE p IN (1) AND v = 1", ""},
      {"SELECT * FROM indexed WHERE p IN (1) AND w IN (1)", ""},
      {"SELECT * FROM indexed WHERE p IN (1, 2) AND v = 1", kFiltering},
      {"UPDATE t SET v = 1 WHERE p IN (1) AND b IN (1) AND c = 1 AND d IN (?) IF v = 1", ""},
      {"DELETE FROM t WHERE p IN (1) AND (b, c, d) IN ((1, 1, 1)) IF EXISTS", ""},
      {"UPDATE t SET v = 1 WHERE p IN (1, 1) AND b = 1 AND c = 1 AND d = 1 IF v = 1",
       "IN on the partition key is not supported with conditional updates"},
      {"UPDATE t SET v = 1 WHERE p IN ? AND b = 1 AND c = 1 AND d = 1 IF v = 1",
       "IN on the partition key is not supported with conditional updates"},
  }));
}

// cql3/expr/restrictions.cc, validate_multi_column_relation.
TEST(RestrictionsTest, TuplesBeginWithTheFirstClusteringColumn) {
  constexpr std::string_view kSkipped =
      "Clustering columns may not be skipped in multi-column relations. They should appear in the "
      "PRIMARY KEY order";
  constexpr std::string_view kOrder =
      "Clustering columns must appear in the PRIMARY KEY order in multi-column relations";
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = 1 AND (c, d) > (1, 0)", kSkipped},
      {"SELECT * FROM t WHERE p = 1 AND (c, d) > (1, 0) ALLOW FILTERING", kSkipped},
      {"SELECT * FROM t WHERE p = 1 AND b = 1 AND (c) = (1)", kSkipped},
      {"SELECT * FROM t WHERE p = 1 AND (d) IN ((1))", kSkipped},
      {"SELECT * FROM t WHERE p = 1 AND (c, b) = (1, 1)", kSkipped},
      {"DELETE FROM t WHERE p = 1 AND b = 1 AND (c, d) > (1, 0)", kSkipped},
      {"UPDATE t SET v = 1 WHERE p = 1 AND b = 1 AND (c, d) = (1, 0)", kSkipped},
      {"SELECT * FROM t WHERE p = 1 AND (b, d) = (1, 1)", kOrder},
      {"SELECT * FROM t WHERE p = 1 AND (b, b) = (1, 1)", kOrder},
      {"SELECT * FROM t WHERE p = 1 AND (b, c, c) = (1, 1, 1)", kOrder},
      {"SELECT * FROM t WHERE p = 1 AND (b, v) = (1, 1)",
       "Multi-column relations can only be applied to clustering columns but was applied to: v"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND (b, c) = (0, 0) AND d = 0", kMixing},
      {"DELETE FROM t WHERE p = 1 AND b = 0 AND (b, c) = (0, 0)", kMixing},
  }));
}

// add_multi_column_clustering_key_restriction.
TEST(RestrictionsTest, TuplesBesideTuples) {
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = 1 AND (b) > (0) AND (b) = (1)",
       "b cannot be restricted by more than one relation if it includes an Equal"},
      {"SELECT * FROM t WHERE p = 1 AND (b, c) = (0, 0) AND (b, c, d) IN ((1, 1, 1))",
       "b ,c cannot be restricted by more than one relation if it includes an Equal"},
      {"SELECT * FROM t WHERE p = 1 AND (b, c) > (0, 0) AND (b) IN ((1), (2))",
       "b cannot be restricted by more than one relation if it includes a IN"},
      {"SELECT * FROM t WHERE p = 1 AND (b) = (0) AND (b) > (1)",
       "Column \"b\" cannot be restricted by both an equality and an inequality relation"},
      {"SELECT * FROM t WHERE p = 1 AND (b) IN ((0), (1)) AND (b, c) > (1, 1)",
       "Column \"b\" cannot be restricted by both an equality and an inequality relation"},
      {"SELECT * FROM t WHERE p = 1 AND (b) > (0) AND (b) > (1)",
       "More than one restriction was found for the start bound on b"},
      {"SELECT * FROM t WHERE p = 1 AND (b) < (1) AND (b, c) < (1, 2)",
       "More than one restriction was found for the end bound on b"},
      {"SELECT * FROM t WHERE p = 1 AND (b) > (0) AND (b, c) < (1, 2)", ""},
  }));
}

// cql3/expr/prepare_expr.cc, list_validate_assignable_to; cql3/expr/restrictions.cc,
// preliminary_binop_vaidation_checks.
TEST(RestrictionsTest, ElementsOfListsAndTuples) {
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = 1 AND (b, c, d) IN ((1, 2, 3, 4, 5), (1, 2, 3))",
       "Invalid list literal for in((b,c,d)): value (1, 2, 3, 4, 5) is not of type "
       "frozen<tuple<int, int, int>>"},
      {"SELECT * FROM t WHERE p = 1 AND (b, c) IN ((1, 'x'))",
       "Invalid list literal for in((b,c)): value (1, 'x') is not of type frozen<tuple<int, int>>"},
      {"SELECT * FROM t WHERE p = 1 AND (b, c, d) IN ((1, 2), (1, 2, 3))",
       "Expected 3 elements in value tuple, but got 2"},
      {"SELECT * FROM nothing.t WHERE (zz, c) = (1, 2, 3)", "Keyspace nothing does not exist"},
      {"SELECT * FROM t WHERE (zz, c) = (1, 2, 3)",
       "Expected 2 elements in value tuple, but got 3: (1, 2, 3)"},
      {"SELECT * FROM t WHERE p IN (1, 'x')",
       "Invalid list literal for in(p): value 'x' is not of type int"},
  }));
}

// cql3/statements/modification_statement.cc, process_where_clause.
TEST(RestrictionsTest, UpdateAndDeleteGoThroughTheSameRelations) {
  Check(std::to_array<Example>({
      {"UPDATE t SET v = 5 WHERE p = 1 AND p = 1 AND b = 0 AND c = 0 AND d = 0", ""},
      {"DELETE FROM t WHERE p = 2 AND b > 1 AND b > 2", ""},
      {"UPDATE t SET v = 1 WHERE p > 1", kOnlyEqual},
      {"DELETE FROM t WHERE p > 1", kOnlyEqual},
      {"DELETE FROM t WHERE p = 1 AND b = 1 AND c > 1 AND d = 1", kBehindSlice},
      {"UPDATE t SET v = 1 WHERE p = 1 AND b = 1 AND d = 1 AND c > 1", kBeforeSlice},
      {"DELETE FROM t WHERE p = 1 AND d = 1",
       "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"b\" is not restricted"},
      {"DELETE FROM texts WHERE p = 1 AND q = 'q' AND d CONTAINS 2",
       "Cannot restrict clustering columns by a CONTAINS relation without a secondary index or "
       "filtering"},
      {"DELETE FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%'",
       "Invalid operator in where clause (c LIKE 'a%')"},
      {"DELETE FROM t WHERE p = 1 AND token(p) = 1",
       "Columns \"ColumnDefinition{name=p, type=org.apache.cassandra.db.marshal.Int32Type, "
       "kind=PARTITION_KEY, componentIndex=0, droppedAt=-9223372036854775808}\" cannot be "
       "restricted by both a normal relation and a token relation"},
      {"DELETE FROM two WHERE token(p, q) = 1 AND v = 1",
       "The token function cannot be used in WHERE clauses for UPDATE and DELETE statements: "
       "(token(p, q) = 1)"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND w = 1 AND v = 1 AND b > 1",
       "Invalid where clause contains non PRIMARY KEY columns: v, w"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND b > 1", "Invalid operator in where clause (b > 1)"},
      {"UPDATE t SET v = 1 WHERE b = 1 AND c IN (1) AND d > ?",
       "Invalid operator in where clause (b = 1) AND (c = 1) AND (d > ?)"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND (b, c) > (1, 1)",
       "Invalid operator in where clause (b, c) > (1, 1)"},
      {"UPDATE t SET v = 1 WHERE b = 1", "Missing mandatory PRIMARY KEY part c"},
      {"UPDATE t SET v = 1 WHERE b = 1 AND c = 1 AND d = 1",
       "Missing mandatory PRIMARY KEY part p"},
      {"DELETE FROM t WHERE b = 1", "Missing mandatory PRIMARY KEY part p"},
      {"DELETE v FROM t WHERE b = 1",
       "Primary key column 'c' must be specified in order to modify column 'v'"},
      {"DELETE v FROM t WHERE p = 1 AND b > 1",
       "Range deletions are not supported for specific columns"},
      {"UPDATE t SET l = [1] WHERE p = 1 AND d = 1", "Missing mandatory PRIMARY KEY part b"},
      {"UPDATE t SET s = 1 WHERE p = 1 AND b > 1",
       "Invalid restrictions on clustering columns since the UPDATE statement modifies only static "
       "columns"},
      {"DELETE v FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%' AND d = [1]",
       "Invalid operator in where clause (c LIKE 'a%') AND (d = [1])"},
      {"UPDATE texts SET v = 1 WHERE p = 1 AND q = 'q' AND c LIKE 'a%' AND d = [1]",
       "Invalid operator in where clause (c LIKE 'a%') AND (d = [1])"},
      {"UPDATE texts SET v = 1 WHERE p = 1 AND q = 'q' AND c LIKE 'a%'",
       "Missing mandatory PRIMARY KEY part d"},
      {"DELETE v FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%'",
       "Primary key column 'd' must be specified in order to modify column 'v'"},
      {"DELETE FROM texts WHERE p = 1 AND q LIKE 'a%'", kOnlyEqual},
      {"DELETE FROM t WHERE p = 1 AND c LIKE 'a%'",
       "LIKE is allowed only on string types, which c is not"},
      {"DELETE FROM t WHERE p = 1 AND b NOT IN (1, 2)",
       "Invalid operator in where clause (b NOT IN (1, 2))"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND b = 1 AND c = 1 AND d NOT IN (1)",
       "Invalid operator in where clause (b = 1) AND (c = 1) AND (d NOT IN (1))"},
      {"DELETE FROM t WHERE p = 1 AND (b, c) NOT IN ((1, 2))",
       "Invalid operator in where clause (b, c) NOT IN ((1, 2))"},
      {"DELETE FROM t WHERE p NOT IN (1)", kOnlyEqual},
      {"DELETE FROM texts WHERE p = 1 AND q = 'q' AND c LIKE 'a%' AND d = [1] IF EXISTS",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to delete non static columns"},
      {"DELETE FROM t WHERE p = 1 AND b = 1 AND c = 1 AND d NOT IN (1) IF v = 1",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to delete non static columns"},
      {"UPDATE t SET zz = 1 WHERE p > 1", "Unknown identifier zz"},
      {"UPDATE t SET v = 1 WHERE p > 1 IF zz = 1", "Unrecognized name zz"},
      {"DELETE FROM t WHERE p = 1 AND b = 1 AND c = 1 AND d = 1 AND d > 0 IF EXISTS",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to "
       "delete non static columns"},
  }));
}

// index/secondary_index_manager.cc, supports_expression; is_supported_by_helper.
TEST(RestrictionsTest, AnIndexOfPartsAnswersOneRelation) {
  Check(std::to_array<Example>({
      {"SELECT * FROM indexed WHERE l CONTAINS 1", ""},
      {"SELECT * FROM indexed WHERE m CONTAINS KEY 'a'", ""},
      {"SELECT * FROM indexed WHERE n['a'] = 1", ""},
      {"SELECT * FROM indexed WHERE l CONTAINS 1 AND l CONTAINS 2", kFiltering},
      {"SELECT * FROM indexed WHERE l CONTAINS 1 AND l CONTAINS 1", kFiltering},
      {"SELECT * FROM indexed WHERE m CONTAINS KEY 'a' AND m CONTAINS KEY 'b'", kFiltering},
      {"SELECT * FROM indexed WHERE n['a'] = 1 AND n['b'] = 1", kFiltering},
      {"SELECT * FROM indexed WHERE n['a'] = 1 AND n['a'] = 1", kFiltering},
      {"SELECT * FROM indexed WHERE p = 1 AND c = 1 AND d = 1 AND l CONTAINS 1 AND l CONTAINS 2",
       kFiltering},
      {"SELECT * FROM indexed WHERE l CONTAINS 1 AND l CONTAINS 2 ALLOW FILTERING", ""},
  }));
}

// cql3/functions/functions.cc, get, validate_types; cql3/expr/restrictions.cc,
// validate_token_relation.
TEST(RestrictionsTest, TokenIsACallFirst) {
  constexpr std::string_view kOrder =
      "The token function arguments must be in the partition key order: p, q";
  Check(std::to_array<Example>({
      {"SELECT * FROM two WHERE token(p) > 1",
       "Invalid number of arguments in call to function system.token: 2 required but 1 provided"},
      {"SELECT * FROM texts WHERE token(q, p) > 1",
       "Type error: q cannot be passed as argument 0 of function system.token of type int"},
      {"SELECT * FROM two WHERE token(p, zz) > 1", "Unrecognized name zz"},
      {"SELECT * FROM two WHERE token(p, p) > 1",
       "The token() function contains duplicate partition key components"},
      {"SELECT * FROM two WHERE token(q, p) > 1", kOrder},
      {"SELECT * FROM two WHERE token(c, v) > 1", kOrder},
      {"SELECT * FROM two WHERE token(q, p) > 'a'",
       "Invalid STRING constant (a) for \"partition key token\" of type bigint"},
      {"SELECT * FROM two WHERE token(p, q) > null", ""},
      {"SELECT * FROM two WHERE token(p, q) > 1 AND token(p, q) < 5 AND token(p, q) = 3", ""},
  }));
}

// cql3/expr/expression.cc, verify_no_aggregate_functions.
TEST(RestrictionsTest, AggregatesAreNoValues) {
  const auto refused = [](std::string_view clause) {
    return "Aggregation functions are not supported in the " + std::string(clause);
  };
  const std::string where = refused("WHERE clause");
  const std::string set = refused("SET clause");
  const std::string condition = refused("IF clause");
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE p = max((int) 1)", where},
      {"SELECT * FROM t WHERE p = 1 AND v = max((int) 1) ALLOW FILTERING", where},
      {"UPDATE t SET v = max((int) 1) WHERE p = 1 AND b = 1 AND c = 1 AND d = 1", set},
      {"UPDATE t SET v = 1 WHERE p = max((int) 1) AND b = 1 AND c = 1 AND d = 1", where},
      {"UPDATE t SET v = 1 WHERE p = 1 AND b = 1 AND c = 1 AND d = 1 IF v = max((int) 1)",
       condition},
      {"DELETE l[max((int) 1)] FROM t WHERE p = 1 AND b = 1 AND c = 1 AND d = 1", set},
      {"INSERT INTO t (p, b, c, d, v) VALUES (1, 1, 1, 1, max((int) 1))", set},
      {"INSERT INTO t (p, b, c, d) VALUES (max((int) 1), 1, 1, 1)", where},
  }));
}

// add_is_not_restriction.
TEST(RestrictionsTest, IsNotNullIsForViews) {
  constexpr std::string_view kRefused =
      "restriction 'v IS NOT null' is only supported in materialized view creation";
  Check(std::to_array<Example>({
      {"SELECT * FROM t WHERE v IS NOT NULL", kRefused},
      {"SELECT * FROM t WHERE p = 1 AND v IS NOT NULL ALLOW FILTERING", kRefused},
      {"UPDATE t SET v = 1 WHERE p = 1 AND v IS NOT NULL", kRefused},
      {"DELETE FROM t WHERE v IS NOT NULL", kRefused},
      {"SELECT * FROM t WHERE zz IS NOT NULL", "Unrecognized name zz"},
  }));
}

}  // namespace restrictions_test
}  // namespace liststore
