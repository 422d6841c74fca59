// A table as a cache: what reads tell and leave behind, puts, and which partitions go.
#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/storage/lane_eviction.h"
#include "engine/storage/partition/rows_in_order.h"
#include "engine/storage/partition/upsert_load.h"
#include "engine/storage/table.h"
#include "engine/storage/table_mirror.h"
#include "engine/storage/table_reserve.h"

namespace liststore::storage {
namespace {

// Reads after which a partition leaves probation for the main ones. Measured: decisions/0008.
constexpr uint8_t kUsesToStay = 1;

// The limit is near within this part of it. Pages come and go in steps of 64 KiB a lane; the
// distance must hold those of all lanes.
constexpr uint64_t kNearPart = 32;
// Growth is paid for in steps, so that a batch of misses is shared.
constexpr uint64_t kPaymentBytes = 4096;
constexpr size_t kPartitionsPerPayment = 16;
constexpr size_t kUnitsPerPayment = 256;
constexpr size_t kMovedPerPayment = 32;
// A partition evicted leaves a timer behind, and a hole: so many are looked at and moved for each.
constexpr size_t kTimersPerEviction = 4;
constexpr size_t kMovedPerEviction = 2;

}  // namespace

// --- Reads ---------------------------------------------------------------------------------------

uint64_t Table::ReadRows(const PartitionRef& partition, const DirectorySlot* slot,
                         const ReadSpec& spec, int64_t now_seconds, RowSink& sink,
                         PartitionInfo* info) {
  if (slot == nullptr) {
    ++UsageOf(partition.key).misses;
    return 0;
  }
  uint64_t reference = slot->reference;
  uint64_t dead_rows = 0;
  const uint64_t rows = Partition(context_, reference).Read(spec, now_seconds, sink, &dead_rows);
  if (info != nullptr) info->SetDeadRows(dead_rows);
  NoteRead(partition, reference, rows, now_seconds, info);
  TrimScratch();
  return rows;
}

// Looks at the header that the read has looked at, and writes to it three times at most until the
// eviction has come by.
void Table::NoteRead(const PartitionRef& partition, uint64_t reference, uint64_t rows,
                     int64_t now_seconds, PartitionInfo* info) {
  Partition handle(context_, reference);
  const uint8_t bits = handle.cache_bits();
  Presence presence = (bits & cache_bits::kPartial) != 0 ? Presence::kPartial : Presence::kComplete;
  if (rows == 0) presence = handle.PresenceAt(now_seconds);
  if (info != nullptr) {
    info->presence = presence;
    if (presence != Presence::kAbsent) info->fresh_until_seconds = handle.fresh_until_seconds();
  }
  uint64_t Usage::*const counter = presence == Presence::kComplete  ? &Usage::hits
                                   : presence == Presence::kPartial ? &Usage::partial_hits
                                                                    : &Usage::misses;
  ++(UsageOf(partition.key).*counter);
  if (cache_ != nullptr && presence != Presence::kAbsent &&
      (bits & cache_bits::kUsesMask) != cache_bits::kUsesMask) {
    handle.set_cache_bits(static_cast<uint8_t>(bits + 1));
  }
}

// --- Presence ------------------------------------------------------------------------------------

bool Table::IsOver(uint64_t reference, int64_t now_seconds) {
  const Partition handle(context_, reference);
  // Where nothing is ever partial, and there is no freshness, there is nothing to start over.
  if (cache_ == nullptr && handle.cache_bits() == 0 && handle.fresh_until_seconds() == 0) {
    return false;
  }
  return handle.OverAt(now_seconds);
}

bool Table::MayHaveMore(uint64_t address) const {
  if (past_unknown_) return true;
  if (cache_ == nullptr) return false;
  if (cache_->options.lives_elsewhere) return true;
  return cache_->filter.allocated() ? cache_->filter.MayContain(address) : cache_->has_evicted;
}

void Table::NoteUpsert(const PartitionRef& partition, std::span<const RowUpdate> rows) {
  NoteChange(partition);
  ++UsageOf(partition.key).upserts;
  if (cache_ == nullptr || !cache_->filter.allocated()) return;
  for (const RowUpdate& row : rows) {
    const bool lasts = row.expiry_seconds >= int64_t{kNeverExpires};
    const auto expiry = static_cast<uint32_t>(std::max<int64_t>(row.expiry_seconds, 0));
    cache_->last_expiry = std::max(cache_->last_expiry, lasts ? kNeverExpires : expiry);
  }
}

// --- Puts ----------------------------------------------------------------------------------------

OpStatus Table::Put(const PartitionRef& partition, std::span<const RowUpdate> rows,
                    const PutSpec& spec, const WriteContext& write, bool& refused) {
  LS_DCHECK(!pledged_bytes_, "puts are no part of batches");
  LS_CHECK(baseline_epoch_ == 0, "a table of lists is not marked");
  refused = spec.unless_since && marks_.ChangedSince(partition.address, *spec.unless_since);
  if (refused) return OpStatus::kOk;
  const uint8_t fresh = spec.fresh_until_seconds != 0 ? cache_bits::kFreshness : uint8_t{0};
  Partition::Load load = LoadOf(schema_, rows, write);
  load.bytes += fresh;
  load.growth_bytes += fresh;
  const bool keeps = KeepsTombstones(write);
  RowsInOrder in_order;
  const bool together = load.hot && load.all_short && in_order.Take(rows, write);
  DirectorySlot* slot = nullptr;
  const bool reserved = Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGrow, [&] {
    slot = FindForWrite(partition);
    const size_t bytes = UpsertBytes(partition, nullptr, rows, load);
    const SharedUpsert all{rows};
    CheckRowSizes(nullptr, {&all, 1}, write);
    return bytes;
  });
  if (!reserved) return Refusal();
  NoteTimestamps(write);
  const bool was_there = slot != nullptr;
  const uint64_t old = was_there ? slot->reference : 0;
  uint8_t bits = fresh;
  if (rows.empty()) bits |= cache_bits::kKeptEmpty;
  if (was_there) {
    // It keeps its place in the queue, and what its reads have earned.
    uint64_t reference = old;
    bits |=
        static_cast<uint8_t>(Partition(context_, reference).cache_bits() &
                             (cache_bits::kUsesMask | cache_bits::kProbation | cache_bits::kSweep));
  } else {
    bits |= static_cast<uint8_t>(BeginBits(partition.address) & ~cache_bits::kPartial);
  }
  uint64_t reference = Partition::Create(context_, partition.key, epoch_, load.bytes - fresh, bits,
                                         spec.fresh_until_seconds);
  Partition handle(context_, reference);
  // Older writes may still arrive: they are as if deleted just before.
  if (keeps) {
    WriteContext before = write;
    --before.timestamp.micros;
    handle.DeleteAll(before);
  }
  handle.Expect(load);
  if (together && handle.TakesBehind(in_order.rows())) {
    handle.Append(in_order.rows());
  } else {
    for (const RowUpdate& row : rows) handle.Upsert(row, write);
  }
  if (was_there) {
    uint64_t replaced = old;
    if (Partition(context_, replaced).wheel_when() != 0) wheel_.NoteStale();
    slot->reference = reference;
    Bury(old);
  } else {
    slot = directory_.Insert(partition.address, Partition::KeyOf(reference), reference);
  }
  NoteUpsert(partition, rows);
  Usage& usage = UsageOf(partition.key);
  --usage.upserts;
  ++usage.puts;
  Finish(partition, slot);
  if (cache_ != nullptr) PayForGrowth(write.now_seconds, partition.address);
  return OpStatus::kOk;
}

