// Reads into results, and views.
#include <cstring>
#include <string>
#include <vector>

#include "engine/c_api/conversion.h"

namespace liststore {

static_assert(static_cast<int>(ListPresence::kAbsent) == LISTSTORE_ABSENT &&
              static_cast<int>(ListPresence::kPartial) == LISTSTORE_PARTIAL &&
              static_cast<int>(ListPresence::kComplete) == LISTSTORE_COMPLETE);

}  // namespace liststore

using namespace liststore;  // NOLINT(google-build-using-namespace): functions of C have none

extern "C" {

// ---- Reads ----

void liststore_get_options_init(liststore_get_options* options, size_t size) {
  liststore_get_options defaults = {};
  defaults.limit = GetOptions().limit;
  InitSized(options, size, defaults);
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

// ---- How much of a list is here ----

int32_t liststore_items_presence(const liststore_items* items) {
  if (items == nullptr) return LISTSTORE_ABSENT;
  return static_cast<int32_t>(items->items.presence());
}
int64_t liststore_items_fresh_until(const liststore_items* items) {
  return items == nullptr ? 0 : items->items.fresh_until_seconds();
}
int32_t liststore_multi_items_presence(const liststore_multi_items* items, size_t list) {
  if (items == nullptr || list >= items->lists.size()) return LISTSTORE_ABSENT;
  return static_cast<int32_t>(items->lists[list].presence());
}
int64_t liststore_multi_items_fresh_until(const liststore_multi_items* items, size_t list) {
  if (items == nullptr || list >= items->lists.size()) return 0;
  return items->lists[list].fresh_until_seconds();
}

// ---- Views ----

liststore_view* liststore_view_create(void) { return new (std::nothrow) liststore_view(); }
void liststore_view_destroy(liststore_view* view) { delete view; }
void liststore_view_release(liststore_view* view) {
  if (view != nullptr) view->view.Release();
}
size_t liststore_view_size(const liststore_view* view) {
  return view == nullptr ? 0 : view->view.size();
}
liststore_status liststore_view_at(const liststore_view* view, size_t index, liststore_item* item) {
  return Guard(nullptr, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(view);
    return GiveItem(view->view, index, item);
  });
}
liststore_status liststore_view_list(const liststore_store* store, const liststore_list* list,
                                     const liststore_get_options* options, liststore_view* view,
                                     liststore_error* error) {
  return Guard(error, [&]() -> absl::Status {
    LS_RETURN_IF_NULL(view);
    view->view.Release();
    LS_RETURN_IF_NULL(store);
    LS_ASSIGN_OR_RETURN(const ListId id, ToListId(list));
    LS_ASSIGN_OR_RETURN(const GetOptions get, ToGetOptions(options));
    return store->store->ViewListItems(id, get, &view->view);
  });
}

}  // extern "C"
