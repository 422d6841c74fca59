// A snapshot of everything: the rows of all tables of an engine and opaque definitions, in one file, taken
// while others write. docs/snapshot.md has its format.
//
// The content is that of one instant and more: each piece of it is as it was when it was copied, and says how
// far the log had come by then. Loaded, with the logs replayed from `positions` on
// (shard::ReplayLogs with `copied`), it is what the logs' end says, to the write.
#ifndef LISTSTORE_ENGINE_DURABLE_FULL_SNAPSHOT_H_
#define LISTSTORE_ENGINE_DURABLE_FULL_SNAPSHOT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/disk/file_calls.h"
#include "engine/model/table_schema.h"
#include "engine/shard/copied_parts.h"
#include "engine/shard/engine.h"
#include "engine/shard/recorded_tables.h"
#include "liststore/options.h"

namespace liststore::durable {

struct SnapshotTable {
  TableId id;  // as in the log
  std::string keyspace;
  std::string name;
};
struct SnapshotContent {
  std::string definitions;  // whatever it takes to make the tables again
  // Whose rows are kept: not those that follow from others.
  std::vector<SnapshotTable> tables;
};

struct WrittenSnapshot {
  uint64_t partitions = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  // Of each log: what is before is not needed with the snapshot.
  std::vector<uint64_t> positions;
};

// Writes one, into a file beside that takes the place of `path` when it is whole. No table may come, go or
// be rebuilt meanwhile; everything else goes on: a lane is held for a slice of some 256 KiB or one partition.
//
// `content()`: called once, after the instant at which `positions` were read. `keep(ends)`: called before the
// file takes its place: what the logs have before `ends` is to be synchronised by then, so that the file has
// nothing of a batch whose other part was lost. `between_slices`: holds no lane.
// Errors are those of WholeFileWriter and of `keep`. FailedPrecondition: a table went. O(bytes).
absl::StatusOr<WrittenSnapshot> WriteSnapshot(
    disk::FileCalls& calls, const std::string& path, shard::Engine& engine, uint64_t now_nanos,
    absl::FunctionRef<SnapshotContent()> content,
    absl::FunctionRef<absl::Status(std::span<const uint64_t> ends)> keep,
    absl::FunctionRef<void()> between_slices = [] {},
    SnapshotCompression compression = SnapshotCompression::kNone);

struct LoadedSnapshot {
  SnapshotContent content;
  uint64_t taken_at_nanos = 0;
  uint32_t run = 0;                 // Engine::log_run of who wrote it
  std::vector<uint64_t> positions;  // of each log, from which on it is replayed
  shard::CopiedParts copied;        // for shard::ReplayLogs
  uint64_t partitions = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

// Loads one into an engine that nobody else uses. `define(content)`: makes the tables, and says which they
// are. `threads`: that put rows in, the caller's among them; at least 1.
// InvalidArgument: no snapshot. FailedPrecondition: one of a later version. DataLoss: damaged or cut off; the
// message says where. ResourceExhausted: it does not fit the memory limit. Errors of `define`. After an error the
// engine has some of it.
absl::StatusOr<LoadedSnapshot> LoadSnapshot(
    disk::FileCalls& calls, const std::string& path, shard::Engine& engine,
    absl::FunctionRef<absl::StatusOr<shard::RecordedTables>(const SnapshotContent&)> define,
    uint32_t threads);

// Its definitions alone: content, run, positions and the shape of `copied`. Errors as LoadSnapshot.
absl::StatusOr<LoadedSnapshot> ReadSnapshotHead(disk::FileCalls& calls, const std::string& path);

// Reads all of it and looks at every byte, without an engine. Errors as LoadSnapshot.
absl::StatusOr<LoadedSnapshot> CheckSnapshot(disk::FileCalls& calls, const std::string& path);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_FULL_SNAPSHOT_H_
