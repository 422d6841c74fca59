// Commands on one partition: one, and groups whose partitions are fetched together.
#include <algorithm>
#include <variant>

#include "engine/base/check.h"
#include "engine/shard/call_addresses.h"
#include "engine/shard/engine.h"
#include "engine/shard/engine_groups.h"

namespace liststore::shard {

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

void Engine::ExecuteGroup(std::span<const Command> commands, uint64_t now_nanos,
                          std::span<Reply> replies) {
  LS_DCHECK(commands.size() == replies.size(), "a reply for every command");
  while (!commands.empty()) {
    const size_t size = std::min(commands.size(), kGroupSize);
    const GroupAhead group(
        *this, size, [&](size_t i) { return commands[i].partition_key; },
        [&](size_t i) { return commands[i].table; },
        [&](size_t i, uint64_t hint) __attribute__((always_inline)) {
          const Command& command = commands[i];
          if (const auto* read = std::get_if<ReadCommand>(&command.body); read != nullptr) {
            storage::Table::PrefetchPartition(hint, command.partition_key.size(),
                                              read->spec->limit);
          } else {
            storage::Table::PrefetchForWrite(hint);
          }
        });
    for (size_t i = 0; i < size; ++i) {
      replies[i] = {};
      ExecuteAt(group.to(i), commands[i], now_nanos, replies[i], group.ahead(i));
    }
    commands = commands.subspan(size);
    replies = replies.subspan(size);
  }
}

}  // namespace liststore::shard