bool Table::Forget(const PartitionRef& partition) {
  NoteChange(partition);
  DirectorySlot* slot = FindForWrite(partition);
  if (slot == nullptr) return false;
  NoteEviction(partition.key, Partition(context_, slot->reference).row_count(),
               EvictionCause::kForgotten);
  Discard(partition.address, slot->reference);
  return true;
}

// --- Coming and staying --------------------------------------------------------------------------

void Table::EnableEviction(const EvictionOptions& options, LaneEviction& lane) {
  LS_CHECK(directory_.empty() && cache_ == nullptr && !dropped_,
           "eviction is enabled at the start");
  lane.Admit();
  cache_ = std::make_unique<EvictionState>(arena_, options, lane);
  const size_t bytes = std::bit_floor(options.filter_bytes);
  if (!options.lives_elsewhere && bytes >= EvictedFilter::kBytesMin &&
      arena_.Reserve(memory::Arena::BlockBytes(bytes))) {
    cache_->filter.Allocate(bytes);
  }
  cache_->paid_live_bytes = arena_.live_bytes();
}

void Table::TakePart(bool takes_part) {
  if (cache_ == nullptr || cache_->takes_part == takes_part) return;
  cache_->takes_part = takes_part;
  takes_part ? cache_->lane.Join(*this) : cache_->lane.Leave(*this);
}

