#include "engine/serve/memory_shares.h"

#include <algorithm>

#include "absl/status/status.h"
#include "engine/base/machine_limits.h"
#include "engine/cql/syntax/parser.h"
#include "engine/execute/statement_cache.h"
#include "engine/instruments/journal.h"

namespace liststore {
namespace {

constexpr uint64_t kLogBufferBytesMax = uint64_t{64} << 20;
// Of the machine's, for clients, where nobody says.
constexpr uint64_t kClientMemoryPart = 8;
constexpr uint64_t kClientMemoryBytesDefaultMin = uint64_t{64} << 20;
constexpr uint64_t kClientMemoryBytesDefaultMax = uint64_t{4} << 30;
constexpr uint64_t kTokensMin = 16 * 1024;

uint64_t ClientMemory(const CqlServerOptions& options) {
  if (options.client_memory_bytes != 0) return options.client_memory_bytes;
  const uint64_t memory_bytes = ReadMachineLimits({.cores = false}).memory_bytes;
  return std::clamp(memory_bytes / kClientMemoryPart, kClientMemoryBytesDefaultMin,
                    kClientMemoryBytesDefaultMax);
}

// Commit logs that are written; none where there is no mode.
uint32_t LogsOf(const CqlServerOptions& options) {
  const bool has_logs =
      !options.data_dir.empty() && options.commit_log != CqlServerOptions::CommitLog::kOff;
  return has_logs ? options.shards : 0;
}

}  // namespace

absl::StatusOr<uint64_t> RowsLimit(const CqlServerOptions& options) {
  if (options.memory_limit_bytes != 0) return options.memory_limit_bytes;
  const uint64_t memory_bytes = ReadMachineLimits({.cores = false}).memory_bytes;
  if (memory_bytes == 0) {
    return absl::FailedPreconditionError(
        "memory_limit_bytes is 0, and the machine does not say how much memory it has");
  }
  return DefaultMemoryLimitBytes(memory_bytes);
}

ClientShares::ClientShares(const CqlServerOptions& options)
    : ClientShares(ClientMemory(options), LogsOf(options)) {}

ClientShares::ClientShares(uint64_t bytes, uint32_t logs_count)
    : statements(std::min<uint64_t>(bytes / 8, execute::StatementCache::kBytesMax)),
      journal(std::min<uint64_t>(bytes / 8, instruments::kJournalBytesMax)),
      logs(std::min(bytes / 4, logs_count * kLogBufferBytesMax)),
      connections(bytes - statements - journal - logs) {}

WorkShares::WorkShares(const CqlServerOptions& options, const ClientShares& clients)
    : bytes(options.work_memory_bytes != 0 ? options.work_memory_bytes : clients.connections) {
  // A statement that is being planned takes up to 600 bytes for each of its tokens.
  constexpr uint64_t kBytesOfToken = 512;
  tokens_max = std::clamp<uint64_t>(bytes / kBytesOfToken,
                                    options.work_memory_bytes != 0 ? kTokensMin : 2 * kTokensMin,
                                    cql::kTokensMax);
  if (options.work_memory_bytes == 0) return;
  constexpr uint64_t kBytesOfCell = 128;        // and its path
  constexpr uint64_t kBytesOfStatement = 1024;  // of a partition of its own
  constexpr uint64_t kBytesOfValue = 128;       // while their array grows; of a JSON as well
  cells_max = std::min<uint64_t>(cells_max, bytes / kBytesOfCell);
  statements_max = bytes / kBytesOfStatement;
  values_max = std::min<uint64_t>(values_max, bytes / kBytesOfValue);
  json_values_max = std::min<uint64_t>(json_values_max, bytes / kBytesOfValue);
  plan_bytes_max = std::min<uint64_t>(plan_bytes_max, bytes);
}

}  // namespace liststore
