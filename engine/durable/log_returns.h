// From which snapshot a directory is recovered whose logs have marks and returns, and what these have undone.
#ifndef LISTSTORE_ENGINE_DURABLE_LOG_RETURNS_H_
#define LISTSTORE_ENGINE_DURABLE_LOG_RETURNS_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/definitions.h"
#include "engine/durable/full_snapshot.h"
#include "engine/shard/undone_steps.h"

namespace liststore::durable {

// From where on each log is read behind a snapshot.
std::map<uint32_t, uint64_t> PositionsBehind(const LoadedSnapshot& snapshot,
                                             const Definitions& definitions);

struct RecoveryStart {
  uint64_t snapshot = 0;  // 0: none, the logs have everything
  shard::UndoneSteps undone;
};
// The newest snapshot that has nothing of what was undone behind it. A snapshot that was taken behind a mark has
// what a return to that mark undoes: then an earlier one is the start, which stays as long as the mark does.
// Reads what the logs have behind the snapshot, once, and once more for each earlier one; where the directory is not
// marked (DataDirectory::IsMarked), nothing. Errors are those of the logs and of snapshots' heads. DataLoss also: the
// earlier one is missing.
absl::StatusOr<RecoveryStart> FindRecoveryStart(const DataDirectory& directory,
                                                bool goes_on_behind_damage);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_LOG_RETURNS_H_
