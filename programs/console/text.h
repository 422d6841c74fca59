// Numbers, instants and values as people read them.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_TEXT_H_
#define LISTSTORE_PROGRAMS_CONSOLE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "liststore/list_ref.h"

namespace liststore {

// 1234567 -> "1,234,567".
std::string Grouped(uint64_t number);
// "1 row", "1,234 rows"; `what` in the singular.
std::string Counted(uint64_t count, std::string_view what);
// 1536 -> "1.5 KiB".
std::string Bytes(uint64_t bytes);
// The two leading units of a time: "29d 23h", "4m 5s", "0s".
std::string DurationText(uint64_t seconds);
// "2024-08-29 16:44:05", with ".123456789" behind it where the second is not whole.
std::string UtcTime(uint64_t nanos);
// "user/touched_files entity 17", the version behind the feature as "@v2" where there is one.
std::string ListName(const ListId& list);
// A byte of UTF-8 that begins no character.
inline bool IsWithinCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}
// Columns that `text` takes on a terminal, one for each code point.
size_t Columns(std::string_view text);
// At most `columns` columns of `value`, safe for a terminal: control characters and what is not
// UTF-8 as \xNN, what was cut off as an ellipsis.
std::string Printable(std::string_view value, size_t columns);
// All of `text`, safe for a terminal in the same way, but that its newlines stay.
std::string PrintableLines(std::string_view text);
// `text` with blanks behind it up to `columns`.
std::string Padded(std::string text, size_t columns);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_TEXT_H_
