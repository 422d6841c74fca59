#include "engine/durable/recovery.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/commitlog/log_directory.h"
#include "engine/commitlog/log_reader.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/commitlog/record_source.h"
#include "engine/durable/definitions.h"
#include "engine/durable/full_snapshot.h"
#include "engine/durable/log_returns.h"
#include "engine/durable/table_numbers.h"
#include "engine/shard/replay.h"

namespace liststore::durable {
namespace {

using commitlog::LogReader;
using commitlog::LogReaderOptions;
using commitlog::LogRecord;

// How far all logs are. Any thread.
class Progress {
 public:
  explicit Progress(const std::function<void(std::string_view)>& say) : say_(say) {}

  void Note(uint32_t shard, uint64_t done, uint64_t total) {
    if (!say_) return;
    const MutexLock lock(mutex_);
    logs_[shard] = {done, total};
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(1);
    uint64_t all_done = 0;
    uint64_t all = 0;
    for (const auto& [of, bytes] : logs_) {
      all_done += bytes.first;
      all += bytes.second;
    }
    say_(absl::StrCat("reads the commit log: ", all_done >> 20, " of ", all >> 20, " MiB"));
  }

 private:
  const std::function<void(std::string_view)>& say_;
  Mutex mutex_;
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> logs_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point next_ ABSL_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

// What was found of one log. Written by the one thread that reads it.
struct LogEnd {
  bool is_read = false;
  uint64_t end = 0;
  uint32_t run = 0;
  commitlog::LogVerdict verdict;
};

class LogSource final : public commitlog::RecordSource {
 public:
  LogSource(const LogReaderOptions& options, Progress& progress, LogEnd& end)
      : shard_(options.shard), reader_(options), progress_(progress), end_(end) {}

  absl::Status Open() { return reader_.Open(); }

  absl::StatusOr<bool> Next(LogRecord& record) override {
    constexpr uint64_t kRecordsBetweenLooks = 4096;
    if (++records_ % kRecordsBetweenLooks == 0) {
      progress_.Note(shard_, reader_.bytes_done(), reader_.bytes_total());
    }
    LS_ASSIGN_OR_RETURN(const bool more, reader_.Next(record));
    if (!more) {
      end_ = {true, reader_.end(), static_cast<uint32_t>(reader_.last_run()), reader_.verdict()};
    }
    return more;
  }

 private:
  const uint32_t shard_;
  LogReader reader_;
  Progress& progress_;
  LogEnd& end_;
  uint64_t records_ = 0;
};

// Changes go to who makes them, and numbers are kept by the way.
class NumberingSink final : public shard::ReplaySink {
 public:
  NumberingSink(shard::Engine& engine, RecoverySink& sink, Recovered& recovered)
      : engine_(engine), sink_(sink), recovered_(recovered) {}

  absl::Status Make(const SchemaChangeRecord& change) {
    LS_RETURN_IF_ERROR(sink_.OnChange(change));
    recovered_.history.Add(change);
    return absl::OkStatus();
  }

  void Begin(std::span<const NumberedTable> tables) { numbers_.Begin(tables); }
  shard::RecordedTables Tables() { return numbers_.In(*engine_.catalog().snapshot()); }

  absl::Status OnBarrier(std::string_view payload, shard::RecordedTables& tables) override {
    const std::optional<Barrier> barrier = DecodeBarrierPayload(payload);
    if (!barrier) {
      return absl::DataLossError("the commit log has a change of the schema that nobody wrote");
    }
    if (barrier->is_mark) return absl::OkStatus();
    if (barrier->back) {
      LS_RETURN_IF_ERROR(GoBack(*barrier->back));
      numbers_.Begin(barrier->back->numbers);
    } else if (barrier->numbers) {
      numbers_.Begin(*barrier->numbers);
    } else {
      LS_RETURN_IF_ERROR(Make(barrier->change));
      numbers_.Add(barrier->change);
    }
    tables = Tables();
    return absl::OkStatus();
  }

  absl::Status OnEvent(std::string_view payload) override { return sink_.OnEvent(payload); }

 private:
  // What lies behind the mark has been passed by.
  absl::Status GoBack(const ReturnRecord& back) {
    if (back.mark != 0 && !recovered_.is_marked) {
      return absl::DataLossError(
          "the commit log has a reset, and the file MARKED, which says that there are such, is "
          "missing");
    }
    LS_RETURN_IF_ERROR(sink_.OnReturn(/*to_nothing=*/back.mark == 0));
    if (back.mark == 0) recovered_.history = {};
    for (const std::string& event : back.events) LS_RETURN_IF_ERROR(sink_.OnEvent(event));
    return absl::OkStatus();
  }

