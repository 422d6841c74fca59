#include "bench/peers/bare_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/md5.h"

namespace liststore {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kChunkBytes = size_t{32} << 20;
constexpr size_t kLine = 64;

constexpr size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

// Lines from `begin` on. Written out where it is used: GCC 12 drops calls of a function that only
// prefetches.
[[gnu::always_inline]] inline void Prefetch(const char* begin, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(begin + at);
  __builtin_prefetch(begin + bytes - 1);  // lines are not where `begin` is
}

}  // namespace

BareStore::BareStore(size_t lists_max, size_t rows_expected, size_t value_bytes)
    : lists_max_(lists_max),
      value_bytes_(value_bytes),
      row_bytes_(kPackedItemKeyBytes + value_bytes) {
  LS_CHECK(lists_max > 0 && rows_expected > 0, "a store is made for something");
  const size_t slots = std::bit_ceil(2 * lists_max);
  slot_mask_ = slots - 1;
  // Fresh pages of the kernel are zero: every slot is empty.
  slots_ = reinterpret_cast<Slot*>(NewChunk(slots * sizeof(Slot)).bytes);
  // A quarter beyond what is expected: a list that is written to at its newest end moves its rows
  // back now and then, and not each time.
  rows_of_class_.push_back(rows_expected + rows_expected / 4 + 1);
  free_.emplace_back();
}

BareStore::~BareStore() {
  for (const Chunk& chunk : mapped_) ::munmap(chunk.bytes, chunk.size);
}

// --- Operations ---------------------------------------------------------------------------------

size_t BareStore::Add(std::string_view list_key, std::span<const NewItem> items) {
  // Keys first, as the store makes them: their digests side by side.
  absl::InlinedVector<std::string_view, 16> values;
  for (const NewItem& item : items) values.push_back(item.value);
  absl::InlinedVector<Md5Digest, 16> digests(items.size());
  Md5OfEach({values.data(), values.size()}, {digests.data(), digests.size()});

  Slot* const found = FindOrMake(Hash64(list_key), items.size());
  LS_CHECK(found != nullptr, "the store was made for as many lists as come");
  Slot& slot = *found;
  MakeRoom(slot, items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    LS_CHECK(items[i].value.size() == value_bytes_, "every value has the length that was said");
    PackedItemKey key;
    PackItemKeyFromDigest(items[i].timestamp_nanos, digests[i].data(), key.data());
    Insert(slot, key.data(), items[i].value);
  }
  return items.size();
}

void BareStore::Get(std::string_view list_key, size_t limit, BareItems* result) const {
  Copy(Find(Hash64(list_key)), limit, result);
}

void BareStore::MultiGet(std::span<const std::string_view> list_keys, size_t limit,
                         std::vector<BareItems>* results) const {
  if (results->size() < list_keys.size()) results->resize(list_keys.size());
  for (size_t begin = 0; begin < list_keys.size(); begin += kGroup) {
    const size_t count = std::min(kGroup, list_keys.size() - begin);
    std::array<uint64_t, kGroup> hashes;
    std::array<const Slot*, kGroup> found;
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = Hash64(list_keys[begin + i]);
      __builtin_prefetch(&slots_[hashes[i] & slot_mask_]);
    }
    for (size_t i = 0; i < count; ++i) {
      found[i] = &Find(hashes[i]);
      if (found[i]->count == 0) continue;
      Prefetch(RowOf(*found[i], 0), std::min<size_t>(limit, found[i]->count) * row_bytes_);
    }
    for (size_t i = 0; i < count; ++i) Copy(*found[i], limit, &(*results)[begin + i]);
  }
}

bool BareStore::AddPacked(uint64_t hash, const char key[kPackedItemKeyBytes],
                          std::string_view value) {
  if (value.size() != value_bytes_) return false;
  Slot* const slot = FindOrMake(hash, 1);
  if (slot == nullptr) return false;
  MakeRoom(*slot, 1);
  Insert(*slot, key, value);
  return true;
}

void BareStore::PrefetchRows(uint64_t hash, size_t limit) const {
  const Slot& slot = Find(hash);
  if (slot.count == 0) return;
  Prefetch(RowOf(slot, 0), std::min<size_t>(limit, slot.count) * row_bytes_);
}

