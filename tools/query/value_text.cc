#include "tools/query/value_text.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/composite_value.h"

namespace liststore {
namespace {

enum class Place {
  kCell,
  kWithin
};

std::string TextOf(const DataType& type, std::optional<std::string_view> value, Place place);

std::string Unquoted(const std::string& literal) {
  return literal.size() >= 2 && literal.front() == '\'' ? literal.substr(1, literal.size() - 2)
                                                        : literal;
}

// 2011-02-03T04:05:06.789Z, as PrintValue has it, in the form of cqlsh.
std::string TimestampText(const DataType& type, std::string_view value) {
  std::string text = Unquoted(cql::PrintValue(type, value));
  if (!text.ends_with('Z')) return text;  // of a year that has no such text
  text[text.find('T')] = ' ';
  text.replace(text.size() - 1, 1, "000+0000");
  return text;
}

std::string NativeText(const DataType& type, std::string_view value, Place place) {
  const auto quoted = [place](const std::string& text) {
    return place == Place::kWithin ? cql::QuoteString(text) : text;
  };
  if (type.is_custom()) return cql::PrintBlob(value);
  switch (type.native()) {
    case CqlType::kAscii:
    case CqlType::kText:
      return quoted(std::string(value));
    case CqlType::kBlob:
      return cql::PrintBlob(value);
    case CqlType::kBoolean:
      return value.empty() ? "" : value[0] != 0 ? "True" : "False";
    case CqlType::kTimestamp:
      return value.empty() ? quoted("") : quoted(TimestampText(type, value));
    default:
      break;
  }
  if (value.empty()) return quoted("");
  const std::string literal = cql::PrintValue(type, value);
  return place == Place::kCell ? Unquoted(literal) : literal;
}

std::string ElementsText(const DataType& type, std::string_view value) {
  const std::optional<std::vector<std::string_view>> elements = SplitCollection(type, value);
  if (!elements) return cql::PrintBlob(value);
  const bool is_list = type.kind() == DataType::Kind::kList;
  const bool is_map = type.kind() == DataType::Kind::kMap;
  std::string text = is_list ? "[" : "{";
  for (size_t i = 0; i < elements->size(); ++i) {
    if (i != 0) text += is_map && i % 2 == 1 ? ": " : ", ";
    text += TextOf(type.parameters()[i % type.parameters().size()], (*elements)[i], Place::kWithin);
  }
  return text + (is_list ? "]" : "}");
}

std::string FieldsText(const DataType& type, std::string_view value) {
  const auto fields = SplitTuple(type, value);
  if (!fields) return cql::PrintBlob(value);
  const bool is_user = type.kind() == DataType::Kind::kUser;
  std::string text = is_user ? "{" : "(";
  for (size_t i = 0; i < fields->size(); ++i) {
    if (i != 0) text += ", ";
    if (is_user) text += type.user().fields[i] + ": ";
    text += TextOf(type.parameters()[i], (*fields)[i], Place::kWithin);
  }
  return text + (is_user ? "}" : ")");
}

std::string TextOf(const DataType& type, std::optional<std::string_view> value, Place place) {
  if (!value) return "null";
  if (type.is_native()) return NativeText(type, *value, place);
  return type.has_fields() ? FieldsText(type, *value) : ElementsText(type, *value);
}

}  // namespace

std::string ValueText(const DataType& type, std::string_view value) {
  if (!type.IsValid(value)) return cql::PrintBlob(value);
  return TextOf(type, value, Place::kCell);
}

bool IsNumber(const DataType& type) {
  if (!type.is_native() || type.is_custom()) return false;
  switch (type.native()) {
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
    case CqlType::kCounter:
    case CqlType::kFloat:
    case CqlType::kDouble:
    case CqlType::kVarint:
    case CqlType::kDecimal:
      return true;
    default:
      return false;
  }
}

}  // namespace liststore
