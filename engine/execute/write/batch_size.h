// How large a batch is, by ScyllaDB's measure: the memory that its mutations take there.
#ifndef LISTSTORE_ENGINE_EXECUTE_WRITE_BATCH_SIZE_H_
#define LISTSTORE_ENGINE_EXECUTE_WRITE_BATCH_SIZE_H_

#include <cstdint>
#include <span>

#include "engine/command/command.h"
#include "engine/cql/syntax/cql_error.h"

namespace liststore::execute {

// Invalid: the commands are of several partitions and together larger than `bytes_max`. O(their
// rows and cells).
cql::CqlStatus CheckBatchSize(std::span<const Command> commands, uint64_t bytes_max);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_WRITE_BATCH_SIZE_H_
