// Misspelt names: which one was meant.
#ifndef LISTSTORE_ENGINE_BASE_NEAREST_NAME_H_
#define LISTSTORE_ENGINE_BASE_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace liststore {

// The one of `names` that is written most like `name`; empty: none is near. O(names x length^2).
std::string_view NearestName(std::string_view name, std::span<const std::string_view> names);
// For the end of a message: "; did you mean NAME?", or nothing.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> names);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_NEAREST_NAME_H_
