// Commands on one partition: one, and groups whose partitions are fetched together.
#include <algorithm>
#include <array>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/call_addresses.h"
#include "engine/shard/engine.h"

namespace liststore::shard {
namespace {

// Sixteen misses at once cost a fifteenth each of one alone; more gain nothing.
constexpr size_t kGroupSize = 16;

// What Table::PrefetchPartition and PrefetchForWrite take, where the lane is free; else 0.
[[gnu::always_inline]] inline uint64_t HintOf(Lane& lane, TableId id, storage::Table* shell,
                                              uint64_t address) {
  if (!lane.ownership.TryAcquire()) return 0;
  const storage::Table* const table = lane.FindTable(id, shell);
  const uint64_t hint = table != nullptr ? table->PrefetchHint(address) : 0;
  lane.ownership.Release();
  return hint;
}

}  // namespace

// --- One command ---------------------------------------------------------------------------------

// Apart, so that what others may run in its stead need not be in memory where nobody does.
[[gnu::noinline]] static void ExecuteContended(Lane& lane, const Command& command, uint64_t address,
                                               uint64_t now_nanos, Reply& reply) {
  HoldFor(lane, command.waits_its_turn, [&] { lane.Execute(command, address, now_nanos, reply); });
}

// In line in the two that call it, and the lane's part in it: a read is some 700 instructions, and calls
// that save registers for ways that are not taken were a tenth of them.
[[gnu::always_inline]] inline void Engine::ExecuteAt(const Destination& to, const Command& command,
                                                     uint64_t now_nanos, Reply& reply,
                                                     const LookedAhead& ahead) {
  Lane& lane = *to.lane;
  if (!command.waits_its_turn && lane.ownership.TryEnter()) [[likely]] {
    const runtime::LaneOwnership::Hold hold(lane.ownership);
    lane.Execute(command, to.address, now_nanos, reply, ahead);
  } else {
    ExecuteContended(lane, command, to.address, now_nanos, reply);
  }
  if (IsRefusal(reply.status)) [[unlikely]]
    ExecuteWithRoom(to, command, now_nanos, reply);
}

void Engine::ExecuteWithRoom(const Destination& to, const Command& command, uint64_t now_nanos,
                             Reply& reply) {
  CallAddresses guarded;
  guarded.Add(to.lane_number, to.address);
  guarded.Sort();
  reply.status =
      RetryWithRoom(reply.status, now_nanos, command.table, guarded, command.evictions, [&] {
        reply = {};
        to.lane->ownership.Run([&] { to.lane->Execute(command, to.address, now_nanos, reply); });
        return reply.status;
      });
}

Reply Engine::Execute(const Command& command, uint64_t now_nanos) {
  return Execute(command, DestinationOf(command), now_nanos);
}

Reply Engine::Execute(const Command& command, const Destination& to, uint64_t now_nanos) {
  Reply reply;
  ExecuteAt(to, command, now_nanos, reply);
  return reply;
}

Engine::Destination Engine::Foresee(TableId table, std::string_view partition_key) const {
  const Destination to = DestinationOf(partition_key);
  to.lane->PrefetchSlot(table, to.address);
  return to;
}

uint64_t Engine::HintForWrite(TableId table, const Destination& to) const {
  return HintOf(*to.lane, table, to.lane->ShellOf(table), to.address);
}

void Engine::FetchForWrite(TableId table, const Destination& to) const {
  FetchForWrite(HintOf(*to.lane, table, to.lane->ShellOf(table), to.address));
}

// --- Groups --------------------------------------------------------------------------------------

// What is done for all of a group before the first of it is run, each stage for all before the next.
class Engine::GroupAhead {
 public:
  // Calls key_of(i) and table_of(i) for i < `size` <= kGroupSize.
  template <typename KeyOf, typename TableOf>
  [[gnu::always_inline]] GroupAhead(const Engine& engine, size_t size, KeyOf&& key_of,
                                    TableOf&& table_of) {
    // Tokens first: behind the arithmetic of each, no more than the next list's loads would
    // overlap.
    for (size_t i = 0; i < size; ++i) to_[i] = engine.DestinationOf(key_of(i));
    for (size_t i = 0; i < size; ++i) {
      shells_[i] = to_[i].lane->ShellOf(table_of(i));
      if (shells_[i] != nullptr) shells_[i]->PrefetchSlot(to_[i].address);
    }
    // Lanes are taken one at a time and shortly: a group that held all of its lanes would keep
    // other threads out of half of them. Partitions are asked for when none is held: letting go is
    // a locked instruction and would wait until the addresses of all prefetches before it have been
    // translated, so that the page walks of a group came one after the other.
    for (size_t i = 0; i < size; ++i) {
      hints_[i] = HintOf(*to_[i].lane, table_of(i), shells_[i], to_[i].address);
    }
    for (size_t i = 0; i < size; ++i) {
      storage::Table::PrefetchPartition(hints_[i], key_of(i).size());
    }
  }
  const Destination& to(size_t i) const { return to_[i]; }
  LookedAhead ahead(size_t i) const { return {.shell = shells_[i], .fetched = hints_[i] != 0}; }

