#include "engine/durable/log_returns.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/commitlog/log_directory.h"
#include "engine/commitlog/log_reader.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/commitlog/record_format.h"
#include "engine/durable/schema_records.h"

namespace liststore::durable {
namespace {

using commitlog::LogReader;
using commitlog::LogReaderOptions;
using commitlog::LogRecord;
using commitlog::RecordKind;

// What a snapshot says of the logs.
struct LogStart {
  std::map<uint32_t, uint64_t> positions;
  uint32_t run = 0;
  std::optional<uint32_t> shards;  // nullopt: there is no snapshot
};

absl::StatusOr<LogStart> ReadLogStart(const DataDirectory& directory, uint64_t number) {
  if (number == 0) return LogStart{};
  const std::string path = directory.SnapshotPath(number);
  LS_ASSIGN_OR_RETURN(const LoadedSnapshot head, ReadSnapshotHead(directory.calls(), path));
  const std::optional<Definitions> definitions = DefinitionsIn(head.content.definitions);
  if (!definitions) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " has definitions that this version does not know, or that nobody wrote"));
  }
  return LogStart{PositionsBehind(head, *definitions), head.run,
                  static_cast<uint32_t>(head.positions.size())};
}

// The returns of one log behind `head`. `earliest`: the earliest snapshot that one of them needs.
absl::Status GatherReturns(const LogReaderOptions& options, const LogStart& head,
                           shard::UndoneSteps& undone, uint64_t& earliest) {
  LogReader reader(options);
  LS_RETURN_IF_ERROR(reader.Open());
  LogRecord record;
  while (true) {
    LS_ASSIGN_OR_RETURN(const bool more, reader.Next(record));
    if (!more) return absl::OkStatus();
    if (record.kind != RecordKind::kBarrier) continue;
    const auto barrier = commitlog::DecodeBarrier(record.bytes);
    const auto said = barrier ? DecodeBarrierPayload(barrier->payload) : std::nullopt;
    if (!said || !said->back || said->back->mark == 0) continue;
    // Of a log that the snapshot's engine did not have any more: it is from before.
    const bool is_behind = !head.shards || options.shard < *head.shards ||
                           barrier->step >> commitlog::kRunShift > head.run;
    if (!is_behind) continue;
    undone.Add(said->back->mark, barrier->step);
    earliest = std::min(earliest, said->back->base_snapshot);
  }
}

}  // namespace

std::map<uint32_t, uint64_t> PositionsBehind(const LoadedSnapshot& snapshot,
                                             const Definitions& definitions) {
  std::map<uint32_t, uint64_t> positions = definitions.old_logs;
  for (size_t shard = 0; shard < snapshot.positions.size(); ++shard) {
    // Without a log the snapshot says 0.
    uint64_t& position = positions[static_cast<uint32_t>(shard)];
    position = std::max(position, snapshot.positions[shard]);
  }
  return positions;
}

absl::StatusOr<RecoveryStart> FindRecoveryStart(const DataDirectory& directory,
                                                bool goes_on_behind_damage) {
  RecoveryStart start;
  LS_ASSIGN_OR_RETURN(const std::vector<uint64_t> snapshots, directory.Snapshots());
  if (!snapshots.empty()) start.snapshot = snapshots.back();
  LS_ASSIGN_OR_RETURN(const bool is_marked, directory.IsMarked());
  if (!is_marked) return start;
  LS_ASSIGN_OR_RETURN(const std::vector<commitlog::LogFiles> logs,
                      commitlog::ListLogs(directory.calls(), directory.path()));
  while (true) {
    LS_ASSIGN_OR_RETURN(const LogStart head, ReadLogStart(directory, start.snapshot));
    start.undone = {};
    uint64_t earliest = start.snapshot;
    for (const commitlog::LogFiles& log : logs) {
      LogReaderOptions options;
      options.calls = &directory.calls();
      options.directory = directory.path();
      options.shard = log.shard;
      options.go_on_behind_damage = goes_on_behind_damage;
      if (const auto at = head.positions.find(log.shard); at != head.positions.end()) {
        options.from = at->second;
      }
      LS_RETURN_IF_ERROR(GatherReturns(options, head, start.undone, earliest));
    }
    if (earliest == start.snapshot) return start;
    if (earliest != 0 && std::ranges::find(snapshots, earliest) == snapshots.end()) {
      return absl::DataLossError(absl::StrCat(directory.SnapshotPath(earliest),
                                              " is missing: what came behind it was undone by a "
                                              "reset, and snapshot ",
                                              start.snapshot, " has it"));
    }
    start.snapshot = earliest;
  }
}

}  // namespace liststore::durable
