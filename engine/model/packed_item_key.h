// Item keys in 24 bytes: 8 of big-endian nanoseconds, 16 for the digest, with the sextets of its
// base64 text ranked in ASCII order, so that memcmp of two packed keys orders like their texts.
// Only what round-trips exactly is packed: a text is accepted exactly when unpacking gives it back.
//
// The text form is 44 characters: 19 digits, '#', 22 of base64, "==".
#ifndef LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_H_
#define LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/big_endian.h"

namespace liststore {

inline constexpr size_t kItemKeyDigits = 19;
inline constexpr size_t kItemKeyTextBytes = 44;
inline constexpr size_t kPackedItemKeyBytes = 24;
// 19 digits end here, in the year 2286.
inline constexpr uint64_t kItemKeyNanosMax = 9'999'999'999'999'999'999u;

using PackedItemKey = std::array<char, kPackedItemKeyBytes>;

// Text to packed. False when `text` is not a canonical item key; `packed` is then unspecified. 8
// ns.
bool PackItemKey(std::string_view text, char packed[kPackedItemKeyBytes]);

// Packed to the 44 characters of text. 8.5 ns.
void UnpackItemKey(const char packed[kPackedItemKeyBytes], char text[kItemKeyTextBytes]);
// The same of `count` keys, each so many bytes behind the one before, each text behind its length in
// four bytes, big-endian.
void UnpackItemKeys(const char* packed, size_t packed_stride, size_t count, char* cells,
                    size_t cell_stride);

// Nanoseconds (at most kItemKeyNanosMax) and a raw 16-byte MD5 digest to packed. 4 ns.
void PackItemKeyFromDigest(uint64_t nanos, const uint8_t digest[16],
                           char packed[kPackedItemKeyBytes]);

// Whether these bytes are a packed key: of its length, at a time that 19 digits can tell. All
// digests are.
inline bool IsPackedItemKey(std::string_view bytes) {
  return bytes.size() == kPackedItemKeyBytes && LoadBigEndian64(bytes.data()) <= kItemKeyNanosMax;
}

// The nanoseconds of a packed key.
uint64_t PackedItemKeyNanos(const char packed[kPackedItemKeyBytes]);

// The smallest packed key at or after the position `text` (see ClusteringBound), when that is one
// of the shapes that bounds have: 19 digits; 19 digits and '#'; a canonical key; a canonical key
// and a zero byte (the position just behind it). nullopt for any other text, and where nothing
// packed follows.
std::optional<PackedItemKey> PackItemKeyBound(std::string_view text);

// Three-way comparison of packed keys; the sign of memcmp, without its call: two keys have other
// nanoseconds as a rule.
inline int ComparePackedItemKeys(const char* a, const char* b) {
  for (size_t at = 0; at < kPackedItemKeyBytes; at += sizeof(uint64_t)) {
    const uint64_t of_a = LoadBigEndian64(a + at);
    const uint64_t of_b = LoadBigEndian64(b + at);
    if (of_a != of_b) return of_a < of_b ? -1 : 1;
  }
  return 0;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_H_
