// The writes of a ListStore.
#include <array>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/md5.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/base/time_unit.h"
#include "engine/lists/add_gate.h"
#include "engine/lists/add_scratch.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "engine/lists/remaining_time.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

constexpr size_t kDigestsAtOnce = 8;

absl::Status BadTimestamp(size_t index, uint64_t nanos) {
  return absl::InvalidArgumentError(
      absl::StrCat("item ", index, ": timestamp ", nanos, " ns exceeds ", kItemKeyNanosMax));
}

absl::Status BadValue(size_t index, size_t bytes, size_t bytes_max) {
  return absl::InvalidArgumentError(
      absl::StrCat("item ", index, ": value of ", bytes, " bytes exceeds ", bytes_max));
}

absl::Status TooLongToLive(size_t index, int64_t left_seconds) {
  return absl::InvalidArgumentError(absl::StrCat("item ", index, ": remaining time of ",
                                                 left_seconds, " s exceeds ", kTtlSecondsMax));
}

// For AddResult, of a call that has skipped items.
const char* HintOn(std::span<const NewItem> items, uint64_t now_nanos) {
  for (const NewItem& item : items) {
    switch (LikelyUnit(item.timestamp_nanos, now_nanos).value_or(TimeUnit::kNanoseconds)) {
      case TimeUnit::kSeconds:
        return "timestamps of skipped items look like seconds since 1970; nanoseconds are wanted";
      case TimeUnit::kMilliseconds:
        return "timestamps of skipped items look like milliseconds since 1970; nanoseconds are "
               "wanted";
      case TimeUnit::kMicroseconds:
        return "timestamps of skipped items look like microseconds since 1970; nanoseconds are "
               "wanted";
      case TimeUnit::kNanoseconds:
        break;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<int64_t> ListStore::Impl::TtlOf(const FeatureEntry* entry,
                                               std::string_view feature_key) const {
  const int64_t ttl_seconds = entry != nullptr ? entry->ttl_seconds() : 0;
  if (ttl_seconds != 0) [[likely]]
    return ttl_seconds;
  if (options.default_ttl_seconds) return *options.default_ttl_seconds;
  return absl::NotFoundError(
      absl::StrCat("no list feature version with the key ", Quoted(feature_key)));
}

absl::StatusOr<size_t> ListStore::Impl::LayOutRows(std::span<const NewItem> items,
                                                   int64_t ttl_seconds, uint64_t now_nanos,
                                                   size_t first_row, AddScratch& scratch) const {
  LS_CHECK(scratch.rows.size() >= first_row + items.size(), "every item has room for its row");
  const int64_t now_seconds = WholeSeconds(now_nanos);
  // Digests are computed in groups, in parallel: 10 items take 0.5 us instead of 1.0. The last
  // `undigested` rows wait for theirs; their keys hold the timestamp only.
  std::array<std::string_view, kDigestsAtOnce> values;
  std::array<Md5Digest, kDigestsAtOnce> digests;
  size_t undigested = 0;
  size_t row = first_row;
  const auto make_keys = [&] {
    Md5OfEach(std::span(values).first(undigested), digests);
    for (size_t k = 0; k < undigested; ++k) {
      char* const key = scratch.keys[row - undigested + k].data();
      PackItemKeyFromDigest(LoadNative<uint64_t>(key), digests[k].data(), key);
    }
    undigested = 0;
  };
  for (size_t i = 0; i < items.size(); ++i) {
    const NewItem& item = items[i];
    if (item.timestamp_nanos > kItemKeyNanosMax) return BadTimestamp(i, item.timestamp_nanos);
    if (item.value.size() > options.value_bytes_max) {
      return BadValue(i, item.value.size(), options.value_bytes_max);
    }
    const int64_t left_seconds = RemainingSeconds(item.timestamp_nanos, ttl_seconds, now_nanos);
    if (left_seconds > kTtlSecondsMax) return TooLongToLive(i, left_seconds);
    // Not stored: in CQL, a TTL of 0 means that a row never expires.
    if (left_seconds == 0) continue;

    PackedItemKey& key = scratch.keys[row];
    StoreNative(key.data(), item.timestamp_nanos);
    values[undigested++] = item.value;
    scratch.cells[row] = {.column = kValueColumn, .live = true, .value = item.value};
    scratch.rows[row] = {.key = {{key.data(), key.size()}, true},
                         .marker = true,
                         .ttl_seconds = left_seconds,
                         .expiry_seconds = now_seconds + left_seconds,
                         .cells = {&scratch.cells[row], 1}};
    ++row;
    if (undigested == kDigestsAtOnce) make_keys();
  }
  if (undigested != 0) make_keys();
  return row - first_row;
}

absl::StatusOr<AddResult> ListStore::AddListItems(const ListRef& list,
                                                  std::span<const NewItem> items) try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  EvictionNotices evicted(impl_->options);
  const AddGate::Pass pass(impl_->registry.add_gate());
  LS_RETURN_IF_ERROR(CheckItemCount(items.size()));
  LS_ASSIGN_OR_RETURN(const int64_t ttl_seconds,
                      impl_->TtlOf(impl_->EntryOf(list, key), key.feature_key()));
  // The list is fetched while its rows are made: a digest takes as long as a cache miss.
  shard::Engine& engine = impl_->engine;
  const TableId table = impl_->items_schema.id;
  const shard::Engine::Destination to = engine.Foresee(table, key.partition_key());
  const uint64_t now_nanos = impl_->Now();
  const AddScratchPool::Loan scratch(impl_->scratch_pool);
  scratch->Prepare(items.size(), 0);
  engine.FetchForWrite(table, to);
  LS_ASSIGN_OR_RETURN(const size_t rows,
                      impl_->LayOutRows(items, ttl_seconds, now_nanos, 0, *scratch));
  if (rows != 0) {
    const UpsertCommand upsert{std::span<const RowUpdate>(scratch->rows).first(rows)};
    const Command command = impl_->MakeCommand(key.partition_key(), upsert, evicted.log());
    Reply reply = engine.Execute(command, to, now_nanos);
    if (impl_->keeper != nullptr) [[unlikely]]
      LS_RETURN_IF_ERROR(impl_->Keep(command, now_nanos, reply));
    LS_RETURN_IF_ERROR(impl_->Status(reply.status));
  }
  const size_t skipped = items.size() - rows;
  return AddResult{.stored = rows,
                   .skipped_expired = skipped,
                   .hint = skipped == 0 ? nullptr : HintOn(items, now_nanos)};
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<AddResult> ListStore::AddListItemsMulti(
    std::span<const ListAddition> additions) try {
  size_t items = 0;
  for (const ListAddition& addition : additions) items += addition.items.size();
  LS_RETURN_IF_ERROR(CheckItemCount(items));

  EvictionNotices evicted(impl_->options);
  const AddGate::Pass pass(impl_->registry.add_gate());
  const uint64_t now_nanos = impl_->Now();
  const AddScratchPool::Loan scratch(impl_->scratch_pool);
  scratch->Prepare(items, additions.size());
  size_t rows = 0;
  size_t commands = 0;
  for (size_t i = 0; i < additions.size(); ++i) {
    ListKey& key = scratch->list_keys[i];
    if (absl::Status status = key.Assign(additions[i].list); !status.ok()) return InList(i, status);
    const auto ttl_seconds =
        impl_->TtlOf(impl_->EntryOf(additions[i].list, key), key.feature_key());
    if (!ttl_seconds.ok()) return InList(i, ttl_seconds.status());
    const auto added =
        impl_->LayOutRows(additions[i].items, *ttl_seconds, now_nanos, rows, *scratch);
    if (!added.ok()) return InList(i, added.status());
    if (*added == 0) continue;
    scratch->commands[commands++] = {
        .table = impl_->items_schema.id,
        .partition_key = key.partition_key(),
        .body = UpsertCommand{std::span<const RowUpdate>(scratch->rows).subspan(rows, *added)},
        .evictions = evicted.log()};
    rows += *added;
  }
  if (commands != 0) {
    LS_RETURN_IF_ERROR(impl_->KeptAll([&] {
      return impl_->Status(impl_->engine.ExecuteAllOrNothing(
          std::span<const Command>(scratch->commands).first(commands), now_nanos,
          std::span<Reply>(scratch->replies).first(commands)));
    }));
  }
  AddResult result{.stored = rows, .skipped_expired = items - rows};
  for (const ListAddition& addition : additions) {
    if (result.skipped_expired == 0 || result.hint != nullptr) break;
    result.hint = HintOn(addition.items, now_nanos);
  }
  return result;
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<size_t> ListStore::RemoveListItemsWithValue(const ListRef& list,
                                                           std::string_view value) try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  const DeleteByValueCommand remove{.column = kValueColumn, .value = value};
  LS_ASSIGN_OR_RETURN(const Reply reply, impl_->Write(key.partition_key(), remove));
  return static_cast<size_t>(reply.rows);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<size_t> ListStore::RemoveAllListItems(const ListRef& list) try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  LS_ASSIGN_OR_RETURN(const Reply reply,
                      impl_->Write(key.partition_key(), DeletePartitionCommand{}));
  return static_cast<size_t>(reply.rows);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
