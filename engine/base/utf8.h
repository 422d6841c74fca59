// Is a byte string well-formed UTF-8? As the Unicode standard says it (table 3-7): no overlong
// forms, no surrogates, nothing above U+10FFFF.
#ifndef LISTSTORE_ENGINE_BASE_UTF8_H_
#define LISTSTORE_ENGINE_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/big_endian.h"

namespace liststore {

// How many bytes there are before the first character that is malformed or cut off; all of them
// when there is none. Eight bytes a step while they are ASCII, else a character a step.
size_t ValidUtf8Bytes(std::string_view text);

// No byte has its high bit set. Eight bytes a step, the last eight once more where they are not a
// step of their own: names are checked with every call, and nearly all are of this kind.
inline bool IsAscii(std::string_view text) {
  const char* const data = text.data();
  const size_t size = text.size();
  uint64_t bits = 0;
  if (size >= 8) {
    for (size_t at = 0; at + 8 < size; at += 8) bits |= LoadNative<uint64_t>(data + at);
    bits |= LoadNative<uint64_t>(data + size - 8);
  } else {
    for (size_t at = 0; at < size; ++at) bits |= static_cast<uint8_t>(data[at]);
  }
  return (bits & 0x8080808080808080u) == 0;
}

inline bool IsValidUtf8(std::string_view text) {
  return IsAscii(text) || ValidUtf8Bytes(text) == text.size();
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_UTF8_H_
