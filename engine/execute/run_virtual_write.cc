// INSERT, UPDATE, DELETE and TRUNCATE of virtual tables: names and values to who computes them.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"

namespace liststore {
namespace {

CqlStatus AddValue(const std::string& column, const Operand& operand, BoundValues values,
                   VirtualTable::Values& written) {
  BoundValue value;
  LS_RETURN_IF_ERROR(Resolve(operand, values, value));
  if (value.is_unset()) return {};
  written.emplace_back(column,
                       value.has_value() ? std::optional(std::string(value.bytes)) : std::nullopt);
  return {};
}

// In the words of a write to a stored table.
CqlStatus AddKey(const TableDefinition& table, ColumnKind kind,
                 const std::vector<KeyAlternatives>& key, BoundValues values,
                 VirtualTable::Values& written) {
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(kind);
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i].is_in || key[i].columns != 1) {
      return CqlError::Unsupported(CqlFeature::kVirtualWrites, "IN");
    }
    const Operand& operand = key[i].alternatives[0][0];
    BoundValue value;
    LS_RETURN_IF_ERROR(ResolveSet(operand, values, value));
    if (value.is_null()) return NullInKey(operand);
    if (value.bytes.empty() && kind == ColumnKind::kPartitionKey) return EmptyKey();
    written.emplace_back(columns[i]->name, value.bytes);
  }
  return {};
}

// Source: ScyllaDB exceptions/exceptions.cc, request_failure_exception.
std::string Failed(const TableDefinition& table, protocol::Consistency consistency) {
  return "Operation failed for " + table.keyspace + "." + table.name +
         " - received 0 responses and 1 failures from 1 CL=" +
         std::string(protocol::ConsistencyName(consistency)) + ".";
}

}  // namespace

CqlStatus QueryProcessor::WriteVirtual(const ModificationPlan& plan, BoundValues values,
                                       Call& call) {
  using Kind = ModificationPlan::Kind;
  VirtualTable* table = virtual_tables_.Find(plan.table->keyspace, plan.table->name);
  if (plan.kind == Kind::kDeleteCells || !plan.clustering.slices.empty()) {
    return CqlError::Unsupported(CqlFeature::kVirtualWrites,
                                 plan.kind == Kind::kDeleteCells ? "DELETE of columns" : "ranges");
  }
  VirtualTable::Values written;
  LS_RETURN_IF_ERROR(
      AddKey(*plan.table, ColumnKind::kPartitionKey, plan.partition_key, values, written));
  LS_RETURN_IF_ERROR(
      AddKey(*plan.table, ColumnKind::kClustering, plan.clustering.prefix, values, written));
  std::optional<CqlError> error;
  if (plan.kind == Kind::kDeleteRows) {
    error = table->Delete(written);
  } else {
    const auto regular = plan.table->ColumnsOf(ColumnKind::kRegular);
    for (const CellAssignment& assignment : plan.assignments) {
      LS_RETURN_IF_ERROR(
          AddValue(regular[assignment.column]->name, assignment.value, values, written));
    }
    error = table->Write(written);
  }
  if (!error) return {};
  if (auto* failure = std::get_if<WriteFailureDetail>(&error->detail)) {
    failure->consistency = static_cast<uint16_t>(call.request.consistency());
    if (error->message.empty()) error->message = Failed(*plan.table, call.request.consistency());
  }
  return *std::move(error);
}

bool QueryProcessor::TruncateVirtual(const TruncateStatement& statement, const Call& call) {
  const std::string& keyspace =
      statement.table.keyspace.empty() ? call.client.keyspace : statement.table.keyspace;
  VirtualTable* const table = virtual_tables_.Find(keyspace, statement.table.name);
  if (table == nullptr || !table->can_be_truncated()) return false;
  table->Truncate();
  return true;
}

}  // namespace liststore
