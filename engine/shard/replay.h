// Replay: the logs of an engine that was, applied to one that begins.
//
//   RecordedTables tables;                        // of the snapshot, if there is one
//   LS_ASSIGN_OR_RETURN(const ReplayResult result, ReplayLogs(engine, tables, logs, sink, options));
//   // then: views are filled, engine.SetWriteLogs(..., a run above result.last_run)
//
// Writes of a log are applied in its order, those of different logs at the same time: no two logs speak of
// one partition between two barriers. Steps (truncations, barriers) are in every log, and are applied once,
// when every log has come to them, or to a later one, or to its end: what was cut off a log was behind the
// step, or is not there. A batch is applied if all its parts are there, else none of them.
//
// The engine may have any number of shards and lanes, and keeps no log itself meanwhile.
#ifndef LISTSTORE_ENGINE_SHARD_REPLAY_H_
#define LISTSTORE_ENGINE_SHARD_REPLAY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/record_source.h"
#include "engine/shard/copied_parts.h"
#include "engine/shard/engine.h"
#include "engine/shard/recorded_tables.h"
#include "engine/shard/undone_steps.h"

namespace liststore::shard {

struct ReplayedLog {
  uint32_t shard = 0;  // whose log it is
  // Opens it from its beginning, or from the snapshot's position on. Called twice where there are several:
  // which batches are whole is found out first.
  std::function<absl::StatusOr<std::unique_ptr<commitlog::RecordSource>>()> open;
};

// What is not the engine's own. One call at a time, on any thread of the replay's. An error ends it.
class ReplaySink {
 public:
  virtual ~ReplaySink() = default;
  // All that was written before is applied, and nothing behind it. `tables` may be changed, and the engine's
  // tables too.
  virtual absl::Status OnBarrier(std::string_view payload, RecordedTables& tables) = 0;
  // Of log 0, in its order; writes go on meanwhile.
  virtual absl::Status OnEvent(std::string_view payload) = 0;
};

struct ReplayResult {
  uint64_t writes = 0;       // applied, those of batches included
  uint64_t in_snapshot = 0;  // passed by: the snapshot has them
  uint64_t undone = 0;       // passed by: a return to before has undone them
  uint64_t batches = 0;      // of several logs, all of whose parts are there
  uint64_t batches_cut = 0;  // not all of whose parts are there: nothing of them was applied
  uint64_t truncations = 0;
  uint64_t barriers = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;            // of records
  uint32_t last_run = 0;         // Engine::SetWriteLogs is given a larger one
  int64_t last_now_seconds = 0;  // the latest time of a write
};

// DataLoss: a record is none, or speaks of a table that no barrier has named. ResourceExhausted: it does not
// fit the memory limit, not without what was over by then, and where tables are evicted from, what could
// go. Other errors are those of the logs and of the sink. After an error the engine has some of it.
// `copied`: of the snapshot that was loaded; nullptr: none was. Logs of shards that its engine did not have may
// hold what is older: it is passed by, up to the first barrier of a later run. A thread for each log, the caller's among
// them. `undone`: parts of the logs that are passed by. O(records).
absl::StatusOr<ReplayResult> ReplayLogs(Engine& engine, RecordedTables& tables,
                                        std::span<const ReplayedLog> logs, ReplaySink& sink,
                                        const CopiedParts* copied = nullptr,
                                        const UndoneSteps& undone = {});

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_REPLAY_H_
