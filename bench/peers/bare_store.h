// BareStore: what is left of lists when everything that a service needs is taken away, to see how
// far the store is from what memory allows.
//
// One block of memory for each list, its rows side by side, newest first: item key in 24 bytes and
// a value of one length. Lists are found by a hash of their key in a table of fixed size. There is
// no TTL, no index by value, no lock, no error, no limit; two lists whose keys have one 64-bit hash
// would be one. It knows beforehand how many lists come and how long they get, so that nothing is
// outgrown while it is loaded. All memory is asked for in 2 MiB pages and populated before it is
// used.
#ifndef LISTSTORE_BENCH_PEERS_BARE_STORE_H_
#define LISTSTORE_BENCH_PEERS_BARE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model/packed_item_key.h"
#include "liststore/list_item.h"

namespace liststore {

// Rows copied out of a list, newest first. To be used again from call to call: keeps its memory.
class BareItems {
 public:
  size_t size() const { return size_; }
  std::string_view key(size_t i) const {
    return {rows_.data() + i * row_bytes_, kPackedItemKeyBytes};
  }
  std::string_view value(size_t i) const {
    return {rows_.data() + i * row_bytes_ + kPackedItemKeyBytes, row_bytes_ - kPackedItemKeyBytes};
  }
  uint64_t timestamp_nanos(size_t i) const { return PackedItemKeyNanos(key(i).data()); }

 private:
  friend class BareStore;
  std::vector<char> rows_;
  size_t row_bytes_ = 0;
  size_t size_ = 0;
};

// One thread. A read of a list costs two misses, one after the other: the slot, and its rows
// together.
//
// Invariants (Verify() checks them):
//  (1) the rows of a list are strictly descending by key, and lie within its block;
//  (2) a slot is reached from its hash without passing an empty one;
//  (3) blocks are of the length of their class, which has room for the rows.
class BareStore {
 public:
  // Room for `lists_max` lists, the first `rows_expected` rows of each without growing. Every value
  // has `value_bytes`. 32 bytes for each of twice as many slots are taken at once.
  BareStore(size_t lists_max, size_t rows_expected, size_t value_bytes);
  ~BareStore();
  BareStore(const BareStore&) = delete;
  BareStore& operator=(const BareStore&) = delete;

  // Returns items.size(): an item that is there already, under the same key, stays. MD5 of the
  // values included. O(1) for each item that is newer than the list, O(rows newer) bytes moved for
  // others.
  size_t Add(std::string_view list_key, std::span<const NewItem> items);
  // The newest `limit` rows.
  void Get(std::string_view list_key, size_t limit, BareItems* result) const;
  // The same of several lists, up to 16 of which wait for memory together. `results` grows to as
  // many as there are keys.
  void MultiGet(std::span<const std::string_view> list_keys, size_t limit,
                std::vector<BareItems>* results) const;
  // Returns how many rows went. Looks at all of them, the oldest first. A list that is empty then
  // keeps its block.
  size_t RemoveWithValue(std::string_view list_key, std::string_view value);

  // As a server of lists asks, which has the hash of a list's key and the packed key of an item at hand.
  struct Rows {
    const char* begin = nullptr;  // of each the item key, packed, and the value behind it
    size_t size = 0;
  };
  // The newest `limit` rows where they lie, row_bytes() from each other: until something is added.
  Rows View(uint64_t hash, size_t limit) const {
    const Slot& slot = Find(hash);
    if (slot.count == 0) return {};
    return {RowOf(slot, 0), slot.count < limit ? slot.count : limit};
  }
  // False, and nothing is added: there are `lists_max` others, or the value has another length.
  bool AddPacked(uint64_t hash, const char key[kPackedItemKeyBytes], std::string_view value);
  // What a View of the list or an addition to it will look at first, and, once that is there, what it will
  // look at then.
  void PrefetchSlot(uint64_t hash) const { __builtin_prefetch(&slots_[hash & slot_mask_]); }
  void PrefetchRows(uint64_t hash, size_t limit) const;
  size_t row_bytes() const { return row_bytes_; }

  // The row under the key of `item`, found without looking at all. False: it is not there.
  bool RemoveItem(std::string_view list_key, const NewItem& item);

  // Makes at least `bytes` ready that no block uses yet.
  void Populate(size_t bytes);
  // What has been populated, the table included.
  size_t populated_bytes() const { return populated_bytes_; }

  // Ends the process unless the invariants hold. For tests.
  void Verify() const;

 private:
  static constexpr size_t kGroup = 16;

  // No block: the slot is empty. Its rows are [first, first + count) of the block's, so that the
  // next newest one is written in front of them and nothing moves.
  struct alignas(32) Slot {
    uint64_t hash;
    char* block;
    uint32_t first;
    uint32_t count;
    uint32_t block_class;
  };
  struct Chunk {
    char* bytes;
    size_t size;
  };

  // The slot of the list, or the empty one where it would be.
  const Slot& Find(uint64_t hash) const;
  Slot& Find(uint64_t hash) {
    return const_cast<Slot&>(static_cast<const BareStore*>(this)->Find(hash));
  }
  // The same, taken for a list that will have `rows` rows when it is empty. nullptr: there is no room for
  // one more list.
  Slot* FindOrMake(uint64_t hash, size_t rows);
  void Copy(const Slot& slot, size_t limit, BareItems* result) const;
  // Free rows in front of the list's: for `rows` more.
  void MakeRoom(Slot& slot, size_t rows);
  // How many rows are newer than `key`.
  size_t RowsAbove(const Slot& slot, const char key[kPackedItemKeyBytes]) const;
  void Insert(Slot& slot, const char key[kPackedItemKeyBytes], std::string_view value);
  void RemoveRow(Slot& slot, size_t row);

  char* RowOf(const Slot& slot, size_t row) const {
    return slot.block + (slot.first + row) * row_bytes_;
  }
  size_t ClassFor(size_t rows);
  size_t BlockBytes(size_t block_class) const;
  char* TakeBlock(size_t block_class);
  Chunk NewChunk(size_t bytes);

  const size_t lists_max_;
  const size_t value_bytes_;
  const size_t row_bytes_;
  size_t lists_ = 0;
  size_t slot_mask_ = 0;
  Slot* slots_ = nullptr;
  // By class: rows of a block, and blocks that are free. A class is a quarter longer than the one
  // before.
  std::vector<size_t> rows_of_class_;
  std::vector<std::vector<char*>> free_;
  Chunk open_ = {nullptr, 0};  // the rest of the chunk that blocks are cut from
  std::vector<Chunk> ready_;   // populated, not begun
  std::vector<Chunk> mapped_;  // all of them, and the table
  size_t populated_bytes_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_BARE_STORE_H_
