// Lets a standard or Abseil container live in an arena, so that its bytes are counted and limited.
//
//   std::vector<Entry, ArenaAllocator<Entry>> entries{ArenaAllocator<Entry>(&arena)};
//
// What the container will allocate must be reserved before the call that makes it grow. Blocks are
// fixed: containers hold pointers into themselves. The arena outlives the container.
#ifndef LISTSTORE_ENGINE_MEMORY_ARENA_ALLOCATOR_H_
#define LISTSTORE_ENGINE_MEMORY_ARENA_ALLOCATOR_H_

#include <cstddef>
#include <type_traits>

#include "engine/memory/arena.h"

namespace liststore::memory {

template <class T>
class ArenaAllocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  explicit ArenaAllocator(Arena* arena) noexcept : arena_(arena) {}
  template <class U>
  ArenaAllocator(const ArenaAllocator<U>& other) noexcept  // NOLINT: containers convert it
      : arena_(other.arena()) {}

  T* allocate(size_t count) {
    static_assert(alignof(T) <= size_classes::kUnitBytes, "blocks are 16-byte aligned");
    return static_cast<T*>(arena_->Allocate(count * sizeof(T), Arena::Mobility::kFixed));
  }
  void deallocate(T* block, size_t count) noexcept { arena_->Free(block, count * sizeof(T)); }

  Arena* arena() const noexcept { return arena_; }

  template <class U>
  bool operator==(const ArenaAllocator<U>& other) const noexcept {
    return arena_ == other.arena();
  }

 private:
  Arena* arena_;
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_ARENA_ALLOCATOR_H_
