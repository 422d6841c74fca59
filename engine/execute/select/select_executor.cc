#include "engine/execute/select/select_executor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/execute/select/result_collector.h"
#include "engine/model/token.h"

namespace liststore {
namespace {

// Rows that one hold of a lane reads at most, some 100 us.
constexpr uint64_t kRowsPerReadMax = 1024;
// Where a page ends although it has room for more rows. Source: ScyllaDB query-result-writer.hh,
// result_memory_limiter::maximum_result_size.
constexpr size_t kPageBytesMax = size_t{1} << 20;
// Partition keys that one step of a scan takes out of the engine.
constexpr size_t kPartitionsPerScan = 64;

// The ranges behind `key` in the order of the read.
void CutRanges(std::vector<EncodedRange>& ranges, std::string_view key, bool descending) {
  for (EncodedRange& range : ranges) {
    range.is_one_key = false;
    if (descending) {
      if (range.to_end || range.upper > key) range.upper = key;
      range.to_end = false;
    } else {
      std::string behind = BoundAfterKey(key);
      if (range.lower < behind) range.lower = std::move(behind);
    }
  }
  std::erase_if(ranges, [](const EncodedRange& r) { return !r.to_end && r.upper <= r.lower; });
}

class SelectExecution {
 public:
  SelectExecution(Engine& engine, const SelectCall& call, SelectResult& result)
      : engine_(engine),
        call_(call),
        plan_(call.plan),
        table_(*call.plan.table),
        result_(result),
        collector_(call, result),
        descending_(table_.storage.reads_backwards() != plan_.reversed),
        reads_statics_(!table_.storage.statics.empty()) {}

  CqlStatus Run(bool& gone) {
    LS_RETURN_IF_ERROR(Prepare());
    if (nothing_) {
      collector_.FinishAggregate();
      return collector_.status();
    }
    if (merges_) {
      ReadMerged();
    } else if (plan_.partition_key.empty()) {
      ReadAll();
    } else {
      ReadPartitions();
    }
    gone = gone_;
    if (!gone_) collector_.FinishAggregate();
    LS_RETURN_IF_ERROR(collector_.status());
    if (!page_size_ && collector_.too_large()) {
      return CqlError::Invalid("The result is larger than " + std::to_string(kResultBytesMax) +
                               " bytes: read it in pages, or with a LIMIT");
    }
    return {};
  }

 private:
  CqlStatus Prepare() {
    LS_RETURN_IF_ERROR(collector_.Bind());
    collector_.AskPartitions();
    LS_RETURN_IF_ERROR(ResolveLimit(plan_.limit, call_.values, "LIMIT", limit_));
    LS_RETURN_IF_ERROR(ResolveLimit(plan_.per_partition_limit, call_.values, "PER PARTITION LIMIT",
                                    per_partition_limit_));
    if (plan_.is_aggregate) {
      // Limits are of the result's rows: groups, of which there is one without GROUP BY.
      collector_.LimitGroups(limit_, per_partition_limit_);
      limit_ = UINT64_MAX;
      per_partition_limit_ = UINT64_MAX;
    }
    if (plan_.distinct) per_partition_limit_ = 1;
    LS_RETURN_IF_ERROR(
        EncodeRanges(table_, plan_.clustering, call_.values, KeyUse::kRead, ranges_));
    nothing_ |= ranges_.empty();
    if (plan_.partition_key.empty()) {
      LS_RETURN_IF_ERROR(EncodeTokenRange(plan_.token_bounds, call_.values, tokens_));
      nothing_ |= !tokens_;
    } else {
      LS_RETURN_IF_ERROR(
          EncodePartitionKeys(table_, plan_.partition_key, call_.values, KeyUse::kRead, keys_));
      nothing_ |= keys_.empty();
    }
    LS_RETURN_IF_ERROR(PrepareIndex());
    if (!plan_.is_aggregate && !plan_.at_most_one_row() && limit_ > 1) page_size_ = call_.page_size;
    merges_ = plan_.is_ordered && keys_.size() > 1 && !plan_.is_aggregate;
    if (merges_ && page_size_) {
      return CqlError::Invalid(
          "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you "
          "must either remove the ORDER BY or the IN and sort client side, or disable paging for "
          "this query");
    }
    limit_left_ = limit_;
    page_left_ = page_size_.value_or(UINT64_MAX);
    if (page_size_) collector_.LimitBytes(kPageBytesMax);
    if (call_.resume) Resume();
    return {};
  }