size_t BareStore::RemoveWithValue(std::string_view list_key, std::string_view value) {
  Slot& slot = Find(Hash64(list_key));
  if (slot.block == nullptr || value.size() != value_bytes_) return 0;
  size_t removed = 0;
  for (size_t row = slot.count; row-- > 0;) {
    if (std::memcmp(RowOf(slot, row) + kPackedItemKeyBytes, value.data(), value_bytes_) != 0) {
      continue;
    }
    RemoveRow(slot, row);  // newer rows keep their numbers
    ++removed;
  }
  return removed;
}

bool BareStore::RemoveItem(std::string_view list_key, const NewItem& item) {
  Slot& slot = Find(Hash64(list_key));
  if (slot.block == nullptr) return false;
  Md5Digest digest;
  Md5(item.value, digest.data());
  PackedItemKey key;
  PackItemKeyFromDigest(item.timestamp_nanos, digest.data(), key.data());
  const size_t row = RowsAbove(slot, key.data());
  if (row == slot.count || ComparePackedItemKeys(RowOf(slot, row), key.data()) != 0) return false;
  RemoveRow(slot, row);
  return true;
}

// --- Rows ---------------------------------------------------------------------------------------

const BareStore::Slot& BareStore::Find(uint64_t hash) const {
  size_t at = hash & slot_mask_;
  while (slots_[at].block != nullptr && slots_[at].hash != hash) at = (at + 1) & slot_mask_;
  return slots_[at];
}

BareStore::Slot* BareStore::FindOrMake(uint64_t hash, size_t rows) {
  Slot& slot = Find(hash);
  if (slot.block != nullptr) return &slot;
  if (lists_ == lists_max_) return nullptr;
  ++lists_;
  slot.hash = hash;
  slot.block_class = static_cast<uint32_t>(ClassFor(rows));
  slot.block = TakeBlock(slot.block_class);
  slot.first = static_cast<uint32_t>(rows_of_class_[slot.block_class]);
  slot.count = 0;
  return &slot;
}

void BareStore::Copy(const Slot& slot, size_t limit, BareItems* result) const {
  result->row_bytes_ = row_bytes_;
  result->size_ = 0;
  if (slot.count == 0) return;
  const size_t count = std::min<size_t>(limit, slot.count);
  const size_t bytes = count * row_bytes_;
  if (result->rows_.size() < bytes) result->rows_.resize(bytes);
  std::memcpy(result->rows_.data(), RowOf(slot, 0), bytes);
  result->size_ = count;
}

void BareStore::MakeRoom(Slot& slot, size_t rows) {
  if (slot.first >= rows) return;
  const size_t capacity = rows_of_class_[slot.block_class];
  const size_t free_rows = capacity - slot.count;
  if (free_rows >= rows && free_rows >= capacity / 8) {
    // The oldest have gone: back to the end of the block.
    const auto first = static_cast<uint32_t>(free_rows);
    std::memmove(slot.block + first * row_bytes_, RowOf(slot, 0), slot.count * row_bytes_);
    slot.first = first;
    return;
  }
  const size_t block_class = std::max<size_t>(ClassFor(slot.count + rows), slot.block_class + 1);
  while (rows_of_class_.size() <= block_class) ClassFor(rows_of_class_.back() + 1);
  char* const block = TakeBlock(block_class);
  const auto first = static_cast<uint32_t>(rows_of_class_[block_class] - slot.count);
  std::memcpy(block + first * row_bytes_, RowOf(slot, 0), slot.count * row_bytes_);
  free_[slot.block_class].push_back(slot.block);
  slot.block = block;
  slot.first = first;
  slot.block_class = static_cast<uint32_t>(block_class);
}

size_t BareStore::RowsAbove(const Slot& slot, const char key[kPackedItemKeyBytes]) const {
  // Most items are the newest of their list.
  if (slot.count == 0 || ComparePackedItemKeys(RowOf(slot, 0), key) < 0) return 0;
  size_t above = 0;
  size_t end = slot.count;
  while (above < end) {
    const size_t middle = above + (end - above) / 2;
    if (ComparePackedItemKeys(RowOf(slot, middle), key) > 0) {
      above = middle + 1;
    } else {
      end = middle;
    }
  }
  return above;
}

