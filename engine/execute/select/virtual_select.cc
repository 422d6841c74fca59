// SELECT of virtual tables: for each page rows are computed, and those left out that are not asked
// for or were in pages before.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/execute/select/merged_rows.h"
#include "engine/execute/select/read_limits.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/select/select_executor.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"

namespace liststore::execute {
namespace {

// A row, and where it stands.
struct PlacedRow {
  std::string partition;  // serialised
  std::string row;        // encoded
  size_t place = 0;       // of the partition among those that are read
  const cql::VirtualRow* values = nullptr;
};

// `count` key columns from number `first` on.
std::vector<std::string_view> KeyOf(const cql::VirtualRow& row, size_t first, size_t count) {
  std::vector<std::string_view> key;
  for (size_t i = first; i < first + count; ++i) {
    LS_CHECK(row[i].has_value(), "key columns are never null");
    key.push_back(*row[i]);
  }
  return key;
}

class VirtualSelection {
 public:
  VirtualSelection(const SelectCall& call, SelectResult& result)
      : call_(call),
        plan_(call.plan),
        table_(*call.plan.table),
        result_(result),
        collector_(call, result) {}

  cql::CqlStatus Run(VirtualRows& table) {
    LS_RETURN_IF_ERROR(Prepare());
    if (tokens_ && limits_.rows > 0) ReadsInOrder() ? ReadInOrder(table) : ReadWhole(table);
    collector_.FinishAggregate();
    LS_RETURN_IF_ERROR(collector_.status());
    return limits_.CheckSize(collector_);
  }

 private:
  cql::CqlStatus Prepare() {
    LS_RETURN_IF_ERROR(collector_.Bind());
    LS_RETURN_IF_ERROR(limits_.Resolve(call_, collector_));
    LS_RETURN_IF_ERROR(cql::EncodeTokenRange(plan_.token_bounds, call_.values, tokens_));
    if (!plan_.partition_key.empty()) {
      LS_RETURN_IF_ERROR(cql::EncodePartitionKeys(table_, plan_.partition_key, call_.values,
                                                  cql::KeyUse::kRead, keys_));
    }
    const bool finds_nothing = !plan_.partition_key.empty() && keys_.empty();
    return limits_.ResolvePage(call_, finds_nothing, collector_);
  }

  // Rows are answered in the order in which the table has them.
  bool ReadsInOrder() const { return !limits_.merges && !plan_.reversed && keys_.size() <= 1; }

  void ReadWhole(VirtualRows& table) {
    const std::vector<cql::VirtualRow> rows = table.Next(UINT64_MAX);
    Place(rows);
    if (limits_.resume) Resume();
    limits_.merges ? TakeMerged() : Take();
  }

  void ReadInOrder(VirtualRows& table) {
    std::optional<RowPlace> behind;
    if (const auto& resume = limits_.resume) {
      if (!IsRead(resume->partition_key)) return;
      behind.emplace(RowPlace{std::string(resume->partition_key), {}});
      if (resume->clustering_key) behind->row.emplace(*resume->clustering_key);
    }
    table.Begin(*tokens_, behind);
    // Where filters leave out some of them, more are asked for.
    constexpr uint64_t kGrowth = 4;
    uint64_t count = std::max<uint64_t>(std::min(limits_.page, limits_.rows), 1);
    while (true) {
      const std::vector<cql::VirtualRow> rows = table.Next(count);
      if (rows.empty()) return;
      placed_.clear();
      Place(rows);
      if (limits_.resume) Resume();
      Take();
      if (limits_.rows == 0 || collector_.ended() || !result_.paging_state.empty()) return;
      count = count > UINT64_MAX / kGrowth ? UINT64_MAX : count * kGrowth;
    }
  }

