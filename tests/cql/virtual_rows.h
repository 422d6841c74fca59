// Reading virtual tables in tests.
#ifndef LISTSTORE_TESTS_CQL_VIRTUAL_ROWS_H_
#define LISTSTORE_TESTS_CQL_VIRTUAL_ROWS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/model/schema.h"

namespace liststore::testing {

// "(keyspace_name text), table_name text | id uuid, ...": partition key, clustering key, the rest.
std::string ColumnsAsText(const TableDefinition& table);

// A table that a test reads: rows by column name, as encoded values.
using NamedRow = std::map<std::string, std::optional<std::string>>;
std::vector<NamedRow> NamedRows(const cql::VirtualTable& table,
                                const cql::VirtualReadContext& context);

// Values back: what encode_value.h makes.
int32_t AsInt(const std::optional<std::string>& value);
int64_t AsBigint(const std::optional<std::string>& value);
double AsDouble(const std::optional<std::string>& value);
// Elements of a list or set, keys and values in turn of a map; of text.
std::vector<std::string> AsElements(const DataType& type, const std::optional<std::string>& value);
PropertyMap AsMap(const std::optional<std::string>& value);

// A table named `keyspace.name`, complete.
std::shared_ptr<const TableDefinition> NewTable(std::string_view keyspace, std::string_view name,
                                                std::vector<ColumnDefinition> columns,
                                                std::vector<IndexDefinition> indexes = {});
// The table of list items, with its index on value: "list_items_by_value", local or global.
std::shared_ptr<const TableDefinition> ListItems(std::string_view keyspace, bool local);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CQL_VIRTUAL_ROWS_H_
