// ReferenceTable: what Table must do, written for being read. Sorted maps and plain scans; no
// index, no timers, no packing, no memory limit. Linked into tests only; model tests compare Table
// with it reply by reply.
//
// The operations and replies are those of Table (engine/storage/table.h), so that one template can
// drive either. Costs do not matter except that an upsert is O(log n).
//
// What both must agree on, where the rules of CQL leave room:
//  (1) the effective grace is 0 until the first write with a foreign timestamp was applied, and
//      gc_grace_seconds from that write on; at that moment what is purgeable under grace 0 goes;
//  (2) what is purgeable at `now` has no effect on a write at `now`;
//  (3) range tombstones do not overlap: at each position the stronger one is kept, the other
//      forgotten.
#ifndef LISTSTORE_TESTS_REFERENCE_REFERENCE_TABLE_H_
#define LISTSTORE_TESTS_REFERENCE_REFERENCE_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/mutation.h"
#include "engine/model/op_status.h"
#include "engine/model/row_view.h"
#include "engine/model/table_schema.h"
#include "engine/storage/table.h"

namespace liststore::testing {

class ReferenceTable {
 public:
  explicit ReferenceTable(const TableSchema& schema) : schema_(schema) {}

  const TableSchema& schema() const { return schema_; }

  OpStatus Upsert(const storage::PartitionRef& partition, std::span<const RowUpdate> rows,
                  const WriteContext& context);
  OpStatus DeleteRows(const storage::PartitionRef& partition,
                      std::span<const ClusteringKeyView> keys, const WriteContext& context,
                      uint64_t* removed = nullptr);
  OpStatus DeleteRange(const storage::PartitionRef& partition, const ClusteringRange& range,
                       const WriteContext& context, uint64_t* removed = nullptr);
  OpStatus DeletePartition(const storage::PartitionRef& partition, const WriteContext& context,
                           uint64_t* removed = nullptr);
  OpStatus DeleteRowsByValue(const storage::PartitionRef& partition, ColumnId column,
                             std::string_view value, const WriteContext& context,
                             uint64_t* removed = nullptr);

  uint64_t Read(const storage::PartitionRef& partition, const ReadSpec& spec, int64_t now_seconds,
                RowSink& sink) const;
  uint64_t Count(const storage::PartitionRef& partition, const ClusteringRange& range,
                 int64_t now_seconds) const;
  template <typename Visitor>
  void ScanPartitions(uint64_t from_address, std::optional<std::string_view> after_key,
                      int64_t now_seconds, Visitor&& visit) const;

  void TruncateAll();
  void TruncateFirstComponent(std::string_view component);

  // --- For comparisons, beyond Table's interface ---

  // Nothing of it was stored when it was moved to another table, which knows of no foreign
  // timestamp then. False: something has an effect at `now_seconds`, so that something had to be
  // stored.
  bool BeginAnew(int64_t now_seconds);

  // Keys of the partitions that hold anything, dead or alive.
  std::vector<storage::PartitionRef> StoredPartitions() const;
  // The earliest expiry after `now_seconds` of anything that lives then.
  std::optional<int64_t> EarliestExpiry(int64_t now_seconds) const;
  // Live rows of all partitions.
  uint64_t CountAll(int64_t now_seconds) const;

 private:
  struct Cell {
    bool live = true;
    Liveness liveness;
    int64_t deletion_seconds = 0;
    std::string value;

    CellView view() const { return {live, liveness, deletion_seconds, value}; }
    bool LiveAt(int64_t now_seconds) const { return live && liveness.LiveAt(now_seconds); }
  };
  struct Row {
    Liveness marker;
    Tombstone tombstone;
    // By column and, of an element, its path; the column's own cell has none.
    std::map<std::pair<ColumnId, std::string>, Cell> cells;

    bool empty() const { return !marker.present() && !tombstone.present() && cells.empty(); }
    bool LiveAt(int64_t now_seconds) const;
    bool Matches(const ReadSpec::ValueFilter& filter, int64_t now_seconds) const;
    void RemoveCoveredBy(WriteTimestamp timestamp);
  };
  // A ClusteringBound that owns its bytes; ordered as positions are.
  struct Position {
    bool at_end = false;
    std::string bytes;
    auto operator<=>(const Position&) const = default;
  };
  struct RangeTombstone {
    Position lower;
    Position upper;
    Tombstone tombstone;
  };
  using Rows = std::map<std::string, Row, std::less<>>;
  struct Partition {
    Tombstone tombstone;
    std::vector<RangeTombstone> ranges;  // disjoint, ascending
    Rows rows;                           // by plain encoded key
    Row static_row;                      // cells alone

    bool empty() const {
      return !tombstone.present() && ranges.empty() && rows.empty() && static_row.empty();
    }
  };
  using PartitionId = std::pair<uint64_t, std::string>;  // address, key

  static Position PositionOf(const ClusteringBound& bound);
  static std::string PlainOf(ClusteringKeyView key);
  static std::pair<Rows::const_iterator, Rows::const_iterator> RowsIn(const Partition& partition,
                                                                      const ClusteringRange& range);
  static bool PartitionLives(const Partition& partition, int64_t now_seconds);

  // The grace a write under `context` works with; makes the table foreign when the context is.
  int64_t BeginWrite(const WriteContext& context);
  void PurgeRow(Row& row, int64_t now_seconds, int64_t grace_seconds) const;
  void PurgeTombstones(Partition& partition, int64_t now_seconds, int64_t grace_seconds) const;
  void PurgeAll(int64_t now_seconds, int64_t grace_seconds);
  // The strongest partition or range tombstone over `key`.
  Tombstone CoveringTombstone(const Partition& partition, std::string_view key) const;
  void MergeRow(Partition& partition, const RowUpdate& update, const WriteContext& context,
                int64_t grace_seconds);
  void MergeStatic(Partition& partition, const RowUpdate& update, const WriteContext& context,
                   int64_t grace_seconds);
  static std::vector<LiveCellView> LiveCells(const Row& row, int64_t now_seconds);
  void MergeCell(Row& row, const CellUpdate& update, const Liveness& liveness,
                 const WriteContext& context, const Tombstone& tombstone) const;
  void DeleteRow(Partition& partition, const std::string& key, const WriteContext& context,
                 int64_t grace_seconds, uint64_t& removed);
  // Removes from the rows in [begin, end) what `context.timestamp` covers, row tombstones included.
  void EraseCovered(Partition& partition, Rows::iterator begin, Rows::iterator end,
                    const WriteContext& context, int64_t grace_seconds, uint64_t& removed);
  void AddRangeTombstone(Partition& partition, const RangeTombstone& added);
  const Partition* Find(const storage::PartitionRef& partition) const;
  Partition& FindOrMake(const storage::PartitionRef& partition);
  void DropIfEmpty(const storage::PartitionRef& partition);

  TableSchema schema_;
  bool foreign_ = false;  // a write with a foreign timestamp was applied
  std::map<PartitionId, Partition> partitions_;
};

template <typename Visitor>
void ReferenceTable::ScanPartitions(uint64_t from_address,
                                    std::optional<std::string_view> after_key, int64_t now_seconds,
                                    Visitor&& visit) const {
  for (const auto& [id, partition] : partitions_) {
    if (id.first < from_address) continue;
    if (after_key && id.first == from_address && id.second.compare(*after_key) <= 0) continue;
    if (!PartitionLives(partition, now_seconds)) continue;
    if (!visit(id.first, std::string_view(id.second))) return;
  }
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_REFERENCE_REFERENCE_TABLE_H_