 private:
  // Of the first `size`; the others are not initialised, which would cost as much as a read.
  std::array<Destination, kGroupSize> to_;
  std::array<storage::Table*, kGroupSize> shells_;
  std::array<uint64_t, kGroupSize> hints_;
};

void Engine::ExecuteGroup(std::span<const Command> commands, uint64_t now_nanos,
                          std::span<Reply> replies) {
  LS_DCHECK(commands.size() == replies.size(), "a reply for every command");
  while (!commands.empty()) {
    const size_t size = std::min(commands.size(), kGroupSize);
    const GroupAhead group(
        *this, size, [&](size_t i) { return commands[i].partition_key; },
        [&](size_t i) { return commands[i].table; });
    for (size_t i = 0; i < size; ++i) {
      replies[i] = {};
      ExecuteAt(group.to(i), commands[i], now_nanos, replies[i], group.ahead(i));
    }
    commands = commands.subspan(size);
    replies = replies.subspan(size);
  }
}

namespace {

// A read with the lane, which it lets go.
[[gnu::always_inline]] inline bool ReadHeld(Lane& lane, TableId table,
                                            const storage::PartitionRef& partition,
                                            const ReadSpec& spec, int64_t now_seconds,
                                            Engine::GroupedRead& read, const LookedAhead& ahead) {
  const runtime::LaneOwnership::Hold hold(lane.ownership);
  return lane.Read(table, partition, spec, now_seconds, *read.sink, read.info, ahead);
}

// Apart, so that what others may run in its stead need not be in memory where nobody does.
[[gnu::noinline]] bool ReadContended(Lane& lane, TableId table, storage::PartitionRef partition,
                                     const ReadSpec& spec, int64_t now_seconds,
                                     Engine::GroupedRead& read) {
  bool found = false;
  lane.ownership.Run(
      [&] { found = lane.Read(table, partition, spec, now_seconds, *read.sink, read.info, {}); });
  return found;
}

}  // namespace

bool Engine::ReadGroup(TableId table, const ReadSpec& spec, uint64_t now_nanos,
                       std::span<GroupedRead> reads) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  bool found = true;
  for (; !reads.empty(); reads = reads.subspan(std::min(reads.size(), kGroupSize))) {
    const size_t size = std::min(reads.size(), kGroupSize);
    const GroupAhead group(
        *this, size, [&](size_t i) { return reads[i].partition_key; },
        [&](size_t) { return table; });
    for (size_t i = 0; i < size; ++i) {
      Lane& lane = *group.to(i).lane;
      const storage::PartitionRef partition{reads[i].partition_key, group.to(i).address};
      found &= lane.ownership.TryEnter()
                   ? ReadHeld(lane, table, partition, spec, now_seconds, reads[i], group.ahead(i))
                   : ReadContended(lane, table, partition, spec, now_seconds, reads[i]);
    }
  }
  return found;
}

}  // namespace liststore::shard
