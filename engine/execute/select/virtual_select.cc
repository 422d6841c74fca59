// SELECT of virtual tables: all rows are computed, and those left out that are not asked for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/select/select_executor.h"
#include "engine/model/composite_value.h"
#include "engine/model/token.h"

namespace liststore {
namespace {

bool AreOfOnePartition(const TableDefinition& table, const VirtualRow& a, const VirtualRow& b) {
  const auto columns = static_cast<ptrdiff_t>(table.CountOf(ColumnKind::kPartitionKey));
  return std::equal(a.begin(), a.begin() + columns, b.begin());
}

int CompareClustering(const TableDefinition& table, const VirtualRow& a, const VirtualRow& b) {
  // Key columns come first in a table.
  const size_t first = table.CountOf(ColumnKind::kPartitionKey);
  for (size_t i = first; i < first + table.CountOf(ColumnKind::kClustering); ++i) {
    const int order = CompareValues(table.columns[i].type, *a[i], *b[i]);
    if (order != 0) return order;
  }
  return 0;
}

// As ORDER BY has them, which merges partitions, but not their groups.
void Order(const SelectPlan& plan, std::vector<VirtualRow>& rows) {
  const TableDefinition& table = *plan.table;
  if (plan.is_ordered && !plan.is_aggregate && !plan.is_single_partition()) {
    std::ranges::stable_sort(rows, [&](const VirtualRow& a, const VirtualRow& b) {
      const int order = CompareClustering(table, a, b);
      return plan.reversed ? order > 0 : order < 0;
    });
    return;
  }
  if (!plan.reversed) return;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if_not(begin, rows.end(), [&](const VirtualRow& row) {
      return AreOfOnePartition(table, *begin, row);
    });
    std::reverse(begin, end);
    begin = end;
  }
}

bool IsWithin(const TokenRange& tokens, std::string_view partition_key) {
  const int64_t token = TokenOf(partition_key).value;
  return tokens.first <= token && token <= tokens.last;
}

}  // namespace

CqlStatus ExecuteVirtualSelect(const VirtualTable& table, const VirtualReadContext& context,
                               const SelectCall& call, SelectResult& result) {
  const SelectPlan& plan = call.plan;
  ResultCollector collector(call, result);
  LS_RETURN_IF_ERROR(collector.Bind());
  uint64_t limit = 0;
  uint64_t per_partition_limit = 0;
  LS_RETURN_IF_ERROR(ResolveLimit(plan.limit, call.values, "LIMIT", limit));
  LS_RETURN_IF_ERROR(ResolveLimit(plan.per_partition_limit, call.values, "PER PARTITION LIMIT",
                                  per_partition_limit));
  if (plan.is_aggregate) {
    collector.LimitGroups(limit, per_partition_limit);
    limit = per_partition_limit = UINT64_MAX;
  }
  if (plan.distinct) per_partition_limit = 1;
  std::optional<TokenRange> tokens;
  LS_RETURN_IF_ERROR(EncodeTokenRange(plan.token_bounds, call.values, tokens));
  std::vector<VirtualRow> rows;
  if (tokens) rows = table.Rows(context);
  Order(plan, rows);
  RowBuffer& row = collector.row();
  std::map<std::string, uint64_t, std::less<>> taken;  // by partition, where that counts
  for (size_t i = 0; i < rows.size() && limit > 0 && !collector.ended(); ++i) {
    row.SetValues(rows[i]);
    if (!plan.token_bounds.empty() && !IsWithin(*tokens, row.partition_key())) continue;
    uint64_t* of_partition = nullptr;
    if (per_partition_limit != UINT64_MAX) {
      of_partition = &taken[std::string(row.partition_key())];
      if (*of_partition == per_partition_limit) continue;
    }
    collector.Expect(1);
    collector.Take();
    if (of_partition != nullptr) *of_partition += collector.taken();
    limit -= collector.taken();
  }
  collector.FinishAggregate();
  LS_RETURN_IF_ERROR(collector.status());
  if (!collector.too_large()) return {};
  return CqlError::Invalid("The result is larger than " + std::to_string(kResultBytesMax) +
                           " bytes: read it with a LIMIT");
}

}  // namespace liststore
