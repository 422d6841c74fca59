// The tables of keyspace `system` that tell how the node runs, which only ScyllaDB has: ring,
// servers, memory.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_RUNTIME_TABLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_RUNTIME_TABLES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/cql/schema/virtual_table.h"

namespace liststore::cql {

// As of the moment.
struct RuntimeFacts {
  std::vector<std::string> cql_addresses;  // "127.0.0.1:9042"
  uint64_t memory_limit_bytes = 0;
  uint64_t memory_used_bytes = 0;
  uint64_t stored_bytes = 0;  // of rows and keys
  uint64_t partitions = 0;
};

// Adds cluster_status, token_ring, snapshots, protocol_servers, runtime_info and raft_state. What
// they say of tokens and places is what system.local says. `facts`: thread-safe.
//
// Always empty: snapshots, and raft_state, for one node agrees with itself.
void AddRuntimeTables(VirtualTables& tables,
                      std::function<RuntimeFacts(const VirtualReadContext&)> facts);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_RUNTIME_TABLES_H_
