// Tables whose rows follow from those of others: how they begin. What keeps them so is in batch.cc.
#include <new>
#include <optional>
#include <string>
#include <utility>

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

// How far a view has come.
struct Engine::FillPosition {
  size_t lane = 0;
  uint64_t address = 0;            // the next partition is at or behind this,
  std::optional<std::string> key;  // and, at that address, behind this
  std::string bound;               // not empty: first the rest of `key`, from here on
};

// The next partition of a lane, after those that `at` is behind; false: there is none.
bool Engine::FindNextToFill(storage::Table& base, FillPosition& at) {
  bool found = false;
  const std::optional<std::string> behind = at.key;
  base.ScanPartitions(at.address, behind, [&](uint64_t address, const storage::Partition& next) {
    at.address = address;
    at.key.emplace(next.key());
    found = true;
    return false;
  });
  return found;
}

OpStatus Engine::FillSlice(TableId base, RowFollower& follower, int64_t now_seconds,
                           FillPosition& at) {
  for (size_t done = 0; done < filled_rows_per_hold_ && at.lane < lanes_.size(); ++done) {
    storage::Table& table = lanes_[at.lane]->table(base);
    if (at.bound.empty() && !FindNextToFill(table, at)) {
      at = {.lane = at.lane + 1, .address = 0, .key = {}, .bound = {}};
      continue;
    }
    follower.OnAttempt();
    FollowedRows rows(follower, FollowedRows::When::kAfter, now_seconds);
    const storage::PartitionRef partition{*at.key, at.address};
    const bool more = rows.SendNext(table, partition, at.bound, filled_rows_per_hold_ - done);
    if (!more) at.bound.clear();
    const std::span<const DerivedRow> changes = follower.Changes();
    done += changes.size();
    for (const DerivedRow& row : changes) {
      storage::PartitionRef place;
      storage::Table* into = FindHeld(row.table, row.partition_key, place);
      LS_CHECK(into != nullptr, "the table has been looked for");
      // A write may have been before.
      TakeOutDerivedRow(*into, place, row, now_seconds);
      const OpStatus status = PutDerivedRow(*into, place, row, now_seconds);
      if (status != OpStatus::kOk) return status;
    }
    if (more) break;
  }
  return OpStatus::kOk;
}

// The heap may refuse in the middle: the view goes then, as where the limit refuses.
OpStatus Engine::TryToFill(TableId base, RowFollower& follower, int64_t now_seconds,
                           FillPosition& at) try {
  return FillSlice(base, follower, now_seconds, at);
} catch (const std::bad_alloc&) {
  return OpStatus::kOutOfMemory;
}

void Engine::RenewHeld(TableId& table) {
  const TableId next{table.value, table.generation + 1};
  catalog_.NoteIdsAhead();
  for (const auto& lane : lanes_) lane->table(table).set_id(next);
  table = next;
}

// Nothing has come so far. `base_takes_part`: its rows may be evicted, which is of no consequence as long as
// nobody relies on the others.
void Engine::EmptyDerived(TableId base, RowFollower& follower, bool base_takes_part) {
  const AllLanes hold(*this);
  for (const auto& lane : lanes_) {
    for (const TableId derived : follower.Derived()) {
      storage::Table* const table = lane->FindTable(derived);
      if (table != nullptr && !table->IsBlank()) table->TruncateAll();
    }
    storage::Table* const table = lane->FindTable(base);
    if (table != nullptr && table->evicts()) table->TakePart(base_takes_part);
  }
}

OpStatus Engine::FillDerived(TableId base, RowFollower& follower, uint64_t now_nanos,
                             absl::FunctionRef<void()> between_slices) {
  // Of what rows may take, so many parts are evicted for it at each attempt. Half is enough where a base that
  // has all is followed by rows like its own; a third where most of its values have blocks of their own and
  // are evicted in no order: their pages come free when all that share them have gone, and with them rows
  // that would have followed. So the steps are small where most attempts end.
  constexpr uint64_t kRoomParts = 16;
  constexpr uint64_t kRooms[] = {2, 4, 5, 6, 7, 8, 10, 12};
  const MutexLock lock(tables_mutex_);
  bool base_takes_part = false;
  {
    const AllLanes hold(*this);
    const storage::Table* const table = lanes_[0]->FindTable(base);
    base_takes_part = table != nullptr && table->takes_part();
  }
  EmptyDerived(base, follower, /*base_takes_part=*/false);
  OpStatus status = FillAll(base, follower, now_nanos, between_slices);
  for (const uint64_t room : kRooms) {
    if (!IsRefusal(status) || !evicts_tables_of_users_) break;
    EmptyDerived(base, follower, base_takes_part);
    MakeRoomForCopies(now_nanos, budget_.grow_limit_bytes() / kRoomParts * room);
    EmptyDerived(base, follower, /*base_takes_part=*/false);
    status = FillAll(base, follower, now_nanos, between_slices);
  }
  if (IsRefusal(status)) refused_writes_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

OpStatus Engine::FillAll(TableId base, RowFollower& follower, uint64_t now_nanos,
                         absl::FunctionRef<void()> between_slices) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  FillPosition position;
  bool has_made_room = false;
  while (position.lane < lanes_.size()) {
    FillPosition after = position;
    OpStatus status = OpStatus::kOk;
    {
      const AllLanes hold(*this);
      if (lanes_[0]->FindTable(base) == nullptr) status = OpStatus::kTableGone;
      for (const TableId derived : follower.Derived()) {
        if (lanes_[0]->FindTable(derived) == nullptr) status = OpStatus::kTableGone;
      }
      if (status == OpStatus::kOk) status = TryToFill(base, follower, now_seconds, after);
    }
    if (IsRefusal(status) && !std::exchange(has_made_room, true)) {
      MakeRoom(now_nanos, {.table = base});
      continue;
    }
    if (status != OpStatus::kOk) return status;
    has_made_room = false;
    position = std::move(after);
    between_slices();
  }
  return OpStatus::kOk;
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
