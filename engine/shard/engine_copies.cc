#include "engine/shard/engine_copies.h"

#include <new>
#include <utility>

namespace liststore::shard {

OpStatus Engine::Copies::CopyAll(uint64_t room_bytes,
                                 absl::FunctionRef<void()> between_slices) try {
  mirrors_.reserve(engine_.lanes_.size() * copies_.size());
  CopyPause pause(engine_.copied_rows_per_hold_, between_slices);
  for (const auto& lane : engine_.lanes_) {
    const OpStatus status = CopyLane(*lane, room_bytes, pause);
    if (status != OpStatus::kOk) return status;
  }
  return OpStatus::kOk;
} catch (const std::bad_alloc&) {
  return OpStatus::kOutOfMemory;
}

void Engine::Copies::MakeRoomIn(Lane& lane, uint64_t room_bytes) {
  // What comes free others may take: no more goes of this lane than would do.
  constexpr uint64_t kBytesOfRound = uint64_t{64} << 10;
  uint64_t rounds = 1 + room_bytes / kBytesOfRound;
  while (engine_.budget_.held_bytes() + room_bytes > engine_.budget_.grow_limit_bytes() &&
         rounds-- != 0 && lane.eviction().EvictAfterRefusal(/*doublings=*/0, now_seconds_)) {
  }
}

OpStatus Engine::Copies::CopyLane(Lane& lane, uint64_t room_bytes, CopyPause& pause) {
  for (const TableRebuild& copy : copies_) {
    bool begun = false;
    bool done = false;
    while (!done) {
      OpStatus status = OpStatus::kOk;
      size_t spent = 0;
      // Not by whoever holds the lane: that may be a loop, which has others to serve.
      lane.ownership.Acquire();
      {
        const runtime::LaneOwnership::Hold hold(lane.ownership);
        if (!std::exchange(begun, true)) {
          mirrors_.push_back(std::make_unique<storage::TableMirror>(
              lane.table(copy.from), lane.table(copy.schema.id), copy.columns, copy.keeps,
              engine_.heap_ledger_));
        }
        storage::TableMirror& mirror = *mirrors_.back();
        if (engine_.evicts()) MakeRoomIn(lane, room_bytes);
        spent = mirror.CopySlice(now_seconds_, engine_.copied_rows_per_hold_);
        status = mirror.status();
        done = mirror.done();
      }
      if (status != OpStatus::kOk) return status;
      pause.Spend(spent);
    }
  }
  return OpStatus::kOk;
}

OpStatus Engine::Copies::status() const {
  for (const auto& mirror : mirrors_) {
    if (mirror->status() != OpStatus::kOk) return mirror->status();
  }
  return OpStatus::kOk;
}

OpStatus Engine::Copies::TakeKept() try {
  for (size_t number = 0; number < copies_.size(); ++number) {
    TableRebuild& copy = copies_[number];
    copy.kept.assign(copy.keeps.size(), {});
    for (size_t i = 0; i < copy.keeps.size(); ++i) {
      KeptCells& kept = copy.kept[i];
      kept.of_static_column = copy.keeps[i].is_static;
      kept.of_several_cells = copy.keeps[i].has_several_cells;
      for (size_t at = number; at < mirrors_.size(); at += copies_.size()) {
        storage::KeptPlaces& places = mirrors_[at]->kept()[i];
        if (!places.empty()) kept.parts.push_back(places.Take());
      }
    }
  }
  return OpStatus::kOk;
} catch (const std::bad_alloc&) {
  return OpStatus::kOutOfMemory;
}

void Engine::Copies::End() {
  ended_ = true;
  for (const auto& mirror : mirrors_) mirror->Detach();
}

}  // namespace liststore::shard
