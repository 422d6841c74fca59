// Items <-> rows: which values of CQL an item's key and indexed attributes are, and what is left for the
// column of the item.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_ITEM_ROW_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_ITEM_ROW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"
#include "engine/faces/dynamodb/table_shape.h"

namespace liststore::dynamodb_face {

using dynamodb::AttributeValue;
using dynamodb::Item;

// Of a value of a key's type: S, N or B.
std::string ToCqlValue(const AttributeValue& value);
// `bytes` may be anything that the column's type allows; nullopt: no value of DynamoDB's.
std::optional<AttributeValue> FromCqlValue(dynamodb::AttributeType type, std::string_view bytes);
// {"S":"..."} of it; false: as above, and `out` is as it was.
bool AppendCqlValueJson(dynamodb::AttributeType type, std::string_view bytes, std::string& out);

// The key of an item, as values of the table's columns: the hash key and, if the table has one, the sort key.
// Validation errors in Amazon's words: one is missing, of another type, empty, or too long.
// `is_item`: it is a whole item that is written; else a key, that has no other attributes.
dynamodb::ErrorOr<std::vector<std::string>> KeyValuesOf(const TableShape& shape, const Item& item,
                                                        bool is_item);
// Of a value of a key's type that is asked for: too long to be one.
dynamodb::Status CheckKeyBytes(const AttributeValue& value, bool is_hash);
// An attribute of the key of an index that is of another type than that, or empty, or too long. Those that
// are not there are none.
dynamodb::Status CheckIndexed(const TableShape& shape, const Item& item);
// The key's attributes alone.
Item KeyOf(const TableShape& shape, const Item& item);
// Bytes of the item without its key: what the item's column holds.
std::string ItemColumnOf(const TableShape& shape, const Item& item);
// For each regular column of the table its value; nullopt: null.
std::vector<std::optional<std::string>> IndexedValuesOf(const TableShape& shape, const Item& item);

// When it ends, in seconds, by its attribute: never (nullopt) if the table has none for that, it is no number, more
// than five years past, or more than twenty years ahead; not before the next second. Source:
// DynamoDB's developer guide, "Using time to live", and CQL's longest TTL.
std::optional<int64_t> ExpiryOf(const TableShape& shape, const Item& item, int64_t now_seconds);

// An item of the row: the key's values, of the attributes of TableShape::KeyAttributesOf, of which those behind the
// table's own key are in the item's column anyway. A column that is broken or null is an item without other
// attributes.
Item ItemOf(std::span<const KeyAttribute> key, std::span<const std::string_view> key_values,
            std::string_view item_column);
// Its JSON. `key`: of the table alone.
void AppendItemJsonOf(std::span<const KeyAttribute> key,
                      std::span<const std::string_view> key_values, std::string_view item_column,
                      std::string& out);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_ITEM_ROW_H_
