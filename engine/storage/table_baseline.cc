// How a table keeps what it was at an instant, and goes back to it. decisions/0026 says why so.
#include "engine/storage/table_baseline.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/storage/table.h"

namespace liststore::storage {
namespace {

// A directory must not change while it is gone through: so many are gathered first.
constexpr size_t kKeptTogetherMax = 64;
using KeptSlots = absl::InlinedVector<DirectorySlot, kKeptTogetherMax>;

uint8_t BitsWith(uint8_t bits, uint8_t mask, uint8_t of) {
  return static_cast<uint8_t>((bits & static_cast<uint8_t>(~mask)) | (of & mask));
}

}  // namespace

// --- The instant ---------------------------------------------------------------------------------

void Table::PrepareBaseline() {
  if (spare_baseline_ == nullptr) spare_baseline_ = std::make_unique<Baseline>(arena_);
}

void Table::SetBaseline() {
  LS_CHECK(!dropped_ && !set_aside_ && mirror_ == nullptr && !pledged_bytes_,
           "a table that stands is marked, between its writes");
  LS_CHECK(truncated_components_.empty(), "a table of lists is not marked");
  LeaveBaseline();
  LS_CHECK(spare_baseline_ != nullptr, "it was prepared");
  baseline_ = std::move(spare_baseline_);
  baseline_->foreign_timestamps = foreign_timestamps_;
  baseline_->past_unknown = past_unknown_;
  baseline_->grace = context_.grace;
  baseline_->gc_grace_seconds = schema_.gc_grace_seconds;
  baseline_epoch_ = ++epoch_;
  // What goes may come back, and is not to want memory then.
  directory_.set_keeps_memory(true);
  baseline_->truncated.set_keeps_memory(true);
}

void Table::ForgetBaseline() {
  LeaveBaseline();
  spare_baseline_.reset();
}

// Nobody goes back to it any more.
void Table::LeaveBaseline() {
  baseline_epoch_ = 0;
  directory_.set_keeps_memory(false);
  if (baseline_ == nullptr) return;
  if (baseline_->empty()) {
    if (spare_baseline_ == nullptr) spare_baseline_ = std::move(baseline_);
    baseline_.reset();
    return;
  }
  baseline_->next = std::move(left_);
  left_ = std::move(baseline_);
}

void Table::SetAside() {
  LS_CHECK(baseline_epoch_ != 0, "what is set aside is to come back");
  LS_CHECK(!pledged_bytes_ && mirror_ == nullptr, "no table goes within a batch or a copy");
  TakePart(false);
  set_aside_ = true;
  ++schema_.id.generation;
  id_ = schema_.id;
}

// --- Changes since -------------------------------------------------------------------------------

bool Table::IsOfBaselineSlowly(uint64_t reference) {
  const Partition handle(context_, reference);
  return handle.epoch() < baseline_epoch_ && !IsTruncated(handle);
}

size_t Table::KeepBytes(uint64_t reference) {
  return Partition(context_, reference).CopyBytes() + baseline_->kept.ReserveBytesForInsert();
}

// A change begins: from here on the partition is a copy.
void Table::KeepBefore(DirectorySlot* slot) {
  uint64_t before = slot->reference;
  Partition handle(context_, before);
  const uint64_t copy = handle.Copy(epoch_);
  slot->reference = copy;
  // Its entry in the wheel is the copy's.
  handle.set_wheel_when(0);
  CountAside(handle);
  baseline_->kept.Insert(slot->address, handle.key(), before);
}

size_t Table::NoteCameBytes(const PartitionRef& partition) const {
  return baseline_->kept.ReserveBytesForInsert() +
         memory::Arena::BlockBytes(LargePartition::BytesFor(partition.key.size()));
}

// A partition comes where perhaps none was.
void Table::NoteCame(const PartitionRef& partition) {
  Directory& kept = baseline_->kept;
  if (kept.Find(partition.address, partition.key) != nullptr) return;
  const uint64_t none = Partition::Create(context_, partition.key, baseline_epoch_, 0);
  kept.Insert(partition.address, Partition::KeyOf(none), none);
}

// A partition has left the directory.
void Table::KeepOrBury(uint64_t address, uint64_t reference) {
  Partition handle(context_, reference);
  Directory& kept = baseline_->kept;
  if (IsOfBaselineSlowly(reference) && !handle.empty()) {
    handle.set_wheel_when(0);
    CountAside(handle);
    kept.Insert(address, handle.key(), reference);
    return;
  }
  // There is as little as there was. Not of what was truncated: that may have had another one that
  // came since.
  if (!baseline_->has_truncated) {
    if (const DirectorySlot* const none = kept.Find(address, handle.key())) {
      uint64_t own = none->reference;
      if (Partition(context_, own).empty()) {
        kept.Erase(address, handle.key());
        Bury(own);
      }
    }
  }
  Bury(reference);
}

void Table::CountAside(const Partition& partition) {
  rows_aside_ += partition.row_count();
  tombstones_aside_ += partition.tombstone_counts();
}

void Table::UncountAside(const Partition& partition) {
  rows_aside_ -= partition.row_count();
  tombstones_aside_ -= partition.tombstone_counts();
}

TombstoneCounts Table::TombstonesOfDead() {
  TombstoneCounts counts;
  for (const LargePartition* dead = dead_; dead != nullptr; dead = dead->next_dead) {
    uint64_t reference = reinterpret_cast<uint64_t>(dead) | 1;
    counts += Partition(context_, reference).tombstone_counts();
  }
  return counts;
}

uint64_t Table::RowsInDirectory() const {
  uint64_t rows = context_.rows - rows_aside_;
  for (const LargePartition* dead = dead_; dead != nullptr; dead = dead->next_dead) {
    rows -= dead->row_count;
  }
  return rows;
}

// All that there is changes places with what was truncated.
void Table::SwapTruncated() {
  Baseline& before = *baseline_;
  const uint64_t rows = RowsInDirectory();
  TombstoneCounts tombstones = context_.held;
  tombstones -= tombstones_aside_;
  tombstones -= TombstonesOfDead();
  directory_.Swap(before.truncated);
  wheel_.Swap(before.truncated_wheel);
  if (cache_ != nullptr) {
    cache_->probation.Swap(before.truncated_probation);
    std::swap(cache_->on_probation, before.truncated_on_probation);
  }
  rows_aside_ += rows;
  rows_aside_ -= std::exchange(before.truncated_rows, rows);
  tombstones_aside_ += tombstones;
  tombstones_aside_ -= std::exchange(before.truncated_tombstones, tombstones);
}

void Table::TruncateSinceBaseline() {
  Baseline& before = *baseline_;
  if (before.has_truncated) return;
  const bool takes_part = cache_ != nullptr && cache_->takes_part;
  TakePart(false);
  before.has_truncated = true;
  before.truncated_before = truncated_before_;
  before.was_truncating = pass_.active;
  SwapTruncated();
  TakePart(takes_part);
}

// --- Back ----------------------------------------------------------------------------------------

bool Table::ReserveReturn() {
  LS_CHECK(baseline_epoch_ != 0 && spare_baseline_ != nullptr, "it was prepared");
  // Timers of what comes back: at worst each has a chunk of its own.
  constexpr size_t kTimerBytes = 64;
  constexpr size_t kHeadsBytes = 4096;
  const size_t kept = baseline_->kept.size();
  const size_t bytes = kept * kTimerBytes + kHeadsBytes;
  if (kept == 0 || arena_.Reserve(bytes, memory::MemoryBudget::Purpose::kFinish)) return true;
  // Where only the limit says no: going back gives back more than it takes, and may pass it meanwhile.
  if (arena_.refuses()) return false;
  arena_.PrepareNotes(bytes);
  return true;
}

void Table::ReturnToBaseline(int64_t now_seconds) {
  LS_CHECK(!dropped_ && mirror_ == nullptr && !pledged_bytes_ && !redeeming_,
           "a table goes back between its writes");
  Baseline& before = *baseline_;
  const bool takes_part = cache_ != nullptr && cache_->takes_part;
  TakePart(false);
  if (before.has_truncated) {
    SwapTruncated();
    truncated_before_ = before.truncated_before;
    pass_ = {};
    if (before.was_truncating) pass_ = {true, epoch_, 0};
  }
  foreign_timestamps_ = before.foreign_timestamps;
  past_unknown_ = before.past_unknown;
  context_.grace = before.grace;
  schema_.gc_grace_seconds = before.gc_grace_seconds;
  wheel_.FollowBack(now_seconds);
  TakeBackInPlace();
  TakeBackTheOthers();
  set_aside_ = false;
  marks_.NoteAll();
  TakePart(takes_part);
  if (before.empty()) return;
  // The instant stays, with nothing changed since; what came after it is taken apart in slices.
  std::unique_ptr<Baseline> fresh = std::move(spare_baseline_);
  fresh->foreign_timestamps = before.foreign_timestamps;
  fresh->past_unknown = before.past_unknown;
  fresh->grace = before.grace;
  fresh->gc_grace_seconds = before.gc_grace_seconds;
  fresh->truncated.set_keeps_memory(true);
  baseline_->next = std::move(left_);
  left_ = std::move(baseline_);
  baseline_ = std::move(fresh);
}

// Those whose keys have a partition: it goes, or changes places with what was kept. Some together, so
// that their cache misses overlap: all lanes wait for it.
void Table::TakeBackInPlace() {
  constexpr size_t kTogether = 16;
  absl::InlinedVector<DirectorySlot*, kTogether> group;
  const auto take_back = [&] {
    for (const DirectorySlot* kept : group) {
      if (const uint64_t later = directory_.ReferenceAt(kept->address)) {
        PrefetchLine(Partition::BlockOf(later));
      }
    }
    for (DirectorySlot* kept : group) TakeBackInPlace(*kept);
    group.clear();
  };
  baseline_->kept.ScanFrom(0, [&](DirectorySlot& kept) {
    PrefetchLine(Partition::BlockOf(kept.reference));
    directory_.PrefetchSlot(kept.address);
    group.push_back(&kept);
    if (group.size() == kTogether) take_back();
    return true;
  });
  take_back();
}

void Table::TakeBackInPlace(DirectorySlot& kept) {
  const std::string_view key = Partition::KeyOf(kept.reference);
  DirectorySlot* const slot = directory_.Find(kept.address, key);
  if (slot == nullptr) return;
  uint64_t later = slot->reference;
  Partition handle(context_, later);
  Partition then(context_, kept.reference);
  if (handle.epoch() < baseline_epoch_) {
    LS_CHECK(then.empty(), "(1) what was kept is not there, too");
    return;
  }
  const uint32_t when = handle.wheel_when();
  const uint8_t bits = handle.cache_bits();
  if (then.empty()) {
    if (when != 0) wheel_.NoteStale();
    if (cache_ != nullptr && (bits & cache_bits::kProbation) != 0) NoteOnProbation(-1);
    directory_.Erase(kept.address, key);
    Bury(later);
    return;
  }
  UncountAside(then);
  CountAside(handle);
  handle.set_wheel_when(0);
  then.set_wheel_when(when);
  constexpr uint8_t kPlace = cache_bits::kProbation | cache_bits::kSweep;
  then.set_cache_bits(BitsWith(then.cache_bits(), kPlace, bits));
  std::swap(slot->reference, kept.reference);
  Partition back(context_, slot->reference);
  ScheduleEvent(kept.address, back);
}

// Those whose keys have none. The directory has been as large: it does not grow for them.
void Table::TakeBackTheOthers() {
  Directory& kept = baseline_->kept;
  uint64_t from = 0;
  for (bool more = true; more;) {
    KeptSlots gathered;
    more = false;
    kept.ScanFrom(from, [&](DirectorySlot& slot) {
      // What was gathered is gone by then, also of this address.
      if (gathered.size() == kKeptTogetherMax) {
        from = slot.address;
        more = true;
        return false;
      }
      const Partition handle(context_, slot.reference);
      if (handle.epoch() < baseline_epoch_) gathered.push_back(slot);
      return true;
    });
    for (DirectorySlot& slot : gathered) {
      Partition handle(context_, slot.reference);
      kept.Erase(slot.address, handle.key());
      UncountAside(handle);
      if (cache_ != nullptr) {
        handle.set_cache_bits(BitsWith(handle.cache_bits(), cache_bits::kProbation, 0));
      }
      ScheduleEvent(slot.address, handle);
      directory_.Insert(slot.address, handle.key(), slot.reference);
    }
  }
}

// --- What nobody goes back to --------------------------------------------------------------------

size_t Table::ReclaimLeft(size_t budget) {
  size_t units = 0;
  while (left_ != nullptr && units < budget) {
    Directory& directory = left_->kept.empty() ? left_->truncated : left_->kept;
    if (directory.empty()) {
      left_ = std::move(left_->next);  // with its timers
      ++units;
      continue;
    }
    KeptSlots gathered;
    // Where the last ones were: slots that are emptied stay.
    directory.ScanFrom(left_->left_from, [&](DirectorySlot& slot) {
      gathered.push_back(slot);
      return gathered.size() < std::min(kKeptTogetherMax, budget - units);
    });
    for (DirectorySlot& slot : gathered) {
      directory.Erase(slot.address, Partition::KeyOf(slot.reference));
      UncountAside(Partition(context_, slot.reference));
      Bury(slot.reference);
    }
    left_->left_from = directory.empty() ? 0 : gathered.back().address;
    units += gathered.size();
  }
  return units;
}

// --- For compaction, and checks ------------------------------------------------------------------

DirectorySlot* Table::FindKeptBlock(uint64_t address, std::string_view key, const void* block) {
  const auto find_in = [&](Directory& directory) -> DirectorySlot* {
    DirectorySlot* const slot = directory.Find(address, key);
    if (slot == nullptr || Partition::BlockOf(slot->reference) != block) return nullptr;
    return slot;
  };
  const auto find_of = [&](Baseline& baseline) {
    DirectorySlot* const slot = find_in(baseline.kept);
    return slot != nullptr ? slot : find_in(baseline.truncated);
  };
  DirectorySlot* found = baseline_ == nullptr ? nullptr : find_of(*baseline_);
  for (Baseline* left = left_.get(); left != nullptr && found == nullptr; left = left->next.get()) {
    found = find_of(*left);
  }
  return found;
}

// Returns the rows of all that is kept.
uint64_t Table::VerifyBaseline(size_t& pinned, TombstoneCounts& tombstones) {
  uint64_t rows = 0;
  const auto verify = [&](Directory& directory) {
    directory.Verify();
    directory.ScanFrom(0, [&](DirectorySlot& slot) {
      const Partition partition(context_, slot.reference);
      LS_CHECK(address_of_(partition.key()) == slot.address, "what is kept stands at its address");
      pinned += IsPinned(&slot) ? 1 : 0;
      if (!partition.empty()) rows += partition.Verify(&tombstones);
      return true;
    });
  };
  for (Baseline* left = left_.get(); left != nullptr; left = left->next.get()) {
    verify(left->kept);
    verify(left->truncated);
    left->truncated_wheel.Verify();
  }
  if (baseline_ == nullptr) {
    LS_CHECK(baseline_epoch_ == 0, "there is no epoch without a baseline");
    return rows;
  }
  Baseline& before = *baseline_;
  verify(before.kept);
  verify(before.truncated);
  before.truncated_wheel.Verify();
  LS_CHECK(before.has_truncated || (before.truncated.empty() && before.truncated_rows == 0),
           "what was truncated is known to be");
  const auto is_then = [&](Directory& directory, uint64_t address, std::string_view key) {
    const DirectorySlot* const slot = directory.Find(address, key);
    uint64_t reference = slot == nullptr ? 0 : slot->reference;
    return slot != nullptr && Partition(context_, reference).epoch() < baseline_epoch_;
  };
  before.kept.ScanFrom(0, [&](DirectorySlot& slot) {
    const Partition partition(context_, slot.reference);
    if (partition.empty()) return true;
    LS_CHECK(partition.epoch() < baseline_epoch_, "(1) what was kept is of before");
    LS_CHECK(!is_then(directory_, slot.address, partition.key()) &&
                 !is_then(before.truncated, slot.address, partition.key()),
             "(1) it is there once");
    return true;
  });
  directory_.ScanFrom(0, [&](DirectorySlot& slot) {
    const Partition partition(context_, slot.reference);
    if (partition.epoch() >= baseline_epoch_) {
      LS_CHECK(before.kept.Find(slot.address, partition.key()) != nullptr,
               "(2) what came since is known to have come");
    } else {
      LS_CHECK(!before.has_truncated, "(3) a truncation takes all that was there");
    }
    return true;
  });
  return rows;
}

}  // namespace liststore::storage
