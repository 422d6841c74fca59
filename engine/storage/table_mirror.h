// TableMirror: a table on its way into another one of the same lane, a slice at a time, while it is
// written to.
#ifndef LISTSTORE_ENGINE_STORAGE_TABLE_MIRROR_H_
#define LISTSTORE_ENGINE_STORAGE_TABLE_MIRROR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/memory/heap_share.h"
#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"
#include "engine/model/mutation.h"
#include "engine/model/op_status.h"
#include "engine/model/schema_actions.h"
#include "engine/storage/kept_places.h"
#include "engine/storage/table.h"

namespace liststore::storage {

// Goes through `from` in the order of its partitions and their rows. What is written to a part that
// was copied is written to `to` as well, in the same step; a part that comes later is copied as it
// is by then. So the copied part of `to` is at each moment what `from` is there, and the two are one
// when all is copied: nothing that was deleted comes back, nothing that was overwritten either.
//
// Used by the lane's holder alone, from the beginning to the end. Both tables outlive it; nobody
// else knows `to`, which begins empty.
class PartitionCopier;

class TableMirror {
 public:
  // `columns`: what becomes of each column of `from`. Of those of `keeps`, which do not come along,
  // cells that came after a time are kept, each by its place, in memory of `ledger`, which is given
  // where there are any; where some are kept, deletions leave tombstones from then on, which count
  // for what comes back. Borrowed.
  TableMirror(Table& from, Table& to, const ColumnMap& columns,
              std::span<const ColumnToKeep> keeps = {},
              std::shared_ptr<memory::HeapLedger> ledger = nullptr);
  ~TableMirror() { Detach(); }
  TableMirror(const TableMirror&) = delete;
  TableMirror& operator=(const TableMirror&) = delete;

  // Copies the next part, of about `units`: a row is one, and one more for each 256 bytes of it, and
  // so is a partition, one that was truncated too. Returns how many they were: fewer, and all was
  // copied.
  size_t CopySlice(int64_t now_seconds, size_t units);
  // Everything was copied. Not where status() says why not.
  bool done() const { return done_; }
  // Of the copy, of what was written meanwhile and of what is kept: kOutOfMemory: a part of it is
  // missing.
  OpStatus status() const { return status_; }
  // The heap has refused a write to the copy.
  void NoteRefused() { Note(OpStatus::kOutOfMemory); }
  // Of each of `keeps`.
  std::vector<KeptPlaces>& kept() { return kept_; }
  // What is written to `from` from here on stays there. Frees nothing, and may be followed by nothing
  // but the destruction, which needs no holder then.
  void Detach();

  // --- What was written to `from` ----------------------------------------------------------------

  void Upsert(const PartitionRef& partition, std::span<const RowUpdate> rows,
              const WriteContext& write);
  void PutRow(const PartitionRef& partition, const StoredRow& row, int64_t now_seconds);
  void DeleteRows(const PartitionRef& partition, std::span<const ClusteringKeyView> keys,
                  const WriteContext& write);
  void DeleteRange(const PartitionRef& partition, const ClusteringRange& range,
                   const WriteContext& write);
  void DeletePartition(const PartitionRef& partition, const WriteContext& write);
  void TruncateAll() { to_.TruncateAll(); }
  // It goes from `from`, and so from here. Not inside of it.
  void Evict(const PartitionRef& partition);
  // At an address of which a partition was copied in part.
  bool IsInside(uint64_t address) const { return inside_ && address == address_; }

 private:
  // Range tombstones of the partition that was come to, from where it is on; and the static row
  // behind them. False: there are more than `spent` may still be.
  bool CopyHead(const Partition& partition, PartitionCopier& copier, size_t units, size_t& spent);
  // What of a partition was copied.
  enum class Reach : uint8_t {
    kNothing,
    kFirstRows,  // those up to after_row_, and what lies over the rows
    kAll
  };
  Reach ReachOf(const PartitionRef& partition) const;
  bool Reaches(Reach reach, ClusteringKeyView key) const;
  // A key of `from` as `to` has it.
  ClusteringKeyView KeyOf(ClusteringKeyView key, std::string& plain, PackedItemKey& packed) const;
  void Keep(const PartitionRef& partition, const RowUpdate& row, const WriteContext& write);
  void TakeCells(const RowUpdate& row, std::vector<CellUpdate>& cells) const;
  void KeepTombstonesOfKept(int64_t now_seconds);
  void SyncTimestamps();
  // Before a write, wherever it goes: what it says of the times counts for the copy too.
  void NoteWrite(const WriteContext& write);
  void Note(OpStatus status) {
    if (status != OpStatus::kOk) status_ = status;
  }

  Table& from_;
  Table& to_;
  const ColumnMap& columns_;
  std::vector<KeptPlaces> kept_;
  bool attached_ = true;
  OpStatus status_ = OpStatus::kOk;
  int64_t seen_seconds_ = INT64_MIN;  // the latest of any write to `from`
  bool done_ = false;

  // The partition that was come to last; nullopt: none was.
  uint64_t address_ = 0;
  std::optional<std::string> key_;
  bool inside_ = false;                     // rows of it may be left
  bool in_head_ = false;                    // of what lies over them, too,
  std::optional<std::string> after_range_;  // behind the one that begins here, plain; nullopt: none
  std::optional<std::string> after_row_;  // the last of them that was copied, plain; nullopt: none
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_TABLE_MIRROR_H_
