#include "engine/shard/engine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/model/partition_key.h"
#include "engine/shard/batch_records.h"
#include "engine/shard/call_addresses.h"

namespace liststore::shard {
namespace {

// Giving memory back to the system costs as much as a unit of reclamation for so many bytes.
constexpr size_t kDroppedBytesPerUnit = 8192;
// Partitions looked at under one hold of a lane by a scan.
constexpr size_t kPartitionsPerHold = 128;

// Gives back to the system what `drop` finds, until it finds nothing or `budget` units are done.
size_t UnitsOfDropped(size_t budget, absl::FunctionRef<uint64_t()> drop) {
  size_t units = 0;
  while (units < budget) {
    const uint64_t dropped = drop();
    if (dropped == 0) break;
    units += dropped / kDroppedBytesPerUnit;
  }
  return units;
}

}  // namespace

Engine::Engine(const EngineOptions& options)
    : router_(options.shards, options.lanes_per_shard_log2),
      copied_rows_per_hold_(options.copied_rows_per_hold),
      filled_rows_per_hold_(options.filled_rows_per_hold),
      budget_(options.memory_limit_bytes),
      heap_ledger_(std::make_shared<memory::HeapLedger>(budget_)),
      pool_(budget_, *options.system) {
  lanes_.reserve(router_.lanes());
  for (uint32_t i = 0; i < router_.lanes(); ++i) {
    lanes_.push_back(std::make_unique<Lane>(router_, pool_, budget_));
  }
}

// Of what is counted some may be in snapshots of the schema, which others hold.
Engine::~Engine() { heap_ledger_->Close(); }

absl::Status Engine::StartMappingAhead() {
  LS_CHECK(mapper_ == nullptr, "one thread maps ahead");
  LS_ASSIGN_OR_RETURN(mapper_, memory::RegionMapper::Start(pool_));
  return absl::OkStatus();
}

void Engine::AcquireAll() {
  for (const auto& lane : lanes_) lane->ownership.Acquire();
}

void Engine::ReleaseAll() {
  for (auto at = lanes_.rbegin(); at != lanes_.rend(); ++at) (*at)->ownership.Release();
}

void Engine::WithAllLanes(absl::FunctionRef<void(Lane&)> work) {
  const AllLanes hold(*this);
  for (const auto& lane : lanes_) work(*lane);
}

OpStatus Engine::WithAllOf(TableId table, absl::FunctionRef<void(storage::Table&)> work) {
  OpStatus status = OpStatus::kOk;
  WithAllLanes([&](Lane& lane) {
    storage::Table* part = lane.FindTable(table);
    if (part == nullptr) {
      status = OpStatus::kTableGone;
    } else {
      work(*part);
    }
  });
  return status;
}

OpStatus Engine::Pledge(std::span<const Command> upserts, std::span<const Destination> to,
                        bool named_twice, const WriteContext& write) {
  const auto rows_of = [&](size_t i) { return std::get<UpsertCommand>(upserts[i].body).rows; };
  OpStatus status = OpStatus::kOk;
  if (!named_twice) {
    for (size_t i = 0; i < upserts.size() && status == OpStatus::kOk; ++i) {
      storage::Table& table = to[i].lane->table(upserts[i].table);
      status = table.Pledge({upserts[i].partition_key, to[i].address}, rows_of(i), write);
    }
    return status;
  }
  // Pledges do not see what the others bring to their partition: they are made together.
  struct Share {
    size_t command;  // one of its upserts
    storage::BatchShare load;
  };
  std::map<std::tuple<uint16_t, uint32_t, std::string_view>, Share> shares;
  for (size_t i = 0; i < upserts.size(); ++i) {
    const Command& command = upserts[i];
    Share& share = shares[{command.table.value, command.table.generation, command.partition_key}];
    share.command = i;
    share.load.upserts.push_back({rows_of(i)});
  }
  for (auto at = shares.begin(); at != shares.end() && status == OpStatus::kOk; ++at) {
    const size_t i = at->second.command;
    storage::Table& table = to[i].lane->table(upserts[i].table);
    status = table.PledgeShare({upserts[i].partition_key, to[i].address}, at->second.load, write);
  }
  return status;
}

OpStatus Engine::PledgeAndApply(std::span<const Command> upserts, std::span<const Destination> to,
                                const CallAddresses& guarded, bool named_twice, uint64_t now_nanos,
                                std::span<Reply> replies) {
  absl::InlinedVector<uint32_t, 64> numbers;
  absl::InlinedVector<Lane*, 64> lanes;
  guarded.ForEachLane([&](uint32_t number) {
    numbers.push_back(number);
    lanes.push_back(lanes_[number].get());
  });

  // Holding none before, by ascending number, as everybody who takes several does.
  for (Lane* lane : lanes) lane->ownership.Acquire();
  const absl::Cleanup release = [&] {
    for (auto at = lanes.rbegin(); at != lanes.rend(); ++at) (*at)->ownership.Release();
  };
  BeginGuard(numbers, guarded, upserts.front().evictions);
  const absl::Cleanup end = [&] {
    for (size_t i = 0; i < upserts.size(); ++i) {
      to[i].lane->table(upserts[i].table).ClearPledges();
    }
    EndGuard(numbers, now_nanos);
  };
  // One timestamp for the whole batch, above all that its lanes have given out.
  WriteTimestamp timestamp;
  for (Lane* lane : lanes) timestamp = std::max(timestamp, lane->NextTimestamp(now_nanos));
  WriteContext write;
  write.timestamp = timestamp;
  write.now_seconds = WholeSeconds(now_nanos);

  OpStatus status = Pledge(upserts, to, named_twice, write);
  std::optional<BatchRecords> records;
  if (status == OpStatus::kOk && keeps_log()) [[unlikely]] {
    records.emplace(NextLogNumber());
    for (Lane* lane : lanes) {
      if (!lane->WriteDownGone(now_nanos)) status = OpStatus::kNotKept;
    }
    for (size_t i = 0; i < upserts.size(); ++i) {
      const Command& command = upserts[i];
      records->Add(*to[i].lane->log(), to[i].lane->table(command.table), command.table,
                   command.partition_key, command.body, write);
    }
    if (status == OpStatus::kOk && !records->Reserve()) status = OpStatus::kNotKept;
  }
  for (size_t i = 0; status == OpStatus::kOk && i < upserts.size(); ++i) {
    const Command& command = upserts[i];
    replies[i].timestamp = timestamp;
    replies[i].status = to[i]
                            .lane->table(command.table)
                            .Upsert({command.partition_key, to[i].address},
                                    std::get<UpsertCommand>(command.body).rows, write);
    LS_CHECK(replies[i].status == OpStatus::kOk, "a pledged upsert does not fail");
    to[i].lane->AdvanceTimestamp(timestamp);
  }
  if (records && status == OpStatus::kOk) records->Append();
  return status;
}

OpStatus Engine::ExecuteAllOrNothing(std::span<const Command> upserts, uint64_t now_nanos,
                                     std::span<Reply> replies) {
  LS_DCHECK(upserts.size() == replies.size(), "a reply for every command");
  if (upserts.empty()) return OpStatus::kOk;
  absl::InlinedVector<Destination, 64> to;
  CallAddresses guarded;
  for (const Command& command : upserts) {
    LS_CHECK(std::holds_alternative<UpsertCommand>(command.body) && command.timestamp.is_none(),
             "a batch is of upserts under one timestamp of the engine's");
    to.push_back(DestinationOf(command));
    to.back().lane->PrefetchSlot(command.table, to.back().address);
    guarded.Add(to.back().lane_number, to.back().address);
  }
  guarded.Sort();
  const bool named_twice = guarded.AnyTwice();
  const auto attempt = [&] {
    return PledgeAndApply(upserts, to, guarded, named_twice, now_nanos, replies);
  };
  const OpStatus status = attempt();
  if (!IsRefusal(status)) return status;
  return RetryWithRoom(status, now_nanos, upserts.front().table, guarded, upserts.front().evictions,
                       attempt);
}

// --- Scans ---------------------------------------------------------------------------------------

ScanPosition Engine::PositionAt(Token token) const {
  const Router::Place place = router_.PlaceOf(token);
  ScanPosition position;
  position.segment = Router::SegmentOf(token);
  position.shard = router_.ShardOf(token).value;
  position.address = place.address;
  position.started = true;
  return position;
}

ScanPosition Engine::PositionBehind(std::string_view partition_key) const {
  ScanPosition position = PositionAt(TokenOf(partition_key));
  position.after_key.emplace(partition_key);
  return position;
}

OpStatus Engine::ScanPartitions(TableId table, std::optional<std::string_view> first_component,
                                size_t limit, uint64_t now_nanos, ScanPosition& position,
                                std::vector<std::string>& keys, std::optional<Token> last) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  // The last piece of the ring that is looked at, and where it ends.
  auto last_piece = std::pair{Router::kSegments, uint32_t{0}};
  uint64_t last_address = 0;
  if (last) {
    last_piece = {Router::SegmentOf(*last), router_.ShardOf(*last).value};
    last_address = router_.PlaceOf(*last).address;
  }
  keys.clear();
  bool gone = false;
  bool more = false;     // of the piece that was looked at last
  size_t looked_at = 0;  // partitions, under this hold
  uint32_t pieces_left = position.pieces_max;
  // Where the position is; nullopt: nothing is left.
  const auto range_here = [&]() -> std::optional<Router::AddressRange> {
    const auto piece = std::pair{position.segment, position.shard};
    position.done |= piece > last_piece;
    if (position.done) return std::nullopt;
    Router::AddressRange range = router_.RangeOf(position.segment, ShardId{position.shard});
    if (piece == last_piece) range.last = std::min(range.last, last_address);
    return range;
  };
  const auto look_at = [&](storage::Table& scanned, const Router::AddressRange& range) {
    more = false;
    // The position moves while the scan goes by it.
    const std::optional<std::string> after = position.started ? position.after_key : std::nullopt;
    const uint64_t from = position.started ? position.address : range.first;
    scanned.ScanPartitions(from, after, [&](uint64_t address, const storage::Partition& partition) {
      if (address > range.last) return false;
      if (keys.size() == limit || looked_at == kPartitionsPerHold) {
        more = true;
        return false;
      }
      ++looked_at;
      const std::string_view key = partition.key();
      position.started = true;
      position.address = address;
      position.after_key.emplace(key);
      if (first_component && FirstComponent(key) != *first_component) return true;
      if (partition.HasLiveData(now_seconds)) keys.emplace_back(key);
      return true;
    });
  };
  const auto behind_piece = [&] {
    position.started = false;
    --pieces_left;
    if (++position.shard < router_.shards()) return;
    position.shard = 0;
    position.done = ++position.segment == Router::kSegments;
  };
  while (keys.size() < limit && pieces_left > 0 && !gone) {
    std::optional<Router::AddressRange> range = range_here();
    if (!range) break;
    const uint32_t number = range->lane;
    const auto work = [&] {
      storage::Table* const scanned = lanes_[number]->FindTable(table);
      gone = scanned == nullptr;
      const size_t keys_before = keys.size();
      looked_at = 0;
      // Pieces that lie behind each other in one lane are looked at together while they are empty.
      while (!gone && range && range->lane == number) {
        look_at(*scanned, *range);
        if (more) return;
        behind_piece();
        if (keys.size() > keys_before || pieces_left == 0) return;
        range = range_here();
      }
    };
    HoldFor(*lanes_[number], position.waits_its_turn, work);
  }
  if (gone) {
    keys.clear();
    return OpStatus::kTableGone;
  }
  return OpStatus::kOk;
}

