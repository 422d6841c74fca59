#include "tools/liststore/replay_session.h"

#include <chrono>
#include <string_view>

#include "absl/strings/str_format.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

uint64_t MonotonicNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

constexpr std::string_view kItemsTable = "list_items";

}  // namespace

absl::StatusOr<std::unique_ptr<ReplaySession>> ReplaySession::Open(const Settings& settings,
                                                                   uint64_t first_at_nanos,
                                                                   ReplayTimes* times) {
  std::unique_ptr<ReplaySession> session(new ReplaySession(first_at_nanos, times));
  Options options;
  options.clock = &session->clock_;
  options.shards = settings.shards;
  options.memory_limit_bytes = settings.memory_limit_bytes;
  LS_ASSIGN_OR_RETURN(session->store_, ListStore::Open(options));
  return session;
}

absl::Status ReplaySession::Execute(const Operation& operation) {
  LS_CHECK(operation.at_nanos >= clock_.NowNanos(), "a log's instants never go back");
  clock_.SetNanos(operation.at_nanos);

  const uint64_t start_nanos = MonotonicNanos();
  const absl::Status status = Apply(operation);
  const uint64_t nanos = MonotonicNanos() - start_nanos;

  times_.operations[static_cast<size_t>(operation.kind)].Record(nanos);
  times_.engine_nanos += nanos;
  if (!status.ok()) return status;
  if (operation.kind == OperationKind::kGet) DigestItems(operation.line);
  // Each of the first ones, so that a short log is sampled too.
  if (++executed_ < kSampleInterval || executed_ % kSampleInterval == 0) SampleAndReclaim();
  return absl::OkStatus();
}

absl::Status ReplaySession::Apply(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kCreateFeature:
      return CreateFeature(operation);
    case OperationKind::kAdd: {
      LS_ASSIGN_OR_RETURN(const AddResult added,
                          store_->AddListItems(operation.list, operation.items));
      totals_.stored += added.stored;
      totals_.skipped_expired += added.skipped_expired;
      return absl::OkStatus();
    }
    case OperationKind::kGet:
      return store_->GetListItems(operation.list,
                                  {.min_timestamp_nanos = operation.min_timestamp_nanos,
                                   .max_timestamp_nanos = std::nullopt,
                                   .limit = operation.limit},
                                  &items_);
    case OperationKind::kRemoveValue: {
      LS_ASSIGN_OR_RETURN(const size_t removed,
                          store_->RemoveListItemsWithValue(operation.list, operation.value));
      totals_.removed_live += removed;
      return absl::OkStatus();
    }
    case OperationKind::kRemoveAll: {
      LS_ASSIGN_OR_RETURN(const size_t removed, store_->RemoveAllListItems(operation.list));
      totals_.removed_live += removed;
      return absl::OkStatus();
    }
  }
  LS_UNREACHABLE("the reader knows no other kind");
}

// Creating a feature again changes the TTL of what is added from then on.
absl::Status ReplaySession::CreateFeature(const Operation& operation) {
  const ListId& list = operation.list;
  const absl::Status created =
      store_->CreateListFeature(list.entity_type, list.feature, operation.ttl_seconds);
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  if (!list.version.empty()) return CreateVersion(operation);
  if (created.ok()) return created;
  return store_->SetListFeatureTtl(list.entity_type, list.feature, operation.ttl_seconds);
}

absl::Status ReplaySession::CreateVersion(const Operation& operation) {
  const ListId& list = operation.list;
  const absl::Status created = store_->CreateListFeatureVersion(
      list.entity_type, list.feature, list.version, operation.ttl_seconds);
  if (!absl::IsAlreadyExists(created)) return created;
  return store_->SetListFeatureVersionTtl(list.entity_type, list.feature, list.version,
                                          operation.ttl_seconds);
}

void ReplaySession::DigestItems(uint64_t line) {
  bool first = true;
  for (const ListItemView item : items_) {
    if (!first) items_digest_.Add("\n");
    first = false;
    items_digest_.Add(item.item_key());
  }
  answer_ = {.line = line, .items = items_.size(), .md5 = items_digest_.Finish()};
  reads_digest_.Add(answer_.md5);
  totals_.reads += 1;
  totals_.returned += answer_.items;
}

void ReplaySession::SampleAndReclaim() {
  for (const TableStatsView& table : store_->GetStats().tables) {
    if (table.table != kItemsTable || table.rows <= memory_.rows) continue;
    memory_ = {.rows = table.rows, .live_bytes = table.live_bytes, .held_bytes = table.held_bytes};
  }
  const uint64_t start_nanos = MonotonicNanos();
  store_->Reclaim(kReclaimBudget);
  times_.reclaim_nanos += MonotonicNanos() - start_nanos;
}

absl::Status ReplaySession::Finish() {
  SampleAndReclaim();
  for (const ListFeatureInfo& feature : store_->ListFeatures()) {
    for (const ListFeatureVersionInfo& version : feature.versions) {
      LS_RETURN_IF_ERROR(CountLive(feature, version.version));
    }
  }
  totals_.md5 = reads_digest_.Finish();
  while (store_->Reclaim() > 0) {
  }
  for (const TableStatsView& table : store_->GetStats().tables) {
    if (table.table == kItemsTable) expired_ = table.expired_rows;
  }
  return absl::OkStatus();
}

absl::Status ReplaySession::CountLive(const ListFeatureInfo& feature, const std::string& version) {
  absl::Status status;
  const auto count = [&](std::string_view entity_id) {
    const absl::StatusOr<size_t> items =
        store_->CountListItems({feature.entity_type, feature.feature, version, entity_id});
    if (!items.ok()) {
      status = items.status();
      return false;
    }
    totals_.live_at_end += *items;
    if (*items > busiest_.items) {
      busiest_ = {feature.entity_type, feature.feature, version, std::string(entity_id), *items};
    }
    return true;
  };
  LS_RETURN_IF_ERROR(store_->ForEachList(feature.entity_type, feature.feature, version, count));
  return status;
}

ListId ReplaySession::busiest_list() const {
  return {busiest_.entity_type, busiest_.feature, busiest_.version, busiest_.entity_id};
}

}  // namespace liststore
