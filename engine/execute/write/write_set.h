// WriteSet: what a statement, or the statements of a batch, write, as commands of the engine.
#ifndef LISTSTORE_ENGINE_EXECUTE_WRITE_WRITE_SET_H_
#define LISTSTORE_ENGINE_EXECUTE_WRITE_WRITE_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "engine/command/command.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/computed_values.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/execute/write/list_changes.h"
#include "engine/execute/write/timeuuid_source.h"
#include "engine/model/cell_path.h"
#include "engine/model/mutation.h"

namespace liststore::execute {

// Everything is checked while it is added, so that nothing of a statement is applied when a part of
// it is wrong. Rows of one partition that share a timestamp become one command. Owns keys; values
// stay the request's. Keeps its memory over Clear(). One thread.
class WriteSet {
 public:
  // Cells and elements that it takes: some hundred bytes each, of which a request may have but a
  // few (a set of short values).
  static constexpr size_t kCellsMax = size_t{4} << 20;

  WriteSet() = default;
  WriteSet(const WriteSet&) = delete;
  WriteSet& operator=(const WriteSet&) = delete;

  // `timeuuids`: where lists have the places of new elements from, when writes have no timestamp of
  // their own; nullptr: no plan that is added writes to lists of several cells.
  void Clear(TimeuuidSource* timeuuids = nullptr);

  // `timestamp`: what the request or batch gives; USING TIMESTAMP of the statement goes before it;
  // without either the engine gives one. `computed`: what computes some of the values, for each row
  // again; nullptr: nothing does. The plan is not of a virtual table. On an error the set is of no
  // use.
  cql::CqlStatus Add(const cql::ModificationPlan& plan, cql::BoundValues values,
                     std::optional<int64_t> timestamp, uint64_t now_nanos,
                     cql::ComputedValues* computed = nullptr);

  // Instead of kCellsMax.
  void set_cells_max(size_t cells) { cells_max_ = cells; }

  // Valid until the next call of Clear or Add.
  std::span<const Command> Commands();

  // Behind a request: gives back what a large one has made it take, with what is in it.
  void Trim();

  // Several rows, and a null among their cells: where two are one row under one timestamp, the null
  // wins whichever comes first, which Engine::ExecuteBatch sees to also for a single command.
  bool NullsMayMeetValues() const;

  // What the commands depend on, of those that were asked for last: they may be executed if all of
  // it holds (Engine::ExecuteConditional). None: on nothing. Valid as long.
  std::span<const RowLook> Looks();
  // Why it did not hold.
  cql::CqlStatus LookStatus() const;

  // Of the tables that are written those that have views; none: no table has. Valid as long.
  std::span<const std::shared_ptr<const cql::ViewPlans>> Views() const { return views_; }

 private:
  struct Row {
    std::string key;  // encoded
    PackedItemKey packed;
    size_t first_cell = 0;
    size_t cell_count = 0;
    bool marker = false;
    bool of_static_row = false;
    int64_t ttl_seconds = 0;
    int64_t expiry_seconds = kNoExpiry;
  };
  // The upserts or row deletions of one partition under one timestamp.
  struct Group {
    TableId table;
    size_t partition = 0;  // of partitions_
    WriteTimestamp timestamp;
    bool packs_item_keys = false;
    std::vector<size_t> rows;          // upserts, of rows_
    std::vector<size_t> deleted_rows;  // of rows_, whose key alone counts
    std::vector<size_t> deleted_ranges;
    bool deletes_partition = false;
    std::vector<RowUpdate> updates;
    std::vector<ClusteringKeyView> keys;
    ListChanges lists;
  };

  cql::CqlStatus AddRows(const cql::ModificationPlan& plan, cql::BoundValues values,
                         int64_t now_seconds, cql::ComputedValues* computed, Group& group);
  void AddDeletion(const cql::ModificationPlan& plan, Group& group);
  cql::CqlStatus AddStaticRow(const cql::ModificationPlan& plan, cql::BoundValues values,
                              int64_t ttl, int64_t now_seconds, Group& group);
  // More than that is given back behind a request.
  static constexpr size_t kCellsKept = 2048;
  static constexpr size_t kRowsKept = 512;  // and as many partitions and commands
  static constexpr size_t kKeyBytesKept = size_t{64} << 10;
  // The newest ones, without a hash table.
  static constexpr size_t kGroupsSearched = 16;

