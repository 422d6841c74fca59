// What may be kept of a statement's text, for whoever shows it later.
#ifndef LISTSTORE_ENGINE_EXECUTE_KEPT_TEXT_H_
#define LISTSTORE_ENGINE_EXECUTE_KEPT_TEXT_H_

#include <cstddef>
#include <string_view>

namespace liststore::execute {

// The longest beginning of `text` that has at most `bytes_max` bytes, is whole characters of UTF-8,
// and ends with the first word PASSWORD, whatever the statement is. O(bytes).
std::string_view KeptText(std::string_view text, size_t bytes_max);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_KEPT_TEXT_H_
