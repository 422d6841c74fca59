// Memory set aside for a batch: what several writes may take in one partition, one after the other.
#include "engine/base/check.h"
#include "engine/storage/table.h"

namespace liststore {

// The cost of a write is that of the partition as it stands. What earlier writes of the batch make
// of it is covered by counting their rows again for every write that may meet them, and, because
// rows of equal keys are merged, all rows in one as well.
OpStatus Table::PledgeShare(const PartitionRef& partition, const BatchShare& share,
                            const WriteContext& write) {
  LS_DCHECK(!redeeming_, "pledges come before they are redeemed");
  std::vector<RowUpdate> all;
  for (const auto rows : share.upserts) all.insert(all.end(), rows.begin(), rows.end());
  const bool deletes = MayRewrite(write);
  const size_t writes =
      share.upserts.size() + share.deleted_rows.size() + share.deleted_ranges.size();
  WriteCost cost;
  const bool reserved = Reserve(write.now_seconds, [&] {
    const DirectorySlot* slot = FindForWrite(partition);
    cost = UnpinCost(slot);
    if (share.upserts.empty() && !deletes) return cost;
    WriteCost rows_again;
    if (!all.empty()) rows_again = UpsertCost(partition, slot, all, write);
    for (const auto rows : share.upserts) cost.Add(UpsertCost(partition, slot, rows, write));
    if (share.upserts.size() > 1) cost.Add(rows_again);
    // A partition may go and come back within the batch.
    if (writes > 1) cost.Add(CreateCost());
    if (!deletes) return cost;
    for (const auto keys : share.deleted_rows) {
      cost.Add(DeleteRowsCost(partition, slot, keys));
      cost.Add(rows_again);
    }
    for (const ClusteringRange& range : share.deleted_ranges) {
      cost.Add(DeleteRangeCost(partition, slot, range));
      cost.Add(rows_again);
    }
    return cost;
  });
  if (!reserved) return Refusal();
  pledged_.Add(cost);
  return OpStatus::kOk;
}

}  // namespace liststore
