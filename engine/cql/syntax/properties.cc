#include "engine/cql/syntax/properties.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "engine/base/status_macros.h"

namespace liststore::cql {
namespace {

CqlError WrongForm(std::string_view name, std::string_view form) {
  return CqlError::Syntax("Invalid value for property '" + std::string(name) +
                          "'. It should be a " + std::string(form));
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> LeadingInt64(const std::string& text) {
  const char* const begin = text.c_str();
  char* end = nullptr;
  errno = 0;
  const int64_t number = std::strtoll(begin, &end, 10);
  if (end == begin || errno == ERANGE) return std::nullopt;
  return number;
}

std::optional<int32_t> LeadingInt32(const std::string& text) {
  const std::optional<int64_t> number = LeadingInt64(text);
  if (!number || *number < INT32_MIN || *number > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*number);
}

std::optional<double> LeadingDouble(const std::string& text) {
  const char* const begin = text.c_str();
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(begin, &end);
  if (end == begin || errno == ERANGE) return std::nullopt;
  return number;
}

std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

const Property* Properties::Find(std::string_view name) const {
  const auto at = std::ranges::find(properties_, name, &Property::name);
  return at == properties_.end() ? nullptr : &*at;
}

bool Properties::IsText(std::string_view name) const {
  const Property* property = Find(name);
  return property != nullptr && std::holds_alternative<std::string>(property->value);
}

CqlStatus Properties::Check(std::span<const std::string_view> known,
                            std::span<const std::string_view> obsolete) const {
  for (const Property& property : properties_) {
    if (std::ranges::count(properties_, property.name, &Property::name) > 1) {
      return CqlError::Syntax("Multiple definition for property '" + property.name + "'");
    }
    if (std::ranges::count(known, property.name) == 0 &&
        std::ranges::count(obsolete, property.name) == 0) {
      return CqlError::Syntax("Unknown property '" + property.name + "'");
    }
  }
  return {};
}

CqlOr<const std::string*> Properties::FindText(std::string_view name) const {
  const Property* property = Find(name);
  if (property == nullptr) return nullptr;
  const auto* text = std::get_if<std::string>(&property->value);
  if (text == nullptr) return WrongForm(name, "string");
  return text;
}

CqlOr<std::optional<std::string>> Properties::Text(std::string_view name) const {
  LS_ASSIGN_OR_RETURN(const std::string* text, FindText(name));
  if (text == nullptr) return std::optional<std::string>();
  return std::optional(*text);
}

CqlOr<std::optional<PropertyMap>> Properties::Map(std::string_view name) const {
  const Property* property = Find(name);
  if (property == nullptr) return std::optional<PropertyMap>();
  const auto* map = std::get_if<Property::Map>(&property->value);
  if (map == nullptr) return WrongForm(name, "map.");
  return std::optional(PropertyMap(map->begin(), map->end()));
}

CqlOr<std::optional<int32_t>> Properties::Int(std::string_view name) const {
  LS_ASSIGN_OR_RETURN(const std::string* text, FindText(name));
  if (text == nullptr) return std::optional<int32_t>();
  const std::optional<int32_t> number = LeadingInt32(*text);
  if (!number) {
    return CqlError::Syntax("Invalid integer value " + *text + " for '" + std::string(name) + "'");
  }
  return number;
}

CqlOr<std::optional<double>> Properties::Double(std::string_view name) const {
  LS_ASSIGN_OR_RETURN(const std::string* text, FindText(name));
  if (text == nullptr) return std::optional<double>();
  const std::optional<double> number = LeadingDouble(*text);
  if (!number) {
    return CqlError::Syntax("Invalid double value " + *text + " for '" + std::string(name) + "'");
  }
  return number;
}

CqlOr<std::optional<bool>> Properties::Boolean(std::string_view name) const {
  LS_ASSIGN_OR_RETURN(const std::string* text, FindText(name));
  if (text == nullptr) return std::optional<bool>();
  const std::string lower = AsciiLower(*text);
  return std::optional(lower == "1" || lower == "true" || lower == "yes");
}

}  // namespace liststore::cql
