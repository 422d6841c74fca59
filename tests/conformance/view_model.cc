#include "tests/conformance/view_model.h"

#include <algorithm>
#include <utility>

#include "engine/model/token.h"
#include "engine/model/types/composite_value.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

using SourceKind = ViewSource::Kind;

struct KeyPart {
  ModelColumn column;
  ViewSource source;
};

void Shuffle(Random& random, std::vector<KeyPart>& parts) {
  for (size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[random.Below(i)]);
}

// A value that a cell of the key may be compared with; nullptr: there is no literal.
const PoolValue* LiteralOf(Random& random, const DataType& type) {
  const std::vector<PoolValue>& pool = PoolOf(type);
  const PoolValue& value = pool[random.Below(pool.size())];
  return value.literal.empty() ? nullptr : &value;
}

std::string CreateText(const ModelView& view, const std::vector<KeyPart>& key,
                       const std::string& base, bool all_columns, size_t partition_columns,
                       bool selects_key) {
  std::string columns;
  for (const KeyPart& part : key) {
    if (selects_key) columns += (columns.empty() ? "" : ", ") + part.column.name;
  }
  for (const ModelColumn& column : view.schema.regular) {
    columns += (columns.empty() ? "" : ", ") + column.name;
  }
  std::string where;
  std::string partition;
  std::string clustering;
  std::string order;
  for (size_t i = 0; i < key.size(); ++i) {
    const std::string& name = key[i].column.name;
    where += (where.empty() ? "" : " AND ") + name;
    where +=
        view.filter && view.filter->column == name ? " > " + view.filter->literal : " IS NOT NULL";
    if (i < partition_columns) {
      partition += (partition.empty() ? "" : ", ") + name;
    } else {
      clustering += ", " + name;
      order += (order.empty() ? "" : ", ") + name + (key[i].column.descending ? " DESC" : " ASC");
    }
  }
  return "CREATE MATERIALIZED VIEW " + view.schema.table + " AS SELECT " +
         (all_columns ? "*" : columns) + " FROM " + base + " WHERE " + where + " PRIMARY KEY ((" +
         partition + ")" + clustering + ")" +
         (order.empty() ? "" : " WITH CLUSTERING ORDER BY (" + order + ")");
}

}  // namespace

ModelView RandomView(Random& random, const ModelSchema& table, std::string name, bool plain) {
  ModelView view;
  view.schema.table = std::move(name);
  view.schema.is_view = true;
  std::vector<KeyPart> key;
  for (size_t i = 0; i < table.partition_key.size(); ++i) {
    key.push_back({table.partition_key[i], {SourceKind::kPartition, i}});
  }
  for (size_t i = 0; i < table.clustering.size(); ++i) {
    key.push_back({table.clustering[i], {SourceKind::kClustering, i}});
  }
  const size_t cell = random.Below(table.regular.size());
  // Reads take it that there is a regular column.
  const DataType& type = table.regular[cell].type;
  const bool can_be_key = !type.is_multi_cell() && !IsAltered(type) && !HasDuration(type);
  if (table.regular.size() > 1 && !random.OneIn(3) && can_be_key) {
    view.key_cell = cell;
    key.push_back({table.regular[cell], {SourceKind::kCell, cell}});
  }
  Shuffle(random, key);
  const size_t partition_columns = 1 + random.Below(std::min<size_t>(key.size(), 2));
  for (size_t i = 0; i < key.size(); ++i) {
    // In the partition key the table's direction stays: it says nothing, but to some servers.
    if (i >= partition_columns) key[i].column.descending = random.OneIn(2);
    (i < partition_columns ? view.schema.partition_key : view.schema.clustering)
        .push_back(key[i].column);
    (i < partition_columns ? view.partition_key : view.clustering).push_back(key[i].source);
  }
  const bool all_columns = table.statics.empty() && random.OneIn(2);
  view.all_columns = all_columns;
  for (size_t i = 0; i < table.regular.size(); ++i) {
    if (view.key_cell == i) continue;
    if (plain || all_columns || random.OneIn(2)) view.regular.push_back(i);
  }
  if (view.regular.empty()) view.regular.push_back(view.key_cell == 0u ? 1 : 0);
  for (const size_t column : view.regular) view.schema.regular.push_back(table.regular[column]);
  const KeyPart& filtered = key[random.Below(key.size())];
  const bool can_filter =
      !plain || (filtered.source.kind != SourceKind::kCell && filtered.column.type.is_native());
  if (const PoolValue* value =
          can_filter && random.OneIn(4) ? LiteralOf(random, filtered.column.type) : nullptr) {
    view.filter = {filtered.source, filtered.column.name, filtered.column.type, value->bytes,
                   value->literal};
  }
  view.create = CreateText(view, key, table.table, all_columns, partition_columns, plain);
  return view;
}

ViewModel::ViewModel(ModelView view, const TableModel& base, ListCounts& counts, bool caps_ttls)
    : TableModel(view.schema, counts), view_(std::move(view)), base_(base), caps_ttls_(caps_ttls) {}