uint8_t Table::BeginBits(uint64_t address) {
  uint8_t bits = MayHaveMore(address) ? cache_bits::kPartial : uint8_t{0};
  if (cache_ == nullptr || (!cache_->takes_part && !copying_)) return bits;
  if (cache_->takes_part) cache_->lane.NoteComing(*this);
  // It went too early last time.
  if (cache_->ghosts.Take(address)) return bits;
  bits |= cache_bits::kProbation;
  // Before the push: a sweep that begins with it has the entry still to see.
  bits |= cache_->probation.sweep_bit();
  PushProbation(address);
  return bits;
}

void Table::PushProbation(uint64_t address) {
  ProbationQueue& queue = cache_->probation;
  queue.Push(address, cache_->lane.NextPush());
  NoteOnProbation(1);
  if (cache_->takes_part && !cache_->is_offered) cache_->lane.OfferTable(*this);
  if (!queue.WantsSweep(cache_->on_probation)) return;
  queue.Sweep([&](uint64_t entry) {
    bool unseen = false;
    directory_.ScanFrom(entry, [&](DirectorySlot& slot) {
      if (slot.address != entry) return false;
      Partition handle(context_, slot.reference);
      const uint8_t bits = handle.cache_bits();
      if ((bits & cache_bits::kProbation) == 0 ||
          (bits & cache_bits::kSweep) == queue.sweep_bit()) {
        return true;
      }
      handle.set_cache_bits(bits ^ cache_bits::kSweep);
      unseen = true;
      return false;
    });
    return unseen;
  });
}

// --- Going ---------------------------------------------------------------------------------------

bool Table::IsGuarded(uint64_t address) const {
  if (mirror_ != nullptr && mirror_->IsInside(address)) [[unlikely]]
    return true;
  return cache_->lane.IsGuarded(address);
}

void Table::NoteEviction(std::string_view key, uint64_t rows, EvictionCause cause) {
  Usage& usage = UsageOf(key);
  const bool forgotten = cause == EvictionCause::kForgotten;
  ++(forgotten ? usage.forgotten : usage.evictions);
  (forgotten ? usage.forgotten_rows : usage.evicted_rows) += rows;
  if (eviction_log_ == nullptr) return;
  // The eviction is under way: a notice for which the heap has nothing is not given.
  try {
    eviction_log_->push_back({std::string(key), rows, cause});
  } catch (const std::bad_alloc&) {
  }
}

void Table::EvictOne(uint64_t address, uint64_t reference, int64_t now_seconds) {
  const Partition handle(context_, reference);
  if (!IsTruncated(handle)) {
    NoteEviction(handle.key(), handle.row_count(), EvictionCause::kMemory);
    if (eviction_witness_ != nullptr) eviction_witness_->OnEvicted(handle.key(), now_seconds);
    const uint32_t last = handle.large() ? cache_->last_expiry : handle.LastExpiry();
    cache_->filter.Add(address, last, now_seconds);
    cache_->has_evicted = true;
    if ((handle.cache_bits() & cache_bits::kProbation) != 0) cache_->ghosts.Add(address);
    cache_->lane.NoteEvicted();
  }
  if (mirror_ != nullptr) [[unlikely]]
    mirror_->Evict({handle.key(), address});
  Discard(address, reference);
}

