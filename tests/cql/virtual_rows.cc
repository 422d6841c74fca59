#include "tests/cql/virtual_rows.h"

#include <bit>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore::testing {
namespace {

std::string Columns(const TableDefinition& table, bool (*wanted)(ColumnKind)) {
  std::string text;
  for (const ColumnDefinition& column : table.columns) {
    if (!wanted(column.kind)) continue;
    if (!text.empty()) text += ", ";
    text += column.name + " " + column.type.ToString();
  }
  return text;
}

}  // namespace

std::string ColumnsAsText(const TableDefinition& table) {
  const std::string partition =
      Columns(table, [](ColumnKind kind) { return kind == ColumnKind::kPartitionKey; });
  const std::string clustering =
      Columns(table, [](ColumnKind kind) { return kind == ColumnKind::kClustering; });
  const std::string others =
      Columns(table, [](ColumnKind kind) { return kind == ColumnKind::kRegular; });
  std::string text = "(" + partition + ")";
  if (!clustering.empty()) text += ", " + clustering;
  if (!others.empty()) text += " | " + others;
  return text;
}

std::vector<NamedRow> NamedRows(const cql::VirtualTable& table,
                                const cql::VirtualReadContext& context) {
  const TableDefinition& definition = *table.definition();
  std::vector<NamedRow> named;
  for (const cql::VirtualRow& row : table.Rows(context)) {
    LS_CHECK(row.size() == definition.columns.size(), "a row has all columns");
    NamedRow& entry = named.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      LS_CHECK(!row[i] || definition.columns[i].type.IsValid(*row[i]), "values are valid");
      entry.emplace(definition.columns[i].name, row[i]);
    }
  }
  return named;
}

int32_t AsInt(const std::optional<std::string>& value) {
  LS_CHECK(value && value->size() == 4, "an int has 4 bytes");
  return static_cast<int32_t>(LoadBigEndian32(value->data()));
}

int64_t AsBigint(const std::optional<std::string>& value) {
  LS_CHECK(value && value->size() == 8, "a bigint has 8 bytes");
  return static_cast<int64_t>(LoadBigEndian64(value->data()));
}

double AsDouble(const std::optional<std::string>& value) {
  return std::bit_cast<double>(AsBigint(value));
}

std::vector<std::string> AsElements(const DataType& type, const std::optional<std::string>& value) {
  LS_CHECK(value.has_value(), "there is a collection");
  const auto elements = SplitCollection(type, *value);
  LS_CHECK(elements.has_value(), "it is well formed");
  return {elements->begin(), elements->end()};
}

PropertyMap AsMap(const std::optional<std::string>& value) {
  const std::vector<std::string> elements =
      AsElements(DataType::Map(CqlType::kText, CqlType::kText), value);
  PropertyMap map;
  for (size_t i = 0; i < elements.size(); i += 2) map[elements[i]] = elements[i + 1];
  return map;
}

std::shared_ptr<const TableDefinition> NewTable(std::string_view keyspace, std::string_view name,
                                                std::vector<ColumnDefinition> columns,
                                                std::vector<IndexDefinition> indexes) {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = keyspace;
  table->name = name;
  table->id = Uuid::FromRandomBits(name.size(), keyspace.size());
  table->columns = std::move(columns);
  table->indexes = std::move(indexes);
  CompleteTable(*table);
  return table;
}

std::shared_ptr<const TableDefinition> ListItems(std::string_view keyspace, bool local) {
  return NewTable(keyspace, "list_items",
                  {{"feature_key", CqlType::kText, ColumnKind::kPartitionKey, 0, false},
                   {"entity_id", CqlType::kText, ColumnKind::kPartitionKey, 1, false},
                   {"item_key", CqlType::kText, ColumnKind::kClustering, 0, true},
                   {"value", CqlType::kBlob, ColumnKind::kRegular, 0, false}},
                  {{"list_items_by_value", "value", local}});
}

}  // namespace liststore::testing
