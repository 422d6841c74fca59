// ListCache: reads of a store that load the lists it does not have.
#include "liststore/list_cache.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/lists/list_cache_impl.h"

namespace liststore {
namespace {

constexpr size_t kListsPerLoadMaxMax = 65'535;

absl::Status CheckSeconds(std::string_view name, int64_t seconds) {
  if (seconds >= 0 && seconds <= kFeatureTtlSecondsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(name), " ", seconds, " is not within 0 to ", kFeatureTtlSecondsMax));
}

absl::Status CheckCacheOptions(const ListCacheOptions& options) {
  if (options.loader == nullptr) return absl::InvalidArgumentError("loader is not set");
  if (options.lists_per_load_max < 1 || options.lists_per_load_max > kListsPerLoadMaxMax) {
    return absl::InvalidArgumentError(absl::StrCat("lists_per_load_max ",
                                                   options.lists_per_load_max,
                                                   " is not within 1 to ", kListsPerLoadMaxMax));
  }
  LS_RETURN_IF_ERROR(CheckSeconds("fresh_for_seconds", options.fresh_for_seconds));
  LS_RETURN_IF_ERROR(CheckSeconds("absent_for_seconds", options.absent_for_seconds));
  LS_RETURN_IF_ERROR(CheckSeconds("stale_for_seconds", options.stale_for_seconds));
  LS_RETURN_IF_ERROR(CheckSeconds("refresh_ahead_seconds", options.refresh_ahead_seconds));
  if (options.refresh_ahead_seconds != 0 &&
      options.refresh_ahead_seconds >= options.fresh_for_seconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("refresh_ahead_seconds ", options.refresh_ahead_seconds,
                     " is not less than fresh_for_seconds ", options.fresh_for_seconds));
  }
  return absl::OkStatus();
}

}  // namespace

// ---- Reads ----

