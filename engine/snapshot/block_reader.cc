#include "engine/snapshot/block_reader.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"

namespace liststore::snapshot {
namespace {

// Memory for a payload grows no further than this ahead of its bytes.
constexpr size_t kPieceBytes = size_t{1} << 20;

std::string Hex(uint64_t number) { return absl::StrCat("0x", absl::Hex(number, absl::kZeroPad16)); }

std::string WrongChecksum(const char* what, uint64_t found, uint64_t written) {
  return absl::StrCat("the checksum of ", what, " is ", Hex(found), ", expected ", Hex(written));
}

}  // namespace

absl::Status Damaged(uint64_t offset, uint64_t block, std::string_view text) {
  return absl::DataLossError(absl::StrCat("saved store damaged at offset ", offset, ", block ",
                                          block, ": ", ToAbsl(text)));
}

absl::Status BlockReader::ReadAll(char* to, size_t bytes, const char* what) {
  LS_ASSIGN_OR_RETURN(const size_t read, source_.Read(to, bytes));
  if (read < bytes) {
    return Damaged(offset_, next_block_,
                   absl::StrCat("the file ends in a ", what, ": ", read, " of ", bytes, " bytes"));
  }
  offset_ += bytes;
  return absl::OkStatus();
}

absl::Status BlockReader::ReadFileHeader() {
  char header[kFileHeaderBytes];
  LS_ASSIGN_OR_RETURN(const size_t read, source_.Read(header, sizeof(header)));
  const std::string_view begin(header, std::min(read, format_.magic.size()));
  if (begin != format_.magic) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not a ", ToAbsl(format_.name), ": it begins with \"", absl::CHexEscape(ToAbsl(begin)),
        "\", expected \"", absl::CHexEscape(ToAbsl(format_.magic)), "\""));
  }
  if (read < sizeof(header)) {
    return absl::DataLossError(absl::StrCat("saved store damaged at offset ", read,
                                            ": the file ends in its header of ", sizeof(header),
                                            " bytes"));
  }
  // The version before the checksum: a later one may lay out everything behind it again.
  const auto version = LoadNative<uint32_t>(header + kVersionAt);
  if (version > format_.compressed_version) {
    return absl::FailedPreconditionError(absl::StrCat(ToAbsl(format_.name), " of version ", version,
                                                      ", this library reads up to ",
                                                      format_.compressed_version));
  }
  const auto written = LoadNative<uint64_t>(header + kFileChecksumAt);
  if (const uint64_t found = Checksum({header, kFileChecksumAt}, 0); found != written) {
    return absl::DataLossError(absl::StrCat("saved store damaged at offset 0: ",
                                            WrongChecksum("the file header", found, written)));
  }
  if (version < format_.version) {
    return absl::DataLossError(
        absl::StrCat("saved store damaged at offset ", kVersionAt, ": version ", version));
  }
  if (LoadNative<uint32_t>(header + kHeaderBytesAt) != kFileHeaderBytes ||
      LoadNative<uint64_t>(header + kFlagsAt) != 0) {
    return absl::FailedPreconditionError(
        "saved store with a header or flags that this library does not know");
  }
  may_be_compressed_ = version >= format_.compressed_version;
  saved_at_nanos_ = LoadNative<uint64_t>(header + kSavedAtAt);
  const auto origin = LoadNative<uint8_t>(header + kOriginAt);
  if (origin <= static_cast<uint8_t>(Origin::kCopies)) origin_ = static_cast<Origin>(origin);
  offset_ = sizeof(header);
  return absl::OkStatus();
}

absl::Status BlockReader::ReadPayload(size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const size_t piece = std::min(bytes - done, std::max(kPieceBytes, done));
    if (payload_.size() < done + piece) payload_.resize(done + piece);
    LS_RETURN_IF_ERROR(ReadAll(payload_.data() + done, piece, "block"));
    done += piece;
  }
  return absl::OkStatus();
}

absl::Status BlockUnpacker::Unpack(Block& block) {
  if (!block.compressed) return absl::OkStatus();
  size_t bytes = 0;
  if (const std::string wrong = decompressor_.Decompress(block.payload, plain_, bytes);
      !wrong.empty()) {
    return Damaged(block.payload_at, block.number, wrong);
  }
  block.payload = std::string_view(plain_).substr(0, bytes);
  block.compressed = false;
  return absl::OkStatus();
}

absl::Status BlockReader::ReadBlock(Block& block) {
  LS_RETURN_IF_ERROR(ReadStoredBlock(block));
  return unpacker_.Unpack(block);
}

absl::Status BlockReader::ReadStoredBlock(Block& block) {
  const uint64_t block_at = offset_;
  char header[kBlockHeaderBytes];
  LS_RETURN_IF_ERROR(ReadAll(header, sizeof(header), "block header"));
  const auto header_written = LoadNative<uint64_t>(header + kBlockChecksumAt);
  if (const uint64_t found = Checksum({header, kBlockChecksumAt}, next_block_);
      found != header_written) {
    return Damaged(block_at, next_block_,
                   WrongChecksum("the block's header", found, header_written));
  }
  const auto stored_kind = LoadNative<uint32_t>(header);
  const bool compressed = may_be_compressed_ && (stored_kind & kCompressedBlock) != 0;
  const uint32_t kind = compressed ? stored_kind & ~kCompressedBlock : stored_kind;
  const auto bytes = LoadNative<uint32_t>(header + kPayloadBytesAt);
  if (kind < format_.first_kind || kind > format_.last_kind) {
    return Damaged(block_at, next_block_, absl::StrCat("a block of kind ", kind));
  }
  if (bytes > kPayloadBytesMax) {
    return Damaged(block_at, next_block_,
                   absl::StrCat("a block of ", bytes, " bytes exceeds ", kPayloadBytesMax));
  }
  if (const auto number = LoadNative<uint64_t>(header + kBlockNumberAt); number != next_block_) {
    return Damaged(block_at, next_block_, absl::StrCat("the block says that it is ", number));
  }
  const uint64_t payload_at = offset_;
  LS_RETURN_IF_ERROR(ReadPayload(bytes));
  const std::string_view payload(payload_.data(), bytes);
  const auto written = LoadNative<uint64_t>(header + kPayloadChecksumAt);
  if (const uint64_t found = Checksum(payload, next_block_); found != written) {
    return Damaged(payload_at, next_block_, WrongChecksum("the block's content", found, written));
  }
  block = {static_cast<BlockKind>(kind), next_block_++, payload_at, payload, compressed};
  return absl::OkStatus();
}

absl::Status BlockReader::ReadEnd() {
  char more = 0;
  LS_ASSIGN_OR_RETURN(const size_t read, source_.Read(&more, 1));
  if (read == 0) return absl::OkStatus();
  return Damaged(offset_, next_block_, "something follows the end record");
}

}  // namespace liststore::snapshot
