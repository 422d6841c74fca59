// The sizes in which an arena hands out blocks, and the slabs they are cut from. Pure tables.
//
// 16 bytes apart up to 256, 32 up to 512; from there the sizes that divide a full slab: a 64 KiB
// slab of "2 KiB" blocks holds 32 of 2032 bytes beside its header instead of 31 of 2048. Neighbours
// are 1.125 apart at most (from 128 on); a full slab wastes at most 1/32 beside its blocks.
#ifndef LISTSTORE_ENGINE_MEMORY_SIZE_CLASSES_H_
#define LISTSTORE_ENGINE_MEMORY_SIZE_CLASSES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace liststore::memory::size_classes {

inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kUnitBytes = 16;  // every size is a multiple
inline constexpr size_t kClasses = 72;
inline constexpr size_t kHeaderBytes = 48;  // of a slab, without its bitmap

// Slab sizes aimed at: 4 KiB at level 0, doubled at each, never above the class's full size.
inline constexpr size_t kLevels = 7;

// Bytes before the first block of a slab of `capacity` blocks: the header and a bit a block.
constexpr size_t FirstBlock(size_t capacity) {
  const size_t words = (capacity + 63) / 64;
  return (kHeaderBytes + words * 8 + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
}

// How many blocks fit into a slab.
constexpr size_t Capacity(size_t slab_bytes, size_t block_bytes) {
  size_t capacity = (slab_bytes - kHeaderBytes) / block_bytes;
  while (FirstBlock(capacity) + capacity * block_bytes > slab_bytes) --capacity;
  return capacity;
}

// The size of a slab once its class is well used: at least 8 blocks, so that the rest stays small.
constexpr size_t FullSlabBytes(size_t block_bytes) {
  if (block_bytes < 8192) return size_t{64} << 10;
  return block_bytes < 16384 ? size_t{128} << 10 : size_t{256} << 10;
}

constexpr std::array<uint16_t, kClasses> MakeBlockBytes() {
  std::array<uint16_t, kClasses> sizes{};
  size_t count = 0;
  for (size_t size = 16; size <= 256; size += 16) sizes[count++] = static_cast<uint16_t>(size);
  for (size_t size = 288; size <= 512; size += 32) sizes[count++] = static_cast<uint16_t>(size);
  for (size_t octave = 1024; octave <= 32768; octave *= 2) {
    const size_t slab_bytes = FullSlabBytes(octave - 1);
    const size_t blocks =
        slab_bytes / octave;  // at the upper end of the octave; twice at the lower
    for (size_t step = 1; step <= 8; ++step) {
      const size_t capacity = blocks + blocks * (8 - step) / 8;
      const size_t size = (slab_bytes - FirstBlock(capacity)) / capacity;
      sizes[count++] = static_cast<uint16_t>(size / kUnitBytes * kUnitBytes);
    }
  }
  return sizes;
}
inline constexpr std::array<uint16_t, kClasses> kBlockBytes = MakeBlockBytes();
inline constexpr size_t kBlockBytesMax = kBlockBytes[kClasses - 1];

constexpr std::array<uint8_t, kBlockBytesMax / kUnitBytes + 1> MakeClassOfUnits() {
  std::array<uint8_t, kBlockBytesMax / kUnitBytes + 1> classes{};
  uint8_t at = 0;
  for (size_t units = 0; units < classes.size(); ++units) {
    if (units * kUnitBytes > kBlockBytes[at]) ++at;
    classes[units] = at;
  }
  return classes;
}
inline constexpr auto kClassOfUnits = MakeClassOfUnits();

// The smallest class that holds `bytes` <= kBlockBytesMax.
constexpr size_t ClassOf(size_t bytes) {
  return kClassOfUnits[(bytes + kUnitBytes - 1) / kUnitBytes];
}

// ceil(2^32 / units): turns the offset of a block, in units, into its index by one multiplication.
// Exact, because offset * units stays below 2^32.
constexpr std::array<uint64_t, kClasses> MakeReciprocals() {
  std::array<uint64_t, kClasses> reciprocals{};
  for (size_t c = 0; c < kClasses; ++c) {
    const uint64_t units = kBlockBytes[c] / kUnitBytes;
    reciprocals[c] = ((uint64_t{1} << 32) + units - 1) / units;
  }
  return reciprocals;
}
inline constexpr std::array<uint64_t, kClasses> kReciprocals = MakeReciprocals();

template <typename T>
using ByClassAndLevel = std::array<std::array<T, kLevels>, kClasses>;

// Pages of a slab: about 4 KiB << level, and as many more as it takes to waste at most a quarter
// (level 0) or an eighth of it.
constexpr ByClassAndLevel<uint8_t> MakeSlabPages() {
  ByClassAndLevel<uint8_t> pages{};
  for (size_t c = 0; c < kClasses; ++c) {
    const size_t block_bytes = kBlockBytes[c];
    const size_t full = FullSlabBytes(block_bytes);
    for (size_t level = 0; level < kLevels; ++level) {
      size_t bytes = kPageBytes << level;
      while (bytes < full) {
        const size_t used = Capacity(bytes, block_bytes) * block_bytes;
        if (bytes - used <= bytes / (level == 0 ? 4 : 8)) break;
        bytes += kPageBytes;
      }
      pages[c][level] = static_cast<uint8_t>((bytes < full ? bytes : full) / kPageBytes);
    }
  }
  return pages;
}
inline constexpr ByClassAndLevel<uint8_t> kSlabPages = MakeSlabPages();

// What the overhead that arena.h promises relies on.
constexpr bool TablesHold() {
  for (size_t c = 0; c < kClasses; ++c) {
    const size_t size = kBlockBytes[c];
    if (size % kUnitBytes != 0 || size == 0) return false;
    if (c > 0 && (size <= kBlockBytes[c - 1] || size > kBlockBytes[c - 1] * 9u / 8 + 16))
      return false;
    for (size_t level = 0; level < kLevels; ++level) {
      const size_t slab_bytes = kSlabPages[c][level] * kPageBytes;
      const size_t used = Capacity(slab_bytes, size) * size;
      if (used == 0 || slab_bytes - used > slab_bytes / 4) return false;
      if (level > 0 && kSlabPages[c][level] < kSlabPages[c][level - 1]) return false;
    }
    const size_t full = FullSlabBytes(size);
    if (kSlabPages[c][kLevels - 1] * kPageBytes != full) return false;
    if (full - Capacity(full, size) * size > full / 32) return false;
  }
  return true;
}
static_assert(TablesHold(),
              "every slab holds a block and wastes at most a quarter, full ones 1/32");
static_assert(kBlockBytesMax == 32752, "larger blocks are pages of their own");

}  // namespace liststore::memory::size_classes

#endif  // LISTSTORE_ENGINE_MEMORY_SIZE_CLASSES_H_
