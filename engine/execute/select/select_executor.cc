#include "engine/execute/select/select_executor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/execute/select/merged_rows.h"
#include "engine/execute/select/read_limits.h"
#include "engine/execute/select/result_collector.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"
#include "engine/model/types/composite_value.h"

namespace liststore::execute {
namespace {

// Rows that one hold of a lane reads at most, some 100 us; and looks at, most of them dead, or none
// of the value that is looked up.
constexpr uint64_t kRowsPerReadMax = 1024;
constexpr uint64_t kLooksPerReadMax = 4096;
// Rows that a count looks at are not taken apart.
constexpr uint64_t kLooksPerCountMax = 16384;
// Of a count's work.
constexpr uint64_t kCountedRowsOfUnit = 8;
// Partition keys that one step of a scan takes out of the engine.
constexpr size_t kPartitionsPerScan = 64;
// Pieces of the ring that it looks at, which may be empty.
constexpr uint32_t kPiecesPerScan = 256;

// The rest of a range that a read has not looked at: `next` is its first key.
void BeginAt(cql::EncodedRange& range, std::string_view next, bool descending) {
  range.is_one_key = false;
  if (descending) {
    range.upper = BoundAfterKey(next);
    range.to_end = false;
  } else {
    range.lower = next;
  }
}

// The ranges behind `key` in the order of the read.
void CutRanges(std::vector<cql::EncodedRange>& ranges, std::string_view key, bool descending) {
  for (cql::EncodedRange& range : ranges) {
    range.is_one_key = false;
    if (descending) {
      if (range.to_end || range.upper > key) range.upper = key;
      range.to_end = false;
    } else {
      std::string behind = BoundAfterKey(key);
      if (range.lower < behind) range.lower = std::move(behind);
    }
  }
  std::erase_if(ranges, [](const cql::EncodedRange& r) { return !r.to_end && r.upper <= r.lower; });
}

class SelectExecution {
 public:
  SelectExecution(shard::Engine& engine, const SelectCall& call, SelectResult& result)
      : engine_(engine),
        call_(call),
        plan_(call.plan),
        table_(*call.plan.table),
        result_(result),
        collector_(call, result),
        descending_(table_.storage.reads_backwards() != plan_.reversed),
        reads_statics_(!table_.storage.statics.empty()),
        waits_its_turn_(call.pace != nullptr && call.pace->is_beside_loops()) {}

  cql::CqlStatus Run(bool& gone) {
    LS_RETURN_IF_ERROR(Prepare());
    if (nothing_) {
      collector_.FinishAggregate();
      return collector_.status();
    }
    if (limits_.merges) {
      ReadMerged();
    } else if (plan_.partition_key.empty()) {
      ReadAll();
    } else {
      ReadPartitions();
    }
    gone = gone_;
    if (!gone_ && !stopped_) collector_.FinishAggregate();
    LS_RETURN_IF_ERROR(collector_.status());
    return limits_.CheckSize(collector_);
  }

 private:
  cql::CqlStatus Prepare() {
    LS_RETURN_IF_ERROR(collector_.Bind());
    collector_.AskPartitions();
    LS_RETURN_IF_ERROR(limits_.Resolve(call_, collector_));
    LS_RETURN_IF_ERROR(
        cql::EncodeRanges(table_, plan_.clustering, call_.values, cql::KeyUse::kRead, ranges_));
    nothing_ |= ranges_.empty();
    if (plan_.partition_key.empty()) {
      LS_RETURN_IF_ERROR(cql::EncodeTokenRange(plan_.token_bounds, call_.values, tokens_));
      nothing_ |= !tokens_;
    } else {
      LS_RETURN_IF_ERROR(cql::EncodePartitionKeys(table_, plan_.partition_key, call_.values,
                                                  cql::KeyUse::kRead, keys_));
      nothing_ |= keys_.empty();
      if (!plan_.in_descending.empty()) SortDescending();
    }
    LS_RETURN_IF_ERROR(PrepareIndex());
    const bool finds_nothing = !plan_.partition_key.empty() && keys_.empty();
    LS_RETURN_IF_ERROR(limits_.ResolvePage(call_, finds_nothing, collector_));
    if (limits_.resume) Resume();
    return {};
  }

