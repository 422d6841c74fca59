// ReadLimits: how much a SELECT answers with at most, and where it goes on.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_READ_LIMITS_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_READ_LIMITS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/select/select_executor.h"
#include "engine/protocol/paging_state.h"

namespace liststore::execute {

struct ReadLimits {
  uint64_t rows = UINT64_MAX;          // what is left of LIMIT; not of groups
  uint64_t of_partition = UINT64_MAX;  // PER PARTITION LIMIT, likewise
  uint64_t page = UINT64_MAX;          // rows that the page has room for
  bool is_paged = false;
  size_t bytes_max = kResultBytesMax;  // of a result without pages
  // ORDER BY beside IN: rows of several partitions are put in one order, see MergedRows.
  bool merges = false;
  // Where the page before ended. Views into the request.
  std::optional<protocol::PagingState> resume;

  // LIMIT and PER PARTITION LIMIT; those of groups become the collector's.
  cql::CqlStatus Resolve(const SelectCall& call, ResultCollector& collector);
  // Whether there are pages, and what the paging state says where they count. `finds_nothing`: the
  // WHERE clause names no partition. Invalid: pages that cannot be, a state of another table.
  cql::CqlStatus ResolvePage(const SelectCall& call, bool finds_nothing,
                             ResultCollector& collector);

  // Invalid: without pages it is more than bytes_max.
  cql::CqlStatus CheckSize(const ResultCollector& collector) const;

  // The page before ended within this partition, with that row.
  bool ResumesWithin(std::string_view key) const {
    return resume && resume->clustering_key && resume->partition_key == key;
  }
  // What a partition may have, of which the pages before may have had some.
  uint64_t LeftOf(std::string_view key) const;
  // The state of a page that ends with this row, or without one with the partition; `left` as
  // LeftOf, after that row.
  protocol::PagingState StateBehind(std::string_view key, std::optional<std::string_view> row,
                                    uint64_t left) const;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_READ_LIMITS_H_
