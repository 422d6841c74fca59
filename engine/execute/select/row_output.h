// The selections of a SELECT, evaluated on rows.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_ROW_OUTPUT_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_ROW_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/base/output_buffer.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/evaluate_function.h"
#include "engine/execute/select/row_buffer.h"
#include "engine/execute/select/work_pace.h"

namespace liststore::execute {

// What expressions are evaluated with beside the row. Everything is borrowed.
struct SelectionContext {
  cql::BoundValues values;
  cql::FunctionContext* functions = nullptr;
  int64_t now_seconds = 0;
  size_t row_bytes_max = SIZE_MAX;  // of one row
  WorkPace* pace = nullptr;         // asked behind calls of functions; nullptr: nothing ends them
};

using SelectedValue = std::optional<std::string>;  // nullopt: null

// Invalid, in the words of FrameEncoder: more than a frame holds. A column may be selected as often
// as a statement has room for, so that what is made of one row is looked at while it grows.
cql::CqlStatus CheckFitsFrame(size_t bytes);

// Invalid: a row, or what is held to make it, is more than an answer may take of the memory for clients.
cql::CqlStatus CheckRowBytes(size_t bytes, const SelectionContext& context);

// Appends a row: a [bytes] for each selection, none of which has an aggregate. Errors are those of
// functions and of CheckFitsFrame; `out` is of no use behind one.
cql::CqlStatus AppendRow(const std::vector<cql::Selection>& selections, const RowBuffer& row,
                         const SelectionContext& context, OutputBuffer& out);

// The value of a selection without aggregates.
cql::CqlOr<SelectedValue> ValueOf(const cql::Selection& selection, const RowBuffer& row,
                                  const SelectionContext& context);

// An error that nobody sees where the pace has stopped: the pace says why.
//
// The value of any selection, of which `leaf` gives what is neither a call nor a value of the
// statement.
cql::CqlOr<SelectedValue> Evaluate(const cql::Selection& selection, const SelectionContext& context,
                                   absl::FunctionRef<SelectedValue(const cql::Selection&)> leaf);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_ROW_OUTPUT_H_
