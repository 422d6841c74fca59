// The tables of keyspace `system` (and of system_traces), through which drivers and tools learn of
// a node.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_SYSTEM_TABLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_SYSTEM_TABLES_H_

#include <cstdint>

#include "engine/cql/schema/virtual_table.h"

namespace liststore::cql {

// Adds the tables that a node of this look has, but for system.config (instruments/config_table.h):
// what only ScyllaDB has (versions, scylla_local, ...) or only Cassandra 4 (peers_v2,
// system_virtual_schema) is missing in the other look, because drivers tell the two apart by
// asking. Nor has a Cassandra below 4 what came with it (peers_v2, system_virtual_schema).
// `clients` outlives the tables; nullptr: nobody is connected.
//
// Always empty: peers (a node that names itself there confuses drivers), scylla_local, sessions and
// events of tracing.
void AddSystemTables(VirtualTables& tables, bool looks_like_scylla, const ClientDirectory* clients,
                     uint32_t cassandra_major = 4);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_SYSTEM_TABLES_H_
