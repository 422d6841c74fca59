#include "engine/cql/values/encode_json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/encode_value.h"
#include "engine/cql/values/inet_text.h"
#include "engine/cql/values/json_value.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/number_text.h"
#include "engine/cql/values/print_value.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/duration.h"

namespace liststore::cql {
namespace {

using Kind = DataType::Kind;
using JsonText = CqlOr<std::string>;

// Of a key of a map that is itself JSON. Each map that is the key of another doubles the
// backslashes in it.
constexpr size_t kQuotedKeyBytesMax = size_t{1} << 20;

std::string InQuotes(const std::string& text) { return "\"" + text + "\""; }

template <typename Float>
std::string FloatJson(Float number) {
  return std::isfinite(number) ? PrintShortest(number) : "null";
}

// 2014-01-01 12:15:45.000Z. Of years that no text of a timestamp may have (HasTimestampText), too.
std::string TimestampJson(std::string_view value) {
  std::string text = PrintTimestampText(static_cast<int64_t>(LoadBigEndian64(value.data())));
  std::ranges::replace(text, 'T', ' ');
  return InQuotes(text);
}

std::string DateJson(std::string_view value) {
  return InQuotes(PrintDateText(LoadBigEndian32(value.data())));
}

CqlError NoJson() { return CqlError::Invalid("Cannot create JSON string - deserialization error"); }

JsonText LongNumberJson(CqlType type, std::string_view value) {
  if (value.size() > kPrintedVarintBytesMax) {
    return CqlError::Invalid("Cannot create JSON string - a number of more than " +
                             std::to_string(kLiteralDigitsMax) + " digits");
  }
  return type == CqlType::kVarint ? PrintVarint(value) : PrintDecimal(value);
}

// Of no bytes: only what is a string has some.
JsonText EmptyJson(CqlType type) {
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kDate:
    case CqlType::kInet:
    case CqlType::kText:
    case CqlType::kTime:
    case CqlType::kTimestamp:
    case CqlType::kTimeuuid:
    case CqlType::kUuid:
      return std::string("\"\"");
    case CqlType::kBlob:
      return std::string("\"0x\"");
    default:
      return NoJson();
  }
}

JsonText NativeJson(CqlType type, std::string_view value, size_t bytes_max) {
  if (value.empty()) return EmptyJson(type);
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      if (QuotedJsonBytes(value) > bytes_max) return RowOfResultTooLarge(bytes_max);
      return QuoteJson(value);
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
    case CqlType::kCounter:
      return std::to_string(DecodeInteger(value));
    case CqlType::kFloat:
      return FloatJson(std::bit_cast<float>(LoadBigEndian32(value.data())));
    case CqlType::kDouble:
      return FloatJson(std::bit_cast<double>(LoadBigEndian64(value.data())));
    case CqlType::kVarint:
    case CqlType::kDecimal:
      return LongNumberJson(type, value);
    case CqlType::kBoolean:
      return std::string(value[0] != 0 ? "true" : "false");
    case CqlType::kTimestamp:
      return TimestampJson(value);
    case CqlType::kDate:
      return DateJson(value);
    case CqlType::kTime:
      return InQuotes(PrintTimeText(static_cast<int64_t>(LoadBigEndian64(value.data()))));
    case CqlType::kInet:
      return InQuotes(PrintInet(value));
    case CqlType::kDuration:
      return InQuotes(PrintDurationText(*DecodeDuration(value)));
    case CqlType::kBlob:
      if (2 * value.size() > bytes_max) return RowOfResultTooLarge(bytes_max);
      [[fallthrough]];
    case CqlType::kTimeuuid:
    case CqlType::kUuid:
      // Their literals are bare.
      return InQuotes(PrintValue(type, value));
  }
  LS_UNREACHABLE("a type is one of the enum");
}

JsonText ElementsJson(const DataType& type, std::string_view value, size_t bytes_max) {
  const std::optional<std::vector<std::string_view>> elements = SplitCollection(type, value);
  LS_CHECK(elements, "values are validated before they are printed");
  const bool is_map = type.kind() == Kind::kMap;
  std::string text = is_map ? "{" : "[";
  for (size_t i = 0; i < elements->size(); ++i) {
    const DataType& element = type.parameters()[i % type.parameters().size()];
    LS_ASSIGN_OR_RETURN(std::string json, EncodeJson(element, (*elements)[i], bytes_max));
    const bool is_key = is_map && i % 2 == 0;
    if (is_key && !json.starts_with('"')) {
      if (json.size() > kQuotedKeyBytesMax) return NoJson();
      json = QuoteJson(json);
    }
    if (i != 0) text += is_map && !is_key ? ": " : ", ";
    text += json;
    if (text.size() > bytes_max) return RowOfResultTooLarge(bytes_max);
  }
  text += is_map ? "}" : "]";
  return text;
}

JsonText FieldsJson(const DataType& type, std::string_view value, size_t bytes_max) {
  const auto fields = SplitTuple(type, value);
  LS_CHECK(fields, "values are validated before they are printed");
  const bool is_user = type.kind() == Kind::kUser;
  // A tuple may be shorter than its type, and is shown as it is. Source: ScyllaDB
  // types/json_utils.cc.
  const size_t count = is_user ? fields->size() : std::min(fields->size(), CountFields(value));
  std::string text = is_user ? "{" : "[";
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    if (is_user) text += QuoteJson(type.user().fields[i]) + ": ";
    LS_ASSIGN_OR_RETURN(const std::string json,
                        EncodeJson(type.parameters()[i], (*fields)[i], bytes_max));
    text += json;
    if (text.size() > bytes_max) return RowOfResultTooLarge(bytes_max);
  }
  text += is_user ? "}" : "]";
  return text;
}

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace

CqlError RowOfResultTooLarge(size_t bytes_max) {
  return CqlError::Invalid(
      "A row of the result is larger than " + std::to_string(bytes_max) +
      " bytes, which an answer may take of the memory for clients: select fewer columns of it");
}

JsonText EncodeJson(const DataType& type, std::optional<std::string_view> value, size_t bytes_max) {
  if (!value) return std::string("null");
  LS_DCHECK(type.IsValid(*value), "values are validated before they are printed");
  if (type.is_native()) return NativeJson(type.native(), *value, bytes_max);
  return type.has_fields() ? FieldsJson(type, *value, bytes_max)
                           : ElementsJson(type, *value, bytes_max);
}

// Source of the quotes: ScyllaDB cql3/functions/as_json_function.hh.
DataType JsonRowType(const std::vector<std::string>& names, std::vector<DataType> types) {
  auto row = std::make_shared<UserTypeNames>();
  for (const std::string& name : names) {
    const bool is_case_sensitive = std::ranges::any_of(name, IsUpper);
    row->fields.push_back(is_case_sensitive ? InQuotes(name) : name);
  }
  return DataType::User(std::move(row), std::move(types));
}

}  // namespace liststore::cql
