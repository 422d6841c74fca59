// Options of a ListStore. The defaults suit a cache beside a service: every core, most of the
// memory that the container may use, the system clock, no thread of its own.
#ifndef LISTSTORE_OPTIONS_H_
#define LISTSTORE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "liststore/clock.h"

namespace liststore {

// What a write does that finds no memory within Options::memory_limit_bytes.
enum class MemoryPolicy : uint8_t {
  kReject,  // a store: it fails with ResourceExhausted, and nothing of it is applied
  kEvict,  // a cache: whole lists that are used least go, and the write goes on. Features stay, and
           // so do the lists that the call itself writes; it fails only when nothing else is there
};

// Why a list went that neither expired nor was removed.
enum class EvictionReason : uint8_t {
  kMemory,     // a write needed its memory
  kForgotten,  // ListStore::ForgetList
};

// A list that was evicted. Borrows its strings for the length of the listener's call.
struct EvictedList {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  std::string_view entity_id;
  size_t items = 0;  // that were held, expired ones that waited for reclamation included
  EvictionReason reason = EvictionReason::kMemory;
};

// An item whose time was over. Borrows its strings for the length of the listener's call.
struct ExpiredItem {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  std::string_view entity_id;
  std::string_view item_key;
  std::string_view value;
  int64_t expired_at_seconds = 0;  // since the Unix epoch: the first second at which it was gone
};

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

  // What happens at that limit.
  MemoryPolicy memory_policy = MemoryPolicy::kReject;

  // With kEvict: whether the lists have a source behind the store, from which they are put whole
  // (ListStore::PutList). True: a list that an addition begins is partial, for the source may hold
  // more of it. False: the store is all there is, and such a list is complete, unless it may have
  // been evicted before. See ListPresence.
  bool lists_live_elsewhere = false;

  // Called for every list that was evicted, on the thread whose call evicted it, after the call's
  // own work and while no part of the store is held: it may call the store. Calls of several
  // threads may overlap. Must not throw. Not told: what writes through CQL evict. Unset: costs
  // nothing.
  std::function<void(const EvictedList&)> eviction_listener;

  // Called for every item that is given back because its time was over, once, on the thread that
  // gives memory back: in ListStore::Reclaim, or a thread of background_reclaim or of a CqlServer
  // over the store; calls of several threads may overlap. The items of one Reclaim come in order of
  // their ends; for all that are due in one order, call it with a budget of SIZE_MAX. Reads find an
  // item gone from the second of its end on, whenever the listener is called. Not told: items that
  // were removed, evicted or deleted with their feature first; and, where CQL clients write with
  // timestamps of their own, those that were added anew before they were given back. Nothing of the
  // store is held: it may call the store. Must not throw. Unset: costs nothing.
  std::function<void(const ExpiredItem&)> expiry_listener;

  // --- Performance ------------------------------------------------------------------------------

  // Parts of the store that work side by side; how many never changes what is read. 0: one for each
  // core that the control group allows. At most 256.
  uint32_t shards = 0;

  // Starts two threads: one gives back the memory of expired and deleted items; without it the
  // memory comes back when callers call ListStore::Reclaim, and what has expired is never read in
  // either case. The other gets memory of the system before a growing store needs it, so that its
  // writers do not wait; see ListStore::Populate as well.
  bool background_reclaim = false;

  // Counts reads, additions and evictions for each feature version too: Stats::features. Not free:
  // reads take some 4 per cent longer, additions up to 8.
  bool feature_stats = false;
};

}  // namespace liststore

#endif  // LISTSTORE_OPTIONS_H_