// --- Reclamation, statistics ---------------------------------------------------------------------

// Under the hold of the lane: the units done, at most about `budget`.
size_t Engine::ReclaimSlice(Lane& lane, int64_t now_seconds, size_t budget, ExpiryLog& expiries) {
  size_t done = 0;
  for (uint16_t i = 0; i < lane.table_count() && done < budget; ++i) {
    storage::Table& table = lane.table_at(i);
    if (table.WantsReclaim(now_seconds)) done += table.Reclaim(now_seconds, budget - done);
    table.TakeExpiries(expiries);
  }
  return done;
}

size_t Engine::Reclaim(uint64_t now_nanos, size_t budget, std::optional<uint64_t> era,
                       bool may_wait) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  const uint32_t first = next_reclaimed_lane_.fetch_add(1, std::memory_order_relaxed);
  size_t units = 0;
  ExpiryLog expiries;
  pool_.SetEmptying(true);
  // Lanes that are taken are passed by. Where the others had nothing to do, a lap follows that
  // waits for its turn in each, so that 0 means that nothing waits in any.
  bool waits = false;
  bool passed_by = false;
  size_t idle = 0;  // lanes in a row that had nothing to do
  for (uint32_t i = 0; units < budget && idle < lanes_.size(); ++i) {
    Lane& lane = *lanes_[(first + i) % router_.lanes()];
    size_t done = 0;
    if (waits) lane.ownership.Acquire();
    if (waits || lane.ownership.TryAcquire()) {
      const runtime::LaneOwnership::Hold hold(lane.ownership);
      if (era && *era != era_.load(std::memory_order_relaxed)) break;
      done =
          ReclaimSlice(lane, now_seconds, std::min(budget - units, kReclaimUnitsPerHold), expiries);
      // Nothing waits, so that nobody hurries: what was set aside for writes to come goes back. A
      // store that was emptied would else stay at the credit and the spare slabs of all its lanes.
      for (uint16_t t = 0; t < lane.table_count() && units + done == 0; ++t) {
        lane.table_at(t).ReleaseCredit();
      }
    } else {
      passed_by = true;
    }
    units += done;
    // What came free goes back to the system here and not where it was freed, under the hold.
    units += UnitsOfDropped(budget - std::min(units, budget), [&] { return pool_.DropRegion(); });
    idle = done == 0 ? idle + 1 : 0;
    if (idle == lanes_.size() && units == 0 && passed_by && !waits && may_wait) {
      waits = true;
      idle = 0;
    }
  }
  if (units < budget) {
    units += UnitsOfDropped(budget - units, [&] { return pool_.DropKept(); });
    if (units < budget) pool_.SetEmptying(false);
  }
  if (!expiries.empty()) TellExpiries(expiries);
  return units;
}

