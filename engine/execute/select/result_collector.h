// ResultCollector: rows of a SELECT in, cells out: the filters, the limits of the page at hand, and
// what becomes of a row.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_RESULT_COLLECTOR_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_RESULT_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cql/plan/instantiate.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/execute/select/aggregation.h"
#include "engine/execute/select/row_buffer.h"
#include "engine/execute/select/row_output.h"
#include "engine/execute/select/select_executor.h"
#include "engine/model/row_view.h"
#include "engine/shard/encoded_row.h"

namespace liststore::execute {

// Where a result that the client did not want in pages is refused: a frame holds 256 MiB.
inline constexpr size_t kResultBytesMax = size_t{200} << 20;

// Borrows the call and the result. Used by one thread at a time.
class ResultCollector final : public RowSink {
 public:
  ResultCollector(const SelectCall& call, SelectResult& result);

  cql::CqlStatus Bind();
  // The filters that a partition's key answers, and those of its static columns, are asked of the
  // partition: TakesKey, and TakesStaticRow.
  void AskPartitions();
  bool TakesKey() const { return MatchesAll(key_filters_); }
  bool TakesStaticRow() const { return MatchesAll(static_filters_); }
  bool filters_statics() const { return !static_filters_.empty(); }

  RowBuffer& row() { return row_; }
  Aggregation& aggregation() { return aggregation_; }
  bool filters() const { return !filters_.empty(); }

  // Up to `wanted` more rows are taken; what comes beyond is left alone.
  void Expect(uint64_t wanted);
  uint64_t taken() const { return taken_; }
  // What the rows that came since then were as work; see WorkPace.
  uint64_t hold_units() const { return hold_units_; }
  // Where a read stopped that had looked at enough rows.
  const std::optional<std::string>& next_row() const { return next_row_; }
  bool full() const { return taken_ == wanted_ || ended_; }
  // Ends the page, or the result, when its rows have taken as many bytes.
  void LimitBytes(size_t bytes_max) { bytes_max_ = bytes_max; }
  bool too_large() const { return too_large_; }
  // Nothing more is wanted: the page is full of bytes, there are groups enough, or an error.
  bool ended() const { return ended_; }
  const cql::CqlStatus& status() const { return status_; }
  // Groups of the result, and of each partition, where there are such.
  void LimitGroups(uint64_t groups_max, uint64_t of_partition_max) {
    groups_left_ = groups_max;
    partition_groups_max_ = of_partition_max;
  }
  // Encoded clustering keys of the last row that came, and of the last that was taken.
  const std::string& last_seen() const { return last_seen_; }
  const std::string& last_taken() const { return last_taken_; }

  void OnRows(std::span<const RowView> rows) override;
  // As much was done as a lane is held for; the read goes on behind last_seen().
  bool HasEnough() const override { return has_kept_row_ || hold_units_ >= kHoldUnitsMax; }
  void OnStop(ClusteringKeyView next) override;
  void OnPackedRun(const PackedRun&) override;
  bool AcceptsPackedRuns() const override { return false; }
  void OnEncodedRow(const EncodedRowView& row) override;
  bool AcceptsEncodedRows() const override { return true; }
  void OnStaticRow(std::span<const LiveCellView> cells) override;
  // Before a read that brings the static row where there is one.
  void ForgetStaticRow();
  bool has_static_row() const { return has_static_row_; }

  // Looks at the row in row(), while no lane is held.
  void Take();
  // A row of which functions, or a column that is selected often, make much is not evaluated while its lane is
  // held: it is kept, and taken here, after the read. Where others wait for this thread it is not taken at
  // all: the pace stops before it, once it was told what the read has done. The same of a row of very many
  // cells. True: a row came that the read did not count.
  bool TakeKept();

  // Behind the last row: the row of an aggregate, or of the last group.
  void FinishAggregate();

  // Called behind each row that was appended.
  std::function<void()> on_row;

 private:
  bool MatchesAll(const std::vector<cql::BoundFilter>& filters) const;
  void Note(cql::CqlStatus status);
  void CountRow();
  // Of the result, and what it is made of, so far.
  void NoteBytes(uint64_t bytes);
  void AppendGroup();

  // The row in row(), which the filters let through.
  void TakeMatched();
  // Much is made of the row in row().
  bool IsWide() const;
  // What the row in row() makes of the result beside what functions do; 0 for an aggregate.
  uint64_t ResultBytes() const;
  // The row in row(), which is wide, and which the filters let through.
  void Keep();
  // The same of one that filters have yet to look at, which takes long.
  void KeepUnfiltered();
  // What filters look at of the row in row(), as bytes: the same value for each of them again.
  uint64_t FilteredBytes() const;
  // As MatchesAll(filters_), where no lane is held: asks the pace in between.
  bool MatchesInSteps() const;
  bool TakeEncoded();
  // Others wait for this thread, which takes no wide row.
  bool DefersWideRows() const { return call_.pace != nullptr && call_.pace->defers(); }
  uint64_t UnitsOfCalls(uint64_t bytes) const { return calls_ * bytes / kBytesOfCallUnit; }

  // The group of the row in row(), which begins one where it differs from the last in what groups
  // agree in. False: the row's group is not wanted.
  bool EnterGroup();

  const SelectCall& call_;
  SelectResult& result_;
  RowBuffer row_;
  const SelectionContext context_;
  Aggregation aggregation_;
  // Of GROUP BY: the group that the last row was of.
  bool in_group_ = false;
  bool skips_group_ = false;
  std::vector<std::optional<std::string>> group_;
  std::vector<std::optional<std::string>> group_partition_;
  uint64_t partition_groups_ = 0;
  uint64_t groups_left_ = UINT64_MAX;
  uint64_t partition_groups_max_ = UINT64_MAX;
  std::vector<cql::BoundFilter> filters_;         // of rows
  std::vector<cql::BoundFilter> key_filters_;     // of partitions, by their keys
  std::vector<cql::BoundFilter> static_filters_;  // by their static rows
  // Some hundred us.
  static constexpr uint64_t kHoldUnitsMax = 8 << 10;
  // A row of more cells is as much work again for each of them.
  static constexpr size_t kFewCells = 8;
  static constexpr uint64_t kUnitsOfCell = 2;
  static constexpr uint64_t kMuch = kHoldUnitsMax * WorkPace::kBytesOfUnit;
  // Of a row some ms.
  static constexpr uint64_t kFilteredBytesMax = 4 * kMuch;
  static_assert(kEncodedRowCells * kUnitsOfCell >= kHoldUnitsMax, "it comes alone");
  // Some 10 ns a byte; digits of a long number take 500 to 1000.
  static constexpr uint64_t kBytesOfCallUnit = 4;

  const uint64_t calls_;  // of functions, for each row, weighted
  uint64_t hold_units_ = 0;
  // By position: what of a row the result is made of; and that with what filters look at. Empty until Bind.
  std::vector<bool> used_columns_;
  std::vector<bool> looked_at_;
  bool has_kept_row_ = false;  // in row_ or encoded_row_, unless wide rows are deferred
  bool is_kept_unfiltered_ = false;
  shard::EncodedRow encoded_row_;
  std::optional<std::string> next_row_;
  uint64_t wanted_ = 0;
  uint64_t taken_ = 0;
  size_t bytes_max_ = kResultBytesMax;
  bool too_large_ = false;
  bool ended_ = false;
  cql::CqlStatus status_;
  bool has_static_row_ = false;
  std::string last_seen_;
  std::string last_taken_;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_RESULT_COLLECTOR_H_
