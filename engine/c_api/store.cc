// Clocks and stores: opening and closing, statistics, reclamation.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/c_api/conversion.h"
#include "liststore/saved_store.h"
#include "liststore/version.h"

namespace liststore {
namespace {

absl::Status GiveStore(absl::StatusOr<std::unique_ptr<ListStore>> opened, liststore_store** store) {
  if (opened.ok()) *store = new liststore_store{*std::move(opened)};
  return opened.status();
}

}  // namespace
}  // namespace liststore

using namespace liststore;  // NOLINT(google-build-using-namespace): functions of C have none

extern "C" {

const char* liststore_version(void) { return kVersion; }

// ---- Clock ----

liststore_clock* liststore_clock_create(uint64_t now_nanos) {
  return new (std::nothrow) liststore_clock(now_nanos);
}
void liststore_clock_destroy(liststore_clock* clock) { delete clock; }
liststore_status liststore_clock_set(liststore_clock* clock, uint64_t now_nanos) {
  if (clock == nullptr) return LISTSTORE_INVALID_ARGUMENT;
  clock->clock.SetNanos(now_nanos);
  return LISTSTORE_OK;
}
liststore_status liststore_clock_advance(liststore_clock* clock, uint64_t nanos) {
  if (clock == nullptr) return LISTSTORE_INVALID_ARGUMENT;
  clock->clock.AdvanceNanos(nanos);
  return LISTSTORE_OK;
}
uint64_t liststore_clock_now(const liststore_clock* clock) {
  return clock == nullptr ? 0 : clock->clock.NowNanos();
}

// ---- Stores ----

void liststore_options_init(liststore_options* options, size_t size) {
  InitSized(options, size, liststore_options{});
}

liststore_status liststore_open(const liststore_options* options, liststore_store** store,
                                liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    *store = nullptr;
    LS_ASSIGN_OR_RETURN(Options opened, ToOptions(options));
    return GiveStore(ListStore::Open(std::move(opened)), store);
  });
}

liststore_status liststore_load(const liststore_options* options, const char* path,
                                liststore_store** store, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    *store = nullptr;
    LS_RETURN_IF_NULL(path);
    LS_ASSIGN_OR_RETURN(Options opened, ToOptions(options));
    return GiveStore(LoadListStore(path, std::move(opened)), store);
  });
}

liststore_status liststore_save(const liststore_store* store, const char* path, int32_t sync,
                                liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(path);
    return SaveListStore(*store->store, path, {.sync = sync != 0}).status();
  });
}

liststore_status liststore_snapshot(liststore_store* store, liststore_snapshot_info* info,
                                    liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    if (info != nullptr && info->size < sizeof(size_t)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "size ", info->size, " of liststore_snapshot_info is less than ", sizeof(size_t)));
    }
    LS_ASSIGN_OR_RETURN(const SnapshotInfo taken, store->store->Snapshot());
    if (info == nullptr) return absl::OkStatus();
    liststore_snapshot_info filled = {};
    filled.size = info->size;
    filled.number = taken.number;
    filled.partitions = taken.partitions;
    filled.rows = taken.rows;
    filled.bytes = taken.bytes;
    filled.seconds = taken.seconds;
    std::memcpy(info, &filled, std::min(info->size, sizeof(filled)));
    return absl::OkStatus();
  });
}

liststore_status liststore_sync(liststore_store* store, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    return store->store->Sync();
  });
}

liststore_status liststore_move_clock(liststore_store* store, uint64_t now_nanos,
                                      liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    return store->store->MoveClock(now_nanos);
  });
}

void liststore_close(liststore_store* store) { delete store; }

// ---- Housekeeping ----

liststore_status liststore_get_stats(const liststore_store* store, liststore_stats* stats,
                                     liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(stats);
    if (stats->size < sizeof(size_t)) {
      return absl::InvalidArgumentError(
          absl::StrCat("size ", stats->size, " of liststore_stats is less than ", sizeof(size_t)));
    }
    const Stats all = store->store->GetStats();
    liststore_stats filled = {};
    filled.size = stats->size;
    if (!all.tables.empty()) {
      filled.lists = all.tables[0].partitions;
      filled.items = all.tables[0].rows;
      filled.expired_items = all.tables[0].expired_rows;
    }
    filled.live_bytes = all.live_bytes;
    filled.held_bytes = all.held_bytes;
    filled.memory_limit_bytes = all.memory_limit_bytes;
    filled.refused_writes = all.refused_writes;
    filled.shards = all.shards;
    filled.hits = all.cache.hits;
    filled.partial_hits = all.cache.partial_hits;
    filled.misses = all.cache.misses;
    filled.additions = all.cache.additions;
    filled.puts = all.cache.puts;
    filled.evictions = all.cache.evictions;
    filled.evicted_items = all.cache.evicted_items;
    filled.evicted_bytes = all.evicted_bytes;
    filled.forgotten = all.cache.forgotten;
    std::memcpy(stats, &filled, std::min(stats->size, sizeof(filled)));
    return absl::OkStatus();
  });
}

liststore_status liststore_reclaim(liststore_store* store, size_t budget, size_t* done,
                                   liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    const size_t units = store->store->Reclaim(budget);
    if (done != nullptr) *done = units;
    return absl::OkStatus();
  });
}

liststore_status liststore_set_memory_limit(liststore_store* store, uint64_t bytes,
                                            liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    return store->store->SetMemoryLimit(bytes);
  });
}

liststore_status liststore_next_expiry(const liststore_store* store, int64_t* seconds,
                                       liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(seconds);
    *seconds = store->store->NextExpirySeconds().value_or(0);
    return absl::OkStatus();
  });
}

}  // extern "C"
