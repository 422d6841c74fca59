// Cat and AppendTo: absl::StrCat and absl::StrAppend, which take std::string_view as well; FrontOf.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_TEXT_H_
#define LISTSTORE_ENGINE_FACES_HTTP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/strings.h"

namespace liststore::http_face {

template <typename Part>
const Part& ForAbsl(const Part& part) {
  return part;
}
inline absl::string_view ForAbsl(const std::string_view& part) { return ToAbsl(part); }

template <typename... Parts>
std::string Cat(const Parts&... parts) {
  return absl::StrCat(ForAbsl(parts)...);
}
template <typename... Parts>
void AppendTo(std::string& to, const Parts&... parts) {
  absl::StrAppend(&to, ForAbsl(parts)...);
}

// The front of a text in UTF-8, `bytes_max` at most: no character is cut in half.
inline std::string_view FrontOf(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_TEXT_H_
