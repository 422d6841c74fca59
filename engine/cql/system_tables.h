// The tables of keyspace `system` (and of system_traces), through which drivers and tools learn of
// a node.
#ifndef LISTSTORE_ENGINE_CQL_SYSTEM_TABLES_H_
#define LISTSTORE_ENGINE_CQL_SYSTEM_TABLES_H_

#include "engine/cql/virtual_table.h"

namespace liststore {

// Adds the tables that a node of this look has: what only ScyllaDB has (versions, scylla_local,
// config, ...) or only Cassandra 4 (peers_v2, system_virtual_schema) is missing in the other look,
// because drivers tell the two apart by asking. `clients` outlives the tables; nullptr: nobody is
// connected.
//
// Always empty: peers (a node that names itself there confuses drivers), size_estimates,
// built_views, scylla_local, sessions and events of tracing.
void AddSystemTables(VirtualTables& tables, bool looks_like_scylla, const ClientDirectory* clients);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_SYSTEM_TABLES_H_
