// SELECT and DESCRIBE.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/planner/planner.h"
#include "engine/cql/schema/describe.h"
#include "engine/cql/schema/describe_roles.h"
#include "engine/execute/access.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/select/index_view_table.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/select/select_executor.h"

namespace liststore::execute {
namespace {

// Apache's shell, which looks at the version of a server before it lets it describe a schema, and
// what it then finds too old. It says this on connecting, and its driver who it is by.
bool IsCassandraShell(std::string_view text, const ClientState& client,
                      const cql::NodeFacts& node) {
  return text == "select * from system.local where key = 'local'" && node.release_version < "4" &&
         !client.driver_name.starts_with("ScyllaDB");
}

// Source: ScyllaDB cql3/statements/select_statement.cc.
cql::CqlStatus CheckSerialRead(const cql::SelectPlan& plan, cql::BoundValues values) {
  LS_RETURN_IF_ERROR(CheckConditionalTable(*plan.table));
  if (plan.is_single_partition()) return {};
  if (plan.scans_serially && plan.partition_key.empty()) return {};
  std::vector<std::string> keys;
  if (!plan.partition_key.empty()) {
    LS_RETURN_IF_ERROR(cql::EncodePartitionKeys(*plan.table, plan.partition_key, values,
                                                cql::KeyUse::kRead, keys));
  }
  if (keys.size() == 1) return {};
  return cql::CqlError::Invalid(
      "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time");
}

// Milliseconds; absent: as long as it takes. What is computed here never times out by the settings:
// without it nobody could undo them. Source: ScyllaDB cql3/statements/select_statement.cc,
// select_timeout, get_timeout.
cql::CqlOr<std::optional<int64_t>> TimeoutOf(const cql::SelectPlan& plan, cql::BoundValues values,
                                             const settings::StatementSettings& settings) {
  if (plan.timeout) {
    LS_ASSIGN_OR_RETURN(const int64_t timeout, cql::ResolveTimeout(*plan.timeout, values));
    return std::optional(timeout);
  }
  if (plan.table->is_virtual && !plan.table->is_index_view()) return std::optional<int64_t>();
  return std::optional<int64_t>(plan.partition_key.empty() ? settings.range_read_timeout_ms
                                                           : settings.read_timeout_ms);
}

// Deferred before it is begun: what tells of many requests, or waits for a mark or a reset, and, by a
// loop that has little patience at the moment, what reads all partitions or all rows of some.
bool IsNotTried(const cql::SelectPlan& plan, const WorkPlace& place) {
  const TableDefinition& table = *plan.table;
  if (table.is_virtual && !table.is_index_view()) {
    return table.keyspace == "liststore" && (table.name == "requests" || table.name == "journal" ||
                                             table.name == "lint" || table.name == "data");
  }
  return place.units_max < kLoopUnitsMax && (plan.partition_key.empty() || plan.is_aggregate);
}

// Computed as virtual tables are, from the rows of the index's table.
cql::CqlStatus SelectFromIndexView(shard::Engine& engine, const cql::VirtualReadContext& context,
                                   const SelectCall& call, SelectResult& result, bool& gone) {
  const cql::SelectPlan& plan = call.plan;
  // To a Cassandra an index is no table.
  if (!context.node.looks_like_scylla) {
    return cql::CqlError::Invalid("unconfigured table " + plan.table->name);
  }
  std::optional<std::vector<std::string>> keys;
  if (!plan.partition_key.empty()) {
    LS_RETURN_IF_ERROR(cql::EncodePartitionKeys(*plan.table, plan.partition_key, call.values,
                                                cql::KeyUse::kRead, keys.emplace()));
  }
  IndexViewTable table(engine, *plan.table, std::move(keys), call.pace, context);
  LS_RETURN_IF_ERROR(ExecuteVirtualSelect(table, call, result));
  gone = table.outcome() == IndexViewTable::Outcome::kGone;
  if (table.outcome() != IndexViewTable::Outcome::kTooLarge) return {};
  return cql::CqlError::Invalid("The rows of view " + plan.table->name + " are more than " +
                                std::to_string(kResultBytesMax) +
                                " bytes: read them in pages, or name a partition");
}

// Source: Cassandra cql3/QueryProcessor.java, validateKey.
cql::CqlStatus CheckNotEmpty(const cql::SelectPlan& plan, cql::BoundValues values) {
  const cql::CqlError error = cql::CqlError::Invalid("Key may not be empty");
  for (const cql::Operand& operand : plan.not_empty) {
    cql::BoundValue value;
    LS_RETURN_IF_ERROR(cql::ResolveSet(operand, values, value));
    if (!value.has_value()) continue;
    if (value.bytes.empty()) return error;
    if (!operand.type.is_collection() || operand.type.is_frozen()) continue;
    const auto elements = SplitCollection(operand.type, value.bytes);
    if (elements && std::ranges::any_of(*elements, &std::string_view::empty)) return error;
  }
  return {};
}

}  // namespace

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunSelect(const cql::SelectPlan& plan,
                                                          const protocol::ColumnsMetadata& columns,
                                                          cql::BoundValues values, Call& call) {
  const protocol::QueryParameters& parameters = call.request.parameters();
  LS_RETURN_IF_ERROR(CheckReadConsistency(parameters.consistency));
  if (IsSerial(parameters.consistency)) LS_RETURN_IF_ERROR(CheckSerialRead(plan, values));
  if (!plan.not_empty.empty()) LS_RETURN_IF_ERROR(CheckNotEmpty(plan, values));
  if (call.group != nullptr) {
    const bool joined = call.group->AddRead(call.request, call.context, plan, values);
    return joined ? Ran::kJoined : Ran::kAlone;
  }
  const auto time_out = [&] {
    AnswerReadTimeout(*plan.table, parameters.consistency, call.context, call.request.outcome,
                      call.out);
    return Ran::kAnswered;
  };
  LS_ASSIGN_OR_RETURN(const std::optional<int64_t> timeout, TimeoutOf(plan, values, call.settings));
  if (timeout == 0) return time_out();
  if (timeout) call.pace->LimitTime(std::chrono::milliseconds(*timeout));
  if (call.client.place.defers() && IsNotTried(plan, call.client.place)) {
    return Defer(Deferral::kOvertaken, call);
  }
  Functions functions(*this, call.now_nanos);
  ResultShare share(call.client.place.results);
  SelectCall select{.plan = plan,
                    .values = values,
                    .page_size = std::nullopt,
                    .resume = std::nullopt,
                    .page_bytes_max = call.settings.page_bytes_max,
                    .now_nanos = call.now_nanos,
                    .functions = &functions,
                    .bytes_max = options_.result_bytes_max,
                    .pace = call.pace,
                    .share = &share};
  if (parameters.page_size) select.page_size = static_cast<uint64_t>(*parameters.page_size);
  if (!parameters.paging_state.empty()) {
    select.resume = protocol::DecodePagingState(parameters.paging_state);
    if (!select.resume) return cql::CqlError::Invalid(protocol::kInvalidPagingState);
  }
  call.scratch.rows.Clear();
  SelectResult result{call.scratch.rows, 0, {}, 0};
  bool gone = false;
  if (plan.table->is_virtual) {
    const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
    const cql::VirtualReadContext context{*schema, options_.node, call.client.local_address,
                                          call.now_nanos};
    if (plan.table->is_index_view()) {
      const cql::CqlStatus status = SelectFromIndexView(engine_, context, select, result, gone);
      if (!call.is_stopped()) LS_RETURN_IF_ERROR(status);
    } else {
      const cql::VirtualTable* table = virtual_tables_.Find(plan.table->keyspace, plan.table->name);
      WholeTable rows(*table, context);
      LS_RETURN_IF_ERROR(ExecuteVirtualSelect(rows, select, result));
    }
  } else {
    const cql::CqlStatus status = ExecuteSelect(engine_, select, result, gone);
    if (!call.is_stopped()) LS_RETURN_IF_ERROR(status);
  }
  if (call.pace->stop() == WorkPace::Stop::kTimedOut) return time_out();
  if (call.is_stopped()) {
    if (!result.is_before_wide_row) return Defer(Deferral::kOvertaken, call);
    // What is wide keeps its place among the client's requests, and its answers come one at a time.
    return Defer(call.pace->has_worked() ? Deferral::kInOrder : Deferral::kLarge, call);
  }
  if (gone) return Ran::kTableGone;
  if (plan.table->is_virtual && IsCassandraShell(call.text, call.client, options_.node)) {
    call.Count(cql::CqlFeature::kShellDescribe);
  }
  Outcome& outcome = call.request.outcome;
  outcome.dead_rows = result.dead_rows;
  outcome.rows_read = plan.table->is_virtual ? result.row_count : result.rows_read;
  outcome.rows_returned = result.row_count;
  outcome.has_row_counts = true;
  constexpr std::string_view kWarnings[] = {cql::kFilteringWarning};
  // Source: ScyllaDB cql3/query_processor.cc: texts alone are warned of.
  const bool is_text = call.request.kind() == RequestKind::kQuery;
  if (plan.warns_of_filtering && is_text) call.context.warnings = kWarnings;
  if (!plan.warning.empty()) call.context.warnings = {&plan.warning, 1};
  protocol::RowsEncoder encoder(
      call.out, call.context, columns,
      {.skip_metadata = parameters.skip_metadata, .changed_metadata_id = std::nullopt});
  encoder.AppendEncodedRows(call.scratch.rows.view(), result.row_count);
  encoder.Finish(result.paging_state);
  return Ran::kAnswered;
}

cql::CqlStatus QueryProcessor::RunDescribe(const cql::DescribePlan& plan, Call& call) {
  const cql::DescribeStatement& statement = plan.statement;
  const Access access(*roles_, call.client);
  // Sources: ScyllaDB cql3/statements/describe_statement.cc, schema_describe_statement.
  if (statement.with_passwords && !access.IsSuperuser()) {
    return Unauthorized(
        "DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS can only be issued by a superuser");
  }
  const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
  cql::CqlOr<cql::Description> description =
      cql::Describe(statement, {*schema, options_.node, call.client.local_address, call.now_nanos},
                    plan.keyspace);
  // A Cassandra describes no roles.
  if (description.ok() && statement.kind == cql::DescribeStatement::Kind::kSchema &&
      statement.with_internals && options_.node.looks_like_scylla) {
    cql::AppendRoles(access.roles(), statement.with_passwords, *description);
  }
  return AnswerDescription(description, call);
}

cql::CqlStatus QueryProcessor::AnswerDescription(const cql::CqlOr<cql::Description>& description,
                                                 Call& call) {
  if (!description.ok()) return description.error();
  std::vector<protocol::ColumnSpec> specs;
  for (const auto& [name, type] : description->columns) {
    specs.push_back({description->keyspace, description->table, name, &type});
  }
  protocol::ColumnsMetadata columns;
  if (const auto error = columns.Assign(specs)) return ToCqlError(*error);
  protocol::RowsEncoder encoder(call.out, call.context, columns,
                                {.skip_metadata = call.request.parameters().skip_metadata,
                                 .changed_metadata_id = std::nullopt});
  for (const cql::VirtualRow& row : description->rows) {
    for (const std::optional<std::string>& value : row) {
      value ? encoder.AppendBytes(*value) : encoder.AppendNull();
    }
    encoder.EndRow();
  }
  encoder.Finish();
  return {};
}

}  // namespace liststore::execute
