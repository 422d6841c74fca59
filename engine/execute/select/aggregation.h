// Aggregation: the selections of a SELECT over the rows of a group.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_AGGREGATION_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_AGGREGATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/output_buffer.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/decimal_sum.h"
#include "engine/execute/select/row_buffer.h"
#include "engine/execute/select/row_output.h"

namespace liststore::execute {

// COUNT, MIN, MAX, SUM and AVG of expressions, and functions of those; what is no aggregate has the
// value of the first row. One thread.
class Aggregation {
 public:
  // `selections` and what `context` borrows outlive it.
  Aggregation(const std::vector<cql::Selection>& selections, const SelectionContext& context);

  cql::CqlStatus Add(const RowBuffer& row);
  // Rows that were counted without being read. Only where `counts_rows_only`.
  void AddRows(uint64_t rows);
  // True when the number of rows is all that matters.
  bool counts_rows_only() const;
  // What the values of the group take, as of the last row.
  size_t bytes() const { return bytes_; }
  // The group's row; what is added next begins another. Invalid: a sum does not fit its type.
  cql::CqlStatus AppendResult(OutputBuffer& out);

 private:
  // Of one part of a selection: an aggregate, or what the first row has.
  struct Part {
    const cql::Selection* selection = nullptr;
    int64_t count = 0;
    SelectedValue value;  // of the first row; the least, the greatest
    __int128 integers = 0;
    float floats = 0;
    double doubles = 0;
    cql::DecimalSum decimals;
  };

  void AddParts(const cql::Selection& selection);
  cql::CqlStatus AddTo(Part& part, const RowBuffer& row);
  // Moves the value out of it.
  static cql::CqlOr<SelectedValue> ResultOf(Part& part);

  const std::vector<cql::Selection>& selections_;
  const SelectionContext context_;
  std::vector<Part> parts_;
  size_t bytes_ = 0;
  bool any_row_ = false;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_AGGREGATION_H_