  // Those that are asked for by their partitions, in the order in which they are answered.
  void Place(const std::vector<cql::VirtualRow>& rows) {
    const size_t partition_columns = table_.CountOf(ColumnKind::kPartitionKey);
    const size_t clustering_columns = table_.CountOf(ColumnKind::kClustering);
    for (const cql::VirtualRow& row : rows) {
      PlacedRow placed;
      AppendPartitionKey(KeyOf(row, 0, partition_columns), placed.partition);
      if (!IsRead(placed.partition)) continue;
      if (!plan_.partition_key.empty()) {
        placed.place = PlaceOf(placed.partition);
      } else if (!placed_.empty()) {
        // They come by token.
        const PlacedRow& last = placed_.back();
        placed.place = last.place + (last.partition == placed.partition ? 0 : 1);
      }
      AppendClusteringKey(table_.storage.clustering,
                          KeyOf(row, partition_columns, clustering_columns), placed.row);
      placed.values = &row;
      placed_.push_back(std::move(placed));
    }
    // Rows of a partition come in clustering order.
    if (plan_.reversed) std::ranges::reverse(placed_);
    std::ranges::stable_sort(placed_, {}, &PlacedRow::place);
  }
  bool IsRead(std::string_view partition) const {
    if (!plan_.partition_key.empty()) return PlaceOf(partition) != keys_.size();
    if (plan_.token_bounds.empty()) return true;
    const int64_t token = TokenOf(partition).value;
    return tokens_->first <= token && token <= tokens_->last;
  }
  size_t PlaceOf(std::string_view partition) const {
    return static_cast<size_t>(std::ranges::find(keys_, partition) - keys_.begin());
  }
  bool IsBefore(std::string_view a, std::string_view b) const {
    if (!plan_.partition_key.empty()) return PlaceOf(a) < PlaceOf(b);
    return std::make_tuple(TokenOf(a), a) < std::make_tuple(TokenOf(b), b);
  }

  // Leaves out what pages before this one had. Nothing is left where this statement does not read
  // the partition that they ended in.
  void Resume() {
    const protocol::PagingState& resume = *limits_.resume;
    if (!IsRead(resume.partition_key)) return placed_.clear();
    const bool descending = table_.storage.reads_backwards() != plan_.reversed;
    std::erase_if(placed_, [&](const PlacedRow& placed) {
      if (placed.partition != resume.partition_key) {
        return IsBefore(placed.partition, resume.partition_key);
      }
      if (!resume.clustering_key) return true;
      return descending ? placed.row >= *resume.clustering_key
                        : placed.row <= *resume.clustering_key;
    });
  }

  void Take() {
    for (const PlacedRow& placed : placed_) {
      if (limits_.rows == 0 || collector_.ended()) return;
      if (partition_ != placed.partition) {
        partition_ = placed.partition;
        left_ = limits_.LeftOf(placed.partition);
      }
      if (left_ == 0) continue;
      collector_.row().SetValues(*placed.values);
      collector_.Expect(1);
      collector_.Take();
      if (call_.pace != nullptr && !call_.pace->Spend(0)) return;
      for (uint64_t* const count : {&limits_.rows, &limits_.page, &left_}) {
        if (*count != UINT64_MAX) *count -= collector_.taken();
      }
      if (limits_.rows == 0 || !limits_.is_paged) continue;
      if (limits_.page > 0 && !collector_.too_large()) continue;
      std::optional<std::string_view> row;
      if (!plan_.distinct) row = placed.row;
      protocol::AppendPagingState(limits_.StateBehind(placed.partition, row, left_),
                                  result_.paging_state);
      return;
    }
  }

  void TakeMerged() {
    const uint64_t limit = std::exchange(limits_.rows, UINT64_MAX);
    limits_.of_partition = std::min(limits_.of_partition, limit);
    MergedRows rows(plan_, collector_, result_);
    Take();
    rows.Finish(limit);
  }

  const SelectCall& call_;
  const cql::SelectPlan& plan_;
  const TableDefinition& table_;
  SelectResult& result_;
  ResultCollector collector_;
  ReadLimits limits_;
  std::optional<cql::TokenRange> tokens_;
  std::vector<std::string> keys_;  // that are named, in their order
  std::vector<PlacedRow> placed_;
  std::optional<std::string> partition_;  // the one that rows were taken of last
  uint64_t left_ = 0;                     // that it may still have
};

}  // namespace

cql::CqlStatus ExecuteVirtualSelect(VirtualRows& table, const SelectCall& call,
                                    SelectResult& result) {
  return VirtualSelection(call, result).Run(table);
}

}  // namespace liststore::execute
