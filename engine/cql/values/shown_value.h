// Values as ScyllaDB's messages show them.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_SHOWN_VALUE_H_
#define LISTSTORE_ENGINE_CQL_VALUES_SHOWN_VALUE_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/model/types/data_type.h"

namespace liststore::cql {

// `value`, which is valid for `type`; nullopt is `null`. No literal: a quote within a text stands
// alone, a blob has no 0x, and a value without bytes shows none. O(bytes).
// Source: ScyllaDB types/types.cc, data_value::to_parsable_string, to_string_impl_visitor.
std::string ShownValue(const DataType& type, std::optional<std::string_view> value);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_SHOWN_VALUE_H_
