#include "engine/cql/schema/computed_table.h"

#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/model/token.h"
#include "gtest/gtest.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace computed_table_test {

constexpr cql::TableSpec kSpec = {"ks",
                                  "t",
                                  "k text",
                                  "a int, b text",
                                  "z int, m frozen<map<text, list<int>>>, s set<inet>",
                                  "a comment"};

TEST(ComputedTableTest, ColumnsAreReadFromText) {
  const auto definition = cql::MakeVirtualDefinition(kSpec);
  EXPECT_EQ(testing::ColumnsAsText(*definition),
            "(k text), a int, b text | m frozen<map<text, frozen<list<int>>>>, s set<inet>, z int");
  EXPECT_TRUE(definition->is_virtual);
  EXPECT_EQ(definition->options.comment, "a comment");
  EXPECT_EQ(definition->FindColumn("b")->position, 1);
  EXPECT_EQ(definition->storage.clustering.size(), 2u);
}

// The ids that Cassandra and ScyllaDB give these tables everywhere.
TEST(ComputedTableTest, IdsAreThoseOfTheOriginal) {
  EXPECT_EQ(cql::LegacyTableId("system", "local").ToString(),
            "7ad54392-bcdd-35a6-8417-4e047860b377");
  EXPECT_EQ(cql::LegacyTableId("system", "peers").ToString(),
            "37f71aca-7dc2-383b-a706-72528af04d4f");
  EXPECT_EQ(cql::LegacyTableId("system_schema", "keyspaces").ToString(),
            "abac5682-dea6-31c5-b535-b3d6cffd0fb6");
  EXPECT_EQ(cql::LegacyTableId("system_schema", "columns").ToString(),
            "24101c25-a2ae-3af7-87c1-b40ee1aca33f");
}

TEST(ComputedTableTest, RowsComeByTokenThenByClusteringKey) {
  const cql::ComputedTable table(
      kSpec, [](const cql::VirtualReadContext&, cql::RowCollector& rows) {
        for (const char* key : {"d", "b", "a", "c", "e"}) {
          for (const int a : {10, -1, 9}) {
            for (const char* b : {"", "x"}) {
              rows.Row().Set("k", key).Set("a", cql::EncodeInt(a)).Set("b", b);
            }
          }
        }
      });
  const Schema schema;
  const cql::NodeFacts node;
  const auto rows = testing::NamedRows(table, {schema, node, {}, 0});
  ASSERT_EQ(rows.size(), 30u);
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const Token here = TokenOf(*rows[i].at("k"));
    const Token next = TokenOf(*rows[i + 1].at("k"));
    ASSERT_LE(here, next) << i;
    if (here != next) continue;
    const auto position = [](const testing::NamedRow& row) {
      return std::pair(testing::AsInt(row.at("a")), *row.at("b"));
    };
    EXPECT_LT(position(rows[i]), position(rows[i + 1])) << "as numbers, not as bytes: " << i;
  }
}

TEST(ComputedTableTest, WhatIsNotSetIsNull) {
  const cql::ComputedTable table(kSpec, [](const cql::VirtualReadContext&,
                                           cql::RowCollector& rows) {
    rows.Row().Set("k", "key").Set("a", cql::EncodeInt(1)).Set("b", "").Set("z", cql::EncodeInt(7));
  });
  const Schema schema;
  const cql::NodeFacts node;
  const auto rows = testing::NamedRows(table, {schema, node, {}, 0});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("m"), std::nullopt);
  EXPECT_EQ(rows[0].at("b"), "");
  EXPECT_EQ(testing::AsInt(rows[0].at("z")), 7);
}

TEST(ComputedTableTest, WithoutAFunctionThereAreNoRows) {
  const cql::ComputedTable table(kSpec, nullptr);
  const Schema schema;
  const cql::NodeFacts node;
  EXPECT_TRUE(table.Rows({schema, node, {}, 0}).empty());
}

}  // namespace computed_table_test
}  // namespace liststore
