// AddScratch: buffers in which additions lay out their rows, and a pool of them, so that an
// addition allocates nothing once the pool is warm.
#ifndef LISTSTORE_ENGINE_LISTS_ADD_SCRATCH_H_
#define LISTSTORE_ENGINE_LISTS_ADD_SCRATCH_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/cacheline.h"
#include "engine/base/thread_stripe.h"
#include "engine/command/command.h"
#include "engine/command/reply.h"
#include "engine/lists/list_key.h"
#include "engine/model/mutation.h"
#include "engine/model/packed_item_key.h"

namespace liststore {

// Used by one call at a time. The vectors only grow, and content beyond that of the present call is
// meaningless. 112 bytes per item, and for additions to many lists 400 bytes per list.
struct AddScratch {
  // Makes room for `items` rows and `lists` commands; earlier content is lost. Where the heap refuses,
  // what it had room for it still has: what is asked for the sizes grows last.
  void Prepare(size_t items, size_t lists) {
    if (rows.size() < items) {
      cells.resize(items);
      keys.resize(items);
      rows.resize(items);
    }
    if (commands.size() < lists) {
      replies.resize(lists);
      // Keys point into themselves and cannot be moved.
      list_keys = std::make_unique<ListKey[]>(lists);
      commands.resize(lists);
    }
  }
  // Whether the pool may keep it: the memory of the largest calls is not kept.
  bool Small() const { return rows.size() <= kRowsKept && commands.size() <= kListsKept; }

  static constexpr size_t kRowsKept = 4096;
  static constexpr size_t kListsKept = 1024;

  std::vector<RowUpdate> rows;
  std::vector<CellUpdate> cells;
  std::vector<PackedItemKey> keys;
  // For additions to many lists only.
  std::vector<Command> commands;
  std::vector<Reply> replies;
  std::unique_ptr<ListKey[]> list_keys;
};

// Any thread. Each of 16 cache lines holds at most one scratch, and a thread uses its own line only
// (ThreadStripe): a loan is an exchange, a return a compare-and-swap, together about 10 ns. A loan
// from an empty line makes a scratch; a return to an occupied line deletes it. At most 16 scratches
// of at most 700 KB.
class AddScratchPool {
 public:
  class Loan {
   public:
    explicit Loan(AddScratchPool& pool)
        : slot_(pool.slots_[ThreadStripe(kSlotsLog2)].scratch),
          scratch_(slot_.exchange(nullptr, std::memory_order_acquire)) {
      if (scratch_ == nullptr) scratch_ = std::make_unique<AddScratch>().release();
    }
    ~Loan() {
      std::unique_ptr<AddScratch> scratch(scratch_);
      AddScratch* expected = nullptr;
      if (scratch->Small() &&
          slot_.compare_exchange_strong(expected, scratch.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        scratch.release();
      }
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    AddScratch* operator->() const { return scratch_; }
    AddScratch& operator*() const { return *scratch_; }

   private:
    std::atomic<AddScratch*>& slot_;
    AddScratch* scratch_;
  };

  AddScratchPool() = default;
  ~AddScratchPool() {
    for (Slot& slot : slots_) delete slot.scratch.load(std::memory_order_acquire);
  }
  AddScratchPool(const AddScratchPool&) = delete;
  AddScratchPool& operator=(const AddScratchPool&) = delete;

 private:
  static constexpr int kSlotsLog2 = 4;
  struct alignas(kCacheLineBytes) Slot {
    std::atomic<AddScratch*> scratch{nullptr};
  };
  std::array<Slot, size_t{1} << kSlotsLog2> slots_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_ADD_SCRATCH_H_
