// For vectors whose new elements are written at once: resize() leaves them as they are.
#ifndef LISTSTORE_ENGINE_BASE_UNFILLED_ALLOCATOR_H_
#define LISTSTORE_ENGINE_BASE_UNFILLED_ALLOCATOR_H_

#include <memory>
#include <type_traits>
#include <utility>

namespace liststore {

template <typename T>
struct UnfilledAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "an element that is not written has no life of its own");

  UnfilledAllocator() = default;
  template <typename Other>
  UnfilledAllocator(const UnfilledAllocator<Other>& /*other*/) noexcept {}  // NOLINT: converts
  template <typename Other>
  struct rebind {
    using other = UnfilledAllocator<Other>;
  };

  void construct(T* /*at*/) {}
  template <typename... Arguments>
  void construct(T* at, Arguments&&... arguments) {
    std::construct_at(at, std::forward<Arguments>(arguments)...);
  }
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_UNFILLED_ALLOCATOR_H_
