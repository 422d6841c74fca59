#include "tests/support/refusing_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr uint64_t kNever = UINT64_MAX;

std::atomic<uint64_t> left{kNever};  // until the one that is refused
std::atomic<bool> onwards{false};
std::atomic<bool> refused{false};

bool Refuses() {
  uint64_t before = left.load(std::memory_order_relaxed);
  do {
    if (before == kNever) return false;
    if (before == 0) return onwards.load(std::memory_order_relaxed);
  } while (!left.compare_exchange_weak(before, before - 1, std::memory_order_relaxed));
  if (before != 1) return false;
  refused.store(true, std::memory_order_relaxed);
  return true;
}

// Null when there is no memory. Not inlined, as Free: GCC would see the free() of one operator meet
// the new of another.
[[gnu::noinline]] void* Allocate(size_t bytes, size_t alignment) noexcept {
  if (Refuses()) return nullptr;
  if (bytes == 0) bytes = 1;
  // aligned_alloc wants a multiple of the alignment.
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes)
             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* AllocateOrThrow(size_t bytes, size_t alignment) {
  void* const memory = Allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void Free(void* memory) noexcept { std::free(memory); }

}  // namespace

// All the forms: one left out would be the sanitizer's own, and its memory meet free() here.
void* operator new(size_t bytes) { return AllocateOrThrow(bytes, 1); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes) { return AllocateOrThrow(bytes, 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 1); }
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(memory);
}
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(memory);
}

namespace liststore::testing {

RefusedNew::RefusedNew(uint64_t nth, bool all_after) {
  refused.store(false);
  onwards.store(all_after);
  left.store(nth);
}

bool RefusedNew::End() {
  left.store(kNever);
  return refused.load();
}

}  // namespace liststore::testing