  cql::CqlStatus PrepareIndex() {
    if (!plan_.index) return {};
    cql::BoundValue value;
    LS_RETURN_IF_ERROR(cql::ResolveSet(plan_.index->value, call_.values, value));
    if (value.has_value()) {
      value_filter_ = ReadSpec::ValueFilter{plan_.index->column, value.bytes};
    } else {
      nothing_ = true;  // nothing equals null
    }
    return {};
  }

  // Source: Cassandra cql3/restrictions/PartitionKeySingleRestrictionSet.java: the order of the
  // columns' types.
  void SortDescending() {
    const size_t columns = plan_.in_descending.size();
    std::ranges::stable_sort(keys_, [&](const std::string& a, const std::string& b) {
      const auto left = SplitPartitionKey(a, columns);
      const auto right = SplitPartitionKey(b, columns);
      // The partition key comes first in a table.
      for (size_t i = 0; i < columns; ++i) {
        const int order = CompareValues(table_.columns[i].type, (*left)[i], (*right)[i]);
        if (order != 0) return plan_.in_descending[i] ? order > 0 : order < 0;
      }
      return false;
    });
  }

  // Leaves out the partitions before the one that the page before ended in, and it too where that
  // page had all of it. Where this statement does not read it there is nothing behind it.
  void Resume() {
    const std::string key(limits_.resume->partition_key);
    if (limits_.rows == 0) nothing_ = true;
    if (!plan_.partition_key.empty()) {
      const auto at = std::ranges::find(keys_, key);
      const bool is_read = at != keys_.end() && !limits_.resume->clustering_key;
      keys_.erase(keys_.begin(), is_read ? at + 1 : at);
      nothing_ |= keys_.empty();
    } else if (tokens_) {
      const int64_t token = TokenOf(key).value;
      nothing_ |= token < tokens_->first || tokens_->last < token;
    }
  }

  // ---- Partitions in their order

  void ReadPartitions() {
    for (const std::string& key : keys_) {
      if (!ReadPartition(key)) return;
    }
  }

  void ReadAll() {
    shard::ScanPosition position = engine_.PositionAt(Token{tokens_->first});
    if (limits_.resume) {
      const std::string key(limits_.resume->partition_key);
      if (limits_.resume->clustering_key && !ReadPartition(key)) return;
      position = engine_.PositionBehind(key);
    }
    position.pieces_max = kPiecesPerScan;
    position.waits_its_turn = waits_its_turn_;
    std::vector<std::string> keys;
    while (!position.done && !gone_) {
      if (!Spend(kPiecesPerScan / 2)) return;
      const OpStatus status =
          engine_.ScanPartitions(table_.storage.id, std::nullopt, kPartitionsPerScan,
                                 call_.now_nanos, position, keys, Token{tokens_->last});
      if (status == OpStatus::kTableGone) gone_ = true;
      for (const std::string& key : keys) {
        if (!ReadPartition(key)) return;
      }
    }
  }

  // Reads what is wanted of one partition; false: the page ends here.
  bool ReadPartition(const std::string& key) {
    if (!Spend(WorkPace::kUnitsOfCommand)) return false;
    collector_.row().SetPartition(key);
    if (!WantsPartition(key)) return !gone_;
    const bool resumed = limits_.ResumesWithin(key);
    uint64_t partition_left = limits_.LeftOf(key);
    std::vector<cql::EncodedRange>* ranges = &ranges_;
    std::vector<cql::EncodedRange> cut;
    any_row_ = false;
    if (resumed) {
      cut = ranges_;
      CutRanges(cut, *limits_.resume->clustering_key, descending_);
      ranges = &cut;
    }
    for (size_t i = 0; i < ranges->size() && partition_left > 0; ++i) {
      const cql::EncodedRange& range = (*ranges)[descending_ ? ranges->size() - 1 - i : i];
      if (!ReadRange(key, range, partition_left)) return false;
    }
    return resumed || TakeStaticRow(key);
  }

