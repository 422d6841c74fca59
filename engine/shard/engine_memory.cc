// What the engine does when a write finds no memory, and evictions.
#include <algorithm>
#include <new>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/memory/memory_budget.h"
#include "engine/shard/call_addresses.h"
#include "engine/shard/engine.h"
#include "engine/shard/limit_around.h"

namespace liststore::shard {
namespace {

// Rounds of evictions, each of twice as much as the one before, up to a power. Others may take what
// was freed; so many without success are taken for a limit that is too small.
constexpr uint32_t kRoundsMax = 64;
constexpr uint32_t kDoublingsMax = 6;

}  // namespace

void Engine::EnableEviction(TableId table, const storage::EvictionOptions& options) {
  LS_CHECK(!evicting_table_, "one table is evicted from");
  WithAllLanes([&](Lane& lane) {
    lane.table(table).EnableEviction(options, lane.eviction());
    lane.table(table).TakePart(true);
  });
  evicting_table_ = table;
}

void Engine::ChooseEvicted(std::span<const EvictionChoice> choices) {
  if (!evicts_tables_of_users_ || choices.empty()) return;
  WithAllLanes([&](Lane& lane) {
    for (const EvictionChoice& choice : choices) {
      storage::Table* const table = lane.FindTable(choice.table);
      if (table == nullptr) continue;
      if (!table->evicts()) table->EnableEviction(kUsersEviction, lane.eviction());
      table->TakePart(choice.takes_part);
    }
  });
}

uint64_t Engine::evictions() const {
  uint64_t evictions = 0;
  for (const auto& lane : lanes_) evictions += lane->eviction().evictions();
  return evictions;
}

void Engine::NotePastUnknown(TableId table) {
  WithAllLanes([&](Lane& lane) { lane.table(table).NotePastUnknown(); });
}

void Engine::CountUsageFor(TableId table, UsageOwner& owner) {
  WithAllLanes([&](Lane& lane) { lane.table(table).CountUsageFor(owner); });
}

void Engine::FlushUsage(TableId table) {
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] {
      if (storage::Table* part = lane->FindTable(table)) part->FlushUsage();
    });
  }
}

uint64_t Engine::ChangeMark(TableId table, std::string_view partition_key) {
  Lane& lane = *lanes_[router_.PlaceOf(TokenOf(partition_key)).lane];
  uint64_t mark = 0;
  lane.ownership.Run([&] {
    if (storage::Table* part = lane.FindTable(table)) mark = part->ChangeMark();
  });
  return mark;
}

storage::Table* Engine::ToldTableIn(Lane& lane) {
  return evicting_table_ ? lane.FindTable(*evicting_table_) : nullptr;
}

// Under the hold of the lane.
void Engine::ReclaimIn(Lane& lane, uint64_t now_nanos) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  for (uint16_t i = 0; i < lane.table_count(); ++i) {
    storage::Table& table = lane.table_at(i);
    if (table.WantsReclaim(now_seconds)) table.Reclaim(now_seconds, kReclaimUnitsPerHold);
    table.ReleaseCredit();
  }
}

bool Engine::MakeRoom(uint64_t now_nanos, const Witness& witness) {
  const uint64_t held = budget_.held_bytes();
  for (const auto& lane : lanes_) {
    if (!lane->ownership.TryAcquire()) continue;
    const runtime::LaneOwnership::Hold hold(lane->ownership);
    if (IsOfNow(*lane, witness)) ReclaimIn(*lane, now_nanos);
  }
  return budget_.held_bytes() < held;
}

// What an attempt before has left, and then what is not read.
void Engine::MakeRoomForCopies(uint64_t now_nanos, uint64_t room_bytes) {
  constexpr size_t kUnits = 1'000;
  // Writes beside it make work for it as long as they come.
  constexpr int kReclaimsMax = 10'000;
  const CallAddresses nothing;
  for (int i = 0; i < kReclaimsMax && Reclaim(now_nanos, kUnits) != 0; ++i) {
  }
  while (budget_.held_bytes() + room_bytes > budget_.grow_limit_bytes() &&
         EvictAfterRefusal(now_nanos, /*round=*/1, nothing, nullptr, {})) {
  }
}

// Under the hold of the lane. Whether anything was evicted, or pulled together.
bool Engine::EvictIn(uint32_t number, uint64_t now_nanos, uint32_t doublings,
                     const CallAddresses& guarded, EvictionLog* evictions, const Witness& witness) {
  Lane& lane = *lanes_[number];
  if (!IsOfNow(lane, witness)) return false;
  storage::Table* const told = ToldTableIn(lane);
  if (told != nullptr) told->set_eviction_log(evictions);
  lane.eviction().Guard(guarded.In(number));
  const absl::Cleanup end = [&] {
    lane.eviction().Guard({});
    if (told != nullptr) told->set_eviction_log(nullptr);
  };
  return lane.eviction().EvictAfterRefusal(doublings, WholeSeconds(now_nanos));
}

