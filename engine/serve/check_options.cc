#include "engine/serve/check_options.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "engine/base/machine_limits.h"
#include "engine/instruments/journal.h"
#include "engine/roles/password_hash.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

constexpr uint32_t kShardsMax = 256;
constexpr uint64_t kClientMemoryBytesMin = uint64_t{1} << 20;
constexpr uint64_t kWorkMemoryBytesMin = uint64_t{1} << 20;
constexpr uint32_t kQueueTimeMaxMs = 3'600'000;
constexpr uint32_t kLogPeriodMaxMs = 60'000;
constexpr uint64_t kLogSegmentBytesMin = uint64_t{2} << 20;
constexpr uint64_t kLogSegmentBytesMax = uint64_t{1} << 30;

absl::Status CheckKeeping(const CqlServerOptions& options) {
  using CommitLog = CqlServerOptions::CommitLog;
  if (options.data_dir.empty()) {
    if (options.commit_log == CommitLog::kOff) return absl::OkStatus();
    return absl::InvalidArgumentError("commit_log is given, but no data_dir for it");
  }
  if (options.store != nullptr || options.clock != nullptr || options.manual_clock != nullptr) {
    return absl::InvalidArgumentError(
        "data_dir is for a server with tables and a clock of its own: not with a store, clock or "
        "manual_clock");
  }
  if (options.commit_log_period_ms < 1 || options.commit_log_period_ms > kLogPeriodMaxMs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "commit_log_period_ms is ", options.commit_log_period_ms, ", not 1 to ", kLogPeriodMaxMs));
  }
  if (options.commit_log_segment_bytes < kLogSegmentBytesMin ||
      options.commit_log_segment_bytes > kLogSegmentBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("commit_log_segment_bytes is ", options.commit_log_segment_bytes, ", not ",
                     kLogSegmentBytesMin, " to ", kLogSegmentBytesMax));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const CqlServerOptions& options) {
  if (options.shards < 1 || options.shards > kShardsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("shards is ", options.shards, ", not 1 to ", kShardsMax));
  }
  if (options.memory_limit_bytes != 0 && options.memory_limit_bytes < kMemoryLimitBytesMin) {
    return absl::InvalidArgumentError(absl::StrCat("memory_limit_bytes is ",
                                                   options.memory_limit_bytes, ", less than ",
                                                   kMemoryLimitBytesMin));
  }
  if ((options.clock != nullptr) + (options.manual_clock != nullptr) +
          (options.server_clock != nullptr) >
      1) {
    return absl::InvalidArgumentError(
        "clock, manual_clock and server_clock: only one can be given");
  }
  if (options.journal_entries > instruments::kJournalCapacityMax) {
    return absl::InvalidArgumentError(absl::StrCat("journal_entries is ", options.journal_entries,
                                                   ", more than ",
                                                   instruments::kJournalCapacityMax));
  }
  if (options.client_memory_bytes != 0 && options.client_memory_bytes < kClientMemoryBytesMin) {
    return absl::InvalidArgumentError(absl::StrCat("client_memory_bytes is ",
                                                   options.client_memory_bytes, ", less than ",
                                                   kClientMemoryBytesMin));
  }
  if (options.work_memory_bytes != 0 && options.work_memory_bytes < kWorkMemoryBytesMin) {
    return absl::InvalidArgumentError(absl::StrCat(
        "work_memory_bytes is ", options.work_memory_bytes, ", less than ", kWorkMemoryBytesMin));
  }
  if ((options.process_memory_bytes != 0) != static_cast<bool>(options.divide_memory)) {
    return absl::InvalidArgumentError(
        "process_memory_bytes and divide_memory: both are given, or neither");
  }
  if (options.store != nullptr && options.memory_policy != MemoryPolicy::kReject) {
    return absl::InvalidArgumentError(
        "memory_policy is given, and a store, whose Options::memory_policy counts");
  }
  if (options.queue_time_max_ms > kQueueTimeMaxMs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "queue_time_max_ms is ", options.queue_time_max_ms, ", more than ", kQueueTimeMaxMs));
  }
  if (options.user.empty() != options.password.empty()) {
    return absl::InvalidArgumentError(options.user.empty() ? "a password is given, but no user"
                                                           : "a user is given, but no password");
  }
  if (options.password.size() > roles::kPasswordBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("password has ", options.password.size(),
                                                   " bytes, more than can be hashed, ",
                                                   roles::kPasswordBytesMax));
  }
  if (!options.tls && (options.tls_port || options.tls_shard_aware_port)) {
    return absl::InvalidArgumentError("a port of TLS is given, but no certificate");
  }
  return CheckKeeping(options);
}

}  // namespace liststore
