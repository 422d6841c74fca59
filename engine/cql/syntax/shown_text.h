// What a client sent, repeated in a message: whoever sends megabytes does not get them back.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_SHOWN_TEXT_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_SHOWN_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace liststore::cql {

inline constexpr size_t kShownBytesMax = 128;

// `text`, or its first characters and "..."; whole characters, so that UTF-8 stays UTF-8.
inline std::string ShownText(std::string_view text) {
  if (text.size() <= kShownBytesMax) return std::string(text);
  size_t bytes = kShownBytesMax;
  while (bytes > 0 && (static_cast<uint8_t>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes)) + "...";
}

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_SHOWN_TEXT_H_
