// Tables whose rows follow from those of others: how they begin. What keeps them so is in batch.cc.
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/derived_rows.h"
#include "engine/shard/engine.h"

namespace liststore::shard {

storage::Table* Engine::FindHeld(TableId table, std::string_view partition_key,
                                 storage::PartitionRef& partition) {
  const Destination to = DestinationOf(partition_key);
  partition = {partition_key, to.address};
  return to.lane->FindTable(table);
}

OpStatus Engine::FillFromLane(Lane& lane, TableId base, RowFollower& follower,
                              int64_t now_seconds) {
  std::vector<std::string> keys;
  lane.table(base).ScanPartitions(0, std::nullopt,
                                  [&](uint64_t, const storage::Partition& partition) {
                                    keys.emplace_back(partition.key());
                                    return true;
                                  });
  for (const std::string& key : keys) {
    follower.OnAttempt();
    FollowedRows rows(follower, FollowedRows::When::kAfter, now_seconds);
    rows.SendAll(lane.table(base), {key, DestinationOf(key).address});
    for (const DerivedRow& row : follower.Changes()) {
      storage::PartitionRef partition;
      storage::Table* into = FindHeld(row.table, row.partition_key, partition);
      LS_CHECK(into != nullptr, "the table has been looked for");
      TakeOutDerivedRow(*into, partition, row, now_seconds);
      if (!row.present()) continue;
      const OpStatus status = PutDerivedRow(*into, partition, row, now_seconds, /*may_fail=*/true);
      if (status != OpStatus::kOk) return status;
    }
  }
  return OpStatus::kOk;
}

void Engine::RenewHeld(TableId& table) {
  const TableId next{table.value, table.generation + 1};
  for (const auto& lane : lanes_) lane->table(table).set_id(next);
  table = next;
}

OpStatus Engine::FillDerived(TableId& base, RowFollower& follower, uint64_t now_nanos) {
  const MutexLock lock(tables_mutex_);
  const int64_t now_seconds = WholeSeconds(now_nanos);
  OpStatus status = OpStatus::kOutOfMemory;
  for (int attempt = 0; attempt < 2 && IsRefusal(status); ++attempt) {
    if (attempt > 0) MakeRoom(now_nanos, base);
    status = OpStatus::kOk;
    const AllLanes hold(*this);
    if (lanes_[0]->FindTable(base) == nullptr) status = OpStatus::kTableGone;
    for (const TableId derived : follower.Derived()) {
      if (lanes_[0]->FindTable(derived) == nullptr) status = OpStatus::kTableGone;
    }
    for (const auto& lane : lanes_) {
      if (status == OpStatus::kOk) status = FillFromLane(*lane, base, follower, now_seconds);
    }
    if (status == OpStatus::kOk) RenewHeld(base);
  }
  if (IsRefusal(status)) refused_writes_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

OpStatus Engine::RenewTable(TableId& table) {
  const MutexLock lock(tables_mutex_);
  OpStatus status = OpStatus::kTableGone;
  const AllLanes hold(*this);
  if (lanes_[0]->FindTable(table) != nullptr) {
    RenewHeld(table);
    status = OpStatus::kOk;
  }
  return status;
}

}  // namespace liststore::shard
