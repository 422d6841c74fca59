#include "tests/conformance/table_model.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/base/check.h"
#include "engine/model/composite_value.h"
#include "engine/model/token.h"

namespace liststore::testing {
namespace {

std::string Joined(const std::vector<ModelColumn>& columns) {
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
  create += "PRIMARY KEY ((" + Joined(partition_key) + ")";
  if (!clustering.empty()) create += ", " + Joined(clustering);
  create += ")) WITH default_time_to_live = " + std::to_string(default_ttl_seconds);
  if (!clustering.empty()) create += " AND CLUSTERING ORDER BY (" + order + ")";
  std::vector<std::string> statements = {create};
  if (indexed) {
    const ModelColumn& column = regular[*indexed];
    const std::string target =
        column.type.is_collection() ? "FULL(" + column.name + ")" : column.name;
    statements.push_back("CREATE INDEX ON " + table + " ((" + Joined(partition_key) + "), " +
                         target + ")");
  }
  return statements;
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
  for (const auto& [column, value] : write.cells) {
    Row& target = schema_.is_static(column) ? partition.statics : *row;
    if (value) {
      cell.value = *value;
      Merge(cell, target.cells[column]);
    } else {
      Merge({.live = false, .timestamp = timestamp, .deletion_seconds = now_seconds, .value = {}},
            target.cells[column]);
    }
  }
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
      const auto lives = [&](const std::optional<ModelCell>& cell) {
        return cell && cell->LiveAt(now_seconds) &&
               (!row.deleted_at || cell->timestamp > *row.deleted_at);
      };
      bool any = lives(row.marker);
      if (any) found.newest = std::max(found.newest, row.marker->timestamp);
      for (size_t i = 0; i < row.cells.size(); ++i) {
        if (!lives(row.cells[i])) continue;
        found.cells[i] = row.cells[i];
        found.newest = std::max(found.newest, row.cells[i]->timestamp);
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
  std::ranges::sort(live, [&](const LiveRow& a, const LiveRow& b) {
    if (a.key != b.key) return std::tie(a.token, a.key) < std::tie(b.token, b.key);
    return CompareClustering(a.clustering, b.clustering) < 0;
  });
  return live;
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
