#include "engine/commitlog/log_format.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/hash.h"

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

// Offsets of the fields that follow the version in a segment's header.
constexpr size_t kShardAt = 12;
constexpr size_t kShardsAt = 16;
constexpr size_t kRunAt = 20;
constexpr size_t kNumberAt = 24;
constexpr size_t kSegmentPositionAt = 32;
constexpr size_t kFirstOfRunAt = 40;
constexpr size_t kSaltAt = 48;
constexpr size_t kSegmentChecksumAt = 56;

// In a block's.
constexpr size_t kPayloadBytesAt = 4;
constexpr size_t kPositionAt = 8;
constexpr size_t kSyncedAt = 16;
constexpr size_t kWrittenAtAt = 24;
constexpr size_t kFirstRecordAt = 32;
constexpr size_t kRecordsAt = 36;
constexpr size_t kPayloadChecksumAt = 40;
constexpr size_t kBlockChecksumAt = 48;

std::string Hex(uint64_t number) { return absl::StrCat("0x", absl::Hex(number, absl::kZeroPad16)); }

std::string WrongChecksum(const char* what, uint64_t found, uint64_t written) {
  return absl::StrCat("the checksum of ", what, " is ", Hex(found), ", expected ", Hex(written));
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

void EncodeSegmentHeader(const SegmentHeader& header, char to[kSegmentHeaderBytes]) {
  std::memcpy(to, kSegmentMagic.data(), kSegmentMagic.size());
  StoreNative<uint32_t>(to + kVersionAt, kLogVersion);
  StoreNative<uint32_t>(to + kShardAt, header.name.shard);
  StoreNative<uint32_t>(to + kShardsAt, header.shards);
  StoreNative<uint32_t>(to + kRunAt, header.run);
  StoreNative<uint64_t>(to + kNumberAt, header.name.number);
  StoreNative<uint64_t>(to + kSegmentPositionAt, header.position);
  StoreNative<uint64_t>(to + kFirstOfRunAt, header.first_of_run);
  StoreNative<uint64_t>(to + kSaltAt, header.salt);
  StoreNative<uint64_t>(to + kSegmentChecksumAt, Hash64({to, kSegmentChecksumAt}));
}

std::string DecodeSegmentHeader(std::string_view bytes, const SegmentName& name,
                                SegmentHeader& header, uint32_t& later_version) {
  later_version = 0;
  if (bytes.size() < kSegmentHeaderBytes) {
    return absl::StrCat("the file ends in its header of ", kSegmentHeaderBytes, " bytes");
  }
  if (!bytes.starts_with(kSegmentMagic)) return "this is no segment of a commit log";
  // The version before the checksum: a later one may lay out everything behind it again.
  const auto version = LoadNative<uint32_t>(bytes.data() + kVersionAt);
  if (version > kLogVersion) {
    later_version = version;
    return absl::StrCat("a segment of version ", version, ", this program reads up to ",
                        kLogVersion);
  }
  const auto written = LoadNative<uint64_t>(bytes.data() + kSegmentChecksumAt);
  if (const uint64_t found = Hash64(bytes.substr(0, kSegmentChecksumAt)); found != written) {
    return WrongChecksum("the segment's header", found, written);
  }
  if (version != kLogVersion) return absl::StrCat("a segment of version ", version);
  header.name.shard = LoadNative<uint32_t>(bytes.data() + kShardAt);
  header.name.number = LoadNative<uint64_t>(bytes.data() + kNumberAt);
  if (header.name.shard != name.shard || header.name.number != name.number) {
    return absl::StrCat("the file says that it is ", SegmentFileName(header.name));
  }
  header.shards = LoadNative<uint32_t>(bytes.data() + kShardsAt);
  header.position = LoadNative<uint64_t>(bytes.data() + kSegmentPositionAt);
  header.run = LoadNative<uint32_t>(bytes.data() + kRunAt);
  header.first_of_run = LoadNative<uint64_t>(bytes.data() + kFirstOfRunAt);
  header.salt = LoadNative<uint64_t>(bytes.data() + kSaltAt);
  if (header.first_of_run > name.number) return "the segment stands before the first of its run";
  return "";
}

uint64_t PayloadChecksum(std::string_view payload, uint64_t position) {
  return Hash64(payload, position);
}

void StoreOpenHeader(const BlockHeader& header, char to[kBlockHeaderBytes]) {
  StoreNative<uint32_t>(to + kPayloadBytesAt, header.payload_bytes);
  StoreNative<uint64_t>(to + kPositionAt, header.position);
  StoreNative<uint32_t>(to + kFirstRecordAt, header.first_record);
  StoreNative<uint32_t>(to + kRecordsAt, header.records);
}

BlockHeader LoadOpenHeader(const char from[kBlockHeaderBytes]) {
  BlockHeader header;
  header.payload_bytes = LoadNative<uint32_t>(from + kPayloadBytesAt);
  header.position = LoadNative<uint64_t>(from + kPositionAt);
  header.first_record = LoadNative<uint32_t>(from + kFirstRecordAt);
  header.records = LoadNative<uint32_t>(from + kRecordsAt);
  return header;
}

uint64_t BlockSeed(const SegmentName& segment, uint64_t salt) {
  return salt ^ (segment.number * 0x9e3779b97f4a7c15u) ^ (uint64_t{segment.shard} << 48);
}

void EncodeBlockHeader(const BlockHeader& header, uint64_t seed, char to[kBlockHeaderBytes]) {
  std::memcpy(to, kBlockMagic.data(), kBlockMagic.size());
  StoreOpenHeader(header, to);
  StoreNative<uint64_t>(to + kSyncedAt, header.synced);
  StoreNative<uint64_t>(to + kWrittenAtAt, header.written_at_nanos);
  StoreNative<uint64_t>(to + kPayloadChecksumAt, header.payload_checksum);
  StoreNative<uint64_t>(to + kBlockChecksumAt, Hash64({to, kBlockChecksumAt}, seed));
}

std::string DecodeBlockHeader(std::string_view bytes, uint64_t seed, BlockHeader& header) {
  if (bytes.size() < kBlockHeaderBytes) return "the file ends in the header of a block";
  if (!bytes.starts_with(kBlockMagic)) return "no block begins here";
  const auto written = LoadNative<uint64_t>(bytes.data() + kBlockChecksumAt);
  if (const uint64_t found = Hash64(bytes.substr(0, kBlockChecksumAt), seed); found != written) {
    return WrongChecksum("the block's header", found, written);
  }
  header = LoadOpenHeader(bytes.data());
  header.synced = LoadNative<uint64_t>(bytes.data() + kSyncedAt);
  header.written_at_nanos = LoadNative<uint64_t>(bytes.data() + kWrittenAtAt);
  header.payload_checksum = LoadNative<uint64_t>(bytes.data() + kPayloadChecksumAt);
  if (header.payload_bytes > kBlockPayloadMax) {
    return absl::StrCat("a block of ", header.payload_bytes, " bytes exceeds ", kBlockPayloadMax);
  }
  if ((header.records == 0) != (header.first_record == kNoRecord) ||
      (header.records > 0 && header.first_record >= header.payload_bytes) ||
      header.position > UINT64_MAX - header.payload_bytes) {
    return "a block's header contradicts itself";
  }
  return "";
}

}  // namespace liststore::commitlog
