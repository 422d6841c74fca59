// Spreads threads over striped counters and caches without thread_local state.
#ifndef LISTSTORE_ENGINE_BASE_THREAD_STRIPE_H_
#define LISTSTORE_ENGINE_BASE_THREAD_STRIPE_H_

#include <cstddef>
#include <cstdint>

namespace liststore {

// A number below 2^stripes_log2 that tends to be the same for one thread and to differ between
// threads. A hint, nothing may depend on it: taken from where the caller's stack lies (stacks of
// threads are megabytes apart, frames of one thread mostly within one). 1 ns.
[[gnu::always_inline]] inline size_t ThreadStripe(int stripes_log2) {
  const auto megabyte = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) >> 20;
  return static_cast<size_t>(static_cast<uint64_t>(megabyte) * 0x9e3779b97f4a7c15u >>
                             (64 - stripes_log2));
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_THREAD_STRIPE_H_
