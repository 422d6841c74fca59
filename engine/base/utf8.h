// Is a byte string well-formed UTF-8? As the Unicode standard says it (table 3-7): no overlong
// forms, no surrogates, nothing above U+10FFFF.
#ifndef LISTSTORE_ENGINE_BASE_UTF8_H_
#define LISTSTORE_ENGINE_BASE_UTF8_H_

#include <cstddef>
#include <string_view>

namespace liststore {

// How many bytes there are before the first character that is malformed or cut off; all of them
// when there is none. Eight bytes a step while they are ASCII, else a character a step.
size_t ValidUtf8Bytes(std::string_view text);

inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Bytes(text) == text.size(); }

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_UTF8_H_
