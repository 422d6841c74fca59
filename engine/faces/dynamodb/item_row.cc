#include "engine/faces/dynamodb/item_row.h"

#include <algorithm>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"
#include "engine/dynamodb/values/json.h"
#include "engine/dynamodb/values/number.h"
#include "engine/faces/http/text.h"
#include "engine/model/time.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::AttributeType;
using dynamodb::Error;
using dynamodb::Number;
using http_face::Cat;

// Source: DynamoDB's developer guide, "Quotas", partition key and sort key.
constexpr size_t kHashBytesMax = 2048;
constexpr size_t kSortBytesMax = 1024;
constexpr int64_t kFiveYearsSeconds = int64_t{5} * 365 * 86'400;

bool IsEmptyKey(const AttributeValue& value) {
  if (const std::string* text = value.string()) return text->empty();
  const AttributeValue::Binary* const binary = value.binary();
  return binary != nullptr && binary->bytes.empty();
}

size_t KeyBytesOf(const AttributeValue& value) {
  if (const std::string* text = value.string()) return text->size();
  const AttributeValue::Binary* const binary = value.binary();
  return binary == nullptr ? 0 : binary->bytes.size();
}

std::optional<Error> CheckKeyPart(const KeyAttribute& attribute, const AttributeValue& value,
                                  bool is_hash, bool is_item) {
  if (!value.is(attribute.type)) {
    if (!is_item) {
      return dynamodb::Invalid("The provided key element does not match the schema");
    }
    return dynamodb::InvalidParameter(Cat("Type mismatch for key ", attribute.name,
                                          " expected: ", dynamodb::NameOf(attribute.type),
                                          " actual: ", dynamodb::NameOf(value.type())));
  }
  if (IsEmptyKey(value)) {
    return dynamodb::Invalid(
        Cat("One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty ",
            value.string() != nullptr ? "string" : "binary", " value. Key: ", attribute.name));
  }
  dynamodb::Status bytes = CheckKeyBytes(value, is_hash);
  if (!bytes.ok()) return bytes.TakeError();
  return std::nullopt;
}

}  // namespace

