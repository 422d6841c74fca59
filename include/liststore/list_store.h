// ListStore: an in-memory store for the lists of a feature store, with ScyllaDB's data model.
//
// A list belongs to an entity ("user 17") and to a list feature ("reading_history", version "v2").
// Its items are ordered newest first. Each item lives for the feature's TTL, counted from the
// item's own timestamp. The store behaves exactly like these tables on a ScyllaDB cluster:
//
//   CREATE TABLE list_items (feature_key text, entity_id text, item_key text, value blob,
//     PRIMARY KEY ((feature_key, entity_id), item_key)) WITH CLUSTERING ORDER BY (item_key DESC);
//   CREATE INDEX list_items_by_value ON list_items((feature_key, entity_id), value);
//
// Thread-safe: every operation may be called from any thread at any time. Operations of one thread
// on one list keep their order. An operation on one list is atomic. Throws no exceptions; errors
// are absl::Status. Reads Options::clock once per call.
//
//   auto store = liststore::ListStore::Open({});
//   if (!store.ok()) return store.status();
//   (*store)->CreateListFeature("user", "reading_history", 30 * 86'400);
//
//   liststore::ListId list{"user", "reading_history", "", "17"};
//   std::vector<liststore::NewItem> items = {{timestamp_nanos, "story-4711"}};
//   (*store)->AddListItems(list, items);
//
//   liststore::ListItems newest;                      // keep it: later reads allocate nothing
//   (*store)->GetListItems(list, {.limit = 10}, &newest);
//   for (liststore::ListItemView item : newest) Use(item.timestamp_nanos, item.value);
//
// Operations take a list by its names or by the handle of a feature; see list_ref.h.
//
// Errors of all operations. InvalidArgument: a name, value, timestamp or limit is out of bounds;
// the message says which, with the bound, the value and the positions of the list and item in the
// call. ResourceExhausted: the memory limit is reached, and with MemoryPolicy::kEvict nothing can
// be evicted; nothing of the call was applied. NotFound: an operation that adds to, changes or
// deletes a feature that does not exist. Reads of such a feature and removals from it find nothing.
//
// With Options::data_dir an operation that returns OK is kept as Options::commit_log says. What the log
// cannot take is refused, and nothing of it is applied: ResourceExhausted, where the disk is full, or
// Unavailable; the message has the disk's words and what to do. Reads go on. The first write a second
// later tries the disk again. Unknown: what was written to the log could not be written or synchronised
// in the end; the operation is done, and is kept when the disk takes it, unless the process ends before.
#ifndef LISTSTORE_LIST_STORE_H_
#define LISTSTORE_LIST_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "liststore/list_item.h"
#include "liststore/list_ref.h"
#include "liststore/options.h"
#include "liststore/stats.h"

namespace liststore::shard {
class Engine;
}  // namespace liststore::shard

namespace liststore {

class ListView;

struct ListFeatureVersionInfo {
  std::string version;
  int64_t ttl_seconds = 0;  // the version's own, or else the feature's
};

struct ListFeatureInfo {
  std::string entity_type;
  std::string feature;
  int64_t ttl_seconds = 0;
  std::vector<ListFeatureVersionInfo> versions;  // sorted; includes "" unless it was deleted
};

// Items for one list of AddListItemsMulti.
struct ListAddition {
  ListRef list;
  std::span<const NewItem> items;
};

// Options of ListStore::PutList.
struct PutListOptions {
  // Until when the list is fresh, in seconds since the Unix epoch. 0: always. Kept with the list
  // and returned by reads.
  int64_t fresh_until_seconds = 0;
  // A mark that ListStore::LoadMark returned before the content was loaded. The put is refused if
  // the list was changed since: added to, removed from, put or forgotten, or its feature deleted. A
  // change of another list may cause a refusal too, about once in 16,000 changes in a store of one
  // shard; a change of this list is never missed.
  std::optional<uint64_t> unless_written_since = std::nullopt;
};

// Content for one list of PutListsMulti.
struct ListPut {
  ListRef list;
  std::span<const NewItem> items;
  PutListOptions options = {};
};

// What ListStore::Snapshot has written.
struct SnapshotInfo {
  uint64_t number = 0;
  uint64_t partitions = 0;  // lists, and entity types that have features
  uint64_t rows = 0;        // items and versions of features
  uint64_t bytes = 0;       // of the file
  double seconds = 0;       // that it took
};

// The most items in one call, over all its lists.
inline constexpr size_t kItemsPerAddMax = 65'535;
// The longest TTL, and the longest remaining time of an item: 20 years of 365 days.
inline constexpr int64_t kFeatureTtlSecondsMax = 630'720'000;

class ListStore {
 public:
  // Opens an empty store, or, with Options::data_dir, one with what is there. InvalidArgument: an option
  // is out of bounds. FailedPrecondition: Options::memory_limit_bytes is 0, and the memory of the machine
  // is unknown; or the directory is of a later version, or has what no list store of this keyspace has,
  // which is named. Of a directory also: Unavailable: it is in use. DataLoss: something is missing there or
  // damaged; the message says what. ResourceExhausted: it does not fit the memory limit. Others are the
  // disk's.
  static absl::StatusOr<std::unique_ptr<ListStore>> Open(Options options);
  // No operation may be running. Stops the store's threads, if any, and frees all memory. Writes and
  // synchronises the commit log in every mode; who wants to know how that went calls Sync before.
  ~ListStore();
  ListStore(const ListStore&) = delete;
  ListStore& operator=(const ListStore&) = delete;

