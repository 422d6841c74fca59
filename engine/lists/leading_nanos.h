// The timestamp of items that were written through CQL under keys that are not item keys.
#ifndef LISTSTORE_ENGINE_LISTS_LEADING_NANOS_H_
#define LISTSTORE_ENGINE_LISTS_LEADING_NANOS_H_

#include <cstdint>
#include <string_view>

#include "engine/model/packed_item_key.h"

namespace liststore {

// The timestamp at the beginning of a key that is not an item key; 0 if there is none.
inline uint64_t LeadingNanos(std::string_view key) {
  if (key.size() < kItemKeyDigits) return 0;
  uint64_t nanos = 0;
  for (const char c : key.substr(0, kItemKeyDigits)) {
    if (c < '0' || c > '9') return 0;
    nanos = nanos * 10 + static_cast<uint64_t>(c - '0');
  }
  return nanos;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LEADING_NANOS_H_