  // What is asked of key and static row holds, so that it is worth a look at the rows.
  bool WantsPartition(const std::string& key) {
    if (!collector_.TakesKey()) return false;
    if (!collector_.filters_statics()) return true;
    const ReadSpec spec{
        .range = {}, .limit = 0, .with_static_row = true, .value_filter = std::nullopt};
    collector_.ForgetStaticRow();
    const Reply reply = engine_.Execute({.table = table_.storage.id,
                                         .partition_key = key,
                                         .body = ReadCommand{&spec, &collector_},
                                         .waits_its_turn = waits_its_turn_},
                                        call_.now_nanos);
    gone_ |= reply.status == OpStatus::kTableGone;
    return !gone_ && collector_.TakesStaticRow();
  }

  // A partition without rows answers with its static values, but to those who ask for rows of some
  // kind. Source: ScyllaDB mutation/mutation_partition.cc, mutation_querier. False: the page ends.
  bool TakeStaticRow(const std::string& key) {
    if (any_row_ || !reads_statics_ || !collector_.has_static_row()) return true;
    if (!plan_.clustering.empty() || value_filter_) return true;
    collector_.Expect(std::min(limits_.rows, limits_.page));
    collector_.row().SetNoRow();
    collector_.Take();
    if (!Spend(0)) return false;
    if (collector_.ended() && !collector_.too_large()) return false;
    Count(limits_.rows);
    Count(limits_.page);
    if (limits_.rows == 0) return false;
    if (limits_.page != 0 && !collector_.too_large()) return true;
    EndPage(key, std::nullopt, limits_.of_partition);
    return false;
  }

  // False: the page or the limit is full, or the table is gone.
  bool ReadRange(const std::string& key, cql::EncodedRange range, uint64_t& partition_left) {
    if (CountsOnly()) return CountRange(key, range);
    while (true) {
      const uint64_t wanted = std::min({limits_.rows, limits_.page, partition_left});
      collector_.Expect(wanted);
      const uint64_t rows =
          collector_.filters() ? kRowsPerReadMax : std::min(wanted, kRowsPerReadMax);
      const ReadSpec spec{.range = range.View(table_.storage.packs_item_keys()),
                          .descending = descending_,
                          .limit = rows,
                          .with_static_row = reads_statics_,
                          .value_filter = value_filter_,
                          .looks_max = kLooksPerReadMax};
      if (reads_statics_) collector_.ForgetStaticRow();
      const Reply reply = engine_.Execute({.table = table_.storage.id,
                                           .partition_key = key,
                                           .body = ReadCommand{&spec, &collector_},
                                           .waits_its_turn = waits_its_turn_},
                                          call_.now_nanos);
      if (reply.status == OpStatus::kTableGone) {
        gone_ = true;
        return false;
      }
      result_.dead_rows += reply.info.dead_rows;
      result_.rows_read += reply.rows + reply.info.dead_rows;
      any_row_ |= reply.rows != 0;
      const uint64_t units = collector_.hold_units() + reply.info.dead_rows;
      const uint64_t looks = collector_.next_row() ? kLooksPerReadMax : 0;
      if (!Spend(WorkPace::kUnitsOfCommand + std::max(units, looks))) return false;
      any_row_ |= collector_.TakeKept();
      if (!Spend(0)) return false;
      if (collector_.ended() && !collector_.too_large()) return false;
      Count(limits_.rows);
      Count(limits_.page);
      Count(partition_left);
      if (limits_.rows == 0) return false;
      if (limits_.page == 0 || collector_.too_large()) {
        EndPage(key, collector_.last_taken(), partition_left);
        return false;
      }
      if (partition_left == 0) return true;
      if (!collector_.HasEnough()) {
        if (collector_.next_row()) {
          BeginAt(range, *collector_.next_row(), descending_);
          continue;
        }
        if (reply.rows < rows) return true;
      }
      std::vector<cql::EncodedRange> rest = {std::move(range)};
      CutRanges(rest, collector_.last_seen(), descending_);
      if (rest.empty()) return true;
      range = std::move(rest[0]);
    }
  }
  void Count(uint64_t& left) {
    if (left != UINT64_MAX) left -= collector_.taken();
  }

