// What changes of its schema do to the model of a table.
#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {
namespace {

// The one of a column that is no key, in the numbering of ModelSchema; that of a view's as well.
size_t NumberOf(const ModelSchema& schema, const std::string& name) {
  for (size_t i = 0; i < schema.values(); ++i) {
    if (schema.ValueColumn(i).name == name) return i;
  }
  LS_UNREACHABLE("the column is one of the schema");
}

// Tuples are in the places of user types; those of pools are within nothing.
DataType WithoutUserTypes(const DataType& type) {
  return type.kind() == DataType::Kind::kUser ? DataType::Tuple(type.parameters()) : type;
}

}  // namespace

void TableModel::AlterType(const DataType& updated) {
  for (auto* columns :
       {&schema_.partition_key, &schema_.clustering, &schema_.statics, &schema_.regular}) {
    for (ModelColumn& column : *columns) column.type = column.type.WithUserType(updated);
  }
  for (auto& [name, type] : schema_.dropped) type = type.WithUserType(updated);
  // Keys are what they were: a field that is not there is a null.
  const auto is_user = [](const ModelColumn& column) {
    return column.type.kind() == DataType::Kind::kUser;
  };
  if (std::ranges::none_of(schema_.clustering, is_user)) return;
  for (auto& [key, partition] : partitions_) {
    std::map<Values, Row> rows;
    for (auto& [clustering, row] : partition.rows) {
      Values values = clustering;
      for (size_t i = 0; i < values.size(); ++i) {
        const ModelColumn& column = schema_.clustering[i];
        if (is_user(column)) values[i] = WithAllFields(column.type, values[i]);
      }
      rows.emplace(std::move(values), std::move(row));
    }
    partition.rows = std::move(rows);
  }
}

void TableModel::AddColumn(const ModelColumn& column, bool is_static) {
  std::vector<ModelColumn>& columns = is_static ? schema_.statics : schema_.regular;
  const auto behind = std::ranges::find_if(
      columns, [&](const ModelColumn& other) { return other.name > column.name; });
  columns.insert(behind, column);
  const auto was = schema_.dropped.find(column.name);
  const bool is_again = was != schema_.dropped.end() && was->second == column.type;
  schema_.dropped.erase(column.name);
  const size_t number = NumberOf(schema_, column.name);
  if (schema_.index && schema_.index->on == ModelIndex::On::kValue) {
    if (schema_.index->column >= number) ++schema_.index->column;
  }
  const auto make_room = [&](Row& row) {
    // A static row that was never written has no cells at all.
    if (row.cells.size() >= number && !row.cells.empty()) {
      row.cells.insert(row.cells.begin() + static_cast<ptrdiff_t>(number), std::nullopt);
    }
    std::map<size_t, Elements> moved;
    for (auto& [at, elements] : row.elements) {
      moved[at >= number ? at + 1 : at] = std::move(elements);
    }
    row.elements = std::move(moved);
    if (is_again) PutBack(column.name, number, row);
    row.kept_cells.erase(column.name);
    row.kept_elements.erase(column.name);
  };
  for (auto& [key, partition] : partitions_) {
    make_room(partition.statics);
    for (auto& [clustering, row] : partition.rows) make_room(row);
  }
}

// What it was dropped as of stays hidden, as later writes with such timestamps are: DeletedAt.
void TableModel::PutBack(const std::string& name, size_t number, Row& row) {
  if (const auto cell = row.kept_cells.find(name); cell != row.kept_cells.end() && cell->second) {
    if (row.cells.size() <= number) row.cells.resize(number + 1);
    row.cells[number] = cell->second;
  }
  if (const auto elements = row.kept_elements.find(name); elements != row.kept_elements.end()) {
    row.elements[number] = elements->second;
  }
}

bool TableModel::Keeps(const std::string& name) const {
  const auto hidden = hidden_until_.find(name);
  if (hidden == hidden_until_.end()) return false;
  const auto is_newer = [&](const std::optional<ModelCell>& cell) {
    return cell && cell->timestamp > hidden->second;
  };
  const auto keeps = [&](const Row& row) {
    const auto cell = row.kept_cells.find(name);
    if (cell != row.kept_cells.end() && is_newer(cell->second)) return true;
    const auto elements = row.kept_elements.find(name);
    if (elements == row.kept_elements.end()) return false;
    return std::ranges::any_of(elements->second.cells,
                               [&](const auto& entry) { return is_newer(entry.second); });
  };
  return std::ranges::any_of(partitions_, [&](const auto& entry) {
    return keeps(entry.second.statics) ||
           std::ranges::any_of(entry.second.rows,
                               [&](const auto& row) { return keeps(row.second); });
  });
}

void TableModel::DropColumn(const std::string& name, std::optional<int64_t> hidden_until) {
  const size_t number = NumberOf(schema_, name);
  const DataType& type = schema_.ValueColumn(number).type;
  schema_.dropped.insert_or_assign(name, type);
  schema_.drops[name] = {hidden_until.value_or(0), WithoutUserTypes(type).ToString()};
  if (hidden_until) hidden_until_[name] = *hidden_until;
  std::vector<ModelColumn>& columns = schema_.is_static(number) ? schema_.statics : schema_.regular;
  std::erase_if(columns, [&](const ModelColumn& column) { return column.name == name; });
  if (schema_.index && schema_.index->on == ModelIndex::On::kValue) {
    LS_CHECK(schema_.index->column != number, "a column with an index is not dropped");
    if (schema_.index->column > number) --schema_.index->column;
  }
  const auto take_out = [&](Row& row) {
    if (hidden_until && row.cells.size() > number) row.kept_cells[name] = row.cells[number];
    if (hidden_until && row.elements.contains(number)) {
      row.kept_elements[name] = row.elements.at(number);
    }
    if (row.cells.size() > number) {
      row.cells.erase(row.cells.begin() + static_cast<ptrdiff_t>(number));
    }
    std::map<size_t, Elements> moved;
    for (auto& [at, elements] : row.elements) {
      if (at != number) moved[at > number ? at - 1 : at] = std::move(elements);
    }
    row.elements = std::move(moved);
  };
  for (auto& [key, partition] : partitions_) {
    take_out(partition.statics);
    for (auto& [clustering, row] : partition.rows) take_out(row);
  }
}

void TableModel::RenameColumn(const std::string& from, const std::string& to) {
  for (auto* columns : {&schema_.partition_key, &schema_.clustering}) {
    for (ModelColumn& column : *columns) {
      if (column.name == from) column.name = to;
    }
  }
}

void TableModel::SetColumnType(const std::string& name, const DataType& type) {
  for (auto* columns : {&schema_.statics, &schema_.regular}) {
    for (ModelColumn& column : *columns) {
      if (column.name == name) column.type = type;
    }
  }
}

void TableModel::SetIndex(std::optional<ModelIndex> index) { schema_.index = std::move(index); }

void TableModel::SetDefaultTtl(int64_t seconds) { schema_.default_ttl_seconds = seconds; }

std::optional<int64_t> TableModel::DeletedAt(const Row& row, size_t column) const {
  const auto hidden = hidden_until_.find(schema_.ValueColumn(column).name);
  if (hidden == hidden_until_.end()) return row.deleted_at;
  return std::max(row.deleted_at, std::optional(hidden->second));
}

}  // namespace liststore::testing
