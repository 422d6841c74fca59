#include "engine/cql/values/shown_value.h"

#include <cstddef>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/hex.h"
#include "engine/cql/values/cast_value.h"
#include "engine/cql/values/print_value.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

std::string ShownBytes(CqlType type, std::string_view value) {
  if (value.empty()) return {};
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      return std::string(value);
    case CqlType::kBlob:
      return LowerHex(value);
    case CqlType::kDuration:
      return PrintDurationText(*DecodeDuration(value));
    default: {
      CqlOr<std::optional<std::string>> text = CastValue(type, CqlType::kText, value);
      // Numbers of more digits than are made of one.
      return text.ok() && text->has_value() ? **std::move(text) : LowerHex(value);
    }
  }
}

std::string ShownParts(const DataType& type, const std::vector<std::string_view>& parts) {
  const bool is_map = type.kind() == DataType::Kind::kMap;
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += is_map && i % 2 == 1 ? ":" : ", ";
    text += ShownValue(type.parameters()[i % type.parameters().size()], parts[i]);
  }
  return type.kind() == DataType::Kind::kList ? "[" + text + "]" : "{" + text + "}";
}

std::string ShownFields(const DataType& type,
                        const std::vector<std::optional<std::string_view>>& fields) {
  const bool is_user = type.kind() == DataType::Kind::kUser;
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) text += ", ";
    if (is_user) text += type.user().fields[i] + ":";
    text += ShownValue(type.parameters()[i], fields[i]);
  }
  return is_user ? "{" + text + "}" : "(" + text + ")";
}

}  // namespace

std::string ShownValue(const DataType& type, std::optional<std::string_view> value) {
  if (!value) return "null";
  LS_DCHECK(type.IsValid(*value), "values are validated before they are shown");
  if (type.is_native()) {
    const std::string text = ShownBytes(type.native(), *value);
    return HasQuotes(type.native()) ? "'" + text + "'" : text;
  }
  if (type.has_fields()) {
    const auto fields = SplitTuple(type, *value);
    LS_CHECK(fields, "values are validated before they are shown");
    return ShownFields(type, {fields->begin(), fields->end()});
  }
  const std::optional<std::vector<std::string_view>> parts = SplitCollection(type, *value);
  LS_CHECK(parts, "values are validated before they are shown");
  return ShownParts(type, *parts);
}

}  // namespace liststore::cql
