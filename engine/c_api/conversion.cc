#include "engine/c_api/conversion.h"

#include <optional>

namespace liststore {

static_assert(static_cast<int>(EvictionReason::kMemory) == LISTSTORE_EVICTED_FOR_MEMORY &&
              static_cast<int>(EvictionReason::kForgotten) == LISTSTORE_EVICTED_BY_FORGET);

static_assert(static_cast<int>(CommitLog::kSync) == LISTSTORE_LOG_SYNC - LISTSTORE_LOG_OFF &&
              static_cast<int>(CommitLog::kOff) == 0);

void SetText(liststore_error* error, std::string_view text) {
  if (error == nullptr) return;
  const size_t bytes = std::min(text.size(), sizeof(error->text) - 1);
  if (bytes > 0) std::memcpy(error->text, text.data(), bytes);
  error->text[bytes] = '\0';
}

liststore_status Answer(const absl::Status& status, liststore_error* error) {
  const absl::string_view message = status.message();
  SetText(error, {message.data(), message.size()});
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return static_cast<liststore_status>(status.code());
    default:
      return LISTSTORE_UNKNOWN;
  }
}

absl::Status Null(const char* argument) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " is NULL"));
}
absl::Status CheckBytes(const liststore_bytes& bytes, const char* what) {
  if (bytes.data != nullptr || bytes.size == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("data of ", what, " is NULL, but its size is ", bytes.size));
}

absl::StatusOr<ListId> ToListId(const liststore_list* list) {
  LS_RETURN_IF_NULL(list);
  LS_RETURN_IF_ERROR(CheckBytes(list->entity_type, "entity_type"));
  LS_RETURN_IF_ERROR(CheckBytes(list->feature, "feature"));
  LS_RETURN_IF_ERROR(CheckBytes(list->version, "version"));
  LS_RETURN_IF_ERROR(CheckBytes(list->entity_id, "entity_id"));
  return ListId{ToView(list->entity_type), ToView(list->feature), ToView(list->version),
                ToView(list->entity_id)};
}

absl::Status AppendItems(const liststore_new_item* items, size_t count, std::vector<NewItem>& out) {
  if (count == 0) return absl::OkStatus();
  LS_RETURN_IF_NULL(items);
  for (size_t i = 0; i < count; ++i) {
    LS_RETURN_IF_ERROR(CheckBytes(items[i].value, "value"));
    out.push_back({items[i].timestamp_nanos, ToView(items[i].value)});
  }
  return absl::OkStatus();
}

absl::StatusOr<Options> ToOptions(const liststore_options* given) {
  LS_ASSIGN_OR_RETURN(const liststore_options c,
                      CopySized(given, liststore_options{}, "liststore_options"));
  Options options;
  if (c.clock != nullptr) options.clock = &c.clock->clock;
  if (c.manual_clock != nullptr) options.manual_clock = &c.manual_clock->clock;
  if (c.data_dir != nullptr) options.data_dir = c.data_dir;
  if (c.commit_log > LISTSTORE_LOG_SYNC) {
    return absl::InvalidArgumentError(
        absl::StrCat("commit_log ", c.commit_log,
                     " is not a mode; use one of off (1), os (2), periodic (3), sync (4)"));
  }
  if (c.commit_log != LISTSTORE_LOG_DEFAULT) {
    options.commit_log = static_cast<CommitLog>(c.commit_log - LISTSTORE_LOG_OFF);
  }
  if (c.commit_log_period_ms != 0) options.commit_log_period_ms = c.commit_log_period_ms;
  options.commit_log_segment_bytes = c.commit_log_segment_bytes;
  if (c.snapshot_compression > LISTSTORE_COMPRESSION_ZSTD) {
    return absl::InvalidArgumentError(absl::StrCat("snapshot_compression ", c.snapshot_compression,
                                                   " is neither none (0) nor zstd (1)"));
  }
  options.snapshot_compression = static_cast<SnapshotCompression>(c.snapshot_compression);
  if (c.on_keeping != nullptr) {
    options.on_keeping = [tell = c.on_keeping, context = c.on_keeping_context](
                             std::string_view line) { tell(context, ToBytes(line)); };
  }
  if (c.keyspace != nullptr) options.keyspace = c.keyspace;
  if (c.default_ttl_seconds != 0) options.default_ttl_seconds = c.default_ttl_seconds;
  if (c.value_bytes_max != 0) options.value_bytes_max = c.value_bytes_max;
  options.memory_limit_bytes = c.memory_limit_bytes;
  options.shards = c.shards;
  options.background_reclaim = c.background_reclaim != 0;
  if (c.memory_policy > LISTSTORE_EVICT) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_policy ", c.memory_policy, " is neither reject (0) nor evict (1)"));
  }
  if (c.memory_policy == LISTSTORE_EVICT) options.memory_policy = MemoryPolicy::kEvict;
  options.lists_live_elsewhere = c.lists_live_elsewhere != 0;
  if (c.on_evicted != nullptr) {
    options.eviction_listener = [tell = c.on_evicted,
                                 context = c.on_evicted_context](const EvictedList& evicted) {
      const liststore_list list = {ToBytes(evicted.entity_type), ToBytes(evicted.feature),
                                   ToBytes(evicted.version), ToBytes(evicted.entity_id)};
      tell(context, &list, evicted.items, static_cast<int32_t>(evicted.reason));
    };
  }
  return options;
}

absl::StatusOr<GetOptions> ToGetOptions(const liststore_get_options* given) {
  liststore_get_options defaults;
  liststore_get_options_init(&defaults, sizeof(defaults));
  LS_ASSIGN_OR_RETURN(const liststore_get_options c,
                      CopySized(given, defaults, "liststore_get_options"));
  GetOptions options;
  options.min_timestamp_nanos = c.min_timestamp_nanos;
  if (c.has_max != 0) options.max_timestamp_nanos = c.max_timestamp_nanos;
  options.limit = c.limit;
  options.with_expiry = c.with_expiry != 0;
  return options;
}

absl::StatusOr<PutListOptions> ToPutOptions(const liststore_put_options* given) {
  LS_ASSIGN_OR_RETURN(const liststore_put_options c,
                      CopySized(given, liststore_put_options{}, "liststore_put_options"));
  PutListOptions options;
  options.fresh_until_seconds = c.fresh_until_seconds;
  if (c.has_mark != 0) options.unless_written_since = c.mark;
  return options;
}

}  // namespace liststore
