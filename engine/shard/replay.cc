#include "engine/shard/replay.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/base/worker_thread.h"
#include "engine/command/status_conversion.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/model/partition_key.h"

namespace liststore::shard {
namespace {

using commitlog::LogRecord;
using commitlog::RecordKind;

constexpr uint64_t kAtEnd = std::numeric_limits<uint64_t>::max();
// Instants of writes are read before the lane is taken: of two records the later one may have the
// earlier one, by no more than this.
constexpr int64_t kClockDisorderSeconds = 60;

absl::Status BadRecord(uint32_t shard, const LogRecord& record, const std::string& why) {
  return absl::DataLossError(absl::StrCat("commit log of shard ", shard,
                                          ": the record at position ", record.begin, " ", why));
}

// Which batches of several logs are whole.
class WholeBatches {
 public:
  void Note(uint64_t batch, uint32_t logs) { parts_.push_back({batch, logs}); }
  void Take(WholeBatches& other) {
    parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
    other.parts_ = {};
  }
  // Behind the last Note; leaves those that are not.
  void Decide() {
    std::ranges::sort(parts_, {}, &Part::batch);
    for (size_t at = 0; at < parts_.size();) {
      size_t end = at;
      while (end < parts_.size() && parts_[end].batch == parts_[at].batch) ++end;
      if (end - at == parts_[at].logs) {
        ++whole_;
      } else {
        cut_.push_back(parts_[at].batch);
      }
      at = end;
    }
    parts_ = {};
  }
  bool IsWhole(uint64_t batch) const { return !std::ranges::binary_search(cut_, batch); }
  size_t whole() const { return whole_; }
  size_t cut() const { return cut_.size(); }

 private:
  struct Part {
    uint64_t batch;
    uint32_t logs;
  };
  std::vector<Part> parts_;
  std::vector<uint64_t> cut_;  // ascending
  size_t whole_ = 0;
};

// What a run has written down may be in the snapshot: it took it, or came before. A later one may have
// begun at an earlier position, where the disk had lost what was behind it.
bool MayBeCopied(const CopiedParts* copied, uint32_t run) {
  return copied != nullptr && run <= copied->run();
}

// Where the logs wait for each other.
class Steps {
 public:
  explicit Steps(size_t logs) : logs_(logs) {}

