#include "engine/lists/saved_store.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/base/utf8.h"
#include "engine/disk/file_source.h"
#include "engine/disk/whole_file_writer.h"
#include "engine/lists/kept_store.h"
#include "engine/lists/list_store_impl.h"
#include "engine/model/mutation.h"
#include "engine/model/partition_key.h"
#include "engine/snapshot/block_reader.h"
#include "engine/snapshot/lists_encoder.h"
#include "engine/snapshot/saved_store_reader.h"
#include "engine/snapshot/saved_store_writer.h"

namespace liststore {
namespace {

// The store's own timestamps are microseconds of its clock, or a little above, and far below this,
// at which lanes could not count on.
constexpr int64_t kOwnTimestampMax = int64_t{1} << 62;

absl::Status WriteTruncations(snapshot::SavedStoreWriter& writer,
                              const std::vector<std::string>& components) {
  for (const std::string& component : components) {
    LS_RETURN_IF_ERROR(writer.WriteTruncation(component));
  }
  return absl::OkStatus();
}

// Loads the content of a file into an empty store that nothing else uses.
class Loader final : public snapshot::ContentSink {
 public:
  // `holds_copies`: the lists are copies from another store.
  Loader(shard::Engine& engine, FeatureRegistry& registry, TableId items, bool holds_copies,
         uint64_t now_nanos)
      : engine_(engine),
        registry_(registry),
        items_(items),
        holds_copies_(holds_copies),
        now_nanos_(now_nanos) {}

  void OnOrigin(snapshot::Origin origin) override {
    origin_ = origin;
    if (past_unknown()) engine_.NotePastUnknown(items_);
  }

  absl::Status OnList(const StoredPartition& list, std::span<const StoredRow> rows) override {
    return TakeIn(list, rows);
  }
  absl::Status OnHotList(const StoredPartition& list, std::span<const HotRow> rows) override {
    return TakeIn(list, rows);
  }

  absl::Status OnTruncation(std::string_view component) override {
    return ToStatus(engine_.TruncateFirstComponent(items_, component), engine_.memory_refusal(),
                    engine_.log_refusal());
  }

  absl::Status OnFeature(const snapshot::Feature& feature) override {
    const absl::Status status = registry_.Restore(feature, now_nanos_);
    if (!absl::IsInvalidArgument(status) && !absl::IsAlreadyExists(status)) return status;
    return absl::DataLossError(absl::StrCat("saved store damaged: ", status.message()));
  }

  WriteTimestamp last_timestamp() const { return last_timestamp_; }
  // The file may lack lists of the saved store.
  bool past_unknown() const { return origin_ != snapshot::Origin::kOwn; }

 private:
  template <typename Row>
  absl::Status TakeIn(const StoredPartition& list, std::span<const Row> rows) {
    LS_RETURN_IF_ERROR(CheckKey(list.key));
    if (!list.foreign_timestamps) LS_RETURN_IF_ERROR(NoteTimestamps(rows));
    switch (engine_.Restore(items_, AsKnownHere(list), rows, now_nanos_)) {
      case OpStatus::kOk:
        return absl::OkStatus();
      case OpStatus::kOutOfMemory:
      case OpStatus::kTooLarge:
        if (engine_.memory_refusal().machine_bytes != 0) {
          return absl::ResourceExhaustedError(engine_.memory_refusal().Text());
        }
        return absl::ResourceExhaustedError(absl::StrCat("does not fit the memory limit of ",
                                                         engine_.memory_limit_bytes(), " bytes"));
      case OpStatus::kRowTooLarge:
        return absl::DataLossError(
            absl::StrCat("saved store damaged: an item of more than ", kRowBytesMax, " bytes"));
      case OpStatus::kTableGone:
      case OpStatus::kTooManyTables:
      case OpStatus::kNotKept:
      case OpStatus::kBadRecord:
        break;
    }
    LS_UNREACHABLE("nobody drops a table of a store that is being opened");
  }

  // A list is complete here if it was complete there, and that meant the same.
  StoredPartition AsKnownHere(const StoredPartition& list) const {
    StoredPartition known = list;
    if (origin_ == snapshot::Origin::kUnknown) {
      known.partial = true;
      known.kept_empty = false;
    } else if (origin_ != snapshot::Origin::kCopies && holds_copies_) {
      known.partial = !list.kept_empty;  // those were put
    }
    if (known.partial) known.fresh_until_seconds = 0;
    return known;
  }

  static absl::Status CheckKey(std::string_view key) {
    const auto components = SplitPartitionKey(key, 2);
    // A component takes one byte more in the serialised key than in the bounded length.
    if (components && key.size() - components->size() <= kKeyBytesMax &&
        IsValidUtf8((*components)[0]) && IsValidUtf8((*components)[1])) {
      return absl::OkStatus();
    }
    return absl::DataLossError("saved store damaged: a key is not that of a list");
  }

  template <typename Row>
  absl::Status NoteTimestamps(std::span<const Row> rows) {
    for (const Row& row : rows) NoteTimestamp(row);
    if (last_timestamp_.micros <= kOwnTimestampMax) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("saved store damaged: a timestamp of ",
                                            last_timestamp_.micros, " is none of the store's own"));
  }
  void NoteTimestamp(const HotRow& row) {
    last_timestamp_ = std::max(last_timestamp_, row.liveness.timestamp);
  }
  void NoteTimestamp(const StoredRow& row) {
    last_timestamp_ = std::max(last_timestamp_, row.marker.timestamp);
    for (const StoredCell& cell : row.cells) {
      last_timestamp_ = std::max(last_timestamp_, cell.view.liveness.timestamp);
    }
  }

