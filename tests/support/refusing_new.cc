#include "tests/support/refusing_new.h"

#include <atomic>
#include <cstddef>

#include "tests/support/hooked_new.h"

namespace liststore::testing {
namespace {

constexpr uint64_t kNever = UINT64_MAX;

std::atomic<uint64_t> calls_left{kNever};  // until the one that is refused
std::atomic<bool> refuses_onwards{false};
std::atomic<bool> has_refused{false};
thread_local bool is_spared = false;

}  // namespace

bool LetAllocate() noexcept {
  uint64_t before = calls_left.load(std::memory_order_relaxed);
  if (before == kNever || is_spared) return true;
  do {
    if (before == kNever) return true;
    if (before == 0) return !refuses_onwards.load(std::memory_order_relaxed);
  } while (!calls_left.compare_exchange_weak(before, before - 1, std::memory_order_relaxed));
  if (before != 1) return true;
  has_refused.store(true, std::memory_order_relaxed);
  return false;
}

void SpareThisThread() { is_spared = true; }

RefusedNew::RefusedNew(uint64_t nth, bool all_after) {
  has_refused.store(false);
  refuses_onwards.store(all_after);
  calls_left.store(nth);
}

bool RefusedNew::End() {
  calls_left.store(kNever);
  return has_refused.load();
}

}  // namespace liststore::testing

// Where the program is linked with --wrap=realloc: of buffers that grow in place.
extern "C" void* __real_realloc(void* memory, size_t bytes);
extern "C" void* __wrap_realloc(void* memory, size_t bytes) {
  return liststore::testing::LetAllocate() ? __real_realloc(memory, bytes) : nullptr;
}
