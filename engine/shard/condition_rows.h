// ConditionRows: between a table and the conditions of a write. Hands on the rows of one range
// after the other, and notes the largest timestamp among them.
#ifndef LISTSTORE_ENGINE_SHARD_CONDITION_ROWS_H_
#define LISTSTORE_ENGINE_SHARD_CONDITION_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/check.h"
#include "engine/command/conditional_write.h"
#include "engine/model/mutation.h"
#include "engine/model/row_view.h"
#include "engine/storage/table.h"

namespace liststore::shard {

// Of one attempt, by the holder of the lane.
class ConditionRows final : public RowSink {
 public:
  explicit ConditionRows(RowConditions& conditions) : conditions_(conditions) {}

  // Reads the rows; whether what is asked of them holds. Ends before that, and says no, where they are more
  // than one request may look at. O(rows log rows of the partition).
  bool Hold(storage::Table& table, const storage::PartitionRef& partition, const RowLook& look,
            int64_t now_seconds) {
    LS_DCHECK(!look.rows.empty(), "the static row comes with the first range");
    conditions_.OnAttempt();
    for (index_ = 0; index_ < look.rows.size(); ++index_) {
      const ReadSpec spec{.range = look.rows[index_],
                          .descending = table.schema().reads_backwards(),
                          .limit = 1,
                          .with_static_row = look.with_static_row && index_ == 0,
                          .value_filter = std::nullopt};
      table.Read(partition, spec, now_seconds, *this);
      if (cells_ > kCellsRewrittenMax) return false;
    }
    return conditions_.Hold();
  }
  // Of the markers and cells that were seen; none: no row lives.
  WriteTimestamp newest() const { return newest_; }
  // How many were, and what they have.
  uint64_t cells() const { return cells_; }
  uint64_t bytes() const { return bytes_; }

  void OnRows(std::span<const RowView> rows) override {
    LS_DCHECK(rows.size() == 1, "a range of conditions holds one row");
    newest_ = std::max(newest_, rows[0].marker.timestamp);
    NoteNewest(rows[0].cells);
    conditions_.OnRow(index_, rows[0]);
  }
  void OnStaticRow(std::span<const LiveCellView> cells) override {
    NoteNewest(cells);
    conditions_.OnStaticRow(cells);
  }
  void OnPackedRun(const PackedRun&) override { LS_UNREACHABLE("packed runs are not accepted"); }
  bool AcceptsPackedRuns() const override { return false; }

 private:
  void NoteNewest(std::span<const LiveCellView> cells) {
    for (const LiveCellView& cell : cells) {
      newest_ = std::max(newest_, cell.liveness.timestamp);
      bytes_ += cell.path.size() + cell.value.size();
    }
    cells_ += cells.size();
  }

  RowConditions& conditions_;
  size_t index_ = 0;
  WriteTimestamp newest_ = WriteTimestamp::None();
  uint64_t cells_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_CONDITION_ROWS_H_
