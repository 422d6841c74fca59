#include "engine/model/schema.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace schema_test {

TableDefinition Events() {
  TableDefinition table;
  table.keyspace = "ks";
  table.name = "events";
  table.columns = {{"zone", CqlType::kText, ColumnKind::kRegular, 0, false},
                   {"at", CqlType::kTimestamp, ColumnKind::kClustering, 0, true},
                   {"day", CqlType::kDate, ColumnKind::kPartitionKey, 1, false},
                   {"tags", DataType::Set(CqlType::kText), ColumnKind::kRegular, 0, false},
                   {"user", CqlType::kUuid, ColumnKind::kPartitionKey, 0, false},
                   {"seq", CqlType::kInt, ColumnKind::kClustering, 1, false}};
  table.indexes = {{"by_zone", "zone", true}};
  table.options.default_ttl_seconds = 60;
  table.storage.id = TableId{7};
  return table;
}

TEST(SchemaTest, ColumnsComeInTheOrderOfSelectStar) {
  TableDefinition table = Events();
  table.columns.push_back({"yearly", CqlType::kInt, ColumnKind::kStatic, 0, false});
  table.columns.push_back({"weather", CqlType::kText, ColumnKind::kStatic, 0, false});
  CompleteTable(table);
  std::vector<std::string> names;
  for (const ColumnDefinition& column : table.columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"user", "day", "at", "seq", "weather", "yearly",
                                             "tags", "zone"}))
      << "static columns stand before regular ones";
  EXPECT_EQ(table.FindColumn("zone")->position, 1) << "regular columns are numbered by name";
  EXPECT_EQ(table.FindColumn("nothing"), nullptr);
  EXPECT_EQ(table.CountOf(ColumnKind::kClustering), 2u);
  EXPECT_EQ(table.ColumnsOf(ColumnKind::kPartitionKey)[1]->name, "day");
}

TEST(SchemaTest, StorageSeesTypesOrderTimesAndIndexes) {
  TableDefinition table = Events();
  CompleteTable(table);
  const TableSchema& storage = table.storage;
  EXPECT_EQ(storage.id, TableId{7});
  ASSERT_EQ(storage.partition_key.size(), 2u);
  EXPECT_EQ(storage.partition_key[0].type, CqlType::kUuid);
  ASSERT_EQ(storage.clustering.size(), 2u);
  EXPECT_TRUE(storage.clustering[0].descending);
  EXPECT_FALSE(storage.clustering[1].descending);
  ASSERT_EQ(storage.regular.size(), 2u);
  EXPECT_EQ(storage.regular[0].type, CqlType::kBlob) << "a set is bytes to storage";
  ASSERT_EQ(storage.indexes.size(), 1u);
  EXPECT_EQ(storage.indexes[0].column, 1) << "zone is the second regular column";
  EXPECT_EQ(storage.default_ttl_seconds, 60);
}

TEST(SchemaTest, ATableMadeFromAStorageSchemaHasItAgain) {
  TableDefinition table = Events();
  table.columns[3].type = CqlType::kBlob;
  CompleteTable(table);
  const TableDefinition again = DefinitionOf(table.storage);
  ASSERT_EQ(again.columns.size(), table.columns.size());
  for (size_t i = 0; i < again.columns.size(); ++i) {
    EXPECT_EQ(again.columns[i].name, table.columns[i].name);
    EXPECT_EQ(again.columns[i].kind, table.columns[i].kind);
    EXPECT_EQ(again.columns[i].position, table.columns[i].position);
    EXPECT_EQ(again.columns[i].descending, table.columns[i].descending);
  }
  ASSERT_NE(again.FindIndexOn("zone"), nullptr);
  EXPECT_EQ(again.FindIndexOn("zone")->name, "by_zone");
  EXPECT_EQ(again.options.default_ttl_seconds, 60);
}

TEST(SchemaTest, TablesAreFoundByKeyspaceAndName) {
  auto table = std::make_shared<TableDefinition>(Events());
  CompleteTable(*table);
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables.emplace("events", table);
  Schema schema;
  schema.keyspaces.emplace("ks", keyspace);
  EXPECT_EQ(schema.FindTable("ks", "events"), table);
  EXPECT_EQ(schema.FindTable("ks", "other"), nullptr);
  EXPECT_EQ(schema.FindTable("other", "events"), nullptr);
  EXPECT_FALSE(keyspace->is_system());
}

TEST(UuidTest, PrintsAndMarksItsVersion) {
  const Uuid uuid = Uuid::FromRandomBits(0x0123456789abcdef, 0xfedcba9876543210);
  EXPECT_EQ(uuid.ToString(), "01234567-89ab-4def-bedc-ba9876543210");
  EXPECT_EQ(uuid.view().size(), 16u);
}

}  // namespace schema_test
}  // namespace liststore
