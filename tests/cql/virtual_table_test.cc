#include "engine/cql/schema/virtual_table.h"

#include <memory>

#include "engine/cql/schema/computed_table.h"
#include "engine/shard/catalog.h"
#include "gtest/gtest.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace virtual_table_test {

constexpr cql::TableSpec kFirst = {"liststore", "first", "k text", "", "v int", ""};
constexpr cql::TableSpec kSecond = {"liststore", "second", "k text", "", "v int", ""};
constexpr cql::TableSpec kOther = {"system", "first", "k text", "", "v int", ""};

TEST(VirtualTablesTest, TablesAreFoundByKeyspaceAndName) {
  cql::VirtualTables tables;
  tables.Add(std::make_unique<cql::ComputedTable>(kFirst, nullptr));
  tables.Add(std::make_unique<cql::ComputedTable>(kOther, nullptr));
  ASSERT_NE(tables.Find("liststore", "first"), nullptr);
  EXPECT_EQ(tables.Find("liststore", "first")->definition()->keyspace, "liststore");
  EXPECT_EQ(tables.Find("system", "first")->definition()->keyspace, "system");
  EXPECT_EQ(tables.Find("liststore", "second"), nullptr);
  EXPECT_EQ(tables.Find("first", "liststore"), nullptr);
}

TEST(VirtualTablesTest, WritesAreRefusedUnlessATableSaysOtherwise) {
  cql::VirtualTables tables;
  tables.Add(std::make_unique<cql::ComputedTable>(kFirst, nullptr));
  EXPECT_EQ(tables.Find("liststore", "first")->Write({{"k", "x"}}),
            cql::CqlError::Invalid("this virtual table doesn't allow updates"));
}

TEST(VirtualTablesTest, DefinitionsJoinASchema) {
  cql::VirtualTables tables;
  tables.Add(std::make_unique<cql::ComputedTable>(kFirst, nullptr));
  tables.Add(std::make_unique<cql::ComputedTable>(kSecond, nullptr));
  tables.Add(std::make_unique<cql::ComputedTable>(kOther, nullptr));
  shard::Catalog catalog;
  catalog.Change([&tables](Schema& schema) {
    // The list store made its keyspace before.
    shard::Catalog::PutTable(schema, testing::ListItems("liststore", /*local=*/true));
    tables.PutInto(schema);
    return true;
  });
  const auto schema = catalog.snapshot();
  EXPECT_EQ(schema->FindTable("liststore", "second"),
            tables.Find("liststore", "second")->definition());
  EXPECT_NE(schema->FindTable("liststore", "list_items"), nullptr) << "what was there stays";
  EXPECT_EQ(schema->FindKeyspace("system")->replication.at("class"),
            "org.apache.cassandra.locator.LocalStrategy");
  EXPECT_EQ(schema->FindKeyspace("liststore")->replication.at("class"),
            "org.apache.cassandra.locator.SimpleStrategy")
      << "a keyspace keeps its replication";
}

}  // namespace virtual_table_test
}  // namespace liststore
