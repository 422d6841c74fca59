// Options of a ListStore. The defaults suit a cache beside a service: every core, most of the
// memory that the container may use, the system clock, no thread of its own.
#ifndef LISTSTORE_OPTIONS_H_
#define LISTSTORE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "liststore/clock.h"

namespace liststore {

struct Options {
  // --- Behaviour --------------------------------------------------------------------------------

  // Where time comes from; must outlive the store. nullptr: the system clock.
  const Clock* clock = nullptr;

  // Keyspace of the store's two tables, `list_items` and `list_features`. 1 to 48 characters of
  // [A-Za-z0-9_].
  std::string keyspace = "feature_store";

  // With a value, items may be added to features that do not exist; they live this long.
  // 1 to 630,720,000 seconds. Without: adding to such a feature is NotFound.
  std::optional<int64_t> default_ttl_seconds;

  // Longest value of an item. 65,487 bytes is what fits ScyllaDB's value index beside a
  // 44-character item key; up to 16 MiB for stores that are never reached through CQL.
  size_t value_bytes_max = 65'487;

  // Hard limit on memory held for data, in bytes, counted in pages; a write that might pass it
  // fails with ResourceExhausted and nothing of it is applied. 0: three quarters of what the
  // control group (or, without one, the machine) allows. At least 1 MiB.
  uint64_t memory_limit_bytes = 0;

  // --- Performance ------------------------------------------------------------------------------

  // Parts of the store that work side by side; how many never changes what is read. 0: one for each
  // core that the control group allows. At most 256.
  uint32_t shards = 0;

  // Starts one thread that gives back the memory of expired and deleted items. Without it the
  // memory comes back when callers call ListStore::Reclaim; what has expired is never read in
  // either case.
  bool background_reclaim = false;
};

}  // namespace liststore

#endif  // LISTSTORE_OPTIONS_H_
