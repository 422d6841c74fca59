// Additions, removals, and lists put whole.
#include <span>
#include <vector>

#include "engine/c_api/conversion.h"

namespace liststore {
namespace {

absl::Status Give(const absl::StatusOr<AddResult>& result, liststore_add_result* out) {
  if (result.ok() && out != nullptr) *out = {result->stored, result->skipped_expired, result->hint};
  return result.status();
}

}  // namespace
}  // namespace liststore

using namespace liststore;  // NOLINT(google-build-using-namespace): functions of C have none

extern "C" {

// ---- Writes ----

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
    // After the last push_back: spans point into `items`.
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

// ---- Lists put whole ----

void liststore_put_options_init(liststore_put_options* options, size_t size) {
  InitSized(options, size, liststore_put_options{});
}

liststore_status liststore_load_mark(const liststore_store* store, const liststore_list* list,
                                     uint64_t* mark, liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_RETURN_IF_NULL(mark);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    return Give(store->store->LoadMark(id), mark);
  });
}

liststore_status liststore_put(liststore_store* store, const liststore_list* list,
                               const liststore_new_item* items, size_t item_count,
                               const liststore_put_options* options, int32_t* stored,
                               liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    LS_ASSIGN_OR_RETURN(const PutListOptions put, ToPutOptions(options));
    std::vector<NewItem> content;
    LS_RETURN_IF_ERROR(AppendItems(items, item_count, content));
    return Give(store->store->PutList(id, content, put), stored);
  });
}

liststore_status liststore_forget(liststore_store* store, const liststore_list* list, int32_t* held,
                                  liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(store);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    return Give(store->store->ForgetList(id), held);
  });
}

}  // extern "C"
