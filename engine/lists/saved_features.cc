// The features of a registry, to and from a saved store.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/lists/feature_registry.h"
#include "engine/lists/list_key.h"

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

}  // namespace liststore
