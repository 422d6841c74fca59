#include "engine/lists/feature_registry.h"

#include <algorithm>
#include <array>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/command/command.h"
#include "engine/command/status_conversion.h"
#include "engine/lists/list_key.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"

namespace liststore {
namespace {

constexpr size_t kColumns = 3;
constexpr size_t kBigintBytes = 8;

absl::Status FeatureNotFound(std::string_view entity_type, std::string_view feature) {
  return absl::NotFoundError(
      absl::StrCat("no list feature ", Quoted(feature), " of entity type ", Quoted(entity_type)));
}

std::string NameOf(std::string_view entity_type, std::string_view feature,
                   std::string_view version) {
  return absl::StrCat("version ", Quoted(version), " of list feature ", Quoted(feature),
                      " of entity type ", Quoted(entity_type));
}

TableSchema CreateListFeatures(shard::Engine& engine, const std::string& keyspace) {
  TableSchema schema;
  schema.keyspace = keyspace;
  schema.name = "list_features";
  schema.partition_key = {{"entity_type", CqlType::kText}};
  schema.clustering = {{"feature", CqlType::kText, false}, {"version", CqlType::kText, false}};
  schema.regular = {
      {"feature_ttl", CqlType::kBigint}, {"own_ttl", CqlType::kBoolean}, {"ttl", CqlType::kBigint}};
  schema.id = engine.CreateTable(schema);
  return schema;
}

// The bytes of one row, and cells that point into them. Not movable.
struct RowBuffer {
  std::string key;
  char feature_ttl[kBigintBytes];
  char ttl[kBigintBytes];
  char own_ttl;
  std::array<CellUpdate, kColumns> cells;
};

CellUpdate BigintCell(ColumnId column, std::optional<int64_t> value, char buffer[kBigintBytes]) {
  if (!value) return {.column = column, .live = false, .value = {}};
  StoreBigEndian64(buffer, static_cast<uint64_t>(*value));
  return {.column = column, .live = true, .value = {buffer, kBigintBytes}};
}

std::string RowKey(const TableSchema& schema, std::string_view feature, std::string_view version) {
  std::string key;
  AppendClusteringKey(schema.clustering, std::array{feature, version}, key);
  return key;
}

std::string EntityTypeKey(std::string_view entity_type) {
  std::string key;
  AppendPartitionKey(std::array{entity_type}, key);
  return key;
}

}  // namespace

absl::Status FeatureRegistry::CheckTtl(int64_t ttl_seconds) {
  if (ttl_seconds >= 1 && ttl_seconds <= kFeatureTtlSecondsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("ttl ", ttl_seconds, " s is not within 1 to ", kFeatureTtlSecondsMax));
}

CacheStats ToCacheStats(const Usage& usage) {
  return {.hits = usage.hits,
          .partial_hits = usage.partial_hits,
          .misses = usage.misses,
          .additions = usage.upserts,
          .puts = usage.puts,
          .evictions = usage.evictions,
          .evicted_items = usage.evicted_rows,
          .forgotten = usage.forgotten,
          .forgotten_items = usage.forgotten_rows};
}

FeatureRegistry::FeatureRegistry(shard::Engine& engine, const std::string& keyspace, TableId items)
    : engine_(engine), schema_(CreateListFeatures(engine, keyspace)), items_table_(items) {}

FeatureEntry* FeatureRegistry::FindOrInsert(std::string_view feature_key) {
  if (FeatureEntry* const entry = entries_.Find(feature_key)) return entry;
  MutexLock lock(mutex_);
  return entries_.FindOrInsert(feature_key);
}

std::string_view FeatureRegistry::FindComponent(std::string_view framed_feature_key) {
  const FeatureEntry* const entry =
      entries_.Find(framed_feature_key.substr(2, framed_feature_key.size() - 3));
  return entry != nullptr ? entry->framed_feature_key() : std::string_view();
}

void FeatureRegistry::AddUsage(std::string_view framed_feature_key, const Usage& usage) {
  FeatureEntry* const entry =
      entries_.Find(framed_feature_key.substr(2, framed_feature_key.size() - 3));
  LS_CHECK(entry != nullptr, "entries are never removed");
  entry->AddUsage(usage);
}

std::vector<FeatureStatsView> FeatureRegistry::UsageOfEach() const {
  std::vector<FeatureStatsView> all;
  MutexLock lock(mutex_);
  for (const auto& entry : entries_.entries()) {
    const Usage usage = entry->usage();
    if (!usage.any()) continue;
    const FeatureNames names = NamesOf(entry->feature_key());
    all.push_back({.entity_type = std::string(names.entity_type),
                   .feature = std::string(names.feature),
                   .version = std::string(names.version),
                   .cache = ToCacheStats(usage)});
  }
  return all;
}

FeatureRegistry::Feature* FeatureRegistry::FindFeature(std::string_view entity_type,
                                                       std::string_view feature) {
  const auto found = features_.find({std::string(entity_type), std::string(feature)});
  return found == features_.end() ? nullptr : &found->second;
}

absl::Status FeatureRegistry::Create(std::string_view entity_type, std::string_view feature,
                                     int64_t ttl_seconds, uint64_t now_nanos,
                                     EvictionLog* evictions) {
  LS_RETURN_IF_ERROR(CheckTtl(ttl_seconds));
  MutexLock lock(mutex_);
  if (FindFeature(entity_type, feature) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat(
        "list feature ", Quoted(feature), " of entity type ", Quoted(entity_type), " exists"));
  }
  const FeatureRow row = {
      .version = "", .feature_ttl_seconds = ttl_seconds, .ttl_seconds = ttl_seconds};
  // All that the heap may refuse comes before anything is changed.
  FeatureEntry* const entry = entries_.FindOrInsert(FeatureKey(entity_type, feature, ""));
  LS_CHECK(entry->ttl_seconds() == 0, "a version of no feature has no TTL");
  std::map<FeatureName, Feature> created;
  Feature& made = created[FeatureName(entity_type, feature)];
  made.ttl_seconds = ttl_seconds;
  made.versions[""] = {.entry = entry, .own_ttl = false};
  LS_RETURN_IF_ERROR(WriteRows(entity_type, feature, {&row, 1}, now_nanos, evictions));

