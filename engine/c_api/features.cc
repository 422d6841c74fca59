// Features, and visits of features and lists.
#include <optional>

#include "engine/c_api/conversion.h"

namespace liststore {
namespace {

absl::Status CheckNames(const liststore_bytes& entity_type, const liststore_bytes& feature,
                        const liststore_bytes& version = {nullptr, 0}) {
  LS_RETURN_IF_ERROR(CheckBytes(entity_type, "entity_type"));
  LS_RETURN_IF_ERROR(CheckBytes(feature, "feature"));
  return CheckBytes(version, "version");
}

}  // namespace
}  // namespace liststore

using namespace liststore;  // NOLINT(google-build-using-namespace): functions of C have none

extern "C" {

// ---- Features ----

liststore_status liststore_create_feature(liststore_store* store, liststore_bytes entity_type,
                                          liststore_bytes feature, int64_t ttl_seconds,
                                          liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature));
    return store->store->CreateListFeature(ToView(entity_type), ToView(feature), ttl_seconds);
  });
}

liststore_status liststore_create_feature_version(liststore_store* store,
                                                  liststore_bytes entity_type,
                                                  liststore_bytes feature, liststore_bytes version,
                                                  int64_t ttl_seconds, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature, version));
    std::optional<int64_t> own_ttl;
    if (ttl_seconds != 0) own_ttl = ttl_seconds;
    return store->store->CreateListFeatureVersion(ToView(entity_type), ToView(feature),
                                                  ToView(version), own_ttl);
  });
}

liststore_status liststore_set_feature_ttl(liststore_store* store, liststore_bytes entity_type,
                                           liststore_bytes feature, int64_t ttl_seconds,
                                           liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature));
    return store->store->SetListFeatureTtl(ToView(entity_type), ToView(feature), ttl_seconds);
  });
}

liststore_status liststore_delete_feature(liststore_store* store, liststore_bytes entity_type,
                                          liststore_bytes feature, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature));
    return store->store->DeleteListFeature(ToView(entity_type), ToView(feature));
  });
}

liststore_status liststore_delete_feature_version(liststore_store* store,
                                                  liststore_bytes entity_type,
                                                  liststore_bytes feature, liststore_bytes version,
                                                  liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature, version));
    return store->store->DeleteListFeatureVersion(ToView(entity_type), ToView(feature),
                                                  ToView(version));
  });
}

liststore_status liststore_set_feature_version_ttl(liststore_store* store,
                                                   liststore_bytes entity_type,
                                                   liststore_bytes feature, liststore_bytes version,
                                                   int64_t ttl_seconds, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature, version));
    return store->store->SetListFeatureVersionTtl(ToView(entity_type), ToView(feature),
                                                  ToView(version), ttl_seconds);
  });
}

liststore_status liststore_for_each_feature(const liststore_store* store,
                                            liststore_feature_visitor visit, void* context,
                                            liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(visit);
    for (const ListFeatureInfo& feature : store->store->ListFeatures()) {
      for (const ListFeatureVersionInfo& version : feature.versions) {
        const liststore_feature_info info = {ToBytes(feature.entity_type), ToBytes(feature.feature),
                                             ToBytes(version.version), version.ttl_seconds};
        if (visit(context, &info) == 0) return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  });
}

liststore_status liststore_for_each_list(const liststore_store* store, liststore_bytes entity_type,
                                         liststore_bytes feature, liststore_bytes version,
                                         liststore_list_visitor visit, void* context,
                                         liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(visit);
    LS_RETURN_IF_ERROR(CheckNames(entity_type, feature, version));
    return store->store->ForEachList(
        ToView(entity_type), ToView(feature), ToView(version),
        [&](std::string_view entity_id) { return visit(context, ToBytes(entity_id)) != 0; });
  });
}

}  // extern "C"
