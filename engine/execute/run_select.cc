// SELECT and DESCRIBE.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/bind_timeout.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/plan/planner.h"
#include "engine/cql/schema/describe.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/select/select_executor.h"
#include "engine/model/partition_key.h"

namespace liststore {
namespace {

// What a paging state belongs to: the statement, its values, and the table: one that was made anew
// under the same name has other keys.
uint64_t StatementDigest(const TableDefinition& table, std::string_view keyspace,
                         std::string_view text, BoundValues values) {
  uint64_t digest = Hash64(text, Hash64(keyspace, Hash64(table.id.view())));
  for (const BoundValue& value : values) {
    digest = Hash64(value.bytes, digest + static_cast<uint64_t>(value.state));
  }
  return digest;
}

// Else somebody has forged the paging state that it comes from.
bool IsPartitionKeyOf(const TableDefinition& table, std::string_view key) {
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(ColumnKind::kPartitionKey);
  const auto components = SplitPartitionKey(key, columns.size());
  return components &&
         std::ranges::equal(columns, *components,
                            [](const ColumnDefinition* column, std::string_view value) {
                              return column->type.IsValid(value);
                            });
}

// Source: ScyllaDB cql3/statements/select_statement.cc.
CqlStatus CheckSerialRead(const SelectPlan& plan, BoundValues values) {
  if (plan.is_single_partition()) return {};
  std::vector<std::string> keys;
  if (!plan.partition_key.empty()) {
    LS_RETURN_IF_ERROR(
        EncodePartitionKeys(*plan.table, plan.partition_key, values, KeyUse::kRead, keys));
  }
  if (keys.size() == 1) return {};
  return CqlError::Invalid(
      "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time");
}

}  // namespace

CqlOr<QueryProcessor::Ran> QueryProcessor::RunSelect(const SelectPlan& plan,
                                                     const protocol::ColumnsMetadata& columns,
                                                     BoundValues bound, BoundValues values,
                                                     Call& call) {
  const protocol::QueryParameters& parameters = call.request.parameters();
  LS_RETURN_IF_ERROR(CheckReadConsistency(parameters.consistency));
  if (IsSerial(parameters.consistency)) LS_RETURN_IF_ERROR(CheckSerialRead(plan, values));
  if (call.group != nullptr) {
    LS_ASSIGN_OR_RETURN(const bool joined,
                        call.group->AddRead(call.request, call.context, plan, values));
    return joined ? Ran::kJoined : Ran::kAlone;
  }
  if (plan.timeout) {
    LS_ASSIGN_OR_RETURN(const bool is_over, IsOverAtOnce(*plan.timeout, values));
    if (is_over) {
      AnswerReadTimeout(*plan.table, parameters.consistency, call.context, call.request.outcome,
                        call.out);
      return Ran::kAnswered;
    }
  }
  Functions functions(*this, call.now_nanos);
  SelectCall select{.plan = plan,
                    .values = values,
                    .page_size = std::nullopt,
                    .resume = std::nullopt,
                    .statement_digest = 0,
                    .now_nanos = call.now_nanos,
                    .functions = &functions};
  if (parameters.page_size) {
    select.page_size = static_cast<uint64_t>(*parameters.page_size);
    select.statement_digest = StatementDigest(*plan.table, call.client.keyspace, call.text, bound);
  }
  if (!parameters.paging_state.empty()) {
    select.statement_digest = StatementDigest(*plan.table, call.client.keyspace, call.text, bound);
    protocol::PagingState state;
    if (const auto error =
            protocol::DecodePagingState(parameters.paging_state, select.statement_digest, state)) {
      return ToCqlError(*error);
    }
    if (!IsPartitionKeyOf(*plan.table, state.partition_key)) {
      return CqlError{CqlErrorCode::kProtocolError, "Invalid value for the paging state", {}};
    }
    select.resume = state;
  }
  call.scratch.rows.Clear();
  SelectResult result{call.scratch.rows, 0, {}, 0};
  bool gone = false;
  if (plan.table->is_virtual) {
    const VirtualTable* table = virtual_tables_.Find(plan.table->keyspace, plan.table->name);
    const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
    LS_RETURN_IF_ERROR(ExecuteVirtualSelect(
        *table, {*schema, options_.node, call.client.local_address, call.now_nanos}, select,
        result));
  } else {
    LS_RETURN_IF_ERROR(ExecuteSelect(engine_, select, result, gone));
  }
  if (gone) return Ran::kTableGone;
  call.request.outcome.dead_rows = result.dead_rows;
  constexpr std::string_view kWarnings[] = {kFilteringWarning};
  if (plan.warns_of_filtering) call.context.warnings = kWarnings;
  protocol::RowsEncoder encoder(
      call.out, call.context, columns,
      {.skip_metadata = parameters.skip_metadata, .changed_metadata_id = std::nullopt});
  encoder.AppendEncodedRows(call.scratch.rows.view(), result.row_count);
  encoder.Finish(result.paging_state);
  // One giant answer is no reason to keep its memory.
  call.scratch.rows.Clear();
  call.scratch.rows.ShrinkTo(size_t{1} << 20);
  return Ran::kAnswered;
}

CqlStatus QueryProcessor::RunDescribe(const DescribePlan& plan, Call& call) {
  const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
  return AnswerDescription(
      Describe(plan.statement, {*schema, options_.node, call.client.local_address, call.now_nanos},
               plan.keyspace),
      call);
}

CqlStatus QueryProcessor::AnswerDescription(const CqlOr<Description>& description, Call& call) {
  if (!description.ok()) return description.error();
  std::vector<protocol::ColumnSpec> specs;
  for (const auto& [name, type] : description->columns) {
    specs.push_back({"system", description->table, name, &type});
  }
  protocol::ColumnsMetadata columns;
  if (const auto error = columns.Assign(specs)) return ToCqlError(*error);
  protocol::RowsEncoder encoder(call.out, call.context, columns,
                                {.skip_metadata = call.request.parameters().skip_metadata,
                                 .changed_metadata_id = std::nullopt});
  for (const VirtualRow& row : description->rows) {
    for (const std::optional<std::string>& value : row) {
      value ? encoder.AppendBytes(*value) : encoder.AppendNull();
    }
    encoder.EndRow();
  }
  encoder.Finish();
  return {};
}

}  // namespace liststore
