// Item keys: the text under which an item stands in its list.
//
// An item key is 44 characters: the item's timestamp as 19 decimal digits of nanoseconds since the
// Unix epoch, '#', and the MD5 digest of the value in base64. Keys sort as text: by time first, and
// two items of one time are told apart by their values.
//
//   MakeItemKey(1724949845430000000, "story-1").value()   //
//   "1724949845430000000#h/BJX2HX2dk3iu9E..." ItemKeyLowerBound(1724949845430000000) //
//   "1724949845430000000", before all of them
//
// A store makes these keys itself; the functions are for programs that read or write its tables by
// CQL. Pure and thread-safe.
#ifndef LISTSTORE_ITEM_KEY_H_
#define LISTSTORE_ITEM_KEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace liststore {

// Characters of every item key.
inline constexpr size_t kItemKeyLength = 44;
// The latest timestamp of an item key, where 19 digits end: 2286-11-20 17:46:39.999999999 UTC. (A
// signed 64-bit number ends in 2262.)
inline constexpr uint64_t kItemTimestampNanosMax = 9'999'999'999'999'999'999u;

struct ItemKeyParts {
  uint64_t timestamp_nanos = 0;
  std::array<uint8_t, 16> value_md5 = {};
  bool operator==(const ItemKeyParts&) const = default;
};

// The key of an item. InvalidArgument: the timestamp is above kItemTimestampNanosMax. About 150 ns,
// and 100 ns more for each further 64 bytes of the value.
absl::StatusOr<std::string> MakeItemKey(uint64_t timestamp_nanos, std::string_view value);

// The parts of a key. InvalidArgument, with the position and the character, for everything that
// MakeItemKey does not make: another length, a digit or a base64 character that is none, a last
// character that stands for no 16 bytes.
absl::StatusOr<ItemKeyParts> ParseItemKey(std::string_view item_key);

// The position before all keys of that timestamp and behind all earlier ones: its 19 digits. As a
// lower bound it is inclusive, as an upper bound exclusive. Above kItemTimestampNanosMax: ":",
// behind all keys.
std::string ItemKeyLowerBound(uint64_t timestamp_nanos);

}  // namespace liststore

#endif  // LISTSTORE_ITEM_KEY_H_
