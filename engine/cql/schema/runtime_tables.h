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

// What a table has.
struct TableSize {
  uint64_t partitions = 0;
  uint64_t bytes = 0;
};
// Adds size_estimates: of each table of a user, and of each view that stores rows, what lies
// between the node's tokens, in proportion to the parts of the ring. Of one token, which is all
// there are unless more are asked for, that is the number of partitions. `size_of`: thread-safe.
void AddSizeEstimates(VirtualTables& tables,
                      std::function<TableSize(const TableDefinition&)> size_of);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_RUNTIME_TABLES_H_
