// TtlWheel: which partitions have something to expire, by the second of their earliest expiry.
//
// One per table and lane, used by the lane's holder only. It knows no clock: `now` is an argument.
// It holds entries, not partitions: an entry whose partition is gone or was scheduled again is
// stale; the table recognises it when it is handed out, and says so (NoteStale) for Sweep to drop
// such entries.
//
// A hierarchical wheel of one-second ticks: five levels of 64 slots and a top level of 4 take the
// 32 bits of an expiry in six digits of base 64. An entry lies in the level of the highest digit in
// which it differs from the current time, in the slot of that digit; a slot is a list of chunks.
// Occupied slots are bits in a word, so that a jump of the clock by years costs the entries that
// are due or have to move to a finer level, not the ticks between.
//
// Schedule O(1). Advance: one unit per entry handed out or moved to a finer level, at most `budget`
// of them, and may be resumed; an entry moves at most five times. 16.3 B an entry in full chunks of
// 62, 64 B for an entry alone in its slot, 2.6 KiB for the slots while there is an entry.
//
// Invariants (Verify() checks them):
//  (1) an occupied slot begins after current_ and differs from it in its level's digit first;
//  (2) no entry lies in a slot that begins after it;
//  (3) a slot's bit is set exactly when it has a chunk, a level's exactly when it has a slot; no
//      chunk is empty;
//  (4) size() and bytes() count what is there.
#ifndef LISTSTORE_ENGINE_STORAGE_TTL_WHEEL_H_
#define LISTSTORE_ENGINE_STORAGE_TTL_WHEEL_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/check.h"
#include "engine/memory/arena.h"

namespace liststore::storage {

class TtlWheel {
 public:
  struct Entry {
    uint64_t address;        // of the partition, within the lane
    uint32_t when_seconds;   // since the epoch
    uint32_t partition_tag;  // the table's; kept as it is
  };
  static_assert(sizeof(Entry) == 16);

  explicit TtlWheel(memory::Arena& arena) : arena_(arena) {}
  ~TtlWheel() { Clear(); }
  TtlWheel(const TtlWheel&) = delete;
  TtlWheel& operator=(const TtlWheel&) = delete;

  // Adds an entry; one that is due already is handed out by the next Advance. O(1). Cannot fail;
  // takes a chunk of entries at most, and the heads of the lists for the first.
  void Schedule(const Entry& entry);

  // Removes entries with when_seconds <= now and passes them to due(const Entry&), in no particular
  // order, never an earlier one. Stops after `budget` units; returns the units used, less than
  // `budget` when nothing is left to do. `due` may schedule later times, and nothing else.
  //
  // A clock that stepped back by up to kStepBackSecondsMax finds nothing due until it has caught
  // up; further back, all entries are placed again, a unit each.
  //
  // An entry that moves may need a chunk in its new slot. Advance makes reservations for that
  // itself (the caller's does not survive it), and does without when the budget refuses: see
  // KeepTogether.
  template <typename Due>
  size_t Advance(int64_t now_seconds, size_t budget, Due&& due);
  static constexpr uint32_t kStepBackSecondsMax = 60;

  // False: Advance(now) has nothing to do, neither entries to hand out nor to move. O(1).
  bool HasDue(int64_t now_seconds) const;
  // For how long an entry has been due that Advance would hand out or come to next, in seconds: not more
  // than it has, and less by the width of its slot at most. 0 where nothing is due. O(1).
  uint32_t BehindSeconds(int64_t now_seconds) const;
  // The earliest time of all entries, stale ones included. O(entries of the earliest slot).
  std::optional<int64_t> NextWhen() const;

  // An entry has become stale, or a stale one was handed out.
  void NoteStale() { ++(sweep_.active ? stale_since_sweep_ : stale_); }
  void NoteStaleHandedOut();
  // So many entries are stale that a pass over all of them pays: memory stays within twice the live
  // entries.
  bool WantsSweep() const {
    return sweep_.active || stale_ + stale_since_sweep_ > size_ / 2 + kStaleSlack;
  }
  // Drops the entries for which keep(const Entry&) is false, at most `budget` entries looked at in
  // a call. Calls continue one pass, whatever is scheduled and handed out between them; when it
  // ends the entries noted as stale before it began are forgotten. Allocates nothing. Returns the
  // entries looked at.
  template <typename Keep>
  size_t Sweep(size_t budget, Keep&& keep);

  // Drops all entries and all memory. The time stays. O(chunks).
  void Clear();
  // An empty wheel begins again, at a time before all others: entries to come are not held up by
  // how far it was.
  void Restart() {
    LS_CHECK(empty() && pending_ == nullptr, "only an empty wheel begins again");
    current_ = 0;
    stale_ = stale_since_sweep_ = 0;
    sweep_ = SweepCursor{};
  }

