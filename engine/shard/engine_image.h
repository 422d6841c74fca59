// What an engine's tables were at one instant, and what is asked of it to be so again. Plain data;
// Engine::TakeImage and Engine::ReturnTo do the work, shard/baseline.h knows what for.
#ifndef LISTSTORE_ENGINE_SHARD_ENGINE_IMAGE_H_
#define LISTSTORE_ENGINE_SHARD_ENGINE_IMAGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/model/cell.h"
#include "engine/model/table_schema.h"

namespace liststore::shard {

// One table of an image.
struct TableImage {
  TableId table;
  // A frozen copy of it, which nobody else knows; nullopt: there was nothing in it.
  std::optional<TableId> copy;
};

// The copies are the engine's, and take memory like any table, until Engine::DropImage.
struct EngineImage {
  std::vector<TableImage> tables;
  // The last timestamp of each lane; empty: nothing had been written.
  std::vector<WriteTimestamp> last_timestamps;
  uint64_t taken_nanos = 0;
};

// How one table is to be.
struct TableReturn {
  // The id is of the table that stands where this one is to be, if there is one; afterwards that of
  // the table itself.
  TableSchema schema;
  std::optional<TableId> copy;  // what is in it; nullopt: nothing
  bool stands = false;
  // It stands, and is defined as it was: it stays as it is unless its rows have changed.
  bool stays = false;
};

// A way back; see Engine::ReturnTo.
struct ReturnRequest {
  std::vector<TableReturn> tables;
  std::vector<TableId> ends;                    // tables that are to be no more
  std::vector<WriteTimestamp> last_timestamps;  // as in the image
  uint64_t now_nanos = 0;                       // the time afterwards
  // Called once, when nothing can fail any more and while every lane is held: sets the clock, and
  // tells whether the time was another. Calls nothing of the engine.
  absl::FunctionRef<bool()> set_clock;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ENGINE_IMAGE_H_
