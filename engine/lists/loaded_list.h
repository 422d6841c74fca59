// What a read of a list would return, were it put with content that is at hand.
#ifndef LISTSTORE_ENGINE_LISTS_LOADED_LIST_H_
#define LISTSTORE_ENGINE_LISTS_LOADED_LIST_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "liststore/list_item.h"

namespace liststore {

// Overwrites `items` with the newest of `content` within the bounds of `options`, as a complete
// list of a feature whose items live for `ttl_seconds`: sorted, each item once, without those whose
// time has run out at `now_nanos`. `content` has been checked (timestamps, values). Allocates;
// O(content x log(content)).
void ReadLoadedList(std::span<const NewItem> content, int64_t ttl_seconds, uint64_t now_nanos,
                    int64_t fresh_until_seconds, const GetOptions& options, ListItems& items);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LOADED_LIST_H_
