// Tells AddressSanitizer which bytes of our own allocators are free, so that a use after free
// inside a slab is reported like one of the heap. Nothing in other builds.
#ifndef LISTSTORE_ENGINE_MEMORY_MEMORY_POISON_H_
#define LISTSTORE_ENGINE_MEMORY_MEMORY_POISON_H_

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LISTSTORE_POISONS_MEMORY 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define LISTSTORE_POISONS_MEMORY 1
#endif

#if defined(LISTSTORE_POISONS_MEMORY)
#include <sanitizer/asan_interface.h>
#endif

namespace liststore::memory {

inline void PoisonMemory([[maybe_unused]] const void* from, [[maybe_unused]] size_t bytes) {
#if defined(LISTSTORE_POISONS_MEMORY)
  __asan_poison_memory_region(from, bytes);
#endif
}

inline void UnpoisonMemory([[maybe_unused]] const void* from, [[maybe_unused]] size_t bytes) {
#if defined(LISTSTORE_POISONS_MEMORY)
  __asan_unpoison_memory_region(from, bytes);
#endif
}

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_MEMORY_POISON_H_
