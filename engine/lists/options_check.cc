#include "engine/lists/options_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/model/time.h"

namespace liststore {
namespace {

absl::Status CheckKeyspace(const std::string& keyspace) {
  if (keyspace.empty() || keyspace.size() > kKeyspaceCharactersMax) {
    return absl::InvalidArgumentError(absl::StrCat("keyspace of ", keyspace.size(),
                                                   " characters is not within 1 to ",
                                                   kKeyspaceCharactersMax));
  }
  for (const char c : keyspace) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') {
      return absl::InvalidArgumentError(absl::StrCat("keyspace \"", absl::CHexEscape(keyspace),
                                                     "\" holds a character outside [A-Za-z0-9_]"));
    }
  }
  return absl::OkStatus();
}

constexpr uint32_t kLogPeriodMaxMs = 60'000;
constexpr uint64_t kLogSegmentBytesMin = uint64_t{2} << 20;
constexpr uint64_t kLogSegmentBytesMax = uint64_t{1} << 30;

absl::Status CheckKeeping(const Options& options) {
  if (options.data_dir.empty()) return absl::OkStatus();
  if (options.commit_log_period_ms < 1 || options.commit_log_period_ms > kLogPeriodMaxMs) {
    return absl::InvalidArgumentError(absl::StrCat("commit_log_period_ms ",
                                                   options.commit_log_period_ms,
                                                   " is not within 1 to ", kLogPeriodMaxMs));
  }
  const uint64_t bytes = options.commit_log_segment_bytes;
  if (bytes != 0 && (bytes < kLogSegmentBytesMin || bytes > kLogSegmentBytesMax)) {
    return absl::InvalidArgumentError(absl::StrCat("commit_log_segment_bytes ", bytes,
                                                   " is not within ", kLogSegmentBytesMin, " to ",
                                                   kLogSegmentBytesMax));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const Options& options) {
  LS_RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  if (options.default_ttl_seconds &&
      (*options.default_ttl_seconds < 1 || *options.default_ttl_seconds > kTtlSecondsMax)) {
    return absl::InvalidArgumentError(absl::StrCat("default_ttl_seconds ",
                                                   *options.default_ttl_seconds,
                                                   " is not within 1 to ", kTtlSecondsMax));
  }
  if (options.value_bytes_max > kValueBytesMaxMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("value_bytes_max ", options.value_bytes_max, " exceeds ", kValueBytesMaxMax));
  }
  if (options.memory_limit_bytes != 0 && options.memory_limit_bytes < kMemoryLimitBytesMin) {
    return absl::InvalidArgumentError(absl::StrCat(
        "memory_limit_bytes ", options.memory_limit_bytes, " is less than ", kMemoryLimitBytesMin));
  }
  if (options.clock != nullptr && options.manual_clock != nullptr) {
    return absl::InvalidArgumentError("clock and manual_clock: only one can be given");
  }
  LS_RETURN_IF_ERROR(CheckKeeping(options));
  if (options.shards > kShardsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("shards ", options.shards, " exceeds ", kShardsMax));
  }
  return absl::OkStatus();
}

absl::StatusOr<Options> ResolveOptions(Options options, const MachineLimits& machine) {
  LS_RETURN_IF_ERROR(CheckOptions(options));
  if (options.manual_clock != nullptr) options.clock = options.manual_clock;
  if (options.clock == nullptr) options.clock = &SystemClock::Instance();
  if (options.shards == 0) options.shards = std::clamp<uint32_t>(machine.cores, 1, kShardsMax);
  if (options.memory_limit_bytes == 0) {
    if (machine.memory_bytes == 0) {
      return absl::FailedPreconditionError(
          "memory_limit_bytes is 0, and the memory of the machine is unknown");
    }
    options.memory_limit_bytes = DefaultMemoryLimitBytes(machine.memory_bytes);
  }
  return options;
}

}  // namespace liststore
