// Memory set aside for a batch: what several writes may take in one partition, one after the other.
#include <algorithm>
#include <vector>

#include "engine/base/check.h"
#include "engine/model/partition_key.h"
#include "engine/storage/partition/upsert_load.h"
#include "engine/storage/table.h"
#include "engine/storage/table_reserve.h"

namespace liststore::storage {

OpStatus Table::PledgeShare(const PartitionRef& partition, const BatchShare& share,
                            const WriteContext& write) {
  LS_DCHECK(!redeeming_, "pledges come before they are redeemed");
  size_t bytes = 0;
  const auto purpose = share.upserts.empty() ? memory::MemoryBudget::Purpose::kGiveBack
                                             : memory::MemoryBudget::Purpose::kGrow;
  const bool reserved = Reserve(write.now_seconds, purpose, [&] {
    const DirectorySlot* slot = FindForWrite(partition);
    bytes = 0;
    for (const SharedUpsert& upsert : share.upserts) {
      bytes += UpsertBytes(partition, slot, upsert.rows, LoadOf(schema_, upsert.rows, write));
    }
    NoteRewritten(slot, share);
    CheckRowSizes(slot, share.upserts, write);
    if (large_row_.any()) return bytes;
    for (const auto keys : share.deleted_rows) {
      PrepareDeletions(slot, keys, write, WriteTimestamp::None());
      bytes += DeleteRowsBytes(partition, slot, keys, write);
    }
    for (const ClusteringRange& range : share.deleted_ranges) {
      PrepareRangeDeletion(slot, range, write, WriteTimestamp::None(), share.deleted_ranges.size());
      bytes += DeleteRangeBytes(partition, slot, range, write);
      // Where it meets others of the batch, what they leave of each other.
      if (share.deleted_ranges.size() > 1 && MayRewrite(write)) {
        bytes += 2 * RangeTombstones::FirstAddBytes(range);
      }
    }
    // The first of them moves the partition, and no other.
    const size_t parts =
        share.upserts.size() + share.deleted_rows.size() + share.deleted_ranges.size();
    if (parts > 1) bytes -= (parts - 1) * BaselineBytes(slot);
    return bytes;
  });
  if (!reserved) return Refusal();
  pledged_bytes_ = pledged_bytes_.value_or(0) + bytes;
  return OpStatus::kOk;
}

void Table::NoteRewritten(const DirectorySlot* slot, const BatchShare& share) {
  if (slot == nullptr || share.deleted_rows.size() < 2) return;
  // To delete a row once is always possible.
  std::vector<ClusteringKeyView> keys;
  for (const auto deleted : share.deleted_rows) {
    keys.insert(keys.end(), deleted.begin(), deleted.end());
  }
  std::ranges::sort(keys, [](const ClusteringKeyView& a, const ClusteringKeyView& b) {
    return CompareKeys(a, b) < 0;
  });
  uint64_t reference = slot->reference;
  const Partition partition(context_, reference);
  for (size_t i = 1; i < keys.size(); ++i) {
    if (CompareKeys(keys[i - 1], keys[i]) != 0) continue;
    NoteRewritten(partition.SizeOfStored({.key = keys[i]}).cells);
  }
}

}  // namespace liststore::storage
