// PinTable: blocks of small partitions that views point into, for one table in one lane.
//
// A view keeps its block as it is. While any does, the leaf's header says so (Leaf::pinned), the
// block is not moved by compaction, and whoever changes or drops the partition leaves the block
// behind: it is an *orphan* then, owned by this table until its last view goes. Orphans count as
// live bytes of the arena.
//
// Owned by the table, used by the lane's holder, but for Post: a view may be dropped by any thread,
// which must not wait for the lane. It leaves its pin here, and the next holder who looks (Drain)
// gives the block back.
//
// O(1) each. 48 bytes of heap for a view, and about 100 for a pinned block.
//
// Invariants (Verify() checks them):
//  (1) every block has at least one pin, posted ones included;
//  (2) a block that is no orphan is a leaf that says that it is pinned.
#ifndef LISTSTORE_ENGINE_STORAGE_PIN_TABLE_H_
#define LISTSTORE_ENGINE_STORAGE_PIN_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/memory/arena.h"
#include "engine/model/view_sink.h"

namespace liststore::storage {

class PinTable;

// One view's hold on a block. Made by Pin, ended by Post.
struct ViewPin {
  PinTable* home = nullptr;
  char* block = nullptr;
  ViewPin* next = nullptr;  // among those posted
};

class PinTable {
 public:
  explicit PinTable(memory::Arena& arena) : arena_(arena) {}
  // No view is left.
  ~PinTable();
  PinTable(const PinTable&) = delete;
  PinTable& operator=(const PinTable&) = delete;

  // --- Any thread -------------------------------------------------------------------------------

  // The view has gone: nothing of it reads the block any more. Never waits.
  void Post(ViewPin* pin);
  // A glance, stale when it returns.
  bool HasPosted() const { return posted_.load(std::memory_order_relaxed) != nullptr; }

  // --- The holder -------------------------------------------------------------------------------

  // Keeps the block of a leaf for one more view.
  ViewPin* Pin(char* block);
  // The partition has left a pinned block; it goes with its last view.
  void Orphan(char* block);
  // Ends the pins that were posted; returns how many.
  size_t Drain();
  bool empty() const { return blocks_.empty(); }
  size_t blocks() const { return blocks_.size(); }
  size_t orphans() const { return orphans_; }
  void Verify() const;

 private:
  struct Block {
    uint32_t pins = 0;
    bool orphan = false;
    size_t bytes = 0;
  };

  memory::Arena& arena_;
  // Not Abseil's map, which is broken after an allocation that was refused.
  std::unordered_map<char*, Block> blocks_;
  size_t orphans_ = 0;
  std::atomic<ViewPin*> posted_{nullptr};  // newest first
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PIN_TABLE_H_
