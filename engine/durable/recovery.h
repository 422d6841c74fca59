// Recover: what a data directory holds, put into an engine that has nothing yet.
#ifndef LISTSTORE_ENGINE_DURABLE_RECOVERY_H_
#define LISTSTORE_ENGINE_DURABLE_RECOVERY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/schema_records.h"
#include "engine/model/schema_change_record.h"
#include "engine/shard/engine.h"

namespace liststore::durable {

struct RecoveryOptions {
  // What is damaged is left out, and said; else it is an error.
  bool goes_on_behind_damage = false;
  // Of the snapshot's rows at a time; at least 1.
  uint32_t threads = 1;
  // Told how far it is, about once a second, and what was found: a line each. May be empty; called by
  // threads of the recovery, one at a time.
  std::function<void(std::string_view line)> say = {};
};

// Who makes what is not rows. One call at a time, on any thread of the recovery. An error ends it.
class RecoverySink {
 public:
  virtual ~RecoverySink() = default;
  // A change of the schema is made once more: its tables are in the engine's catalog then.
  virtual absl::Status OnChange(const SchemaChangeRecord& change) = 0;
  // What stands in the log beside rows and tables. Some may come twice: of a snapshot, and of the log from
  // before it.
  virtual absl::Status OnEvent(std::string_view event) = 0;
  // The data went back to an earlier instant. What has been told so far is of no later one, but for events: what
  // they came to is no more, and all of it is told once more behind this. `to_nothing`: there is no keyspace of
  // users any more.
  virtual absl::Status OnReturn(bool to_nothing) = 0;
};

// What there was beside rows, tables and events.
struct Recovered {
  SchemaHistory history;
  // Of the run that wrote last; 0: there was none.
  uint32_t last_run = 0;
  // Where each log goes on, by shard.
  std::map<uint32_t, uint64_t> log_ends;
  uint64_t snapshot =
      0;  // its number; 0: there was none, or all that there were had what was undone
  uint64_t newest_snapshot = 0;  // of all; 0: there was none
  bool is_marked = false;        // DataDirectory::IsMarked
  bool is_damaged = false;

  bool is_empty() const { return snapshot == 0 && log_ends.empty(); }
};

// Loads the newest snapshot and applies what the logs have behind it, of whatever number of shards they
// are. The engine has the tables of whom it is then, and keeps no log yet.
// DataLoss: something that was kept is not there any more, or not right; says where, and what was lost.
// FailedPrecondition: it is of a later version. ResourceExhausted: it does not fit the memory limit. Errors
// of the sink.
absl::StatusOr<Recovered> Recover(const DataDirectory& directory, shard::Engine& engine,
                                  RecoverySink& sink, const RecoveryOptions& options);

// Puts the content of one snapshot, wherever it is, into an engine that has nothing yet. Errors as above.
absl::StatusOr<Recovered> RecoverFrom(const std::string& snapshot_path, disk::FileCalls& calls,
                                      shard::Engine& engine, RecoverySink& sink,
                                      const RecoveryOptions& options);

// `status`, and where it is DataLoss what to do.
absl::Status WithAdvice(const absl::Status& status, const std::string& directory);

// Reads everything, and says of each file what it holds. False: something is damaged.
absl::StatusOr<bool> CheckDirectory(const DataDirectory& directory,
                                    const std::function<void(std::string_view line)>& say);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_RECOVERY_H_
