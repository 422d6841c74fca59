// Source: ScyllaDB cql3/statements/select_statement.cc, do_execute;
// service/pager/query_pagers.cc, do_fetch_page, may_need_paging.
#include "engine/execute/select/read_limits.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/model/partition_key.h"

namespace liststore::execute {
namespace {

// key_is_in_relation: IN (x) is `=`, IN ? is not, whatever it is bound to.
bool SaysIn(const cql::SelectPlan& plan) {
  return std::ranges::any_of(plan.partition_key, [](const cql::KeyAlternatives& part) {
    return part.list || part.alternatives.size() != 1 ||
           std::ranges::find(part.also, cql::RelationOperator::kIn, &cql::RowFilter::op) !=
               part.also.end();
  });
}

// need_filtering: some column is restricted beyond what keys and clustering order tell. More
// relations on a column that these tell of are none, nor is a slice of tuples, which storage cannot
// read where the columns' directions differ. Of a virtual table all relations are filters.
bool NeedsFiltering(const cql::SelectPlan& plan) {
  const size_t ordered =
      plan.clustering.prefix_columns() + (plan.clustering.slices.empty() ? 0 : 1);
  return std::ranges::any_of(plan.filters, [&](const cql::RowFilter& filter) {
    const ColumnDefinition& column = plan.table->columns[filter.columns[0]];
    if (column.kind == ColumnKind::kPartitionKey) {
      const bool is_equality =
          filter.op == cql::RelationOperator::kEqual || filter.op == cql::RelationOperator::kIn;
      return plan.partition_key.empty() || !is_equality;
    }
    if (column.kind != ColumnKind::kClustering) return true;
    return filter.columns.size() == 1 && column.position >= ordered;
  });
}

// Else the state is of another table, or somebody has forged it.
bool IsPartitionKeyOf(const TableDefinition& table, std::string_view key) {
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(ColumnKind::kPartitionKey);
  const auto components = SplitPartitionKey(key, columns.size());
  return components &&
         std::ranges::equal(columns, *components,
                            [](const ColumnDefinition* column, std::string_view value) {
                              return column->type.IsValid(value);
                            });
}

}  // namespace

cql::CqlStatus ReadLimits::Resolve(const SelectCall& call, ResultCollector& collector) {
  const cql::SelectPlan& plan = call.plan;
  LS_RETURN_IF_ERROR(cql::ResolveLimit(plan.limit, call.values, "LIMIT", rows));
  LS_RETURN_IF_ERROR(cql::ResolveLimit(plan.per_partition_limit, call.values, "PER PARTITION LIMIT",
                                       of_partition));
  if (plan.is_aggregate) {
    // Limits are of the result's rows: groups, of which there is one without GROUP BY.
    collector.LimitGroups(rows, of_partition);
    rows = of_partition = UINT64_MAX;
  }
  if (plan.distinct) of_partition = 1;
  return {};
}

cql::CqlStatus ReadLimits::ResolvePage(const SelectCall& call, bool finds_nothing,
                                       ResultCollector& collector) {
  const cql::SelectPlan& plan = call.plan;
  const bool filters = NeedsFiltering(plan);
  is_paged = call.page_size && !plan.is_aggregate && !plan.at_most_one_row && rows > 1;
  const bool says_in = plan.refuses_pages || SaysIn(plan);
  if (plan.is_ordered && !plan.is_aggregate && says_in) {
    // Of Cassandra: what its LIMIT lets into one page is none.
    const bool is_refused =
        plan.refuses_pages ? rows > call.page_size.value_or(rows) : filters || !finds_nothing;
    if (is_paged && is_refused) {
      return cql::CqlError::Invalid(
          "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you "
          "must either remove the ORDER BY or the IN and sort client side, or disable paging for "
          "this query");
    }
    merges = !filters || plan.merges_filtered_and_stably;
  }
  if (is_paged) {
    page = *call.page_size;
    // Source: ScyllaDB replica/database.cc, get_query_max_result_size.
    collector.LimitBytes(call.page_bytes_max);
  } else {
    bytes_max = std::min(bytes_max, call.bytes_max);
    collector.LimitBytes(bytes_max);
  }
  // Reads that have no pages of their own begin at the beginning; those that ScyllaDB reads in
  // pages unseen do not.
  if (!call.resume || (!is_paged && !plan.is_aggregate && !filters)) return {};
  if (!IsPartitionKeyOf(*plan.table, call.resume->partition_key)) {
    return cql::CqlError::Invalid(protocol::kInvalidPagingState);
  }
  resume = call.resume;
  // A row of such a partition is the partition.
  if (plan.distinct) resume->clustering_key.reset();
  rows = resume->rows_remaining;
  return {};
}

cql::CqlStatus ReadLimits::CheckSize(const ResultCollector& collector) const {
  if (is_paged || !collector.too_large()) return {};
  return cql::CqlError::Invalid("The result is larger than " + std::to_string(bytes_max) +
                                " bytes: read it in pages, or with a LIMIT");
}

uint64_t ReadLimits::LeftOf(std::string_view key) const {
  if (of_partition == UINT64_MAX || !ResumesWithin(key)) return of_partition;
  return of_partition - std::min(of_partition, resume->partition_rows);
}

protocol::PagingState ReadLimits::StateBehind(std::string_view key,
                                              std::optional<std::string_view> row,
                                              uint64_t left) const {
  return {.partition_key = key,
          .clustering_key = row,
          .rows_remaining = rows,
          .partition_rows = of_partition == UINT64_MAX ? 0 : of_partition - left};
}

}  // namespace liststore::execute
