#include "engine/commitlog/segment_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/disk/file_status.h"

namespace liststore::commitlog {

SegmentReader::SegmentReader(disk::FileCalls& calls, std::string path)
    : calls_(calls), path_(std::move(path)) {}

SegmentReader::~SegmentReader() { Close(); }

absl::Status SegmentReader::Open() {
  LS_CHECK(file_ == kNoFile, "a segment is opened once");
  const int file = calls_.Open(path_, disk::FileCalls::OpenFor::kReading);
  if (file < 0) return disk::FileError("read", path_, file);
  file_ = file;
  const int64_t size = calls_.Size(file_);
  if (size < 0) return disk::FileError("read", path_, size);
  size_ = static_cast<uint64_t>(size);
  return absl::OkStatus();
}

void SegmentReader::Close() {
  if (file_ != kNoFile) calls_.Close(file_);
  file_ = kNoFile;
  window_ = std::string();
  window_bytes_ = 0;
}

absl::StatusOr<std::string_view> SegmentReader::At(uint64_t offset, size_t bytes) {
  LS_CHECK(bytes <= kWindowBytes, "no more is asked for than is kept");
  if (offset >= size_) return std::string_view();
  bytes = static_cast<size_t>(std::min<uint64_t>(bytes, size_ - offset));
  const bool inside = offset >= window_at_ && offset - window_at_ <= window_bytes_;
  const size_t kept = inside ? window_bytes_ - static_cast<size_t>(offset - window_at_) : 0;
  if (kept >= bytes) return std::string_view(window_).substr(offset - window_at_, bytes);
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(kWindowBytes, size_ - offset));
  if (window_.size() < wanted) window_.resize(wanted);
  if (kept > 0) std::memmove(window_.data(), window_.data() + (offset - window_at_), kept);
  window_at_ = offset;
  window_bytes_ = kept;
  while (window_bytes_ < wanted) {
    const int64_t read = calls_.ReadAt(file_, window_.data() + window_bytes_,
                                       wanted - window_bytes_, window_at_ + window_bytes_);
    if (read < 0) return disk::FileError("read", path_, read);
    if (read == 0) break;  // cut off meanwhile
    window_bytes_ += static_cast<size_t>(read);
  }
  return std::string_view(window_).substr(0, std::min(bytes, window_bytes_));
}

absl::StatusOr<std::string> SegmentReader::ReadBlock(uint64_t offset, uint64_t seed, Block& block) {
  LS_ASSIGN_OR_RETURN(std::string_view bytes, At(offset, kBlockHeaderBytes));
  std::string why = DecodeBlockHeader(bytes, seed, block.header);
  if (!why.empty()) return why;
  const size_t whole = kBlockHeaderBytes + block.header.payload_bytes;
  LS_ASSIGN_OR_RETURN(bytes, At(offset, whole));
  if (bytes.size() < whole) {
    return absl::StrCat("the file ends in a block of ", block.header.payload_bytes, " bytes");
  }
  block.payload = bytes.substr(kBlockHeaderBytes);
  if (PayloadChecksum(block.payload, block.header.position) != block.header.payload_checksum) {
    return std::string("the checksum of a block's content is another");
  }
  block.offset = offset;
  block.end = offset + whole;
  return std::string();
}

absl::StatusOr<bool> SegmentReader::FindBlock(uint64_t offset, const std::vector<uint64_t>& seeds,
                                              Block& block) {
  while (offset < size_) {
    LS_ASSIGN_OR_RETURN(const std::string_view bytes, At(offset, kBlockPayloadMax));
    const size_t found = bytes.find(kBlockMagic);
    if (found == std::string_view::npos) {
      // The magic may begin in what was looked at.
      if (bytes.size() < kBlockPayloadMax) return false;
      offset += bytes.size() - (kBlockMagic.size() - 1);
      continue;
    }
    offset += found;
    for (const uint64_t seed : seeds) {
      LS_ASSIGN_OR_RETURN(const std::string why, ReadBlock(offset, seed, block));
      if (why.empty()) return true;
    }
    ++offset;
  }
  return false;
}

absl::StatusOr<uint64_t> SegmentReader::EndOfContent(uint64_t offset) {
  uint64_t end = offset;
  while (offset < size_) {
    LS_ASSIGN_OR_RETURN(const std::string_view bytes, At(offset, kBlockPayloadMax));
    if (bytes.empty()) break;
    const size_t last = bytes.find_last_not_of('\0');
    if (last != std::string_view::npos) end = offset + last + 1;
    offset += bytes.size();
  }
  return end;
}

}  // namespace liststore::commitlog
