// What a table does in slices: rows that are due, truncated partitions, compaction, tidying up.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/model/partition_key.h"
#include "engine/storage/table.h"
#include "engine/storage/table_baseline.h"
#include "engine/storage/table_mirror.h"

namespace liststore::storage {
namespace {

constexpr size_t kEntriesPerSlice = 32;
// Moving a block costs about as much as looking at this many rows.
constexpr size_t kUnitsPerMovedBlock = 8;

// What the rows of a partition's next leaf may take more as the shadows that they leave when they are
// over. Those that are gone with their grace leave none, and so need no memory.
size_t ShadowBytes(uint64_t reference, const TableSchema& schema, const GracePolicy& grace,
                   int64_t now_seconds) {
  LeafTree::Position at;
  const auto due =
      static_cast<uint32_t>(std::clamp<int64_t>(now_seconds, 0, int64_t{kNeverExpires} - 1));
  if (Partition::IsLarge(reference) && !Partition::LargeOf(reference).tree.FindDue(due, at)) {
    return 0;
  }
  const Leaf leaf = Partition::IsLarge(reference) ? Partition::LargeOf(reference).tree.leaf(at)
                                                  : Leaf(Partition::BlockOf(reference));
  size_t shadows = 0;
  for (size_t i = 0; i < leaf.size(); ++i) {
    const RowMeta meta = leaf.meta(i);
    if (meta.complex() || !EventCame(meta.expiry, now_seconds)) continue;
    shadows += grace.Gone(leaf.liveness(i), now_seconds) ? 0 : 1;
  }
  return shadows * Partition::kComplexOverheadBytes * std::max<size_t>(1, schema.regular.size());
}

// When a partition that could not be changed is looked at again.
uint32_t LaterThan(int64_t now_seconds) {
  constexpr uint32_t kRetrySeconds = 60;
  return static_cast<uint32_t>(
             std::clamp<int64_t>(now_seconds, 0, UINT32_MAX - 1 - kRetrySeconds)) +
         kRetrySeconds;
}

}  // namespace

void Table::TruncateAll() {
  if (mirror_ != nullptr) mirror_->TruncateAll();
  marks_.NoteAll();
  if (baseline_epoch_ != 0) TruncateSinceBaseline();
  truncated_before_ = ++epoch_;
  pass_ = {true, epoch_, 0};
}

void Table::TruncateFirstComponent(std::string_view component) {
  LS_CHECK(schema_.partition_key.size() > 1, "truncation by component is for composite keys");
  LS_CHECK(mirror_ == nullptr && baseline_epoch_ == 0, "a table of lists is not copied or marked");
  marks_.NoteAll();
  auto at = truncated_components_.find(component);
  if (at == truncated_components_.end()) at = truncated_components_.emplace(component, 0).first;
  at->second = ++epoch_;
  // A pass on its way has begun before; what it has passed already waits for the next one.
  if (!pass_.active) pass_ = {true, epoch_, 0};
}

bool Table::WantsReclaim(int64_t now_seconds) const {
  if (dropped_) return !vacant();
  return pins_.HasPosted() || pass_.active || dead_ != nullptr || left_ != nullptr ||
         (!set_aside_ && wheel_.HasDue(now_seconds)) || arena_.WorthCompacting() || WantsTidy() ||
         wheel_.WantsSweep();
}

size_t Table::Reclaim(int64_t now_seconds, size_t budget) {
  if (dropped_) return ReclaimDropped(budget);
  size_t units = pins_.Drain();
  if (dead_ != nullptr) units += ReclaimDead(budget);
  if (units < budget && left_ != nullptr) units += ReclaimLeft(budget - units);
  if (units < budget && !set_aside_ && wheel_.HasDue(now_seconds)) {
    units += ReclaimDue(now_seconds, budget - units);
  }
  if (units < budget && pass_.active) units += ReclaimTruncated(budget - units);
  if (units < budget && wheel_.WantsSweep()) {
    units += wheel_.Sweep(
        budget - units, [&](const TtlWheel::Entry& entry) { return FindEntry(entry) != nullptr; });
  }
  if (units < budget && WantsTidy() &&
      arena_.Reserve(directory_.ReserveBytesForTidy(), memory::MemoryBudget::Purpose::kGiveBack)) {
    directory_.Tidy();
    units += 8;
  }
  if (units < budget && arena_.WorthCompacting()) {
    const size_t blocks = std::max<size_t>(1, (budget - units) / kUnitsPerMovedBlock);
    units += arena_.Compact(blocks, *this) * kUnitsPerMovedBlock;
  }
  TrimScratch();
  return units;
}

size_t Table::ReclaimDead(size_t budget) {
  size_t units = 0;
  while (dead_ != nullptr && units < budget) {
    LargePartition* next = dead_->next_dead;
    uint64_t reference = reinterpret_cast<uint64_t>(dead_) | 1;
    const size_t leaves = std::min<size_t>(budget - units, 64);
    const bool gone = Partition(context_, reference).Destroy(leaves);
    units += leaves;
    if (gone) dead_ = next;
  }
  return units;
}

// --- Expiry --------------------------------------------------------------------------------------

DirectorySlot* Table::FindEntry(const TtlWheel::Entry& entry) {
  DirectorySlot* found = nullptr;
  directory_.ScanFrom(entry.address, [&](DirectorySlot& slot) {
    if (slot.address != entry.address) return false;
    const Partition partition(context_, slot.reference);
    if (partition.wheel_when() == entry.when_seconds &&
        static_cast<uint32_t>(Hash64(partition.key())) == entry.partition_tag) {
      found = &slot;
      return false;
    }
    return true;
  });
  return found;
}

void Table::EnableExpiryNotices() {
  LS_CHECK(schema_.regular.size() == 1, "an expiry has one value");
  if (expiries_ == nullptr) expiries_ = std::make_unique<ExpiryLog>();
  context_.expiries = expiries_.get();
}

void Table::TakeExpiries(ExpiryLog& into) {
  if (expiries_ == nullptr || expiries_->empty()) return;
  std::ranges::move(*expiries_, std::back_inserter(into));
  expiries_->clear();
}

void Table::ReclaimEntry(const TtlWheel::Entry& entry, int64_t now_seconds, size_t budget,
                         size_t& units) {
  DirectorySlot* slot = FindEntry(entry);
  if (slot == nullptr) {
    wheel_.NoteStaleHandedOut();
    return;
  }
  Partition partition(context_, slot->reference);
  partition.set_wheel_when(0);
  // What was cut is gone already, to a baseline as well.
  const bool has_remains = partition.has_remains();
  const bool is_of_baseline = !has_remains && IsOfBaseline(slot->reference);
  if (is_of_baseline && partition.NextEvent() > now_seconds) {
    ++units;
    return ScheduleAgain(entry, partition);
  }
  // Where all of it goes, a baseline has it without a copy.
  const bool all_goes = is_of_baseline && context_.grace.grace_seconds == 0 &&
                        !partition.kept_empty() && !partition.HasLiveData(now_seconds);
  size_t bytes = 0;
  if (all_goes) {
    bytes = baseline_->kept.ReserveBytesForInsert();
  } else if (!has_remains) {
    bytes = UnpinBytes(slot);
  }
  if (context_.grace.grace_seconds > 0 && !has_remains) {
    budget = 1;  // a leaf
    bytes += ShadowBytes(slot->reference, schema_, context_.grace, now_seconds);
  }
  if (!arena_.Reserve(bytes, memory::MemoryBudget::Purpose::kGiveBack)) {
    // There is no memory to give any back with. Nothing else depends on when the rows go.
    due_again_.push_back({entry.address, LaterThan(now_seconds), entry.partition_tag});
    partition.set_wheel_when(due_again_.back().when_seconds);
    ++units;
    return;
  }
  if (all_goes) {
    ++units;
    context_.expired_rows += partition.row_count();
    return Discard(entry.address, slot->reference);
  }
  if (!has_remains) Unpin(slot);
  // What was deleted with its feature does not expire any more.
  context_.expiries = IsTruncated(partition) ? nullptr : expiries_.get();
  units += partition.Reclaim(now_seconds, budget);
  context_.expiries = expiries_.get();
  if (partition.kept_empty() && partition.OverAt(now_seconds)) {
    partition.set_cache_bits(partition.cache_bits() &
                             static_cast<uint8_t>(~cache_bits::kKeptEmpty));
  }
  if (partition.empty()) {
    Discard(entry.address, slot->reference);
    return;
  }
  partition.TryDemote();
  if (!IsPinned(slot) && partition.WantsShrink()) partition.Shrink();
  ScheduleAgain(entry, partition);
}

void Table::ScheduleAgain(const TtlWheel::Entry& entry, Partition& partition) {
  const uint32_t next = partition.NextEvent();
  if (next == kNeverExpires) return;
  due_again_.push_back({entry.address, next, entry.partition_tag});
  partition.set_wheel_when(next);
}

size_t Table::ReclaimDue(int64_t now_seconds, size_t budget) {
  size_t units = 0;
  while (units < budget && wheel_.HasDue(now_seconds)) {
    std::array<TtlWheel::Entry, kEntriesPerSlice> due;
    size_t count = 0;
    const size_t slice = std::min(budget - units, kEntriesPerSlice);
    units += wheel_.Advance(now_seconds, slice,
                            [&](const TtlWheel::Entry& entry) { due[count++] = entry; });
    for (size_t i = 0; i < count; ++i) directory_.PrefetchSlot(due[i].address);
    for (size_t i = 0; i < count; ++i) PrefetchForWrite(PrefetchHint(due[i].address));
    for (size_t i = 0; i < count; ++i) {
      ReclaimEntry(due[i], now_seconds, std::max<size_t>(budget - std::min(budget, units), 64),
                   units);
    }
    // They take what those that were handed out gave back.
    for (const TtlWheel::Entry& entry : due_again_) wheel_.Schedule(entry);
    due_again_.clear();
  }
  return units;
}

// --- Truncation ----------------------------------------------------------------------------------

size_t Table::ReclaimTruncated(size_t budget) {
  // Partitions to take out are gathered first: the directory must not change during a scan.
  constexpr size_t kGatheredMax = 64;
  absl::InlinedVector<std::pair<uint64_t, uint64_t>, kGatheredMax> truncated;
  size_t units = 0;
  while (units < budget && pass_.active) {
    truncated.clear();
    bool ended = true;
    uint64_t last_address = pass_.next_address;
    directory_.ScanFrom(pass_.next_address, [&](DirectorySlot& slot) {
      // Partitions of one address stay together, so that the next slice may start at an address.
      if ((truncated.size() >= kGatheredMax || units >= budget) && slot.address != last_address) {
        ended = false;
        pass_.next_address = slot.address;
        return false;
      }
      last_address = slot.address;
      ++units;
      if (IsTruncated(Partition(context_, slot.reference))) {
        truncated.emplace_back(slot.address, slot.reference);
      }
      return true;
    });
    for (const auto& [address, reference] : truncated) Discard(address, reference);
    if (!ended) continue;
    ++units;
    // Truncations that came during the pass may concern what it had passed: they take another one.
    std::erase_if(truncated_components_,
                  [&](const auto& entry) { return entry.second <= pass_.epoch; });
    const bool again = !truncated_components_.empty() || truncated_before_ > pass_.epoch;
    pass_ = {again, epoch_, 0};
  }
  return units;
}

// --- Compaction ----------------------------------------------------------------------------------

void Table::Moved(void* from, void* to, size_t bytes) {
  const Leaf leaf(static_cast<char*>(to));
  LS_CHECK(leaf.block_bytes() == memory::Arena::BlockBytes(bytes), "a whole block was moved");
  const std::string_view key = leaf.partition_key();
  const uint64_t address = address_of_(key);
  DirectorySlot* slot = directory_.Find(address, key);
  if (slot == nullptr || Partition::BlockOf(slot->reference) != from) {
    slot = FindKeptBlock(address, key, from);
  }
  LS_CHECK(slot != nullptr && Partition::BlockOf(slot->reference) == from,
           "a moved block is a partition's");
  slot->reference = Partition::MovedReference(slot->reference, static_cast<char*>(to));
}

}  // namespace liststore::storage
