// ProjectionExpression: which parts of an item are answered.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PROJECTION_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PROJECTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/dynamodb/expressions/path.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

// No paths: everything.
struct Projection {
  std::vector<Path> paths;  // none leads to another or beyond it

  bool is_everything() const { return paths.empty(); }
  // Whole attributes alone: nothing within them.
  bool is_top_level() const;
};

// Validation errors, in Amazon's words, "Invalid ProjectionExpression: ...": syntax, reserved words, names
// that are not defined, overlapping paths, limits. O(bytes log bytes).
ErrorOr<Projection> ParseProjection(std::string_view text, Placeholders& placeholders);

// What the paths lead to, with the maps and lists on the way: of `m.a` {"m":{"M":{"a":...}}}; of lists the
// elements that are named, in their order and without gaps. What is not there is left out, and with it what
// leads to it alone. O(paths * log + values copied).
Item Project(const Projection& projection, const Item& item);

// Sorted, each once; valid as long as the projection.
std::vector<std::string_view> AttributesOf(const Projection& projection);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PROJECTION_H_