size_t Table::EvictFromProbation(size_t partitions_max, int64_t now_seconds) {
  ProbationQueue& queue = cache_->probation;
  queue.ForOldest(kLookedAtTogether, [&](uint64_t address) { directory_.PrefetchSlot(address); });
  queue.ForOldest(kLookedAtTogether, [&](uint64_t address) {
    if (const uint64_t reference = directory_.ReferenceAt(address)) {
      PrefetchLine(Partition::BlockOf(reference));
    }
  });
  size_t evicted = 0;
  for (size_t i = 0; i < kLookedAtTogether && evicted < partitions_max && !queue.empty(); ++i) {
    // While a sweep is under way the oldest entry is one that it has not seen, and so, of several
    // partitions at its address, is the partition: those seen have entries of their own.
    const bool unseen = queue.sweeping();
    const uint64_t address = queue.Pop();
    uint64_t reference = 0;
    directory_.ScanFrom(address, [&](DirectorySlot& slot) {
      if (slot.address != address) return false;
      const uint8_t bits = Partition(context_, slot.reference).cache_bits();
      if ((bits & cache_bits::kProbation) == 0) return true;
      if (reference == 0) reference = slot.reference;
      if (!unseen) return false;
      if ((bits & cache_bits::kSweep) == queue.sweep_bit()) return true;
      reference = slot.reference;
      return false;
    });
    if (reference == 0) continue;  // it went, or came to stay, by another entry
    Partition handle(context_, reference);
    const uint8_t bits = handle.cache_bits();
    if ((bits & cache_bits::kUsesMask) < kUsesToStay && !IsGuarded(address) &&
        !IsOfBaseline(reference)) {
      EvictOne(address, reference, now_seconds);
      ++evicted;
    } else {
      handle.set_cache_bits(
          bits & static_cast<uint8_t>(~(cache_bits::kProbation | cache_bits::kUsesMask)));
      NoteOnProbation(-1);
    }
  }
  return evicted;
}

bool Table::TurnHand(HandTurn& turn, int64_t now_seconds) {
  using Candidate = std::pair<uint64_t, uint64_t>;  // address, reference
  absl::InlinedVector<Candidate, kLookedAtTogether> candidates;
  bool ended = true;
  uint64_t next_address = 0;
  directory_.ScanFrom(cache_->hand_address, [&](DirectorySlot& slot) {
    // Partitions of one address stay together, so that the hand may go on at an address.
    if (candidates.size() >= kLookedAtTogether && slot.address != candidates.back().first) {
      ended = false;
      next_address = slot.address;
      return false;
    }
    PrefetchLine(Partition::BlockOf(slot.reference));
    candidates.emplace_back(slot.address, slot.reference);
    return true;
  });
  cache_->hand_address = next_address;
  turn.looked_at += std::max<size_t>(candidates.size(), kLookedAtTogether / 2);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto [address, reference] = candidates[i];
    uint64_t own = reference;
    Partition handle(context_, own);
    const uint8_t bits = handle.cache_bits();
    if ((bits & cache_bits::kProbation) != 0 || IsGuarded(address)) continue;
    // Its memory would not come back.
    if (IsOfBaseline(reference)) continue;
    const uint8_t uses = bits & cache_bits::kUsesMask;
    if (uses != 0) {
      handle.set_cache_bits(static_cast<uint8_t>(bits - 1));
      if (uses < turn.least_uses) {
        turn.least_uses = uses;
        turn.least = candidates[i];
        turn.least_of = this;
      }
      continue;
    }
    EvictOne(address, reference, now_seconds);
    if (turn.left != 0) --turn.left;
    if (turn.left == 0 && i + 1 < candidates.size() && candidates[i + 1].first != address) {
      cache_->hand_address = candidates[i + 1].first;
      return false;
    }
  }
  return ended;
}

void Table::TidyAfterEviction(size_t evicted) {
  if (wheel_.WantsSweep()) {
    wheel_.Sweep(kTimersPerEviction * evicted,
                 [&](const TtlWheel::Entry& entry) { return FindEntry(entry) != nullptr; });
  }
  if (arena_.WorthCompacting()) arena_.Compact(kMovedPerEviction * evicted, *this);
  GhostSet& ghosts = cache_->ghosts;
  const size_t partitions = directory_.size();
  if (ghosts.WantsGrowth(partitions) &&
      arena_.Reserve(memory::Arena::BlockBytes(GhostSet::BytesFor(partitions)))) {
    ghosts.Grow(partitions);
  }
}

void Table::PayOrOwe(const PartitionRef& partition, int64_t now_seconds) {
  // A copy is paid for with what it is copied from, at the end of a slice; see TableMirror.
  if (copying_ || in_both_) return;
  if (pledged_bytes_ || redeeming_) {
    cache_->lane.Owes(*this);
  } else {
    PayForGrowth(now_seconds, partition.address);
  }
}