  // Invalid: so many more are too many.
  cql::CqlStatus CheckRoomFor(size_t cells) const {
    if (cells <= cells_max_ - std::min(cells_.size(), cells_max_)) [[likely]]
      return {};
    return TooManyCells();
  }
  cql::CqlError TooManyCells() const;
  // Cells from there on are not written.
  void Forget(size_t first_cell);
  cql::CqlStatus AddCells(const std::vector<cql::CellAssignment>& assignments,
                          cql::BoundValues values, Row& row, const cql::EncodedRange* range,
                          Group& group);
  // ---- Of columns of several cells: write_elements.cc.
  cql::CqlStatus AddElements(const cql::CellAssignment& assignment, cql::BoundValues values,
                             const cql::EncodedRange* range, Group& group);
  cql::CqlStatus AddPart(const cql::CellAssignment& assignment, cql::BoundValues values,
                         const cql::BoundValue& value, const cql::EncodedRange* range,
                         Group& group);
  // All elements of a value.
  cql::CqlStatus AddValue(const cql::CellAssignment& assignment, std::string_view value,
                          WriteTimestamp timestamp);
  cql::CqlStatus AddListElements(const cql::CellAssignment& assignment,
                                 const std::vector<std::string_view>& elements,
                                 WriteTimestamp timestamp);
  cql::CqlStatus AddToList(const cql::CellAssignment& assignment, cql::BoundValues values,
                           const cql::BoundValue& value, const cql::EncodedRange* range,
                           Group& group);
  void AddElement(ColumnId column, std::string path, std::optional<std::string_view> value);
  // When the elements of a list are written that are written now.
  ListPosition PlaceOf(WriteTimestamp timestamp);
  cql::CqlStatus ResolveTtl(const cql::ModificationPlan& plan, cql::BoundValues values,
                            int64_t& ttl) const;
  // `partition` may be taken, for other memory.
  Group& GroupOf(const cql::ModificationPlan& plan, std::string& partition,
                 WriteTimestamp timestamp);
  Group* FindGroup(TableId table, std::string_view partition, WriteTimestamp timestamp);
  using GroupsByPartition =
      std::unordered_map<absl::string_view, std::vector<size_t>, absl::Hash<absl::string_view>>;

  Row& NewRow(const std::string& key);
  void Build(Group& group);

  // Deques, so that what was handed out stays where it is. Of each the first so many are in use.
  std::deque<std::string> partitions_;
  std::deque<Group> groups_;
  std::deque<Row> rows_;
  std::deque<cql::EncodedRange> ranges_;
  std::vector<CellUpdate> cells_;
  size_t cells_max_ = kCellsMax;
  // The first hashed_groups_ groups, where there are many.
  GroupsByPartition groups_by_partition_;
  size_t hashed_groups_ = 0;
  size_t partition_count_ = 0;
  size_t group_count_ = 0;
  size_t row_count_ = 0;
  std::deque<std::string> paths_;
  // Of lists: see Clear; the place of writes without a timestamp, once it is known; and how many
  // elements of the set were appended, and prepended.
  TimeuuidSource* timeuuids_ = nullptr;
  uint64_t now_nanos_ = 0;  // of the last Add
  std::optional<ListPosition> own_place_;
  uint32_t appended_ = 0;
  uint32_t prepended_ = 0;
  std::vector<RowLook> looks_;
  std::vector<Command> commands_;
  std::vector<std::shared_ptr<const cql::ViewPlans>> views_;
  // Scratch of Add.
  std::vector<std::string> keys_;
  std::vector<cql::EncodedRange> encoded_;
};

// A timestamp as it is given, in microseconds; nullopt: it is unset. Invalid: it is null.
cql::CqlOr<std::optional<int64_t>> ReadTimestamp(const cql::Operand& operand,
                                                 cql::BoundValues values);
// USING TIMESTAMP, or of a batch: microseconds; left alone when it is absent or unset. Invalid: no
// write may have it.
cql::CqlStatus ResolveTimestamp(const std::optional<cql::Operand>& operand, cql::BoundValues values,
                                std::optional<int64_t>& timestamp);
// Of a statement of its own and of a batch; those of the statements in a batch may lie anywhere.
// Source: ScyllaDB cql3/util.cc, validate_timestamp, and who calls it.
cql::CqlStatus CheckNotInFuture(const std::optional<cql::Operand>& operand, cql::BoundValues values,
                                uint64_t now_nanos);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_WRITE_WRITE_SET_H_
