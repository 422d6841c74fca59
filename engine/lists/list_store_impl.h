// ListStore::Impl: what a store is made of, and the steps that its operations share.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_STORE_IMPL_H_
#define LISTSTORE_ENGINE_LISTS_LIST_STORE_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/command/command.h"
#include "engine/command/reply.h"
#include "engine/command/status_conversion.h"
#include "engine/disk/file_calls.h"
#include "engine/lists/add_scratch.h"
#include "engine/lists/eviction_notices.h"
#include "engine/lists/feature_registry.h"
#include "engine/lists/list_keeper.h"
#include "engine/lists/list_key.h"
#include "engine/lists/reclaimer.h"
#include "engine/model/clustering_key.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/table_schema.h"
#include "engine/shard/engine.h"
#include "liststore/list_store.h"
#include "liststore/options.h"

namespace liststore {

// The only regular column of list_items.
inline constexpr ColumnId kValueColumn = 0;

// `status` with the position of the list in the call.
inline absl::Status InList(size_t index, const absl::Status& status) {
  return {status.code(), absl::StrCat("list ", index, ": ", status.message())};
}

inline absl::Status CheckItemCount(size_t items) {
  if (items <= kItemsPerAddMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("call with ", items, " items exceeds ", kItemsPerAddMax));
}

inline absl::Status CheckGetOptions(const GetOptions& options) {
  if (options.limit == 0) return absl::InvalidArgumentError("limit 0 is less than 1");
  return absl::OkStatus();
}

// What a read asks for: the newest rows of list_items with min <= timestamp < max, by their 19
// digits. Not movable, since its range points into it. Not copied in part either: reading bytes
// that were just stored in other pieces costs as much as looking up a list. Allocates nothing.
class NewestItems {
 public:
  explicit NewestItems(const GetOptions& options);
  NewestItems(const NewestItems&) = delete;
  NewestItems& operator=(const NewestItems&) = delete;

  // No item can be within the bounds.
  bool empty() const { return empty_; }
  const ClusteringRange& range() const { return spec_.range; }
  const ReadSpec& spec() const { return spec_; }

 private:
  ReadSpec spec_;
  bool empty_;
  char lower_text_[kItemKeyTextBytes];
  char upper_text_[kItemKeyTextBytes];
};

// Any thread. The reclaimer is the last member, and so destroyed first.
class ListStore::Impl {
 public:
  // `options` is resolved (options_check.h).
  explicit Impl(const Options& options);
  // Those of Options::background_reclaim. ResourceExhausted: the system has none.
  absl::Status StartThreads();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  uint64_t Now() const { return options.clock->NowNanos(); }
  // For reads, which need whole seconds only.
  uint64_t NowForReads() const { return options.clock->CoarseNanos(); }
  absl::Status Status(OpStatus status) const {
    if (status == OpStatus::kOk) return absl::OkStatus();
    return ToStatus(status, engine.memory_refusal(), engine.log_refusal());
  }
  // A command on one partition of list_items, built in place: it is larger than most bodies.
  template <typename Body>
  Command MakeCommand(std::string_view partition_key, const Body& body,
                      EvictionLog* evictions = nullptr) const {
    Command command;
    command.table = items_schema.id;
    command.partition_key = partition_key;
    command.body.emplace<Body>(body);
    command.evictions = evictions;
    return command;
  }
  template <typename Body>
  Reply Execute(std::string_view partition_key, const Body& body, uint64_t now_nanos,
                EvictionLog* evictions = nullptr) {
    return engine.Execute(MakeCommand(partition_key, body, evictions), now_nanos);
  }

  // ---- What is kept (kept_store.cc) ----

  // Finds what the data directory has. The keeper has not begun.
  absl::Status OpenKeeper(disk::FileCalls& calls, const Clock& log_clock);
  // Behind a write, where there is a keeper. One that the log refused is tried again where the log is sound
  // by now, and one that was done is kept. Not OK: it is done, and not kept so far.
  absl::Status Keep(const Command& command, uint64_t now_nanos, Reply& reply);
  // The same of a change of features, and of what is about several lists.
  template <typename Work>
  absl::Status KeptAll(const Work& work) {
    absl::Status status = work();
    if (keeper == nullptr) [[likely]]
      return status;
    const bool may_be_refused = absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
    if (may_be_refused && !engine.log_refusal().ok() && keeper->MendLogs()) status = work();
    return status.ok() ? keeper->KeepAll() : status;
  }

  // A command that writes to one list.
  template <typename Body>
  absl::StatusOr<Reply> Write(std::string_view partition_key, const Body& body,
                              EvictionLog* evictions = nullptr) {
    const Command command = MakeCommand(partition_key, body, evictions);
    const uint64_t now_nanos = Now();
    Reply reply = engine.Execute(command, now_nanos);
    if (keeper != nullptr) [[unlikely]] {
      absl::Status kept = Keep(command, now_nanos, reply);
      if (!kept.ok()) return kept;
    }
    if (reply.status != OpStatus::kOk) return Status(reply.status);
    return reply;
  }

  // ---- Reads (list_reads.cc) ----

  // One step of a multi-get: lists `first` to `first + count`, at most kListsPerStep.
  absl::Status ReadStep(const ListRefs& lists, size_t first, size_t count, const ReadSpec& spec,
                        bool with_expiry, uint64_t now_nanos, std::vector<ListItems>& items);

  // ---- Writes (list_writes.cc, list_puts.cc) ----

  // The entry of the feature of `list`, whose key is `key`; a handle needs no look-up. nullptr: the
  // feature never existed.
  const FeatureEntry* EntryOf(const ListRef& list, const ListKey& key) const {
    return list.entry_ != nullptr ? list.entry_ : registry.Find(key.feature_key());
  }
  // The TTL of items added now; `entry` may be nullptr. NotFound: the feature does not exist, and
  // there is no default TTL. The caller holds a pass of the registry's gate.
  absl::StatusOr<int64_t> TtlOf(const FeatureEntry* entry, std::string_view feature_key) const;
  // Checks `items`, and lays out those with time left as rows of `scratch` from `first_row` on.
  // Returns their number.
  absl::StatusOr<size_t> LayOutRows(std::span<const NewItem> items, int64_t ttl_seconds,
                                    uint64_t now_nanos, size_t first_row,
                                    AddScratch& scratch) const;
  // Puts one list. The caller holds a pass, and keeps it.
  absl::StatusOr<bool> Put(const ListKey& key, const FeatureEntry* entry,
                           std::span<const NewItem> items, const PutListOptions& put,
                           uint64_t now_nanos, EvictionLog* evictions);

  // Calls the expiry listener.
  void TellExpiries(const ExpiryLog& expiries) const;

  // Whether its lists are copies from another store.
  bool holds_copies() const {
    return options.memory_policy == MemoryPolicy::kEvict && options.lists_live_elsewhere;
  }

  const Options options;
  // It was loaded from a file that may lack lists of the saved store. Set before anything else uses
  // the store.
  bool past_unknown = false;
  std::unique_ptr<ListKeeper> keeper;  // nullptr: nothing is kept; outlives the engine
  shard::Engine engine;
  const TableSchema items_schema;
  FeatureRegistry registry;
  AddScratchPool scratch_pool;
  std::unique_ptr<Reclaimer> reclaimer;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_STORE_IMPL_H_
