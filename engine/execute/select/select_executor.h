// Runs a SELECT: which partitions and ranges in what order, pages, limits, filters, sums.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_SELECT_EXECUTOR_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_SELECT_EXECUTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/evaluate_function.h"
#include "engine/execute/select/virtual_rows.h"
#include "engine/execute/select/work_pace.h"
#include "engine/protocol/paging_state.h"
#include "engine/settings/statement_settings.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// One execution. Everything is borrowed for its length.
struct SelectCall {
  const cql::SelectPlan& plan;
  cql::BoundValues values;
  // Rows of a page; nullopt: all.
  std::optional<uint64_t> page_size;
  // Where the page before ended, of whatever statement.
  std::optional<protocol::PagingState> resume;
  // Where a page ends although it has room for more rows.
  uint64_t page_bytes_max = settings::StatementSettings::kPageBytesDefault;
  uint64_t now_nanos = 0;
  cql::FunctionContext* functions = nullptr;  // of functions that are not pure
  // Of a row, and of a result without pages where that is less than kResultBytesMax.
  size_t bytes_max = SIZE_MAX;
  WorkPace* pace = nullptr;      // nullptr: it takes as long as it takes
  ResultShare* share = nullptr;  // nullptr: its memory is not counted
};

// What an execution has found. Rows are encoded: a [bytes] for each selection.
struct SelectResult {
  OutputBuffer& rows;
  uint32_t row_count = 0;
  std::string paging_state;  // empty: there are no more pages
  uint64_t dead_rows = 0;    // that were passed over
  uint64_t rows_read = 0;    // that were looked at, those included; not of virtual tables
  // The pace has stopped it before a row that is to be copied much, and of which nothing was.
  bool is_before_wide_row = false;
};

// Tables of the engine. The status is not ok for errors of the statement and its values; `gone` is
// set when the plan's table was dropped or rebuilt: plan again. After either, or when the call's
// pace has stopped it, the result is of no use.
//
// Each partition is read at instants of its own. A lane is held for 1024 rows that are taken, 4096
// that are looked at, or 512 KiB of values, whatever comes first, so that nobody waits long behind
// large partitions, dead rows, or rows that filters leave out. Between two holds the pace is asked.
// O(rows looked at).
cql::CqlStatus ExecuteSelect(shard::Engine& engine, const SelectCall& call, SelectResult& result,
                             bool& gone);

// Virtual tables, from the rows that they have.
cql::CqlStatus ExecuteVirtualSelect(VirtualRows& table, const SelectCall& call,
                                    SelectResult& result);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_SELECT_EXECUTOR_H_
