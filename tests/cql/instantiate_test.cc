// Bound values -> keys and ranges: which encoded rows a restriction takes in, told by a plain look
// at every row.
#include "engine/cql/plan/instantiate.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/cql/planner/planner.h"
#include "engine/model/clustering_encoding.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore {
namespace instantiate_test {

std::string Int(int32_t value) {
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(value));
  return bytes;
}

// ks.t (p int, a int, b int, c int) with directions as given.
Schema TestSchema(bool a_descending, bool b_descending, bool c_descending) {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = "ks";
  table->name = "t";
  table->columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                    {"a", CqlType::kInt, ColumnKind::kClustering, 0, a_descending},
                    {"b", CqlType::kInt, ColumnKind::kClustering, 1, b_descending},
                    {"c", CqlType::kInt, ColumnKind::kClustering, 2, c_descending},
                    {"v", CqlType::kInt, ColumnKind::kRegular, 0, false}};
  CompleteTable(*table);
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables["t"] = table;
  Schema schema;
  schema.keyspaces["ks"] = keyspace;
  return schema;
}

struct Row {
  int a, b, c;
};

bool Holds(int left, const std::string& op, int right) {
  if (op == "=") return left == right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  return left >= right;
}

// A random WHERE on the clustering key: equalities, then one or two slices; and what it means.
struct Condition {
  std::string text;
  std::vector<std::pair<int, std::pair<std::string, int>>> parts;  // column, operator, value

  bool operator()(const Row& row) const {
    const int values[] = {row.a, row.b, row.c};
    for (const auto& [column, part] : parts) {
      if (!Holds(values[column], part.first, part.second)) return false;
    }
    return true;
  }
};

Condition RandomCondition(Random& random) {
  const std::string names[] = {"a", "b", "c"};
  const std::string slices[] = {"<", "<=", ">", ">="};
  Condition condition;
  const auto add = [&](int column, const std::string& op) {
    const int value = static_cast<int>(random.Between(-1, 4));
    condition.text += " AND " + names[column] + " " + op + " " + std::to_string(value);
    condition.parts.push_back({column, {op, value}});
  };
  const int equalities = static_cast<int>(random.Below(4));
  for (int i = 0; i < equalities; ++i) add(i, "=");
  if (equalities < 3) {
    for (uint64_t i = random.Below(3); i-- > 0;) add(equalities, slices[random.Below(4)]);
  }
  return condition;
}

TEST(InstantiateTest, RangesTakeInExactlyTheRowsThatMatch) {
  Random random(testing::TestSeed());
  const uint64_t steps = 3000;
  for (uint64_t step = 0; step < steps; ++step) {
    const Schema schema = TestSchema(random.OneIn(2), random.OneIn(2), random.OneIn(2));
    const Condition condition = RandomCondition(random);
    const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE p = 1" + condition.text, schema, "");
    ASSERT_TRUE(plan.ok()) << condition.text << ": " << plan.error().message;
    const auto& select = std::get<cql::SelectPlan>((*plan)->body);
    std::vector<cql::EncodedRange> ranges;
    ASSERT_TRUE(
        cql::EncodeRanges(*select.table, select.clustering, {}, cql::KeyUse::kRead, ranges).ok());
    for (int i = 0; i < 64; ++i) {
      const Row row{i / 16, i / 4 % 4, i % 4};
      const std::string values[] = {Int(row.a), Int(row.b), Int(row.c)};
      const std::string_view views[] = {values[0], values[1], values[2]};
      std::string key;
      AppendClusteringKey(select.table->storage.clustering, views, key);
      bool inside = false;
      for (const cql::EncodedRange& range : ranges) {
        inside |= key >= range.lower && (range.to_end || key < range.upper);
      }
      ASSERT_EQ(inside, condition(row)) << condition.text << " row " << row.a << row.b << row.c;
    }
  }
}

