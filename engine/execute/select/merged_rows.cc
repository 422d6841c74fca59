// Source: ScyllaDB cql3/statements/select_statement.cc, process_results_complex,
// get_ordering_comparator.
#include "engine/execute/select/merged_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/model/types/composite_value.h"

namespace liststore::execute {

MergedRows::MergedRows(const cql::SelectPlan& plan, ResultCollector& collector,
                       SelectResult& result)
    : plan_(plan),
      result_(result),
      columns_(plan.table->ColumnsOf(ColumnKind::kClustering)),
      first_(result.rows.size()) {
  collector.on_row = [this, &collector] {
    const auto values = collector.row().values().subspan(
        plan_.table->CountOf(ColumnKind::kPartitionKey), plan_.ordered_columns);
    rows_.push_back({{values.begin(), values.end()},
                     rows_.empty() ? first_ : rows_.back().end,
                     result_.rows.size()});
  };
}

// In clustering order. A partition that has static values alone comes first.
bool MergedRows::IsBefore(const Row& a, const Row& b) const {
  for (size_t i = 0; i < plan_.ordered_columns; ++i) {
    if (!a.values[i] || !b.values[i]) {
      if (a.values[i].has_value() != b.values[i].has_value()) return b.values[i].has_value();
      continue;
    }
    const int order = CompareValues(columns_[i]->type, *a.values[i], *b.values[i]);
    if (order != 0) return columns_[i]->descending ? order > 0 : order < 0;
  }
  return false;
}

void MergedRows::Finish(uint64_t limit) {
  const bool sorts_backwards = plan_.reversed && plan_.merges_filtered_and_stably;
  std::ranges::stable_sort(rows_, [this, sorts_backwards](const Row& a, const Row& b) {
    return sorts_backwards ? IsBefore(b, a) : IsBefore(a, b);
  });
  // Backwards all of it is turned round, rows that are equal so far as well.
  if (plan_.reversed && !sorts_backwards) std::ranges::reverse(rows_);
  rows_.resize(std::min<uint64_t>(rows_.size(), limit));
  const std::string unsorted(result_.rows.ViewFrom(first_));
  result_.rows.Truncate(first_);
  for (const Row& row : rows_) {
    result_.rows.Append(std::string_view(unsorted).substr(row.begin - first_, row.end - row.begin));
  }
  result_.row_count = static_cast<uint32_t>(rows_.size());
}

}  // namespace liststore::execute
