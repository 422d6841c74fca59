// A read of content that was just loaded, as if it had been put.
#ifndef LISTSTORE_ENGINE_LISTS_LOADED_LIST_H_
#define LISTSTORE_ENGINE_LISTS_LOADED_LIST_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "liststore/list_item.h"

namespace liststore {

// Overwrites `items` with the newest of `content` within the bounds of `options`, as a complete
// list of a feature with the TTL `ttl_seconds`: sorted, each item once, without those that have
// expired at `now_nanos`. `content` was checked before (timestamps, values). Allocates. O(content x
// log(content)).
void ReadLoadedList(std::span<const NewItem> content, int64_t ttl_seconds, uint64_t now_nanos,
                    int64_t fresh_until_seconds, const GetOptions& options, ListItems& items);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LOADED_LIST_H_
