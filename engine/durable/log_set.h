// LogSet: the logs of all shards of a server, and who waits for them.
#ifndef LISTSTORE_ENGINE_DURABLE_LOG_SET_H_
#define LISTSTORE_ENGINE_DURABLE_LOG_SET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/shard_log.h"
#include "engine/commitlog/write_log.h"

namespace liststore::durable {

// Positions of logs, by shard.
using LogPositions = std::vector<uint64_t>;

struct LogSetOptions {
  // Of each; `shard`, `position` and `listener` are set here.
  commitlog::ShardLogOptions log;
  // Where each log goes on: one for each shard.
  LogPositions positions;
  uint32_t loops = 1;
  // Said when writes are refused, and why, and when they are accepted again (OK). By threads of the
  // logs; may be empty.
  std::function<void(const absl::Status&)> on_refusal = {};
};

// What answers wait for: in modes `os` and `periodic` that their writes are with the kernel; in mode
// `sync` that they are synchronised. Both are done for all who have entered in one round of a loop
// together: a call of the kernel costs as much as some writes to lists.
//
// Thread-safe; Enter, CloseRound, Passed and TellOfPassing of one loop are that loop's alone.
class LogSet final : private commitlog::LogListener {
 public:
  // Errors are those of ShardLog::Open.
  static absl::StatusOr<std::unique_ptr<LogSet>> Open(const LogSetOptions& options);
  ~LogSet() override;
  LogSet(const LogSet&) = delete;
  LogSet& operator=(const LogSet&) = delete;

  // By shard; they live as long as this.
  std::vector<commitlog::WriteLog*> logs() const;
  commitlog::ShardLog& log(uint32_t shard) const { return *logs_[shard]; }
  uint32_t shards() const { return static_cast<uint32_t>(logs_.size()); }

  // As network::AnswerGate has it.
  uint64_t Enter(uint32_t loop);
  void CloseRound(uint32_t loop);
  uint64_t Passed(uint32_t loop);
  void TellOfPassing(uint32_t loop, std::function<void()> tell) {
    loops_[loop].tell = std::move(tell);
  }

  // Everything that was appended before is kept as the mode promises it: for callers that wait
  // themselves. Those that come while one synchronises wait for the next one together.
  absl::Status Keep();
  // The same of one log.
  absl::Status Keep(uint32_t shard);
  // Where the logs have no threads, what is due is done by who calls this.
  void Tick();
  // Segments that end before these positions go.
  absl::Status DropBefore(std::span<const uint64_t> positions);
  // Writes and synchronises all, and ends the logs. Nothing is appended any more.
  absl::Status Close();

 private:
  struct Waiting {
    uint64_t number = 0;
    LogPositions positions;
  };
  struct alignas(64) Loop {
    // The loop's.
    uint64_t number = 0;  // of the last round that was closed
    uint64_t passed = 0;
    bool entered = false;   // somebody, since then
    LogPositions appended;  // scratch
    std::deque<Waiting> waiting;
    // Any thread.
    std::function<void()> tell;
    std::atomic<bool> waits{false};
  };

  explicit LogSet(const LogSetOptions& options);
  void OnSynced(uint64_t position) override;
  void OnRefusal(const absl::Status& refusal) override;
  void TellWaiting();
  bool IsKept(const LogPositions& positions) const;
  uint64_t KeptOf(const commitlog::ShardLog& log) const {
    return mode_ == commitlog::LogMode::kSync ? log.synced() : log.written();
  }

  const commitlog::LogMode mode_;
  const std::function<void(const absl::Status&)> on_refusal_;
  std::vector<Loop> loops_;
  std::vector<std::unique_ptr<commitlog::ShardLog>> logs_;  // they call the others
};

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_LOG_SET_H_
