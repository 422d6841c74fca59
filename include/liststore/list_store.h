// ListStore: lists of a feature store, in memory, with ScyllaDB's data model.
//
// A list belongs to an entity ("user 17") and to a list feature ("reading_history", version "v2").
// Its items are ordered newest first; each lives for the feature's TTL, counted from the item's own
// timestamp. What this class does is exactly what these statements do on a ScyllaDB cluster:
//
//   CREATE TABLE list_items (feature_key text, entity_id text, item_key text, value blob,
//     PRIMARY KEY ((feature_key, entity_id), item_key)) WITH CLUSTERING ORDER BY (item_key DESC);
//   CREATE INDEX list_items_by_value ON list_items((feature_key, entity_id), value);
//
// Thread-safe: every operation may be called from any thread at any time; one thread's operations
// on a list keep their order. An operation on one list is atomic. No exception is thrown; errors
// are absl::Status. Time is read once per call from Options::clock.
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
// Errors common to all operations. InvalidArgument: a name, value, timestamp or limit out of its
// bounds; the message names it, the bound and what was given, and which list and item of the call
// it belongs to. ResourceExhausted: the memory limit; nothing of the call was applied (with
// MemoryPolicy::kEvict, only when nothing could be evicted). A feature
// that does not exist is NotFound where it matters (adding, deleting, changing); reading or
// removing from it finds nothing.
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

namespace liststore {

class Engine;
class ListView;

struct ListFeatureVersionInfo {
  std::string version;
  int64_t ttl_seconds = 0;  // the feature's, or the version's own
};

struct ListFeatureInfo {
  std::string entity_type;
  std::string feature;
  int64_t ttl_seconds = 0;
  std::vector<ListFeatureVersionInfo> versions;  // sorted; "" is among them unless it was deleted
};

// Items for one list of a multi-list addition.
struct ListAddition {
  ListRef list;
  std::span<const NewItem> items;
};

// How a list is put whole.
struct PutListOptions {
  // Seconds since the epoch until which the list is fresh; 0: for ever. Kept with the list, and
  // told by reads.
  int64_t fresh_until_seconds = 0;
  // A mark taken by ListStore::LoadMark before the content was loaded: the put is refused when the
  // list was changed after it (added to, removed from, put, forgotten, its feature deleted). It may
  // be refused when another list of the store changed, about once for 16,000 changes of others on a
  // machine of one shard; never the other way round.
  std::optional<uint64_t> unless_written_since = std::nullopt;
};

// One list of a call that puts many.
struct ListPut {
  ListRef list;
  std::span<const NewItem> items;
  PutListOptions options = {};
};

// Items that one call may add, over all its lists.
inline constexpr size_t kItemsPerAddMax = 65'535;
// Longest TTL, and longest remaining time of an item: 20 years of 365 days.
inline constexpr int64_t kFeatureTtlSecondsMax = 630'720'000;

class ListStore {
 public:
  // Opens an empty store. InvalidArgument: an option is out of its bounds. FailedPrecondition: the
  // memory limit was left to the store, and the machine does not say how much memory it has.
  static absl::StatusOr<std::unique_ptr<ListStore>> Open(Options options);
  // No operation may be running. Stops the store's thread, if it has one, and gives all memory
  // back.
  ~ListStore();
  ListStore(const ListStore&) = delete;
  ListStore& operator=(const ListStore&) = delete;

  // --- Features ---------------------------------------------------------------------------------
  // Changes take turns and are seen by every operation that begins after they return.

  // Creates a feature with its default version "". `ttl_seconds`: 1 to kFeatureTtlSecondsMax.
  // AlreadyExists: nothing changes.
  absl::Status CreateListFeature(std::string_view entity_type, std::string_view feature,
                                 int64_t ttl_seconds);
  // Adds a version to a feature; `ttl_seconds` gives it a TTL of its own, else it has the
  // feature's. The version "" may be added again after it was deleted. NotFound: no such feature.
  // AlreadyExists: nothing changes.
  absl::Status CreateListFeatureVersion(std::string_view entity_type, std::string_view feature,
                                        std::string_view version,
                                        std::optional<int64_t> ttl_seconds = std::nullopt);
  // Changes the TTL for items added from now on; those already there keep theirs. Versions with a
  // TTL of their own keep it. NotFound: no such feature.
  absl::Status SetListFeatureTtl(std::string_view entity_type, std::string_view feature,
                                 int64_t ttl_seconds);
  // The same for one version, which has a TTL of its own from then on. NotFound: no such version.
  absl::Status SetListFeatureVersionTtl(std::string_view entity_type, std::string_view feature,
                                        std::string_view version, int64_t ttl_seconds);
  // Deletes a feature with all its versions and lists. The lists are gone for every reader when the
  // call returns; their memory comes back in slices (Reclaim). Creating the feature again brings
  // nothing back. Waits for additions under way: each comes before the deletion, and its items go
  // with the rest, or after it, and is NotFound. NotFound: no such feature.
  absl::Status DeleteListFeature(std::string_view entity_type, std::string_view feature);
  // The same for one version. The version "" may be deleted too; a feature outlives its versions.
  // NotFound: no such feature, or no such version.
  absl::Status DeleteListFeatureVersion(std::string_view entity_type, std::string_view feature,
                                        std::string_view version);
  // All features, sorted by entity type and name.
  std::vector<ListFeatureInfo> ListFeatures() const;

  // A handle for faster calls. InvalidArgument: bad names. The feature need not exist yet. The
  // store keeps about 200 bytes for each feature version asked for, as long as it lives.
  absl::StatusOr<ListFeature> FindListFeature(std::string_view entity_type,
                                              std::string_view feature,
                                              std::string_view version = "");