  void EndPage(std::string_view key, std::optional<std::string_view> row, uint64_t left) {
    if (plan_.distinct) row.reset();
    protocol::AppendPagingState(limits_.StateBehind(key, row, left), result_.paging_state);
  }

  // ---- Sums

  bool CountsOnly() {
    return plan_.is_aggregate && plan_.group_by.empty() && !plan_.distinct &&
           !collector_.filters() && !value_filter_ && !reads_statics_ &&
           limits_.rows == UINT64_MAX && collector_.aggregation().counts_rows_only();
  }
  bool CountRange(const std::string& key, cql::EncodedRange range) {
    std::string next;
    do {
      if (!next.empty()) BeginAt(range, std::exchange(next, {}), /*descending=*/false);
      const CountCommand count{range.View(table_.storage.packs_item_keys()), kLooksPerCountMax,
                               &next};
      const Reply reply = engine_.Execute({.table = table_.storage.id,
                                           .partition_key = key,
                                           .body = count,
                                           .waits_its_turn = waits_its_turn_},
                                          call_.now_nanos);
      gone_ |= reply.status == OpStatus::kTableGone;
      result_.dead_rows += reply.info.dead_rows;
      result_.rows_read += reply.rows + reply.info.dead_rows;
      collector_.aggregation().AddRows(reply.rows);
      const uint64_t counted = (reply.rows + reply.info.dead_rows) / kCountedRowsOfUnit;
      if (gone_ || !Spend(WorkPace::kUnitsOfCommand + counted)) return false;
    } while (!next.empty());
    return true;
  }

  // False: stop.
  bool Spend(uint64_t units) {
    stopped_ |= call_.pace != nullptr && !call_.pace->Spend(units);
    return !stopped_;
  }

  // ---- ORDER BY over several partitions

  void ReadMerged() {
    const uint64_t limit = std::exchange(limits_.rows, UINT64_MAX);
    limits_.of_partition = std::min(limits_.of_partition, limit);
    MergedRows rows(plan_, collector_, result_);
    ReadPartitions();
    if (!stopped_) rows.Finish(limit);
  }

  shard::Engine& engine_;
  const SelectCall& call_;
  const cql::SelectPlan& plan_;
  const TableDefinition& table_;
  SelectResult& result_;
  ResultCollector collector_;
  const bool descending_;  // in encoded order
  const bool reads_statics_;
  const bool waits_its_turn_;  // in lanes

  std::vector<std::string> keys_;  // in their order
  std::optional<cql::TokenRange> tokens_;
  std::vector<cql::EncodedRange> ranges_;  // ascending
  std::optional<ReadSpec::ValueFilter> value_filter_;
  ReadLimits limits_;
  bool nothing_ = false;
  bool gone_ = false;
  bool stopped_ = false;  // by the pace
  bool any_row_ = false;  // of the partition at hand, whether or not filters took it
};

}  // namespace

cql::CqlStatus ExecuteSelect(shard::Engine& engine, const SelectCall& call, SelectResult& result,
                             bool& gone) {
  gone = false;
  return SelectExecution(engine, call, result).Run(gone);
}

}  // namespace liststore::execute
