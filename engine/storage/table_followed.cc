// What tables do for rows that follow from others: those of the one side are looked at as they will be,
// those of the other are put and taken out.
#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/storage/partition/upsert_load.h"
#include "engine/storage/table.h"
#include "engine/storage/table_reserve.h"

namespace liststore::storage {

// --- As they will be -----------------------------------------------------------------------------

void Table::SendForeseen(const PartitionRef& partition, ClusteringKeyView key,
                         std::span<const ForeseenUpdate> updates, WriteTimestamp covered,
                         int64_t now_seconds, RowSink& sink) {
  const DirectorySlot* const slot = FindForRead(partition);
  uint64_t reference = slot == nullptr ? 0 : slot->reference;
  const Partition found(context_, reference);
  RowBody& body = context_.other_body;
  body.Clear();
  RowUpdate place;
  place.key = key;
  if (slot != nullptr) found.DecodeStored(place, body);
  // As NoteTimestamps will set it.
  const GracePolicy foreign =
      foreign_timestamps_ ? context_.grace : GracePolicy{schema_.gc_grace_seconds, now_seconds};
  const auto is_like = [](const ForeseenUpdate& a, const ForeseenUpdate& b) {
    return a.write.timestamp == b.write.timestamp &&
           a.write.foreign_timestamp == b.write.foreign_timestamp;
  };
  absl::InlinedVector<const RowUpdate*, 4> together;
  while (!updates.empty()) {
    const WriteContext& write = updates[0].write;
    together.clear();
    bool makes_way = false;
    for (const ForeseenUpdate& update : updates) {
      if (!is_like(update, updates[0])) break;
      together.push_back(update.row);
      makes_way |= std::ranges::any_of(update.row->cells, &CellUpdate::makes_way);
    }
    updates = updates.subspan(together.size());
    const GracePolicy& grace = write.foreign_timestamp ? foreign : context_.grace;
    const Tombstone over =
        slot == nullptr ? Tombstone{} : found.TombstoneOver(key, now_seconds, grace);
    if (over.Covers(write.timestamp)) continue;
    body.Purge(now_seconds, grace);
    body.MergeAll(together, write, grace);
    if (makes_way && over.present()) body.Cover(over.timestamp);
  }
  if (!covered.is_none()) body.Cover(covered);
  context_.has_large_scratch |= body.cells().size() > PartitionContext::kScratchCellsKept;
  if (!body.LiveAt(now_seconds)) return;
  absl::InlinedVector<LiveCellView, 4> cells;
  const RowView row = body.ToView(key, now_seconds, cells);
  sink.OnRows({&row, 1});
}

// --- Put and taken out ---------------------------------------------------------------------------

size_t Table::PutRowBytesAt(const PartitionRef& partition, const DirectorySlot* slot,
                            const StoredRow& row, bool again) {
  const Partition::Load load = LoadOf(row);
  const size_t most = RowBytesMax(row);
  rows_bytes_max_ += most;
  const size_t in_leaves =
      again ? 2 * load.growth_bytes + schema_.indexes.size() * ValueIndex::kAddBytes
            : UpsertBytes(partition, slot, {}, load);
  return in_leaves + (load.all_short ? 0 : memory::Arena::BlockBytes(most));
}

uint64_t Table::PutRowBytes(const PartitionRef& partition, const StoredRow& row, bool again) {
  const DirectorySlot* const slot = again ? nullptr : FindForWrite(partition);
  const size_t bytes = PutRowBytesAt(partition, slot, row, again) - BaselineBytes(slot);
  if (again || slot != nullptr) return bytes;
  // The directory grows once for the first of them, and by little for the others.
  constexpr size_t kDirectoryBytes = 4 * sizeof(DirectorySlot);
  return bytes - directory_.ReserveBytesForInsert() + kDirectoryBytes;
}

bool Table::PledgeRows(uint64_t bytes, size_t row_bytes, memory::MemoryBudget::Purpose purpose) {
  context_.PrepareScratch(row_bytes);
  // What goes may leave a smaller block behind.
  arena_.PrepareNotes(bytes);
  return arena_.Reserve(bytes, purpose);
}

uint64_t Table::PrepareDeletion(const PartitionRef& partition, ClusteringKeyView key) {
  const DirectorySlot* const slot = FindForRead(partition);
  if (slot == nullptr) return 0;
  uint64_t reference = slot->reference;
  RowUpdate place;
  place.key = key;
  // Both bodies keep the room that the row takes.
  const Partition found(context_, reference);
  found.DecodeStored(place, context_.body);
  context_.other_body.Reserve(context_.body.cells().size());
  context_.body.Clear();
  return BaselineBytes(slot);
}

OpStatus Table::PutRow(const PartitionRef& partition, const StoredRow& row, int64_t now_seconds) {
  if (mirror_ != nullptr) [[unlikely]]
    return PutRowInBoth(partition, row, now_seconds);
  NoteChange(partition);
  DirectorySlot* slot = nullptr;
  if (!Reserve(now_seconds, memory::MemoryBudget::Purpose::kGrow, [&] {
        slot = FindForWrite(partition);
        return PutRowBytesAt(partition, slot, row);
      })) {
    return Refusal();
  }
  const Partition::Load load = LoadOf(row);
  if (slot == nullptr) {
    slot = Create(partition, load.bytes);
  } else {
    Unpin(slot);
  }
  Partition handle(context_, slot->reference);
  handle.Expect(load);
  handle.Put(row, now_seconds);
  // It has all that it is to have.
  if (cache_ != nullptr || past_unknown_) {
    handle.set_cache_bits(handle.cache_bits() & static_cast<uint8_t>(~cache_bits::kPartial));
  }
  Finish(partition, slot);
  if (cache_ != nullptr) PayOrOwe(partition, now_seconds);
  return OpStatus::kOk;
}

}  // namespace liststore::storage
