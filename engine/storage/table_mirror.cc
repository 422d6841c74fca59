#include "engine/storage/table_mirror.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/storage/partition_copier.h"

namespace liststore::storage {
namespace {

constexpr size_t kBytesPerUnit = 256;

size_t UnitsOf(const StoredRow& row) {
  size_t bytes = 0;
  for (const StoredCell& cell : row.cells) bytes += cell.view.value.size() + cell.path.size();
  return 1 + row.cells.size() / 4 + bytes / kBytesPerUnit;
}

}  // namespace

TableMirror::TableMirror(Table& from, Table& to, const ColumnMap& columns,
                         std::span<const ColumnToKeep> keeps,
                         std::shared_ptr<memory::HeapLedger> ledger)
    : from_(from), to_(to), columns_(columns) {
  LS_CHECK(to.directory_.empty() && !to.dropped_, "a copy begins empty");
  LS_CHECK(from.mirror_ == nullptr, "a table is copied once at a time");
  LS_CHECK(columns.regular.size() == from.schema_.regular.size() &&
               columns.statics.size() == from.schema_.statics.size(),
           "the map has every old column");
  LS_CHECK(keeps.empty() || ledger != nullptr, "what is kept is counted");
  kept_.reserve(keeps.size());
  for (const ColumnToKeep& column : keeps) kept_.emplace_back(column, ledger);
  from.mirror_ = this;
  // What is copied was let in there.
  to.copying_ = true;
}

void TableMirror::Detach() {
  if (!std::exchange(attached_, false)) return;
  from_.mirror_ = nullptr;
  to_.copying_ = false;
  if (to_.cache_ != nullptr) to_.cache_->paid_live_bytes = to_.arena_.live_bytes();
}

// --- Copying -------------------------------------------------------------------------------------

size_t TableMirror::CopySlice(int64_t now_seconds, size_t units) {
  if (done_ || status_ != OpStatus::kOk) return 0;
  SyncTimestamps();
  // What a write has found to be over since is over.
  now_seconds = std::max(now_seconds, seen_seconds_);
  size_t spent = 0;
  bool ended = true;
  from_.directory_.ScanFrom(address_, [&](DirectorySlot& slot) {
    const uint64_t address = slot.address;
    const Partition partition(from_.context_, slot.reference);
    const bool same_address = key_ && address == address_;
    const bool again = same_address && partition.key() == *key_;
    if (again ? !inside_ : same_address && partition.key() < *key_) return true;
    if (spent >= units) return ended = false;
    if (from_.IsTruncated(partition)) {
      // Many may lie in a row.
      address_ = address;
      key_.emplace(partition.key());
      inside_ = false;
      in_head_ = false;
      after_row_.reset();
      ++spent;
      return true;
    }
    const PartitionRef at{partition.key(), address};
    PartitionCopier copier(to_, at, columns_, now_seconds, to_.foreign_timestamps_,
                           to_.context_.grace, kept_);
    if (!again) {
      address_ = address;
      key_.emplace(partition.key());
      inside_ = true;
      in_head_ = true;
      after_range_.reset();
      after_row_.reset();
      copier.CopyTombstone(partition.tombstone());
      ++spent;
    }
    bool all = !in_head_ || CopyHead(partition, copier, units, spent);
    if (!all) {
      Note(copier.status());
      return ended = false;
    }
    partition.ForEachRowBehind(after_row_, [&](const StoredRow& row) {
      if (spent >= units) return all = false;
      copier.CopyRow(row);
      char text[kItemKeyTextBytes];
      after_row_.emplace(PlainKey(row.key, text));
      spent += UnitsOf(row);
      return copier.status() == OpStatus::kOk;
    });
    Note(copier.status());
    if (all) {
      inside_ = false;
      after_row_.reset();
      to_.TakeOverUses(at, from_, partition);
    }
    return ended = all && status_ == OpStatus::kOk;
  });
  KeepTombstonesOfKept(now_seconds);
  done_ = ended && status_ == OpStatus::kOk;
  return spent;
}

// What is written meanwhile goes to the copy in any case: laying the same tombstone twice is as once.
bool TableMirror::CopyHead(const Partition& partition, PartitionCopier& copier, size_t units,
                           size_t& spent) {
  bool all = true;
  if (partition.ranges() != nullptr) {
    partition.ranges()->ForEachBehind(
        after_range_, [&](const ClusteringRange& range, const Tombstone& tombstone) {
          if (spent >= units) return all = false;
          copier.CopyRange(range, tombstone);
          after_range_.emplace(range.lower.bytes);
          ++spent;
          return copier.status() == OpStatus::kOk;
        });
  }
  if (!all) return false;
  copier.CopyStatics(partition.StaticCells());
  in_head_ = false;
  return true;
}

// Deletions leave tombstones in the one as in the other.
void TableMirror::SyncTimestamps() {
  if (!from_.foreign_timestamps_ || to_.foreign_timestamps_) return;
  to_.foreign_timestamps_ = true;
  to_.context_.grace = {to_.schema_.gc_grace_seconds, from_.context_.grace.start_seconds};
}

void TableMirror::NoteWrite(const WriteContext& write) {
  seen_seconds_ = std::max(seen_seconds_, write.now_seconds);
  SyncTimestamps();
}

void TableMirror::KeepTombstonesOfKept(int64_t now_seconds) {
  if (std::ranges::all_of(kept_, &KeptPlaces::empty)) return;
  to_.NoteTimestamps({WriteTimestamp::None(), now_seconds, /*foreign_timestamp=*/true});
}

// --- Writes --------------------------------------------------------------------------------------

TableMirror::Reach TableMirror::ReachOf(const PartitionRef& partition) const {
  if (done_) return Reach::kAll;
  if (!key_ || partition.address > address_) return Reach::kNothing;
  if (partition.address < address_ || partition.key < *key_) return Reach::kAll;
  if (partition.key > *key_) return Reach::kNothing;
  return inside_ ? Reach::kFirstRows : Reach::kAll;
}

bool TableMirror::Reaches(Reach reach, ClusteringKeyView key) const {
  if (reach != Reach::kFirstRows) return reach == Reach::kAll;
  return after_row_ && CompareKeys(key, {*after_row_, /*packed=*/false}) <= 0;
}

ClusteringKeyView TableMirror::KeyOf(ClusteringKeyView key, std::string& plain,
                                     PackedItemKey& packed) const {
  const bool packs = to_.schema().packs_item_keys();
  if (packs == from_.schema().packs_item_keys()) return key;
  char text[kItemKeyTextBytes];
  plain = PlainKey(key, text);
  return MakeClusteringKey(plain, packs, packed);
}

void TableMirror::TakeCells(const RowUpdate& row, std::vector<CellUpdate>& cells) const {
  const ColumnMap::Columns& columns = row.of_static_row ? columns_.statics : columns_.regular;
  for (const CellUpdate& cell : row.cells) {
    if (!columns[cell.column]) continue;
    cells.push_back(cell);
    cells.back().column = *columns[cell.column];
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const CellUpdate& a, const CellUpdate& b) { return a.column < b.column; });
}

