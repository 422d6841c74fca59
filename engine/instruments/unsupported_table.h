// The table liststore.unsupported: what clients asked for and did not get. Its columns are
// described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_UNSUPPORTED_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_UNSUPPORTED_TABLE_H_

#include <memory>

#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/feature_tally.h"

namespace liststore::instruments {

// A row for each feature that was met; empty when there was none. `tally` outlives the table.
std::unique_ptr<cql::VirtualTable> MakeUnsupportedTable(const execute::FeatureTally& tally);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_UNSUPPORTED_TABLE_H_
