#include "engine/cql/values/decode_json.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/cql/values/encode_value.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/marshal_name.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

using Kind = DataType::Kind;
using Decoded = CqlOr<std::string>;

constexpr std::string_view kMarshalingError = "marshaling error: ";

CqlError MarshalingFailure(const std::string& detail) {
  return CqlError::Server(std::string(kMarshalingError) + detail);
}

std::string Shown(const JsonValue& json) { return ShownText(PrintJson(json)); }

std::string_view RapidJsonType(const JsonValue& json) {
  if (const bool* value = json.As<bool>()) return *value ? "kTrueType" : "kFalseType";
  if (json.is_null()) return "kNullType";
  if (json.is_string()) return "kStringType";
  if (json.As<JsonArray>() != nullptr) return "kArrayType";
  return json.As<JsonObject>() != nullptr ? "kObjectType" : "kNumberType";
}

CqlError OutOfRange(const std::string& number) {
  return MarshalingFailure("Value " + number + " out of range");
}

// ---- Numbers

// An integer of 8 * `bytes` bits. Numbers with a point or an exponent are taken where they are
// whole.
CqlOr<int64_t> ToInteger(const JsonValue& json, size_t bytes) {
  const auto max = static_cast<int64_t>((uint64_t{1} << (8 * bytes - 1)) - 1);
  if (const int64_t* integer = json.As<int64_t>()) {
    if (*integer <= max && *integer >= -max - 1) return *integer;
    return OutOfRange(std::to_string(*integer));
  }
  if (const uint64_t* large = json.As<uint64_t>()) return OutOfRange(std::to_string(*large));
  const double* number = json.As<double>();
  if (number == nullptr) {
    return MarshalingFailure("Incorrect JSON value for int64 type: " + Shown(json));
  }
  double whole = 0;
  if (const double fraction = std::modf(*number, &whole); fraction != 0) {
    return MarshalingFailure("Incorrect JSON floating-point value for int64 type: " + Shown(json) +
                             " (it should not contain fractional part " + PrintShortest(fraction) +
                             ")");
  }
  // A power of two, which a double holds as it is.
  const double end = std::ldexp(1, static_cast<int>(8 * bytes) - 1);
  if (*number < -end || *number >= end) return OutOfRange(PrintShortest(*number));
  return static_cast<int64_t>(*number);
}

Decoded IntegerFromJson(const JsonValue& json, CqlType type) {
  LS_ASSIGN_OR_RETURN(const int64_t integer, ToInteger(json, CqlFixedBytes(type)));
  return EncodeInteger(integer, type);
}

double ToDouble(const JsonValue& json) {
  if (const int64_t* integer = json.As<int64_t>()) return static_cast<double>(*integer);
  if (const uint64_t* integer = json.As<uint64_t>()) return static_cast<double>(*integer);
  return *json.As<double>();
}

Decoded DecodeFloating(const JsonValue& json, CqlType type) {
  if (!json.is_number()) {
    return MarshalingFailure("JSON value must be represented as double or string");
  }
  const double number = ToDouble(json);
  if (type == CqlType::kDouble) return EncodeDouble(number);
  // What is too large for a float is infinite.
  if (std::abs(number) > static_cast<double>(std::numeric_limits<float>::max())) {
    return EncodeFloat(
        std::copysign(std::numeric_limits<float>::infinity(), number < 0 ? -1.f : 1.f));
  }
  return EncodeFloat(static_cast<float>(number));
}

// ---- Texts

ConstantKind ConstantKindOf(CqlType type) {
  switch (type) {
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
    case CqlType::kVarint:
      return ConstantKind::kInteger;
    case CqlType::kFloat:
    case CqlType::kDouble:
    case CqlType::kDecimal:
      return ConstantKind::kFloat;
    case CqlType::kUuid:
    case CqlType::kTimeuuid:
      return ConstantKind::kUuid;
    case CqlType::kBlob:
      return ConstantKind::kHex;
    case CqlType::kDuration:
      return ConstantKind::kDuration;
    default:
      return ConstantKind::kString;
  }
}

// Of a string without characters ScyllaDB makes the value without bytes.
bool IsEmptyOfNothing(CqlType type) {
  switch (type) {
    case CqlType::kFloat:
    case CqlType::kDouble:
    case CqlType::kDecimal:
    case CqlType::kVarint:
    case CqlType::kUuid:
    case CqlType::kTimeuuid:
      return true;
    default:
      return false;
  }
}

// As the literal of that text.
Decoded DecodeText(const std::string& text, CqlType type) {
  if (text.empty() && IsEmptyOfNothing(type)) return std::string();
  Decoded value = EncodeConstant({ConstantKindOf(type), text}, type, {});
  if (value.ok()) return value;
  CqlError error = value.status();
  error.code = CqlErrorCode::kServerError;
  return error;
}

