#include "engine/commitlog/log_pieces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/base/status_macros.h"
#include "engine/commitlog/log_directory.h"

namespace liststore::commitlog {
namespace {

constexpr size_t kDamagesKept = 100;

std::string TimeText(uint64_t nanos) {
  return absl::FormatTime(absl::RFC3339_full, absl::FromUnixNanos(static_cast<int64_t>(nanos)),
                          absl::UTCTimeZone());
}

// ", written between A and B": what is known of it.
std::string BetweenText(uint64_t after, uint64_t before) {
  if (after != 0 && before != 0) {
    return absl::StrCat(", written between ", TimeText(after), " and ", TimeText(before));
  }
  if (after != 0) return absl::StrCat(", written after ", TimeText(after));
  if (before != 0) return absl::StrCat(", written before ", TimeText(before));
  return "";
}

}  // namespace

LogPieces::LogPieces(const LogReaderOptions& options) : options_(options), next_(options.from) {}

absl::Status LogPieces::Open() {
  LS_ASSIGN_OR_RETURN(const std::vector<LogFiles> logs,
                      ListLogs(*options_.calls, options_.directory));
  for (const LogFiles& log : logs) {
    if (log.shard != options_.shard) continue;
    for (const uint64_t number : log.segments) {
      bool has_content = false;
      LS_RETURN_IF_ERROR(OpenSegment({log.shard, number}, has_content));
      if (!has_content) segments_.pop_back();
    }
  }
  LS_RETURN_IF_ERROR(GuessHeaders());
  MarkVoid();
  verdict_.segments = segments_.size();
  verdict_.begin = next_;
  for (const Segment& segment : segments_) {
    if (!segment.why.empty()) continue;
    last_shards_ = segment.header.shards;
    last_run_ = segment.header.run;
  }
  return absl::OkStatus();
}

absl::Status LogPieces::OpenSegment(const SegmentName& name, bool& has_content) {
  Segment& segment = segments_.emplace_back();
  segment.path = absl::StrCat(options_.directory, "/", SegmentFileName(name));
  SegmentReader reader(*options_.calls, segment.path);
  LS_RETURN_IF_ERROR(reader.Open());
  segment.bytes = reader.size();
  LS_ASSIGN_OR_RETURN(const std::string_view bytes, reader.At(0, kSegmentHeaderBytes));
  uint32_t later_version = 0;
  segment.why = DecodeSegmentHeader(bytes, name, segment.header, later_version);
  segment.header.name = name;
  if (later_version != 0) {
    return absl::FailedPreconditionError(absl::StrCat(segment.path, ": ", segment.why));
  }
  if (segment.why.empty()) {
    segment.seeds = {BlockSeed(name, segment.header.salt)};
    has_content = true;
  } else {
    const std::string head(bytes);
    segment.header_is_zero = head.find_first_not_of('\0') == std::string::npos;
    // A header that was half written when the disk failed has nothing behind it.
    LS_ASSIGN_OR_RETURN(const uint64_t end, reader.EndOfContent(kSegmentHeaderBytes));
    const bool is_cut = segment.bytes <= kSegmentHeaderBytes && !segment.header_is_zero;
    has_content = end > kSegmentHeaderBytes || is_cut;
  }
  if (has_content) bytes_total_ += segment.bytes;
  return absl::OkStatus();
}

// Of a segment whose header is not right, the blocks may be. Its salt is that of a segment beside it.
// It is taken for the first of a run, which leaves out too much rather than takes what is void.
absl::Status LogPieces::GuessHeaders() {
  for (size_t i = 0; i < segments_.size(); ++i) {
    Segment& segment = segments_[i];
    if (segment.why.empty()) continue;
    const SegmentName name = segment.header.name;
    for (const Segment& other : segments_) {
      if (!other.why.empty()) continue;
      const uint64_t seed = BlockSeed(name, other.header.salt);
      if (std::find(segment.seeds.begin(), segment.seeds.end(), seed) == segment.seeds.end()) {
        segment.seeds.push_back(seed);
      }
    }
    segment.header = {.name = name, .position = UINT64_MAX, .first_of_run = name.number};
    SegmentReader reader(*options_.calls, segment.path);
    LS_RETURN_IF_ERROR(reader.Open());
    SegmentReader::Block block;
    LS_ASSIGN_OR_RETURN(const bool found,
                        reader.FindBlock(kSegmentHeaderBytes, segment.seeds, block));
    if (found) segment.header.position = block.header.position;
  }
  return absl::OkStatus();
}

void LogPieces::MarkVoid() {
  for (size_t i = 0; i < segments_.size(); ++i) {
    for (size_t later = i + 1; later < segments_.size(); ++later) {
      const SegmentHeader& header = segments_[later].header;
      if (header.first_of_run > segments_[i].header.name.number) {
        segments_[i].void_from = std::min(segments_[i].void_from, header.position);
      }
    }
  }
}

absl::Status LogPieces::Enter() {
  reader_ = std::make_unique<SegmentReader>(*options_.calls, segments_[index_].path);
  LS_RETURN_IF_ERROR(reader_->Open());
  offset_ = kSegmentHeaderBytes;
  return absl::OkStatus();
}

void LogPieces::Leave() {
  bytes_before_ += segments_[index_].bytes;
  reader_.reset();
  offset_ = 0;
  ++index_;
}

// What is to come stands in a later segment: it was written again there, or a later run began with it.
bool LogPieces::LaterOneCovers() const {
  for (size_t later = index_ + 1; later < segments_.size(); ++later) {
    if (segments_[later].header.position <= next_) return true;
  }
  return false;
}

absl::StatusOr<bool> LogPieces::ReadHere(SegmentReader::Block& block, std::string& why) {
  const std::vector<uint64_t>& seeds = segments_[index_].seeds;
  why = "no segment beside it says what its blocks begin with";
  for (const uint64_t seed : seeds) {
    LS_ASSIGN_OR_RETURN(why, reader_->ReadBlock(offset_, seed, block));
    if (why.empty()) return true;
  }
  return false;
}

absl::StatusOr<bool> LogPieces::Next(LogPiece& piece) {
  LS_RETURN_IF_ERROR(failed_);
  while (!ended_ && index_ < segments_.size()) {
    LS_ASSIGN_OR_RETURN(const bool found, Step(piece));
    if (found) return true;
  }
  verdict_.end = next_;
  return false;
}

absl::StatusOr<bool> LogPieces::Step(LogPiece& piece) {
  Segment& segment = segments_[index_];
  if (reader_ == nullptr) {
    if (segment.header.position != UINT64_MAX && segment.header.position >= segment.void_from) {
      Leave();
      return false;
    }
    LS_RETURN_IF_ERROR(Enter());
    // What it holds may be whole: then all that is left is to say it.
    const std::string why = std::exchange(segment.why, "");
    if (!why.empty() && segment.header.position >= next_ && !LaterOneCovers()) {
      LS_RETURN_IF_ERROR(Missing(0, why, /*certain=*/!segment.header_is_zero));
      return false;
    }
  }
  SegmentReader::Block block;
  std::string why;
  LS_ASSIGN_OR_RETURN(const bool whole, ReadHere(block, why));
  if (whole) {
    const BlockHeader& header = block.header;
    synced_ = std::max(synced_, header.synced);
    const bool is_void = header.position >= segment.void_from && header.payload_bytes > 0;
    if (is_void || (header.position > next_ && LaterOneCovers())) {
      Leave();
      return false;
    }
    if (header.position > next_) {
      LS_RETURN_IF_ERROR(Missing(offset_, "the block here is a later one", /*certain=*/false));
      return false;
    }
    offset_ = block.end;
    return Take(block, piece);
  }
  LS_ASSIGN_OR_RETURN(const uint64_t end, reader_->EndOfContent(offset_));
  if (end == offset_ || LaterOneCovers()) {
    Leave();
    return false;
  }
  LS_RETURN_IF_ERROR(Missing(offset_, why, /*certain=*/false));
  return false;
}

// False: there is nothing in it that is to come.
bool LogPieces::Take(const SegmentReader::Block& block, LogPiece& piece) {
  const BlockHeader& header = block.header;
  const Segment& segment = segments_[index_];
  if (header.payload_bytes == 0) {
    verdict_.closed = header.position == next_;
    return false;
  }
  const uint64_t end = std::min(header.end(), segment.void_from);
  if (end <= next_) return false;
  verdict_.closed = false;
  last_written_at_nanos_ = header.written_at_nanos;
  if (has_piece_ && run_of_piece_ != segment.header.first_of_run) anew_ = true;
  // Behind something that is missing, or of a new run: what begins in it, no more.
  if (anew_) {
    const bool begins = header.records > 0 && header.position + header.first_record >= next_;
    next_ = begins ? std::min(end, header.position + header.first_record) : end;
    if (next_ == end) return false;
  }
  if (!has_piece_) verdict_.begin = next_;
  piece.bytes = block.payload.substr(next_ - header.position, end - next_);
  piece.position = next_;
  piece.written_at_nanos = header.written_at_nanos;
  piece.begins_anew = std::exchange(anew_, false);
  has_piece_ = true;
  run_of_piece_ = segment.header.first_of_run;
  next_ = end;
  return true;
}

absl::Status LogPieces::LookBehind(uint64_t offset, Behind& behind) {
  for (size_t index = index_; index < segments_.size(); ++index) {
    const Segment& segment = segments_[index];
    SegmentReader reader(*options_.calls, segment.path);
    LS_RETURN_IF_ERROR(reader.Open());
    SegmentReader::Block block;
    uint64_t at =
        index == index_ ? std::max<uint64_t>(offset, kSegmentHeaderBytes) : kSegmentHeaderBytes;
    while (true) {
      LS_ASSIGN_OR_RETURN(const bool found, reader.FindBlock(at, segment.seeds, block));
      if (!found) break;
      at = block.end;
      const BlockHeader& header = block.header;
      if (header.position >= segment.void_from || header.position < next_) continue;
      behind.synced = std::max(behind.synced, header.synced);
      if (!behind.found) {
        behind.found = true;
        behind.index = index;
        behind.offset = block.offset;
        behind.position = header.position;
        behind.written_at_nanos = header.written_at_nanos;
      }
      if (behind.synced > next_) return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

// What is not right may lie before what is to come: before `from`, or where blocks were cut
// otherwise.
absl::StatusOr<bool> LogPieces::ComesLaterHere(uint64_t offset) {
  SegmentReader::Block block;
  while (true) {
    LS_ASSIGN_OR_RETURN(const bool found,
                        reader_->FindBlock(offset, segments_[index_].seeds, block));
    if (!found || block.header.position > next_) return false;
    if (block.header.end() > next_) {
      offset_ = block.offset;
      return true;
    }
    offset = block.end;
  }
}

absl::Status LogPieces::Missing(uint64_t at_offset, const std::string& why, bool certain) {
  if (!certain) {
    LS_ASSIGN_OR_RETURN(const bool later, ComesLaterHere(at_offset));
    if (later) return absl::OkStatus();
  }
  Behind behind;
  LS_RETURN_IF_ERROR(LookBehind(at_offset, behind));
  if (!certain && std::max(synced_, behind.synced) <= next_) return CutOff(at_offset, why);
  return GoBehind(at_offset, why, behind);
}

absl::Status LogPieces::CutOff(uint64_t at_offset, const std::string& why) {
  ended_ = true;
  verdict_.torn_text =
      absl::StrCat("the log of shard ", options_.shard, " was cut off in ", segments_[index_].path,
                   " at offset ", at_offset, ", position ", next_, ": ", why);
  LS_ASSIGN_OR_RETURN(uint64_t end, reader_->EndOfContent(at_offset));
  verdict_.torn_bytes = end - at_offset;
  for (size_t later = index_ + 1; later < segments_.size(); ++later) {
    SegmentReader reader(*options_.calls, segments_[later].path);
    LS_RETURN_IF_ERROR(reader.Open());
    LS_ASSIGN_OR_RETURN(end, reader.EndOfContent(0));
    verdict_.torn_bytes += end;
  }
  return absl::OkStatus();
}

absl::Status LogPieces::Damaged(LogDamage damage) {
  absl::Status status = absl::DataLossError(damage.text);
  ++verdict_.damages_total;
  if (verdict_.damages.size() < kDamagesKept) verdict_.damages.push_back(std::move(damage));
  anew_ = true;
  if (!options_.go_on_behind_damage) failed_ = std::move(status);
  return failed_;
}

absl::Status LogPieces::GoBehind(uint64_t at_offset, const std::string& why, const Behind& behind) {
  LogDamage damage;
  damage.file = segments_[index_].path;
  damage.offset = at_offset;
  damage.from_position = next_;
  damage.to_position = behind.position;
  damage.after_nanos = last_written_at_nanos_;
  damage.before_nanos = behind.written_at_nanos;
  const std::string missing =
      !behind.found ? absl::StrCat("everything from position ", next_, " on is missing")
      : behind.position > next_
          ? absl::StrCat("positions ", next_, " to ", behind.position, " are missing")
          : absl::StrCat("what was begun before position ", next_, " may be missing");
  damage.text =
      absl::StrCat("commit log damaged: ", damage.file, " at offset ", at_offset, ": ", why, "; ",
                   missing, BetweenText(damage.after_nanos, damage.before_nanos));
  LS_RETURN_IF_ERROR(Damaged(std::move(damage)));
  if (!behind.found) {
    ended_ = true;
    return absl::OkStatus();
  }
  while (index_ < behind.index) Leave();
  if (reader_ == nullptr) LS_RETURN_IF_ERROR(Enter());
  segments_[index_].why.clear();  // the blocks of it are right
  offset_ = behind.offset;
  next_ = behind.position;
  return absl::OkStatus();
}

absl::Status LogPieces::Contradiction(uint64_t position, const std::string& text) {
  LogDamage damage;
  damage.file = segments_[index_].path;
  damage.offset = offset_;
  damage.from_position = position;
  damage.to_position = next_;
  damage.after_nanos = damage.before_nanos = last_written_at_nanos_;
  damage.text =
      absl::StrCat("commit log damaged: ", damage.file, " before offset ", offset_, ", position ",
                   position, ": ", text, BetweenText(damage.after_nanos, damage.before_nanos));
  return Damaged(std::move(damage));
}

}  // namespace liststore::commitlog
