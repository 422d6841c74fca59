// FeatureEntry: what the data path knows of one feature version, and the table in which any thread
// finds it without a lock.
#ifndef LISTSTORE_ENGINE_LISTS_FEATURE_ENTRY_H_
#define LISTSTORE_ENGINE_LISTS_FEATURE_ENTRY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/usage.h"

namespace liststore {

// Made once for every feature_key that was created or asked for, and kept as long as the store,
// since handles (ListFeature) point to it. The entry of a feature that does not exist has no TTL.
class FeatureEntry {
 public:
  FeatureEntry(std::string_view feature_key, uint64_t hash);
  FeatureEntry(const FeatureEntry&) = delete;
  FeatureEntry& operator=(const FeatureEntry&) = delete;

  std::string_view feature_key() const {
    return std::string_view(framed_feature_key_).substr(2, framed_feature_key_.size() - 3);
  }
  // What the partition keys of all its lists begin with.
  std::string_view framed_feature_key() const { return framed_feature_key_; }
  uint64_t hash() const { return hash_; }

  // 0: the feature version does not exist.
  int64_t ttl_seconds() const { return ttl_seconds_.load(std::memory_order_acquire); }
  // How its lists were used, as far as lanes have reported it. Any thread.
  void AddUsage(const Usage& usage) {
    for (size_t i = 0; i < kUsageCounts.size(); ++i) {
      const uint64_t count = usage.*kUsageCounts[i];
      if (count != 0) usage_[i].fetch_add(count, std::memory_order_relaxed);
    }
  }
  Usage usage() const {
    Usage sum;
    for (size_t i = 0; i < kUsageCounts.size(); ++i) {
      sum.*kUsageCounts[i] = usage_[i].load(std::memory_order_relaxed);
    }
    return sum;
  }
  // FeatureRegistry only.
  void set_ttl_seconds(int64_t seconds) { ttl_seconds_.store(seconds, std::memory_order_release); }

 private:
  // Constant after construction.
  const std::string framed_feature_key_;
  const uint64_t hash_;
  // Any thread reads, the holder of the registry's mutex writes.
  std::atomic<int64_t> ttl_seconds_{0};
  // Any thread adds; in the order of kUsageCounts.
  std::array<std::atomic<uint64_t>, kUsageCounts.size()> usage_{};
};

// Entries by feature_key. Any thread may find; one thread at a time inserts (the registry's mutex).
//
// Open addressing with linear probing, at most half full; entries are never removed. When an array
// is half full, one of twice the size replaces it. Old arrays are kept as long as the table,
// because readers may be using them; together they are smaller than the newest. A look-up is a hash
// of the key and one or two cache misses, about 15 ns when warm. 16 to 32 bytes of slots and an
// entry of about 220 bytes per version.
//
// Invariants (Verify() checks them):
//  (1) every entry is in the newest array exactly once, reachable from its hash without passing an
//      empty slot;
//  (2) no two entries have the same feature_key;
//  (3) at least half of the slots are empty.
class FeatureEntryTable {
 public:
  FeatureEntryTable();
  FeatureEntryTable(const FeatureEntryTable&) = delete;
  FeatureEntryTable& operator=(const FeatureEntryTable&) = delete;

  // nullptr: never inserted. Sees every insertion that happened before.
  FeatureEntry* Find(std::string_view feature_key) const;
  // One thread at a time.
  FeatureEntry* FindOrInsert(std::string_view feature_key);
  // Entries whose feature version exists. O(entries).
  size_t CountExisting() const;
  // One thread at a time, like FindOrInsert.
  const std::vector<std::unique_ptr<FeatureEntry>>& entries() const { return entries_; }
  void Verify() const;

 private:
  struct Slots {
    explicit Slots(size_t count)
        : mask(count - 1), slots(std::make_unique<std::atomic<FeatureEntry*>[]>(count)) {}
    const size_t mask;
    const std::unique_ptr<std::atomic<FeatureEntry*>[]> slots;
  };

  static FeatureEntry* FindIn(const Slots& slots, std::string_view feature_key, uint64_t hash);
  static void InsertInto(Slots& slots, FeatureEntry* entry);

  // Any thread.
  std::atomic<Slots*> newest_;
  // The inserting thread.
  std::vector<std::unique_ptr<Slots>> all_slots_;
  std::vector<std::unique_ptr<FeatureEntry>> entries_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_FEATURE_ENTRY_H_
