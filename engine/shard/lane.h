// Lane: what is owned. A shard is cut into lanes by the token's top bits, so that callers on
// different partitions rarely meet; each has its share of every table, its timers and its write
// timestamps.
//
// Whoever holds `ownership` may call the rest, except what says otherwise. No user code runs and
// nothing waits while a lane is held.
#ifndef LISTSTORE_ENGINE_SHARD_LANE_H_
#define LISTSTORE_ENGINE_SHARD_LANE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/seconds.h"
#include "engine/command/command.h"
#include "engine/command/reply.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/commitlog/write_log.h"
#include "engine/runtime/lane_ownership.h"
#include "engine/shard/router.h"
#include "engine/storage/lane_eviction.h"
#include "engine/storage/table.h"

namespace liststore::shard {

class GoneRecords;

// A lane is held for at most about this many units of reclamation, so that nobody waits long for
// it.
inline constexpr size_t kReclaimUnitsPerHold = 128;

// What a group has done for a command before it takes the lane.
struct LookedAhead {
  storage::Table* shell = nullptr;  // of Lane::ShellOf; it need not be the table
  bool fetched = false;             // Table::PrefetchPartition was called
};

class Lane final : private storage::AddressOf {
 private:
  // By number. Grows by replacement; arrays that were replaced stay until the lane goes, for readers
  // without hold.
  using TableArray = std::unique_ptr<std::atomic<storage::Table*>[]>;
  static TableArray NewArray(size_t size) {
    return std::make_unique<std::atomic<storage::Table*>[]>(size);
  }

 public:
  Lane(const Router& router, memory::PagePool& pool, memory::MemoryBudget& budget);
  ~Lane() override;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Any thread: takes part in deciding who the holder is.
  runtime::LaneOwnership ownership;

  // A table that is to be added, with all that this takes of the heap.
  struct NewTable {
    TableSchema schema;
    std::unique_ptr<storage::Table> table;  // null: a vacant shell takes the schema
    TableArray larger;                      // null: there is room
    size_t larger_size = 0;
  };
  // Of the `number`th, from 0, of several that are added together. Throws std::bad_alloc, and nothing
  // has changed.
  std::unique_ptr<NewTable> Prepare(const TableSchema& schema, size_t number);
  // Adds it under the next number, from 0, or in a vacant shell. Takes nothing of the heap.
  void Add(NewTable& table);
  // nullptr: it was dropped.
  storage::Table* FindTable(TableId id) {
    LS_DCHECK(id.value < table_count_, "the table was there once");
    storage::Table& table = table_at(id.value);
    return __builtin_expect(table.id() == id, true) ? &table : nullptr;
  }
  // The same for whoever has looked for the shell before: two loads less that wait for each other.
  [[gnu::always_inline]] storage::Table* FindTable(TableId id, storage::Table* shell) {
    return shell != nullptr && shell->id() == id ? shell : FindTable(id);
  }
  // Any thread, holding nothing: what bears the number of this table, or null. It stays in memory
  // as long as the lane; whether it is the table, only the holder knows.
  [[gnu::always_inline]] storage::Table* ShellOf(TableId id) const {
    if (id.value >= capacity_.load(std::memory_order_acquire)) return nullptr;
    return tables_.load(std::memory_order_acquire)[id.value].load(std::memory_order_acquire);
  }
  storage::Table& table(TableId id) {
    storage::Table* found = FindTable(id);
    LS_CHECK(found != nullptr, "the table exists");
    return *found;
  }
  // By number, shells of dropped tables included.
  storage::Table& table_at(uint16_t number) {
    return *tables_.load(std::memory_order_relaxed)[number].load(std::memory_order_relaxed);
  }
  size_t table_count() const { return table_count_; }

  // Runs a command whose partition lives here, at `address`. Writes without a timestamp get one:
  // the clock's, but always above all before it in this lane. `reply` is as it was made.
  // kTableGone.
  [[gnu::always_inline]] void Execute(const Command& command, uint64_t address, uint64_t now_nanos,
                                      Reply& reply, const LookedAhead& ahead = {}) {
    storage::Table* const table = FindTable(command.table, ahead.shell);
    const auto* const read = std::get_if<ReadCommand>(&command.body);
    if (table == nullptr) {
      reply.status = OpStatus::kTableGone;
    } else if (read != nullptr) {
      LS_DCHECK(read->spec != nullptr && read->sink != nullptr,
                "a read says what it wants, and has somewhere to go");
      const int64_t now_seconds = WholeSeconds(now_nanos);
      reply.rows = table->Read({command.partition_key, address}, *read->spec, now_seconds,
                               *read->sink, &reply.info, ahead.fetched);
    } else {
      ExecuteOther(command, *table, address, now_nanos, reply);
    }
  }

