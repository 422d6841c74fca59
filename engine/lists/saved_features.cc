// The features of a registry, to and from a saved store.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/command/command.h"
#include "engine/lists/feature_registry.h"
#include "engine/lists/list_key.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/read_spec.h"
#include "engine/model/row_view.h"

namespace liststore {

std::vector<snapshot::Feature> FeatureRegistry::Save(TruncationLog::Reader& reader,
                                                     std::vector<std::string>& components) const {
  const MutexLock lock(mutex_);
  std::vector<snapshot::Feature> features;
  reader.Between(components, [] {});
  for (const auto& [name, feature] : features_) {
    snapshot::Feature& saved = features.emplace_back();
    saved.entity_type = name.first;
    saved.feature = name.second;
    saved.ttl_seconds = feature.ttl_seconds;
    for (const auto& [version_name, version] : feature.versions) {
      saved.versions.push_back({version_name, version.entry->ttl_seconds(), version.own_ttl});
    }
  }
  return features;
}

absl::Status FeatureRegistry::Restore(const snapshot::Feature& saved, uint64_t now_nanos) {
  const MutexLock lock(mutex_);
  LS_RETURN_IF_ERROR(CheckFeatureNames(saved.entity_type, saved.feature, ""));
  LS_RETURN_IF_ERROR(CheckTtl(saved.ttl_seconds));
  Feature restored;
  restored.ttl_seconds = saved.ttl_seconds;
  // The row of version '' is written even if that version does not exist.
  FeatureRow default_row = {
      .version = "", .feature_ttl_seconds = saved.ttl_seconds, .ttl_seconds = {}};
  std::vector<FeatureRow> rows;
  for (const snapshot::FeatureVersion& version : saved.versions) {
    LS_RETURN_IF_ERROR(CheckFeatureNames(saved.entity_type, saved.feature, version.version));
    LS_RETURN_IF_ERROR(CheckTtl(version.ttl_seconds));
    if (!version.own_ttl && version.ttl_seconds != saved.ttl_seconds) {
      return absl::InvalidArgumentError(
          absl::StrCat("version ", Quoted(version.version), " has ttl ", version.ttl_seconds,
                       " s and none of its own, its feature ", saved.ttl_seconds));
    }
    FeatureEntry* const entry =
        entries_.FindOrInsert(FeatureKey(saved.entity_type, saved.feature, version.version));
    const bool is_new =
        restored.versions.try_emplace(version.version, Version{entry, version.own_ttl}).second;
    if (!is_new || entry->ttl_seconds() != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("version ", Quoted(version.version), " occurs twice"));
    }
    if (version.version.empty()) {
      default_row.ttl_seconds = version.ttl_seconds;
      default_row.own_ttl = version.own_ttl;
    } else {
      rows.push_back({version.version, {}, version.ttl_seconds, version.own_ttl});
    }
  }
  if (FindFeature(saved.entity_type, saved.feature) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat("list feature ", Quoted(saved.feature),
                                                 " of entity type ", Quoted(saved.entity_type),
                                                 " occurs twice"));
  }
  rows.push_back(default_row);
  LS_RETURN_IF_ERROR(WriteRows(saved.entity_type, saved.feature, rows, now_nanos, nullptr));
  for (const snapshot::FeatureVersion& version : saved.versions) {
    restored.versions.at(version.version).entry->set_ttl_seconds(version.ttl_seconds);
  }
  features_.emplace(FeatureName(saved.entity_type, saved.feature), std::move(restored));
  return absl::OkStatus();
}

namespace {

// What a read of list_features finds of an entity type.
struct LoadedRow {
  std::string key;
  std::optional<int64_t> feature_ttl_seconds;
  std::optional<int64_t> ttl_seconds;
  bool own_ttl = false;
};

class LoadedRows final : public RowSink {
 public:
  void OnRows(std::span<const RowView> rows) override {
    for (const RowView& row : rows) {
      LoadedRow& loaded = all.emplace_back();
      loaded.key = row.key.bytes;
      for (const LiveCellView& cell : row.cells) Take(cell, loaded);
    }
  }
  void OnPackedRun(const PackedRun& /*run*/) override {}
  bool AcceptsPackedRuns() const override { return false; }

