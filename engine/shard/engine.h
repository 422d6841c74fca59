// Engine: all shards of a store, cut into lanes, and the catalog of tables. The one place through
// which both front doors reach data.
//
// Thread-safe. A command is routed by its partition key to a lane, the lane is taken, the command
// runs where the caller stands (or, when the lane is taken, by whoever holds it), the reply comes
// back. The engine starts no thread.
#ifndef LISTSTORE_ENGINE_SHARD_ENGINE_H_
#define LISTSTORE_ENGINE_SHARD_ENGINE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"

#include "engine/command/command.h"
#include "engine/command/reply.h"
#include "engine/shard/catalog.h"
#include "engine/shard/lane.h"
#include "engine/shard/router.h"
#include "engine/storage/memory_budget.h"
#include "engine/storage/page_pool.h"

namespace liststore {

struct EngineOptions {
  uint32_t shards = 1;
  uint32_t lanes_per_shard_log2 = 4;
  uint64_t memory_limit_bytes = uint64_t{1} << 30;
};

// How far a scan of partitions has come.
struct ScanPosition {
  uint32_t segment = 0;  // see Router
  uint32_t shard = 0;
  uint64_t address = 0;   // resume at or after this within the lane
  std::string after_key;  // and, at that address, after this key
  bool started = false;   // address and after_key count
  bool done = false;
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Creates a table in every lane; `schema.id` is assigned. Tables are never renumbered.
  TableId CreateTable(TableSchema schema);

  // Runs one command. `now_nanos`: the caller's one reading of the clock.
  Reply Execute(const Command& command, uint64_t now_nanos);

  // Runs many, looked up together in groups of 16, so that their cache misses overlap; replies[i]
  // belongs to commands[i]. Commands of one partition run in order; nothing else is promised about
  // order.
  void ExecuteGroup(std::span<const Command> commands, uint64_t now_nanos,
                    std::span<Reply> replies);

  // Upserts on many partitions, all or nothing as far as memory goes: the worst case is set aside
  // in every lane concerned before anything is applied.
  OpStatus ExecuteAllOrNothing(std::span<const Command> upserts, uint64_t now_nanos,
                               std::span<Reply> replies);

  // Partition keys of a table, in token order, at most `limit`, from `position` on, which is moved;
  // only partitions with a live row, and with `first_component` as their first key component when
  // given.
  void ScanPartitions(TableId table, std::optional<std::string_view> first_component, size_t limit,
                      uint64_t now_nanos, ScanPosition& position, std::vector<std::string>& keys);

  // Truncation under all lanes at once: no reader sees one part gone and another not.
  void TruncateTable(TableId table);
  void TruncateFirstComponent(TableId table, std::string_view component);

  // A slice of reclamation, about `budget` units over all lanes, a lane at a time and none that is
  // taken; returns the units done, 0 when nothing waits.
  size_t Reclaim(uint64_t now_nanos, size_t budget);
  // No cell expires before this; nullopt: none will.
  std::optional<int64_t> NextExpirySeconds();

  TableStats StatsOf(TableId table);
  uint64_t held_bytes() const { return budget_.held_bytes(); }
  uint64_t memory_limit_bytes() const { return budget_.limit_bytes(); }
  uint64_t refused_writes() const { return refused_writes_.load(std::memory_order_relaxed); }
  const Router& router() const { return router_; }
  // Tables by name, for front doors; the engine itself goes by TableId alone.
  Catalog& catalog() { return catalog_; }
  void Verify();

 private:
  // Where a command goes.
  struct Destination {
    Lane* lane;
    uint32_t lane_number;
    uint64_t address;
  };
  Destination DestinationOf(const Command& command) const {
    const Router::Place place = router_.PlaceOf(TokenOf(command.partition_key));
    return {lanes_[place.lane].get(), place.lane, place.address};
  }
  Reply ExecuteAt(const Destination& to, const Command& command, uint64_t now_nanos);
  // After a refusal: credit that other lanes set aside, and what is due there, goes back to the
  // budget. False: there was nothing.
  bool MakeRoom(uint64_t now_nanos);
  OpStatus PledgeAndApply(std::span<const Command> upserts, std::span<const Destination> to,
                          uint64_t now_nanos, std::span<Reply> replies);
  // Runs `work` holding every lane: taken in ascending order, holding none before.
  void WithAllLanes(absl::FunctionRef<void(Lane&)> work);

  const Router router_;
  Catalog catalog_;
  MemoryBudget budget_;
  PagePool pool_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Mutex tables_mutex_;  // one creation at a time
  uint16_t table_count_ ABSL_GUARDED_BY(tables_mutex_) = 0;
  std::atomic<uint32_t> next_reclaimed_lane_{0};
  std::atomic<uint64_t> refused_writes_{0};
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SHARD_ENGINE_H_