  shard::Engine& engine_;
  RecoverySink& sink_;
  Recovered& recovered_;
  TableNumbers numbers_;
};

std::string VerdictText(uint32_t shard, const commitlog::LogVerdict& verdict) {
  std::string text = absl::StrFormat("log %04d: %d segments, %d records, %d bytes", shard,
                                     verdict.segments, verdict.records, verdict.record_bytes);
  if (verdict.torn_bytes > 0) {
    absl::StrAppend(&text, "; its end was cut off and is left out: ", verdict.torn_bytes,
                    " bytes: ", verdict.torn_text);
  }
  for (const commitlog::LogDamage& damage : verdict.damages) {
    absl::StrAppend(&text, "; DAMAGED: ", damage.text);
  }
  return text;
}

// The log positions from which on there is more than in it.
struct Loaded {
  LoadedSnapshot snapshot;
  std::map<uint32_t, uint64_t> positions;
};

absl::StatusOr<Loaded> Load(disk::FileCalls& calls, const std::string& path, shard::Engine& engine,
                            const RecoveryOptions& options, NumberingSink& sink,
                            Recovered& recovered) {
  const auto begun = std::chrono::steady_clock::now();
  Loaded loaded;
  Definitions of_file;
  const auto define = [&](const SnapshotContent& content) -> absl::StatusOr<shard::RecordedTables> {
    std::optional<Definitions> definitions = DefinitionsIn(content.definitions);
    if (!definitions) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, " has definitions that this version does not know, or that nobody wrote"));
    }
    for (const SchemaChangeRecord& change : definitions->changes) {
      LS_RETURN_IF_ERROR(sink.Make(change));
    }
    for (const std::string& event : definitions->events) {
      LS_RETURN_IF_ERROR(sink.OnEvent(event));
    }
    recovered.last_run = definitions->last_run;
    sink.Begin(definitions->numbers);
    of_file = *std::move(definitions);
    return sink.Tables();
  };
  LS_ASSIGN_OR_RETURN(loaded.snapshot,
                      LoadSnapshot(calls, path, engine, define, std::max(options.threads, 1u)));
  loaded.positions = PositionsBehind(loaded.snapshot, of_file);
  if (options.say) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    options.say(absl::StrFormat("loaded %s: %d rows of %d partitions in %.2f s", path,
                                loaded.snapshot.rows, loaded.snapshot.partitions, took.count()));
  }
  return loaded;
}

// What records of the schema say of the dialect in which they were made.
class DialectsSaid {
 public:
  void Note(const SchemaChangeRecord& change) {
    if (!change.dialect.empty()) names_.insert(change.dialect);
  }
  void Say(const std::function<void(std::string_view line)>& say) const {
    for (const std::string& name : names_) {
      say(ToStd(absl::StrCat("the schema was made like ", name)));
    }
  }

 private:
  std::set<std::string> names_;
};

}  // namespace

absl::StatusOr<Recovered> RecoverFrom(const std::string& snapshot_path, disk::FileCalls& calls,
                                      shard::Engine& engine, RecoverySink& sink,
                                      const RecoveryOptions& options) {
  Recovered recovered;
  NumberingSink numbering(engine, sink, recovered);
  LS_RETURN_IF_ERROR(Load(calls, snapshot_path, engine, options, numbering, recovered).status());
  recovered.last_run = 0;
  return recovered;
}

absl::Status WithAdvice(const absl::Status& status, const std::string& directory) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::DataLossError(absl::StrCat(status.message(), "; liststore check ", directory,
                                          " says what there is, liststore recover ", directory,
                                          " goes on without"));
}

