#include "engine/durable/log_set.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore::durable {

using commitlog::LogMode;
using commitlog::ShardLog;

LogSet::LogSet(const LogSetOptions& options)
    : mode_(options.log.mode), on_refusal_(options.on_refusal), loops_(options.loops) {}

LogSet::~LogSet() = default;

absl::StatusOr<std::unique_ptr<LogSet>> LogSet::Open(const LogSetOptions& options) {
  std::unique_ptr<LogSet> set(new LogSet(options));
  for (uint32_t shard = 0; shard < options.positions.size(); ++shard) {
    commitlog::ShardLogOptions of_log = options.log;
    of_log.shard = shard;
    of_log.shards = static_cast<uint32_t>(options.positions.size());
    of_log.position = options.positions[shard];
    of_log.listener = set.get();
    LS_ASSIGN_OR_RETURN(auto log, ShardLog::Open(of_log));
    set->logs_.push_back(std::move(log));
  }
  return set;
}

std::vector<commitlog::WriteLog*> LogSet::logs() const {
  std::vector<commitlog::WriteLog*> logs;
  for (const auto& log : logs_) logs.push_back(log.get());
  return logs;
}

bool LogSet::IsKept(const LogPositions& positions) const {
  for (size_t i = 0; i < positions.size(); ++i) {
    if (KeptOf(*logs_[i]) < positions[i]) return false;
  }
  return true;
}

uint64_t LogSet::Enter(uint32_t number) {
  Loop& loop = loops_[number];
  bool is_kept = true;
  for (const auto& log : logs_) is_kept = is_kept && KeptOf(*log) >= log->appended();
  if (is_kept) return 0;
  loop.entered = true;
  return loop.number + 1;
}

void LogSet::CloseRound(uint32_t number) {
  Loop& loop = loops_[number];
  if (!loop.entered) return;
  loop.appended.clear();
  // One of the logs may make it wait for the disk, not each.
  bool may_wait = true;
  for (const auto& log : logs_) {
    const uint64_t appended = loop.appended.emplace_back(log->appended());
    // What fails is tried again by the log: who waits for it waits on.
    if (log->written() < appended) static_cast<void>(log->Write(std::exchange(may_wait, false)));
  }
  if (loop.waiting.empty() && IsKept(loop.appended)) {
    loop.entered = false;
    loop.passed = ++loop.number;
    return;
  }
  loop.waiting.push_back({loop.number + 1, loop.appended});
  loop.entered = false;
  ++loop.number;
  // Before it is asked for: what comes from now on is told. What came before, Passed finds.
  loop.waits.store(true);
  for (size_t i = 0; mode_ == LogMode::kSync && i < logs_.size(); ++i) {
    if (logs_[i]->synced() < loop.appended[i]) logs_[i]->RequestSync();
  }
}

uint64_t LogSet::Passed(uint32_t number) {
  Loop& loop = loops_[number];
  while (!loop.waiting.empty() && IsKept(loop.waiting.front().positions)) {
    loop.passed = loop.waiting.front().number;
    loop.waiting.pop_front();
  }
  if (!loop.waiting.empty()) return loop.passed;
  loop.waits.store(false);
  return loop.passed;
}

void LogSet::TellWaiting() {
  for (Loop& loop : loops_) {
    if (loop.waits.load() && loop.tell) loop.tell();
  }
}

void LogSet::OnSynced(uint64_t /*position*/) { TellWaiting(); }

void LogSet::OnRefusal(const absl::Status& refusal) {
  if (on_refusal_) on_refusal_(refusal);
  if (refusal.ok()) TellWaiting();
}

absl::Status LogSet::Keep() {
  for (uint32_t shard = 0; shard < shards(); ++shard) LS_RETURN_IF_ERROR(Keep(shard));
  return absl::OkStatus();
}

absl::Status LogSet::Keep(uint32_t shard) {
  ShardLog& log = *logs_[shard];
  return mode_ == LogMode::kSync ? log.Sync() : log.Write();
}

void LogSet::Tick() {
  for (const auto& log : logs_) log->Tick();
}

absl::Status LogSet::DropBefore(std::span<const uint64_t> positions) {
  LS_CHECK(positions.size() == logs_.size(), "every log has a position");
  absl::Status status;
  for (size_t i = 0; i < positions.size(); ++i) {
    absl::Status dropped = logs_[i]->DropBefore(positions[i]);
    if (status.ok()) status = std::move(dropped);
  }
  return status;
}

absl::Status LogSet::Close() {
  absl::Status status;
  for (const auto& log : logs_) {
    absl::Status closed = log->Close();
    if (status.ok()) status = std::move(closed);
  }
  return status;
}

}  // namespace liststore::durable
