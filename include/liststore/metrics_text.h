// The figures of stores and caches as text for Prometheus, version 0.0.4 of its format: for a program that
// answers GET /metrics itself, and has the library in it. A server has a page of its own.
//
//   response.set_content(liststore::MetricsText(*store), liststore::kMetricsContentType);
//
// Names are those of the server's page where they mean the same: liststore_table_rows,
// liststore_memory_limit_bytes; docs/embedding.md lists all. Counters begin with the store, or the cache.
#ifndef LISTSTORE_METRICS_TEXT_H_
#define LISTSTORE_METRICS_TEXT_H_

#include <span>
#include <string>

#include "liststore/list_cache.h"
#include "liststore/stats.h"

namespace liststore {

class ListStore;

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// The figures of one store. `name`, of any text, is its label `store`; with an empty one it has no such label,
// for which there is one store at most on a page.
struct StoreFigures {
  std::string name;
  Stats stats;
};
// The same of a cache, whose label is `cache`; the store underneath has figures of its own.
struct CacheFigures {
  std::string name;
  ListCacheStats stats;
};

// A page of all of these. Each family stands once, as Prometheus wants it: texts of several calls
// cannot be put together. O(tables and features). Any thread.
std::string MetricsText(std::span<const StoreFigures> stores,
                        std::span<const CacheFigures> caches = {});
// Of one store, as it is now. As ListStore::GetStats, which may be called while others use the store.
std::string MetricsText(const ListStore& store);
// Of a cache and the store underneath, as they are now.
std::string MetricsText(ListCache& cache);

}  // namespace liststore

#endif  // LISTSTORE_METRICS_TEXT_H_