Decoded DecodeBlob(const std::string& text) {
  if (!text.starts_with("0x")) return MarshalingFailure("Blob JSON strings must start with 0x");
  return DecodeText(text, CqlType::kBlob);
}

// Without space around it and in any case. Source: ScyllaDB, by boost::trim_all, to_lower.
Decoded DecodeBoolean(const JsonValue& json) {
  if (const bool* value = json.As<bool>()) return EncodeBoolean(*value);
  std::string word;
  if (const std::string* text = json.As<std::string>()) {
    const size_t begin = std::min(text->find_first_not_of(" \t\n\v\f\r"), text->size());
    const size_t end = text->find_last_not_of(" \t\n\v\f\r");
    word = text->substr(begin, end == std::string::npos ? 0 : end + 1 - begin);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (word == "true" || word == "false") return EncodeBoolean(word == "true");
  return MarshalingFailure("Invalid JSON object " + Shown(json));
}

// What ScyllaDB calls a type that it wants a string of.
std::string_view InternalName(CqlType type) {
  switch (type) {
    case CqlType::kBlob:
      return "bytes_type";
    case CqlType::kTimeuuid:
      return "timeuuid_type";
    case CqlType::kDate:
      return "simple_date_type";
    case CqlType::kTime:
      return "time_type";
    case CqlType::kUuid:
      return "uuid_type";
    case CqlType::kInet:
      return "inet_addr_type";
    default:
      LS_CHECK(type == CqlType::kDuration, "the other types take more than strings");
      return "duration_type";
  }
}

Decoded DecodeStringOnly(const JsonValue& json, CqlType type) {
  const std::string* text = json.As<std::string>();
  if (text == nullptr) {
    return MarshalingFailure(std::string(InternalName(type)) +
                             " must be represented as string in JSON, instead got '" + Shown(json) +
                             "'");
  }
  // No value of other types has as few bytes that is none. Source: ScyllaDB types/types.cc,
  // validate_visitor.
  if (type == CqlType::kDuration && text->empty()) {
    return MarshalingFailure("Expected at least 3 bytes for a duration, got 0");
  }
  return type == CqlType::kBlob ? DecodeBlob(*text) : DecodeText(*text, type);
}

// All that EncodeJson writes, which is more than ScyllaDB reads.
Decoded DecodeTimestamp(const std::string& text) {
  if (const std::optional<int64_t> printed = ReadPrintedTimestamp(text)) {
    return EncodeInteger(*printed, CqlType::kBigint);
  }
  return DecodeText(text, CqlType::kTimestamp);
}

Decoded DecodeNative(const JsonValue& json, CqlType type) {
  const std::string* text = json.As<std::string>();
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      if (text != nullptr) return DecodeText(*text, type);
      return CqlError::Server("rjson::to_string_view expects a string value, got: " +
                              std::string(RapidJsonType(json)));
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
      return text != nullptr ? DecodeText(*text, type) : IntegerFromJson(json, type);
    case CqlType::kCounter:
      if (json.is_number()) return IntegerFromJson(json, type);
      return MarshalingFailure("Counters must be represented as JSON integer");
    case CqlType::kFloat:
    case CqlType::kDouble:
      return text != nullptr ? DecodeText(*text, type) : DecodeFloating(json, type);
    case CqlType::kVarint:
      return DecodeText(text != nullptr ? *text : PrintJson(json), type);
    case CqlType::kDecimal:
      if (text != nullptr) return DecodeText(*text, type);
      if (json.is_number()) return DecodeText(PrintJson(json), type);
      return MarshalingFailure(Shown(json) + " must be represented as numeric or string in JSON");
    case CqlType::kTimestamp:
      if (text != nullptr) return DecodeTimestamp(*text);
      if (json.is_number()) return IntegerFromJson(json, CqlType::kBigint);
      return MarshalingFailure("timestamp_type must be represented as string or integer");
    case CqlType::kBoolean:
      return DecodeBoolean(json);
    case CqlType::kBlob:
    case CqlType::kDate:
    case CqlType::kDuration:
    case CqlType::kInet:
    case CqlType::kTime:
    case CqlType::kTimeuuid:
    case CqlType::kUuid:
      return DecodeStringOnly(json, type);
  }
  LS_UNREACHABLE("a type is one of the enum");
}

// ---- Collections and types with fields

CqlError WrongShape(std::string_view type, std::string_view wanted) {
  return MarshalingFailure(std::string(type) + " must be represented as JSON " +
                           std::string(wanted));
}

Decoded DecodeElements(const JsonValue& json, const DataType& type) {
  const auto* array = json.As<JsonArray>();
  if (array == nullptr) {
    return WrongShape(type.kind() == Kind::kList ? "list_type" : "set_type", "Array");
  }
  std::vector<std::string> elements;
  for (const JsonValue& element : *array) {
    LS_ASSIGN_OR_RETURN(std::string value, DecodeJson(element, type.parameters()[0]));
    elements.push_back(std::move(value));
  }
  return EncodeCollection(type, std::move(elements));
}