absl::Status ListCache::Impl::Served(const ListRef& list, const GetOptions& get, ListItems& items) {
  const Held held = HeldOf(items);
  if (held == Held::kFresh) return absl::OkStatus();
  if (held == Held::kAgeing) {
    Led led = BeginRefresh(list);
    if (led.flight() == nullptr) return absl::OkStatus();
    if (options_.executor == nullptr) {
      Load({&led, 1});
    } else {
      AllLed refreshed;
      refreshed.push_back(std::move(led));
      HandOut(std::move(refreshed));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Joined> joined = Join(list);
  if (!joined.ok()) {
    items.clear();
    return joined.status();
  }
  const bool leads = joined->led.flight() != nullptr;
  if (leads) Load({&joined->led, 1});
  return Answer(*joined->flight, leads, held, get, items);
}

absl::Status ListCache::Impl::MultiGet(const ListRefs& lists, const GetOptions& get,
                                       std::vector<ListItems>& items) {
  LS_RETURN_IF_ERROR(store_->MultiGetListItems(lists, get, &items));
  struct Missing {
    size_t index;
    Held held;
    std::shared_ptr<LoadFlight> flight;
    bool leads;
  };
  std::vector<Missing> missing;
  AllLed led;
  AllLed refreshed;
  absl::Status first_error;
  const auto failed = [&](size_t i, const absl::Status& status) {
    items[i].clear();
    if (first_error.ok()) first_error = InList(i, status);
  };
  for (size_t i = 0; i < lists.size(); ++i) {
    const Held held = HeldOf(items[i]);
    if (held == Held::kFresh) continue;
    if (held == Held::kAgeing) {
      Led refresh = BeginRefresh(lists[i]);
      if (refresh.flight() != nullptr) {
        (options_.executor != nullptr ? refreshed : led).push_back(std::move(refresh));
      }
      continue;
    }
    absl::StatusOr<Joined> joined = Join(lists[i]);
    if (!joined.ok()) {
      failed(i, joined.status());
      continue;
    }
    const bool leads = joined->led.flight() != nullptr;
    if (leads) led.push_back(std::move(joined->led));
    missing.push_back({i, held, std::move(joined->flight), leads});
  }
  // Before the first call of the loader: it may ask for lists of the next call, and must not wait
  // for itself.
  for (const Led& one : led) one.flight()->NoteLoading();
  HandOut(std::move(refreshed));
  // First, since other reads may wait for these.
  Load(led);
  for (const Missing& one : missing) {
    const absl::Status status = Answer(*one.flight, one.leads, one.held, get, items[one.index]);
    if (!status.ok()) failed(one.index, status);
  }
  return first_error;
}

// ---- Writes ----

absl::Status ListCache::Impl::Invalidate(const ListRef& list) {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  // A running write may have reached the source before the change that is reported here.
  WritesUnderWay::Write write(writes_, key.partition_key());
  return Forget(list, key, write);
}

absl::Status ListCache::Impl::Forget(const ListRef& list, const ListKey& key,
                                     WritesUnderWay::Write& write) {
  write.WaitForOthers();
  // The store refuses the put of a running load, because the list has changed. The load is
  // detached, because reads that begin now must not join it.
  absl::Status status = store_->ForgetList(list).status();
  flights_.Detach(key.partition_key());
  return status;
}

template <typename Apply>
absl::Status ListCache::Impl::Write(const ListRef& list, ListChange change, const Apply& apply) {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  WritesUnderWay::Write write(writes_, key.partition_key());
  if (options_.writer != nullptr) {
    change.list = list.id();
    absl::Status status = options_.writer(change);
    if (!status.ok()) {
      Count(&ListCacheStats::writer_failures);
      Forget(list, key, write).IgnoreError();
      return status;
    }
  }
  bool applied = false;
  if (options_.write_policy == CacheWritePolicy::kThrough) {
    // Only a complete copy is changed: a list begun by a change takes memory and answers no read.
    ListItems probe;
    // Where the heap refuses the look, the copy goes: the source has changed already.
    const bool is_known = store_->GetListItems(list, {.limit = 1}, &probe).ok();
    if (is_known && probe.presence() == ListPresence::kComplete && write.BeginApply()) {
      applied = apply().ok();
      write.EndApply();
    }
  }
  if (!applied) return Forget(list, key, write);
  flights_.Detach(key.partition_key());
  return absl::OkStatus();
}

// ---- The public face ----

absl::StatusOr<std::unique_ptr<ListCache>> ListCache::Open(ListCacheOptions options) try {
  LS_RETURN_IF_ERROR(CheckCacheOptions(options));
  options.store.memory_policy = MemoryPolicy::kEvict;
  options.store.lists_live_elsewhere = true;
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ListStore> store, ListStore::Open(options.store));
  return std::unique_ptr<ListCache>(
      new ListCache(std::make_unique<Impl>(std::move(options), std::move(store))));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<std::unique_ptr<ListCache>> ListCache::Open(ListCacheOptions options,
                                                           std::unique_ptr<ListStore> store) try {
  LS_RETURN_IF_ERROR(CheckCacheOptions(options));
  if (store == nullptr || !store->impl_->holds_copies()) {
    return absl::InvalidArgumentError(
        "the store of a cache must have MemoryPolicy::kEvict and lists_live_elsewhere");
  }
  return std::unique_ptr<ListCache>(
      new ListCache(std::make_unique<Impl>(std::move(options), std::move(store))));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

ListCache::ListCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ListCache::~ListCache() = default;
ListStore& ListCache::store() { return impl_->store(); }
ListCacheStats ListCache::GetStats() const { return impl_->stats(); }

absl::Status ListCache::GetListItems(const ListRef& list, const GetOptions& options,
                                     ListItems* items) try {
  LS_RETURN_IF_ERROR(impl_->store().GetListItems(list, options, items));
  return impl_->Served(list, options, *items);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                          std::vector<ListItems>* items) try {
  return impl_->MultiGet(lists, options, *items);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::AddListItems(const ListRef& list, std::span<const NewItem> items) try {
  return impl_->Write(list, {.kind = ListChange::Kind::kAdd, .items = items},
                      [&] { return impl_->store().AddListItems(list, items).status(); });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::RemoveListItemsWithValue(const ListRef& list, std::string_view value) try {
  return impl_->Write(list, {.kind = ListChange::Kind::kRemoveWithValue, .value = value}, [&] {
    return impl_->store().RemoveListItemsWithValue(list, value).status();
  });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::RemoveAllListItems(const ListRef& list) try {
  return impl_->Write(list, {.kind = ListChange::Kind::kRemoveAll},
                      [&] { return impl_->store().RemoveAllListItems(list).status(); });
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListCache::Invalidate(const ListRef& list) try {
  return impl_->Invalidate(list);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
