// Partitions that have grown too large: what ScyllaDB warns of while it compacts, found when
// somebody asks.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_LARGE_PARTITIONS_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_LARGE_PARTITIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/schema.h"

namespace liststore::shard {
class Engine;
}  // namespace liststore::shard

namespace liststore::instruments {

// Bytes of keys and values that one partition may have. ScyllaDB warns from 1000 MB on
// (compaction_large_partition_warning_threshold_mb); a test that comes as far as this is on its way
// there.
inline constexpr uint64_t kLintPartitionBytesMax = uint64_t{10} << 20;

// Those of one table.
struct LargePartitions {
  std::string table;        // "keyspace.table"
  uint64_t count = 0;       // at least 1
  std::string largest_key;  // as PartitionKeyText; of several the first as text
  uint64_t largest_bytes = 0;
};

// Of the tables of users, in their order. Keys and values are counted of what is stored, dead or
// not. O(rows) of tables that have taken so many bytes, which no small test has; a partition at a
// time.
std::vector<LargePartitions> FindLargePartitions(shard::Engine& engine, const Schema& schema,
                                                 uint64_t now_nanos);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_LARGE_PARTITIONS_H_
