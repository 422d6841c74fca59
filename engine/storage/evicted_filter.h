// EvictedFilter: which partitions may have been evicted with rows that are not over yet. For tables
// that are all there is: a partition that is started over is complete unless it is in here.
//
// One per table and lane, used by the lane's holder only. A Bloom filter of two bits an address in
// one line, in two halves. One half takes what is evicted; when half of its bits are set the other
// takes over, if what it knows is over: every row of it has expired. Until then the first goes on
// to fill up, and more and more partitions that were never evicted are taken for such; they are
// then called partial, and never the other way round. MayContain touches two lines.
#ifndef LISTSTORE_ENGINE_STORAGE_EVICTED_FILTER_H_
#define LISTSTORE_ENGINE_STORAGE_EVICTED_FILTER_H_

#include <cstddef>
#include <cstdint>

#include "engine/memory/arena.h"
#include "engine/storage/partition/leaf.h"

namespace liststore::storage {

class EvictedFilter {
 public:
  explicit EvictedFilter(memory::Arena& arena) : arena_(arena) {}
  ~EvictedFilter() { Clear(); }
  EvictedFilter(const EvictedFilter&) = delete;
  EvictedFilter& operator=(const EvictedFilter&) = delete;

  static constexpr size_t kBytesMin = 512;
  // Takes `bytes`, a power of two and at least kBytesMin, that the caller has reserved in one
  // block.
  void Allocate(size_t bytes);
  bool allocated() const { return words_ != nullptr; }
  void Clear();

  // `last_expiry`: when the last row of the partition expires; kNeverExpires: never, or nobody
  // knows.
  void Add(uint64_t address, uint32_t last_expiry, int64_t now_seconds);
  bool MayContain(uint64_t address) const;

  // For tests: bits set in both halves, of so many.
  size_t bits_set() const { return halves_[0].bits_set + halves_[1].bits_set; }
  size_t bits() const { return bytes_ * 8; }

 private:
  static constexpr size_t kWordsPerLine = 8;
  struct Half {
    size_t bits_set = 0;
    uint32_t last_expiry = 0;  // of all that it knows
  };
  struct Place {
    size_t word;  // within a half
    uint64_t bits[2];
    size_t words[2];
  };
  size_t WordsPerHalf() const { return bytes_ / 2 / sizeof(uint64_t); }
  Place PlaceOf(uint64_t address) const;

  memory::Arena& arena_;
  uint64_t* words_ = nullptr;
  size_t bytes_ = 0;
  size_t current_ = 0;
  Half halves_[2];
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_EVICTED_FILTER_H_
