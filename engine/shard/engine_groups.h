// Groups of commands, whose partitions are fetched together: the ways through them that are in line
// in who asks for many rows with a sink of its own.
#ifndef LISTSTORE_ENGINE_SHARD_ENGINE_GROUPS_H_
#define LISTSTORE_ENGINE_SHARD_ENGINE_GROUPS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/seconds.h"
#include "engine/shard/engine.h"

namespace liststore::shard {

// Sixteen misses at once cost a fifteenth each of one alone; more gain nothing.
inline constexpr size_t kGroupSize = 16;

// What Table::PrefetchPartition and PrefetchForWrite take, where the lane is free; else 0.
[[gnu::always_inline]] inline uint64_t HintOf(Lane& lane, TableId id, storage::Table* shell,
                                              uint64_t address) {
  if (!lane.ownership.TryAcquire()) return 0;
  const storage::Table* const table = lane.FindTable(id, shell);
  const uint64_t hint = table != nullptr ? table->PrefetchHint(address) : 0;
  lane.ownership.Release();
  return hint;
}

// What is done for all of a group before the first of it is run, each stage for all before the next.
class Engine::GroupAhead {
 public:
  // Calls key_of(i), table_of(i), and, to bring its partition closer, fetch(i, hint) for i < `size`
  // <= kGroupSize.
  template <typename KeyOf, typename TableOf, typename Fetch>
  [[gnu::always_inline]] GroupAhead(const Engine& engine, size_t size, KeyOf&& key_of,
                                    TableOf&& table_of, Fetch&& fetch) {
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
    // translated, so that the page walks of a group came one after the other. For the same reason
    // none is asked for while those before it are read: that takes a third longer.
    for (size_t i = 0; i < size; ++i) {
      hints_[i] = HintOf(*to_[i].lane, table_of(i), shells_[i], to_[i].address);
    }
    for (size_t i = 0; i < size; ++i) fetch(i, hints_[i]);
  }
  const Destination& to(size_t i) const { return to_[i]; }
  LookedAhead ahead(size_t i) const { return {.shell = shells_[i], .fetched = hints_[i] != 0}; }

 private:
  // Of the first `size`; the others are not initialised, which would cost as much as a read.
  std::array<Destination, kGroupSize> to_;
  std::array<storage::Table*, kGroupSize> shells_;
  std::array<uint64_t, kGroupSize> hints_;
};

// Apart, so that what others may run in its stead need not be in memory where nobody does.
template <typename Sink>
[[gnu::noinline]] bool ReadContended(Lane& lane, TableId table, storage::PartitionRef partition,
                                     const ReadSpec& spec, int64_t now_seconds, Sink& sink,
                                     PartitionInfo& info) {
  bool found = false;
  lane.ownership.Run(
      [&] { found = lane.Read(table, partition, spec, now_seconds, sink, info, {}); });
  return found;
}

template <typename Sink>
[[gnu::always_inline]] inline bool Engine::ReadAt(const Destination& to, TableId table,
                                                  std::string_view partition_key,
                                                  const ReadSpec& spec, int64_t now_seconds,
                                                  Sink& sink, PartitionInfo& info,
                                                  const LookedAhead& ahead) {
  Lane& lane = *to.lane;
  const storage::PartitionRef partition{partition_key, to.address};
  if (!lane.ownership.TryEnter()) [[unlikely]] {
    return ReadContended(lane, table, partition, spec, now_seconds, sink, info);
  }
  const runtime::LaneOwnership::Hold hold(lane.ownership);
  return lane.Read(table, partition, spec, now_seconds, sink, info, ahead);
}

template <typename Sink>
bool Engine::Read(TableId table, std::string_view partition_key, const ReadSpec& spec,
                  uint64_t now_nanos, Sink& sink, PartitionInfo& info) {
  return ReadAt(DestinationOf(partition_key), table, partition_key, spec, WholeSeconds(now_nanos),
                sink, info, {});
}

template <typename Reads>
bool Engine::ReadGroup(TableId table, const ReadSpec& spec, uint64_t now_nanos, Reads& reads) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  bool found = true;
  for (size_t first = 0; first < reads.size(); first += kGroupSize) {
    const size_t size = std::min(reads.size() - first, kGroupSize);
    const GroupAhead group(
        *this, size, [&](size_t i) { return reads.key(first + i); }, [&](size_t) { return table; },
        [&](size_t i, uint64_t hint) __attribute__((always_inline)) {
          storage::Table::PrefetchPartition(hint, reads.key(first + i).size(), spec.limit);
        });
    for (size_t i = 0; i < size; ++i) {
      auto&& sink = reads.sink(first + i);
      PartitionInfo info;
      found &= ReadAt(group.to(i), table, reads.key(first + i), spec, now_seconds, sink, info,
                      group.ahead(i));
      reads.SetInfo(first + i, info);
    }
  }
  return found;
}

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ENGINE_GROUPS_H_