  entry->set_ttl_seconds(ttl_seconds);
  features_.insert(created.extract(created.begin()));
  return absl::OkStatus();
}

absl::Status FeatureRegistry::CreateVersion(std::string_view entity_type, std::string_view feature,
                                            std::string_view version,
                                            std::optional<int64_t> ttl_seconds, uint64_t now_nanos,
                                            EvictionLog* evictions) {
  if (ttl_seconds) LS_RETURN_IF_ERROR(CheckTtl(*ttl_seconds));
  MutexLock lock(mutex_);
  Feature* const existing = FindFeature(entity_type, feature);
  if (existing == nullptr) return FeatureNotFound(entity_type, feature);
  if (existing->versions.find(version) != existing->versions.end()) {
    return absl::AlreadyExistsError(absl::StrCat(NameOf(entity_type, feature, version), " exists"));
  }
  const int64_t effective_ttl_seconds = ttl_seconds.value_or(existing->ttl_seconds);
  FeatureRow row = {.version = version,
                    .feature_ttl_seconds = std::nullopt,
                    .ttl_seconds = effective_ttl_seconds,
                    .own_ttl = ttl_seconds.has_value()};
  if (version.empty()) row.feature_ttl_seconds = existing->ttl_seconds;
  FeatureEntry* const entry = entries_.FindOrInsert(FeatureKey(entity_type, feature, version));
  LS_CHECK(entry->ttl_seconds() == 0, "a version that does not exist has no TTL");
  decltype(existing->versions) created;
  created[std::string(version)] = {.entry = entry, .own_ttl = ttl_seconds.has_value()};
  LS_RETURN_IF_ERROR(WriteRows(entity_type, feature, {&row, 1}, now_nanos, evictions));

  existing->versions.insert(created.extract(created.begin()));
  entry->set_ttl_seconds(effective_ttl_seconds);
  return absl::OkStatus();
}

