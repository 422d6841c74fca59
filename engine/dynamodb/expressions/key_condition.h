// KeyConditionExpression: the partition of a Query, and the range within it.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_KEY_CONDITION_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_KEY_CONDITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

// An attribute of a key: S, N or B.
struct KeyAttribute {
  std::string name;
  AttributeType type = AttributeType::kS;

  bool operator==(const KeyAttribute&) const = default;
};
// Of a table or an index.
struct KeySchema {
  KeyAttribute hash;
  std::optional<KeyAttribute> sort;

  bool operator==(const KeySchema&) const = default;
};

// The one condition on the sort key.
struct SortCondition {
  enum class Kind : uint8_t {
    kEqual,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kBetween,
    kBeginsWith
  };

  Kind kind = Kind::kEqual;
  AttributeValue value;  // of kBetween the lower end, which is in
  AttributeValue upper;  // of kBetween, which is in
};

struct KeyCondition {
  AttributeValue hash;
  std::optional<SortCondition> sort;
};

// Validation errors, in Amazon's words: those of ParseCondition, "Query key condition not supported", "Query
// condition missed key schema element: pk", "KeyConditionExpressions must only contain one condition per
// key", values of another type than the schema's, an empty value. O(bytes).
ErrorOr<KeyCondition> ParseKeyCondition(std::string_view text, const KeySchema& schema,
                                        Placeholders& placeholders);

// What a tree of conditions says of the key, for KeyConditions as well.
ErrorOr<KeyCondition> KeyConditionOf(const Condition& condition, const KeySchema& schema);

// Whether a sort key is in the range; types are the schema's.
bool Contains(const SortCondition& range, const AttributeValue& sort_key);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_KEY_CONDITION_H_
