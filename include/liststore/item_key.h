// Item keys: the clustering keys of items, as text.
//
// An item key has 44 characters: the item's timestamp as 19 decimal digits of nanoseconds since the
// Unix epoch, '#', and the MD5 digest of the value in base64. Keys sort as text: first by time,
// then by the digest of the value.
//
//   MakeItemKey(1724949845430000000, "story-1").value()
//       // "1724949845430000000#h/BJX2HX2dk3iu9E..."
//   ItemKeyLowerBound(1724949845430000000)
//       // "1724949845430000000", before all keys of that instant
//
// A store makes these keys itself. The functions are for programs that read or write its tables
// through CQL. They are pure and thread-safe.
#ifndef LISTSTORE_ITEM_KEY_H_
#define LISTSTORE_ITEM_KEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace liststore {

// Length of every item key, in characters.
inline constexpr size_t kItemKeyLength = 44;
// The latest timestamp of an item key, the largest with 19 digits: 2286-11-20 17:46:39.999999999
// UTC. (Signed 64-bit nanoseconds end in 2262.)
inline constexpr uint64_t kItemTimestampNanosMax = 9'999'999'999'999'999'999u;

struct ItemKeyParts {
  uint64_t timestamp_nanos = 0;
  std::array<uint8_t, 16> value_md5 = {};
  bool operator==(const ItemKeyParts&) const = default;
};

// The key of an item. InvalidArgument: the timestamp is above kItemTimestampNanosMax. Takes about
// 150 ns, and 100 ns more for each further 64 bytes of the value.
absl::StatusOr<std::string> MakeItemKey(uint64_t timestamp_nanos, std::string_view value);

// The parts of a key. InvalidArgument for any text that MakeItemKey does not return: a wrong
// length, a character that is not a digit or not base64, or a last character that does not encode
// 16 bytes. The message names the position and the character.
absl::StatusOr<ItemKeyParts> ParseItemKey(std::string_view item_key);

// The position before all keys of that timestamp and after all keys of earlier ones: the 19 digits.
// Inclusive as a lower bound, exclusive as an upper bound. Above kItemTimestampNanosMax: ":", which
// is after all keys.
std::string ItemKeyLowerBound(uint64_t timestamp_nanos);

}  // namespace liststore

#endif  // LISTSTORE_ITEM_KEY_H_