  std::vector<LoadedRow> all;

 private:
  static void Take(const LiveCellView& cell, LoadedRow& row) {
    if (cell.column == FeatureRegistry::kOwnTtlColumn) {
      row.own_ttl = cell.value == std::string_view("\1", 1);
    } else if (cell.value.size() == sizeof(uint64_t)) {
      const auto ttl = static_cast<int64_t>(LoadBigEndian64(cell.value.data()));
      (cell.column == FeatureRegistry::kTtlColumn ? row.ttl_seconds : row.feature_ttl_seconds) =
          ttl;
    }
  }
};

absl::Status NotOurs(std::string_view entity_type, const std::vector<std::string>& key,
                     std::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(
      "list_features has a row of entity type ", Quoted(entity_type), ", feature ", Quoted(key[0]),
      ", version ", Quoted(key[1]), " that no list store writes: ", ToAbsl(why)));
}

}  // namespace

absl::Status FeatureRegistry::LoadEntityType(std::string_view entity_type, uint64_t now_nanos) {
  ReadSpec everything;
  everything.descending = false;
  LoadedRows rows;
  const Reply reply = engine_.Execute(
      {.table = schema_.id, .partition_key = entity_type, .body = ReadCommand{&everything, &rows}},
      now_nanos);
  LS_CHECK(reply.status == OpStatus::kOk, "a store keeps its tables");
  for (const LoadedRow& row : rows.all) {
    const std::vector<std::string> key = DecodeClusteringKey(schema_.clustering, row.key);
    const std::string& version = key[1];
    absl::Status sound = CheckFeatureNames(entity_type, key[0], version);
    for (const auto& ttl : {row.feature_ttl_seconds, row.ttl_seconds}) {
      if (sound.ok() && ttl) sound = CheckTtl(*ttl);
    }
    if (!sound.ok()) return NotOurs(entity_type, key, ToStd(sound.message()));
    if (row.feature_ttl_seconds.has_value() != version.empty()) {
      return NotOurs(entity_type, key, "the version '' alone has a feature_ttl");
    }
    const FeatureName name(entity_type, key[0]);
    // Rows come in the order of their keys: that of the version '' is a feature's first.
    if (version.empty()) features_[name].ttl_seconds = *row.feature_ttl_seconds;
    const auto feature = features_.find(name);
    if (feature == features_.end()) return NotOurs(entity_type, key, "the version '' has no row");
    if (!row.ttl_seconds && version.empty()) continue;  // that version was deleted
    if (!row.ttl_seconds) return NotOurs(entity_type, key, "it has no ttl");
    if (!row.own_ttl && *row.ttl_seconds != feature->second.ttl_seconds) {
      return NotOurs(entity_type, key, "it has another ttl than its feature, and none of its own");
    }
    FeatureEntry* const entry = entries_.FindOrInsert(FeatureKey(entity_type, key[0], version));
    entry->set_ttl_seconds(*row.ttl_seconds);
    feature->second.versions[version] = {.entry = entry, .own_ttl = row.own_ttl};
  }
  return absl::OkStatus();
}

absl::Status FeatureRegistry::Load(uint64_t now_nanos) {
  constexpr size_t kEntityTypesPerScan = 256;
  const MutexLock lock(mutex_);
  LS_CHECK(features_.empty(), "a registry that is loaded has nothing");
  std::vector<std::string> entity_types;
  for (shard::ScanPosition position; !position.done;) {
    entity_types.clear();
    engine_.ScanPartitions(schema_.id, std::nullopt, kEntityTypesPerScan, now_nanos, position,
                           entity_types);
    for (const std::string& entity_type : entity_types) {
      LS_RETURN_IF_ERROR(LoadEntityType(entity_type, now_nanos));
    }
  }
  return absl::OkStatus();
}

}  // namespace liststore
