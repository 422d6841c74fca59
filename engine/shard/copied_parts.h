// CopiedParts: up to where in the logs a snapshot that was taken piece by piece has what they say.
//
// A snapshot is begun at one instant, at which all logs have a position, and its pieces are copied while
// others write. Of each piece it is kept how far the log of its lane had come by then: what is written down
// before that is in the piece, and is not applied to it again.
#ifndef LISTSTORE_ENGINE_SHARD_COPIED_PARTS_H_
#define LISTSTORE_ENGINE_SHARD_COPIED_PARTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/table_schema.h"
#include "engine/shard/router.h"

namespace liststore::shard {

// A piece: partitions of one lane with addresses behind those of the piece before, up to `last_address`.
struct CopiedPart {
  TableId table;  // as it was where the snapshot was taken
  uint32_t lane = 0;
  uint64_t last_address = 0;
  uint64_t position = 0;  // the end of its shard's log when it was copied
};

// Filled by one thread; then any thread asks.
class CopiedParts {
 public:
  CopiedParts() = default;
  // Of an engine of this shape, in this run (Engine::log_run).
  CopiedParts(uint32_t shards, uint32_t lanes_per_shard_log2, uint32_t run)
      : router_(std::in_place, shards, lanes_per_shard_log2), run_(run), last_positions_(shards) {}

  // Those of a lane and table in ascending order; false: it is not, or of no lane.
  [[nodiscard]] bool Add(const CopiedPart& part);
  uint32_t run() const { return run_; }
  uint32_t logs() const { return static_cast<uint32_t>(last_positions_.size()); }
  uint32_t lanes() const { return router_ ? router_->lanes() : 0; }
  // No part of this log has come further.
  bool MayHave(uint32_t log, uint64_t position) const {
    return log < last_positions_.size() && position <= last_positions_[log];
  }
  // What the record that ends at `position` of this log says of a partition is in its piece. O(log pieces).
  bool Has(uint32_t log, uint64_t position, TableId table, std::string_view partition_key) const;
  // The log of the partition, and how far it had come; nothing: no piece has it.
  struct Place {
    uint32_t log = 0;
    uint64_t position = 0;
  };
  std::optional<Place> Find(TableId table, std::string_view partition_key) const;

 private:
  struct End {
    uint64_t last_address = 0;
    uint64_t position = 0;
  };
  using Id = std::pair<uint16_t, uint32_t>;  // number and generation

  std::optional<Router> router_;  // nullopt: there is no snapshot
  uint32_t run_ = 0;
  std::vector<uint64_t> last_positions_;                // by log
  std::map<Id, std::vector<std::vector<End>>> tables_;  // by lane
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_COPIED_PARTS_H_
