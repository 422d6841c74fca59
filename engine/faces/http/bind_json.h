// Values of a statement's bind markers out of JSON.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_BIND_JSON_H_
#define LISTSTORE_ENGINE_FACES_HTTP_BIND_JSON_H_

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/cql/values/json_value.h"
#include "engine/faces/http/answer_types.h"

namespace liststore::http_face {

// In the order of the markers; nullopt is null.
using BoundJson = std::vector<std::optional<std::string>>;

// `parameters`: a list with a value for each marker, or an object with one for each name, where no two markers have
// the same; as an INSERT of JSON takes them. Else why not: which one, and what it has to be.
std::variant<BoundJson, std::string> BindJson(const cql::JsonValue& parameters,
                                              std::span<const BindMarker> markers);

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_BIND_JSON_H_
