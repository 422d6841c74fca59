#include "engine/shard/catalog.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace liststore {
namespace catalog_test {

std::shared_ptr<const TableDefinition> NewTable(const std::string& name) {
  TableDefinition table;
  table.keyspace = "ks";
  table.name = name;
  table.columns = {{"k", CqlType::kInt, ColumnKind::kPartitionKey, 0, false}};
  CompleteTable(table);
  return std::make_shared<const TableDefinition>(std::move(table));
}

TEST(CatalogTest, AChangeIsSeenByThoseWhoLookAfterIt) {
  shard::Catalog catalog;
  const std::shared_ptr<const Schema> before = catalog.snapshot();
  EXPECT_TRUE(catalog.Change([](Schema& schema) {
    shard::Catalog::PutTable(schema, NewTable("a"));
    shard::Catalog::PutTable(schema, NewTable("b"));
    return true;
  }));
  const std::shared_ptr<const Schema> after = catalog.snapshot();
  EXPECT_EQ(before->FindTable("ks", "a"), nullptr) << "a snapshot does not change";
  EXPECT_NE(after->FindTable("ks", "a"), nullptr);
  EXPECT_NE(after->FindTable("ks", "b"), nullptr);
  EXPECT_NE(after->version, before->version);
  EXPECT_GT(after->generation, before->generation);
  EXPECT_EQ(catalog.generation(), after->generation);
}

TEST(CatalogTest, AChangeThatIsGivenUpLeavesNothing) {
  shard::Catalog catalog;
  const std::shared_ptr<const Schema> before = catalog.snapshot();
  EXPECT_FALSE(catalog.Change([](Schema& schema) {
    shard::Catalog::PutTable(schema, NewTable("a"));
    return false;
  }));
  EXPECT_EQ(catalog.snapshot(), before);
  EXPECT_EQ(catalog.generation(), before->generation);
}

TEST(CatalogTest, AChangeThatNobodySeesKeepsTheVersion) {
  shard::Catalog catalog;
  const auto before = catalog.snapshot();
  EXPECT_EQ(catalog.ChangeAs([](Schema&) { return shard::Catalog::Outcome::kUnseen; }),
            shard::Catalog::Outcome::kUnseen);
  const auto after = catalog.snapshot();
  EXPECT_NE(after, before);
  EXPECT_EQ(after->version, before->version);
  EXPECT_GT(after->generation, before->generation);
  EXPECT_EQ(catalog.generation(), after->generation);
  EXPECT_EQ(catalog.ChangeAs([](Schema&) { return shard::Catalog::Outcome::kNothing; }),
            shard::Catalog::Outcome::kNothing);
  EXPECT_EQ(catalog.snapshot(), after);
}

TEST(CatalogTest, IdentitiesDiffer) {
  shard::Catalog catalog;
  EXPECT_NE(catalog.NewUuid(), catalog.NewUuid());
  EXPECT_NE(shard::Catalog().snapshot()->version, shard::Catalog().snapshot()->version);
}

}  // namespace catalog_test
}  // namespace liststore