  // The log has come to a step, whose record ends at `position`. The last one that the step waits for does
  // `run(positions)`, by log: kAtEnd where the log does not have it. Not OK: the replay has ended.
  absl::Status Pass(size_t log, uint64_t step, uint64_t position,
                    absl::FunctionRef<absl::Status(std::span<const uint64_t>)> run) {
    std::unique_lock lock(mutex_);
    logs_[log] = {step, position};
    // One that waits at an earlier step, which this log does not have, may have waited for it.
    changed_.notify_all();
    while (status_.ok() && done_ < step) {
      if (std::ranges::all_of(logs_, [&](const At& at) { return at.step >= step; })) {
        std::vector<uint64_t> positions;
        for (const At& at : logs_) positions.push_back(at.step == step ? at.position : kAtEnd);
        status_ = run(positions);
        if (!status_.ok()) failed_.store(true, std::memory_order_relaxed);
        done_ = step;
        changed_.notify_all();
        break;
      }
      changed_.wait(lock);
    }
    logs_[log] = {};
    return status_;
  }
  bool IsPast(uint64_t step) {
    const std::lock_guard lock(mutex_);
    return step <= done_;
  }
  void End(size_t log, const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    logs_[log] = {kAtEnd, kAtEnd};
    if (status_.ok() && !status.ok()) status_ = status;
    if (!status.ok()) failed_.store(true, std::memory_order_relaxed);
    changed_.notify_all();
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  absl::Status status() {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  struct At {
    uint64_t step = 0;  // 0: between steps
    uint64_t position = 0;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<At> logs_;
  uint64_t done_ = 0;
  absl::Status status_;
  std::atomic<bool> failed_{false};
};

// What the threads of a replay share.
struct Shared {
  Shared(Engine& of_engine, RecordedTables& of_tables, ReplaySink& of_sink,
         const CopiedParts* of_copied, const UndoneSteps& of_undone,
         std::span<const ReplayedLog> of_logs)
      : engine(of_engine),
        tables(of_tables),
        sink(of_sink),
        copied(of_copied),
        undone(of_undone),
        logs(of_logs),
        steps(of_logs.size()),
        now_seconds(of_logs.size()) {}

  Engine& engine;
  RecordedTables& tables;
  ReplaySink& sink;
  const CopiedParts* const copied;
  const UndoneSteps& undone;
  const std::span<const ReplayedLog> logs;
  Steps steps;
  WholeBatches batches;
  Mutex sink_mutex;
  Mutex result_mutex;
  // How far each log has come in time; those that have ended: at the end.
  std::vector<std::atomic<int64_t>> now_seconds;

  // Before this no record is to come.
  int64_t NowOfAll() const {
    int64_t now = std::numeric_limits<int64_t>::max();
    for (const auto& of_log : now_seconds) {
      now = std::min(now, of_log.load(std::memory_order_relaxed));
    }
    return std::max<int64_t>(now - kClockDisorderSeconds, 0);
  }
};

// The records of a log that are behind the snapshot, and that nothing has undone. Those of a shard that the engine
// of the snapshot did not have are of runs before it, which had more shards, up to the first barrier of a run
// behind it.
class RecordsBehind {
 public:
  RecordsBehind(commitlog::RecordSource& source, const Shared& shared, uint32_t shard)
      : source_(source),
        copied_(shared.copied),
        undone_(shared.undone),
        skips_(copied_ != nullptr && shard >= copied_->logs()) {}

  absl::StatusOr<bool> Next(LogRecord& record) {
    while (true) {
      LS_ASSIGN_OR_RETURN(const bool more, source_.Next(record));
      if (!more) return false;
      if (skips_ && !IsBehind(record)) continue;
      if (!IsUndone(record)) return true;
      ++undone_records_;
    }
  }
  uint64_t undone_records() const { return undone_records_; }

 private:
  // It is the barrier of a later run.
  bool IsBehind(const LogRecord& record) {
    if (record.kind != RecordKind::kBarrier) return false;
    const auto barrier = commitlog::DecodeBarrier(record.bytes);
    skips_ = barrier && barrier->step >> commitlog::kRunShift <= copied_->run();
    return !skips_;
  }
  // Events stand in no order with what was undone: a return says again what they are about.
  bool IsUndone(const LogRecord& record) {
    if (undone_.empty() || record.kind == RecordKind::kEvent) return false;
    uint64_t step = 0;
    if (record.kind == RecordKind::kBarrier) {
      const auto barrier = commitlog::DecodeBarrier(record.bytes);
      if (barrier) step = barrier->step;
    } else if (record.kind == RecordKind::kTruncate) {
      const auto truncation = commitlog::DecodeTruncation(record.bytes);
      if (truncation) step = truncation->step;
    }
    if (step == 0) return lies_in_undone_;
    lies_in_undone_ = undone_.HasBehind(step);
    return undone_.Has(step);
  }

  commitlog::RecordSource& source_;
  const CopiedParts* const copied_;
  const UndoneSteps& undone_;
  bool skips_;
  bool lies_in_undone_ = false;
  uint64_t undone_records_ = 0;
};

// One log.
class OneLog {
 public:
  OneLog(Shared& shared, size_t number)
      : shared_(shared), log_(shared.logs[number]), number_(number) {}

  absl::Status Run() {
    LS_ASSIGN_OR_RETURN(const auto source, log_.open());
    RecordsBehind records(*source, shared_, log_.shard);
    LogRecord record;
    while (!shared_.steps.failed()) {
      LS_ASSIGN_OR_RETURN(const bool more, records.Next(record));
      if (!more) break;
      result_.bytes += record.bytes.size();
      LS_RETURN_IF_ERROR(Take(record));
    }
    result_.undone = records.undone_records();
    return Flush();
  }

  // The first of two readings: which parts of batches there are.
  absl::Status NoteBatches(WholeBatches& batches) const {
    LS_ASSIGN_OR_RETURN(const auto source, log_.open());
    RecordsBehind records(*source, shared_, log_.shard);
    LogRecord record;
    while (true) {
      LS_ASSIGN_OR_RETURN(const bool more, records.Next(record));
      if (!more) return absl::OkStatus();
      if (record.kind != RecordKind::kBatchPart) continue;
      const auto part = commitlog::BatchPartReader::Open(record.bytes);
      if (!part) return BadRecord(log_.shard, record, "is no part of a batch");
      if (part->logs() > 1) batches.Note(part->batch(), part->logs());
    }
  }

  void AddTo(ReplayResult& all) const {
    all.writes += result_.writes;
    all.in_snapshot += result_.in_snapshot;
    all.undone += result_.undone;
    all.truncations += result_.truncations;
    all.barriers += result_.barriers;
    all.events += result_.events;
    all.bytes += result_.bytes;
    all.last_run = std::max(all.last_run, result_.last_run);
    all.last_now_seconds = std::max(all.last_now_seconds, result_.last_now_seconds);
  }

 private:
  // So many writes are looked up together, so that their cache misses overlap.
  static constexpr size_t kGroupSize = 16;
  // With more the next ones wait; a slot that had more than some keeps none of it.
  static constexpr size_t kGroupBytesMax = size_t{1} << 20;
  static constexpr size_t kKeptBytesMax = size_t{64} << 10;
  struct Slot {
    std::string bytes;
    commitlog::WriteDecoder decoder;
    commitlog::RecordedWrite write;
    TableId table;
    Engine::Destination to;
    uint64_t begin = 0;
  };

  absl::Status Take(const LogRecord& record) {
    switch (record.kind) {
      case RecordKind::kWrite:
        return TakeWrite(record, record.bytes);
      case RecordKind::kBatchPart:
        return TakePart(record);
      case RecordKind::kTruncate:
        return TakeTruncation(record);
      case RecordKind::kBarrier:
        return TakeBarrier(record);
      case RecordKind::kEvent: {
        ++result_.events;
        const MutexLock lock(shared_.sink_mutex);
        return shared_.sink.OnEvent(record.bytes);
      }
    }
    return BadRecord(log_.shard, record, "is of an unknown kind");
  }

  absl::Status TakeWrite(const LogRecord& record, std::string_view bytes) {
    Slot& slot = slots_[waiting_];
    slot.bytes.assign(bytes);
    slot.begin = record.begin;
    commitlog::RecordedWrite& write = slot.write;
    if (!slot.decoder.Decode(slot.bytes, write)) {
      return BadRecord(log_.shard, record, "is no write");
    }
    const int64_t now_seconds = write.write.now_seconds;
    if (now_seconds > result_.last_now_seconds) {
      result_.last_now_seconds = now_seconds;
      shared_.now_seconds[number_].store(now_seconds, std::memory_order_relaxed);
    }
    if (MayBeCopied(shared_.copied, result_.last_run) &&
        shared_.copied->MayHave(log_.shard, record.end) &&
        shared_.copied->Has(log_.shard, record.end, write.table, write.partition_key)) {
      ++result_.in_snapshot;
      return absl::OkStatus();
    }
    const std::optional<TableId> table = shared_.tables.Find(write.table);
    if (!table) {
      return BadRecord(log_.shard, record,
                       absl::StrCat("writes to table ", write.table.value, " of generation ",
                                    write.table.generation, ", which no barrier has named"));
    }
    slot.table = *table;
    slot.to = shared_.engine.Foresee(*table, write.partition_key);
    ++result_.writes;
    waiting_bytes_ += slot.bytes.size();
    return ++waiting_ == kGroupSize || waiting_bytes_ > kGroupBytesMax ? Flush() : absl::OkStatus();
  }

  absl::Status TakePart(const LogRecord& record) {
    auto part = commitlog::BatchPartReader::Open(record.bytes);
    if (!part) return BadRecord(log_.shard, record, "is no part of a batch");
    NoteRun(part->batch());
    if (part->logs() > 1 && (shared_.logs.size() == 1 || !shared_.batches.IsWhole(part->batch()))) {
      return absl::OkStatus();
    }
    for (std::string_view write; part->Next(write);) {
      LS_RETURN_IF_ERROR(TakeWrite(record, write));
    }
    return absl::OkStatus();
  }

  // Writes that wait are applied.
  absl::Status Flush() {
    std::array<uint64_t, kGroupSize> hints;
    for (size_t i = 0; i < waiting_; ++i) {
      hints[i] = shared_.engine.HintForWrite(slots_[i].table, slots_[i].to);
    }
    for (size_t i = 0; i < waiting_; ++i) Engine::FetchForWrite(hints[i]);
    const size_t count = std::exchange(waiting_, 0);
    waiting_bytes_ = 0;
    for (size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[i];
      const absl::Cleanup forget = [&slot] {
        if (slot.bytes.capacity() > kKeptBytesMax) slot = Slot();
      };
      OpStatus status = shared_.engine.Replay(slot.write, slot.table, slot.to);
      if (status == OpStatus::kOutOfMemory || status == OpStatus::kTooLarge) [[unlikely]] {
        const int64_t now = shared_.NowOfAll();
        status = shared_.engine.ReplayWithRoom(slot.write, slot.table, slot.to,
                                               static_cast<uint64_t>(now) * 1'000'000'000u);
      }
      if (status == OpStatus::kOk) [[likely]]
        continue;
      const absl::Status why = ToStatus(status, shared_.engine.memory_refusal());
      return {why.code(),
              absl::StrCat("commit log of shard ", log_.shard, ": the write at position ",
                           slot.begin, ": ", why.message())};
    }
    return absl::OkStatus();
  }

  absl::Status TakeTruncation(const LogRecord& record) {
    const auto truncation = commitlog::DecodeTruncation(record.bytes);
    if (!truncation) return BadRecord(log_.shard, record, "is no truncation");
    LS_RETURN_IF_ERROR(CheckStep(record, truncation->step));
    return Pass(truncation->step, record.end, [&](std::span<const uint64_t> positions) {
      ++result_.truncations;
      return Truncate(*truncation, positions);
    });
  }

  absl::Status TakeBarrier(const LogRecord& record) {
    const auto barrier = commitlog::DecodeBarrier(record.bytes);
    if (!barrier) return BadRecord(log_.shard, record, "is no barrier");
    LS_RETURN_IF_ERROR(CheckStep(record, barrier->step));
    return Pass(barrier->step, record.end, [&](std::span<const uint64_t>) -> absl::Status {
      ++result_.barriers;
      const MutexLock lock(shared_.sink_mutex);
      return shared_.sink.OnBarrier(barrier->payload, shared_.tables);
    });
  }

  absl::Status Pass(uint64_t step, uint64_t position,
                    absl::FunctionRef<absl::Status(std::span<const uint64_t>)> run) {
    // What it has behind the step is later than what the others have before it: their room is made as of
    // their time.
    std::atomic<int64_t>& now = shared_.now_seconds[number_];
    const int64_t before = now.exchange(std::numeric_limits<int64_t>::max());
    const absl::Status status = shared_.steps.Pass(number_, step, position, run);
    now.store(before);
    return status;
  }

  absl::Status CheckStep(const LogRecord& record, uint64_t step) {
    LS_RETURN_IF_ERROR(Flush());
    NoteRun(step);
    if (step == 0 || step == kAtEnd || shared_.steps.IsPast(step)) {
      return BadRecord(log_.shard, record, "is a step out of its turn");
    }
    return absl::OkStatus();
  }

  // Every log has come to it. `positions`: by number of the log.
  absl::Status Truncate(const commitlog::RecordedTruncation& truncation,
                        std::span<const uint64_t> positions);

  void NoteRun(uint64_t number) {
    result_.last_run =
        std::max(result_.last_run, static_cast<uint32_t>(number >> commitlog::kRunShift));
  }

  Shared& shared_;
  const ReplayedLog& log_;
  const size_t number_;
  std::array<Slot, kGroupSize> slots_;
  size_t waiting_ = 0;
  size_t waiting_bytes_ = 0;
  ReplayResult result_;
};

absl::Status OneLog::Truncate(const commitlog::RecordedTruncation& truncation,
                              std::span<const uint64_t> positions) {
  // A table of which nothing is written down, or that is gone.
  const std::optional<TableId> table = shared_.tables.Find(truncation.table);
  if (!table) return absl::OkStatus();
  const bool may_be_copied =
      MayBeCopied(shared_.copied, static_cast<uint32_t>(truncation.step >> commitlog::kRunShift));
  const CopiedParts* const copied = may_be_copied ? shared_.copied : nullptr;
  const auto& component = truncation.component;
  OpStatus status = OpStatus::kOk;
  // A piece of any log may have been copied behind it.
  bool has_piece_behind = false;
  for (size_t i = 0; i < positions.size() && copied != nullptr; ++i) {
    has_piece_behind |= copied->MayHave(shared_.logs[i].shard, positions[i]);
  }
  if (!has_piece_behind) {
    status = component ? shared_.engine.TruncateFirstComponent(*table, *component)
                       : shared_.engine.TruncateTable(*table);
  } else {
    // It came while the snapshot was taken: pieces that were copied behind it have had it.
    std::map<uint32_t, uint64_t> of_shard;
    for (size_t i = 0; i < positions.size(); ++i) of_shard[shared_.logs[i].shard] = positions[i];
    status = shared_.engine.DropPartitions(*table, [&](std::string_view key) {
      if (component && FirstComponent(key) != *component) return false;
      const auto place = copied->Find(truncation.table, key);
      if (!place) return true;
      const auto at = of_shard.find(place->log);
      return at == of_shard.end() || place->position < at->second;
    });
  }
  return status == OpStatus::kOk || status == OpStatus::kTableGone
             ? absl::OkStatus()
             : ToStatus(status, shared_.engine.memory_refusal());
}

// Runs `work(i)` for each log, on threads of their own but for the first. What the heap refuses is an error
// there. `abandon(i, why)`: of those that have no thread, before the others are waited for.
absl::Status ForEachLog(size_t logs, absl::FunctionRef<absl::Status(size_t)> work,
                        absl::FunctionRef<void(size_t, const absl::Status&)> abandon) {
  std::vector<absl::Status> statuses(logs);
  const auto run = [&](size_t i) {
    try {
      statuses[i] = work(i);
    } catch (const std::bad_alloc&) {
      statuses[i] = HeapRefused();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < logs; ++i) {
    absl::StatusOr<std::thread> thread = StartThread("replay", [&run, i] { run(i); });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {
      statuses[i] = thread.status();
      abandon(i, statuses[i]);
    }
  }
  run(0);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) LS_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReplayResult> ReplayLogs(Engine& engine, RecordedTables& tables,
                                        std::span<const ReplayedLog> logs, ReplaySink& sink,
                                        const CopiedParts* copied, const UndoneSteps& undone) {
  LS_CHECK(!engine.keeps_log(), "what comes out of logs is not written down again");
  if (logs.empty()) return ReplayResult{};
  Shared shared(engine, tables, sink, copied, undone, logs);
  if (logs.size() > 1) {
    std::vector<WholeBatches> batches(logs.size());
    LS_RETURN_IF_ERROR(ForEachLog(
        logs.size(), [&](size_t i) { return OneLog(shared, i).NoteBatches(batches[i]); },
        [](size_t, const absl::Status&) {}));
    for (WholeBatches& of_log : batches) shared.batches.Take(of_log);
    shared.batches.Decide();
  }
  ReplayResult result;
  const auto replay = [&](size_t i) {
    const auto one = std::make_unique<OneLog>(shared, i);
    const absl::Status status = one->Run();
    const MutexLock lock(shared.result_mutex);
    one->AddTo(result);
    return status;
  };
  const auto end = [&](size_t i, const absl::Status& status) {
    shared.now_seconds[i].store(std::numeric_limits<int64_t>::max(), std::memory_order_relaxed);
    shared.steps.End(i, status);
  };
  LS_RETURN_IF_ERROR(ForEachLog(
      logs.size(),
      [&](size_t i) {
        absl::Status status;
        try {
          status = replay(i);
        } catch (const std::bad_alloc&) {
          status = HeapRefused();
        }
        end(i, status);
        return status;
      },
      end));
  result.batches = shared.batches.whole();
  result.batches_cut = shared.batches.cut();
  return result;
}

}  // namespace liststore::shard
