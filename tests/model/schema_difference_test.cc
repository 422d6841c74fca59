#include "engine/model/schema_difference.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace schema_difference_test {

using Kind = SchemaDifference::Kind;
using Differences = std::vector<SchemaDifference>;

TableDefinition Table(const std::string& name, uint64_t id) {
  TableDefinition table;
  table.keyspace = "ks";
  table.name = name;
  table.id = Uuid::FromRandomBits(id, id);
  table.columns.push_back({"k", CqlType::kInt, ColumnKind::kPartitionKey, 0, false});
  table.columns.push_back({"v", CqlType::kText, ColumnKind::kRegular, 0, false});
  CompleteTable(table);
  return table;
}

Schema With(const std::vector<TableDefinition>& tables, const std::string& keyspace = "ks") {
  auto definition = std::make_shared<KeyspaceDefinition>();
  definition->name = keyspace;
  for (const TableDefinition& table : tables) {
    definition->tables[table.name] = std::make_shared<TableDefinition>(table);
  }
  Schema schema;
  schema.keyspaces[keyspace] = std::move(definition);
  return schema;
}

TEST(SchemaDifferenceTest, EqualSchemasHaveNone) {
  EXPECT_EQ(DifferencesBetween(Schema(), Schema()), Differences());
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), With({Table("t", 1)})), Differences());
}

TEST(SchemaDifferenceTest, IdsInTheEngineDoNotCount) {
  TableDefinition moved = Table("t", 1);
  moved.storage.id = {7, 3};
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), With({moved})), Differences());
}

TEST(SchemaDifferenceTest, TablesComeGoAndChange) {
  TableDefinition changed = Table("c", 3);
  changed.options.comment = "another";
  EXPECT_EQ(
      DifferencesBetween(With({Table("a", 1), Table("c", 3)}), With({Table("b", 2), changed})),
      (Differences{
          {Kind::kDropped, "ks", "a"}, {Kind::kCreated, "ks", "b"}, {Kind::kUpdated, "ks", "c"}}));
}

TEST(SchemaDifferenceTest, ColumnsAndIndexesAreChangesOfTheTable) {
  TableDefinition column = Table("t", 1);
  column.columns.push_back({"w", CqlType::kInt, ColumnKind::kRegular, 0, false});
  CompleteTable(column);
  TableDefinition index = Table("t", 1);
  index.indexes.push_back({"by_v", "v", false});
  const Differences updated = {{Kind::kUpdated, "ks", "t"}};
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), With({column})), updated);
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), With({index})), updated);
}

TEST(SchemaDifferenceTest, AnotherTableOfTheNameIsDroppedAndCreated) {
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), With({Table("t", 2)})),
            (Differences{{Kind::kDropped, "ks", "t"}, {Kind::kCreated, "ks", "t"}}));
}

TEST(SchemaDifferenceTest, KeyspacesGoWithTheirTablesAndComeBeforeThem) {
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), Schema()),
            (Differences{{Kind::kDropped, "ks", ""}}));
  EXPECT_EQ(DifferencesBetween(Schema(), With({Table("t", 1)})),
            (Differences{{Kind::kCreated, "ks", ""}, {Kind::kCreated, "ks", "t"}}));
  Schema other = With({Table("t", 1)});
  auto changed = std::make_shared<KeyspaceDefinition>(*other.keyspaces["ks"]);
  changed->durable_writes = false;
  other.keyspaces["ks"] = changed;
  EXPECT_EQ(DifferencesBetween(With({Table("t", 1)}), other),
            (Differences{{Kind::kUpdated, "ks", ""}}));
}

}  // namespace schema_difference_test
}  // namespace liststore
