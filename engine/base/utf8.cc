#include "engine/base/utf8.h"

#include <cstddef>
#include <cstdint>

#include "engine/base/big_endian.h"

namespace liststore {
namespace {

// What may follow a leading byte: the number of bytes, and the range of the first of them. All
// others are 80 to bf.
struct Continuation {
  size_t bytes;  // 0: the byte cannot lead
  uint8_t first_low;
  uint8_t first_high;
};

Continuation ContinuationOf(uint8_t lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return {1, 0x80, 0xbf};
  if (lead == 0xe0) return {2, 0xa0, 0xbf};  // below: overlong
  if (lead == 0xed) return {2, 0x80, 0x9f};  // above: surrogates
  if (lead >= 0xe1 && lead <= 0xef) return {2, 0x80, 0xbf};
  if (lead == 0xf0) return {3, 0x90, 0xbf};  // below: overlong
  if (lead == 0xf4) return {3, 0x80, 0x8f};  // above: behind U+10FFFF
  if (lead >= 0xf1 && lead <= 0xf3) return {3, 0x80, 0xbf};
  return {0, 0, 0};
}

}  // namespace

size_t ValidUtf8Bytes(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (end - at >= 8 && (LoadNative<uint64_t>(at) & 0x8080808080808080u) == 0) {
      at += 8;
      continue;
    }
    const char* const character = at;
    const auto malformed = [&] { return static_cast<size_t>(character - text.data()); };
    const auto lead = static_cast<uint8_t>(*at++);
    if (lead < 0x80) continue;
    const Continuation want = ContinuationOf(lead);
    if (want.bytes == 0 || static_cast<size_t>(end - at) < want.bytes) return malformed();
    const auto first = static_cast<uint8_t>(*at++);
    if (first < want.first_low || first > want.first_high) return malformed();
    for (size_t i = 1; i < want.bytes; ++i) {
      if ((static_cast<uint8_t>(*at++) & 0xc0) != 0x80) return malformed();
    }
  }
  return text.size();
}

}  // namespace liststore
