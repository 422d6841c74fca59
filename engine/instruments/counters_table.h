// The table liststore.counters: what has become of clients, and of their writes. Its columns are
// described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_COUNTERS_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_COUNTERS_TABLE_H_

#include <functional>
#include <memory>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "liststore/server_notices.h"

namespace liststore::instruments {

using Counter = CqlCounter;

// The function is called with each read, by any thread.
std::unique_ptr<cql::VirtualTable> MakeCountersTable(
    std::function<std::vector<Counter>()> counters);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_COUNTERS_TABLE_H_
