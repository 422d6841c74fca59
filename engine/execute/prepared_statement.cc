#include "engine/execute/prepared_statement.h"

#include <variant>

#include "engine/base/md5.h"
#include "engine/cql/planner/plan_bytes.h"

namespace liststore::execute {
namespace {

// The table that rows of the result are of.
const TableDefinition& ResultTable(const cql::Plan& plan) {
  if (const auto* select = std::get_if<cql::SelectPlan>(&plan.body)) return *select->table;
  if (const auto* change = std::get_if<cql::ModificationPlan>(&plan.body)) return *change->table;
  return *std::get<cql::BatchPlan>(plan.body).modifications[0].table;
}

}  // namespace

void LookAhead(PreparedStatement& statement) {
  const size_t variables = statement.plan->variables.size();
  if (const auto* select = std::get_if<cql::SelectPlan>(&statement.plan->body)) {
    for (const cql::Selection& selection : select->selections) {
      const ColumnDefinition& column = select->table->columns[selection.column];
      statement.selected.push_back({column.kind, column.position});
    }
    statement.item_read = ItemRead::Of(*select, variables);
  } else if (const auto* change = std::get_if<cql::ModificationPlan>(&statement.plan->body)) {
    statement.item_insert = ItemInsert::Of(*change, variables);
  }
}

std::string StatementId(std::string_view keyspace, std::string_view text) {
  std::string hashed(keyspace);
  hashed += text;
  uint8_t digest[kMd5Bytes];
  Md5(hashed, digest);
  return std::string(reinterpret_cast<const char*>(digest), sizeof(digest));
}

size_t BytesOf(const PreparedStatement& statement) {
  // An entry of the map, an id in the order, what the pointers count with.
  constexpr size_t kEntryBytes = 256;
  size_t bytes =
      sizeof(statement) + kEntryBytes + statement.text.capacity() + statement.keyspace.capacity() +
      statement.outline.keyspace.capacity() + statement.outline.table.capacity() +
      statement.variables.bytes() + statement.columns.bytes() +
      statement.selected.capacity() * sizeof(SelectedColumn) + cql::PlanBytes(*statement.plan);
  if (std::holds_alternative<cql::SchemaPlan>(statement.plan->body)) {
    bytes += statement.text.size() * cql::kTreeBytesPerTextByte;
  }
  return bytes;
}

std::optional<protocol::ProtocolError> EncodeMetadata(const cql::Plan& plan,
                                                      protocol::ColumnsMetadata& variables,
                                                      protocol::ColumnsMetadata& columns) {
  std::vector<protocol::ColumnSpec> specs;
  for (const cql::BindVariable& variable : plan.variables) {
    specs.push_back({variable.keyspace, variable.table, variable.name, &variable.type});
  }
  if (auto error = variables.Assign(specs)) return error;
  const std::vector<cql::Selection>* result = plan.result_columns();
  if (result == nullptr) return std::nullopt;
  return EncodeColumns(ResultTable(plan), *result, columns);
}

std::optional<protocol::ProtocolError> EncodeColumns(const TableDefinition& table,
                                                     const std::vector<cql::Selection>& result,
                                                     protocol::ColumnsMetadata& columns) {
  std::vector<protocol::ColumnSpec> specs;
  for (const cql::Selection& selection : result) {
    specs.push_back({table.keyspace, table.name, selection.name, &selection.type});
  }
  return columns.Assign(specs);
}

}  // namespace liststore::execute
