// A list as a table for people: newest first, with what is left of each item's time.
#ifndef LISTSTORE_TOOLS_REPLAY_LIST_TABLE_H_
#define LISTSTORE_TOOLS_REPLAY_LIST_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "absl/status/status.h"
#include "liststore/list_store.h"

namespace liststore {

// Prints the newest `rows_max` items of one list. `now_nanos` is the store's time.
absl::Status PrintList(const ListStore& store, const ListId& list, uint64_t now_nanos,
                       size_t rows_max, std::FILE* out);

// Prints each list of an entity that has live items, over all features and versions; says so when
// there is none.
absl::Status PrintListsOfEntity(const ListStore& store, std::string_view entity_id,
                                uint64_t now_nanos, size_t rows_max, std::FILE* out);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_LIST_TABLE_H_
