// What an engine's tables were at one instant, and what is asked of it to be so again. Plain data;
// Engine::TakeImage and Engine::ReturnTo do the work, shard/baseline.h knows what for.
#ifndef LISTSTORE_ENGINE_SHARD_ENGINE_IMAGE_H_
#define LISTSTORE_ENGINE_SHARD_ENGINE_IMAGE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/model/cell.h"
#include "engine/model/table_schema.h"

namespace liststore::shard {

// The tables themselves keep what they were (storage::Table::SetBaseline), until Engine::DropImage.
// One that is dropped, or that another one replaces, stays under its number, set aside.
struct EngineImage {
  // Under the ids that they had at the instant, or have since the last return.
  std::vector<TableId> tables;
  // The last timestamp of each lane; empty: nothing had been written.
  std::vector<WriteTimestamp> last_timestamps;
  uint64_t taken_nanos = 0;
};

// A way back; see Engine::ReturnTo.
struct ReturnRequest {
  // Those of the image; afterwards under the ids that they have then.
  std::vector<TableId> tables;
  std::vector<TableId> ends;                    // tables that are to be no more
  std::vector<WriteTimestamp> last_timestamps;  // as in the image
  uint64_t now_nanos = 0;                       // the time afterwards
  // Called once, when nothing can fail any more and while every lane is held: sets the clock, and
  // tells whether the time was another. Calls nothing of the engine.
  absl::FunctionRef<bool()> set_clock;
  // Called then as the last of all, with the ids that the tables have from now on. It may call
  // Engine::AppendBarrierHeld.
  absl::FunctionRef<void(std::span<const TableId>)> at_instant;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ENGINE_IMAGE_H_
