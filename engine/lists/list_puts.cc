// Lists that are put whole or forgotten, and marks.
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/lists/add_gate.h"
#include "engine/lists/add_scratch.h"
#include "engine/lists/eviction_notices.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

absl::Status CheckPut(std::span<const NewItem> items, const PutListOptions& put) {
  LS_RETURN_IF_ERROR(CheckItemCount(items.size()));
  if (put.fresh_until_seconds < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("fresh_until_seconds ", put.fresh_until_seconds, " is less than 0"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> ListStore::Impl::Put(const ListKey& key, const FeatureEntry* entry,
                                          std::span<const NewItem> items, const PutListOptions& put,
                                          uint64_t now_nanos, EvictionLog* evictions) {
  LS_RETURN_IF_ERROR(CheckPut(items, put));
  LS_ASSIGN_OR_RETURN(const int64_t ttl_seconds, TtlOf(entry, key.feature_key()));
  // As in an addition: the list is fetched while its rows are made.
  const shard::Engine::Destination to = engine.Foresee(items_schema.id, key.partition_key());
  const AddScratchPool::Loan scratch(scratch_pool);
  scratch->Prepare(items.size(), 0);
  engine.FetchForWrite(items_schema.id, to);
  LS_ASSIGN_OR_RETURN(const size_t rows, LayOutRows(items, ttl_seconds, now_nanos, 0, *scratch));
  const PutCommand command{.rows = std::span<const RowUpdate>(scratch->rows).first(rows),
                           .fresh_until_seconds = put.fresh_until_seconds,
                           .unless_since = put.unless_written_since};
  const Command whole = MakeCommand(key.partition_key(), command, evictions);
  Reply reply = engine.Execute(whole, to, now_nanos);
  if (reply.status == OpStatus::kNotKept && keeper->MendLogs()) {
    reply = engine.Execute(whole, now_nanos);
  }
  LS_RETURN_IF_ERROR(Status(reply.status));
  return !reply.refused;
}

absl::StatusOr<bool> ListStore::PutList(const ListRef& list, std::span<const NewItem> items,
                                        const PutListOptions& options) try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  EvictionNotices evicted(impl_->options);
  const AddGate::Pass pass(impl_->registry.add_gate());
  absl::StatusOr<bool> put =
      impl_->Put(key, impl_->EntryOf(list, key), items, options, impl_->Now(), evicted.log());
  if (impl_->keeper != nullptr && put.ok()) [[unlikely]]
    LS_RETURN_IF_ERROR(impl_->keeper->Keep(key.partition_key()));
  return put;
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

std::vector<absl::StatusOr<bool>> ListStore::PutListsMulti(std::span<const ListPut> puts) {
  std::vector<absl::StatusOr<bool>> results;
  results.reserve(puts.size());
  EvictionNotices evicted(impl_->options);
  const AddGate::Pass pass(impl_->registry.add_gate());
  const uint64_t now_nanos = impl_->Now();
  ListKey key;
  for (const ListPut& put : puts) {
    if (absl::Status status = key.Assign(put.list); !status.ok()) {
      results.emplace_back(std::move(status));
      continue;
    }
    results.push_back(impl_->Put(key, impl_->EntryOf(put.list, key), put.items, put.options,
                                 now_nanos, evicted.log()));
  }
  if (impl_->keeper == nullptr) [[likely]]
    return results;
  const absl::Status kept = impl_->keeper->KeepAll();
  for (absl::StatusOr<bool>& result : results) {
    if (result.ok() && !kept.ok()) result = kept;
  }
  return results;
}

absl::StatusOr<uint64_t> ListStore::LoadMark(const ListRef& list) const try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  return impl_->engine.ChangeMark(impl_->items_schema.id, key.partition_key());
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<bool> ListStore::ForgetList(const ListRef& list) try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  EvictionNotices evicted(impl_->options);
  LS_ASSIGN_OR_RETURN(const Reply reply,
                      impl_->Write(key.partition_key(), ForgetCommand{}, evicted.log()));
  if (reply.refused) {
    return absl::UnknownError(
        "the list is forgotten, and the commit log has no room for that so far: until it has, the "
        "list may be "
        "there again when the directory is opened the next time");
  }
  return reply.rows != 0;
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
