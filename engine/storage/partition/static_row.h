// StaticRow: what a partition says once for all of its rows, the values of its static columns,
// encoded as a complex row without marker and tombstone (row_body.h).
//
// Owned by a large partition; single-threaded. 24 bytes, and a block where there are values.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_STATIC_ROW_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_STATIC_ROW_H_

#include <cstdint>
#include <string_view>

#include "engine/memory/arena.h"
#include "engine/storage/partition/leaf.h"
#include "engine/storage/partition/row_body.h"

namespace liststore::storage {

class StaticRow {
 public:
  bool empty() const { return block_ == nullptr; }
  // When something of it expires, or leaves no trace, next; kNeverExpires: never.
  uint32_t event() const { return event_; }
  uint32_t block_bytes() const { return block_bytes_; }
  size_t cell_count() const { return empty() ? 0 : RowBody::CellCountOf({block_, bytes_}); }

  // Into `body`, which is cleared when there is none; its values are borrowed from the block.
  void Decode(RowBody& body) const;
  // Whether any value lives.
  bool LiveAt(int64_t now_seconds) const;
  // The live cells, behind others; values are borrowed from the block.
  void AppendLive(int64_t now_seconds, RowBody::LiveCells& cells) const;

  // Keeps what `encoded` says, which lies elsewhere; nothing where it is empty. The block stays
  // where it is long enough, so that what gets shorter takes no memory.
  void Put(memory::Arena& arena, std::string_view encoded, uint32_t event);
  // Becomes the same as another one; it is empty.
  void CopyFrom(memory::Arena& arena, const StaticRow& from) {
    if (!from.empty()) Put(arena, {from.block_, from.bytes_}, from.event_);
  }
  void Free(memory::Arena& arena) { Put(arena, {}, kNeverExpires); }

 private:
  char* block_ = nullptr;
  uint32_t block_bytes_ = 0;
  uint32_t bytes_ = 0;
  uint32_t event_ = kNeverExpires;
};
static_assert(sizeof(StaticRow) == 24, "a large partition has these bytes, used or not");

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_STATIC_ROW_H_
