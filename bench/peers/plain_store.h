// PlainStore: the lists that a careful engineer writes in an afternoon, to compare the store with.
//
// A hash map of ordered maps, one mutex for each of 64 shards, an index from value to item keys in
// every list. It does for one list what ListStore does (items newest first under the same item
// keys, a TTL for each item, removal by value) and nothing beyond: no features, no errors, no
// memory limit, no reclamation but at the oldest end of a list that is written. As a cache it keeps
// an LRU list over the lists of each shard.
#ifndef LISTSTORE_BENCH_PEERS_PLAIN_STORE_H_
#define LISTSTORE_BENCH_PEERS_PLAIN_STORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "liststore/clock.h"
#include "liststore/list_item.h"

namespace liststore {

struct PlainItem {
  std::string key;
  std::string value;
};

// A result to be used again from call to call: beyond `size` are strings that keep their memory.
struct PlainItems {
  std::vector<PlainItem> items;
  size_t size = 0;
};

// Thread-safe; an operation on one list is atomic. Reads the clock once per call.
class PlainStore {
 public:
  // `clock` outlives the store. Every item lives until its timestamp plus `ttl_seconds`.
  // `lists_max`: above it the list that was used longest ago goes, in each shard by itself; 0: as
  // many as come, and no order is kept.
  PlainStore(const Clock& clock, int64_t ttl_seconds, size_t lists_max = 0);
  PlainStore(const PlainStore&) = delete;
  PlainStore& operator=(const PlainStore&) = delete;

  // `list_key` is the whole key: feature key and entity id. Returns how many items are stored;
  // those already expired are not.
  size_t Add(std::string_view list_key, std::span<const NewItem> items);
  // The newest `limit` items not before `min_timestamp_nanos`.
  void Get(std::string_view list_key, uint64_t min_timestamp_nanos, size_t limit,
           PlainItems* result) const;
  // Returns how many items went.
  size_t RemoveWithValue(std::string_view list_key, std::string_view value);

 private:
  struct Stored {
    std::string value;
    int64_t expires_at_seconds = 0;
  };
  using ItemKeys = absl::InlinedVector<std::string, 1>;
  struct List {
    std::list<std::string>::iterator place;  // in the order of use; with a limit only
    absl::btree_map<std::string, Stored, std::greater<>> items;
    absl::flat_hash_map<std::string, ItemKeys> by_value;
  };
  // A cache line of its own for each mutex.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    absl::flat_hash_map<std::string, List> lists;
    mutable std::list<std::string> by_use;  // last used first; with a limit only
  };

  static constexpr size_t kShards = 64;

  void NoteUse(const Shard& shard, const List& list) const {
    if (lists_max_per_shard_ == 0) return;
    shard.by_use.splice(shard.by_use.begin(), shard.by_use, list.place);
  }
  size_t ShardOf(std::string_view list_key) const;
  static void EraseExpired(List& list, int64_t now_seconds);
  static void EraseFromIndex(List& list, const std::string& value, const std::string& key);

  const Clock& clock_;
  const int64_t ttl_seconds_;
  const size_t lists_max_per_shard_;  // 0: no limit
  std::array<Shard, kShards> shards_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_PLAIN_STORE_H_
