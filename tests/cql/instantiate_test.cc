// Bound values -> keys and ranges: which encoded rows a restriction takes in, told by a plain look
// at every row.
#include "engine/cql/plan/instantiate.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/cql/plan/planner.h"
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
    const auto plan = PlanText("SELECT * FROM ks.t WHERE p = 1" + condition.text, schema, "");
    ASSERT_TRUE(plan.ok()) << condition.text << ": " << plan.error().message;
    const auto& select = std::get<SelectPlan>((*plan)->body);
    std::vector<EncodedRange> ranges;
    ASSERT_TRUE(EncodeRanges(*select.table, select.clustering, {}, KeyUse::kRead, ranges).ok());
    for (int i = 0; i < 64; ++i) {
      const Row row{i / 16, i / 4 % 4, i % 4};
      const std::string values[] = {Int(row.a), Int(row.b), Int(row.c)};
      const std::string_view views[] = {values[0], values[1], values[2]};
      std::string key;
      AppendClusteringKey(select.table->storage.clustering, views, key);
      bool inside = false;
      for (const EncodedRange& range : ranges) {
        inside |= key >= range.lower && (range.to_end || key < range.upper);
      }
      ASSERT_EQ(inside, condition(row)) << condition.text << " row " << row.a << row.b << row.c;
    }
  }
}

TEST(InstantiateTest, PartitionKeysComeByTheirValuesEachOnce) {
  const auto plan = PlanText("SELECT * FROM ks.t WHERE p IN (5, -3, 5, 1, 4, 2)",
                             TestSchema(false, false, false), "");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const auto& select = std::get<SelectPlan>((*plan)->body);
  std::vector<std::string> keys;
  ASSERT_TRUE(
      EncodePartitionKeys(*select.table, select.partition_key, {}, KeyUse::kRead, keys).ok());
  const std::vector<std::string> expected = {Int(-3), Int(1), Int(2), Int(4), Int(5)};
  EXPECT_EQ(keys, expected);
}

TEST(InstantiateTest, ListsThatNameTooManyKeysAreRefused) {
  std::string list = "0";
  for (int i = 1; i <= 100; ++i) list += ", " + std::to_string(i);
  const auto plan = PlanText("SELECT * FROM ks.t WHERE p = 1 AND a IN (" + list + ")",
                             TestSchema(false, false, false), "");
  ASSERT_TRUE(plan.ok());
  const auto& select = std::get<SelectPlan>((*plan)->body);
  std::vector<EncodedRange> ranges;
  const CqlStatus status =
      EncodeRanges(*select.table, select.clustering, {}, KeyUse::kRead, ranges);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, CqlErrorCode::kServerError);
  EXPECT_EQ(status.error().message,
            "size of clustering-key IN list or clustering-key cartesian product of IN list 101 is "
            "greater than maximum 100. Use --max-clustering-key-restrictions-per-query "
            "configuration option to change default setting.");
}

TEST(InstantiateTest, BoundValuesAreChecked) {
  const auto plan = PlanText("SELECT * FROM ks.t WHERE p = ? AND a > ? LIMIT ?",
                             TestSchema(false, false, false), "");
  ASSERT_TRUE(plan.ok());
  const auto& select = std::get<SelectPlan>((*plan)->body);
  const std::string one = Int(1);
  const auto partition_keys = [&](BoundValue value, KeyUse use) {
    const std::vector<BoundValue> values = {value, {}, {}};
    std::vector<std::string> keys;
    const CqlStatus status =
        EncodePartitionKeys(*select.table, select.partition_key, values, use, keys);
    return status.ok() ? std::to_string(keys.size()) : status.error().message;
  };
  EXPECT_EQ(partition_keys({BoundValue::State::kValue, one}, KeyUse::kRead), "1");
  EXPECT_EQ(partition_keys({BoundValue::State::kNull, {}}, KeyUse::kRead), "0");
  EXPECT_EQ(partition_keys({BoundValue::State::kNull, {}}, KeyUse::kWrite),
            "Invalid null value in condition for column p");
  EXPECT_EQ(partition_keys({BoundValue::State::kUnset, {}}, KeyUse::kRead),
            "Unexpected unset value for bind variable 0");
  EXPECT_EQ(partition_keys({BoundValue::State::kValue, "abc"}, KeyUse::kRead),
            "Exception while binding column p: marshaling error: Validation failed for type int: "
            "got 3 bytes");
  const auto limit = [&](BoundValue value) {
    const std::vector<BoundValue> values = {{}, {}, value};
    uint64_t rows = 0;
    const CqlStatus status = ResolveLimit(select.limit, values, "LIMIT", rows);
    return status.ok() ? std::to_string(rows) : status.error().message;
  };
  EXPECT_EQ(limit({BoundValue::State::kValue, one}), "1");
  EXPECT_EQ(limit({BoundValue::State::kUnset, {}}), std::to_string(UINT64_MAX));
  EXPECT_EQ(limit({BoundValue::State::kNull, {}}), "Invalid null value of limit");
  EXPECT_EQ(limit({BoundValue::State::kValue, "x"}), "Invalid limit value");
  const std::string zero = Int(0);
  EXPECT_EQ(limit({BoundValue::State::kValue, zero}), "LIMIT must be strictly positive");
}

TEST(InstantiateTest, TokenRanges) {
  const std::pair<std::string_view, std::pair<int64_t, int64_t>> ranges[] = {
      {"token(p) > 5", {6, INT64_MAX}},
      {"token(p) >= 5 AND token(p) < 7", {5, 6}},
      {"token(p) = 5", {5, 5}},
      {"token(p) <= -9223372036854775808", {INT64_MIN, INT64_MAX}},
  };
  for (const auto& [where, expected] : ranges) {
    const auto plan = PlanText("SELECT * FROM ks.t WHERE " + std::string(where),
                               TestSchema(false, false, false), "");
    ASSERT_TRUE(plan.ok()) << where << ": " << plan.error().message;
    std::optional<TokenRange> range;
    ASSERT_TRUE(EncodeTokenRange(std::get<SelectPlan>((*plan)->body).token_bounds, {}, range).ok());
    ASSERT_TRUE(range.has_value()) << where;
    EXPECT_EQ(range->first, expected.first) << where;
    EXPECT_EQ(range->last, expected.second) << where;
  }
  const auto plan = PlanText("SELECT * FROM ks.t WHERE token(p) > 5 AND token(p) < 5",
                             TestSchema(false, false, false), "");
  std::optional<TokenRange> range;
  ASSERT_TRUE(EncodeTokenRange(std::get<SelectPlan>((*plan)->body).token_bounds, {}, range).ok());
  EXPECT_FALSE(range.has_value());
}

}  // namespace instantiate_test
}  // namespace liststore