Decoded DecodeKey(const std::string& name, const DataType& type) {
  if (type.is_native()) return DecodeJson(JsonValue{name}, type);
  CqlOr<JsonValue> json = ParseJson(name);
  if (json.ok()) return DecodeJson(*json, type);
  return MarshalingFailure("Failed parsing map_key " + ShownText(QuoteJson(name)) + ": " +
                           json.error().message);
}

Decoded DecodeMap(const JsonValue& json, const DataType& type) {
  const auto* members = json.As<JsonObject>();
  if (members == nullptr) return WrongShape("map_type", "Object");
  std::vector<std::string> elements;
  for (const auto& [name, member] : *members) {
    LS_ASSIGN_OR_RETURN(std::string value, DecodeJson(member, type.parameters()[1]));
    LS_ASSIGN_OR_RETURN(std::string key, DecodeKey(name, type.parameters()[0]));
    elements.push_back(std::move(key));
    elements.push_back(std::move(value));
  }
  return EncodeCollection(type, std::move(elements));
}

Decoded DecodeTuple(const JsonValue& json, const DataType& type) {
  const auto* array = json.As<JsonArray>();
  if (array == nullptr) return WrongShape("tuple_type", "Array");
  const std::vector<DataType>& types = type.parameters();
  if (array->size() > types.size()) {
    return MarshalingFailure("Too many values (" + std::to_string(array->size()) +
                             ") for tuple with size " + std::to_string(types.size()));
  }
  std::vector<std::optional<std::string>> fields;
  for (size_t i = 0; i < array->size(); ++i) {
    LS_ASSIGN_OR_RETURN(std::string value, DecodeJson((*array)[i], types[i]));
    fields.emplace_back(std::move(value));
  }
  return EncodeTuple(fields);
}

Decoded DecodeUser(const JsonValue& json, const DataType& type) {
  const auto* members = json.As<JsonObject>();
  if (members == nullptr) return WrongShape("user_type", "Object");
  const std::vector<std::string>& names = type.user().fields;
  std::vector<std::optional<std::string>> fields(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at =
        std::ranges::find_if(*members, [&](const auto& member) { return member.name == names[i]; });
    if (at == members->end() || at->value.is_null()) continue;
    LS_ASSIGN_OR_RETURN(fields[i], DecodeJson(at->value, type.parameters()[i]));
  }
  for (const auto& member : *members) {
    if (std::ranges::count(names, member.name) != 0) continue;
    return MarshalingFailure("Extraneous field definition for user type " + type.user().name +
                             ": " + ShownText(member.name));
  }
  return EncodeTuple(fields);
}

// ---- fromJson

CqlError FunctionFailure(std::string_view function, const std::string& detail,
                         std::string_view keyspace, const DataType& argument) {
  CqlError error;
  error.code = CqlErrorCode::kFunctionFailure;
  error.message = "execution of " + std::string(function) + " failed: " + detail;
  error.detail = FunctionFailureDetail{
      std::string(keyspace), std::string(function), {MarshalTypeName(argument)}};
  return error;
}

}  // namespace

Decoded DecodeJson(const JsonValue& json, const DataType& type) {
  switch (type.kind()) {
    case Kind::kNative:
      return DecodeNative(json, type.native());
    case Kind::kList:
    case Kind::kSet:
      return DecodeElements(json, type);
    case Kind::kMap:
      return DecodeMap(json, type);
    case Kind::kTuple:
      return DecodeTuple(json, type);
    case Kind::kUser:
      return DecodeUser(json, type);
  }
  LS_UNREACHABLE("a kind is one of the enum");
}

// Source: ScyllaDB cql3/functions/functions.cc (make_from_json_function), which names itself and
// its type in one case and the function that it is registered as in the other;
// native_scalar_function.hh.
CqlOr<std::optional<std::string>> FromJson(std::string_view text, const DataType& type,
                                           std::string_view keyspace, size_t values_max) {
  const CqlOr<JsonValue> json = ParseJson(text, values_max);
  if (!json.ok()) {
    return FunctionFailure("fromJson", "Failed parsing fromJson parameter: " + json.error().message,
                           keyspace, type);
  }
  if (json->is_null()) return std::optional<std::string>();
  Decoded value = DecodeJson(*json, type);
  if (value.ok()) return std::optional(*std::move(value));
  const std::string& why = value.error().message;
  const bool is_marshaling = why.starts_with(kMarshalingError);
  return FunctionFailure(
      "fromjson",
      "Failed execution of function system.fromjson: " +
          std::string(is_marshaling ? "marshal_exception" : "std::runtime_error") + " (" + why +
          ")",
      "system", CqlType::kText);
}

}  // namespace liststore::cql
