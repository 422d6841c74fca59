// LargePartition: what a partition has beyond one leaf. Plain state; partition.h holds the rules.
//
// Owned by the directory's reference; lives in the table's arena. 264 bytes and, behind them,
// its key.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_LARGE_PARTITION_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_LARGE_PARTITION_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/memory/arena_allocator.h"
#include "engine/storage/partition/leaf_tree.h"
#include "engine/storage/partition/range_tombstones.h"
#include "engine/storage/partition/static_row.h"
#include "engine/storage/partition/value_index.h"

namespace liststore::storage {

struct LargePartition {
  // A partition with more leaves than this looks values up in an index; with fewer it scans their
  // fingerprints. docs/decisions/0005-value-index.md has the figures.
  static constexpr size_t kScannedLeavesMax = 4;

  static constexpr uint32_t kNoLeafId = UINT32_MAX;

  static LargePartition* Create(memory::Arena& arena, std::string_view key, uint32_t epoch) {
    void* memory = arena.Allocate(BytesFor(key.size()), memory::Arena::Mobility::kFixed);
    return new (memory) LargePartition(arena, key, epoch);
  }
  // Leaves and static row must be gone.
  void Delete() {
    LS_DCHECK(static_row.empty(), "the static row goes first");
    memory::Arena& home = arena;
    const size_t bytes = BytesFor(key_size);
    this->~LargePartition();
    home.Free(this, bytes);
  }

  static size_t BytesFor(size_t key_bytes) { return sizeof(LargePartition) + key_bytes; }

  void NoteComplexRow(size_t bytes, size_t cells) {
    complex_bytes_width =
        std::max(complex_bytes_width, static_cast<uint8_t>(std::bit_width(bytes)));
    complex_cells_width =
        std::max(complex_cells_width, static_cast<uint8_t>(std::bit_width(cells)));
  }

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
  bool indexed() const { return !indexes.empty(); }
  bool has_remains() const { return tree.has_cut() || ranges.has_dead(); }

  // What the lists that double with the number of leaves take for the next one.
  size_t GrowthBytes() const {
    const bool full = leaf_blocks.size() == leaf_blocks.capacity();
    return tree.GrowthBytes() + (full ? 2 * leaf_blocks.capacity() * sizeof(char*) : 0);
  }

  // Leaf ids name leaves in the value indexes, whatever blocks they move to. A free id's entry
  // holds the next free one, shifted and odd, so that freeing an id allocates nothing.
  uint32_t NewLeafId(char* block) {
    if (first_free_leaf_id == kNoLeafId) {
      leaf_blocks.push_back(block);
      return static_cast<uint32_t>(leaf_blocks.size() - 1);
    }
    const uint32_t id = first_free_leaf_id;
    first_free_leaf_id = static_cast<uint32_t>(reinterpret_cast<uint64_t>(leaf_blocks[id]) >> 1);
    leaf_blocks[id] = block;
    --free_leaf_ids;
    return id;
  }
  void FreeLeafId(uint32_t id) {
    leaf_blocks[id] = reinterpret_cast<char*>(uint64_t{first_free_leaf_id} << 1 | 1);
    first_free_leaf_id = id;
    ++free_leaf_ids;
  }

  memory::Arena& arena;
  uint32_t key_size;
  uint32_t epoch;
  uint32_t wheel_when = 0;
  uint8_t cache_bits = 0;  // kFreshness aside: as in LeafHeader
  // Of the largest row that was not simple, ever: it had less than 2^this bytes, its key with it, and cells.
  uint8_t complex_bytes_width = 0;
  uint8_t complex_cells_width = 0;
  int64_t fresh_until_seconds = 0;      // 0: forever
  LargePartition* next_dead = nullptr;  // among those that wait to be taken apart
  uint64_t row_count = 0;
  WriteTimestamp max_timestamp;  // no row or cell was ever written later
  Tombstone tombstone;           // of the partition
  RangeTombstones ranges;
  StaticRow static_row;
  LeafTree tree;
  std::vector<ValueIndex, memory::ArenaAllocator<ValueIndex>>
      indexes;  // one for each of the schema's, or none
  std::vector<char*, memory::ArenaAllocator<char*>> leaf_blocks;  // by leaf id
  uint32_t first_free_leaf_id = kNoLeafId;
  uint32_t free_leaf_ids = 0;

 private:
  LargePartition(memory::Arena& home, std::string_view partition_key, uint32_t at_epoch)
      : arena(home),
        key_size(static_cast<uint32_t>(partition_key.size())),
        epoch(at_epoch),
        ranges(home),
        tree(home),
        indexes(memory::ArenaAllocator<ValueIndex>(&home)),
        leaf_blocks(memory::ArenaAllocator<char*>(&home)) {
    // Behind the object, not over it.
    std::memcpy(static_cast<void*>(this + 1), partition_key.data(), partition_key.size());
  }
  ~LargePartition() = default;
};
static_assert(sizeof(LargePartition) == 264,
              "docs/memory.md budgets 264 bytes for a large partition");

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_LARGE_PARTITION_H_
