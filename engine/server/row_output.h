// RowOutput: the selections of a SELECT, applied to rows: cells into a buffer, or sums of all of
// them.
#ifndef LISTSTORE_ENGINE_SERVER_ROW_OUTPUT_H_
#define LISTSTORE_ENGINE_SERVER_ROW_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/plan.h"
#include "engine/protocol/output_buffer.h"
#include "engine/protocol/primitives.h"
#include "engine/server/row_buffer.h"

namespace liststore {

// Appends a row: a [bytes] for each selection, none of which is an aggregate.
void AppendRow(const std::vector<Selection>& selections, const RowBuffer& row, int64_t now_seconds,
               protocol::OutputBuffer& out);

// COUNT, MIN, MAX over rows; what is no aggregate has the value of the first row.
class Aggregation {
 public:
  // `selections` outlive it.
  explicit Aggregation(const std::vector<Selection>& selections);

  void Add(const RowBuffer& row, int64_t now_seconds);
  // Rows that were counted without being read. Only where `counts_rows_only`.
  void AddRows(uint64_t rows);
  // True when the number of rows is all that matters.
  bool counts_rows_only() const;
  // The one row of the result.
  void AppendResult(protocol::OutputBuffer& out) const;

 private:
  struct Sum {
    int64_t count = 0;
    std::optional<std::string> value;
    bool any_row = false;
  };
  const std::vector<Selection>& selections_;
  std::vector<Sum> sums_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVER_ROW_OUTPUT_H_
