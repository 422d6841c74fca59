#include "engine/faces/http/bind_json.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/values/decode_json.h"
#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace {

// Of a name that is said again in an error.
constexpr size_t kSaidMarkerBytesMax = 100;

// The value of the marker at `index`; nullptr: none was sent.
const cql::JsonValue* ValueOf(const cql::JsonValue& parameters, const BindMarker& marker,
                              size_t index) {
  if (const auto* list = parameters.As<cql::JsonArray>()) return &(*list)[index];
  const auto& object = *parameters.As<cql::JsonObject>();
  const auto member = std::ranges::find(object, marker.name, &cql::JsonMember::name);
  return member == object.end() ? nullptr : &member->value;
}

// A name that is there more than once; nullopt: there is none.
std::optional<std::string_view> TwiceIn(std::vector<std::string_view> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return std::nullopt;
  return *twice;
}

template <typename Named>
std::vector<std::string_view> NamesOf(const Named& named) {
  std::vector<std::string_view> names;
  for (const auto& each : named) names.push_back(each.name);
  return names;
}

// Why the form of them is wrong; nullopt: it is not.
std::optional<std::string> Misfit(const cql::JsonValue& parameters,
                                  std::span<const BindMarker> markers) {
  if (const auto* list = parameters.As<cql::JsonArray>()) {
    if (list->size() == markers.size()) return std::nullopt;
    return Cat("parameters has ", list->size(), " values, and the statement ", markers.size(),
               " bind markers");
  }
  const auto* object = parameters.As<cql::JsonObject>();
  if (object == nullptr) return "parameters is a list of values, or an object of them by name";
  if (const auto twice = TwiceIn(NamesOf(*object))) {
    return Cat("parameters has ", FrontOf(*twice, kSaidMarkerBytesMax), " twice");
  }
  if (const auto twice = TwiceIn(NamesOf(markers))) {
    return Cat("parameters is an object, and the statement has several bind markers named ",
               FrontOf(*twice, kSaidMarkerBytesMax),
               ": a list has a value for each, and so have markers with names of their own, :name");
  }
  for (const cql::JsonMember& member : *object) {
    if (std::ranges::find(markers, member.name, &BindMarker::name) == markers.end()) {
      return Cat("parameters has ", FrontOf(member.name, kSaidMarkerBytesMax),
                 ", which is no bind marker of the statement");
    }
  }
  return std::nullopt;
}

}  // namespace

std::variant<BoundJson, std::string> BindJson(const cql::JsonValue& parameters,
                                              std::span<const BindMarker> markers) {
  if (std::optional<std::string> misfit = Misfit(parameters, markers)) return *std::move(misfit);
  BoundJson bound;
  for (size_t i = 0; i < markers.size(); ++i) {
    const BindMarker& marker = markers[i];
    const cql::JsonValue* const value = ValueOf(parameters, marker, i);
    if (value == nullptr) return Cat("parameters has no ", marker.name);
    if (value->is_null()) {
      bound.emplace_back();
      continue;
    }
    cql::CqlOr<std::string> bytes = cql::DecodeJson(*value, marker.type);
    if (!bytes.ok()) {
      return Cat("parameters: ", marker.name, ", a ", marker.type.ToString(), ": ",
                 bytes.error().message);
    }
    bound.emplace_back(*std::move(bytes));
  }
  return bound;
}

}  // namespace liststore::http_face