absl::StatusOr<Recovered> Recover(const DataDirectory& directory, shard::Engine& engine,
                                  RecoverySink& sink, const RecoveryOptions& options) {
  Recovered recovered;
  NumberingSink numbering(engine, sink, recovered);
  LS_ASSIGN_OR_RETURN(const std::vector<commitlog::LogFiles> files,
                      commitlog::ListLogs(directory.calls(), directory.path()));
  LS_ASSIGN_OR_RETURN(const std::vector<uint64_t> snapshots, directory.Snapshots());
  if (!snapshots.empty()) recovered.newest_snapshot = snapshots.back();
  LS_ASSIGN_OR_RETURN(recovered.is_marked, directory.IsMarked());
  LS_ASSIGN_OR_RETURN(const RecoveryStart start,
                      FindRecoveryStart(directory, options.goes_on_behind_damage));
  recovered.snapshot = start.snapshot;
  Loaded loaded;
  if (start.snapshot != 0) {
    LS_ASSIGN_OR_RETURN(loaded, Load(directory.calls(), directory.SnapshotPath(start.snapshot),
                                     engine, options, numbering, recovered));
    recovered.log_ends = loaded.positions;
  }
  const auto begun = std::chrono::steady_clock::now();
  Progress progress(options.say);
  std::vector<LogEnd> ends(files.size());
  std::vector<shard::ReplayedLog> logs;
  for (size_t i = 0; i < files.size(); ++i) {
    LogReaderOptions reader;
    reader.calls = &directory.calls();
    reader.directory = directory.path();
    reader.shard = files[i].shard;
    const auto at = loaded.positions.find(files[i].shard);
    if (at != loaded.positions.end()) reader.from = at->second;
    reader.go_on_behind_damage = options.goes_on_behind_damage;
    logs.push_back({files[i].shard,
                    [reader, &progress,
                     end = &ends[i]]() -> absl::StatusOr<std::unique_ptr<commitlog::RecordSource>> {
                      auto source = std::make_unique<LogSource>(reader, progress, *end);
                      LS_RETURN_IF_ERROR(source->Open());
                      return source;
                    }});
  }
  shard::RecordedTables tables = numbering.Tables();
  LS_ASSIGN_OR_RETURN(
      const shard::ReplayResult result,
      shard::ReplayLogs(engine, tables, logs, numbering,
                        start.snapshot == 0 ? nullptr : &loaded.snapshot.copied, start.undone));
  for (size_t i = 0; i < files.size(); ++i) {
    uint64_t& end = recovered.log_ends[files[i].shard];
    end = std::max(end, ends[i].end);
    recovered.last_run = std::max(recovered.last_run, ends[i].run);
    recovered.is_damaged |= !ends[i].verdict.damages.empty();
    if (options.say) options.say(VerdictText(files[i].shard, ends[i].verdict));
  }
  recovered.last_run = std::max(recovered.last_run, result.last_run);
  if (options.say && (!files.empty() || recovered.snapshot != 0)) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    options.say(absl::StrFormat(
        "recovered %d writes, %d changes of the schema and %d truncations in %.2f s%s",
        result.writes, result.barriers, result.truncations, took.count(),
        (result.undone == 0 ? std::string()
                            : absl::StrCat("; ", result.undone, " records were undone by resets")) +
            (result.batches_cut == 0 ? std::string()
                                     : absl::StrCat("; ", result.batches_cut,
                                                    " batches that were not written down whole are "
                                                    "left out, nobody was told of them"))));
  }
  return recovered;
}

absl::StatusOr<bool> CheckDirectory(const DataDirectory& directory,
                                    const std::function<void(std::string_view line)>& say) {
  bool is_whole = true;
  DialectsSaid dialects;
  LS_ASSIGN_OR_RETURN(const std::vector<uint64_t> snapshots, directory.Snapshots());
  std::map<uint64_t, std::map<uint32_t, uint64_t>> positions_of;  // by snapshot
  for (const uint64_t number : snapshots) {
    const std::string path = directory.SnapshotPath(number);
    const absl::StatusOr<LoadedSnapshot> checked = CheckSnapshot(directory.calls(), path);
    if (checked.ok()) {
      if (const auto known = DefinitionsIn(checked->content.definitions)) {
        positions_of[number] = PositionsBehind(*checked, *known);
        for (const SchemaChangeRecord& change : known->changes) dialects.Note(change);
      }
      say(absl::StrFormat("snapshot %d: %d rows of %d partitions, %d bytes", number, checked->rows,
                          checked->partitions, checked->bytes));
    } else if (absl::IsDataLoss(checked.status())) {
      is_whole = false;
      say(ToStd(absl::StrCat("snapshot ", number, ": DAMAGED: ", checked.status().message())));
    } else {
      return checked.status();
    }
  }
  // A damaged one has been said, and the logs are read from its positions where its head is whole.
  const absl::StatusOr<RecoveryStart> start =
      FindRecoveryStart(directory, /*goes_on_behind_damage=*/true);
  if (!start.ok() && !absl::IsDataLoss(start.status())) return start.status();
  if (!start.ok()) {
    is_whole = false;
    say(ToStd(absl::StrCat("DAMAGED: ", start.status().message())));
  }
  const std::map<uint32_t, uint64_t> positions =
      start.ok() ? positions_of[start->snapshot] : std::map<uint32_t, uint64_t>();
  LS_ASSIGN_OR_RETURN(const std::vector<commitlog::LogFiles> files,
                      commitlog::ListLogs(directory.calls(), directory.path()));
  for (const commitlog::LogFiles& file : files) {
    LogReaderOptions options;
    options.calls = &directory.calls();
    options.directory = directory.path();
    options.shard = file.shard;
    if (const auto at = positions.find(file.shard); at != positions.end()) {
      options.from = at->second;
    }
    options.go_on_behind_damage = true;
    LogReader reader(options);
    LS_RETURN_IF_ERROR(reader.Open());
    LogRecord record;
    while (true) {
      LS_ASSIGN_OR_RETURN(const bool more, reader.Next(record));
      if (!more) break;
      if (record.kind != commitlog::RecordKind::kBarrier) continue;
      const auto barrier = commitlog::DecodeBarrier(record.bytes);
      const auto said = barrier ? DecodeBarrierPayload(barrier->payload) : std::nullopt;
      if (said) dialects.Note(said->change);
    }
    is_whole = is_whole && reader.verdict().damages.empty();
    say(VerdictText(file.shard, reader.verdict()));
  }
  dialects.Say(say);
  return is_whole;
}

}  // namespace liststore::durable
