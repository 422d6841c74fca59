// EvictionState: what a table that may evict partitions knows beyond them. docs/cache.md says how
// it chooses; decisions/0008 why so.
#ifndef LISTSTORE_ENGINE_STORAGE_EVICTION_STATE_H_
#define LISTSTORE_ENGINE_STORAGE_EVICTION_STATE_H_

#include <cstddef>
#include <cstdint>

#include "engine/memory/arena.h"
#include "engine/storage/evicted_filter.h"
#include "engine/storage/ghost_set.h"
#include "engine/storage/lane_eviction.h"
#include "engine/storage/probation_queue.h"

namespace liststore::storage {

class Table;

struct EvictionOptions {
  // A partition that an upsert begins may have more elsewhere, always: it is partial.
  bool lives_elsewhere = false;
  // Else: what a table may spend on knowing what it has evicted, made a power of two. With less
  // than EvictedFilter::kBytesMin, or when the memory cannot be had, everything that is begun after
  // the first eviction is partial.
  uint64_t filter_bytes = 4096;
};

// Owned by a table; plain state. Partitions are on probation (cache_bits::kProbation, an entry in
// `probation`), or they are main ones, which have no entry: a hand goes over the directory.
struct EvictionState {
  EvictionState(memory::Arena& arena, const EvictionOptions& eviction_options,
                LaneEviction& of_lane)
      : options(eviction_options), lane(of_lane), probation(arena), ghosts(arena), filter(arena) {}

  const EvictionOptions options;
  LaneEviction& lane;  // of all tables here
  // Its partitions may go. Else it pays for its growth with others', and those that come are main
  // ones.
  bool takes_part = false;
  ProbationQueue probation;
  GhostSet ghosts;
  EvictedFilter filter;       // not allocated when everything lives elsewhere
  bool has_evicted = false;   // ever
  size_t on_probation = 0;    // partitions
  uint64_t hand_address = 0;  // where the hand goes on
  uint32_t last_expiry = 0;   // no row that was ever upserted expires later

  uint64_t paid_live_bytes = 0;  // of the arena, when growth was last paid for

  // The lane's own.
  bool is_listed = false;
  bool is_offered = false;
  bool owes = false;
  size_t place = 0;
  size_t untidied = 0;  // partitions that were evicted and have left something behind
  Table* next_untidied = nullptr;
  Table* next_owing = nullptr;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_EVICTION_STATE_H_
