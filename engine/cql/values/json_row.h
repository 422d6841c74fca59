// The text of an INSERT JSON, taken apart once and then read column by column.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_JSON_ROW_H_
#define LISTSTORE_ENGINE_CQL_VALUES_JSON_ROW_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/json_value.h"
#include "engine/model/schema.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// The columns of a table as the fields of a user type.
DataType ColumnsOfRow(const TableDefinition& table);

// Of each column, in their order, what `text`, a JSON object, says: its value, null, or nothing.
// nullopt: the text was null. Names are folded to lower case unless they are in quotes within the
// string; of several that are the same the first counts.
//
// Server: no JSON, or not of the columns' types, as ScyllaDB answers both. Invalid: null, another
// JSON value than an object, unknown columns. Source: ScyllaDB cql3/statements/update_statement.cc,
// json_helpers; of null and what is no object Cassandra cql3/Json.java, for ScyllaDB has no words
// but of its library.
CqlOr<std::string> DecodeJsonRow(std::optional<std::string_view> text, const DataType& columns,
                                 size_t values_max = kJsonValuesMax);

// One column of such a row. O(columns).
struct JsonCell {
  bool is_named = false;
  std::optional<std::string_view> value;  // into the row; nullopt: null, or not named
};
JsonCell JsonCellOf(std::string_view row, size_t column);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_JSON_ROW_H_
