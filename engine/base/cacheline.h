// The unit in which memory moves between cores.
#ifndef LISTSTORE_ENGINE_BASE_CACHELINE_H_
#define LISTSTORE_ENGINE_BASE_CACHELINE_H_

#include <cstddef>

namespace liststore {

inline constexpr size_t kCacheLineBytes = 64;

// Brings the line that holds `address` closer. Always inline: GCC 12 drops calls of functions whose
// only effect is a prefetch when it does not inline them. Any address is allowed, even a stale one.
[[gnu::always_inline]] inline void PrefetchLine(const void* address) {
  __builtin_prefetch(address, 0, 3);
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_CACHELINE_H_