// Checks the ranges of a WHERE clause against what holds for each of 64 rows.
template <typename Holds>
void CheckRanges(const Schema& schema, const std::string& where, Holds&& holds) {
  const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE p = 1" + where, schema, "");
  ASSERT_TRUE(plan.ok()) << where << ": " << plan.error().message;
  const auto& select = std::get<cql::SelectPlan>((*plan)->body);
  ASSERT_TRUE(select.filters.empty()) << where;
  std::vector<cql::EncodedRange> ranges;
  ASSERT_TRUE(
      cql::EncodeRanges(*select.table, select.clustering, {}, cql::KeyUse::kRead, ranges).ok());
  for (size_t i = 1; i < ranges.size(); ++i) {
    ASSERT_FALSE(ranges[i - 1].to_end) << where;
    ASSERT_LE(ranges[i - 1].upper, ranges[i].lower) << where;
  }
  for (int i = 0; i < 64; ++i) {
    const std::array<int, 3> row = {i / 16, i / 4 % 4, i % 4};
    const std::string values[] = {Int(row[0]), Int(row[1]), Int(row[2])};
    const std::string_view views[] = {values[0], values[1], values[2]};
    std::string key;
    AppendClusteringKey(select.table->storage.clustering, views, key);
    bool inside = false;
    for (const cql::EncodedRange& range : ranges) {
      inside |= key >= range.lower && (range.to_end || key < range.upper);
    }
    ASSERT_EQ(inside, holds(row)) << where << " row " << row[0] << row[1] << row[2];
  }
}

TEST(InstantiateTest, SeveralRelationsOnAColumnAreIntersected) {
  Random random(testing::TestSeed());
  const std::string names[] = {"a", "b", "c"};
  const std::string slices[] = {"<", "<=", ">", ">="};
  for (int step = 0; step < 2000; ++step) {
    const Schema schema = TestSchema(random.OneIn(2), random.OneIn(2), random.OneIn(2));
    std::string where;
    std::vector<std::function<bool(const std::array<int, 3>&)>> all;
    const auto columns = static_cast<size_t>(random.Below(4));
    for (size_t column = 0; column < columns; ++column) {
      const bool may_slice = column + 1 == columns;
      bool equals = false;
      for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
        const int first = static_cast<int>(random.Between(-1, 4));
        const int second = static_cast<int>(random.Between(-1, 4));
        where += " AND " + names[column];
        if (may_slice && (equals || left > 1) && random.OneIn(2)) {
          const std::string& op = slices[random.Below(4)];
          where += " " + op + " " + std::to_string(first);
          all.push_back([=](const auto& row) { return Holds(row[column], op, first); });
          continue;
        }
        equals = true;
        const bool in = random.OneIn(2);
        where += in ? " IN (" + std::to_string(first) + ", " + std::to_string(second) + ")"
                    : " = " + std::to_string(first);
        all.push_back(
            [=](const auto& row) { return row[column] == first || (in && row[column] == second); });
      }
    }
    CheckRanges(schema, where, [&](const std::array<int, 3>& row) {
      return std::ranges::all_of(all, [&](const auto& holds) { return holds(row); });
    });
  }
}

// Whatever the directions of the columns. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, get_equivalent_ranges.
TEST(InstantiateTest, TuplesAreComparedByTheirValues) {
  Random random(testing::TestSeed());
  const std::string names[] = {"a", "b", "c"};
  for (int step = 0; step < 3000; ++step) {
    const Schema schema = TestSchema(random.OneIn(2), random.OneIn(2), random.OneIn(2));
    std::string where;
    std::vector<std::function<bool(const std::array<int, 3>&)>> all;
    const auto add = [&](const std::string& op) {
      const size_t columns = 1 + random.Below(3);
      std::vector<int> values;
      std::string left;
      std::string right;
      for (size_t i = 0; i < columns; ++i) {
        values.push_back(static_cast<int>(random.Between(-1, 4)));
        left += (i == 0 ? "" : ", ") + names[i];
        right += (i == 0 ? "" : ", ") + std::to_string(values.back());
      }
      where += " AND (" + left + ") " + op + " (" + right + ")";
      all.push_back([=](const std::array<int, 3>& row) {
        for (size_t i = 0; i < columns; ++i) {
          if (row[i] != values[i]) return Holds(row[i], op, values[i]);
        }
        return op == "<=" || op == ">=" || op == "=";
      });
    };
    const auto add_bound = [&](bool is_lower) {
      add(std::string(is_lower ? ">" : "<") + (random.OneIn(2) ? "=" : ""));
    };
    if (random.OneIn(6)) {
      add("=");
    } else {
      // A second bound of one side is refused beside the first relation alone.
      const bool lower_first = random.OneIn(2);
      add_bound(lower_first);
      for (uint64_t left = random.Below(4); left > 0; --left) add_bound(!lower_first);
    }
    CheckRanges(schema, where, [&](const std::array<int, 3>& row) {
      return std::ranges::all_of(all, [&](const auto& holds) { return holds(row); });
    });
  }
}

