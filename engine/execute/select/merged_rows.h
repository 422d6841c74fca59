// MergedRows: the rows of several partitions as ORDER BY has them.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_MERGED_ROWS_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_MERGED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/select/select_executor.h"

namespace liststore::execute {

// Lives while the partitions are read, one after another, each up to LIMIT. Borrows everything.
class MergedRows {
 public:
  // From now on notes where the rows that are appended to the result stand.
  MergedRows(const cql::SelectPlan& plan, ResultCollector& collector, SelectResult& result);
  // Puts them in their order, and leaves `limit`. O(rows log rows).
  void Finish(uint64_t limit);

 private:
  struct Row {
    std::vector<std::optional<std::string>> values;  // of the columns of ORDER BY
    size_t begin = 0;
    size_t end = 0;
  };
  bool IsBefore(const Row& a, const Row& b) const;

  const cql::SelectPlan& plan_;
  SelectResult& result_;
  const std::vector<const ColumnDefinition*> columns_;  // of the clustering key
  const size_t first_;                                  // where the result's rows begin
  std::vector<Row> rows_;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_MERGED_ROWS_H_
