#include "liststore/liststore.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "liststore/saved_store.h"
#include "liststore/version.h"

struct liststore_clock {
  explicit liststore_clock(uint64_t now_nanos) : clock(now_nanos) {}
  liststore::ManualClock clock;
};
struct liststore_store {
  std::unique_ptr<liststore::ListStore> store;
};
struct liststore_items {
  liststore::ListItems items;
};
struct liststore_multi_items {
  std::vector<liststore::ListItems> lists;
};

namespace liststore {
namespace {

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

// Runs `call`, which returns an absl::Status. The library throws nothing, but memory may end.
template <typename Call>
liststore_status Guard(liststore_error* error, Call&& call) noexcept {
  try {
    return Answer(call(), error);
  } catch (const std::bad_alloc&) {
    SetText(error, "out of memory");
    return LISTSTORE_RESOURCE_EXHAUSTED;
  } catch (const std::exception& exception) {
    SetText(error, exception.what());
    return LISTSTORE_INTERNAL;
  }
}

absl::Status Null(const char* argument) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " is NULL"));
}
#define LS_RETURN_IF_NULL(argument) \
  if ((argument) == nullptr) return Null(#argument)

std::string_view ToView(const liststore_bytes& bytes) {
  return bytes.data == nullptr ? std::string_view() : std::string_view(bytes.data, bytes.size);
}
absl::Status CheckBytes(const liststore_bytes& bytes, const char* what) {
  if (bytes.data != nullptr || bytes.size == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " of ", bytes.size, " bytes has data that is NULL"));
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

// A structure of the caller's, as far as it goes; what this library does not know must be 0.
template <typename T>
absl::StatusOr<T> CopySized(const T* given, const T& defaults, const char* what) {
  if (given == nullptr) return defaults;
  if (given->size < sizeof(size_t)) {
    return absl::InvalidArgumentError(
        absl::StrCat("size ", given->size, " of ", what, " is less than ", sizeof(size_t)));
  }
  T copy = {};
  std::memcpy(&copy, given, std::min(given->size, sizeof(T)));
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(T); i < given->size; ++i) {
    if (bytes[i] != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " sets a field at ", i, " that this library does not know"));
    }
  }
  return copy;
}

absl::StatusOr<Options> ToOptions(const liststore_options* given) {
  liststore_options defaults;
  liststore_options_init(&defaults);
  LS_ASSIGN_OR_RETURN(const liststore_options c, CopySized(given, defaults, "liststore_options"));
  Options options;
  if (c.clock != nullptr) options.clock = &c.clock->clock;
  if (c.keyspace != nullptr) options.keyspace = c.keyspace;
  if (c.default_ttl_seconds != 0) options.default_ttl_seconds = c.default_ttl_seconds;
  if (c.value_bytes_max != 0) options.value_bytes_max = c.value_bytes_max;
  options.memory_limit_bytes = c.memory_limit_bytes;
  options.shards = c.shards;
  options.background_reclaim = c.background_reclaim != 0;
  return options;
}

absl::StatusOr<GetOptions> ToGetOptions(const liststore_get_options* given) {
  liststore_get_options defaults;
  liststore_get_options_init(&defaults);
  LS_ASSIGN_OR_RETURN(const liststore_get_options c,
                      CopySized(given, defaults, "liststore_get_options"));
  GetOptions options;
  options.min_timestamp_nanos = c.min_timestamp_nanos;
  if (c.has_max != 0) options.max_timestamp_nanos = c.max_timestamp_nanos;
  options.limit = c.limit;
  options.with_expiry = c.with_expiry != 0;
  return options;
}

template <typename T>
absl::Status Give(absl::StatusOr<T> result, T* out) {
  if (result.ok() && out != nullptr) *out = *result;
  return result.status();
}
absl::Status Give(const absl::StatusOr<AddResult>& result, liststore_add_result* out) {
  if (result.ok() && out != nullptr) *out = {result->stored, result->skipped_expired};
  return result.status();
}

absl::Status Give(absl::StatusOr<std::unique_ptr<ListStore>> opened, liststore_store** store) {
  if (opened.ok()) *store = new liststore_store{*std::move(opened)};
  return opened.status();
}

absl::Status GiveItem(const ListItems& items, size_t index, liststore_item* item) {
  LS_RETURN_IF_NULL(item);
  if (index >= items.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("item ", index, " of a result of ", items.size()));
  }
  const ListItemView view = items[index];
  *item = {view.timestamp_nanos, {view.value.data(), view.value.size()}, view.expires_at_seconds};
  return absl::OkStatus();
}

}  // namespace
}  // namespace liststore