  // ---- Features ----
  // Changes of features are serialized. Every operation that begins after a change has returned
  // sees it.

  // Creates a feature with its default version "". `ttl_seconds`: 1 to kFeatureTtlSecondsMax.
  // AlreadyExists: the feature exists; nothing changed.
  absl::Status CreateListFeature(std::string_view entity_type, std::string_view feature,
                                 int64_t ttl_seconds);
  // Adds a version to a feature. With `ttl_seconds` it has a TTL of its own, else the feature's.
  // The version "" can be added again after it was deleted. NotFound: no such feature.
  // AlreadyExists: the version exists; nothing changed.
  absl::Status CreateListFeatureVersion(std::string_view entity_type, std::string_view feature,
                                        std::string_view version,
                                        std::optional<int64_t> ttl_seconds = std::nullopt);
  // Changes the TTL for items added from now on; present items keep theirs. Versions with a TTL of
  // their own keep it. NotFound: no such feature.
  absl::Status SetListFeatureTtl(std::string_view entity_type, std::string_view feature,
                                 int64_t ttl_seconds);
  // The same for one version, which has a TTL of its own from then on. NotFound: no such feature,
  // or no such version.
  absl::Status SetListFeatureVersionTtl(std::string_view entity_type, std::string_view feature,
                                        std::string_view version, int64_t ttl_seconds);
  // Deletes a feature with all its versions and lists. When the call returns, no reader sees the
  // lists any more; their memory is reclaimed in slices (Reclaim). Creating the feature again does
  // not bring them back. Waits for running additions: each happens either before the deletion,
  // which then deletes its items too, or after it, and fails with NotFound. NotFound: no such
  // feature.
  absl::Status DeleteListFeature(std::string_view entity_type, std::string_view feature);
  // The same for one version, also for "". A feature remains when all its versions are deleted.
  // NotFound: no such feature, or no such version.
  absl::Status DeleteListFeatureVersion(std::string_view entity_type, std::string_view feature,
                                        std::string_view version);
  // All features, sorted by entity type and name.
  std::vector<ListFeatureInfo> ListFeatures() const;

  // Returns a handle for faster calls. The feature need not exist yet. InvalidArgument: the names
  // are out of bounds. The store keeps about 200 bytes for each feature version that was asked for,
  // until it is closed.
  absl::StatusOr<ListFeature> FindListFeature(std::string_view entity_type,
                                              std::string_view feature,
                                              std::string_view version = "");

  // ---- Writes ----

  // Adds items to a list, all or nothing: if an item is out of bounds, none is stored, and the
  // error names it. Adding an item that is present (same timestamp and value) sets its remaining
  // time again. An item lives for floor((timestamp + TTL - now) / 1 s) seconds. If that is not
  // positive, it is skipped, and AddResult::hint says where its timestamp looks like one of another unit;
  // if it exceeds kFeatureTtlSecondsMax, the call is refused. NotFound:
  // the feature version does not exist, and Options::default_ttl_seconds is not set.
  // O(items x log(items in the list)).
  absl::StatusOr<AddResult> AddListItems(const ListRef& list, std::span<const NewItem> items);
  // Adds items to many lists of any features, all or nothing: everything is checked, and memory
  // reserved, before anything is stored. A list may occur more than once. Each list changes
  // atomically, but a reader may see one list changed and another not yet. Errors name the list and
  // the item by their positions.
  absl::StatusOr<AddResult> AddListItemsMulti(std::span<const ListAddition> additions);

  // Atomically replaces the whole content of a list with `items`, and makes the list complete
  // (ListPresence::kComplete). Items live as long as added ones; those with no time left are
  // skipped. Without items the store remembers, until `fresh_until_seconds`, that the list is
  // empty. Returns false if the put was refused and nothing changed; see unless_written_since.
  // Errors: as AddListItems. Needs memory for the new content while the old is still there.
  // O(items x log(items)).
  absl::StatusOr<bool> PutList(const ListRef& list, std::span<const NewItem> items,
                               const PutListOptions& options = {});
  // Puts many lists, each on its own: result i is what PutList would return for puts[i]. Reads the
  // clock once.
  std::vector<absl::StatusOr<bool>> PutListsMulti(std::span<const ListPut> puts);
  // Returns a mark for PutListOptions::unless_written_since: take the mark, load the content, put
  // it. Valid for this list only, as long as the store exists. The first mark makes a part of the
  // store keep 8 KiB.
  absl::StatusOr<uint64_t> LoadMark(const ListRef& list) const;
  // Drops what the store holds of a list, which is absent then; it is not a deletion. For content
  // that has changed at its source. Puts with an earlier mark are refused. Returns whether anything
  // was held. Needs no memory.
  absl::StatusOr<bool> ForgetList(const ListRef& list);

