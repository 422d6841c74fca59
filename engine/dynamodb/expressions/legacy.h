// Parameters from before there were expressions -> the trees of expressions. Source: DynamoDB's developer
// guide, "Legacy conditional parameters".
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_LEGACY_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_LEGACY_H_

#include <optional>
#include <string_view>
#include <vector>

#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/key_condition.h"
#include "engine/dynamodb/expressions/projection.h"
#include "engine/dynamodb/expressions/update.h"
#include "engine/dynamodb/values/error.h"
#include "engine/dynamodb/values/json.h"

namespace liststore::dynamodb {

// Expected: {"a":{"Value":{...}}}, {"a":{"Exists":false}}, {"a":{"ComparisonOperator":"GT",
// "AttributeValueList":[...]}}; joined by ConditionalOperator, AND where that is absent. Absent: kAlways.
// Validation errors in Amazon's words.
ErrorOr<Condition> ConditionOfExpected(Json expected, Json conditional_operator);
// QueryFilter, ScanFilter: {"a":{"ComparisonOperator":"GT","AttributeValueList":[...]}}.
ErrorOr<Condition> ConditionOfFilter(Json filter, Json conditional_operator);
// KeyConditions: the same form, of the attributes of the key.
ErrorOr<KeyCondition> KeyConditionOfKeyConditions(Json key_conditions, const KeySchema& schema);
// AttributesToGet: ["a","b"]. Absent: everything.
ErrorOr<Projection> ProjectionOfAttributesToGet(Json attributes);
// AttributeUpdates: {"a":{"Action":"PUT","Value":{...}}}. Absent: no actions.
ErrorOr<Update> UpdateOfAttributeUpdates(Json updates);

// "Can not use both expression and non-expression parameters in the same request: Non-expression parameters:
// {Expected} Expression parameters: {ConditionExpression}", if there are some of either kind.
Status CheckNotMixed(Json request, const std::vector<std::string_view>& legacy,
                     const std::vector<std::string_view>& expressions);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_LEGACY_H_