using namespace liststore;  // NOLINT(google-build-using-namespace): functions of C have none

extern "C" {

const char* liststore_version(void) { return kVersion; }

// --- Clock ---------------------------------------------------------------------------------------

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

// --- Stores --------------------------------------------------------------------------------------

void liststore_options_init(liststore_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->size = sizeof(*options);
}

liststore_status liststore_open(const liststore_options* options, liststore_store** store,
                                liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    *store = nullptr;
    LS_ASSIGN_OR_RETURN(Options opened, ToOptions(options));
    return Give(ListStore::Open(std::move(opened)), store);
  });
}

liststore_status liststore_load(const liststore_options* options, const char* path,
                                liststore_store** store, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    *store = nullptr;
    LS_RETURN_IF_NULL(path);
    LS_ASSIGN_OR_RETURN(Options opened, ToOptions(options));
    return Give(LoadListStore(path, std::move(opened)), store);
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

void liststore_close(liststore_store* store) { delete store; }

// --- Features ------------------------------------------------------------------------------------

liststore_status liststore_create_feature(liststore_store* store, liststore_bytes entity_type,
                                          liststore_bytes feature, int64_t ttl_seconds,
                                          liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckBytes(entity_type, "entity_type"));
    LS_RETURN_IF_ERROR(CheckBytes(feature, "feature"));
    return store->store->CreateListFeature(ToView(entity_type), ToView(feature), ttl_seconds);
  });
}

liststore_status liststore_create_feature_version(liststore_store* store,
                                                  liststore_bytes entity_type,
                                                  liststore_bytes feature, liststore_bytes version,
                                                  int64_t ttl_seconds, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckBytes(entity_type, "entity_type"));
    LS_RETURN_IF_ERROR(CheckBytes(feature, "feature"));
    LS_RETURN_IF_ERROR(CheckBytes(version, "version"));
    std::optional<int64_t> own_ttl;
    if (ttl_seconds != 0) own_ttl = ttl_seconds;
    return store->store->CreateListFeatureVersion(ToView(entity_type), ToView(feature),
                                                  ToView(version), own_ttl);
  });
}

liststore_status liststore_set_feature_ttl(liststore_store* store, liststore_bytes entity_type,
                                           liststore_bytes feature, int64_t ttl_seconds,
                                           liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckBytes(entity_type, "entity_type"));
    LS_RETURN_IF_ERROR(CheckBytes(feature, "feature"));
    return store->store->SetListFeatureTtl(ToView(entity_type), ToView(feature), ttl_seconds);
  });
}

liststore_status liststore_delete_feature(liststore_store* store, liststore_bytes entity_type,
                                          liststore_bytes feature, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckBytes(entity_type, "entity_type"));
    LS_RETURN_IF_ERROR(CheckBytes(feature, "feature"));
    return store->store->DeleteListFeature(ToView(entity_type), ToView(feature));
  });
}

liststore_status liststore_delete_feature_version(liststore_store* store,
                                                  liststore_bytes entity_type,
                                                  liststore_bytes feature, liststore_bytes version,
                                                  liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckBytes(entity_type, "entity_type"));
    LS_RETURN_IF_ERROR(CheckBytes(feature, "feature"));
    LS_RETURN_IF_ERROR(CheckBytes(version, "version"));
    return store->store->DeleteListFeatureVersion(ToView(entity_type), ToView(feature),
                                                  ToView(version));
  });
}

// --- Writes --------------------------------------------------------------------------------------

liststore_status liststore_add(liststore_store* store, const liststore_list* list,
                               const liststore_new_item* items, size_t item_count,
                               liststore_add_result* result, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    std::vector<NewItem> added;
    LS_RETURN_IF_ERROR(AppendItems(items, item_count, added));
    return Give(store->store->AddListItems(id, added), result);
  });
}

liststore_status liststore_add_multi(liststore_store* store, const liststore_addition* additions,
                                     size_t addition_count, liststore_add_result* result,
                                     liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    if (addition_count > 0) LS_RETURN_IF_NULL(additions);
    std::vector<NewItem> items;
    std::vector<ListAddition> lists;
    for (size_t i = 0; i < addition_count; ++i) {
      LS_ASSIGN_OR_RETURN(const ListId id, ToListId(&additions[i].list));
      LS_RETURN_IF_ERROR(AppendItems(additions[i].items, additions[i].item_count, items));
      lists.push_back({id, {}});
    }
    // The items have stopped moving.
    size_t first = 0;
    for (size_t i = 0; i < addition_count; ++i) {
      lists[i].items = std::span(items).subspan(first, additions[i].item_count);
      first += additions[i].item_count;
    }
    return Give(store->store->AddListItemsMulti(lists), result);
  });
}