void Table::PayForGrowth(int64_t now_seconds, std::optional<uint64_t> writing) {
  if (cache_ == nullptr) return;
  LaneEviction& lane = cache_->lane;
  uint64_t& debt_bytes = lane.debt_bytes_;
  const uint64_t live = arena_.live_bytes();
  const uint64_t paid = std::exchange(cache_->paid_live_bytes, live);
  const uint64_t limit = budget_.grow_limit_bytes();
  const uint64_t distance = limit / kNearPart;
  const uint64_t held = budget_.held_bytes();
  if (held + distance <= limit) {
    if (debt_bytes != 0) debt_bytes = 0;
    return;
  }
  // Nothing where the limit begins to be near, as much as was taken a quarter of the way on, four
  // times as much at the limit: what is held comes to rest in between, whatever the mix of sizes
  // makes of the bytes that are freed.
  const uint64_t over = std::min(held + distance - limit, distance);
  if (live > paid) {
    debt_bytes += static_cast<uint64_t>(static_cast<double>(live - paid) * 4.0 *
                                        static_cast<double>(over) / static_cast<double>(distance));
  }
  if (debt_bytes < kPaymentBytes) return;
  // Memory that waits to be given back comes first: what is over, and holes. Timers do not count,
  // they wait all the time.
  if (dead_ != nullptr || left_ != nullptr || pass_.active || wheel_.HasDue(now_seconds)) {
    Reclaim(now_seconds, kUnitsPerPayment);
    cache_->paid_live_bytes = arena_.live_bytes();
    return;
  }
  if (held < limit && arena_.WorthCompacting()) {
    arena_.Compact(kMovedPerPayment, *this);
    debt_bytes -= kPaymentBytes;
    return;
  }
  if (held < limit && lane.CompactLast(*this, kMovedPerPayment)) {
    debt_bytes -= kPaymentBytes;
    return;
  }
  lane.writing_ = writing;
  const LaneEviction::Evicted evicted =
      lane.Evict(this, debt_bytes, kPartitionsPerPayment, now_seconds);
  lane.writing_.reset();
  debt_bytes -= std::min(debt_bytes, evicted.bytes);
  if (evicted.partitions == 0) debt_bytes = 0;
  lane.Tidy();
  cache_->paid_live_bytes = arena_.live_bytes();
}

void Table::TakeOverUses(const PartitionRef& partition, const Table& of, const Partition& from) {
  if (cache_ == nullptr || of.cache_ == nullptr) return;
  DirectorySlot* const slot = FindForWrite(partition);
  if (slot == nullptr) return;
  Partition handle(context_, slot->reference);
  uint8_t bits = handle.cache_bits() & static_cast<uint8_t>(~cache_bits::kUsesMask);
  if ((bits & cache_bits::kProbation) != 0 && (from.cache_bits() & cache_bits::kProbation) == 0) {
    bits &= static_cast<uint8_t>(~cache_bits::kProbation);
    NoteOnProbation(-1);
  }
  handle.set_cache_bits(bits | (from.cache_bits() & cache_bits::kUsesMask));
}

// --- Verify --------------------------------------------------------------------------------------

void Table::VerifyEviction() {
  if (cache_ == nullptr) return;
  cache_->probation.Verify();
  std::vector<uint64_t> entries;
  cache_->probation.ForEach([&](uint64_t address) { entries.push_back(address); });
  std::sort(entries.begin(), entries.end());
  size_t on_probation = 0;
  uint64_t address = 0;
  size_t of_address = 0;
  directory_.ScanFrom(0, [&](DirectorySlot& slot) {
    const Partition handle(context_, slot.reference);
    if ((handle.cache_bits() & cache_bits::kProbation) == 0) return true;
    of_address = slot.address == address ? of_address + 1 : 1;
    address = slot.address;
    ++on_probation;
    const auto [first, last] = std::equal_range(entries.begin(), entries.end(), address);
    LS_CHECK(static_cast<size_t>(last - first) >= of_address,
             "a partition on probation has an entry in the queue");
    return true;
  });
  LS_CHECK(on_probation == cache_->on_probation, "partitions on probation are counted");
}

}  // namespace liststore::storage
