// Items and values <-> DynamoDB's JSON: {"a":{"S":"x"},"n":{"N":"1"}}.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_ITEM_JSON_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_ITEM_JSON_H_

#include <string>
#include <string_view>

#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"
#include "engine/dynamodb/values/json.h"

namespace liststore::dynamodb {

// {"S":"x"} -> a value. Validation errors, in Amazon's words: no type or several, empty sets and duplicates
// in sets, numbers (number.h), NULL that is not true, more than kNestingMax levels. kSerialization: JSON of
// another kind than the type's. Neither sizes nor keys are checked. O(bytes * log of the largest set).
ErrorOr<AttributeValue> ValueFromJson(Json json);
// {"a":{"S":"x"}} -> an item. The errors of ValueFromJson; an empty name, or one above 65,535 bytes. Of
// repeated names the last counts.
ErrorOr<Item> ItemFromJson(Json json);

// {"S":"x"}; {"a":{"S":"x"}}: in one line without spaces. Sets in their order, attributes in that of their
// names. Appends only: no tree is made. O(bytes written).
void AppendValueJson(const AttributeValue& value, std::string& out);
void AppendItemJson(const Item& item, std::string& out);
std::string ToJson(const AttributeValue& value);
std::string ToJson(const Item& item);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_ITEM_JSON_H_
