// What the engine does when a write finds no memory, and evictions.
#include <algorithm>

#include "engine/base/check.h"
#include "engine/shard/call_addresses.h"
#include "engine/shard/engine.h"

namespace liststore {
namespace {

// A lane is held for at most about this many units of reclamation, so that nobody waits long behind
// it.
constexpr size_t kUnitsPerHold = 128;
// What a lane gives at a time, and what the first round wants of all.
constexpr uint64_t kEvictedPerHold = uint64_t{64} << 10;
constexpr uint64_t kWantedAtFirst = uint64_t{256} << 10;
// Each wants twice as much as the one before, up to this power. Others may take what was freed; 64
// rounds without success are taken for a limit that is too small.
constexpr uint32_t kDoublingsMax = 10;
constexpr uint32_t kRoundsMax = 64;

}  // namespace

OpStatus Engine::EnableEviction(TableId table, const EvictionOptions& options) {
  LS_CHECK(!evicting_table_, "one table is evicted from");
  OpStatus status = OpStatus::kOk;
  WithAllLanes([&](Lane& lane) {
    if (status == OpStatus::kOk) status = lane.table(table).EnableEviction(options);
  });
  if (status == OpStatus::kOk) evicting_table_ = table;
  return status;
}

void Engine::CountUsageFor(TableId table, UsageOwner& owner) {
  WithAllLanes([&](Lane& lane) { lane.table(table).CountUsageFor(owner); });
}

void Engine::FlushUsage(TableId table) {
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] {
      if (Table* part = lane->FindTable(table)) part->FlushUsage();
    });
  }
}

uint64_t Engine::ChangeMark(TableId table, std::string_view partition_key) {
  Lane& lane = *lanes_[router_.PlaceOf(TokenOf(partition_key)).lane];
  uint64_t mark = 0;
  lane.ownership.Run([&] {
    if (Table* part = lane.FindTable(table)) mark = part->ChangeMark();
  });
  return mark;
}

Table* Engine::EvictingTableIn(Lane& lane) {
  return evicting_table_ ? lane.FindTable(*evicting_table_) : nullptr;
}

// Under the hold of the lane. Returns whether anything was evicted, or pulled together.
bool Engine::MakeRoomIn(Lane& lane, uint64_t now_nanos, bool evict,
                        std::span<const uint64_t> guarded, EvictionLog* evictions) {
  const auto now_seconds = static_cast<int64_t>(now_nanos / 1'000'000'000);
  for (uint16_t i = 0; i < lane.table_count(); ++i) {
    Table& table = lane.table_at(i);
    if (table.WantsReclaim(now_seconds)) table.Reclaim(now_seconds, kUnitsPerHold);
    table.ReleaseCredit();
  }
  Table* const table = EvictingTableIn(lane);
  if (!evict || table == nullptr) return false;
  table->set_eviction_log(evictions);
  table->Guard(guarded);
  const bool evicted = table->EvictForOthers(kEvictedPerHold, now_seconds);
  table->Guard({});
  table->set_eviction_log(nullptr);
  return evicted;
}

bool Engine::MakeRoom(uint64_t now_nanos, uint32_t round, const CallAddresses& guarded,
                      EvictionLog* evictions) {
  const uint64_t held = budget_.held_bytes();
  const uint64_t wanted = kWantedAtFirst << std::min(round, kDoublingsMax);
  const auto suffices = [&] { return budget_.held_bytes() + wanted <= held; };
  bool evicted = false;
  // Not always the same first.
  const uint32_t first = next_reclaimed_lane_.load(std::memory_order_relaxed) + round;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const uint32_t number = (first + i) % router_.lanes();
    Lane& lane = *lanes_[number];
    if (!lane.ownership.TryAcquire()) continue;
    evicted |= MakeRoomIn(lane, now_nanos, !suffices(), guarded.In(number), evictions);
    lane.ownership.Release();
  }
  if (evicted || budget_.held_bytes() < held || !evicting_table_) {
    return evicted || budget_.held_bytes() < held;
  }
  // Nothing where nobody was: the lanes that were taken may have something. No lane is held here.
  for (uint32_t i = 0; i < lanes_.size() && !evicted; ++i) {
    const uint32_t number = (first + i) % router_.lanes();
    Lane& lane = *lanes_[number];
    lane.ownership.Run(
        [&] { evicted = MakeRoomIn(lane, now_nanos, true, guarded.In(number), evictions); });
  }
  return evicted || budget_.held_bytes() < held;
}

OpStatus Engine::RetryWithRoom(uint64_t now_nanos, const CallAddresses& guarded,
                               EvictionLog* evictions, absl::FunctionRef<OpStatus()> attempt) {
  // Where nothing is evicted, one round has found all there is.
  const uint32_t rounds = evicting_table_ ? kRoundsMax : 1;
  OpStatus status = OpStatus::kOutOfMemory;
  for (uint32_t round = 0; round < rounds && status == OpStatus::kOutOfMemory; ++round) {
    if (!MakeRoom(now_nanos, round, guarded, evictions)) break;
    status = attempt();
  }
  if (status == OpStatus::kOutOfMemory) refused_writes_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

void Engine::BeginGuard(std::span<const uint32_t> lanes, const CallAddresses& guarded,
                        EvictionLog* evictions) {
  if (!evicting_table_) return;
  for (const uint32_t number : lanes) {
    Table* const table = EvictingTableIn(*lanes_[number]);
    if (table == nullptr) continue;
    table->Guard(guarded.In(number));
    table->set_eviction_log(evictions);
  }
}

void Engine::EndGuard(std::span<const uint32_t> lanes, uint64_t now_nanos) {
  if (!evicting_table_) return;
  for (const uint32_t number : lanes) {
    Table* const table = EvictingTableIn(*lanes_[number]);
    if (table == nullptr) continue;
    table->Settle(static_cast<int64_t>(now_nanos / 1'000'000'000));
    table->Guard({});
    table->set_eviction_log(nullptr);
  }
}

}  // namespace liststore
