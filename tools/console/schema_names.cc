#include "tools/console/schema_names.h"

#include <string>

#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int32_t kNamesMax = 20'000;

}  // namespace

absl::StatusOr<SchemaNames> ReadSchemaNames(CqlClient& client) {
  SchemaNames names;
  const CqlParameters one_page = {.page_size = kNamesMax};
  LS_ASSIGN_OR_RETURN(
      const CqlRows keyspaces,
      client.Query("SELECT keyspace_name FROM system_schema.keyspaces", {}, one_page));
  for (size_t row = 0; row < keyspaces.size(); ++row) {
    names.keyspaces[std::string(keyspaces.at(row, 0))];
  }
  LS_ASSIGN_OR_RETURN(
      const CqlRows columns,
      client.Query("SELECT keyspace_name, table_name, column_name FROM system_schema.columns", {},
                   one_page));
  for (size_t row = 0; row < columns.size(); ++row) {
    names.keyspaces[std::string(columns.at(row, 0))][std::string(columns.at(row, 1))].emplace_back(
        columns.at(row, 2));
  }
  return names;
}

}  // namespace liststore
