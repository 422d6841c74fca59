// Tables of an engine: how they come, go, and are replaced.
#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"
#include "engine/storage/table_mirror.h"

namespace liststore::shard {
namespace {

// What a dropped table may take under each lane before DropTable returns: all of a small one.
constexpr size_t kUnitsAtDrop = 256;
// Dropped tables that wait for Reclaim. When there are more, who creates a table helps.
constexpr size_t kWaitingMax = 64;
// What is made free before a slice is copied, where something may go for it: twice what a unit of
// TableMirror::CopySlice is. A row may be larger: eight times as much at the next attempt.
constexpr uint64_t kRoomBytesPerRow = 512;
constexpr int kRoomDoublings = 3;
constexpr int kRebuildAttempts = 2;
constexpr int kRebuildsWithEvictions = 4;

}  // namespace

bool Engine::EmptyShell(TableId shell, size_t budget) {
  bool vacant = true;
  for (const auto& lane : lanes_) {
    size_t left = budget;
    bool done = false;
    while (!done && left > 0) {
      lane->ownership.Run([&] {
        storage::Table& part = lane->table_at(shell.value);
        const size_t units =
            part.vacant() ? 0 : part.Reclaim(0, std::min(left, kReclaimUnitsPerHold));
        left -= std::min(left, std::max<size_t>(units, 1));
        done = part.vacant();
      });
    }
    vacant &= done;
  }
  return vacant;
}

void Engine::KeepShell(TableId dropped) {
  const TableId shell{dropped.value, dropped.generation + 1};
  if (EmptyShell(shell, kUnitsAtDrop)) {
    vacant_.push_back(shell);
  } else {
    dropped_.push_back(shell);
  }
}

bool Engine::ChooseId(TableId& id) {
  if (vacant_.empty() && !dropped_.empty()) {
    const bool helps = dropped_.size() >= kWaitingMax || table_count_ == kTablesMax;
    // One unit finds out what Reclaim has done meanwhile.
    if (EmptyShell(dropped_.front(), helps ? SIZE_MAX : 1)) {
      vacant_.push_back(dropped_.front());
      dropped_.pop_front();
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
  WithAllLanes([&](Lane& lane) { lane.CreateTable(schema); });
  return OpStatus::kOk;
}

OpStatus Engine::DropTable(TableId table) {
  const MutexLock lock(tables_mutex_);
  const OpStatus status = WithAllOf(table, [this](storage::Table& part) {
    catalog_.NoteIdsAhead();
    part.Drop();
  });
  if (status == OpStatus::kOk) KeepShell(table);
  return status;
}

OpStatus Engine::SetGrace(TableId table, int64_t gc_grace_seconds) {
  return WithAllOf(table, [&](storage::Table& part) { part.SetGrace(gc_grace_seconds); });
}

OpStatus Engine::TruncateTable(TableId table) {
  return WithAllOf(table, [&](storage::Table& part) { part.TruncateAll(); });
}

void Engine::PrepareTruncation(TableId table, std::string_view component) {
  WithAllOf(table, [&](storage::Table& part) { part.PrepareTruncation(component); });
}

OpStatus Engine::TruncateFirstComponent(TableId table, std::string_view component) {
  return WithAllOf(table, [&](storage::Table& part) { part.TruncateFirstComponent(component); });
}

OpStatus Engine::TruncateTables(std::span<const TableId> tables) {
  OpStatus status = OpStatus::kOk;
  const AllLanes hold(*this);
  for (const TableId table : tables) {
    if (lanes_[0]->FindTable(table) == nullptr) status = OpStatus::kTableGone;
  }
  for (const auto& lane : lanes_) {
    if (status != OpStatus::kOk) break;
    for (const TableId table : tables) lane->table(table).TruncateAll();
  }
  return status;
}

bool Engine::ChooseIds(std::span<TableRebuild> rebuilds) {
  for (size_t i = 0; i < rebuilds.size(); ++i) {
    if (ChooseId(rebuilds[i].schema.id)) continue;
    // Those that are in no lane yet take their turn there, so that those after them come in order.
    const auto chosen = rebuilds.first(i);
    WithAllLanes([&](Lane& lane) {
      for (const TableRebuild& rebuild : chosen) {
        lane.CreateTable(rebuild.schema);
        lane.table(rebuild.schema.id).Drop();
      }
    });
    for (const TableRebuild& rebuild : chosen) KeepShell(rebuild.schema.id);
    return false;
  }
  return true;
}

// Tables that are being copied, each part of them within its lane; see storage/table_mirror.h.
class Engine::Copies {
 public:
  Copies(Engine& engine, std::span<TableRebuild> rebuilds, uint64_t now_nanos)
      : engine_(engine), rebuilds_(rebuilds), now_seconds_(WholeSeconds(now_nanos)) {}

  // The new tables are made. kTableGone.
  OpStatus CreateTables() {
    OpStatus status = OpStatus::kOk;
    const AllLanes hold(engine_);
    for (const TableRebuild& rebuild : rebuilds_) {
      for (const auto& lane : engine_.lanes_) {
        lane->CreateTable(rebuild.schema);
        const storage::Table* const from = lane->FindTable(rebuild.from);
        if (from == nullptr) status = OpStatus::kTableGone;
        // It takes no part before it stands for the other, with which its partitions go until then.
        if (from != nullptr && from->evicts()) {
          lane->table(rebuild.schema.id)
              .EnableEviction(from->eviction_options(), lane->eviction(), /*takes_part=*/false);
        }
      }
    }
    return status;
  }

  // From now on writes go into what was copied, too.
  void Begin() {
    const AllLanes hold(engine_);
    for (const auto& lane : engine_.lanes_) {
      for (const TableRebuild& rebuild : rebuilds_) {
        mirrors_.push_back(std::make_unique<storage::TableMirror>(lane->table(rebuild.from),
                                                                  lane->table(rebuild.schema.id),
                                                                  rebuild.columns, rebuild.keeps));
      }
    }
  }

  // `room_bytes`: what is made free before each slice, where something may go for it.
  OpStatus CopyAll(uint64_t room_bytes, absl::FunctionRef<void()> between_slices) {
    for (size_t i = 0; i < mirrors_.size(); ++i) {
      storage::TableMirror& mirror = *mirrors_[i];
      Lane& lane = *engine_.lanes_[i / rebuilds_.size()];
      OpStatus status = OpStatus::kOk;
      bool done = false;
      while (!done) {
        // Not by whoever holds the lane: that may be a loop, which has others to serve.
        lane.ownership.Acquire();
        {
          const runtime::LaneOwnership::Hold hold(lane.ownership);
          if (engine_.evicts()) MakeRoomIn(lane, room_bytes);
          mirror.CopySlice(now_seconds_, engine_.copied_rows_per_hold_);
          status = mirror.status();
          done = mirror.done();
        }
        if (status != OpStatus::kOk) return status;
        between_slices();
      }
    }
    for (const TableRebuild& rebuild : rebuilds_) {
      const OpStatus status = engine_.Restore(rebuild, now_seconds_, between_slices);
      if (status != OpStatus::kOk) return status;
    }
    return OpStatus::kOk;
  }

  // Ends the old tables, or, after `status` or where a write meanwhile did not fit, the new ones.
  OpStatus End(OpStatus status) {
    const AllLanes hold(engine_);
    for (const auto& mirror : mirrors_) {
      if (status == OpStatus::kOk) status = mirror->status();
    }
    if (status == OpStatus::kOk) status = TakeKept();
    if (status == OpStatus::kOk) engine_.catalog_.NoteIdsAhead();
    mirrors_.clear();
    for (const TableRebuild& rebuild : rebuilds_) {
      for (const auto& lane : engine_.lanes_) {
        if (status != OpStatus::kOk) break;
        lane->table(rebuild.schema.id).TakePart(lane->table(rebuild.from).takes_part());
      }
      const TableId ends = status == OpStatus::kOk ? rebuild.from : rebuild.schema.id;
      for (const auto& lane : engine_.lanes_) lane->table(ends).Drop();
    }
    return status;
  }

 private:
  void MakeRoomIn(Lane& lane, uint64_t room_bytes) {
    while (engine_.budget_.held_bytes() + room_bytes > engine_.budget_.grow_limit_bytes() &&
           lane.eviction().EvictAfterRefusal(/*doublings=*/0, now_seconds_)) {
    }
  }

  OpStatus TakeKept() try {
    for (size_t number = 0; number < rebuilds_.size(); ++number) {
      TableRebuild& rebuild = rebuilds_[number];
      rebuild.kept.assign(rebuild.keeps.size(), {});
      for (size_t i = 0; i < rebuild.keeps.size(); ++i) {
        KeptCells& kept = rebuild.kept[i];
        kept.of_static_column = rebuild.keeps[i].is_static;
        kept.of_several_cells = rebuild.keeps[i].has_several_cells;
        for (size_t at = number; at < mirrors_.size(); at += rebuilds_.size()) {
          std::ranges::move(mirrors_[at]->kept()[i].cells, std::back_inserter(kept.cells));
        }
      }
    }
    return OpStatus::kOk;
  } catch (const std::bad_alloc&) {
    return OpStatus::kOutOfMemory;
  }

  Engine& engine_;
  const std::span<TableRebuild> rebuilds_;
  const int64_t now_seconds_;
  // Of each lane in turn one of each table.
  std::vector<std::unique_ptr<storage::TableMirror>> mirrors_;
};

OpStatus Engine::Restore(const TableRebuild& rebuild, int64_t now_seconds,
                         absl::FunctionRef<void()> between_slices) {
  uint64_t restored = 0;
  for (const ColumnToRestore& column : rebuild.restores) {
    for (const KeptCell& cell : column.cells->cells) {
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
  return OpStatus::kOk;
}

OpStatus Engine::RebuildTables(std::span<TableRebuild> rebuilds, uint64_t now_nanos,
                               absl::FunctionRef<void()> between_slices) {
  if (rebuilds.empty()) return OpStatus::kOk;
  const MutexLock lock(tables_mutex_);
  OpStatus status = OpStatus::kOutOfMemory;
  const int attempts = evicts() ? kRebuildsWithEvictions : kRebuildAttempts;
  uint64_t room_bytes = kRoomBytesPerRow * copied_rows_per_hold_;
  for (int attempt = 0; attempt < attempts && status == OpStatus::kOutOfMemory; ++attempt) {
    if (attempt > 0) {
      MakeRoom(now_nanos, rebuilds[0].from);
      room_bytes = std::min(room_bytes << kRoomDoublings, budget_.grow_limit_bytes() / 4);
    }
    if (!ChooseIds(rebuilds)) return OpStatus::kTooManyTables;
    Copies copies(*this, rebuilds, now_nanos);
    // Whatever ends it, nobody writes to the copies any more afterwards.
    status = copies.CreateTables();
    try {
      if (status == OpStatus::kOk) copies.Begin();
      if (status == OpStatus::kOk) status = copies.CopyAll(room_bytes, between_slices);
    } catch (const std::bad_alloc&) {
      status = OpStatus::kOutOfMemory;
    }
    status = copies.End(status);
    for (const TableRebuild& rebuild : rebuilds) {
      KeepShell(status == OpStatus::kOk ? rebuild.from : rebuild.schema.id);
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
