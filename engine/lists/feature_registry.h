// FeatureRegistry: which list features and versions exist, and how long their items live.
//
// The authoritative state is in memory, for the data path (FeatureEntry) and for listings. Every
// change is first written to the table list_features, so that CQL sees it:
//
//   CREATE TABLE list_features (entity_type text, feature text, version text,
//     feature_ttl bigint,   -- TTL of the feature; in the row of version '' only
//     own_ttl boolean,      -- the version has a TTL of its own
//     ttl bigint,           -- TTL of the version, its own or the feature's; null: deleted
//     PRIMARY KEY (entity_type, feature, version));
//
// A feature has a row for version '' as long as it exists, even after that version was deleted;
// other versions have a row while they exist. Rows never expire.
#ifndef LISTSTORE_ENGINE_LISTS_FEATURE_REGISTRY_H_
#define LISTSTORE_ENGINE_LISTS_FEATURE_REGISTRY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "engine/lists/add_gate.h"
#include "engine/lists/feature_entry.h"
#include "engine/lists/truncation_log.h"
#include "engine/model/eviction.h"
#include "engine/model/table_schema.h"
#include "engine/model/usage.h"
#include "engine/shard/engine.h"
#include "engine/snapshot/saved_format.h"
#include "liststore/list_store.h"

namespace liststore {

// The counts of `usage` in the words of the public API.
CacheStats ToCacheStats(const Usage& usage);

// Thread-safe. Find takes no lock. Everything else takes the mutex and may wait for lanes (no
// lane's holder ever waits for the mutex) and, in deletions, for running additions. The caller has
// checked the names (CheckFeatureNames).
//
// Invariants (Verify() checks them):
//  (1) the entry of every existing version has the version's TTL, every other entry has none;
//  (2) a version without a TTL of its own has its feature's.
class FeatureRegistry final : public UsageOwner {
 public:
  // Regular columns of list_features, by name.
  static constexpr ColumnId kFeatureTtlColumn = 0;
  static constexpr ColumnId kOwnTtlColumn = 1;
  static constexpr ColumnId kTtlColumn = 2;

  // Creates list_features in `keyspace`. `items` is the table whose partitions begin with a
  // feature_key. `engine` outlives the registry.
  FeatureRegistry(shard::Engine& engine, const std::string& keyspace, TableId items);
  FeatureRegistry(const FeatureRegistry&) = delete;
  FeatureRegistry& operator=(const FeatureRegistry&) = delete;

  // ---- Any thread, no lock ----

  // nullptr: the feature version never existed.
  FeatureEntry* Find(std::string_view feature_key) const { return entries_.Find(feature_key); }
  const TableSchema& schema() const { return schema_; }
  // UsageOwner.
  std::string_view FindComponent(std::string_view framed_feature_key) override;
  void AddUsage(std::string_view framed_feature_key, const Usage& usage) override;
  // Additions hold a pass from before they read FeatureEntry::ttl_seconds until they are applied.
  AddGate& add_gate() { return add_gate_; }

  // ---- Any thread, under the mutex ----
  // `evictions`: see Command::evictions.

  // Never nullptr: makes an entry for a version that does not exist.
  FeatureEntry* FindOrInsert(std::string_view feature_key) ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Status Create(std::string_view entity_type, std::string_view feature, int64_t ttl_seconds,
                      uint64_t now_nanos, EvictionLog* evictions) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CreateVersion(std::string_view entity_type, std::string_view feature,
                             std::string_view version, std::optional<int64_t> ttl_seconds,
                             uint64_t now_nanos, EvictionLog* evictions)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status SetVersionTtl(std::string_view entity_type, std::string_view feature,
                             std::string_view version, int64_t ttl_seconds, uint64_t now_nanos,
                             EvictionLog* evictions);
  absl::Status SetTtl(std::string_view entity_type, std::string_view feature, int64_t ttl_seconds,
                      uint64_t now_nanos, EvictionLog* evictions) ABSL_LOCKS_EXCLUDED(mutex_);
  // Withdraws the feature, so that new additions do not find it, waits for running additions, and
  // truncates its lists. When it returns, nothing of them can be read, and nothing can be added.
  absl::Status Delete(std::string_view entity_type, std::string_view feature, uint64_t now_nanos,
                      EvictionLog* evictions) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status DeleteVersion(std::string_view entity_type, std::string_view feature,
                             std::string_view version, uint64_t now_nanos, EvictionLog* evictions)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Of every entry that was used, as far as lanes have reported it; unsorted.
  std::vector<FeatureStatsView> UsageOfEach() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<ListFeatureInfo> List() const ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- Saving and loading ----