  // Atomically removes the items of a list whose value equals `value`; returns how many were
  // removed.
  absl::StatusOr<size_t> RemoveListItemsWithValue(const ListRef& list, std::string_view value);
  // Atomically removes all items of a list; returns how many had not expired.
  absl::StatusOr<size_t> RemoveAllListItems(const ListRef& list);

  // ---- Reads ----

  // Reads the newest items within the bounds of `options`, newest first. `*items` is overwritten.
  // O(log(items in the list) + items returned).
  absl::Status GetListItems(const ListRef& list, const GetOptions& options, ListItems* items) const;
  // Reads many lists with the same options: (*items)[i] gets the items of lists[i]. Several times
  // faster than single reads, since the lists are looked up together. Each list is read atomically.
  // After an error all of `*items` are empty. Allocates only to grow `*items`; use it again for a
  // call with as many lists.
  absl::Status MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                 std::vector<ListItems>* items) const;
  // Reads without a copy: the view points into the store, and its items stay as they are until it
  // is released, even if the list changes; see list_view.h. `*view` is overwritten.
  // O(log(items in the list) + items copied).
  absl::Status ViewListItems(const ListRef& list, const GetOptions& options, ListView* view) const;
  // Counts the items within the bounds of `options`; the limit is ignored.
  absl::StatusOr<size_t> CountListItems(const ListRef& list, const GetOptions& options = {}) const;

  // Calls `visit` with the entity id of every list of a feature version that has a live item, in
  // token order, until it returns false. Lists that appear or vanish meanwhile may or may not be
  // visited; every other list is visited exactly once. `visit` may call the store. Walks over all
  // lists of the store, a slice at a time: O(lists in the store).
  absl::Status ForEachList(std::string_view entity_type, std::string_view feature,
                           std::string_view version,
                           const std::function<bool(std::string_view entity_id)>& visit) const;

  // ---- What is kept ----

  // Writes everything to a new snapshot in Options::data_dir while others read and write, each list as it is
  // at one instant; then the one before goes, and what the log has from before it. Nobody does so by
  // himself: call it when Stats::log_bytes has grown, since that is read again when the store is opened.
  // Without a log (CommitLog::kOff) deletions of features wait for it. Two at a time follow each other.
  // FailedPrecondition: there is no data_dir. Others: the disk's words; what was there stays.
  absl::StatusOr<SnapshotInfo> Snapshot();
  // What was done before is synchronised, in every mode but kOff: it survives a loss of power.
  absl::Status Sync();
  // Moves Options::manual_clock, and keeps where it stands. Moves that go by it are kept with the next
  // write. FailedPrecondition: it was not given. Unavailable: the log refuses it, and it was not moved.
  absl::Status MoveClock(uint64_t now_nanos);

  // ---- Housekeeping ----

  // Reclaims memory of expired and deleted items, about `budget` of them at most; returns how many
  // units of work were done, 0 if there is nothing to reclaim. Not needed with
  // Options::background_reclaim.
  size_t Reclaim(size_t budget = 1000);
  // Prepares memory for `bytes` more of data, and keeps as much prepared or in use until it is
  // called with 0, so that writes do not wait for the operating system, which takes 0.2 to 5 ms for
  // each 2 MiB. Takes 0.1 to 2.5 s per GiB, the most on virtual machines. Prepared memory is
  // resident, but not part of Stats::held_bytes. ResourceExhausted: the memory limit has no room
  // for it, and nothing was done, or the machine refused, and as much is prepared as it gave. No other thread may use the store meanwhile.
  absl::Status Populate(uint64_t bytes);
  // Makes `bytes`, at least 1 MiB, the limit of Options::memory_limit_bytes from now on; other calls
  // may use the store meanwhile. Where more is held, memory that is due is reclaimed; with
  // MemoryPolicy::kEvict lists are then evicted, a few of each part of the store at a time, until the
  // rest fits, and the listener is told. OK: writes have the room that the new limit gives them.
  // ResourceExhausted: the limit is taken all the same, and more is held that is not evicted; writes
  // are refused until removals and expiries have made room. InvalidArgument: less than 1 MiB, and
  // nothing has changed. What the machine allows is not looked at.
  absl::Status SetMemoryLimit(uint64_t bytes);
  // The earliest instant at which an item may expire, in seconds since the Unix epoch: nothing
  // expires before it. nullopt: no item will expire.
  std::optional<int64_t> NextExpirySeconds() const;
  // Sums over all parts of the store; locks one at a time, briefly.
  Stats GetStats() const;
  // For tests: checks the store's invariants, and ends the process if one is broken. Slow.
  void Verify() const;

 private:
  friend class CqlServer;   // serves the store's tables: engine() and clock()
  friend class SavedStore;  // saves and loads them: see saved_store.h
  friend class KeptStore;   // opens them: see kept_store.h
  friend class ListCache;   // answers reads from loaded content as the store would
  class Impl;
  explicit ListStore(std::unique_ptr<Impl> impl);
  shard::Engine& engine();
  const Clock& clock() const;
  bool keeps_files() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_STORE_H_
