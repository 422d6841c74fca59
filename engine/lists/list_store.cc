#include "liststore/list_store.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/lists/kept_store.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "engine/lists/options_check.h"
#include "engine/model/partition_key.h"
#include "engine/model/schema.h"
#include "engine/shard/catalog.h"

namespace liststore {
namespace {

static_assert(kFeatureTtlSecondsMax == kTtlSecondsMax, "the public bound is the engine's");
// Keys in one step of ForEachList.
constexpr size_t kListsPerScan = 256;

TableSchema CreateListItems(shard::Engine& engine, const std::string& keyspace) {
  TableSchema schema;
  schema.keyspace = keyspace;
  schema.name = "list_items";
  schema.partition_key = {{"feature_key", CqlType::kText}, {"entity_id", CqlType::kText}};
  schema.clustering = {{"item_key", CqlType::kText, /*descending=*/true}};
  schema.regular = {{"value", CqlType::kBlob}};
  schema.indexes = {{"list_items_by_value", kValueColumn}};
  LS_CHECK(schema.packs_item_keys(), "item keys are stored packed");
  schema.id = engine.CreateTable(schema);
  return schema;
}

// Lets statements find the store's tables by name.
void PutInCatalog(shard::Engine& engine, const TableSchema& schema) {
  auto table = std::make_shared<TableDefinition>(DefinitionOf(schema));
  table->id = engine.catalog().NewUuid();
  table->belongs_to_list_store = true;
  engine.catalog().Change([&](Schema& next) {
    shard::Catalog::PutTable(next, table);
    return true;
  });
}

// A 128th of the limit is for the filter of evicted lists: two bits per list, half of which are set
// after 22 million evictions with a limit of 1 GiB.
constexpr uint64_t kFilterPart = 128;

void EnableEviction(shard::Engine& engine, TableId items, const Options& options) {
  storage::EvictionOptions eviction;
  eviction.lives_elsewhere = options.lists_live_elsewhere;
  eviction.filter_bytes = options.memory_limit_bytes / kFilterPart / engine.router().lanes();
  engine.EnableEviction(items, eviction);
}

shard::EngineOptions ToEngineOptions(const Options& options) {
  shard::EngineOptions engine;
  engine.shards = options.shards;
  engine.memory_limit_bytes = options.memory_limit_bytes;
  return engine;
}

}  // namespace

ListStore::Impl::Impl(const Options& resolved)
    : options(resolved),
      engine(ToEngineOptions(resolved)),
      items_schema(CreateListItems(engine, resolved.keyspace)),
      registry(engine, resolved.keyspace, items_schema.id) {
  PutInCatalog(engine, items_schema);
  PutInCatalog(engine, registry.schema());
  if (options.memory_policy == MemoryPolicy::kEvict) {
    EnableEviction(engine, items_schema.id, options);
  }
  if (options.expiry_listener) {
    engine.ListenToExpiries(items_schema.id,
                            [this](const ExpiryLog& expiries) { TellExpiries(expiries); });
  }
  if (options.feature_stats) engine.CountUsageFor(items_schema.id, registry);
}

absl::Status ListStore::Impl::StartThreads() {
  if (!options.background_reclaim) return absl::OkStatus();
  LS_RETURN_IF_ERROR(engine.StartMappingAhead());
  LS_ASSIGN_OR_RETURN(reclaimer, Reclaimer::Start(engine, *options.clock));
  return absl::OkStatus();
}

void ListStore::Impl::TellExpiries(const ExpiryLog& expiries) const {
  for (const Expiry& expiry : expiries) {
    const FeatureNames names = NamesOf(FirstComponent(expiry.partition_key));
    options.expiry_listener({.entity_type = names.entity_type,
                             .feature = names.feature,
                             .version = names.version,
                             .entity_id = EntityIdOf(expiry.partition_key),
                             .item_key = expiry.clustering_key,
                             .value = expiry.value,
                             .expired_at_seconds = expiry.at_seconds});
  }
}

absl::StatusOr<std::unique_ptr<ListStore>> ListStore::Open(Options options) try {
  return KeptStore::Open(disk::KernelFileCalls(), std::move(options));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

ListStore::ListStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ListStore::~ListStore() = default;

shard::Engine& ListStore::engine() { return impl_->engine; }
const Clock& ListStore::clock() const { return *impl_->options.clock; }

absl::Status ListStore::CreateListFeature(std::string_view entity_type, std::string_view feature,
                                          int64_t ttl_seconds) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, ""));
  EvictionNotices evicted(impl_->options);
  return impl_->KeptAll([&] {
    return impl_->registry.Create(entity_type, feature, ttl_seconds, impl_->Now(), evicted.log());
  });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::CreateListFeatureVersion(std::string_view entity_type,
                                                 std::string_view feature, std::string_view version,
                                                 std::optional<int64_t> ttl_seconds) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, version));
  EvictionNotices evicted(impl_->options);
  return impl_->KeptAll([&] {
    return impl_->registry.CreateVersion(entity_type, feature, version, ttl_seconds, impl_->Now(),
                                         evicted.log());
  });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::SetListFeatureVersionTtl(std::string_view entity_type,
                                                 std::string_view feature, std::string_view version,
                                                 int64_t ttl_seconds) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, version));
  EvictionNotices evicted(impl_->options);
  return impl_->KeptAll([&] {
    return impl_->registry.SetVersionTtl(entity_type, feature, version, ttl_seconds, impl_->Now(),
                                         evicted.log());
  });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::SetListFeatureTtl(std::string_view entity_type, std::string_view feature,
                                          int64_t ttl_seconds) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, ""));
  EvictionNotices evicted(impl_->options);
  return impl_->KeptAll([&] {
    return impl_->registry.SetTtl(entity_type, feature, ttl_seconds, impl_->Now(), evicted.log());
  });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::DeleteListFeature(std::string_view entity_type,
                                          std::string_view feature) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, ""));
  EvictionNotices evicted(impl_->options);
  const auto work = [&] {
    return impl_->registry.Delete(entity_type, feature, impl_->Now(), evicted.log());
  };
  if (impl_->keeper == nullptr) return work();
  return impl_->KeptAll([&] { return impl_->keeper->WithoutSnapshot(work); });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::DeleteListFeatureVersion(std::string_view entity_type,
                                                 std::string_view feature,
                                                 std::string_view version) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, version));
  EvictionNotices evicted(impl_->options);
  const auto work = [&] {
    return impl_->registry.DeleteVersion(entity_type, feature, version, impl_->Now(),
                                         evicted.log());
  };
  if (impl_->keeper == nullptr) return work();
  return impl_->KeptAll([&] { return impl_->keeper->WithoutSnapshot(work); });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

