// ConditionExpression and FilterExpression: parsed, then asked of items.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/dynamodb/expressions/effort.h"
#include "engine/dynamodb/expressions/expression_kind.h"
#include "engine/dynamodb/expressions/path.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

enum class Comparator : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual
};

// size(path)
struct SizeOf {
  Path path;

  bool operator==(const SizeOf&) const = default;
};
// What stands beside a comparator, or between the parentheses of a function. Constants are copies: a tree
// outlives its request.
using Operand = std::variant<Path, AttributeValue, SizeOf>;

struct Condition {
  enum class Kind : uint8_t {
    kAlways,              // no condition: true
    kAnd,                 // of all of `children`
    kOr,                  // of one of them
    kNot,                 // the one child
    kCompare,             // operands[0] comparator operands[1]
    kBetween,             // operands[1] <= operands[0] <= operands[2]
    kIn,                  // operands[0] equals one of the others
    kAttributeExists,     // operands[0], a path
    kAttributeNotExists,  // the same
    kAttributeType,       // operands[0], a path, is of `type`
    kBeginsWith,          // operands[0] begins with operands[1]
    kContains,            // operands[0] contains operands[1]
    kNotContains,  // of legacy parameters: NOT_CONTAINS, which asks for an attribute that is there
  };

  Kind kind = Kind::kAlways;
  Comparator comparator = Comparator::kEqual;
  AttributeType type = AttributeType::kS;
  std::vector<Operand> operands;
  std::vector<Condition> children;

  bool is_always() const { return kind == Kind::kAlways; }
};

// Validation errors, in Amazon's words, "Invalid FilterExpression: ...": syntax, reserved words, names and
// values that are not defined, functions and their operands, limits. `kind`: kCondition or kFilter. O(bytes).
ErrorOr<Condition> ParseCondition(std::string_view text, ExpressionKind kind,
                                  Placeholders& placeholders);

// Whether the condition is true of the item; one without attributes is an item that is not there. Operands of
// wrong types make a comparison false. Validation error: that takes more than is left of the effort.
// O(operators + bytes of the values compared), and no more than the effort.
ErrorOr<bool> Evaluate(const Condition& condition, const Item& item, Effort& effort);

// size(): UTF-16 units of a string, bytes of a binary, elements of others; nullopt: numbers and the like have none.
std::optional<AttributeValue> SizeAsValue(const AttributeValue& value);

// Names of the attributes that it looks at, sorted, each once: what has to be decoded (ItemView::Select). Valid
// as long as the condition. O(n log n).
std::vector<std::string_view> AttributesOf(const Condition& condition);

// A filter of Query must not name a key attribute of what is queried: "Filter Expression can only contain
// non-primary key attributes: Primary key attribute: pk". `legacy`: the words for QueryFilter.
Status CheckFilterOfQuery(const Condition& filter, std::string_view hash_name,
                          std::string_view sort_name, bool legacy = false);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_H_
