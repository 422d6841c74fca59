// Stats: what a store holds and has done, as plain data.
#ifndef LISTSTORE_STATS_H_
#define LISTSTORE_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace liststore {

struct TableStatsView {
  std::string keyspace;
  std::string table;
  uint64_t partitions =
      0;              // lists, for list_items; truncated ones that wait for reclamation included
  uint64_t rows = 0;  // items, expired ones that wait for reclamation included
  uint64_t expired_rows =
      0;  // items reclaimed because their time had passed, since the store was opened
  uint64_t live_bytes =
      0;  // bytes in use, all overhead (keys, indexes, timers, directory) included
  uint64_t held_bytes = 0;  // pages held or set aside for them
};

struct Stats {
  std::vector<TableStatsView> tables;
  uint64_t live_bytes = 0;  // sum over the tables
  uint64_t held_bytes =
      0;  // what counts against the limit: pages of all tables, and pages set aside
  uint64_t memory_limit_bytes = 0;
  uint64_t refused_writes = 0;  // writes refused at the limit
  uint32_t shards = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_STATS_H_