TEST(InstantiateTest, TuplesOfInMayBeManyAndHaveNoNulls) {
  std::string list = "(0, 0)";
  for (int i = 1; i <= 300; ++i) list += ", (" + std::to_string(i % 250) + ", 0)";
  struct {
    std::string where;
    std::string answer;
  } const examples[] = {
      {"(a, b) IN (" + list + ")", "250"},
      {"(a, b) = (1, null)", "Invalid null value in condition for column b"},
      {"(a, b) >= (null, null)", "Invalid null value in condition for column a"},
      {"(a, b, c) < (1, null, 1)", "Invalid null value in condition for column b"},
      {"(a) IN ((1), (null))", "Invalid null value in condition for column a"},
      {"(a, b) IN ()", "0"},
      {"a = null", "0"},
      {"a > null", "0"},
      {"a IN (1, null, 2)", "2"},
  };
  for (const bool descending : {false, true}) {
    for (const auto& [where, answer] : examples) {
      const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE p = 1 AND " + where,
                                      TestSchema(false, descending, false), "");
      ASSERT_TRUE(plan.ok()) << where << ": " << plan.error().message;
      const auto& select = std::get<cql::SelectPlan>((*plan)->body);
      std::vector<cql::EncodedRange> ranges;
      const cql::CqlStatus status =
          cql::EncodeRanges(*select.table, select.clustering, {}, cql::KeyUse::kRead, ranges);
      EXPECT_EQ(status.ok() ? std::to_string(ranges.size()) : status.error().message, answer)
          << where;
    }
  }
}

TEST(InstantiateTest, PartitionKeysComeByTheirValuesEachOnce) {
  const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE p IN (5, -3, 5, 1, 4, 2)",
                                  TestSchema(false, false, false), "");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const auto& select = std::get<cql::SelectPlan>((*plan)->body);
  std::vector<std::string> keys;
  ASSERT_TRUE(
      cql::EncodePartitionKeys(*select.table, select.partition_key, {}, cql::KeyUse::kRead, keys)
          .ok());
  const std::vector<std::string> expected = {Int(-3), Int(1), Int(2), Int(4), Int(5)};
  EXPECT_EQ(keys, expected);
}

// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc, partition_ranges_from_singles.
TEST(InstantiateTest, SeveralRelationsOnAPartitionKeyAreIntersected) {
  std::string list = "0";
  for (int i = 1; i <= 150; ++i) list += ", " + std::to_string(i);
  struct {
    std::string where;
    std::string read;
    std::string write;
  } const examples[] = {
      {"p = 1 AND p = 2", "0", "0"},
      {"p = 1 AND p = 1", "1", "1"},
      {"p IN (1, 2, 3) AND p IN (2, 3, 4)", "2", "2"},
      {"p IN (" + list + ") AND p IN (1, 500)", "1", "1"},
      {"p = 1 AND p IN (null, 1)", "1", "1"},
      {"p IN (1, null)", "1", "1"},
      {"p = 1 AND p = null", "0", "Invalid null value in condition for column p"},
      {"p = null AND p = 1", "0", "Invalid null value in condition for column p"},
      {"p IN (null)", "0", "Invalid null value in condition for column p"},
  };
  for (const auto& [where, read, write] : examples) {
    const auto plan =
        cql::PlanText("SELECT * FROM ks.t WHERE " + where, TestSchema(false, false, false), "");
    ASSERT_TRUE(plan.ok()) << where << ": " << plan.error().message;
    const auto& select = std::get<cql::SelectPlan>((*plan)->body);
    const auto found = [&](cql::KeyUse use) {
      std::vector<std::string> keys;
      const cql::CqlStatus status =
          cql::EncodePartitionKeys(*select.table, select.partition_key, {}, use, keys);
      return status.ok() ? std::to_string(keys.size()) : status.error().message;
    };
    EXPECT_EQ(found(cql::KeyUse::kRead), read) << where;
    EXPECT_EQ(found(cql::KeyUse::kWrite), write) << where;
  }
}

TEST(InstantiateTest, ListsThatNameTooManyKeysAreRefused) {
  std::string list = "0";
  for (int i = 1; i <= 100; ++i) list += ", " + std::to_string(i);
  const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE p = 1 AND a IN (" + list + ")",
                                  TestSchema(false, false, false), "");
  ASSERT_TRUE(plan.ok());
  const auto& select = std::get<cql::SelectPlan>((*plan)->body);
  std::vector<cql::EncodedRange> ranges;
  const cql::CqlStatus status =
      cql::EncodeRanges(*select.table, select.clustering, {}, cql::KeyUse::kRead, ranges);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, CqlErrorCode::kServerError);
  EXPECT_EQ(status.error().message,
            "size of clustering-key IN list or clustering-key cartesian product of IN list 101 is "
            "greater than maximum 100. Use --max-clustering-key-restrictions-per-query "
            "configuration option to change default setting.");
}

