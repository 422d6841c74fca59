// PartitionKeyText: a partition key as people write it.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_PARTITION_KEY_TEXT_H_
#define LISTSTORE_ENGINE_CQL_VALUES_PARTITION_KEY_TEXT_H_

#include <string>
#include <string_view>

#include "engine/model/schema.h"

namespace liststore::cql {

// The values of a key's columns, joined by ':': text as it is, others as CQL literals without their
// quotes. `key` is serialised, and one of the table's.
std::string PartitionKeyText(const TableDefinition& table, std::string_view key);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_PARTITION_KEY_TEXT_H_