absl::Status FeatureRegistry::SetVersionTtl(std::string_view entity_type, std::string_view feature,
                                            std::string_view version, int64_t ttl_seconds,
                                            uint64_t now_nanos, EvictionLog* evictions) {
  LS_RETURN_IF_ERROR(CheckTtl(ttl_seconds));
  MutexLock lock(mutex_);
  Feature* const existing = FindFeature(entity_type, feature);
  if (existing == nullptr) return FeatureNotFound(entity_type, feature);
  const auto at = existing->versions.find(version);
  if (at == existing->versions.end()) {
    return absl::NotFoundError(
        absl::StrCat(NameOf(entity_type, feature, version), " does not exist"));
  }
  FeatureRow row = {.version = version,
                    .feature_ttl_seconds = std::nullopt,
                    .ttl_seconds = ttl_seconds,
                    .own_ttl = true};
  if (version.empty()) row.feature_ttl_seconds = existing->ttl_seconds;
  LS_RETURN_IF_ERROR(WriteRows(entity_type, feature, {&row, 1}, now_nanos, evictions));
  at->second.own_ttl = true;
  at->second.entry->set_ttl_seconds(ttl_seconds);
  return absl::OkStatus();
}

absl::Status FeatureRegistry::SetTtl(std::string_view entity_type, std::string_view feature,
                                     int64_t ttl_seconds, uint64_t now_nanos,
                                     EvictionLog* evictions) {
  LS_RETURN_IF_ERROR(CheckTtl(ttl_seconds));
  MutexLock lock(mutex_);
  Feature* const existing = FindFeature(entity_type, feature);
  if (existing == nullptr) return FeatureNotFound(entity_type, feature);

  // The row of version '' is written even if that version does not exist: it has the feature's TTL.
  FeatureRow default_row = {.version = "", .feature_ttl_seconds = ttl_seconds, .ttl_seconds = {}};
  std::vector<FeatureRow> rows;
  for (const auto& [name, version] : existing->versions) {
    if (name.empty()) {
      default_row.ttl_seconds = version.own_ttl ? version.entry->ttl_seconds() : ttl_seconds;
      default_row.own_ttl = version.own_ttl;
    } else if (!version.own_ttl) {
      rows.push_back({.version = name, .feature_ttl_seconds = {}, .ttl_seconds = ttl_seconds});
    }
  }
  rows.push_back(default_row);
  LS_RETURN_IF_ERROR(WriteRows(entity_type, feature, rows, now_nanos, evictions));

  existing->ttl_seconds = ttl_seconds;
  for (const auto& [name, version] : existing->versions) {
    if (!version.own_ttl) version.entry->set_ttl_seconds(ttl_seconds);
  }
  return absl::OkStatus();
}

absl::Status FeatureRegistry::Delete(std::string_view entity_type, std::string_view feature,
                                     uint64_t now_nanos, EvictionLog* evictions) {
  MutexLock lock(mutex_);
  const auto found = features_.find({std::string(entity_type), std::string(feature)});
  if (found == features_.end()) return FeatureNotFound(entity_type, feature);

  std::vector<std::string_view> versions = {""};
  std::vector<FeatureEntry*> entries;
  for (const auto& [name, version] : found->second.versions) {
    if (!name.empty()) versions.push_back(name);
    entries.push_back(version.entry);
  }
  LS_RETURN_IF_ERROR(WithdrawAndDelete(
      entries, [&] { return DeleteRows(entity_type, feature, versions, now_nanos, evictions); }));
  features_.erase(found);
  return absl::OkStatus();
}