std::optional<std::string> ViewModel::ValueOf(const LiveRow& row, const ViewSource& source) const {
  switch (source.kind) {
    case SourceKind::kPartition:
      return row.partition[source.index];
    case SourceKind::kClustering:
      return row.clustering[source.index];
    case SourceKind::kCell:
      break;
  }
  const std::optional<ModelCell>& cell = row.cells[source.index];
  return cell ? std::optional(cell->value) : std::nullopt;
}

namespace {

// No cell lives longer than the one that is part of the key.
void Cap(ModelCell& cell, const ModelCell& of_key) {
  const bool outlives = of_key.ttl_seconds != 0 &&
                        (cell.ttl_seconds == 0 || cell.expiry_seconds > of_key.expiry_seconds);
  if (!outlives) return;
  cell.ttl_seconds = of_key.ttl_seconds;
  cell.expiry_seconds = of_key.expiry_seconds;
}

}  // namespace

std::optional<LiveRow> ViewModel::RowOf(const LiveRow& of_base) const {
  if (of_base.is_static_alone) return std::nullopt;
  if (view_.filter) {
    const std::optional<std::string> value = ValueOf(of_base, view_.filter->source);
    if (!value || CompareValues(view_.filter->type, *value, view_.filter->bytes) <= 0) {
      return std::nullopt;
    }
  }
  LiveRow row;
  row.newest = of_base.newest;
  const auto take = [&](const std::vector<ViewSource>& sources, Values& values) {
    for (const ViewSource& source : sources) {
      std::optional<std::string> value = ValueOf(of_base, source);
      if (!value) return false;
      values.push_back(*std::move(value));
    }
    return true;
  };
  if (!take(view_.partition_key, row.partition) || !take(view_.clustering, row.clustering)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < row.clustering.size(); ++i) {
    const DataType& type = schema().clustering[i].type;
    if (!type.has_fields()) continue;
    row.clustering[i] = WithAllFields(type, row.clustering[i]);
  }
  row.key = SerializedKey(row.partition);
  row.token = TokenOf(row.key).value;
  for (const size_t column : view_.regular) {
    const size_t here = row.cells.size();
    std::optional<ModelCell>& cell = row.cells.emplace_back(of_base.cells[column]);
    const auto elements = of_base.elements.find(column);
    if (elements != of_base.elements.end()) row.elements[here] = elements->second;
    if (!cell || !view_.key_cell || !caps_ttls_) continue;
    const ModelCell& of_key = *of_base.cells[*view_.key_cell];
    Cap(*cell, of_key);
    if (elements == of_base.elements.end()) continue;
    for (auto& [key, element] : row.elements[here]) Cap(element, of_key);
  }
  return row;
}

void ViewModel::AlterType(const DataType& updated) {
  TableModel::AlterType(updated);
  if (view_.filter) view_.filter->type = view_.filter->type.WithUserType(updated);
}

bool ViewModel::HasInKey(const std::string& column) const {
  const auto has = [&](const std::vector<ModelColumn>& columns) {
    return std::ranges::find(columns, column, &ModelColumn::name) != columns.end();
  };
  return has(schema().partition_key) || has(schema().clustering);
}

bool ViewModel::Needs(const std::string& column, bool is_static) const {
  const std::vector<ModelColumn>& regular = schema().regular;
  const bool has = std::ranges::find(regular, column, &ModelColumn::name) != regular.end();
  return has || HasInKey(column) || (!is_static && !view_.key_cell);
}

void ViewModel::FollowColumns(const ModelSchema& before) {
  const std::vector<ModelColumn>& after = base_.schema().regular;
  const auto follow = [&](size_t& column) {
    const auto at = std::ranges::find(after, before.regular[column].name, &ModelColumn::name);
    column = static_cast<size_t>(at - after.begin());
  };
  for (auto* sources : {&view_.partition_key, &view_.clustering}) {
    for (ViewSource& source : *sources) {
      if (source.kind == SourceKind::kCell) follow(source.index);
    }
  }
  if (view_.filter && view_.filter->source.kind == SourceKind::kCell)
    follow(view_.filter->source.index);
  if (view_.key_cell) follow(*view_.key_cell);
  for (size_t& column : view_.regular) follow(column);
  if (view_.all_columns) {
    view_.regular.clear();
    for (size_t i = 0; i < after.size(); ++i) {
      if (view_.key_cell != i) view_.regular.push_back(i);
    }
  }
  mutable_schema().regular.clear();
  for (const size_t column : view_.regular) mutable_schema().regular.push_back(after[column]);
}

void ViewModel::FollowRename(const std::string& from, const std::string& to) {
  RenameColumn(from, to);
  if (view_.filter && view_.filter->column == from) view_.filter->column = to;
}

std::vector<LiveRow> ViewModel::Live(int64_t now_seconds) const {
  std::vector<LiveRow> rows;
  for (const LiveRow& row : base_.Live(now_seconds)) {
    if (auto of_view = RowOf(row)) rows.push_back(*std::move(of_view));
  }
  Sort(rows);
  return rows;
}

}  // namespace liststore::testing