  // A read of a partition that lives here, at partition.address. False: its table was dropped.
  template <typename Sink>
  [[gnu::always_inline]] bool Read(TableId id, const storage::PartitionRef& partition,
                                   const ReadSpec& spec, int64_t now_seconds, Sink& sink,
                                   PartitionInfo& info, const LookedAhead& ahead) {
    storage::Table* const table = FindTable(id, ahead.shell);
    if (table == nullptr) return false;
    table->Read(partition, spec, now_seconds, sink, &info, ahead.fetched);
    return true;
  }

  // A timestamp above all that this lane has given out; Execute then stays above `timestamp`.
  WriteTimestamp NextTimestamp(uint64_t now_nanos) const;
  // Where writes are written down, in the order in which they are applied; nullptr: nowhere. What a write
  // takes there is set aside before anything of it is applied, and is refused with kNotKept where it
  // cannot be. The log outlives the lane.
  commitlog::WriteLog* log() const { return log_; }
  void set_log(commitlog::WriteLog* log) { log_ = log; }
  // From now on what is evicted of this table is written down, as what is forgotten, which is never refused: what
  // the log has no room for is written down before the next write, or that is refused.
  void WriteDownEvictions(TableId table);
  // False: there is something that the log has no room for.
  bool WriteDownGone(uint64_t now_nanos);
  // See GoneRecords::lost.
  uint64_t lost_evictions() const;
  void ForgiveLostEvictions(uint64_t lost);
  // Applies a write that was written down to the partition, which lives here. See Engine::Replay.
  OpStatus Replay(const commitlog::RecordedWrite& write, TableId id, uint64_t address);
  // What goes of all its tables.
  storage::LaneEviction& eviction() { return eviction_; }
  WriteTimestamp last_timestamp() const { return last_timestamp_; }
  void AdvanceTimestamp(WriteTimestamp timestamp);
  // Back to a time when nothing was written behind `timestamp`: nothing of after it is stored.
  void ReturnToTimestamp(WriteTimestamp timestamp) { last_timestamp_ = timestamp; }

  // Any thread, holding nothing: brings the directory slot of a partition closer.
  [[gnu::always_inline]] void PrefetchSlot(TableId id, uint64_t address) const {
    const storage::Table* shell = ShellOf(id);
    if (shell != nullptr) shell->PrefetchSlot(address);
  }

 private:
  // All but reads.
  void ExecuteOther(const Command& command, storage::Table& into, uint64_t address,
                    uint64_t now_nanos, Reply& reply);
  // The same where a log is kept, and what it does in the table.
  void ExecuteLogged(const Command& command, storage::Table& into, uint64_t address,
                     uint64_t now_nanos, Reply& reply);
  // Of an upsert of which commitlog::IsHotItem says so. False: its record is too long for that.
  bool ExecuteLoggedItem(const Command& command, std::span<const RowUpdate> rows,
                         storage::Table& into, uint64_t address, uint64_t now_nanos, Reply& reply);
  void Apply(const Command& command, storage::Table& into, uint64_t address, uint64_t now_nanos,
             Reply& reply);

  uint64_t operator()(std::string_view partition_key) const override {
    return router_.PlaceOf(TokenOf(partition_key)).address;
  }

  void UseArray(TableArray array, size_t size);

  const Router& router_;
  memory::PagePool& pool_;
  memory::MemoryBudget& budget_;
  // The newest array and its size, which is stored last: who sees it sees an array with as many.
  std::atomic<std::atomic<storage::Table*>*> tables_{nullptr};
  std::atomic<size_t> capacity_{0};
  std::vector<TableArray> arrays_;
  std::vector<std::unique_ptr<storage::Table>> owned_;
  size_t table_count_ = 0;
  WriteTimestamp last_timestamp_{0};
  commitlog::WriteLog* log_ = nullptr;
  std::string record_;                 // of the write under way; its capacity is used again
  std::unique_ptr<GoneRecords> gone_;  // nullptr: evictions are not written down
  storage::LaneEviction eviction_;     // behind what readers without hold look at
};

// Runs `work`, which takes up to some hundred us, with the lane. `waits_its_turn`: on this thread,
// never on that of who holds the lane.
template <typename Work>
void HoldFor(Lane& lane, bool waits_its_turn, const Work& work) {
  if (!waits_its_turn) return lane.ownership.Run(work);
  lane.ownership.Acquire();
  const runtime::LaneOwnership::Hold hold(lane.ownership);
  work();
}

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_LANE_H_