TEST(InstantiateTest, BoundValuesAreChecked) {
  const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE p = ? AND a > ? LIMIT ?",
                                  TestSchema(false, false, false), "");
  ASSERT_TRUE(plan.ok());
  const auto& select = std::get<cql::SelectPlan>((*plan)->body);
  const std::string one = Int(1);
  const auto partition_keys = [&](cql::BoundValue value, cql::KeyUse use) {
    const std::vector<cql::BoundValue> values = {value, {}, {}};
    std::vector<std::string> keys;
    const cql::CqlStatus status =
        cql::EncodePartitionKeys(*select.table, select.partition_key, values, use, keys);
    return status.ok() ? std::to_string(keys.size()) : status.error().message;
  };
  EXPECT_EQ(partition_keys({cql::BoundValue::State::kValue, one}, cql::KeyUse::kRead), "1");
  EXPECT_EQ(partition_keys({cql::BoundValue::State::kNull, {}}, cql::KeyUse::kRead), "0");
  EXPECT_EQ(partition_keys({cql::BoundValue::State::kNull, {}}, cql::KeyUse::kWrite),
            "Invalid null value in condition for column p");
  EXPECT_EQ(partition_keys({cql::BoundValue::State::kUnset, {}}, cql::KeyUse::kRead),
            "Unexpected unset value for bind variable 0");
  EXPECT_EQ(partition_keys({cql::BoundValue::State::kValue, "abc"}, cql::KeyUse::kRead),
            "Exception while binding column p: marshaling error: Validation failed for type "
            "org.apache.cassandra.db.marshal.Int32Type: got 3 bytes");
  const auto limit = [&](cql::BoundValue value) {
    const std::vector<cql::BoundValue> values = {{}, {}, value};
    uint64_t rows = 0;
    const cql::CqlStatus status = cql::ResolveLimit(select.limit, values, "LIMIT", rows);
    return status.ok() ? std::to_string(rows) : status.error().message;
  };
  EXPECT_EQ(limit({cql::BoundValue::State::kValue, one}), "1");
  EXPECT_EQ(limit({cql::BoundValue::State::kUnset, {}}), std::to_string(UINT64_MAX));
  EXPECT_EQ(limit({cql::BoundValue::State::kNull, {}}), "Invalid null value of limit");
  EXPECT_EQ(limit({cql::BoundValue::State::kValue, "x"}), "Invalid limit value");
  const std::string zero = Int(0);
  EXPECT_EQ(limit({cql::BoundValue::State::kValue, zero}), "LIMIT must be strictly positive");
}

TEST(InstantiateTest, TokenRanges) {
  const std::pair<std::string_view, std::pair<int64_t, int64_t>> ranges[] = {
      {"token(p) > 5", {6, INT64_MAX}},
      {"token(p) >= 5 AND token(p) < 7", {5, 6}},
      {"token(p) = 5", {5, 5}},
      {"token(p) <= -9223372036854775808", {INT64_MIN, INT64_MAX}},
  };
  for (const auto& [where, expected] : ranges) {
    const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE " + std::string(where),
                                    TestSchema(false, false, false), "");
    ASSERT_TRUE(plan.ok()) << where << ": " << plan.error().message;
    std::optional<cql::TokenRange> range;
    ASSERT_TRUE(
        cql::EncodeTokenRange(std::get<cql::SelectPlan>((*plan)->body).token_bounds, {}, range)
            .ok());
    ASSERT_TRUE(range.has_value()) << where;
    EXPECT_EQ(range->first, expected.first) << where;
    EXPECT_EQ(range->last, expected.second) << where;
  }
  const auto plan = cql::PlanText("SELECT * FROM ks.t WHERE token(p) > 5 AND token(p) < 5",
                                  TestSchema(false, false, false), "");
  std::optional<cql::TokenRange> range;
  ASSERT_TRUE(
      cql::EncodeTokenRange(std::get<cql::SelectPlan>((*plan)->body).token_bounds, {}, range).ok());
  EXPECT_FALSE(range.has_value());
  const auto null = cql::PlanText("SELECT * FROM ks.t WHERE token(p) > null",
                                  TestSchema(false, false, false), "");
  ASSERT_TRUE(null.ok());
  ASSERT_TRUE(
      cql::EncodeTokenRange(std::get<cql::SelectPlan>((*null)->body).token_bounds, {}, range).ok());
  EXPECT_FALSE(range.has_value()) << "nothing compares with null";
}

}  // namespace instantiate_test
}  // namespace liststore