  CqlStatus PrepareIndex() {
    if (!plan_.index) return {};
    BoundValue value;
    LS_RETURN_IF_ERROR(ResolveSet(plan_.index->value, call_.values, value));
    if (value.has_value()) {
      value_filter_ = ReadSpec::ValueFilter{plan_.index->column, value.bytes};
    } else {
      nothing_ = true;  // nothing equals null
    }
    return {};
  }

  void Resume() {
    limit_left_ = std::min(limit_left_, call_.resume->rows_remaining);
    if (limit_left_ == 0) nothing_ = true;
  }

  // ---- Partitions in their order

  void ReadPartitions() {
    for (const std::string& key : keys_) {
      if (call_.resume && !IsAtOrBehindResume(key)) continue;
      if (!ReadPartition(key)) return;
    }
  }
  // False for partitions that pages before this one have read whole.
  bool IsAtOrBehindResume(const std::string& key) const {
    const std::string_view last = call_.resume->partition_key;
    const Token token = TokenOf(key);
    const Token last_token = TokenOf(last);
    if (token != last_token) return last_token < token;
    return call_.resume->clustering_key ? key >= last : key > last;
  }

  void ReadAll() {
    ScanPosition position = engine_.PositionAt(Token{tokens_->first});
    if (call_.resume) {
      const std::string key(call_.resume->partition_key);
      if (call_.resume->clustering_key && !ReadPartition(key)) return;
      position = engine_.PositionBehind(key);
    }
    std::vector<std::string> keys;
    while (!position.done && !gone_) {
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
    collector_.row().SetPartition(key);
    if (!WantsPartition(key)) return !gone_;
    const bool resumed =
        call_.resume && call_.resume->clustering_key && key == call_.resume->partition_key;
    uint64_t partition_left = per_partition_limit_;
    std::vector<EncodedRange>* ranges = &ranges_;
    std::vector<EncodedRange> cut;
    any_row_ = false;
    if (resumed) {
      partition_left = std::min(partition_left, call_.resume->partition_rows_remaining);
      cut = ranges_;
      CutRanges(cut, *call_.resume->clustering_key, descending_);
      ranges = &cut;
    }
    for (size_t i = 0; i < ranges->size() && partition_left > 0; ++i) {
      const EncodedRange& range = (*ranges)[descending_ ? ranges->size() - 1 - i : i];
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
    const Reply reply = engine_.Execute(
        {.table = table_.storage.id, .partition_key = key, .body = ReadCommand{&spec, &collector_}},
        call_.now_nanos);
    gone_ |= reply.status == OpStatus::kTableGone;
    return !gone_ && collector_.TakesStaticRow();
  }

  // A partition without rows answers with its static values, but to those who ask for rows of some
  // kind. Source: ScyllaDB mutation/mutation_partition.cc, mutation_querier. False: the page ends.
  bool TakeStaticRow(const std::string& key) {
    if (any_row_ || !reads_statics_ || !collector_.has_static_row()) return true;
    if (!plan_.clustering.empty() || value_filter_) return true;
    collector_.Expect(std::min(limit_left_, page_left_));
    collector_.row().SetNoRow();
    collector_.Take();
    if (collector_.ended() && !collector_.too_large()) return false;
    Count(limit_left_);
    Count(page_left_);
    if (limit_left_ == 0) return false;
    if (page_left_ != 0 && !collector_.too_large()) return true;
    EndPage(key, /*partition_left=*/0);
    return false;
  }

  // False: the page or the limit is full, or the table is gone.
  bool ReadRange(const std::string& key, EncodedRange range, uint64_t& partition_left) {
    if (CountsOnly()) return CountRange(key, range);
    while (true) {
      const uint64_t wanted = std::min({limit_left_, page_left_, partition_left});
      collector_.Expect(wanted);
      const uint64_t rows =
          collector_.filters() ? kRowsPerReadMax : std::min(wanted, kRowsPerReadMax);
      const ReadSpec spec{.range = range.View(table_.storage.packs_item_keys()),
                          .descending = descending_,
                          .limit = rows,
                          .with_static_row = reads_statics_,
                          .value_filter = value_filter_};
      if (reads_statics_) collector_.ForgetStaticRow();
      const Reply reply = engine_.Execute({.table = table_.storage.id,
                                           .partition_key = key,
                                           .body = ReadCommand{&spec, &collector_}},
                                          call_.now_nanos);
      if (reply.status == OpStatus::kTableGone) {
        gone_ = true;
        return false;
      }
      result_.dead_rows += reply.info.dead_rows;
      any_row_ |= reply.rows != 0;
      if (collector_.ended() && !collector_.too_large()) return false;
      Count(limit_left_);
      Count(page_left_);
      Count(partition_left);
      if (limit_left_ == 0) return false;
      if (page_left_ == 0 || collector_.too_large()) {
        EndPage(key, partition_left);
        return false;
      }
      if (partition_left == 0 || reply.rows < rows) return true;
      std::vector<EncodedRange> rest = {std::move(range)};
      CutRanges(rest, collector_.last_seen(), descending_);
      if (rest.empty()) return true;
      range = std::move(rest[0]);
    }
  }
  void Count(uint64_t& left) {
    if (left != UINT64_MAX) left -= collector_.taken();
  }

  void EndPage(const std::string& key, uint64_t partition_left) {
    protocol::PagingState state;
    state.statement_digest = call_.statement_digest;
    state.partition_key = key;
    // Behind the last row of its share the partition is done.
    if (partition_left > 0) state.clustering_key = collector_.last_taken();
    state.rows_remaining = limit_left_;
    state.partition_rows_remaining = partition_left;
    protocol::AppendPagingState(state, result_.paging_state);
  }

  // ---- Sums

  bool CountsOnly() {
    return plan_.is_aggregate && plan_.group_by.empty() && !plan_.distinct &&
           !collector_.filters() && !value_filter_ && !reads_statics_ &&
           collector_.aggregation().counts_rows_only();
  }
  bool CountRange(const std::string& key, const EncodedRange& range) {
    const Reply reply =
        engine_.Execute({.table = table_.storage.id,
                         .partition_key = key,
                         .body = CountCommand{range.View(table_.storage.packs_item_keys())}},
                        call_.now_nanos);
    gone_ |= reply.status == OpStatus::kTableGone;
    result_.dead_rows += reply.info.dead_rows;
    collector_.aggregation().AddRows(reply.rows);
    return !gone_;
  }

  // ---- ORDER BY over several partitions

  // Reads them whole, one after the other, and merges by clustering key.
  void ReadMerged() {
    struct Row {
      std::string key;
      size_t begin = 0;
      size_t end = 0;
    };
    std::vector<Row> rows;
    const uint64_t limit = std::exchange(limit_left_, UINT64_MAX);
    size_t begin = result_.rows.size();
    const size_t first = begin;
    collector_.on_row = [&] {
      rows.push_back({collector_.row().clustering_key(), begin, result_.rows.size()});
      begin = result_.rows.size();
    };
    ReadPartitions();
    std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
      return descending_ ? b.key < a.key : a.key < b.key;
    });
    rows.resize(std::min<uint64_t>(rows.size(), limit));
    const std::string unsorted(result_.rows.ViewFrom(first));
    result_.rows.Truncate(first);
    for (const Row& row : rows) {
      result_.rows.Append(
          std::string_view(unsorted).substr(row.begin - first, row.end - row.begin));
    }
    result_.row_count = static_cast<uint32_t>(rows.size());
  }

  Engine& engine_;
  const SelectCall& call_;
  const SelectPlan& plan_;
  const TableDefinition& table_;
  SelectResult& result_;
  ResultCollector collector_;
  const bool descending_;  // in encoded order
  const bool reads_statics_;

  std::vector<std::string> keys_;
  std::optional<TokenRange> tokens_;
  std::vector<EncodedRange> ranges_;  // ascending
  std::optional<ReadSpec::ValueFilter> value_filter_;
  uint64_t limit_ = UINT64_MAX;
  uint64_t per_partition_limit_ = UINT64_MAX;
  std::optional<uint64_t> page_size_;
  uint64_t limit_left_ = UINT64_MAX;
  uint64_t page_left_ = UINT64_MAX;
  bool nothing_ = false;
  bool merges_ = false;
  bool gone_ = false;
  bool any_row_ = false;  // of the partition at hand, whether or not filters took it
};

}  // namespace

CqlStatus ExecuteSelect(Engine& engine, const SelectCall& call, SelectResult& result, bool& gone) {
  gone = false;
  return SelectExecution(engine, call, result).Run(gone);
}

}  // namespace liststore