liststore_status liststore_remove_value(liststore_store* store, const liststore_list* list,
                                        liststore_bytes value, size_t* removed,
                                        liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_ERROR(CheckBytes(value, "value"));
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    return Give(store->store->RemoveListItemsWithValue(id, ToView(value)), removed);
  });
}

liststore_status liststore_remove_all(liststore_store* store, const liststore_list* list,
                                      size_t* removed, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    return Give(store->store->RemoveAllListItems(id), removed);
  });
}

// --- Reads ---------------------------------------------------------------------------------------

void liststore_get_options_init(liststore_get_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->size = sizeof(*options);
  options->limit = GetOptions().limit;
}

liststore_items* liststore_items_create(void) { return new (std::nothrow) liststore_items(); }
void liststore_items_destroy(liststore_items* items) { delete items; }
size_t liststore_items_size(const liststore_items* items) {
  return items == nullptr ? 0 : items->items.size();
}

liststore_status liststore_items_at(const liststore_items* items, size_t index,
                                    liststore_item* item) {
  return Guard(nullptr, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(items);
    return GiveItem(items->items, index, item);
  });
}

liststore_status liststore_items_key(const liststore_items* items, size_t index, char* key,
                                     size_t key_bytes) {
  return Guard(nullptr, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(items);
    LS_RETURN_IF_NULL(key);
    if (index >= items->items.size()) return absl::InvalidArgumentError("no such item");
    const std::string text = items->items[index].item_key();
    if (text.size() >= key_bytes) return absl::InvalidArgumentError("key does not fit");
    std::memcpy(key, text.c_str(), text.size() + 1);
    return absl::OkStatus();
  });
}

liststore_status liststore_get(const liststore_store* store, const liststore_list* list,
                               const liststore_get_options* options, liststore_items* items,
                               liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(items);
    items->items.clear();
    LS_RETURN_IF_NULL(store);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    LS_ASSIGN_OR_RETURN(const GetOptions get, ToGetOptions(options));
    return store->store->GetListItems(id, get, &items->items);
  });
}

liststore_multi_items* liststore_multi_items_create(void) {
  return new (std::nothrow) liststore_multi_items();
}
void liststore_multi_items_destroy(liststore_multi_items* items) { delete items; }
size_t liststore_multi_items_lists(const liststore_multi_items* items) {
  return items == nullptr ? 0 : items->lists.size();
}
size_t liststore_multi_items_size(const liststore_multi_items* items, size_t list) {
  return items == nullptr || list >= items->lists.size() ? 0 : items->lists[list].size();
}
liststore_status liststore_multi_items_at(const liststore_multi_items* items, size_t list,
                                          size_t index, liststore_item* item) {
  return Guard(nullptr, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(items);
    if (list >= items->lists.size()) return absl::InvalidArgumentError("no such list");
    return GiveItem(items->lists[list], index, item);
  });
}

liststore_status liststore_multi_get(const liststore_store* store, const liststore_list* lists,
                                     size_t list_count, const liststore_get_options* options,
                                     liststore_multi_items* items, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(items);
    for (ListItems& list : items->lists) list.clear();
    LS_RETURN_IF_NULL(store);
    if (list_count > 0) LS_RETURN_IF_NULL(lists);
    std::vector<ListId> ids;
    for (size_t i = 0; i < list_count; ++i) {
      LS_ASSIGN_OR_RETURN(const ListId id, ToListId(&lists[i]));
      ids.push_back(id);
    }
    LS_ASSIGN_OR_RETURN(const GetOptions get, ToGetOptions(options));
    return store->store->MultiGetListItems(ids, get, &items->lists);
  });
}

liststore_status liststore_count(const liststore_store* store, const liststore_list* list,
                                 const liststore_get_options* options, size_t* count,
                                 liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(count);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    LS_ASSIGN_OR_RETURN(const GetOptions get, ToGetOptions(options));
    return Give(store->store->CountListItems(id, get), count);
  });
}

// --- Housekeeping --------------------------------------------------------------------------------

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

}  // extern "C"