void TableMirror::Keep(const PartitionRef& partition, const RowUpdate& row,
                       const WriteContext& write) {
  for (KeptPlaces& kept : kept_) {
    if (kept.column().is_static != row.of_static_row) continue;
    char text[kItemKeyTextBytes];
    const std::string_view key = row.of_static_row ? std::string_view() : PlainKey(row.key, text);
    for (const CellUpdate& cell : row.cells) {
      if (cell.column != kept.column().column) continue;
      CellView view;
      view.live = cell.live;
      view.liveness.timestamp = write.timestamp;
      // What makes way does so as of just before the write.
      if (cell.makes_way) --view.liveness.timestamp.micros;
      if (cell.live) {
        view.liveness.ttl_seconds = row.ttl_seconds;
        view.liveness.expiry_seconds = row.expiry_seconds;
        view.value = cell.value;
      } else {
        view.deletion_seconds = write.now_seconds;
      }
      if (!kept.Keep(partition.key, key, cell.path, view)) Note(OpStatus::kOutOfMemory);
    }
  }
}

void TableMirror::Upsert(const PartitionRef& partition, std::span<const RowUpdate> rows,
                         const WriteContext& write) {
  NoteWrite(write);
  const Reach reach = ReachOf(partition);
  if (reach == Reach::kNothing || status_ != OpStatus::kOk) return;
  std::vector<RowUpdate> taken;
  std::vector<std::vector<CellUpdate>> cells(rows.size());
  std::vector<std::string> plain(rows.size());
  std::vector<PackedItemKey> packed(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowUpdate& row = rows[i];
    if (!row.of_static_row && !Reaches(reach, row.key)) continue;
    Keep(partition, row, write);
    TakeCells(row, cells[i]);
    if (cells[i].empty() && (row.of_static_row || !row.marker)) continue;
    taken.push_back(row);
    if (!row.of_static_row) taken.back().key = KeyOf(row.key, plain[i], packed[i]);
    taken.back().cells = cells[i];
  }
  KeepTombstonesOfKept(write.now_seconds);
  Note(to_.Upsert(partition, taken, write));
}

void TableMirror::PutRow(const PartitionRef& partition, const StoredRow& row, int64_t now_seconds) {
  const Reach reach = ReachOf(partition);
  if (reach == Reach::kNothing || status_ != OpStatus::kOk || !Reaches(reach, row.key)) return;
  PartitionCopier copier(to_, partition, columns_, now_seconds, to_.foreign_timestamps_,
                         to_.context_.grace, kept_);
  copier.CopyRow(row);
  Note(copier.status());
}