// Under the hold of the lane, where both change. What is over by a time that is over itself is not to go.
bool Engine::IsOfNow(Lane& lane, const Witness& witness) const {
  if (witness.table && lane.FindTable(*witness.table) == nullptr) return false;
  return !witness.era || *witness.era == era_.load(std::memory_order_relaxed);
}

bool Engine::EvictAfterRefusal(uint64_t now_nanos, uint32_t round, const CallAddresses& guarded,
                               EvictionLog* evictions, const Witness& witness) {
  const uint32_t doublings = std::min(round / 2, kDoublingsMax);
  bool evicted = false;
  const auto evict_in = [&](uint32_t number) {
    evicted |= EvictIn(number, now_nanos, doublings, guarded, evictions, witness);
  };
  // The call's own lanes first, and again every other time: memory that comes free there is used
  // there.
  if (round % 2 == 0) {
    guarded.ForEachLane(
        [&](uint32_t number) { lanes_[number]->ownership.Run([&] { evict_in(number); }); });
    if (evicted) return true;
  }
  for (uint32_t number = 0; number < lanes_.size(); ++number) {
    if (!lanes_[number]->ownership.TryAcquire()) continue;
    const runtime::LaneOwnership::Hold hold(lanes_[number]->ownership);
    evict_in(number);
  }
  // Nothing where nobody was: the lanes that were taken may have something.
  for (uint32_t number = 0; number < lanes_.size() && !evicted; ++number) {
    lanes_[number]->ownership.Run([&] { evict_in(number); });
  }
  return evicted;
}

uint64_t LimitAround(uint64_t held_bytes) {
  constexpr uint64_t kSlackPart = 31;  // of what is held, as a 32nd is of the limit
  const memory::MemoryBudget about(held_bytes + held_bytes / kSlackPart);
  return held_bytes + (about.limit_bytes() - about.grow_limit_bytes());
}

bool Engine::SetMemoryLimit(uint64_t bytes, uint64_t now_nanos, EvictionLog* evictions,
                            std::optional<uint64_t> era) {
  constexpr size_t kUnits = 1'000;
  const MutexLock lock(limit_mutex_);
  budget_.set_limit(bytes);
  // Credit, and what is over, come before what is wanted.
  if (!is_within_limit()) MakeRoom(now_nanos, {.era = era});
  while (!is_within_limit() && Reclaim(now_nanos, kUnits, era) != 0) {
  }
  const CallAddresses nothing;
  bool evicted = evicts();  // in the last round
  while (evicted && !is_within_limit()) {
    evicted = false;
    for (uint32_t number = 0; number < lanes_.size() && !is_within_limit(); ++number) {
      lanes_[number]->ownership.Run(
          [&] { evicted |= EvictIn(number, now_nanos, 0, nothing, evictions, {.era = era}); });
    }
  }
  return is_within_limit();
}

OpStatus Engine::RetryWithRoom(OpStatus status, uint64_t now_nanos, TableId table,
                               const CallAddresses& guarded, EvictionLog* evictions,
                               absl::FunctionRef<OpStatus()> attempt) {
  // What is due comes before what is wanted.
  if (status == OpStatus::kOutOfMemory && MakeRoom(now_nanos, {.table = table})) status = attempt();
  const uint32_t rounds = evicts() ? kRoundsMax : 0;
  for (uint32_t round = 0; round < rounds && status == OpStatus::kOutOfMemory; ++round) {
    if (!EvictAfterRefusal(now_nanos, round, guarded, evictions, {.table = table})) break;
    status = attempt();
  }
  if (!IsRefusal(status)) return status;
  refused_writes_.fetch_add(1, std::memory_order_relaxed);
  return OpStatus::kOutOfMemory;
}

void Engine::BeginGuard(std::span<const uint32_t> lanes, const CallAddresses& guarded,
                        EvictionLog* evictions) {
  if (!evicts()) return;
  for (const uint32_t number : lanes) {
    Lane& lane = *lanes_[number];
    lane.eviction().Guard(guarded.In(number));
    if (storage::Table* const told = ToldTableIn(lane)) told->set_eviction_log(evictions);
  }
}

void Engine::EndGuard(std::span<const uint32_t> lanes, uint64_t now_nanos) {
  if (!evicts()) return;
  for (const uint32_t number : lanes) {
    Lane& lane = *lanes_[number];
    try {
      lane.eviction().PayOwed(WholeSeconds(now_nanos));
    } catch (const std::bad_alloc&) {
      // The next write pays; this one is over, and whoever waits for the lanes is not to notice.
    }
    lane.eviction().Guard({});
    if (storage::Table* const told = ToldTableIn(lane)) told->set_eviction_log(nullptr);
  }
}

}  // namespace liststore::shard