void BareStore::Insert(Slot& slot, const char key[kPackedItemKeyBytes], std::string_view value) {
  LS_DCHECK(slot.first > 0, "room was made");
  const size_t newer = RowsAbove(slot, key);
  if (newer < slot.count && ComparePackedItemKeys(RowOf(slot, newer), key) == 0) return;
  --slot.first;
  ++slot.count;
  if (newer > 0) std::memmove(RowOf(slot, 0), RowOf(slot, 1), newer * row_bytes_);
  char* const row = RowOf(slot, newer);
  std::memcpy(row, key, kPackedItemKeyBytes);
  std::memcpy(row + kPackedItemKeyBytes, value.data(), value_bytes_);
}

// Moves what is fewer: the newer rows back by one, or the older ones forward.
void BareStore::RemoveRow(Slot& slot, size_t row) {
  LS_DCHECK(row < slot.count, "the row is one of the list's");
  const size_t older = slot.count - row - 1;
  if (row < older) {
    std::memmove(RowOf(slot, 1), RowOf(slot, 0), row * row_bytes_);
    ++slot.first;
  } else {
    std::memmove(RowOf(slot, row), RowOf(slot, row + 1), older * row_bytes_);
  }
  --slot.count;
}

// --- Memory -------------------------------------------------------------------------------------

size_t BareStore::ClassFor(size_t rows) {
  while (rows_of_class_.back() < rows) {
    rows_of_class_.push_back(rows_of_class_.back() + rows_of_class_.back() / 4 + 1);
    free_.emplace_back();
  }
  const auto found = std::lower_bound(rows_of_class_.begin(), rows_of_class_.end(), rows);
  return static_cast<size_t>(found - rows_of_class_.begin());
}

size_t BareStore::BlockBytes(size_t block_class) const {
  return RoundUp(rows_of_class_[block_class] * row_bytes_, kLine);
}

char* BareStore::TakeBlock(size_t block_class) {
  std::vector<char*>& free = free_[block_class];
  if (!free.empty()) {
    char* const block = free.back();
    free.pop_back();
    return block;
  }
  const size_t bytes = BlockBytes(block_class);
  if (open_.size < bytes) {
    if (!ready_.empty() && ready_.back().size >= bytes) {
      open_ = ready_.back();
      ready_.pop_back();
    } else {
      open_ = NewChunk(std::max(kChunkBytes, bytes));
    }
  }
  char* const block = open_.bytes;
  open_ = {open_.bytes + bytes, open_.size - bytes};
  return block;
}

void BareStore::Populate(size_t bytes) {
  size_t ready = 0;
  for (const Chunk& chunk : ready_) ready += chunk.size;
  for (; ready < bytes; ready += ready_.back().size) ready_.push_back(NewChunk(kChunkBytes));
}

BareStore::Chunk BareStore::NewChunk(size_t bytes) {
  const size_t size = RoundUp(bytes, kHugePage);
  // One page more than is wanted: some address in it begins a page of 2 MiB.
  void* const mapped = ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  LS_CHECK(mapped != MAP_FAILED, "the machine has memory for the benchmark");
  mapped_.push_back({static_cast<char*>(mapped), size + kHugePage});
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  auto* const begin = reinterpret_cast<char*>(RoundUp(address, kHugePage));
  ::madvise(begin, size, MADV_HUGEPAGE);
  if (::madvise(begin, size, MADV_POPULATE_WRITE) != 0) {
    // A kernel before 5.14 does not know it.
    for (size_t at = 0; at < size; at += 4096) begin[at] = 0;
  }
  populated_bytes_ += size;
  return {begin, size};
}

void BareStore::Verify() const {
  size_t lists = 0;
  for (size_t at = 0; at <= slot_mask_; ++at) {
    const Slot& slot = slots_[at];
    if (slot.block == nullptr) continue;
    ++lists;
    LS_CHECK(&Find(slot.hash) == &slot, "a slot is reached from its hash");
    LS_CHECK(slot.block_class < rows_of_class_.size(), "a block has a class");
    LS_CHECK(slot.first + slot.count <= rows_of_class_[slot.block_class],
             "rows lie within their block");
    for (size_t row = 1; row < slot.count; ++row) {
      LS_CHECK(ComparePackedItemKeys(RowOf(slot, row - 1), RowOf(slot, row)) > 0,
               "rows are strictly descending by key");
    }
  }
  LS_CHECK(lists == lists_, "every list has a slot");
}

}  // namespace liststore
