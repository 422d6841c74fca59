// Engine: images of tables, and the way back to them. Tables keep what they were themselves, partition
// by partition as they are changed: here is what happens to all of them at one instant.
#include "engine/shard/engine_image.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"

namespace liststore::shard {
namespace {

// One attempt, and one after everything that is due has been given back.
constexpr int kAttempts = 2;
// Where something may go, an image is of this part of what rows may take at most: what it is of does
// not go any more.
constexpr uint64_t kImagePart = 2;

}  // namespace

// Takes from the heap what the tables need for either way.
void Engine::PrepareImage(std::span<const TableId> tables) {
  for (const auto& lane : lanes_) {
    // Not by whoever holds the lane: what is thrown is thrown here.
    lane->ownership.Acquire();
    const runtime::LaneOwnership::Hold hold(lane->ownership);
    for (const TableId table : tables) lane->table_at(table.value).PrepareBaseline();
  }
}

OpStatus Engine::TakeImage(std::span<const TableId> tables, absl::FunctionRef<uint64_t()> clock,
                           EngineImage& image, absl::FunctionRef<void()> at_instant) try {
  const MutexLock lock(tables_mutex_);
  EngineImage taken;
  taken.tables.assign(tables.begin(), tables.end());
  taken.last_timestamps.reserve(lanes_.size());
  ReserveShells(image.tables.size());
  PrepareImage(tables);
  const uint64_t room_bytes = budget_.grow_limit_bytes() / kImagePart;
  if (evicts() && budget_.held_bytes() > room_bytes) MakeRoomForCopies(clock(), room_bytes);
  {
    const AllLanes hold(*this);
    taken.taken_nanos = clock();
    for (const auto& lane : lanes_) {
      for (const TableId table : tables) lane->table(table).SetBaseline();
      taken.last_timestamps.push_back(lane->last_timestamp());
    }
    at_instant();
    // Those that are gone by now are of the image before alone.
    std::erase_if(image.tables,
                  [&](TableId table) { return !lanes_[0]->table_at(table.value).set_aside(); });
    DropSetAside(image);
  }
  for (const TableId table : image.tables) KeepShell(table);
  image = std::move(taken);
  has_image_.store(true, std::memory_order_relaxed);
  return OpStatus::kOk;
} catch (const std::bad_alloc&) {
  return OpStatus::kOutOfMemory;
}

// Under the hold of all lanes: tables that are set aside end.
void Engine::DropSetAside(EngineImage& image) {
  for (TableId& table : image.tables) {
    const uint16_t number = table.value;
    table = lanes_[0]->table_at(number).schema().id;
    for (const auto& lane : lanes_) lane->table_at(number).Drop();
  }
}

void Engine::DropImage(EngineImage& image) {
  const MutexLock lock(tables_mutex_);
  {
    const AllLanes hold(*this);
    std::erase_if(image.tables, [&](TableId table) {
      if (lanes_[0]->table_at(table.value).set_aside()) return false;
      for (const auto& lane : lanes_) lane->table_at(table.value).ForgetBaseline();
      return true;
    });
    DropSetAside(image);
  }
  for (const TableId table : image.tables) KeepShell(table);
  image = {};
  has_image_.store(false, std::memory_order_relaxed);
}

void Engine::EndTable(Lane& lane, TableId table) {
  storage::Table& part = lane.table(table);
  part.has_baseline() ? part.SetAside() : part.Drop();
}

void Engine::KeepShellUnlessSetAside(TableId ended) {
  bool set_aside = false;
  lanes_[0]->ownership.Run([&] { set_aside = lanes_[0]->table_at(ended.value).set_aside(); });
  if (!set_aside) KeepShell(ended);
}

// Under the hold of all lanes.
bool Engine::ReserveReturn(const ReturnRequest& request) {
  for (const auto& lane : lanes_) {
    for (const TableId table : request.tables) {
      if (!lane->table_at(table.value).ReserveReturn()) return false;
    }
  }
  return true;
}

// Under the hold of all lanes; nothing fails from here on.
void Engine::GoBack(ReturnRequest& request) {
  catalog_.NoteIdsAhead();
  for (TableId& table : request.tables) {
    TableId id = lanes_[0]->table_at(table.value).schema().id;
    // Others have followed it since, or do so again: who knew it by the ids of before plans again.
    if (!(id == table)) ++id.generation;
    for (const auto& lane : lanes_) {
      storage::Table& part = lane->table_at(table.value);
      part.ReturnToBaseline(WholeSeconds(request.now_nanos));
      if (!(part.id() == id)) part.set_id(id);
    }
    table = id;
  }
  for (const auto& lane : lanes_) {
    for (const TableId id : request.ends) lane->table(id).Drop();
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->ReturnToTimestamp(request.last_timestamps.empty() ? WriteTimestamp{0}
                                                                 : request.last_timestamps[i]);
  }
  if (request.set_clock()) {
    // Whoever has read the clock before has also found the tables before: none of it is carried out.
    era_.fetch_add(1, std::memory_order_release);
    for (TableId& table : request.tables) {
      ++table.generation;
      for (const auto& lane : lanes_) lane->table_at(table.value).set_id(table);
    }
  }
  request.at_instant(request.tables);
}

OpStatus Engine::ReturnTo(ReturnRequest& request) try {
  const MutexLock lock(tables_mutex_);
  LS_CHECK(!evicting_table_, "a list store that evicts does not go back");
  LS_CHECK(request.last_timestamps.empty() || request.last_timestamps.size() == lanes_.size(),
           "an image goes back to where it was taken");
  ReserveShells(request.ends.size());
  bool done = false;
  for (int i = 0; i < kAttempts && !done; ++i) {
    if (i > 0) MakeRoom(request.now_nanos, {});
    PrepareImage(request.tables);
    const AllLanes hold(*this);
    done = ReserveReturn(request);
    if (done) GoBack(request);
  }
  if (!done) return OpStatus::kOutOfMemory;
  for (const TableId id : request.ends) KeepShell(id);
  return OpStatus::kOk;
} catch (const std::bad_alloc&) {
  return OpStatus::kOutOfMemory;
}

}  // namespace liststore::shard
