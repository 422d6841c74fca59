#include "tests/support/counting_new.h"

#include <atomic>

#include "tests/support/hooked_new.h"

namespace liststore::testing {
namespace {

std::atomic<uint64_t> calls{0};

}  // namespace

bool LetAllocate() noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return true;
}

uint64_t CountOfNew() { return calls.load(std::memory_order_relaxed); }

}  // namespace liststore::testing
