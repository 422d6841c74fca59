// Copies and comparisons of some ten bytes, for which a call of memcpy or memcmp takes longer than
// the work.
#ifndef LISTSTORE_ENGINE_BASE_SHORT_COPY_H_
#define LISTSTORE_ENGINE_BASE_SHORT_COPY_H_

#include <cstddef>
#include <cstring>
#include <string_view>

namespace liststore {

// Copies `bytes` to `to`, which lies elsewhere, and returns where they end there. In steps of 16, the
// last over the one before; less than 16 and more than 128 by memcpy.
[[gnu::always_inline]] inline char* CopyShort(std::string_view bytes, char* to) {
  constexpr size_t kStep = 16;
  const size_t size = bytes.size();
  if (size < kStep || size > 8 * kStep) {
    if (size != 0) std::memcpy(to, bytes.data(), size);
    return to + size;
  }
  for (size_t i = 0; i + kStep < size; i += kStep) std::memcpy(to + i, bytes.data() + i, kStep);
  std::memcpy(to + size - kStep, bytes.data() + size - kStep, kStep);
  return to + size;
}

// Whether they are the same bytes. In steps of 16, the last over the one before; less than 16 by
// memcmp.
[[gnu::always_inline]] inline bool EqualShort(std::string_view a, std::string_view b) {
  constexpr size_t kStep = 16;
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size < kStep) return a == b;
  for (size_t i = 0; i + kStep < size; i += kStep) {
    if (std::memcmp(a.data() + i, b.data() + i, kStep) != 0) return false;
  }
  return std::memcmp(a.data() + size - kStep, b.data() + size - kStep, kStep) == 0;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_SHORT_COPY_H_