  // Truncations of lists, for a copy of the lists that runs meanwhile.
  TruncationLog& truncations() { return truncations_; }
  // All features and, at the same instant, the truncations that `reader` has not seen.
  std::vector<snapshot::Feature> Save(TruncationLog::Reader& reader,
                                      std::vector<std::string>& components) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Creates a saved feature with its versions. InvalidArgument: names or TTLs out of bounds.
  // AlreadyExists. ResourceExhausted.
  absl::Status Restore(const snapshot::Feature& feature, uint64_t now_nanos)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes over what list_features has, which others have filled. FailedPrecondition: a row is none that a
  // registry writes.
  absl::Status Load(uint64_t now_nanos) ABSL_LOCKS_EXCLUDED(mutex_);
  void Verify() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Version {
    FeatureEntry* entry = nullptr;
    bool own_ttl = false;
  };
  struct Feature {
    int64_t ttl_seconds = 0;
    std::map<std::string, Version, std::less<>> versions;
  };
  // Entity type, feature.
  using FeatureName = std::pair<std::string, std::string>;
  // A row to write to list_features.
  struct FeatureRow {
    std::string_view version;
    std::optional<int64_t> feature_ttl_seconds;
    std::optional<int64_t> ttl_seconds;
    bool own_ttl = false;
  };

  static absl::Status CheckTtl(int64_t ttl_seconds);
  Feature* FindFeature(std::string_view entity_type, std::string_view feature)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes rows of one feature, all or nothing.
  absl::Status WriteRows(std::string_view entity_type, std::string_view feature,
                         std::span<const FeatureRow> rows, uint64_t now_nanos,
                         EvictionLog* evictions);
  absl::Status DeleteRows(std::string_view entity_type, std::string_view feature,
                          std::span<const std::string_view> versions, uint64_t now_nanos,
                          EvictionLog* evictions);
  // Takes from the heap what Withdraw will need, so that it is not refused half-way.
  void PrepareWithdrawal(std::span<FeatureEntry* const> entries)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Hides versions from additions, and their lists from readers. Unavailable, ResourceExhausted: the commit log
  // refuses it; `withdrawn` of them, the first, are hidden then.
  absl::Status Withdraw(std::span<FeatureEntry* const> entries, size_t& withdrawn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Asked before the first of them goes, so that a deletion which the logs refuse is refused as a whole, unless
  // others take the room meanwhile.
  bool LogsHaveRoomFor(std::span<FeatureEntry* const> entries) const;
  // Withdraws versions, and deletes their rows by `delete_rows`. Where a log is kept the lists go first:
  // what a crash leaves is a feature without lists, never lists without their feature. An error says so where lists
  // are gone.
  template <typename DeleteRowsOfThem>
  absl::Status WithdrawAndDelete(std::span<FeatureEntry* const> entries,
                                 const DeleteRowsOfThem& delete_rows)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status LoadEntityType(std::string_view partition_key, uint64_t now_nanos)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  shard::Engine& engine_;
  const TableSchema schema_;  // of list_features
  const TableId items_table_;
  // Any thread.
  AddGate add_gate_;
  mutable TruncationLog truncations_;
  // Any thread finds; inserted under mutex_.
  FeatureEntryTable entries_;

  mutable Mutex mutex_;
  std::map<FeatureName, Feature> features_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_FEATURE_REGISTRY_H_