  shard::Engine& engine_;
  FeatureRegistry& registry_;
  const TableId items_;
  const bool holds_copies_;
  const uint64_t now_nanos_;
  snapshot::Origin origin_ = snapshot::Origin::kUnknown;
  WriteTimestamp last_timestamp_;
};

}  // namespace

absl::StatusOr<SavedStoreInfo> SavedStore::Save(disk::FileCalls& calls, const ListStore& store,
                                                const std::string& path,
                                                const SaveOptions& options) {
  ListStore::Impl& impl = *store.impl_;
  disk::WholeFileWriter file(calls, path);
  LS_RETURN_IF_ERROR(file.Open());
  snapshot::SavedStoreWriter writer(file, options.compression);
  const uint64_t now_nanos = impl.Now();
  snapshot::Origin origin = snapshot::Origin::kOwn;
  if (impl.holds_copies()) {
    origin = snapshot::Origin::kCopies;
  } else if (impl.options.memory_policy == MemoryPolicy::kEvict || impl.past_unknown) {
    origin = snapshot::Origin::kOwnEvicting;
  }
  LS_RETURN_IF_ERROR(writer.Begin(now_nanos, origin));

  TruncationLog::Reader truncations(impl.registry.truncations());
  snapshot::ListsEncoder encoder;
  std::vector<std::string> components;
  for (shard::CopyPosition position; !position.done;) {
    components.clear();
    truncations.Between(components, [&] {
      // The content copied so far goes before the truncations, the next slice after them.
      if (!components.empty()) return encoder.Finish();
      const OpStatus status =
          impl.engine.CopyOut(impl.items_schema.id, now_nanos, position, encoder);
      LS_CHECK(status == OpStatus::kOk, "a store keeps its tables");
    });
    LS_RETURN_IF_ERROR(writer.WriteLists(encoder));
    LS_RETURN_IF_ERROR(WriteTruncations(writer, components));
  }
  components.clear();
  const std::vector<snapshot::Feature> features = impl.registry.Save(truncations, components);
  encoder.Finish();
  LS_RETURN_IF_ERROR(writer.WriteLists(encoder));
  LS_RETURN_IF_ERROR(WriteTruncations(writer, components));
  LS_RETURN_IF_ERROR(writer.WriteFeatures(features));

  snapshot::Totals totals{.lists = encoder.lists(), .rows = encoder.rows()};
  totals.features = features.size();
  for (const snapshot::Feature& feature : features) {
    totals.feature_versions += feature.versions.size();
  }
  // Read last, so that it is above every copied timestamp.
  totals.last_timestamp_micros = impl.engine.LastTimestamp().micros;
  LS_RETURN_IF_ERROR(writer.End(totals));
  const uint64_t bytes = file.bytes();
  LS_RETURN_IF_ERROR(file.Publish(options.sync));
  return SavedStoreInfo{.lists = totals.lists,
                        .items = totals.rows,
                        .features = totals.features,
                        .bytes = bytes,
                        .saved_at_nanos = now_nanos};
}

absl::StatusOr<std::unique_ptr<ListStore>> SavedStore::Load(disk::ByteSource& source,
                                                            Options options, SavedStoreInfo* info,
                                                            disk::FileCalls& calls,
                                                            const Clock& log_clock) {
  snapshot::BlockReader blocks(source);
  LS_RETURN_IF_ERROR(blocks.ReadFileHeader());
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ListStore> store,
                      KeptStore::Prepare(calls, std::move(options), log_clock));
  ListStore::Impl& impl = *store->impl_;
  if (impl.keeper != nullptr && !impl.keeper->was_empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the data directory ", impl.options.data_dir,
                     " has something already, which the file would take the place of"));
  }
  // Where a directory is begun behind it, they wait for that.
  if (impl.keeper == nullptr) LS_RETURN_IF_ERROR(impl.StartThreads());
  Loader loader(impl.engine, impl.registry, impl.items_schema.id, impl.holds_copies(), impl.Now());
  LS_ASSIGN_OR_RETURN(const snapshot::ReadResult read, snapshot::ReadContent(blocks, loader));
  impl.past_unknown = loader.past_unknown();
  const WriteTimestamp last =
      std::max(loader.last_timestamp(), WriteTimestamp{read.totals.last_timestamp_micros});
  if (last.micros > kOwnTimestampMax) {
    return absl::DataLossError(
        absl::StrCat("saved store damaged: a last timestamp of ", last.micros));
  }
  impl.engine.AdvanceTimestamps(last);
  if (impl.keeper != nullptr) {
    LS_RETURN_IF_ERROR(impl.keeper->BeginWithContent(impl.past_unknown));
    LS_RETURN_IF_ERROR(impl.StartThreads());
  }
  if (info != nullptr) {
    *info = {.lists = read.totals.lists,
             .items = read.totals.rows,
             .features = read.totals.features,
             .bytes = read.bytes,
             .saved_at_nanos = read.saved_at_nanos};
  }
  return store;
}

absl::StatusOr<SavedStoreInfo> SaveListStore(const ListStore& store, const std::string& path,
                                             const SaveOptions& options) try {
  return SavedStore::Save(disk::KernelFileCalls(), store, path, options);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<std::unique_ptr<ListStore>> LoadListStore(const std::string& path, Options options,
                                                         SavedStoreInfo* info) try {
  disk::FileSource source(disk::KernelFileCalls(), path);
  LS_RETURN_IF_ERROR(source.Open());
  auto store = SavedStore::Load(source, std::move(options), info);
  if (store.ok()) return store;
  return absl::Status(store.status().code(), absl::StrCat(path, ": ", store.status().message()));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
