// Options of a ListStore. The defaults suit a store inside a service: all cores, most of the memory
// that the container may use, the system clock, no threads of its own.
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

// What happens when a write needs more memory than Options::memory_limit_bytes allows.
enum class MemoryPolicy : uint8_t {
  // For a store: the write fails with ResourceExhausted, and nothing of it is applied.
  kReject,
  // For a cache: the least used lists are evicted, whole, and the write continues. Features are not
  // evicted, nor are the lists that the call itself writes; it fails only if nothing else is left.
  kEvict,
};

// What is on the disk before a write of a store with a data directory is answered.
enum class CommitLog : uint8_t {
  kOff,       // nothing is written down as it comes: what the last snapshot has is kept
  kOs,        // it is written to the log's file: it survives the end of the process
  kPeriodic,  // and synchronised every commit_log_period_ms: what is older survives a power cut
  kSync,      // it is synchronised
};

// Why a list was evicted.
enum class EvictionReason : uint8_t {
  kMemory,     // a write needed its memory
  kForgotten,  // ListStore::ForgetList
};

// How the files of snapshots and saved stores are written. They are read whatever is set.
enum class SnapshotCompression : uint8_t {
  kNone,
  kZstd,  // by blocks, at the quickest level: smaller files for some processor time
};

// A list that was evicted. The strings are valid for the length of the listener's call.
struct EvictedList {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  std::string_view entity_id;
  size_t items = 0;  // held items, also expired ones that were not reclaimed yet
  EvictionReason reason = EvictionReason::kMemory;
};

// An item that expired. The strings are valid for the length of the listener's call.
struct ExpiredItem {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  std::string_view entity_id;
  std::string_view item_key;
  std::string_view value;
  int64_t expired_at_seconds = 0;  // since the Unix epoch: the first second without the item
};

struct Options {
  // ---- Behaviour ----

  // The source of time; must outlive the store. nullptr: the system clock.
  const Clock* clock = nullptr;

  // Keyspace of the store's two tables, `list_items` and `list_features`. 1 to 48 characters of
  // [A-Za-z0-9_].
  std::string keyspace = "feature_store";

  // If set, items may be added to features that do not exist, and live this long: 1 to 630,720,000
  // seconds. If not, such an addition is NotFound.
  std::optional<int64_t> default_ttl_seconds;

  // The longest value of an item. 65,487 bytes fit into ScyllaDB's value index together with an
  // item key of 44 characters. At most 16 MiB, for stores that are not used through CQL.
  size_t value_bytes_max = 65'487;

  // Hard limit on memory for data, in bytes, counted in pages. Writes may fill all but its last 32nd
  // part (256 KiB to 32 MiB), which is kept for what they take besides, and for deletions. A write
  // that might exceed that goes by `memory_policy`. 0: three quarters of what the control group
  // allows, or of the machine's memory without a limit there. At least 1 MiB.
  uint64_t memory_limit_bytes = 0;

  // What happens at the limit.
  MemoryPolicy memory_policy = MemoryPolicy::kReject;

  // With kEvict: whether the lists are copies from another store (the source), put whole with
  // ListStore::PutList. True: a list that an addition begins is partial, since the source may hold
  // more of it. False: there is no source, and such a list is complete, unless it may have been
  // evicted before. See ListPresence.
  bool lists_live_elsewhere = false;

  // Called for every evicted list, on the thread whose call evicted it, at the end of that call. No
  // part of the store is locked: the listener may call the store. Several threads may call it at
  // once. It must not throw. Not called for lists that writes through CQL evict. If unset, it costs
  // nothing.
  std::function<void(const EvictedList&)> eviction_listener;

  // Called once for every expired item when its memory is reclaimed, on the thread that reclaims
  // it: in ListStore::Reclaim, or on a thread of background_reclaim or of a CqlServer that serves
  // the store. Several threads may call it at once. The items of one call of Reclaim come in the
  // order in which they expired; a budget of SIZE_MAX gives all that are due in one order. Reads do
  // not return an item from the second of its expiry on, whenever the listener is called. Not
  // called for items that were removed, evicted or deleted with their feature first, nor, if CQL
  // clients write with timestamps of their own, for items that were added again before they were
  // reclaimed. No part of the store is locked: the listener may call the store. It must not throw.
  // If unset, it costs nothing.
  std::function<void(const ExpiredItem&)> expiry_listener;

  // ---- What is kept ----

  // A directory where the store keeps its lists and features, so that they are there again when it is
  // opened the next time, with any number of shards; made where it is missing. One store's at a time.
  // Empty: nothing is kept. docs/durability.md says what survives what.
  std::string data_dir;

  // With a `data_dir`. kPeriodic starts a thread for each shard, and so does every mode but kOff with
  // `background_reclaim`. Else the log is written and synchronised by the calls that write: those of
  // several threads at one time share one synchronisation.
  CommitLog commit_log = CommitLog::kOs;
  // Of kPeriodic: 1 to 60,000.
  uint32_t commit_log_period_ms = 10;
  // Size of the log's files, of which each shard has two at least: 2 MiB to 1 GiB. 0: 32 MiB, and less
  // with more than 8 shards, 4 MiB at least.
  uint64_t commit_log_segment_bytes = 0;

  SnapshotCompression snapshot_compression = SnapshotCompression::kNone;

  // The source of time in place of `clock`: one that is moved. With a `data_dir` it is set to where it
  // stood when the directory was last in use, and ListStore::MoveClock keeps its moves; must outlive
  // the store.
  ManualClock* manual_clock = nullptr;

  // Lines about what was found in the `data_dir`, and when writes are refused because it cannot be
  // written, and accepted again. Threads of the store, and those that call it, call this: it must
  // return soon and must not call the store. May be empty.
  std::function<void(std::string_view line)> on_keeping;

  // ---- Performance ----

  // Parts of the store that work in parallel; their number does not change what is read. 0: one for
  // each core that the control group allows. At most 256.
  uint32_t shards = 0;

  // Starts two threads. One reclaims the memory of expired and deleted items; without it that
  // happens when the program calls ListStore::Reclaim. Expired items are not read in either case.
  // The other gets memory from the operating system before a growing store needs it, so that writes
  // do not wait; see also ListStore::Populate.
  bool background_reclaim = false;

  // Also counts reads, additions and evictions for each feature version, in Stats::features. Reads
  // take about 4 percent longer, additions up to 8 percent.
  bool feature_stats = false;
};

}  // namespace liststore

#endif  // LISTSTORE_OPTIONS_H_
