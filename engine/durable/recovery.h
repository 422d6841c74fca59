// Recover: what a data directory holds, put into an engine that has nothing yet.
#ifndef LISTSTORE_ENGINE_DURABLE_RECOVERY_H_
#define LISTSTORE_ENGINE_DURABLE_RECOVERY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/events.h"
#include "engine/durable/schema_records.h"
#include "engine/shard/engine.h"

namespace liststore::durable {

struct RecoveryOptions {
  // Whose CQL the statements are that made the schema.
  cql::Dialect dialect = {};
  // Of what views are filled by.
  uint64_t now_nanos = 0;
  // What is damaged is left out, and said; else it is an error.
  bool goes_on_behind_damage = false;
  // Of the snapshot's rows at a time; at least 1.
  uint32_t threads = 1;
  // Told how far it is, about once a second, and what was found: a line each. May be empty; called by
  // threads of the recovery, one at a time.
  std::function<void(std::string_view line)> say = {};
};

// What there was beside rows and tables.
struct Recovered {
  SchemaHistory history;
  EventState events;
  // Of the run that wrote last; 0: there was none.
  uint32_t last_run = 0;
  // Where each log goes on, by shard.
  std::map<uint32_t, uint64_t> log_ends;
  uint64_t snapshot = 0;  // its number; 0: there was none
  bool is_damaged = false;
};

// Loads the newest snapshot, applies what the logs have behind it, of whatever number of shards they are,
// and fills views. The engine has tables of users then, and keeps no log yet.
// DataLoss: something that was kept is not there any more, or not right; says where, and what was lost.
// FailedPrecondition: it is of a later version. ResourceExhausted: it does not fit the memory limit.
absl::StatusOr<Recovered> Recover(const DataDirectory& directory, shard::Engine& engine,
                                  const RecoveryOptions& options);

// Puts the content of one snapshot, wherever it is, into an engine that has nothing yet. Errors as above.
absl::StatusOr<Recovered> RecoverFrom(const std::string& snapshot_path, disk::FileCalls& calls,
                                      shard::Engine& engine, const RecoveryOptions& options);

// Reads everything, and says of each file what it holds. False: something is damaged.
absl::StatusOr<bool> CheckDirectory(const DataDirectory& directory,
                                    const std::function<void(std::string_view line)>& say);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_RECOVERY_H_
