#include "tools/replay/embedded_target.h"

#include <optional>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr std::string_view kItemsTable = "list_items";

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedTarget>> EmbeddedTarget::Open(uint32_t shards,
                                                                     uint64_t memory_limit_bytes,
                                                                     uint64_t first_at_nanos) {
  std::unique_ptr<EmbeddedTarget> target(new EmbeddedTarget(first_at_nanos));
  Options options;
  options.clock = &target->clock_;
  options.shards = shards;
  options.memory_limit_bytes = memory_limit_bytes;
  LS_ASSIGN_OR_RETURN(target->store_, ListStore::Open(options));
  return target;
}

absl::Status EmbeddedTarget::MoveClock(uint64_t now_nanos) {
  LS_CHECK(now_nanos >= clock_.NowNanos(), "a log's instants never go back");
  clock_.SetNanos(now_nanos);
  return absl::OkStatus();
}

absl::Status EmbeddedTarget::CreateFeature(const Operation& operation) {
  const ListId& list = operation.list;
  const absl::Status created =
      store_->CreateListFeature(list.entity_type, list.feature, operation.ttl_seconds);
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  if (!list.version.empty()) return CreateVersion(operation);
  if (created.ok()) return created;
  return store_->SetListFeatureTtl(list.entity_type, list.feature, operation.ttl_seconds);
}

absl::Status EmbeddedTarget::CreateVersion(const Operation& operation) {
  const ListId& list = operation.list;
  const absl::Status created = store_->CreateListFeatureVersion(
      list.entity_type, list.feature, list.version, operation.ttl_seconds);
  if (!absl::IsAlreadyExists(created)) return created;
  return store_->SetListFeatureVersionTtl(list.entity_type, list.feature, list.version,
                                          operation.ttl_seconds);
}

absl::StatusOr<AddResult> EmbeddedTarget::Add(const Operation& operation) {
  return store_->AddListItems(operation.list, operation.items);
}

absl::Status EmbeddedTarget::Get(const Operation& operation) {
  return store_->GetListItems(operation.list,
                              {.min_timestamp_nanos = operation.min_timestamp_nanos,
                               .max_timestamp_nanos = std::nullopt,
                               .limit = operation.limit},
                              &items_);
}

absl::StatusOr<size_t> EmbeddedTarget::RemoveValue(const Operation& operation) {
  return store_->RemoveListItemsWithValue(operation.list, operation.value);
}

absl::StatusOr<size_t> EmbeddedTarget::RemoveAll(const Operation& operation) {
  return store_->RemoveAllListItems(operation.list);
}

ReplayMemory EmbeddedTarget::Memory() const {
  for (const TableStatsView& table : store_->GetStats().tables) {
    if (table.table == kItemsTable) {
      return {.rows = table.rows, .live_bytes = table.live_bytes, .held_bytes = table.held_bytes};
    }
  }
  return {};
}

uint64_t EmbeddedTarget::expired() const {
  for (const TableStatsView& table : store_->GetStats().tables) {
    if (table.table == kItemsTable) return table.expired_rows;
  }
  return 0;
}

absl::StatusOr<uint64_t> EmbeddedTarget::CountLive(BusiestList* busiest) {
  uint64_t live = 0;
  for (const ListFeatureInfo& feature : store_->ListFeatures()) {
    for (const ListFeatureVersionInfo& version : feature.versions) {
      absl::Status status;
      const auto count = [&](std::string_view entity_id) {
        const absl::StatusOr<size_t> items = store_->CountListItems(
            {feature.entity_type, feature.feature, version.version, entity_id});
        if (!items.ok()) {
          status = items.status();
          return false;
        }
        live += *items;
        if (*items > busiest->items) {
          *busiest = {feature.entity_type, feature.feature, version.version, std::string(entity_id),
                      *items};
        }
        return true;
      };
      LS_RETURN_IF_ERROR(
          store_->ForEachList(feature.entity_type, feature.feature, version.version, count));
      LS_RETURN_IF_ERROR(status);
    }
  }
  return live;
}

}  // namespace liststore