void TableMirror::DeleteRows(const PartitionRef& partition, std::span<const ClusteringKeyView> keys,
                             const WriteContext& write) {
  NoteWrite(write);
  const Reach reach = ReachOf(partition);
  if (reach == Reach::kNothing || status_ != OpStatus::kOk) return;
  std::vector<ClusteringKeyView> taken;
  std::vector<std::string> plain(keys.size());
  std::vector<PackedItemKey> packed(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (Reaches(reach, keys[i])) taken.push_back(KeyOf(keys[i], plain[i], packed[i]));
  }
  if (!taken.empty()) Note(to_.DeleteRows(partition, taken, write));
}

void TableMirror::DeleteRange(const PartitionRef& partition, const ClusteringRange& range,
                              const WriteContext& write) {
  NoteWrite(write);
  if (ReachOf(partition) == Reach::kNothing || status_ != OpStatus::kOk) return;
  // Rows that come later are not there any more; the tombstone, where one is left, came too late to
  // be copied with what lies over the rows.
  ClusteringRange whole = range;
  const bool packs = to_.schema().packs_item_keys();
  if (!range.lower.at_end) whole.lower = ClusteringBound::At(range.lower.bytes, packs);
  if (!range.upper.at_end) whole.upper = ClusteringBound::At(range.upper.bytes, packs);
  Note(to_.DeleteRange(partition, whole, write));
}

void TableMirror::DeletePartition(const PartitionRef& partition, const WriteContext& write) {
  NoteWrite(write);
  if (ReachOf(partition) == Reach::kNothing || status_ != OpStatus::kOk) return;
  Note(to_.DeletePartition(partition, write));
}

void TableMirror::Evict(const PartitionRef& partition) {
  LS_CHECK(!IsInside(partition.address), "a partition that is being copied is guarded");
  if (ReachOf(partition) == Reach::kNothing || status_ != OpStatus::kOk) return;
  if (DirectorySlot* const slot = to_.FindForWrite(partition)) {
    to_.Discard(partition.address, slot->reference);
  }
}

// --- In the table --------------------------------------------------------------------------------

template <typename Here, typename There>
OpStatus Table::WithMirror(Here&& here, There&& there) {
  TableMirror* const mirror = std::exchange(mirror_, nullptr);
  in_both_ = true;
  const absl::Cleanup back = [&] {
    mirror_ = mirror;
    in_both_ = false;
  };
  const OpStatus status = [&] {
    try {
      return here();
    } catch (const std::bad_alloc&) {
      // Whether a part of it was done is not known.
      mirror->NoteRefused();
      throw;
    }
  }();
  if (status != OpStatus::kOk) return status;
  // A copy that lacks a write is none, for whatever reason; the write itself stands.
  try {
    there(*mirror);
  } catch (const std::bad_alloc&) {
    mirror->NoteRefused();
  }
  return status;
}

OpStatus Table::UpsertInBoth(const PartitionRef& partition, std::span<const RowUpdate> rows,
                             const WriteContext& write) {
  const OpStatus status =
      WithMirror([&] { return Upsert(partition, rows, write); },
                 [&](TableMirror& mirror) { mirror.Upsert(partition, rows, write); });
  // What goes for it goes from both.
  if (status == OpStatus::kOk && cache_ != nullptr) PayOrOwe(partition, write.now_seconds);
  return status;
}

OpStatus Table::DeleteRowsInBoth(const PartitionRef& partition,
                                 std::span<const ClusteringKeyView> keys, const WriteContext& write,
                                 uint64_t* removed) {
  return WithMirror([&] { return DeleteRows(partition, keys, write, removed); },
                    [&](TableMirror& mirror) { mirror.DeleteRows(partition, keys, write); });
}

OpStatus Table::DeleteRangeInBoth(const PartitionRef& partition, const ClusteringRange& range,
                                  const WriteContext& write, uint64_t* removed) {
  return WithMirror([&] { return DeleteRange(partition, range, write, removed); },
                    [&](TableMirror& mirror) { mirror.DeleteRange(partition, range, write); });
}

OpStatus Table::PutRowInBoth(const PartitionRef& partition, const StoredRow& row,
                             int64_t now_seconds) {
  const OpStatus status =
      WithMirror([&] { return PutRow(partition, row, now_seconds); },
                 [&](TableMirror& mirror) { mirror.PutRow(partition, row, now_seconds); });
  if (status == OpStatus::kOk && cache_ != nullptr) PayOrOwe(partition, now_seconds);
  return status;
}

OpStatus Table::DeletePartitionInBoth(const PartitionRef& partition, const WriteContext& write,
                                      uint64_t* removed) {
  return WithMirror([&] { return DeletePartition(partition, write, removed); },
                    [&](TableMirror& mirror) { mirror.DeletePartition(partition, write); });
}

}  // namespace liststore::storage