absl::Status FeatureRegistry::DeleteVersion(std::string_view entity_type, std::string_view feature,
                                            std::string_view version, uint64_t now_nanos,
                                            EvictionLog* evictions) {
  MutexLock lock(mutex_);
  Feature* const existing = FindFeature(entity_type, feature);
  if (existing == nullptr) return FeatureNotFound(entity_type, feature);
  const auto found = existing->versions.find(version);
  if (found == existing->versions.end()) {
    return absl::NotFoundError(absl::StrCat("no ", NameOf(entity_type, feature, version)));
  }
  LS_RETURN_IF_ERROR(WithdrawAndDelete({&found->second.entry, 1}, [&] {
    if (!version.empty()) {
      return DeleteRows(entity_type, feature, {&version, 1}, now_nanos, evictions);
    }
    const FeatureRow row = {
        .version = "", .feature_ttl_seconds = existing->ttl_seconds, .ttl_seconds = std::nullopt};
    return WriteRows(entity_type, feature, {&row, 1}, now_nanos, evictions);
  }));
  existing->versions.erase(found);
  return absl::OkStatus();
}

void FeatureRegistry::PrepareWithdrawal(std::span<FeatureEntry* const> entries) {
  for (FeatureEntry* const entry : entries) {
    engine_.PrepareTruncation(items_table_, entry->feature_key());
  }
}

absl::Status FeatureRegistry::Withdraw(std::span<FeatureEntry* const> entries, size_t& withdrawn) {
  for (FeatureEntry* const entry : entries) entry->set_ttl_seconds(0);
  add_gate_.WaitForPasses();
  for (FeatureEntry* const entry : entries) {
    OpStatus status = OpStatus::kOk;
    truncations_.Truncate(entry->feature_key(), [&] {
      status = engine_.TruncateFirstComponent(items_table_, entry->feature_key());
    });
    if (status != OpStatus::kOk) {
      return ToStatus(status, engine_.memory_refusal(), engine_.log_refusal());
    }
    ++withdrawn;
  }
  return absl::OkStatus();
}

bool FeatureRegistry::LogsHaveRoomFor(std::span<FeatureEntry* const> entries) const {
  // A truncation and the deletion of a row for each, whose keys are parts of its feature_key.
  constexpr size_t kBytesOfVersion = 256;
  constexpr size_t kAskedForMax = size_t{16} << 20;
  size_t bytes = 0;
  for (const FeatureEntry* const entry : entries) {
    bytes += kBytesOfVersion + 2 * entry->feature_key().size();
  }
  bytes = std::min(bytes, kAskedForMax);
  if (!engine_.ReserveBarrier(bytes)) return false;
  engine_.UnreserveBarrier(bytes);
  return true;
}

template <typename DeleteRowsOfThem>
absl::Status FeatureRegistry::WithdrawAndDelete(std::span<FeatureEntry* const> entries,
                                                const DeleteRowsOfThem& delete_rows) {
  PrepareWithdrawal(entries);
  size_t withdrawn = 0;
  if (!engine_.keeps_log()) {
    LS_RETURN_IF_ERROR(delete_rows());
    return Withdraw(entries, withdrawn);
  }
  if (!LogsHaveRoomFor(entries)) {
    return ToStatus(OpStatus::kNotKept, engine_.memory_refusal(), engine_.log_refusal());
  }
  std::vector<int64_t> ttls;
  for (FeatureEntry* const entry : entries) ttls.push_back(entry->ttl_seconds());
  // Also where the heap refuses something on the way.
  absl::Cleanup put_back = [&] {
    for (size_t i = 0; i < entries.size(); ++i) entries[i]->set_ttl_seconds(ttls[i]);
  };
  absl::Status status = Withdraw(entries, withdrawn);
  if (status.ok()) status = delete_rows();
  if (status.ok()) {
    std::move(put_back).Cancel();
    return status;
  }
  if (withdrawn == 0) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), " to list_features: lists of ", withdrawn, " of ",
                   entries.size(),
                   " versions are deleted and these versions are not, delete them again"));
}

