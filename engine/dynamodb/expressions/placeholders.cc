#include "engine/dynamodb/expressions/placeholders.h"

#include <algorithm>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/values/item_json.h"

namespace liststore::dynamodb {
namespace {

// Of unused keys that are said in an error.
constexpr size_t kSaidKeysBytesMax = 2000;

// #a, :a1 and the like.
bool IsPlaceholder(std::string_view key, char first) {
  if (key.size() < 2 || key[0] != first) return false;
  return std::ranges::all_of(key.substr(1), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Error OfParameter(std::string_view parameter, std::string_view what) {
  std::string message(parameter);
  return Invalid(message.append(" ").append(what));
}

Error InvalidKey(std::string_view parameter, std::string_view key) {
  std::string message(parameter);
  message.append(" contains invalid key: Syntax error; key: \"").append(key.substr(0, 255));
  return Invalid(message.append("\""));
}

Error InvalidValue(std::string_view parameter, std::string_view what, std::string_view key) {
  std::string message(parameter);
  return Invalid(message.append(" contains invalid value: ")
                     .append(what)
                     .append(" for key ")
                     .append(key.substr(0, 255)));
}

// An absent one may be there nowhere, an object where it is allowed; an empty one never.
Status CheckForm(Json json, std::string_view parameter, bool is_allowed, std::string_view absent) {
  if (json.is_absent()) return {};
  if (!json.is_object()) return NotOfKind(json, "Map");
  if (!is_allowed) {
    std::string what = "can only be specified when using expressions";
    if (!absent.empty()) what.append(": ").append(absent);
    return OfParameter(parameter, what);
  }
  if (json.size() == 0) return OfParameter(parameter, "must not be empty");
  return {};
}

template <typename Entries>
auto FindEntry(Entries& entries, std::string_view key) {
  const auto found = std::ranges::lower_bound(
      entries, key, {}, [](const auto& entry) { return std::string_view(entry.key); });
  return found != entries.end() && found->key == key ? &*found : nullptr;
}

// Puts one in, or in the place of what was there.
template <typename Entries, typename T>
void PutEntry(Entries& entries, std::string key, T stands_for) {
  if (auto* known = FindEntry(entries, key)) {
    known->stands_for = std::move(stands_for);
    return;
  }
  const auto place =
      std::ranges::lower_bound(entries, std::string_view(key), {},
                               [](const auto& entry) { return std::string_view(entry.key); });
  entries.insert(place, {std::move(key), std::move(stands_for), false});
}

template <typename Entries>
Status CheckUsed(const Entries& entries, std::string_view parameter) {
  std::string unused;
  for (const auto& entry : entries) {
    if (entry.used) continue;
    if (!unused.empty()) unused.append(", ");
    unused.append(entry.key.substr(0, 255));
    if (unused.size() > kSaidKeysBytesMax) break;
  }
  if (unused.empty()) return {};
  std::string message = "Value provided in ";
  message.append(parameter).append(" unused in expressions: keys: {").append(unused);
  return Invalid(message.append("}"));
}

constexpr std::string_view kNamesParameter = "ExpressionAttributeNames";
constexpr std::string_view kValuesParameter = "ExpressionAttributeValues";

}  // namespace

ErrorOr<Placeholders> Placeholders::FromJson(Json names, Json values, bool names_are_allowed,
                                             bool values_are_allowed, std::string_view absent) {
  LS_RETURN_IF_ERROR(CheckForm(names, kNamesParameter, names_are_allowed, {}));
  LS_RETURN_IF_ERROR(CheckForm(values, kValuesParameter, values_are_allowed, absent));
  Placeholders placeholders;
  size_t bytes = 0;
  for (const JsonMember member : names) {
    if (!IsPlaceholder(member.name, '#')) return InvalidKey(kNamesParameter, member.name);
    if (!member.value.is_string()) return NotOfKind(member.value, "String");
    const std::string_view name = member.value.text();
    if (name.empty() || name.size() > kAttributeNameBytesMax) {
      return InvalidValue(kNamesParameter,
                          name.empty()
                              ? "Empty attribute name"
                              : "Attribute name is too large, must be less than 65536 bytes",
                          member.name);
    }
    bytes += member.name.size() + name.size();
    placeholders.names_.push_back({std::string(member.name), std::string(name), false});
  }
  for (const JsonMember member : values) {
    if (!IsPlaceholder(member.name, ':')) return InvalidKey(kValuesParameter, member.name);
    ErrorOr<AttributeValue> value = ValueFromJson(member.value);
    if (!value.ok()) {
      if (value.error().code != ErrorCode::kValidation) return value.status();
      return InvalidValue(kValuesParameter, value.error().message, member.name);
    }
    bytes += member.name.size() + SizeInItem(*value);
    placeholders.values_.push_back({std::string(member.name), *std::move(value), false});
  }
  if (bytes > kPlaceholderBytesMax) {
    return Invalid(
        "The total size of ExpressionAttributeNames and ExpressionAttributeValues has exceeded the "
        "maximum allowed size");
  }
  placeholders.Sort();
  return placeholders;
}

void Placeholders::Sort() {
  // Of one key the last counts.
  const auto sort = [](auto& entries) {
    std::ranges::stable_sort(entries, {},
                             [](const auto& entry) { return std::string_view(entry.key); });
    const auto first_kept =
        std::unique(entries.rbegin(), entries.rend(), [](const auto& a, const auto& b) {
          return a.key == b.key;
        }).base();
    entries.erase(entries.begin(), first_kept);
  };
  sort(names_);
  sort(values_);
}

void Placeholders::AddName(std::string key, std::string name) {
  PutEntry(names_, std::move(key), std::move(name));
}

void Placeholders::AddValue(std::string key, AttributeValue value) {
  PutEntry(values_, std::move(key), std::move(value));
}

const std::string* Placeholders::UseName(std::string_view key) {
  auto* const entry = FindEntry(names_, key);
  if (entry == nullptr) return nullptr;
  entry->used = true;
  return &entry->stands_for;
}

const AttributeValue* Placeholders::UseValue(std::string_view key) {
  auto* const entry = FindEntry(values_, key);
  if (entry == nullptr) return nullptr;
  entry->used = true;
  return &entry->stands_for;
}

Status Placeholders::CheckAllUsed() const {
  LS_RETURN_IF_ERROR(CheckUsed(names_, kNamesParameter));
  return CheckUsed(values_, kValuesParameter);
}

}  // namespace liststore::dynamodb
