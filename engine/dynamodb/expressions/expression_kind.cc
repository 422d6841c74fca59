#include "engine/dynamodb/expressions/expression_kind.h"

#include <array>

namespace liststore::dynamodb {

std::string_view NameOf(ExpressionKind kind) {
  constexpr std::array<std::string_view, 5> kKindNames = {
      "ConditionExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression",
      "UpdateExpression"};
  return kKindNames[static_cast<size_t>(kind)];
}

}  // namespace liststore::dynamodb
