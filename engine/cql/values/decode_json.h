// JSON -> values of CQL types: what fromJson() makes of a text.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_DECODE_JSON_H_
#define LISTSTORE_ENGINE_CQL_VALUES_DECODE_JSON_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/json_value.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// `json` as a value of `type`, sets and maps in order. Numbers may be strings too, in the form of
// their literals, and are strings as keys of maps; keys of types that are not native are strings of
// JSON. Decimals and varints that are JSON numbers go through a double where they are no integers
// of 64 bits: strings keep every digit. null is no value, but as a field of a user type.
//
// Server, as ScyllaDB answers an INSERT JSON: "marshaling error: Value 300 out of range". Source:
// ScyllaDB types/json_utils.cc.
CqlOr<std::string> DecodeJson(const JsonValue& json, const DataType& type);

// fromJson(`text`) as a value of `type`; nullopt is null. `keyspace`: the statement's, which
// ScyllaDB puts into errors. They are function failures, in ScyllaDB's words.
CqlOr<std::optional<std::string>> FromJson(std::string_view text, const DataType& type,
                                           std::string_view keyspace,
                                           size_t values_max = kJsonValuesMax);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_DECODE_JSON_H_