void Engine::ListenToExpiries(TableId table, ExpirySink sink) {
  WithAllLanes([&](Lane& lane) { lane.table(table).EnableExpiryNotices(); });
  expiry_sink_ = std::move(sink);
}

void Engine::TellExpiries(ExpiryLog& expiries) const {
  std::ranges::stable_sort(expiries, {}, &Expiry::at_seconds);
  expiry_sink_(expiries);
}

std::optional<int64_t> Engine::NextExpirySeconds() {
  std::optional<int64_t> next;
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] {
      for (uint16_t i = 0; i < lane->table_count(); ++i) {
        const std::optional<int64_t> expiry = lane->table_at(i).NextExpiry();
        if (expiry && (!next || *expiry < *next)) next = expiry;
      }
    });
  }
  return next;
}

Engine::ExpiryState Engine::ExpiryStateAt(uint64_t now_nanos) {
  constexpr size_t kTablesPerHold = 64;
  const int64_t now_seconds = WholeSeconds(now_nanos);
  ExpiryState state;
  for (const auto& lane : lanes_) {
    bool is_late = false;
    bool has_more = true;
    for (size_t begin = 0; has_more; begin += kTablesPerHold) {
      lane->ownership.Run([&] {
        const size_t end = std::min(lane->table_count(), begin + kTablesPerHold);
        for (size_t i = begin; i < end; ++i) {
          const storage::ExpiryProgress progress =
              lane->table_at(static_cast<uint16_t>(i)).ExpiryAt(now_seconds);
          state.progress.Add(progress);
          is_late |= progress.behind_seconds > 0;
        }
        has_more = end < lane->table_count();
      });
    }
    state.late_lanes += is_late ? 1 : 0;
  }
  return state;
}