std::vector<ListFeatureInfo> ListStore::ListFeatures() const { return impl_->registry.List(); }

absl::StatusOr<ListFeature> ListStore::FindListFeature(std::string_view entity_type,
                                                       std::string_view feature,
                                                       std::string_view version) try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, version));
  return ListFeature(impl_->registry.FindOrInsert(FeatureKey(entity_type, feature, version)));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::ForEachList(
    std::string_view entity_type, std::string_view feature, std::string_view version,
    const std::function<bool(std::string_view entity_id)>& visit) const try {
  LS_RETURN_IF_ERROR(CheckFeatureNames(entity_type, feature, version));
  const std::string feature_key = FeatureKey(entity_type, feature, version);
  const uint64_t now_nanos = impl_->Now();
  shard::ScanPosition position;
  std::vector<std::string> keys;
  while (!position.done) {
    keys.clear();
    impl_->engine.ScanPartitions(impl_->items_schema.id, feature_key, kListsPerScan, now_nanos,
                                 position, keys);
    // No lane is held here: `visit` may call the store.
    for (const std::string& key : keys) {
      if (!visit(EntityIdOf(key))) return absl::OkStatus();
    }
  }
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::Populate(uint64_t bytes) try {
  switch (impl_->engine.Populate(bytes)) {
    case memory::PagePool::Populated::kYes:
      return absl::OkStatus();
    case memory::PagePool::Populated::kRefused:
      return absl::ResourceExhaustedError(
          absl::StrCat("not all of ", bytes, " bytes are populated: the machine refuses memory"));
    case memory::PagePool::Populated::kOverLimit:
      break;
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("no room to populate ", bytes, " bytes: ", impl_->engine.held_bytes(),
                   " of memory_limit_bytes ", impl_->engine.memory_limit_bytes(), " are held"));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::SetMemoryLimit(uint64_t bytes) try {
  if (bytes < kMemoryLimitBytesMin) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory limit ", bytes, " is less than ", kMemoryLimitBytesMin));
  }
  shard::Engine& engine = impl_->engine;
  EvictionNotices evicted(impl_->options);
  if (engine.SetMemoryLimit(bytes, impl_->Now(), evicted.log())) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the memory limit is ", bytes, " now, and ", engine.held_bytes(),
      " bytes are held: writes are refused until removals and expiries have made room"));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

size_t ListStore::Reclaim(size_t budget) {
  if (impl_->keeper != nullptr) impl_->keeper->Tick();
  return impl_->engine.Reclaim(impl_->Now(), budget);
}

std::optional<int64_t> ListStore::NextExpirySeconds() const {
  return impl_->engine.NextExpirySeconds();
}

Stats ListStore::GetStats() const {
  Stats stats;
  for (const TableSchema* schema : {&impl_->items_schema, &impl_->registry.schema()}) {
    const storage::TableStats sums = impl_->engine.StatsOf(schema->id);
    stats.tables.push_back({.keyspace = schema->keyspace,
                            .table = schema->name,
                            .partitions = sums.partitions,
                            .rows = sums.rows,
                            .expired_rows = sums.expired_rows,
                            .live_bytes = sums.live_bytes,
                            .held_bytes = sums.held_bytes});
    stats.live_bytes += sums.live_bytes;
    if (schema != &impl_->items_schema) continue;
    stats.cache = ToCacheStats(sums.usage);
    stats.evicted_bytes = sums.evicted_bytes;
    stats.expired_items = sums.expired_rows;
  }
  if (impl_->options.feature_stats) {
    impl_->engine.FlushUsage(impl_->items_schema.id);
    stats.features = impl_->registry.UsageOfEach();
    std::sort(stats.features.begin(), stats.features.end(),
              [](const FeatureStatsView& a, const FeatureStatsView& b) {
                return std::tie(a.entity_type, a.feature, a.version) <
                       std::tie(b.entity_type, b.feature, b.version);
              });
  }
  stats.held_bytes = impl_->engine.held_bytes();
  stats.memory_limit_bytes = impl_->engine.memory_limit_bytes();
  stats.refused_writes = impl_->engine.refused_writes();
  stats.shards = impl_->options.shards;
  if (impl_->keeper != nullptr) stats.log_bytes = impl_->keeper->log_bytes();
  return stats;
}

void ListStore::Verify() const {
  impl_->engine.Verify();
  impl_->registry.Verify();
}

}  // namespace liststore
