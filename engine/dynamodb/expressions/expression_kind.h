// Where an expression stands in a request, and what limits all of them have.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EXPRESSION_KIND_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EXPRESSION_KIND_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace liststore::dynamodb {

enum class ExpressionKind : uint8_t {
  kCondition,
  kFilter,
  kKeyCondition,
  kProjection,
  kUpdate
};

// "ConditionExpression", ...: the parameter, and what errors begin with ("Invalid ConditionExpression: ").
std::string_view NameOf(ExpressionKind kind);

// Source: DynamoDB's developer guide, "Quotas", expression parameters.
inline constexpr size_t kExpressionBytesMax = 4096;
inline constexpr int kOperatorsMax = 300;
inline constexpr int kInOperandsMax = 100;
// Parentheses, NOTs and calls within one another. Our own: an expression of 4 KB may have 4,000 of them.
inline constexpr int kExpressionNestingMax = 100;

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EXPRESSION_KIND_H_
