// Tables on their way into others of the same lanes, a slice at a time, while they are written to:
// what changes of the schema that copy rows have in common. What happens within a lane:
// storage/table_mirror.h.
#ifndef LISTSTORE_ENGINE_SHARD_ENGINE_COPIES_H_
#define LISTSTORE_ENGINE_SHARD_ENGINE_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/base/check.h"
#include "engine/model/op_status.h"
#include "engine/shard/engine.h"
#include "engine/storage/table_mirror.h"

namespace liststore::shard {

// When others are to have their turn: after so many units of copying, in however many tables and lanes.
class CopyPause {
 public:
  CopyPause(size_t units, absl::FunctionRef<void()> between_slices)
      : units_(units), between_slices_(between_slices) {}

  // So many were copied, under a hold that is over; at least one, for the hold.
  void Spend(size_t units) {
    spent_ += units == 0 ? 1 : units;
    if (spent_ < units_) return;
    spent_ = 0;
    between_slices_();
  }

 private:
  const size_t units_;
  const absl::FunctionRef<void()> between_slices_;
  size_t spent_ = 0;
};

// Used by one thread, which holds tables_mutex_, so that no table of them ends meanwhile. A lane is
// held for one slice, of EngineOptions::copied_rows_per_hold; between slices none is.
class Engine::Copies {
 public:
  // Of each its `from` goes into the table of `schema`, which nobody else knows, which is in every
  // lane and empty. `copies` outlives it, and stays where it is.
  Copies(Engine& engine, std::span<TableRebuild> copies, int64_t now_seconds)
      : engine_(engine), copies_(copies), now_seconds_(now_seconds) {}
  ~Copies() { LS_DCHECK(mirrors_.empty() || ended_, "copies are ended"); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // What is to be free before a slice is copied, where something may go for it: twice what a unit of
  // TableMirror::CopySlice is.
  static uint64_t RoomBytes(const Engine& engine) {
    constexpr uint64_t kRoomBytesPerRow = 512;
    return kRoomBytesPerRow * engine.copied_rows_per_hold_;
  }

  // Copies all of them, with `room_bytes` made free before each slice where something may go for it.
  // From when a lane begins, what is written to what was copied there goes into
  // the copy too, until End. kOutOfMemory: a part is missing, of the heap's making too.
  OpStatus CopyAll(uint64_t room_bytes, absl::FunctionRef<void()> between_slices);
  // Under the hold of all lanes: what has become of them by now, with what was written meanwhile.
  OpStatus status() const;
  // Under the hold of all lanes: puts what was kept of each of `keeps` into `kept`; nothing of it is
  // copied. kOutOfMemory: of the heap's making.
  OpStatus TakeKept();
  // Under the hold of all lanes: nobody writes to the copies any more. Frees nothing.
  void End();

 private:
  OpStatus CopyLane(Lane& lane, uint64_t room_bytes, CopyPause& pause);
  // Under the hold of the lane.
  void MakeRoomIn(Lane& lane, uint64_t room_bytes);

  Engine& engine_;
  const std::span<TableRebuild> copies_;
  const int64_t now_seconds_;
  // Of each lane that was come to one of each table.
  std::vector<std::unique_ptr<storage::TableMirror>> mirrors_;
  bool ended_ = false;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ENGINE_COPIES_H_