  // Exchanges all entries, and how far it is, with another one of the same arena. O(1).
  void Swap(TtlWheel& other);
  // The clock has been set to `now`, which is what counts, however little it is behind. O(chunks)
  // where it is, and all entries are placed again by Advance.
  void FollowBack(int64_t now_seconds) {
    const uint32_t now = ClampTime(now_seconds);
    if (now < current_) StepBack(now);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t stale() const { return stale_ + stale_since_sweep_; }
  size_t bytes() const { return bytes_; }
  void Verify() const;

  static constexpr int kLevels = 6;

 private:
  static constexpr int kDigitBits = 6;
  static constexpr int kSlots = 1 << kDigitBits;
  static constexpr int kTopSlots = 4;  // 32 bits are five digits and two bits
  static constexpr size_t kHeadsBytes = ((kLevels - 1) * kSlots + kTopSlots) * sizeof(void*);
  static constexpr size_t kStaleSlack = 64;
  static constexpr uint32_t kChunkEntriesMin = 3;   // 64 B with its header, then 128, 256, 512
  static constexpr uint32_t kChunkEntriesMax = 62;  // 1008 B, a size class of the arena

  struct Chunk {
    Chunk* next;
    uint32_t count;
    uint32_t capacity;
    Entry entries[];
  };
  static_assert(sizeof(Chunk) == 16, "a chunk of 3 entries takes 64 B");

  // Where a pass of Sweep stands. Slot kSlots stands for pending_.
  struct SweepCursor {
    bool active = false;
    int level = 0;
    int slot = 0;
    Chunk* chunk = nullptr;  // in the list of (level, slot); null: go to the next list
    uint32_t index = 0;
  };

  static int LevelOf(uint32_t when, uint32_t current) {
    return (31 - std::countl_zero(when ^ current)) / kDigitBits;
  }
  static int SlotOf(uint32_t when, int level) {
    return static_cast<int>(when >> (level * kDigitBits)) & (kSlots - 1);
  }
  static int SlotsOf(int level) { return level == kLevels - 1 ? kTopSlots : kSlots; }
  static size_t ChunkBytes(uint32_t capacity) { return sizeof(Chunk) + capacity * sizeof(Entry); }
  static uint32_t ClampTime(int64_t seconds) {
    return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, UINT32_MAX));
  }
  // First and last second of an occupied slot: it shares the digits above with current_.
  uint32_t SlotBegin(int level, int slot) const;
  uint32_t SlotEnd(int level, int slot) const;

  Chunk*& Head(int level, int slot) { return heads_[level * kSlots + slot]; }
  Chunk* Head(int level, int slot) const { return heads_[level * kSlots + slot]; }
  // The list in which an entry of this time belongs.
  Chunk*& ListFor(uint32_t when);
  void MarkOccupied(uint32_t when);
  void MarkEmpty(int level, int slot);

  static bool NeedsChunk(const Chunk* head) {
    return head == nullptr || head->count == head->capacity;
  }
  static uint32_t NextCapacity(const Chunk* head) {
    return head == nullptr ? kChunkEntriesMin : std::min(head->capacity * 2 + 1, kChunkEntriesMax);
  }
  void Push(Chunk*& head, const Entry& entry);
  Entry Pop(Chunk*& head);
  void FreeHead(Chunk*& head);
  void UnlinkHead(Chunk*& head);
  void AllocateHeads();
  void ReleaseHeads();

  bool TakeNextSlot(uint32_t now);
  bool FaceTime(uint32_t now);
  void StepBack(uint32_t now);
  void MovePending(uint32_t now);
  void KeepTogether(uint32_t now);

  void BeginSweep();
  void EndSweep();
  bool NextSweepList();
  bool FaceSweepEntry();
  void DropSweepEntry();

  memory::Arena& arena_;
  uint32_t current_ = 0;      // everything in a slot is later
  uint32_t levels_ = 0;       // bit l: level l has an occupied slot
  Chunk* pending_ = nullptr;  // taken out of a slot or due when scheduled: to hand out or to place
  size_t size_ = 0;
  size_t bytes_ = 0;
  size_t stale_ = 0;
  size_t stale_since_sweep_ = 0;  // noted while a pass was under way, which may have missed them
  SweepCursor sweep_;
  std::array<uint64_t, kLevels> occupied_{};  // bit s of level l: Head(l, s) is not null
  Chunk** heads_ = nullptr;                   // of all slots; null while there is no entry
};

template <typename Due>
size_t TtlWheel::Advance(int64_t now_seconds, size_t budget, Due&& due) {
  const uint32_t now = ClampTime(now_seconds);
  if (!FaceTime(now)) return 0;
  size_t used = 0;
  for (; used < budget; ++used) {
    if (pending_ == nullptr && !TakeNextSlot(now)) break;
    if (pending_->entries[pending_->count - 1].when_seconds > now) {
      MovePending(now);
      continue;
    }
    const Entry entry = Pop(pending_);
    --size_;
    due(entry);
  }
  if (size_ == 0) ReleaseHeads();
  return used;
}

template <typename Keep>
size_t TtlWheel::Sweep(size_t budget, Keep&& keep) {
  if (!sweep_.active) BeginSweep();
  size_t used = 0;
  while (used < budget) {
    if (!FaceSweepEntry()) {
      EndSweep();
      break;
    }
    ++used;
    const Entry entry = sweep_.chunk->entries[sweep_.index];
    if (keep(entry)) {
      ++sweep_.index;
    } else {
      DropSweepEntry();
    }
  }
  if (size_ == 0) ReleaseHeads();
  return used;
}

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_TTL_WHEEL_H_
