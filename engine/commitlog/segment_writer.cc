#include "engine/commitlog/segment_writer.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/disk/file_status.h"

namespace liststore::commitlog {

SegmentWriter::SegmentWriter(disk::FileCalls& calls, SegmentSupply& supply, size_t segment_bytes,
                             size_t chunk_bytes, const Run& run)
    : calls_(calls),
      supply_(supply),
      segment_bytes_(segment_bytes),
      chunk_bytes_(chunk_bytes),
      run_(run),
      window_(calls) {}

SegmentWriter::~SegmentWriter() {
  for (const Segment& segment : full_) calls_.Close(segment.file.file);
  if (has_file_) calls_.Close(current_.file.file);
}

size_t SegmentWriter::Usable(size_t bytes, size_t chunk_bytes) {
  const size_t lost = chunk_bytes + (bytes / chunk_bytes + 2) * kBlockHeaderBytes;
  return bytes > lost ? bytes - lost : 0;
}

size_t SegmentWriter::room() const {
  return begun_ ? Usable(segment_bytes_ - offset_, chunk_bytes_) : 0;
}

bool SegmentWriter::Slide(uint64_t offset, Done& done) {
  if (window_.At(offset) != nullptr) return true;
  if (!maps_) return false;
  ++done.calls;
  const uint64_t begin = offset / kWindowBytes * kWindowBytes;
  // Once for a segment: what the system does not map once it does not map a moment later.
  maps_ = window_.Map(current_.file.file, begin,
                      std::min<uint64_t>(kWindowBytes, segment_bytes_ - begin));
  return maps_;
}

absl::Status SegmentWriter::StoreFully(const char* from, size_t bytes, uint64_t offset,
                                       Done& done) {
  while (bytes > 0 && Slide(offset, done)) {
    const size_t step = std::min<uint64_t>(bytes, window_.end() - offset);
    std::memcpy(window_.At(offset), from, step);
    if (window_.has_failed()) {
      window_.Unmap();
      maps_ = false;
      // A call would write behind a hole.
      if (calls_.Size(current_.file.file) < static_cast<int64_t>(segment_bytes_)) {
        return disk::FileError("write", current_.file.path, -EIO);
      }
      break;  // a call says why, or writes it
    }
    from += step;
    bytes -= step;
    offset += step;
    done.bytes += step;
  }
  return bytes == 0 ? absl::OkStatus() : WriteFully(from, bytes, offset, done);
}

absl::Status SegmentWriter::WriteFully(const char* from, size_t bytes, uint64_t offset,
                                       Done& done) {
  while (bytes > 0) {
    const int64_t written = calls_.WriteAt(current_.file.file, from, bytes, offset);
    ++done.calls;
    // A write of nothing would go on forever.
    if (written <= 0) {
      return disk::FileError("write", current_.file.path, written == 0 ? -EIO : written);
    }
    from += written;
    bytes -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
    done.bytes += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status SegmentWriter::Begin(uint64_t position) {
  // Before anything is done: the heap may refuse it, and End must not fail.
  full_.reserve(full_.size() + 1);
  segments_.reserve(segments_.size() + 1);
  if (!has_file_) {
    if (!supply_.Take(current_.file)) {
      LS_RETURN_IF_ERROR(supply_.Prepare(1));
      if (!supply_.Take(current_.file)) return absl::UnavailableError("no segment is prepared");
    }
    has_file_ = true;
  }
  current_.position = position;
  char header[kSegmentHeaderBytes];
  EncodeSegmentHeader(
      {current_.file.name, run_.shards, position, run_.number, run_.first_segment, run_.salt},
      header);
  Done done;
  LS_RETURN_IF_ERROR(WriteFully(header, sizeof(header), 0, done));
  offset_ = kSegmentHeaderBytes;
  maps_ = true;
  begun_ = true;
  if (segments_.empty() || segments_.back().file.name.number != current_.file.name.number) {
    segments_.push_back(current_);
  }
  segments_.back().position = position;
  return absl::OkStatus();
}

void SegmentWriter::End() {
  window_.Unmap();
  begun_ = false;
  // Without a block it is begun again: a disk that fails for long is not filled with segments.
  if (offset_ == kSegmentHeaderBytes) return;
  full_.push_back(std::move(current_));
  current_ = Segment();
  has_file_ = false;
}

void SegmentWriter::SealHeaders(const LogBuffer::Run& run, const Stamp& stamp) {
  const uint64_t seed = BlockSeed(current_.file.name, run_.salt);
  for (size_t at = 0; at < run.bytes;) {
    char* const block = run.begin + at;
    BlockHeader header = LoadOpenHeader(block);
    header.synced = stamp.synced;
    header.written_at_nanos = stamp.now_nanos;
    header.payload_checksum =
        PayloadChecksum({block + kBlockHeaderBytes, header.payload_bytes}, header.position);
    EncodeBlockHeader(header, seed, block);
    at += kBlockHeaderBytes + header.payload_bytes;
  }
}

absl::Status SegmentWriter::WriteAll(LogBuffer& buffer, const Stamp& stamp, Done& done) {
  while (buffer.HasMore()) {
    if (!begun_) LS_RETURN_IF_ERROR(Begin(buffer.Next(SIZE_MAX).position));
    const LogBuffer::Run run = buffer.Next(segment_bytes_ - offset_);
    if (run.bytes == 0) {
      End();
      continue;
    }
    SealHeaders(run, stamp);
    if (absl::Status status = StoreFully(run.begin, run.bytes, offset_, done); !status.ok()) {
      End();
      return status;
    }
    offset_ += run.bytes;
    buffer.Taken(run);
    done.cost += run.cost;
    done.end_position = run.end_position;
  }
  return absl::OkStatus();
}

void SegmentWriter::ListUnsynced(bool full_only, std::vector<Unsynced>& files) const {
  files.clear();
  for (const Segment& segment : full_) {
    files.push_back({segment.file.name.number, segment.file.file, true});
  }
  if (begun_ && !full_only) files.push_back({current_.file.name.number, current_.file.file, false});
}

uint64_t SegmentWriter::PositionOfCurrent(uint64_t otherwise) const {
  return begun_ ? current_.position : otherwise;
}

void SegmentWriter::Synced(const std::vector<Unsynced>& files) {
  // The one that was written may have become full since, and has more than was synchronised.
  const auto listed =
      std::count_if(files.begin(), files.end(), [](const Unsynced& file) { return file.full; });
  for (auto segment = full_.begin(); segment != full_.begin() + listed; ++segment) {
    calls_.Close(segment->file.file);
  }
  full_.erase(full_.begin(), full_.begin() + listed);
}

void SegmentWriter::Remove(const Segment& segment) {
  calls_.Remove(segment.file.path);
  std::erase_if(segments_, [&](const Segment& other) {
    return other.file.name.number == segment.file.name.number;
  });
}

void SegmentWriter::GiveUp(bool written_again) {
  window_.Unmap();
  for (const Segment& segment : given_up_again_) Remove(segment);
  given_up_again_.clear();
  if (begun_) {
    // With or without blocks: its file is not to be trusted.
    full_.push_back(std::move(current_));
    current_ = Segment();
    begun_ = has_file_ = false;
  } else if (has_file_) {
    // It holds nothing, and would begin at another position now: no header is written over another.
    calls_.Close(current_.file.file);
    Remove(current_);
    has_file_ = false;
  }
  for (const Segment& segment : full_) calls_.Close(segment.file.file);
  // The first ones are all that a process that is killed now leaves behind: they stay.
  if (written_again) (given_up_.empty() ? given_up_ : given_up_again_).swap(full_);
  full_.clear();
}

void SegmentWriter::Recovered(uint64_t position) {
  for (const Segment& segment : given_up_again_) Remove(segment);
  for (const Segment& segment : given_up_) {
    if (segment.position >= position) Remove(segment);
  }
  given_up_again_.clear();
  given_up_.clear();
}

absl::Status SegmentWriter::WriteEnd(const Stamp& stamp, uint64_t position) {
  if (!begun_) return absl::OkStatus();
  Done done;
  if (offset_ + kBlockHeaderBytes <= segment_bytes_) {
    char header[kBlockHeaderBytes];
    BlockHeader block{.position = position};
    block.synced = stamp.synced;
    block.written_at_nanos = stamp.now_nanos;
    block.payload_checksum = PayloadChecksum({}, position);
    EncodeBlockHeader(block, BlockSeed(current_.file.name, run_.salt), header);
    LS_RETURN_IF_ERROR(WriteFully(header, sizeof(header), offset_, done));
    offset_ += sizeof(header);
  }
  window_.Unmap();
  if (const int result = calls_.Cut(current_.file.file, offset_); result < 0) {
    return disk::FileError("cut", current_.file.path, result);
  }
  if (const int result = calls_.SyncData(current_.file.file); result < 0) {
    return disk::FileError("sync", current_.file.path, result);
  }
  begun_ = has_file_ = false;
  if (const int result = calls_.Close(current_.file.file); result < 0) {
    return disk::FileError("close", current_.file.path, result);
  }
  return absl::OkStatus();
}

void SegmentWriter::AddEarlier(const SegmentFile& segment, uint64_t position) {
  segments_.push_back({segment, position});
}

// What a segment has from the first position of a later one on is there again, or void.
std::vector<std::string> SegmentWriter::TakeBefore(uint64_t position) {
  std::vector<std::string> paths;
  uint64_t end = UINT64_MAX;
  for (size_t i = segments_.size(); i-- > 0;) {
    const uint64_t begin = segments_[i].position;
    const bool is_current = has_file_ && segments_[i].file.name.number == current_.file.name.number;
    const bool is_open = std::any_of(full_.begin(), full_.end(), [&](const Segment& segment) {
      return segment.file.name.number == segments_[i].file.name.number;
    });
    if (end <= position && !is_current && !is_open) {
      paths.push_back(segments_[i].file.path);
      segments_.erase(segments_.begin() + static_cast<ptrdiff_t>(i));
    }
    end = std::min(end, begin);
  }
  // The oldest first: a later one says what of them is void.
  std::reverse(paths.begin(), paths.end());
  return paths;
}

}  // namespace liststore::commitlog
