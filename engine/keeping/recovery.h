// Recover: what a data directory of a server holds, schema, roles and clock included, put into an engine
// that has nothing yet.
#ifndef LISTSTORE_ENGINE_KEEPING_RECOVERY_H_
#define LISTSTORE_ENGINE_KEEPING_RECOVERY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/recovery.h"
#include "engine/keeping/events.h"
#include "engine/shard/engine.h"

namespace liststore::keeping {

struct RecoveryOptions {
  durable::RecoveryOptions of_directory;
  // Whose CQL the schema is to be of. nullopt: that of the directory, or ScyllaDB's where it does not say.
  std::optional<cql::Dialect> dialect = {};
  // Of what views are filled by.
  uint64_t now_nanos = 0;
};

struct Recovered {
  durable::Recovered of_directory;
  EventState events;
  cql::Dialect dialect;  // in which the schema was made again
};

// As durable::Recover: makes the schema again by its statements, and fills views. FailedPrecondition also: it was
// made in another dialect than the one asked for, or in one that this version does not have.
absl::StatusOr<Recovered> Recover(const durable::DataDirectory& directory, shard::Engine& engine,
                                  const RecoveryOptions& options);

// As durable::RecoverFrom.
absl::StatusOr<Recovered> RecoverFrom(const std::string& snapshot_path, disk::FileCalls& calls,
                                      shard::Engine& engine, const RecoveryOptions& options);

}  // namespace liststore::keeping

#endif  // LISTSTORE_ENGINE_KEEPING_RECOVERY_H_
