// The tables of keyspace `system_schema`: the schema as drivers read it, this server's own tables
// included.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_SYSTEM_SCHEMA_TABLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_SYSTEM_SCHEMA_TABLES_H_

#include <string>

#include "engine/cql/schema/virtual_table.h"
#include "engine/model/schema.h"
#include "engine/shard/catalog.h"

namespace liststore::cql {

// Adds the tables of this look; in Cassandra's those that only ScyllaDB has are missing
// (computed_columns, scylla_keyspaces, scylla_tables), and clustering orders are in lower case.
//
// In ScyllaDB's look the views of indexes are shown as well.
// Always empty: functions, aggregates, triggers, scylla_aggregates,
// scylla_keyspaces (storage and tablets are the default everywhere).
//
// `catalog`: what a write of system_schema.tables changes; nullptr: it is refused. ScyllaDB takes
// writes of this keyspace as those of any other, and nothing but reads of it sees them; here
// `extensions` can be written, of tables that there are. It outlives the tables.
void AddSystemSchemaTables(VirtualTables& tables, bool looks_like_scylla,
                           shard::Catalog* catalog = nullptr);

// The option `target` of an index: JSON of partition key and column for a local one, else what
// the index is on (IndexedText). Source: ScyllaDB `index/target_parser.hh`.
std::string IndexTargetText(const TableDefinition& table, const IndexDefinition& index);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_SYSTEM_SCHEMA_TABLES_H_
