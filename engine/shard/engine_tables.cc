// Tables of an engine: how they come, go, and are replaced.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"
#include "engine/shard/engine_copies.h"

namespace liststore::shard {
namespace {

// What a dropped table may take in all lanes together before DropTable returns: all of a small one.
// Ids are ahead of the schema meanwhile, and whoever finds the table gone waits.
constexpr size_t kUnitsAtDrop = 1024;
// Dropped tables that wait for Reclaim. When there are more, who creates a table helps.
constexpr size_t kWaitingMax = 64;
// A row may be larger than what is made free for a slice: eight times as much at the next attempt.
constexpr int kRoomDoublings = 3;
constexpr int kRebuildAttempts = 2;
constexpr int kRebuildsWithEvictions = 4;

}  // namespace

bool Engine::EmptyShell(TableId shell, size_t budget) {
  bool vacant = true;
  size_t left = budget;
  for (const auto& lane : lanes_) {
    bool done = false;
    do {
      size_t units = 0;
      lane->ownership.Run([&] {
        storage::Table& part = lane->table_at(shell.value);
        if (!part.vacant() && left > 0) {
          units = std::max<size_t>(part.Reclaim(0, std::min(left, kReclaimUnitsPerHold)), 1);
        }
        done = part.vacant();
      });
      left -= std::min(left, units);
    } while (!done && left > 0);
    vacant &= done;
  }
  return vacant;
}

void Engine::ReserveShells(size_t count) {
  for (std::vector<TableId>* const shells : {&vacant_, &dropped_}) {
    const size_t wanted = shells->size() + count;
    if (shells->capacity() < wanted) shells->reserve(std::max(wanted, 2 * shells->size()));
  }
}

void Engine::KeepShell(TableId dropped) noexcept {
  const TableId shell{dropped.value, dropped.generation + 1};
  bool vacant = false;
  try {
    vacant = EmptyShell(shell, kUnitsAtDrop);
  } catch (const std::bad_alloc&) {
    // Reclamation does it.
  }
  try {
    (vacant ? vacant_ : dropped_).push_back(shell);
  } catch (const std::bad_alloc&) {
    // A table was ended all the same, and its memory comes back: its number does not.
  }
}

bool Engine::ChooseId(TableId& id) {
  if (vacant_.empty() && !dropped_.empty()) {
    const bool helps = dropped_.size() >= kWaitingMax || table_count_ == kTablesMax;
    // One unit finds out what Reclaim has done meanwhile.
    if (EmptyShell(dropped_.front(), helps ? SIZE_MAX : 1)) {
      vacant_.push_back(dropped_.front());
      dropped_.erase(dropped_.begin());
    }
  }
  if (!vacant_.empty()) {
    id = vacant_.back();
    vacant_.pop_back();
    return true;
  }
  if (table_count_ == kTablesMax) return false;
  id = TableId{table_count_++};
  return true;
}

TableId Engine::CreateTable(TableSchema schema) {
  TableId id;
  const OpStatus status = CreateTable(std::move(schema), id);
  LS_CHECK(status == OpStatus::kOk, "the program makes fewer than 65535 tables");
  return id;
}

OpStatus Engine::CreateTable(TableSchema schema, TableId& id) {
  const MutexLock lock(tables_mutex_);
  if (!ChooseId(id)) return OpStatus::kTooManyTables;
  schema.id = id;
  try {
    const AllLanes hold(*this);
    AddToAllLanes({&schema, 1});
  } catch (const std::bad_alloc&) {
    ReturnId(id);
    throw;
  }
  return OpStatus::kOk;
}

void Engine::AddToAllLanes(std::span<const TableSchema> schemas) {
  // Either every lane has a table or none: what the heap may refuse comes first.
  std::vector<std::unique_ptr<Lane::NewTable>> made;
  made.reserve(schemas.size() * lanes_.size());
  for (const auto& lane : lanes_) {
    for (size_t i = 0; i < schemas.size(); ++i) made.push_back(lane->Prepare(schemas[i], i));
  }
  for (size_t i = 0; i < made.size(); ++i) lanes_[i / schemas.size()]->Add(*made[i]);
}

void Engine::ReturnId(TableId id) {
  if (id.value + 1u == table_count_ && lanes_[0]->table_count() <= id.value) {
    --table_count_;
  } else {
    vacant_.push_back(id);  // has room: it was taken from there
  }
}

OpStatus Engine::DropTables(std::span<const TableId> tables) noexcept {
  const MutexLock lock(tables_mutex_);
  try {
    ReserveShells(tables.size());
  } catch (const std::bad_alloc&) {
    // KeepShell tries again.
  }
  {
    const AllLanes hold(*this);
    for (const TableId table : tables) {
      if (lanes_[0]->FindTable(table) == nullptr) return OpStatus::kTableGone;
    }
    catalog_.NoteIdsAhead();
    for (const auto& lane : lanes_) {
      for (const TableId table : tables) EndTable(*lane, table);
    }
  }
  for (const TableId table : tables) KeepShellUnlessSetAside(table);
  return OpStatus::kOk;
}

OpStatus Engine::SetGrace(TableId table, int64_t gc_grace_seconds) {
  return WithAllOf(table, [&](storage::Table& part) { part.SetGrace(gc_grace_seconds); });
}

OpStatus Engine::TruncateTable(TableId table) { return TruncateTables({&table, 1}); }

void Engine::PrepareTruncation(TableId table, std::string_view component) {
  WithAllOf(table, [&](storage::Table& part) { part.PrepareTruncation(component); });
}

OpStatus Engine::TruncateFirstComponent(TableId table, std::string_view component) {
  const AllLanes hold(*this);
  if (lanes_[0]->FindTable(table) == nullptr) return OpStatus::kTableGone;
  if (keeps_log() && !WriteDownTruncations({&table, 1}, component)) return OpStatus::kNotKept;
  for (const auto& lane : lanes_) lane->table(table).TruncateFirstComponent(component);
  return OpStatus::kOk;
}

OpStatus Engine::TruncateTables(std::span<const TableId> tables) {
  const AllLanes hold(*this);
  for (const TableId table : tables) {
    if (lanes_[0]->FindTable(table) == nullptr) return OpStatus::kTableGone;
  }
  if (keeps_log() && !WriteDownTruncations(tables, std::nullopt)) return OpStatus::kNotKept;
  for (const auto& lane : lanes_) {
    for (const TableId table : tables) lane->table(table).TruncateAll();
  }
  return OpStatus::kOk;
}

bool Engine::ChooseIds(std::span<TableRebuild> rebuilds) {
  for (size_t i = 0; i < rebuilds.size(); ++i) {
    if (ChooseId(rebuilds[i].schema.id)) continue;
    // Those that are in no lane yet take their turn there, so that those after them come in order.
    const auto chosen = rebuilds.first(i);
    std::vector<TableSchema> schemas;
    for (const TableRebuild& rebuild : chosen) schemas.push_back(rebuild.schema);
    {
      const AllLanes hold(*this);
      AddToAllLanes(schemas);
      for (const auto& lane : lanes_) {
        for (const TableRebuild& rebuild : chosen) lane->table(rebuild.schema.id).Drop();
      }
    }
    for (const TableRebuild& rebuild : chosen) KeepShell(rebuild.schema.id);
    return false;
  }
  return true;
}

OpStatus Engine::Restore(const TableRebuild& rebuild, int64_t now_seconds,
                         absl::FunctionRef<void()> between_slices) try {
  uint64_t restored = 0;
  for (const ColumnToRestore& column : rebuild.restores) {
    for (const auto& part : column.cells->parts) {
      for (const KeptCell& cell : part->cells) {
        const Destination to = DestinationOf(cell.partition_key);
        OpStatus status = OpStatus::kOk;
        to.lane->ownership.Run([&] {
          status = to.lane->table(rebuild.schema.id)
                       .PutKept(to.address, column.column, column.cells->of_static_column, cell,
                                now_seconds);
        });
        if (status != OpStatus::kOk) return status;
        if (++restored % copied_rows_per_hold_ == 0) between_slices();
      }
    }
  }
  return OpStatus::kOk;
} catch (const std::bad_alloc&) {
  return OpStatus::kOutOfMemory;
}

// The new tables are made. kTableGone: one of the old ones is not there. Throws std::bad_alloc, and
// there are none.
OpStatus Engine::CreateCopies(std::span<const TableRebuild> rebuilds) {
  std::vector<TableSchema> schemas;
  for (const TableRebuild& rebuild : rebuilds) schemas.push_back(rebuild.schema);
  OpStatus status = OpStatus::kOk;
  const AllLanes hold(*this);
  AddToAllLanes(schemas);
  try {
    for (const auto& lane : lanes_) {
      for (const TableRebuild& rebuild : rebuilds) {
        const storage::Table* const from = lane->FindTable(rebuild.from);
        if (from == nullptr) status = OpStatus::kTableGone;
        // It takes no part before it stands for the other, with which its partitions go until then.
        if (from != nullptr && from->evicts()) {
          lane->table(rebuild.schema.id).EnableEviction(from->eviction_options(), lane->eviction());
        }
      }
    }
  } catch (const std::bad_alloc&) {
    status = OpStatus::kOutOfMemory;  // they are there, and are ended as any copies
  }
  return status;
}

// Ends the old tables, or, after `status` or where a write meanwhile did not fit, the new ones.
OpStatus Engine::EndCopies(Copies& copies, std::span<const TableRebuild> rebuilds,
                           OpStatus status) {
  const AllLanes hold(*this);
  if (status == OpStatus::kOk) status = copies.status();
  if (status == OpStatus::kOk) status = copies.TakeKept();
  if (status == OpStatus::kOk) catalog_.NoteIdsAhead();
  copies.End();
  for (const TableRebuild& rebuild : rebuilds) {
    for (const auto& lane : lanes_) {
      if (status != OpStatus::kOk) break;
      lane->table(rebuild.schema.id).TakePart(lane->table(rebuild.from).takes_part());
    }
    const TableId ends = status == OpStatus::kOk ? rebuild.from : rebuild.schema.id;
    for (const auto& lane : lanes_) EndTable(*lane, ends);
  }
  return status;
}

OpStatus Engine::RebuildTables(std::span<TableRebuild> rebuilds, uint64_t now_nanos,
                               absl::FunctionRef<void()> between_slices) {
  if (rebuilds.empty()) return OpStatus::kOk;
  const MutexLock lock(tables_mutex_);
  const int64_t now_seconds = WholeSeconds(now_nanos);
  OpStatus status = OpStatus::kOutOfMemory;
  const int attempts = evicts() ? kRebuildsWithEvictions : kRebuildAttempts;
  uint64_t room_bytes = Copies::RoomBytes(*this);
  for (int attempt = 0; attempt < attempts && status == OpStatus::kOutOfMemory; ++attempt) {
    if (attempt > 0) {
      MakeRoom(now_nanos, {.table = rebuilds[0].from});
      room_bytes = std::min(room_bytes << kRoomDoublings, budget_.grow_limit_bytes() / 4);
    }
    ReserveShells(rebuilds.size());
    if (!ChooseIds(rebuilds)) return OpStatus::kTooManyTables;
    Copies copies(*this, rebuilds, now_seconds);
    // Whatever ends it, nobody writes to the copies any more afterwards.
    try {
      status = CreateCopies(rebuilds);
    } catch (const std::bad_alloc&) {
      for (size_t i = rebuilds.size(); i-- > 0;) ReturnId(rebuilds[i].schema.id);
      continue;
    }
    if (status == OpStatus::kOk) status = copies.CopyAll(room_bytes, between_slices);
    for (const TableRebuild& rebuild : rebuilds) {
      if (status == OpStatus::kOk) status = Restore(rebuild, now_seconds, between_slices);
    }
    status = EndCopies(copies, rebuilds, status);
    for (const TableRebuild& rebuild : rebuilds) {
      KeepShellUnlessSetAside(status == OpStatus::kOk ? rebuild.from : rebuild.schema.id);
    }
  }
  if (status == OpStatus::kOutOfMemory) refused_writes_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

OpStatus Engine::RebuildTable(TableId from, TableSchema schema, const ColumnMap& columns,
                              uint64_t now_nanos, TableId& id) {
  TableRebuild rebuild{from, std::move(schema), columns};
  const OpStatus status = RebuildTables({&rebuild, 1}, now_nanos);
  if (status == OpStatus::kOk) id = rebuild.schema.id;
  return status;
}

}  // namespace liststore::shard
