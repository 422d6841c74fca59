// std::string_view <-> absl::string_view. Debian 12 builds Abseil with a string_view of its own, so
// that the two are distinct types there and the same type elsewhere; both cases compile.
#ifndef LISTSTORE_ENGINE_BASE_STRINGS_H_
#define LISTSTORE_ENGINE_BASE_STRINGS_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace liststore {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_STRINGS_H_