  // --- Writes -----------------------------------------------------------------------------------

  // Adds items to a list, all or nothing: one bad item and none is stored, and the error names it.
  // An item that is there already (same timestamp and value) gets its remaining time anew. An item
  // lives for floor((timestamp + TTL - now) / 1 s) seconds: not positive, it is skipped; above
  // kFeatureTtlSecondsMax, the call is refused. NotFound: the feature version does not exist, and
  // Options::default_ttl_seconds is not set. O(items x log(items in the list)).
  absl::StatusOr<AddResult> AddListItems(const ListRef& list, std::span<const NewItem> items);
  // Adds to many lists, of whatever features; a list may come more than once. Everything is
  // checked, and memory set aside, before anything is stored; all or nothing. Each list changes
  // atomically; a reader may see one list changed and another not yet. Errors name the list and the
  // item by their positions.
  absl::StatusOr<AddResult> AddListItemsMulti(std::span<const ListAddition> additions);

  // Makes `items` the whole content of a list, atomically, and the list complete
  // (ListPresence::kComplete); items live as long as added ones, and those without time left are
  // skipped. Without items the store remembers that the list is empty, until `fresh_until_seconds`.
  // False: refused, see unless_written_since; nothing has changed. Errors: as AddListItems. Takes
  // memory for the new content beside the old. O(items x log(items)).
  absl::StatusOr<bool> PutList(const ListRef& list, std::span<const NewItem> items,
                               const PutListOptions& options = {});
  // Puts many lists, each by itself: results[i] is what PutList would return for the i-th. The
  // clock is read once.
  std::vector<absl::StatusOr<bool>> PutListsMulti(std::span<const ListPut> puts);
  // A mark for PutListOptions::unless_written_since: take it, load the content, put it. Good for
  // this list alone, as long as the store. The first one makes a part of the store keep 8 KiB.
  absl::StatusOr<uint64_t> LoadMark(const ListRef& list) const;
  // Drops what is held of a list, and nothing else: it is absent then. For content that its source
  // has changed; puts that were loaded before are refused. Returns whether anything was held. Needs
  // no memory.
  absl::StatusOr<bool> ForgetList(const ListRef& list);

  // Removes the items of a list whose value equals `value`, in one atomic step; returns how many
  // went.
  absl::StatusOr<size_t> RemoveListItemsWithValue(const ListRef& list, std::string_view value);
  // Removes all items of a list, atomically; returns how many were still alive.
  absl::StatusOr<size_t> RemoveAllListItems(const ListRef& list);

  // --- Reads ------------------------------------------------------------------------------------

  // The newest items within the bounds of `options`, newest first. `items` is overwritten.
  // O(log(items in the list) + items returned).
  absl::Status GetListItems(const ListRef& list, const GetOptions& options, ListItems* items) const;
  // Many lists under the same options; (*items)[i] belongs to the i-th list. Several times faster
  // than one by one: the lists are looked up together. Each list is read atomically. After an error
  // all of
  // `*items` are empty. Allocates only to grow `*items`: keep it, and its size, from call to call.
  absl::Status MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                 std::vector<ListItems>* items) const;
  // The same without a copy: the view points to where the items lie, and they stay there, as they
  // are, until it is dropped, whatever becomes of the list; see list_view.h. `view` is overwritten.
  // O(log(items in the list)) and, where items have to be copied, their number.
  absl::Status ViewListItems(const ListRef& list, const GetOptions& options, ListView* view) const;
  // How many items lie within the bounds of `options`, whose limit does not count.
  absl::StatusOr<size_t> CountListItems(const ListRef& list, const GetOptions& options = {}) const;

  // Calls `visit` with the entity id of every list of a feature version that has a live item, in
  // token order, until it returns false. Lists that appear or vanish meanwhile may or may not be
  // seen; every other one is seen exactly once. `visit` may call the store. Walks all lists of the
  // store, a slice at a time: O(lists in the store).
  absl::Status ForEachList(std::string_view entity_type, std::string_view feature,
                           std::string_view version,
                           const std::function<bool(std::string_view entity_id)>& visit) const;

  // --- Housekeeping -----------------------------------------------------------------------------

  // Gives back memory of expired and deleted items, at most about `budget` of them; returns how
  // many units of work were done, 0 when there was none. Not needed with
  // Options::background_reclaim.
  size_t Reclaim(size_t budget = 1000);
  // Makes memory ready for `bytes` more of data, and keeps as much ready or in use until it is
  // called with 0: writes do not wait for the system, which takes 0.2 to 5 ms for each 2 MiB that
  // it hands out. Takes 0.1 to 2.5 s a GiB, most where the machine is virtual. What is ready is
  // resident, and not held_bytes. ResourceExhausted: the memory limit has no room for as much;
  // nothing was done. While no other thread uses the store.
  absl::Status Populate(uint64_t bytes);
  // The earliest instant, in seconds since the epoch, at which an item may expire; nullopt: none
  // will. A lower bound: nothing expires before it.
  std::optional<int64_t> NextExpirySeconds() const;
  // Sums over the shards; takes each shortly.
  Stats GetStats() const;
  // Checks the store's invariants and stops the process when one is broken; for tests. Slow.
  void Verify() const;

 private:
  friend class CqlServer;   // serves the store's tables: engine() and clock()
  friend class SavedStore;  // saves and loads them: see saved_store.h
  friend class ListCache;   // answers reads as the store would
  class Impl;
  explicit ListStore(std::unique_ptr<Impl> impl);
  Engine& engine();
  const Clock& clock() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_STORE_H_
