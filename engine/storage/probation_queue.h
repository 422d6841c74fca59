// ProbationQueue: partitions that came lately and have not been looked at by the eviction, oldest
// first, as addresses.
//
// One per table and lane, used by the lane's holder only. It holds entries, not partitions: whether
// a partition is on probation says its own bit (cache_bits::kProbation), and for each partition
// with the bit there is an entry. An entry without such a partition is stale and is dropped when
// its turn comes. A partition that went and came back while its old entry waited has two; then the
// older counts.
//
// Entries of the tables of a lane have an order in common: a push has a number, of a count that all
// of them share. A chunk remembers it of its first and its last entry, and what lies between them is
// interpolated. The number wraps around, so that 2^32 pushes are told apart.
//
// A FIFO of chunks of 125 entries in the arena: 8 bytes an entry and 24 a chunk. Push and Pop O(1).
// Stale entries stay below the live ones and 125: past that, each push looks at two entries
// (Sweep), until all have been seen once.
#ifndef LISTSTORE_ENGINE_STORAGE_PROBATION_QUEUE_H_
#define LISTSTORE_ENGINE_STORAGE_PROBATION_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/base/check.h"
#include "engine/memory/arena.h"
#include "engine/storage/partition/leaf.h"

namespace liststore::storage {

class ProbationQueue {
 public:
  explicit ProbationQueue(memory::Arena& arena) : arena_(arena) {}
  ~ProbationQueue() { Clear(); }
  ProbationQueue(const ProbationQueue&) = delete;
  ProbationQueue& operator=(const ProbationQueue&) = delete;

  // What the next kPushesPerReservation pushes may take, in one block; 0: nothing.
  size_t ReserveBytes() const {
    const bool fits = last_ != nullptr && last_->end + kPushesPerReservation <= kEntries;
    return fits ? 0 : memory::Arena::BlockBytes(sizeof(Chunk));
  }
  // A push of a new partition, and those of the sweep that goes with it.
  static constexpr size_t kPushesPerReservation = 3;

  void Push(uint64_t address, uint32_t push);
  // The oldest entry; the queue is not empty, here and below.
  uint64_t Pop();
  // About the number of its push.
  uint32_t OldestPush() const {
    const Chunk& chunk = *first_;
    const auto span = static_cast<int32_t>(chunk.last_push - chunk.first_push);
    if (span == 0) return chunk.first_push;
    const int64_t part = int64_t{span} * chunk.begin / std::max(chunk.end - 1, 1);
    return chunk.first_push + static_cast<uint32_t>(part);
  }

  // Entries that stand for no partition may be so many that a sweep pays.
  bool WantsSweep(size_t live) const { return sweeping() || size_ > 2 * live + kEntries; }
  bool sweeping() const { return left_to_sweep_ != 0; }
  // The value of cache_bits::kSweep that says "seen by the last sweep", and what new ones begin
  // with.
  uint8_t sweep_bit() const { return sweep_bit_; }
  // Looks at up to two entries of the sweep under way, or begins one. `live(address)`: whether a
  // partition stands behind it that the sweep has not seen yet, which is seen from then on. Such
  // entries go to the back in their order and keep their numbers, the others go. The pushes have
  // been reserved.
  template <typename Live>
  void Sweep(Live&& live) {
    if (!sweeping()) {
      left_to_sweep_ = size_;
      sweep_bit_ ^= kSweepMask;
    }
    for (int i = 0; i < 2 && sweeping(); ++i) {
      const uint32_t push = OldestPush();
      const uint64_t address = Pop();
      if (live(address)) Push(address, push);
    }
  }

  // Up to `count` of the oldest entries, fewer at the end of a chunk.
  template <typename Visitor>
  void ForOldest(size_t count, Visitor&& visit) const {
    if (first_ == nullptr) return;
    for (uint32_t i = first_->begin; i < first_->end && count != 0; ++i, --count) {
      visit(first_->entries[i]);
    }
  }

  void Clear();
  // Exchanges all entries with those of another queue of the same arena. O(1).
  void Swap(ProbationQueue& other) {
    LS_CHECK(&arena_ == &other.arena_, "entries stay in their arena");
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
    std::swap(left_to_sweep_, other.left_to_sweep_);
    std::swap(sweep_bit_, other.sweep_bit_);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  template <typename Visitor>
  void ForEach(Visitor&& visit) const {
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
      for (uint32_t i = chunk->begin; i < chunk->end; ++i) visit(chunk->entries[i]);
    }
  }
  void Verify() const;

 private:
  static constexpr uint32_t kEntries = 125;
  static constexpr uint8_t kSweepMask = cache_bits::kSweep;
  struct Chunk {
    Chunk* next;
    uint32_t first_push;
    uint32_t last_push;
    uint16_t begin;
    uint16_t end;
    uint64_t entries[kEntries];
  };
  static_assert(sizeof(Chunk) == 1024, "a chunk is a size class of the arena");

  void FreeFirst();

  memory::Arena& arena_;
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  size_t size_ = 0;
  size_t left_to_sweep_ = 0;  // entries at the front that the sweep has not seen
  uint8_t sweep_bit_ = 0;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PROBATION_QUEUE_H_