dynamodb::Status CheckKeyBytes(const AttributeValue& value, bool is_hash) {
  if (KeyBytesOf(value) <= (is_hash ? kHashBytesMax : kSortBytesMax)) return {};
  return dynamodb::InvalidParameter(
      is_hash ? "Size of hashkey has exceeded the maximum size limit of2048 bytes"
              : "Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
}

std::string ToCqlValue(const AttributeValue& value) {
  if (const std::string* text = value.string()) return *text;
  if (const Number* number = value.number()) return number->ToCqlDecimal();
  return value.binary()->bytes;
}

std::optional<AttributeValue> FromCqlValue(AttributeType type, std::string_view bytes) {
  switch (type) {
    case AttributeType::kS:
      return AttributeValue::OfString(std::string(bytes));
    case AttributeType::kB:
      return AttributeValue::OfBinary(std::string(bytes));
    default: {
      const dynamodb::ErrorOr<Number> number = Number::FromCqlDecimal(bytes);
      if (!number.ok()) return std::nullopt;
      return AttributeValue::OfNumber(*number);
    }
  }
}

bool AppendCqlValueJson(AttributeType type, std::string_view bytes, std::string& out) {
  switch (type) {
    case AttributeType::kS:
      out += "{\"S\":";
      dynamodb::AppendJsonString(bytes, out);
      break;
    case AttributeType::kB:
      out += "{\"B\":";
      dynamodb::AppendJsonBase64(bytes, out);
      break;
    default: {
      const dynamodb::ErrorOr<Number> number = Number::FromCqlDecimal(bytes);
      if (!number.ok()) return false;
      out += "{\"N\":\"";
      number->AppendText(out);
      out += '"';
    }
  }
  out += '}';
  return true;
}

dynamodb::ErrorOr<std::vector<std::string>> KeyValuesOf(const TableShape& shape, const Item& item,
                                                        bool is_item) {
  std::vector<std::string> values;
  const std::vector<KeyAttribute> key = shape.KeyAttributesOf(nullptr);
  if (!is_item && item.size() != key.size()) {
    return dynamodb::Invalid("The provided key element does not match the schema");
  }
  for (const KeyAttribute& attribute : key) {
    const AttributeValue* const value = item.Find(attribute.name);
    if (value == nullptr) {
      if (!is_item) return dynamodb::Invalid("The provided key element does not match the schema");
      return dynamodb::InvalidParameter(Cat("Missing the key ", attribute.name, " in the item"));
    }
    if (std::optional<Error> error = CheckKeyPart(attribute, *value, values.empty(), is_item)) {
      return *std::move(error);
    }
    values.push_back(ToCqlValue(*value));
  }
  return values;
}

dynamodb::Status CheckIndexed(const TableShape& shape, const Item& item) {
  for (const IndexShape& index : shape.notes.indexes) {
    for (const KeyAttribute* key :
         {&index.keys.hash, index.keys.sort ? &*index.keys.sort : nullptr}) {
      if (key == nullptr) continue;
      const AttributeValue* const value = item.Find(key->name);
      if (value == nullptr) continue;
      if (!value->is(key->type)) {
        return dynamodb::InvalidParameter(Cat(
            "Type mismatch for Index Key ", key->name, " Expected: ", dynamodb::NameOf(key->type),
            " Actual: ", dynamodb::NameOf(value->type()), " IndexName: ", index.name));
      }
      if (IsEmptyKey(*value)) {
        return dynamodb::Invalid(
            Cat("One or more parameter values are not valid. A value specified for a secondary "
                "index key is not supported. The AttributeValue for a key attribute cannot contain "
                "an empty ",
                value->string() != nullptr ? "string" : "binary", " value. IndexName: ", index.name,
                ", IndexKey: ", key->name));
      }
      const size_t bytes_max = key == &index.keys.hash ? kHashBytesMax : kSortBytesMax;
      if (KeyBytesOf(*value) > bytes_max) {
        return dynamodb::InvalidParameter(Cat("Size of index key ", key->name,
                                              " has exceeded the maximum size limit of ", bytes_max,
                                              " bytes"));
      }
    }
  }
  return {};
}

Item KeyOf(const TableShape& shape, const Item& item) {
  Item key;
  for (const KeyAttribute& attribute : shape.KeyAttributesOf(nullptr)) {
    if (const AttributeValue* value = item.Find(attribute.name)) key.Set(attribute.name, *value);
  }
  return key;
}

std::string ItemColumnOf(const TableShape& shape, const Item& item) {
  Item rest = item;
  rest.Erase(shape.keys.hash.name);
  if (shape.keys.sort) rest.Erase(shape.keys.sort->name);
  return dynamodb::ItemBytes(rest);
}

std::vector<std::optional<std::string>> IndexedValuesOf(const TableShape& shape, const Item& item) {
  std::vector<std::optional<std::string>> values(shape.indexed.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (shape.indexed[i].name.empty()) continue;
    const AttributeValue* const value = item.Find(shape.indexed[i].name);
    // What can be no key of an index is in none.
    const bool is_key = value != nullptr && value->is(shape.indexed[i].type) &&
                        !IsEmptyKey(*value) && KeyBytesOf(*value) <= kHashBytesMax;
    if (is_key) values[i] = ToCqlValue(*value);
  }
  return values;
}

std::optional<int64_t> ExpiryOf(const TableShape& shape, const Item& item, int64_t now_seconds) {
  if (shape.notes.ttl_attribute.empty()) return std::nullopt;
  const AttributeValue* const value = item.Find(shape.notes.ttl_attribute);
  const Number* const number = value == nullptr ? nullptr : value->number();
  if (number == nullptr) return std::nullopt;
  const int64_t at = number->Floor();
  if (at <= now_seconds - kFiveYearsSeconds) return std::nullopt;
  if (at > now_seconds && at - now_seconds > kTtlSecondsMax) return std::nullopt;
  return std::max(at, now_seconds + 1);
}

Item ItemOf(std::span<const KeyAttribute> key, std::span<const std::string_view> key_values,
            std::string_view item_column) {
  Item item = dynamodb::ItemFromBytes(item_column).value_or(Item());
  for (size_t i = 0; i < key.size(); ++i) {
    std::optional<AttributeValue> value = FromCqlValue(key[i].type, key_values[i]);
    if (value) item.Set(key[i].name, *std::move(value));
  }
  return item;
}

void AppendItemJsonOf(std::span<const KeyAttribute> key,
                      std::span<const std::string_view> key_values, std::string_view item_column,
                      std::string& out) {
  out += '{';
  bool is_first = true;
  for (size_t i = 0; i < key.size(); ++i) {
    const size_t before = out.size();
    if (!is_first) out += ',';
    dynamodb::AppendJsonString(key[i].name, out);
    out += ':';
    if (AppendCqlValueJson(key[i].type, key_values[i], out)) {
      is_first = false;
    } else {
      out.resize(before);
    }
  }
  const size_t before = out.size();
  if (!is_first) out += ',';
  const size_t behind_comma = out.size();
  // Nothing of an item without other attributes.
  if (!dynamodb::AppendMembersJsonOfBytes(item_column, out) || out.size() == behind_comma) {
    out.resize(before);
  }
  out += '}';
}

}  // namespace liststore::dynamodb_face
