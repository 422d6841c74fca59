#include "engine/storage/ttl_wheel.h"

#include <bit>
#include <utility>

namespace liststore::storage {

uint32_t TtlWheel::SlotBegin(int level, int slot) const {
  const int shift = level * kDigitBits;
  const uint64_t above = uint64_t{current_} >> (shift + kDigitBits) << (shift + kDigitBits);
  return static_cast<uint32_t>(above | (static_cast<uint64_t>(slot) << shift));
}

uint32_t TtlWheel::SlotEnd(int level, int slot) const {
  return SlotBegin(level, slot) + ((uint32_t{1} << (level * kDigitBits)) - 1);
}

// --- Scheduling ----------------------------------------------------------------------------------

void TtlWheel::Schedule(const Entry& entry) {
  if (heads_ == nullptr) AllocateHeads();
  Push(ListFor(entry.when_seconds), entry);
  MarkOccupied(entry.when_seconds);
  ++size_;
}

TtlWheel::Chunk*& TtlWheel::ListFor(uint32_t when) {
  if (when <= current_) return pending_;
  const int level = LevelOf(when, current_);
  const int slot = SlotOf(when, level);
  LS_DCHECK(slot > SlotOf(current_, level), "a later time has the greater digit");
  return Head(level, slot);
}

void TtlWheel::MarkOccupied(uint32_t when) {
  if (when <= current_) return;
  const int level = LevelOf(when, current_);
  occupied_[level] |= uint64_t{1} << SlotOf(when, level);
  levels_ |= uint32_t{1} << level;
}

void TtlWheel::MarkEmpty(int level, int slot) {
  occupied_[level] &= ~(uint64_t{1} << slot);
  if (occupied_[level] == 0) levels_ &= ~(uint32_t{1} << level);
}

// --- Chunks --------------------------------------------------------------------------------------

void TtlWheel::Push(Chunk*& head, const Entry& entry) {
  if (NeedsChunk(head)) {
    const uint32_t capacity = NextCapacity(head);
    auto* chunk =
        static_cast<Chunk*>(arena_.Allocate(ChunkBytes(capacity), memory::Arena::Mobility::kFixed));
    chunk->next = head;
    chunk->count = 0;
    chunk->capacity = capacity;
    bytes_ += memory::Arena::BlockBytes(ChunkBytes(capacity));
    head = chunk;
  }
  head->entries[head->count++] = entry;
}

TtlWheel::Entry TtlWheel::Pop(Chunk*& head) {
  LS_DCHECK(head != nullptr && head->count > 0, "no chunk is empty");
  const Entry entry = head->entries[--head->count];
  if (head->count == 0) FreeHead(head);
  return entry;
}

void TtlWheel::FreeHead(Chunk*& head) {
  Chunk* chunk = head;
  UnlinkHead(head);
  bytes_ -= memory::Arena::BlockBytes(ChunkBytes(chunk->capacity));
  arena_.Free(chunk, ChunkBytes(chunk->capacity));
}

// Takes the first chunk out of its list. A pass of Sweep that stands in it goes on with the next:
// what lay in front is gone.
void TtlWheel::UnlinkHead(Chunk*& head) {
  if (head == sweep_.chunk) {
    sweep_.chunk = head->next;
    sweep_.index = 0;
  }
  head = head->next;
}

void TtlWheel::AllocateHeads() {
  heads_ = static_cast<Chunk**>(arena_.Allocate(kHeadsBytes, memory::Arena::Mobility::kFixed));
  std::fill_n(heads_, kHeadsBytes / sizeof(Chunk*), nullptr);
  bytes_ += memory::Arena::BlockBytes(kHeadsBytes);
}

void TtlWheel::ReleaseHeads() {
  if (heads_ == nullptr) return;
  LS_CHECK(levels_ == 0 && pending_ == nullptr, "slots are released when all are empty");
  arena_.Free(heads_, kHeadsBytes);
  bytes_ -= memory::Arena::BlockBytes(kHeadsBytes);
  heads_ = nullptr;
}

void TtlWheel::Clear() {
  sweep_ = SweepCursor{};
  while (pending_ != nullptr) FreeHead(pending_);
  while (levels_ != 0) {
    const int level = std::countr_zero(levels_);
    const int slot = std::countr_zero(occupied_[level]);
    while (Head(level, slot) != nullptr) FreeHead(Head(level, slot));
    MarkEmpty(level, slot);
  }
  ReleaseHeads();
  size_ = stale_ = stale_since_sweep_ = 0;
  LS_CHECK(bytes_ == 0, "everything allocated was freed");
}

// --- Advancing -----------------------------------------------------------------------------------

bool TtlWheel::HasDue(int64_t now_seconds) const {
  const uint32_t now = ClampTime(now_seconds);
  if (now < current_) return size_ > 0 && current_ - now > kStepBackSecondsMax;
  if (pending_ != nullptr) return true;
  if (levels_ == 0) return false;
  const int level = std::countr_zero(levels_);
  return SlotBegin(level, std::countr_zero(occupied_[level])) <= now;
}

uint32_t TtlWheel::BehindSeconds(int64_t now_seconds) const {
  const uint32_t now = ClampTime(now_seconds);
  if (now < current_ || !HasDue(now_seconds)) return 0;
  if (pending_ != nullptr) {
    const uint32_t when = pending_->entries[pending_->count - 1].when_seconds;
    return now - std::min(now, when);
  }
  // What lies in it is due when it is over; before that some of it may be.
  const int level = std::countr_zero(levels_);
  return now - std::min(now, SlotEnd(level, std::countr_zero(occupied_[level])));
}

std::optional<int64_t> TtlWheel::NextWhen() const {
  if (size_ == 0) return std::nullopt;
  const auto earliest_of = [](const Chunk* chunk) {
    uint32_t earliest = UINT32_MAX;
    for (; chunk != nullptr; chunk = chunk->next) {
      for (uint32_t i = 0; i < chunk->count; ++i) {
        earliest = std::min(earliest, chunk->entries[i].when_seconds);
      }
    }
    return earliest;
  };
  const uint32_t pending = earliest_of(pending_);
  if (levels_ == 0) return pending;
  const int level = std::countr_zero(levels_);
  const int slot = std::countr_zero(occupied_[level]);
  // All entries may be later than their slot (KeepTogether), and the next slot's earlier than they.
  const uint32_t in_slot = earliest_of(Head(level, slot));
  return std::min(pending, in_slot <= SlotEnd(level, slot) ? in_slot : SlotBegin(level, slot));
}

// Makes the earliest slot pending if it has begun at `now`, and moves the time on to `now` or the
// slot's end. Both keep invariant (1): the time passes no slot that stays, so that the highest
// digit in which one differs from it remains the same.
bool TtlWheel::TakeNextSlot(uint32_t now) {
  LS_DCHECK(pending_ == nullptr, "one slot is pending at a time");
  if (levels_ == 0) {
    current_ = now;
    return false;
  }
  const int level = std::countr_zero(levels_);
  const int slot = std::countr_zero(occupied_[level]);
  LS_DCHECK(slot > SlotOf(current_, level), "an occupied slot is later than the current time");
  if (SlotBegin(level, slot) > now) {
    current_ = now;
    return false;
  }
  const uint32_t end = SlotEnd(level, slot);
  pending_ = Head(level, slot);
  Head(level, slot) = nullptr;
  MarkEmpty(level, slot);
  current_ = std::min(now, end);
  // A pass that stands in this slot leaves it: pending_ is looked at after each level.
  if (sweep_.active && sweep_.level == level && sweep_.slot == slot) sweep_.chunk = nullptr;
  return true;
}

// Moves the pending entry that is next, and not due, to its slot.
void TtlWheel::MovePending(uint32_t now) {
  const Entry& entry = pending_->entries[pending_->count - 1];
  Chunk*& list = ListFor(entry.when_seconds);
  if (NeedsChunk(list) &&
      !arena_.Reserve(ChunkBytes(NextCapacity(list)), memory::MemoryBudget::Purpose::kFinish)) {
    KeepTogether(now);
    return;
  }
  Push(list, entry);
  MarkOccupied(entry.when_seconds);
  Pop(pending_);
}

// Expiry must go on when memory is short, for it is what gives memory back. Without a chunk to move
// an entry to, the whole pending chunk moves to the slot of its earliest entry, where the others
// are too early, which costs no more than a look at them when that slot's time comes. Entries that
// are due come next instead.
void TtlWheel::KeepTogether(uint32_t now) {
  Chunk* chunk = pending_;
  Entry& next = chunk->entries[chunk->count - 1];
  const auto earlier = [](const Entry& a, const Entry& b) {
    return a.when_seconds < b.when_seconds;
  };
  Entry& earliest = *std::min_element(chunk->entries, chunk->entries + chunk->count, earlier);
  if (earliest.when_seconds <= now) {
    std::swap(earliest, next);
    return;
  }
  UnlinkHead(pending_);
  Chunk*& list = ListFor(earliest.when_seconds);
  chunk->next = list;
  list = chunk;
  MarkOccupied(earliest.when_seconds);
}

// False: `now` is a little before the time reached, and there is nothing to do.
bool TtlWheel::FaceTime(uint32_t now) {
  if (now >= current_) return true;
  if (current_ - now <= kStepBackSecondsMax) return false;
  StepBack(now);
  return true;
}

// All entries become pending: their places follow from a time that no longer holds.
void TtlWheel::StepBack(uint32_t now) {
  while (levels_ != 0) {
    const int level = std::countr_zero(levels_);
    const int slot = std::countr_zero(occupied_[level]);
    Chunk* tail = Head(level, slot);
    while (tail->next != nullptr) tail = tail->next;
    tail->next = pending_;
    pending_ = Head(level, slot);
    Head(level, slot) = nullptr;
    MarkEmpty(level, slot);
  }
  current_ = now;
  if (sweep_.active) BeginSweep();
}

void TtlWheel::Swap(TtlWheel& other) {
  LS_CHECK(&arena_ == &other.arena_, "entries stay in their arena");
  std::swap(current_, other.current_);
  std::swap(levels_, other.levels_);
  std::swap(pending_, other.pending_);
  std::swap(size_, other.size_);
  std::swap(bytes_, other.bytes_);
  std::swap(stale_, other.stale_);
  std::swap(stale_since_sweep_, other.stale_since_sweep_);
  std::swap(sweep_, other.sweep_);
  std::swap(occupied_, other.occupied_);
  std::swap(heads_, other.heads_);
}

// --- Sweeping ------------------------------------------------------------------------------------
//
// A pass goes from the coarsest level to the finest, because entries move that way, and looks at
// pending_ after each level, because what a slot of that level held may have been there when its
// turn came. So an entry that was there when the pass began is looked at, or is handed out before.
// (Entries that were kept together for want of memory can slip through; the next pass has them.)

void TtlWheel::NoteStaleHandedOut() {
  if (stale_ > 0) {
    --stale_;
  } else if (stale_since_sweep_ > 0) {
    --stale_since_sweep_;
  }
}

void TtlWheel::BeginSweep() {
  sweep_ = SweepCursor{.active = true, .level = kLevels - 1, .slot = -1};
}

void TtlWheel::EndSweep() {
  sweep_ = SweepCursor{};
  stale_ = std::min(stale_since_sweep_, size_);
  stale_since_sweep_ = 0;
}

// Moves on to the next list of the pass that has a chunk.
bool TtlWheel::NextSweepList() {
  while (true) {
    if (sweep_.slot == kSlots) {
      if (sweep_.level == 0) return false;
      --sweep_.level;
      sweep_.slot = -1;
    }
    const int first = sweep_.slot + 1;
    const uint64_t ahead = first < kSlots ? occupied_[sweep_.level] >> first << first : 0;
    sweep_.slot = ahead != 0 ? std::countr_zero(ahead) : kSlots;
    sweep_.chunk = ahead != 0 ? Head(sweep_.level, sweep_.slot) : pending_;
    sweep_.index = 0;
    if (sweep_.chunk != nullptr) return true;
  }
}

// Moves the cursor to an entry that is there; false when the pass is over.
bool TtlWheel::FaceSweepEntry() {
  while (sweep_.chunk != nullptr && sweep_.index >= sweep_.chunk->count) {
    sweep_.chunk = sweep_.chunk->next;
    sweep_.index = 0;
  }
  return sweep_.chunk != nullptr || NextSweepList();
}

// Fills the hole with the last entry of the list's head, which was looked at before or comes next.
void TtlWheel::DropSweepEntry() {
  const bool in_pending = sweep_.slot == kSlots;
  Chunk*& head = in_pending ? pending_ : Head(sweep_.level, sweep_.slot);
  sweep_.chunk->entries[sweep_.index] = head->entries[head->count - 1];
  Pop(head);
  --size_;
  if (head == nullptr && !in_pending) MarkEmpty(sweep_.level, sweep_.slot);
}

// --- Checking ------------------------------------------------------------------------------------

void TtlWheel::Verify() const {
  size_t entries = 0;
  size_t bytes = 0;
  const auto count = [&](const Chunk* chunk, auto&& check) {
    for (; chunk != nullptr; chunk = chunk->next) {
      LS_CHECK(chunk->count > 0 && chunk->count <= chunk->capacity,
               "no chunk is empty or overfull");
      for (uint32_t i = 0; i < chunk->count; ++i) check(chunk->entries[i].when_seconds);
      entries += chunk->count;
      bytes += memory::Arena::BlockBytes(ChunkBytes(chunk->capacity));
    }
  };
  count(pending_, [](uint32_t) {});
  LS_CHECK(heads_ != nullptr || size_ == 0, "entries have slots to go to");
  if (heads_ != nullptr) bytes += memory::Arena::BlockBytes(kHeadsBytes);
  for (int level = 0; level < kLevels && heads_ != nullptr; ++level) {
    LS_CHECK((occupied_[level] != 0) == ((levels_ >> level & 1) != 0),
             "a level's bit tells its state");
    for (int slot = 0; slot < SlotsOf(level); ++slot) {
      const Chunk* head = Head(level, slot);
      LS_CHECK((head != nullptr) == ((occupied_[level] >> slot & 1) != 0),
               "a slot's bit tells its state");
      if (head == nullptr) continue;
      const uint32_t begin = SlotBegin(level, slot);
      LS_CHECK(begin > current_ && LevelOf(begin, current_) == level,
               "a slot is ahead, in its level");
      count(head,
            [begin](uint32_t when) { LS_CHECK(when >= begin, "no slot is late for an entry"); });
    }
  }
  LS_CHECK(entries == size_, "every entry is counted once");
  LS_CHECK(bytes == bytes_, "every block is counted once");
}

}  // namespace liststore::storage
