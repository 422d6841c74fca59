// Document paths: a.b[2].c
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PATH_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PATH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/dynamodb/values/attribute_value.h"

namespace liststore::dynamodb {

// A name within a map, or the place of an element within a list.
using PathElement = std::variant<std::string, uint32_t>;

// #names are resolved. More than kNestingMax elements are refused when paths are parsed.
struct Path {
  std::string attribute;              // of the item
  std::vector<PathElement> elements;  // within it

  bool is_top_level() const { return elements.empty(); }
  // As Amazon writes paths in errors: "[a, b, [2], c]".
  std::string ToText() const;

  bool operator==(const Path&) const = default;
};

// nullptr: there is nothing there. Valid as long as the item is not changed. O(elements * log).
const AttributeValue* Resolve(const Path& path, const Item& item);

// Two paths that cannot be in one projection or update.
struct PathClash {
  bool
      overlap;  // one leads to the other or beyond it; else they conflict: here a map, there a list
  size_t first, second;  // of the paths
};
// The first clash there is, else nullopt. Source: DynamoDB's errors "Two document paths overlap with each
// other" and "Two document paths conflict with each other". O(n log n) of the paths' elements.
std::optional<PathClash> FindClash(const std::vector<const Path*>& paths);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PATH_H_
