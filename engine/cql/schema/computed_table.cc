#include "engine/cql/schema/computed_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/md5.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"
#include "engine/model/types/cql_type.h"

namespace liststore::cql {
namespace {

// What stands before the first of `ends`, which stays; all of it when there is none.
std::string_view TakeUntil(std::string_view& rest, std::string_view ends) {
  const std::string_view taken = rest.substr(0, rest.find_first_of(ends));
  rest.remove_prefix(taken.size());
  return taken;
}

void TakeText(std::string_view& rest, std::string_view expected) {
  LS_CHECK(rest.starts_with(expected), "definitions of virtual tables are well formed");
  rest.remove_prefix(expected.size());
}

DataType TakeType(std::string_view& rest) {
  const std::string_view name = TakeUntil(rest, "<>, ");
  if (!rest.starts_with('<')) {
    const std::optional<CqlType> native = ParseCqlType(name);
    LS_CHECK(native.has_value(), "columns of virtual tables have types that exist");
    return *native;
  }
  TakeText(rest, "<");
  DataType first = TakeType(rest);
  std::optional<DataType> second;
  if (name == "map") {
    TakeText(rest, ", ");
    second = TakeType(rest);
  }
  TakeText(rest, ">");
  if (name == "frozen") return DataType::Frozen(std::move(first));
  if (name == "list") return DataType::List(std::move(first));
  if (name == "set") return DataType::Set(std::move(first));
  LS_CHECK(second.has_value(), "columns of virtual tables have types that exist");
  return DataType::Map(std::move(first), *std::move(second));
}

void AddColumns(std::string_view text, ColumnKind kind, std::vector<ColumnDefinition>& columns) {
  uint16_t position = 0;
  while (!text.empty()) {
    ColumnDefinition column;
    column.name = TakeUntil(text, " ");
    TakeText(text, " ");
    column.type = TakeType(text);
    constexpr std::string_view kDescending = " DESC";
    column.descending = text.starts_with(kDescending);
    if (column.descending) text.remove_prefix(kDescending.size());
    column.kind = kind;
    column.position = position++;
    columns.push_back(std::move(column));
    if (!text.empty()) TakeText(text, ", ");
  }
}

Token TokenOfRow(const TableDefinition& definition, const VirtualRow& row) {
  std::vector<std::string_view> components;
  for (size_t i = 0; i < definition.CountOf(ColumnKind::kPartitionKey); ++i) {
    LS_CHECK(row[i].has_value(), "key columns are never null");
    components.push_back(*row[i]);
  }
  std::string key;
  AppendPartitionKey(components, key);
  return TokenOf(key);
}

// Of one column, in the order in which rows lie: types that no key of storage has compare as bytes.
int CompareColumn(const ColumnDefinition& column, std::string_view a, std::string_view b) {
  const int order =
      column.type.is_native() ? CompareCqlValues(column.type.native(), a, b) : a.compare(b);
  return column.descending ? -order : order;
}

int CompareKeyColumns(const TableDefinition& definition, const VirtualRow& a, const VirtualRow& b) {
  for (size_t i = 0; i < definition.columns.size() && definition.columns[i].is_key(); ++i) {
    LS_CHECK(a[i].has_value() && b[i].has_value(), "key columns are never null");
    const int order = CompareColumn(definition.columns[i], *a[i], *b[i]);
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace

Uuid LegacyTableId(std::string_view keyspace, std::string_view table) {
  uint8_t digest[kMd5Bytes];
  Md5(std::string(keyspace).append(table), digest);
  Uuid id;
  static_assert(kMd5Bytes == sizeof(id.bytes));
  std::ranges::copy(digest, id.bytes.begin());
  id.bytes[6] = static_cast<char>((digest[6] & 0x0f) | 0x30);
  id.bytes[8] = static_cast<char>((digest[8] & 0x3f) | 0x80);
  return id;
}

std::shared_ptr<const TableDefinition> MakeVirtualDefinition(const TableSpec& spec) {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = spec.keyspace;
  table->name = spec.name;
  table->id = LegacyTableId(spec.keyspace, spec.name);
  table->options.comment = spec.comment;
  table->is_virtual = true;
  AddColumns(spec.partition_key, ColumnKind::kPartitionKey, table->columns);
  AddColumns(spec.clustering, ColumnKind::kClustering, table->columns);
  AddColumns(spec.others, ColumnKind::kRegular, table->columns);
  CompleteTable(*table);
  return table;
}

RowCollector& RowCollector::Row() {
  rows_.emplace_back(definition_.columns.size());
  return *this;
}

RowCollector& RowCollector::Set(std::string_view column, std::string value) {
  LS_CHECK(!rows_.empty(), "a row has begun");
  const ColumnDefinition* found = definition_.FindColumn(column);
  LS_CHECK(found != nullptr, "rows of virtual tables have the columns of their definition");
  LS_DCHECK(found->type.IsValid(value), "values of virtual tables are valid for their columns");
  std::optional<std::string>& cell =
      rows_.back()[static_cast<size_t>(found - definition_.columns.data())];
  LS_DCHECK(!cell.has_value(), "a column of a row is set once");
  cell = std::move(value);
  return *this;
}

std::vector<VirtualRow> RowCollector::Take() {
  using Placed = std::pair<Token, VirtualRow>;
  std::vector<Placed> placed;
  placed.reserve(rows_.size());
  for (VirtualRow& row : rows_) {
    const Token token = TokenOfRow(definition_, row);
    placed.emplace_back(token, std::move(row));
  }
  rows_.clear();
  std::ranges::sort(placed, [this](const Placed& a, const Placed& b) {
    if (a.first != b.first) return a.first < b.first;
    return CompareKeyColumns(definition_, a.second, b.second) < 0;
  });
  std::vector<VirtualRow> rows;
  rows.reserve(placed.size());
  for (Placed& row : placed) {
    LS_DCHECK(rows.empty() || CompareKeyColumns(definition_, rows.back(), row.second) != 0,
              "rows of virtual tables have different keys");
    rows.push_back(std::move(row.second));
  }
  return rows;
}

ComputedTable::ComputedTable(const TableSpec& spec, RowFunction rows)
    : definition_(MakeVirtualDefinition(spec)), rows_(std::move(rows)) {}

std::vector<VirtualRow> ComputedTable::Rows(const VirtualReadContext& context) const {
  if (!rows_) return {};
  RowCollector rows(*definition_);
  rows_(context, rows);
  return rows.Take();
}

}  // namespace liststore::cql
