// Stats: what a store holds and how it was used, as plain data.
#ifndef LISTSTORE_STATS_H_
#define LISTSTORE_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace liststore {

struct TableStatsView {
  std::string keyspace;
  std::string table;
  // Of list_items: lists. Includes truncated partitions that are not reclaimed yet.
  uint64_t partitions = 0;
  // Of list_items: items. Includes expired rows that are not reclaimed yet.
  uint64_t rows = 0;
  // Expired rows that were reclaimed since the store was opened.
  uint64_t expired_rows = 0;
  // Bytes in use, with all overhead (keys, indexes, timers, directory).
  uint64_t live_bytes = 0;
  // Pages that are held or reserved for them.
  uint64_t held_bytes = 0;
};

// How lists were used since the store was opened. A read of many lists, like a SELECT, counts once
// for each list.
struct CacheStats {
  uint64_t hits = 0;             // reads that found the list complete
  uint64_t partial_hits = 0;     // reads that found it partial
  uint64_t misses = 0;           // reads that found it absent
  uint64_t additions = 0;        // additions to a list that stored something
  uint64_t puts = 0;             // lists put whole
  uint64_t evictions = 0;        // lists evicted for memory
  uint64_t evicted_items = 0;    // items of these
  uint64_t forgotten = 0;        // lists dropped by ForgetList
  uint64_t forgotten_items = 0;  // items of these
};

// The same for one feature version. Lists of features that the store was never asked for by name
// count in Stats::cache only.
struct FeatureStatsView {
  std::string entity_type;
  std::string feature;
  std::string version;
  CacheStats cache;
};

struct Stats {
  std::vector<TableStatsView> tables;
  uint64_t live_bytes = 0;  // sum over the tables
  uint64_t held_bytes = 0;  // counts against the limit: pages of all tables, and reserved pages
  uint64_t memory_limit_bytes = 0;
  uint64_t refused_writes = 0;  // writes refused at the limit
  uint32_t shards = 0;
  CacheStats cache;
  uint64_t evicted_bytes = 0;  // bytes that evictions for memory freed
  uint64_t expired_items = 0;  // expired items that were reclaimed
  uint64_t log_bytes = 0;      // files of the commit log; 0 without one
  // The feature versions that were used, sorted by name. Empty without Options::feature_stats.
  std::vector<FeatureStatsView> features;
};

}  // namespace liststore

#endif  // LISTSTORE_STATS_H_
