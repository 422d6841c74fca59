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

// How lists were used since the store was opened. A read of many lists counts for each of them, and
// so does a SELECT.
struct CacheStats {
  uint64_t hits = 0;             // reads that found the list complete
  uint64_t partial_hits = 0;     // reads that found it partial
  uint64_t misses = 0;           // reads that found nothing
  uint64_t additions = 0;        // additions to lists, calls that stored nothing aside
  uint64_t puts = 0;             // lists put whole
  uint64_t evictions = 0;        // lists evicted for memory
  uint64_t evicted_items = 0;    // items in them
  uint64_t forgotten = 0;        // lists dropped by ForgetList
  uint64_t forgotten_items = 0;  // items in them
};

// The same of one feature version. Lists of features that the store was never asked for by name
// count in Stats::cache alone.
struct FeatureStatsView {
  std::string entity_type;
  std::string feature;
  std::string version;
  CacheStats cache;
};

struct Stats {
  std::vector<TableStatsView> tables;
  uint64_t live_bytes = 0;  // sum over the tables
  uint64_t held_bytes =
      0;  // what counts against the limit: pages of all tables, and pages set aside
  uint64_t memory_limit_bytes = 0;
  uint64_t refused_writes = 0;  // writes refused at the limit
  uint32_t shards = 0;
  CacheStats cache;
  uint64_t evicted_bytes = 0;  // blocks that evictions for memory gave back
  uint64_t expired_items = 0;  // items reclaimed because their time had passed
  // Feature versions that were used, sorted by their names. Empty without Options::feature_stats.
  std::vector<FeatureStatsView> features;
};

}  // namespace liststore

#endif  // LISTSTORE_STATS_H_
