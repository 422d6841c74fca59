// Is a byte string well-formed UTF-8? As the Unicode standard says it (table 3-7): no overlong
// forms, no surrogates, nothing above U+10FFFF.
#ifndef LISTSTORE_ENGINE_BASE_UTF8_H_
#define LISTSTORE_ENGINE_BASE_UTF8_H_

#include <string_view>

namespace liststore {

// Eight bytes a step while they are ASCII, else a character a step.
bool IsValidUtf8(std::string_view text);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_UTF8_H_
