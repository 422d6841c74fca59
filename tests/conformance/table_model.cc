#include "tests/conformance/table_model.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/base/check.h"
#include "engine/model/token.h"
#include "engine/model/types/composite_value.h"

namespace liststore::testing {
namespace {

std::string JoinedNames(const std::vector<ModelColumn>& columns) {
  std::string names;
  for (const ModelColumn& column : columns) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

// True when `added` replaces `present`. Source: ScyllaDB mutation/atomic_cell.cc,
// compare_atomic_cell_for_merge.
bool Wins(const ModelCell& added, const ModelCell& present) {
  if (added.timestamp != present.timestamp) return added.timestamp > present.timestamp;
  if (added.live != present.live) return !added.live;
  if (!added.live) return added.deletion_seconds > present.deletion_seconds;
  const bool expires = added.ttl_seconds != 0;
  if (expires != (present.ttl_seconds != 0)) return expires;
  if (expires && added.expiry_seconds != present.expiry_seconds) {
    return added.expiry_seconds > present.expiry_seconds;
  }
  if (expires && added.ttl_seconds != present.ttl_seconds) {
    return added.ttl_seconds < present.ttl_seconds;
  }
  return added.value > present.value;
}

void Merge(ModelCell added, std::optional<ModelCell>& present) {
  if (!present || Wins(added, *present)) present = std::move(added);
}

}  // namespace

const DataType& ModelSchema::TypeOf(const std::string& name) const {
  for (const auto* columns : {&partition_key, &clustering, &statics, &regular}) {
    for (const ModelColumn& column : *columns) {
      if (column.name == name) return column.type;
    }
  }
  LS_UNREACHABLE("the column is one of the schema");
}

const ModelColumn& ModelSchema::IndexedColumn() const {
  switch (index->on) {
    case ModelIndex::On::kPartitionKey:
      return partition_key[index->column];
    case ModelIndex::On::kClustering:
      return clustering[index->column];
    default:
      return ValueColumn(index->column);
  }
}

std::vector<std::string> ModelSchema::CreateStatements() const {
  std::string create = "CREATE TABLE " + table + " (";
  std::string order;
  for (const auto* columns : {&partition_key, &clustering, &regular}) {
    for (const ModelColumn& column : *columns) {
      create += column.name + " " + column.type.ToString() + ", ";
    }
  }
  for (const ModelColumn& column : statics) {
    create += column.name + " " + column.type.ToString() + " STATIC, ";
  }
  for (const ModelColumn& column : clustering) {
    order += (order.empty() ? "" : ", ") + column.name + (column.descending ? " DESC" : " ASC");
  }
  create += "PRIMARY KEY ((" + JoinedNames(partition_key) + ")";
  if (!clustering.empty()) create += ", " + JoinedNames(clustering);
  create += ")) WITH default_time_to_live = " + std::to_string(default_ttl_seconds);
  if (!clustering.empty()) create += " AND CLUSTERING ORDER BY (" + order + ")";
  std::vector<std::string> statements = {create};
  if (index) statements.push_back(CreateIndexStatement());
  return statements;
}

std::string ModelSchema::CreateIndexStatement() const {
  const ModelColumn& column = IndexedColumn();
  std::string target = column.name;
  if (column.type.is_collection()) {
    target = (index->of_keys            ? "KEYS("
              : index->of_entries       ? "ENTRIES("
              : column.type.is_frozen() ? "FULL("
                                        : "VALUES(") +
             target + ")";
  }
  return "CREATE INDEX " + index->name + (index->name.empty() ? "ON " : " ON ") + table + " (" +
         (index->is_local ? "(" + JoinedNames(partition_key) + "), " : "") + target + ")";
}

// Source: Cassandra CompositeType; a single component stands alone.
std::string SerializedKey(const Values& partition) {
  if (partition.size() == 1) return partition[0];
  std::string key;
  for (const std::string& component : partition) {
    key += static_cast<char>(component.size() >> 8);
    key += static_cast<char>(component.size());
    key += component;
    key += '\0';
  }
  return key;
}

void TableModel::Write(const RowWrite& write, int64_t timestamp, int64_t now_seconds) {
  Partition& partition = partitions_[write.partition];
  partition.statics.cells.resize(schema_.values());
  Row* row = nullptr;
  if (!write.statics_alone) {
    const auto [at, is_new] = partition.rows.try_emplace(write.clustering);
    row = &at->second;
    if (is_new) row->cells.resize(schema_.values());
    for (const Deletion& deletion : partition.deletions) {
      if (is_new && deletion.covers(write.clustering)) {
        row->deleted_at = std::max(row->deleted_at, std::optional(deletion.timestamp));
      }
    }
  }
  ModelCell cell;
  cell.timestamp = timestamp;
  cell.ttl_seconds = write.ttl_seconds;
  cell.expiry_seconds = write.ttl_seconds == 0 ? 0 : now_seconds + write.ttl_seconds;
  if (write.marker) Merge(cell, row->marker);
  const WriteTime time{cell, now_seconds, write.list_micros.value_or(timestamp)};
  // By column, as the server does it: lists count what is appended.
  for (size_t column = 0; column < schema_.values(); ++column) {
    Row* const target = schema_.is_static(column) ? &partition.statics : row;
    for (const ModelPart& part : write.parts) {
      if (part.column == column) Apply(part, time, *target);
    }
    for (const auto& [assigned, value] : write.cells) {
      if (assigned == column) Assign(column, value, time, *target);
    }
  }
}

void TableModel::Assign(size_t column, const std::optional<std::string>& value,
                        const WriteTime& time, Row& row) {
  if (schema_.ValueColumn(column).type.is_multi_cell()) {
    Elements& elements = row.elements[column];
    elements.deleted_at = std::max(elements.deleted_at, std::optional(time.cell.timestamp - 1));
    if (value) Apply({.column = column, .value = value}, time, row);
    return;
  }
  ModelCell cell = time.cell;
  if (value) {
    cell.value = *value;
  } else {
    cell = DeadCell(time);
  }
  Merge(std::move(cell), row.cells[column]);
}

ModelCell TableModel::DeadCell(const WriteTime& time) {
  return {.live = false,
          .timestamp = time.cell.timestamp,
          .deletion_seconds = time.now_seconds,
          .value = {}};
}

// Source: ScyllaDB cql3/lists.cc, maps.cc, sets.cc.
void TableModel::AddElements(const ModelPart& part, const WriteTime& time, Elements& elements) {
  const DataType& type = schema_.ValueColumn(part.column).type;
  ModelCell cell = time.cell;
  if (type.kind() == DataType::Kind::kUser) {
    const auto fields = SplitTuple(type, *part.value);
    LS_CHECK(fields.has_value(), "values of pools are valid");
    for (size_t i = 0; i < fields->size(); ++i) {
      if (!(*fields)[i]) continue;
      cell.value = *(*fields)[i];
      Merge(cell, elements.cells[{.number = static_cast<int64_t>(i)}]);
    }
    return;
  }
  const auto values = SplitCollection(type, *part.value);
  LS_CHECK(values.has_value(), "values of pools are valid");
  if (type.kind() != DataType::Kind::kList) {
    const size_t stride = type.parameters().size();
    for (size_t i = 0; i < values->size(); i += stride) {
      if (stride == 2) cell.value = (*values)[i + 1];
      Merge(cell, elements.cells[{.key = std::string((*values)[i])}]);
    }
    return;
  }
  // The middle of what was prepended and what was appended is 2010-01-01.
  constexpr int64_t kMirror = int64_t{1'262'304'000} * 1'000'000;
  constexpr int64_t kPrepended = int64_t{10} << 17;
  ElementKey key{.micros = time.list_micros, .number = counts_.appended};
  if (part.kind == ModelPart::Kind::kPrepend) {
    counts_.prepended += static_cast<uint32_t>(values->size());
    key = {.micros = 2 * kMirror - time.list_micros, .number = kPrepended - counts_.prepended};
  } else {
    counts_.appended += static_cast<uint32_t>(values->size());
  }
  for (const std::string_view value : *values) {
    cell.value = value;
    Merge(cell, elements.cells[key]);
    ++key.number;
  }
}

void TableModel::Apply(const ModelPart& part, const WriteTime& time, Row& row) {
  Elements& elements = row.elements[part.column];
  const ModelCell dead = DeadCell(time);
  switch (part.kind) {
    case ModelPart::Kind::kAdd:
    case ModelPart::Kind::kPrepend:
      return AddElements(part, time, elements);
    case ModelPart::Kind::kRemove: {
      const DataType& type = schema_.ValueColumn(part.column).type;
      const auto keys = SplitCollection(DataType::Set(type.parameters()[0]), *part.value);
      LS_CHECK(keys.has_value(), "values of pools are valid");
      for (const std::string_view key : *keys) {
        Merge(dead, elements.cells[{.key = std::string(key)}]);
      }
      return;
    }
    case ModelPart::Kind::kSet: {
      ModelCell cell = part.value ? time.cell : dead;
      if (part.value) cell.value = *part.value;
      return Merge(cell, elements.cells[{.key = part.key}]);
    }
    case ModelPart::Kind::kSetField: {
      ModelCell cell = part.value ? time.cell : dead;
      if (part.value) cell.value = *part.value;
      return Merge(cell, elements.cells[{.number = static_cast<int64_t>(part.index)}]);
    }
    case ModelPart::Kind::kSetAt: {
      const auto live = LiveElements(elements, DeletedAt(row, part.column), time.now_seconds);
      ModelCell cell = part.value ? time.cell : dead;
      if (part.value) cell.value = *part.value;
      return Merge(cell, elements.cells[live.at(part.index).first]);
    }
    case ModelPart::Kind::kDiscard: {
      const DataType& type = schema_.ValueColumn(part.column).type;
      const auto values = SplitCollection(type, *part.value);
      LS_CHECK(values.has_value(), "values of pools are valid");
      for (const auto& [key, cell] :
           LiveElements(elements, DeletedAt(row, part.column), time.now_seconds)) {
        if (std::ranges::find(*values, cell.value) == values->end()) continue;
        Merge(dead, elements.cells[key]);
      }
      return;
    }
    case ModelPart::Kind::kRemoveAll:
      elements.deleted_at = std::max(elements.deleted_at, std::optional(time.cell.timestamp));
      return;
  }
}

std::vector<LiveElement> TableModel::LiveElements(const Elements& elements,
                                                  std::optional<int64_t> deleted_at,
                                                  int64_t now_seconds) {
  deleted_at = std::max(deleted_at, elements.deleted_at);
  std::vector<LiveElement> live;
  for (const auto& [key, cell] : elements.cells) {
    if (!cell->LiveAt(now_seconds) || (deleted_at && cell->timestamp <= *deleted_at)) continue;
    live.emplace_back(key, *cell);
  }
  return live;
}

std::optional<ModelCell> TableModel::Assemble(const DataType& type,
                                              const std::vector<LiveElement>& elements) {
  std::optional<ModelCell> whole;
  std::vector<std::string> parts;
  std::vector<std::optional<std::string>> fields(type.parameters().size());
  for (const auto& [key, cell] : elements) {
    const int64_t newest = whole ? whole->timestamp : cell.timestamp;
    if (!whole) whole.emplace();
    whole->timestamp = std::max(newest, cell.timestamp);
    if (type.kind() == DataType::Kind::kUser) {
      fields.at(static_cast<size_t>(key.number)) = cell.value;
      continue;
    }
    if (type.kind() != DataType::Kind::kList) parts.push_back(key.key);
    if (type.kind() != DataType::Kind::kSet) parts.push_back(cell.value);
  }
  if (!whole) return std::nullopt;
  whole->value = type.kind() == DataType::Kind::kUser   ? EncodeTuple(fields)
                 : type.kind() == DataType::Kind::kList ? JoinCollection(type, parts)
                                                        : EncodeCollection(type, std::move(parts));
  return whole;
}

void TableModel::Delete(const Values& key, Predicate covers, bool whole, int64_t timestamp) {
  Partition& partition = partitions_[key];
  if (whole) {
    partition.statics.deleted_at = std::max(partition.statics.deleted_at, std::optional(timestamp));
  }
  for (auto& [clustering, row] : partition.rows) {
    if (covers(clustering)) row.deleted_at = std::max(row.deleted_at, std::optional(timestamp));
  }
  partition.deletions.push_back({std::move(covers), timestamp});
}

int TableModel::CompareClustering(const Values& a, const Values& b) const {
  for (size_t i = 0; i < schema_.clustering.size(); ++i) {
    const int order = CompareValues(schema_.clustering[i].type, a[i], b[i]);
    if (order != 0) return schema_.clustering[i].descending ? -order : order;
  }
  return 0;
}

std::vector<LiveRow> TableModel::Live(int64_t now_seconds) const {
  std::vector<LiveRow> live;
  for (const auto& [key, partition] : partitions_) {
    LiveRow found;
    found.partition = key;
    found.key = SerializedKey(key);
    found.token = TokenOf(found.key).value;
    found.cells.assign(schema_.values(), std::nullopt);
    found.newest = std::numeric_limits<int64_t>::min();
    const auto take_cells = [&](const Row& row) {
      const auto lives = [&](const std::optional<ModelCell>& cell,
                             std::optional<int64_t> deleted_at) {
        return cell && cell->LiveAt(now_seconds) && (!deleted_at || cell->timestamp > *deleted_at);
      };
      bool any = lives(row.marker, row.deleted_at);
      if (any) found.newest = std::max(found.newest, row.marker->timestamp);
      for (size_t i = 0; i < row.cells.size(); ++i) {
        if (!lives(row.cells[i], DeletedAt(row, i))) continue;
        found.cells[i] = row.cells[i];
        found.newest = std::max(found.newest, row.cells[i]->timestamp);
        any = true;
      }
      for (const auto& [column, elements] : row.elements) {
        std::vector<LiveElement> parts =
            LiveElements(elements, DeletedAt(row, column), now_seconds);
        const auto whole = Assemble(schema_.ValueColumn(column).type, parts);
        if (!whole) continue;
        found.elements[column] = std::move(parts);
        found.cells[column] = whole;
        found.newest = std::max(found.newest, whole->timestamp);
        any = true;
      }
      return any;
    };
    const bool any_static = take_cells(partition.statics);
    const LiveRow statics = found;
    const size_t rows_before = live.size();
    for (const auto& [clustering, row] : partition.rows) {
      found = statics;
      if (!take_cells(row)) continue;
      found.clustering = clustering;
      live.push_back(found);
    }
    if (any_static && live.size() == rows_before) {
      live.push_back(statics);
      live.back().is_static_alone = true;
    }
  }
  Sort(live);
  return live;
}

void TableModel::Sort(std::vector<LiveRow>& rows) const {
  std::ranges::sort(rows, [&](const LiveRow& a, const LiveRow& b) {
    if (a.key != b.key) return std::tie(a.token, a.key) < std::tie(b.token, b.key);
    return CompareClustering(a.clustering, b.clustering) < 0;
  });
}

std::optional<LiveRow> TableModel::Find(const Values& partition, const Values& clustering,
                                        int64_t now_seconds) const {
  for (LiveRow& row : Live(now_seconds)) {
    if (row.partition == partition && row.clustering == clustering) return std::move(row);
  }
  return std::nullopt;
}

std::optional<LiveRow> TableModel::FindAny(const Values& partition, int64_t now_seconds) const {
  for (LiveRow& row : Live(now_seconds)) {
    if (row.partition == partition) return std::move(row);
  }
  return std::nullopt;
}

}  // namespace liststore::testing
