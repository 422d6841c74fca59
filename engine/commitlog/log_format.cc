#include "engine/commitlog/log_format.h"

#include "absl/strings/str_cat.h"

namespace liststore::commitlog {
namespace {

constexpr std::string_view kPrefix = "log-";
constexpr std::string_view kSuffix = ".log";
constexpr size_t kShardDigits = 4;
constexpr size_t kNumberDigits = 16;

// All of `digits` as a decimal number.
std::optional<uint64_t> Number(std::string_view digits) {
  uint64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  return number;
}

}  // namespace

std::string SegmentFileName(const SegmentName& name) {
  return absl::StrCat("log-", absl::Dec(name.shard, absl::kZeroPad4), "-",
                      absl::Dec(name.number, absl::kZeroPad16), ".log");
}

std::optional<SegmentName> ParseSegmentFileName(std::string_view file_name) {
  constexpr size_t kBytes = kPrefix.size() + kShardDigits + 1 + kNumberDigits + kSuffix.size();
  if (file_name.size() != kBytes || !file_name.starts_with(kPrefix) ||
      !file_name.ends_with(kSuffix) || file_name[kPrefix.size() + kShardDigits] != '-') {
    return std::nullopt;
  }
  const auto shard = Number(file_name.substr(kPrefix.size(), kShardDigits));
  const auto number = Number(file_name.substr(kPrefix.size() + kShardDigits + 1, kNumberDigits));
  if (!shard || !number) return std::nullopt;
  return SegmentName{static_cast<uint32_t>(*shard), *number};
}

}  // namespace liststore::commitlog