std::vector<ListFeatureInfo> FeatureRegistry::List() const {
  MutexLock lock(mutex_);
  std::vector<ListFeatureInfo> infos;
  infos.reserve(features_.size());
  for (const auto& [name, feature] : features_) {
    ListFeatureInfo& info = infos.emplace_back();
    info.entity_type = name.first;
    info.feature = name.second;
    info.ttl_seconds = feature.ttl_seconds;
    for (const auto& [version_name, version] : feature.versions) {
      info.versions.push_back(
          {.version = version_name, .ttl_seconds = version.entry->ttl_seconds()});
    }
  }
  return infos;
}

absl::Status FeatureRegistry::WriteRows(std::string_view entity_type, std::string_view feature,
                                        std::span<const FeatureRow> rows, uint64_t now_nanos,
                                        EvictionLog* evictions) {
  std::vector<RowBuffer> buffers(rows.size());
  std::vector<RowUpdate> updates(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    RowBuffer& buffer = buffers[i];
    buffer.key = RowKey(schema_, feature, rows[i].version);
    buffer.own_ttl = rows[i].own_ttl ? 1 : 0;
    buffer.cells = {
        BigintCell(kFeatureTtlColumn, rows[i].feature_ttl_seconds, buffer.feature_ttl),
        CellUpdate{.column = kOwnTtlColumn, .live = true, .value = {&buffer.own_ttl, 1}},
        BigintCell(kTtlColumn, rows[i].ttl_seconds, buffer.ttl)};
    updates[i].key = {buffer.key, false};
    updates[i].cells = buffer.cells;
  }
  const std::string partition_key = EntityTypeKey(entity_type);
  const Reply reply = engine_.Execute({.table = schema_.id,
                                       .partition_key = partition_key,
                                       .body = UpsertCommand{updates},
                                       .evictions = evictions},
                                      now_nanos);
  return ToStatus(reply.status, engine_.memory_refusal(), engine_.log_refusal());
}

absl::Status FeatureRegistry::DeleteRows(std::string_view entity_type, std::string_view feature,
                                         std::span<const std::string_view> versions,
                                         uint64_t now_nanos, EvictionLog* evictions) {
  std::vector<std::string> bytes(versions.size());
  std::vector<ClusteringKeyView> keys(versions.size());
  for (size_t i = 0; i < versions.size(); ++i) {
    bytes[i] = RowKey(schema_, feature, versions[i]);
    keys[i] = {bytes[i], false};
  }
  const std::string partition_key = EntityTypeKey(entity_type);
  const Reply reply = engine_.Execute({.table = schema_.id,
                                       .partition_key = partition_key,
                                       .body = DeleteRowsCommand{keys},
                                       .evictions = evictions},
                                      now_nanos);
  return ToStatus(reply.status, engine_.memory_refusal(), engine_.log_refusal());
}

void FeatureRegistry::Verify() const {
  MutexLock lock(mutex_);
  entries_.Verify();
  size_t existing = 0;
  for (const auto& [name, feature] : features_) {
    for (const auto& [version_name, version] : feature.versions) {
      LS_CHECK(version.entry == entries_.Find(FeatureKey(name.first, name.second, version_name)),
               "(1) a version has the entry of its key");
      LS_CHECK(version.entry->ttl_seconds() > 0, "(1) an existing version has a TTL");
      LS_CHECK(version.own_ttl || version.entry->ttl_seconds() == feature.ttl_seconds,
               "(2) a version without a TTL of its own has its feature's");
      ++existing;
    }
  }
  LS_CHECK(existing == entries_.CountExisting(), "(1) every other entry has no TTL");
}

}  // namespace liststore
