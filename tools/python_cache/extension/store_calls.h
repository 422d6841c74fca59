// The methods of Store.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_STORE_CALLS_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_STORE_CALLS_H_

#include "tools/python_cache/extension/python.h"

namespace liststore::python {

// What may wait for the disk or takes long.
template <typename Change>
auto LetOthersRun(const Change& change) {
  const WithoutGil gil;
  return change();
}

NamedCall CreateFeature;
NamedCall CreateVersion;
NamedCall SetTtl;
NamedCall SetVersionTtl;
NamedCall DeleteFeature;
NamedCall DeleteVersion;
NamedCall FindFeature;
NamedCall PutMulti;
NamedCall Save;
NamedCall Reclaim;

PlainCall AddMulti;
PlainCall Features;
PlainCall Snapshot;
PlainCall Sync;
PlainCall MoveClock;
PlainCall GetStats;
PlainCall CacheStatsOf;
PlainCall Metrics;
PlainCall SetMemoryLimit;
PlainCall NextExpiry;
PlainCall Notices;

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_STORE_CALLS_H_
