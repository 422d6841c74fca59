#include "bench/peers/plain_store.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/strings.h"
#include "liststore/item_key.h"

namespace liststore {
namespace {

std::string KeyOf(const NewItem& item) {
  auto key = MakeItemKey(item.timestamp_nanos, item.value);
  LS_CHECK(key.ok(), "timestamps of the benchmark have 19 digits");
  return *std::move(key);
}

}  // namespace

PlainStore::PlainStore(const Clock& clock, int64_t ttl_seconds, size_t lists_max)
    : clock_(clock),
      ttl_seconds_(ttl_seconds),
      lists_max_per_shard_((lists_max + kShards - 1) / kShards) {}

// The top bits: the maps inside use the others.
size_t PlainStore::ShardOf(std::string_view list_key) const {
  return absl::Hash<absl::string_view>()(ToAbsl(list_key)) >> 58;
}

size_t PlainStore::Add(std::string_view list_key, std::span<const NewItem> items) {
  const uint64_t now_nanos = clock_.NowNanos();
  const int64_t now_seconds = WholeSeconds(now_nanos);
  const uint64_t ttl_nanos = static_cast<uint64_t>(ttl_seconds_) * kNanosPerSecond;
  size_t stored = 0;
  Shard& shard = shards_[ShardOf(list_key)];
  // Keys, MD5 included, are made outside of the lock.
  absl::InlinedVector<std::string, 16> keys;
  for (const NewItem& item : items) keys.push_back(KeyOf(item));

  const std::lock_guard lock(shard.mutex);
  const auto [at, created] = shard.lists.try_emplace(ToAbsl(list_key));
  List& list = at->second;
  if (lists_max_per_shard_ != 0) {
    if (created) {
      shard.by_use.push_front(at->first);
      list.place = shard.by_use.begin();
      if (shard.lists.size() > lists_max_per_shard_) {
        shard.lists.erase(shard.by_use.back());
        shard.by_use.pop_back();
      }
    } else {
      NoteUse(shard, list);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const uint64_t end_nanos = items[i].timestamp_nanos + ttl_nanos;
    if (end_nanos < now_nanos + kNanosPerSecond) continue;
    const int64_t left_seconds = WholeSeconds(end_nanos - now_nanos);
    const auto [row, inserted] = list.items.try_emplace(keys[i]);
    row->second.expires_at_seconds = now_seconds + left_seconds;
    ++stored;
    if (!inserted) continue;  // the same key holds the same value
    row->second.value = items[i].value;
    list.by_value[row->second.value].push_back(std::move(keys[i]));
  }
  EraseExpired(list, now_seconds);
  return stored;
}

void PlainStore::Get(std::string_view list_key, uint64_t min_timestamp_nanos, size_t limit,
                     PlainItems* result) const {
  const int64_t now_seconds = WholeSeconds(clock_.NowNanos());
  const std::string bound =
      min_timestamp_nanos == 0 ? std::string() : ItemKeyLowerBound(min_timestamp_nanos);
  result->size = 0;
  const Shard& shard = shards_[ShardOf(list_key)];
  const std::lock_guard lock(shard.mutex);
  const auto list = shard.lists.find(ToAbsl(list_key));
  if (list == shard.lists.end()) return;
  NoteUse(shard, list->second);
  for (const auto& [key, stored] : list->second.items) {
    if (result->size == limit || key < bound) return;
    if (stored.expires_at_seconds <= now_seconds) continue;
    if (result->size == result->items.size()) result->items.emplace_back();
    PlainItem& item = result->items[result->size++];
    item.key = key;
    item.value = stored.value;
  }
}

size_t PlainStore::RemoveWithValue(std::string_view list_key, std::string_view value) {
  const int64_t now_seconds = WholeSeconds(clock_.NowNanos());
  Shard& shard = shards_[ShardOf(list_key)];
  const std::lock_guard lock(shard.mutex);
  const auto list = shard.lists.find(ToAbsl(list_key));
  if (list == shard.lists.end()) return 0;
  const auto found = list->second.by_value.find(ToAbsl(value));
  if (found == list->second.by_value.end()) return 0;
  size_t removed = 0;
  for (const std::string& key : found->second) {
    const auto row = list->second.items.find(key);
    LS_DCHECK(row != list->second.items.end(), "the index names items that are there");
    removed += row->second.expires_at_seconds > now_seconds;
    list->second.items.erase(row);
  }
  list->second.by_value.erase(found);
  if (list->second.items.empty()) {
    if (lists_max_per_shard_ != 0) shard.by_use.erase(list->second.place);
    shard.lists.erase(list);
  }
  return removed;
}

// Items expire oldest first where all have one TTL: the end of the map is the place to look.
void PlainStore::EraseExpired(List& list, int64_t now_seconds) {
  while (!list.items.empty()) {
    const auto oldest = std::prev(list.items.end());
    if (oldest->second.expires_at_seconds > now_seconds) return;
    EraseFromIndex(list, oldest->second.value, oldest->first);
    list.items.erase(oldest);
  }
}

void PlainStore::EraseFromIndex(List& list, const std::string& value, const std::string& key) {
  const auto found = list.by_value.find(value);
  LS_CHECK(found != list.by_value.end(), "every item is in the index");
  ItemKeys& keys = found->second;
  keys.erase(std::remove(keys.begin(), keys.end(), key), keys.end());
  if (keys.empty()) list.by_value.erase(found);
}

}  // namespace liststore
