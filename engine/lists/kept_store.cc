// What a ListStore with a data directory does beside the others.
#include "engine/lists/kept_store.h"

#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/machine_limits.h"
#include "engine/base/status_macros.h"
#include "engine/lists/list_store_impl.h"
#include "engine/lists/options_check.h"

namespace liststore {

absl::StatusOr<std::unique_ptr<ListStore>> KeptStore::Open(disk::FileCalls& calls, Options options,
                                                           const Clock& log_clock) {
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ListStore> store,
                      Prepare(calls, std::move(options), log_clock));
  ListStore::Impl& impl = *store->impl_;
  if (impl.keeper != nullptr) LS_RETURN_IF_ERROR(impl.keeper->Begin());
  LS_RETURN_IF_ERROR(impl.StartThreads());
  return store;
}

absl::StatusOr<std::unique_ptr<ListStore>> KeptStore::Prepare(disk::FileCalls& calls,
                                                              Options options,
                                                              const Clock& log_clock) {
  // Only for options that were not given.
  const MachineLimits machine =
      ReadMachineLimits({.cores = options.shards == 0, .memory = options.memory_limit_bytes == 0});
  LS_ASSIGN_OR_RETURN(const Options resolved, ResolveOptions(std::move(options), machine));
  auto impl = std::make_unique<ListStore::Impl>(resolved);
  if (!resolved.data_dir.empty()) LS_RETURN_IF_ERROR(impl->OpenKeeper(calls, log_clock));
  return std::unique_ptr<ListStore>(new ListStore(std::move(impl)));
}

absl::Status ListStore::Impl::OpenKeeper(disk::FileCalls& calls, const Clock& log_clock) {
  const ListKeeper::Tables tables = {
      {{items_schema.id, items_schema.keyspace, items_schema.name},
       {registry.schema().id, registry.schema().keyspace, registry.schema().name}}};
  LS_ASSIGN_OR_RETURN(keeper, ListKeeper::Open(calls, log_clock, options, engine, tables));
  past_unknown = keeper->past_unknown();
  if (const absl::Status loaded = registry.Load(Now()); !loaded.ok()) {
    return absl::Status(loaded.code(), absl::StrCat("the data directory ", options.data_dir, ": ",
                                                    loaded.message()));
  }
  return absl::OkStatus();
}

absl::Status ListStore::Impl::Keep(const Command& command, uint64_t now_nanos, Reply& reply) {
  if (reply.status == OpStatus::kNotKept && keeper->MendLogs()) {
    reply = engine.Execute(command, now_nanos);
  }
  if (reply.status != OpStatus::kOk) return absl::OkStatus();
  return keeper->Keep(command.partition_key);
}

absl::StatusOr<SnapshotInfo> ListStore::Snapshot() try {
  if (impl_->keeper == nullptr) {
    return absl::FailedPreconditionError("nothing is kept: Options::data_dir was not given");
  }
  LS_ASSIGN_OR_RETURN(const durable::SnapshotResult taken, impl_->keeper->TakeSnapshot());
  return SnapshotInfo{.number = taken.number,
                      .partitions = taken.partitions,
                      .rows = taken.rows,
                      .bytes = taken.bytes,
                      .seconds = taken.seconds};
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::Sync() try {
  return impl_->keeper == nullptr ? absl::OkStatus() : impl_->keeper->Sync();
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status ListStore::MoveClock(uint64_t now_nanos) try {
  if (impl_->options.manual_clock == nullptr) {
    return absl::FailedPreconditionError("Options::manual_clock was not given");
  }
  if (impl_->keeper != nullptr) return impl_->keeper->MoveClock(now_nanos);
  impl_->options.manual_clock->SetNanos(now_nanos);
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

bool ListStore::keeps_files() const { return impl_->keeper != nullptr; }

}  // namespace liststore
