// CAST(x AS type): which there are, and what they make of values.
// Source: ScyllaDB cql3/functions/castas_fcts.cc.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_CAST_VALUE_H_
#define LISTSTORE_ENGINE_CQL_VALUES_CAST_VALUE_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/native_function.h"
#include "engine/model/types/cql_type.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// The function `castas...`; Invalid where CQL casts no values of `from` to `to`. The two differ.
CqlOr<NativeFunction> FindCast(const DataType& from, CqlType to);

// `value`, valid for `from`, cast to `to` by a cast that there is; nullopt, which is null, of a
// value of no bytes. Integers that do not fit lose their upper bytes; fractions are cut off.
// Errors: numbers that are none, or too long, in ScyllaDB's words.
CqlOr<std::optional<std::string>> CastValue(CqlType from, CqlType to, std::string_view value);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_CAST_VALUE_H_