Engine::LaneUse Engine::GlanceAtLanes() const {
  LaneUse use;
  for (const auto& lane : lanes_) {
    ++use.lanes;
    use.held += lane->ownership.IsHeld() ? 1 : 0;
    use.waited_for += lane->ownership.MailWaits() ? 1 : 0;
  }
  return use;
}

storage::TableStats Engine::StatsOf(TableId table) {
  storage::TableStats sum;
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] {
      const storage::Table* part = lane->FindTable(table);
      if (part == nullptr) return;
      const storage::TableStats stats = part->stats();
      sum.partitions += stats.partitions;
      sum.rows += stats.rows;
      sum.expired_rows += stats.expired_rows;
      sum.tombstones += stats.tombstones;
      sum.tombstones_held += stats.tombstones_held;
      sum.live_bytes += stats.live_bytes;
      sum.held_bytes += stats.held_bytes;
      sum.slabs_beyond_limit += stats.slabs_beyond_limit;
      sum.usage.Add(stats.usage);
      sum.evicted_bytes += stats.evicted_bytes;
    });
  }
  return sum;
}

void Engine::Verify() {
  WithAllLanes([&](Lane& lane) {
    for (uint16_t i = 0; i < lane.table_count(); ++i) lane.table_at(i).Verify();
    lane.eviction().Verify();
  });
  pool_.Verify();
}

}  // namespace liststore::shard
