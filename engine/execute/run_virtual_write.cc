// INSERT, UPDATE, DELETE and TRUNCATE of virtual tables: names and values to who computes them.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/execute/access.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"

namespace liststore::execute {
namespace {

cql::CqlStatus AddValue(const std::string& column, const cql::Operand& operand,
                        cql::BoundValues values, cql::VirtualTable::Values& written) {
  cql::BoundValue value;
  LS_RETURN_IF_ERROR(cql::Resolve(operand, values, value));
  if (value.is_unset()) return {};
  written.emplace_back(column,
                       value.has_value() ? std::optional(std::string(value.bytes)) : std::nullopt);
  return {};
}

// In the words of a write to a stored table.
cql::CqlStatus AddKey(const TableDefinition& table, ColumnKind kind,
                      const std::vector<cql::KeyAlternatives>& key, cql::BoundValues values,
                      cql::VirtualTable::Values& written) {
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(kind);
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i].is_in || key[i].columns != 1) {
      return cql::CqlError::Unsupported(cql::CqlFeature::kVirtualWrites, "IN");
    }
    const cql::Operand& operand = key[i].alternatives[0][0];
    cql::BoundValue value;
    LS_RETURN_IF_ERROR(cql::ResolveSet(operand, values, value));
    if (value.is_null()) return cql::NullInKey(operand);
    if (value.bytes.empty() && kind == ColumnKind::kPartitionKey) return cql::EmptyKey();
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

// Where nobody logs in, everybody may do everything.
cql::CqlStatus QueryProcessor::CheckSuperuser(const TableDefinition& table, const Call& call) {
  if (!roles_->rules().asks_for_passwords) return {};
  if (Access(*roles_, call.client).IsSuperuser()) return {};
  return Unauthorized("Only superusers may write to " + table.keyspace + "." + table.name);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::WriteVirtual(const cql::ModificationPlan& plan,
                                                             cql::BoundValues values, Call& call) {
  using Kind = cql::ModificationPlan::Kind;
  cql::VirtualTable* table = virtual_tables_.Find(plan.table->keyspace, plan.table->name);
  if (plan.kind == Kind::kDeleteCells || !plan.clustering.slices.empty()) {
    return cql::CqlError::Unsupported(
        cql::CqlFeature::kVirtualWrites,
        plan.kind == Kind::kDeleteCells ? "DELETE of columns" : "ranges");
  }
  if (table->is_for_superusers()) LS_RETURN_IF_ERROR(CheckSuperuser(*plan.table, call));
  cql::VirtualTable::Values written;
  LS_RETURN_IF_ERROR(
      AddKey(*plan.table, ColumnKind::kPartitionKey, plan.partition_key, values, written));
  LS_RETURN_IF_ERROR(
      AddKey(*plan.table, ColumnKind::kClustering, plan.clustering.prefix, values, written));
  std::optional<cql::CqlError> error;
  if (plan.kind == Kind::kDeleteRows) {
    error = table->Delete(written);
  } else {
    const auto regular = plan.table->ColumnsOf(ColumnKind::kRegular);
    for (const cql::CellAssignment& assignment : plan.assignments) {
      LS_RETURN_IF_ERROR(
          AddValue(regular[assignment.column]->name, assignment.value, values, written));
    }
    if (call.client.place.defers() && table->WriteTakesLong(written)) {
      return Defer(Deferral::kInOrder, call);
    }
    settings::Warnings warnings;
    error = table->WriteAndWarn(written, warnings);
    call.Warn(std::move(warnings));
  }
  if (!error) {
    protocol::EncodeVoid(call.out, call.context);
    return Ran::kAnswered;
  }
  if (auto* failure = std::get_if<cql::WriteFailureDetail>(&error->detail)) {
    failure->consistency = static_cast<uint16_t>(call.request.consistency());
    if (error->message.empty()) error->message = Failed(*plan.table, call.request.consistency());
  }
  return *std::move(error);
}

bool QueryProcessor::TruncateVirtual(const cql::TruncateStatement& statement, const Call& call) {
  const std::string& keyspace =
      statement.table.keyspace.empty() ? call.client.keyspace : statement.table.keyspace;
  cql::VirtualTable* const table = virtual_tables_.Find(keyspace, statement.table.name);
  if (table == nullptr || !table->can_be_truncated()) return false;
  table->Truncate();
  return true;
}

}  // namespace liststore::execute
