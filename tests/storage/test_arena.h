// An arena with a pool and a budget of its own, for tests of what lives in one.
#ifndef LISTSTORE_TESTS_STORAGE_TEST_ARENA_H_
#define LISTSTORE_TESTS_STORAGE_TEST_ARENA_H_

#include <cstdint>

#include "engine/memory/arena.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"

namespace liststore {

class TestArena {
 public:
  explicit TestArena(uint64_t limit_bytes = memory::MemoryBudget::kUnlimited)
      : budget_(limit_bytes) {}
  memory::Arena& arena() { return arena_; }
  memory::MemoryBudget& budget() { return budget_; }

 private:
  memory::MemoryBudget budget_;
  memory::PagePool pool_{budget_};
  memory::Arena arena_{pool_, budget_};
};

}  // namespace liststore

#endif  // LISTSTORE_TESTS_STORAGE_TEST_ARENA_H_
