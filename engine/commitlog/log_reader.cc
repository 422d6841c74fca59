#include "engine/commitlog/log_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/status_macros.h"
#include "engine/commitlog/log_format.h"
#include "engine/commitlog/log_pieces.h"

namespace liststore::commitlog {
namespace {

// The memory of a longer record is given back.
constexpr size_t kPartialKept = size_t{1} << 20;

size_t RecordBytes(std::string_view header) { return LoadNative<uint32_t>(header.data()); }
uint8_t KindOf(std::string_view header) { return static_cast<uint8_t>(header[4]); }

// Checksums hold, and yet nobody wrote others.
bool IsSound(std::string_view header) {
  return RecordBytes(header) <= kRecordBytesMax && KindOf(header) != 0 &&
         KindOf(header) <= kRecordKindMax;
}

std::string Contradiction(std::string_view header) {
  if (RecordBytes(header) > kRecordBytesMax) {
    return absl::StrCat("a record of ", RecordBytes(header), " bytes exceeds ", kRecordBytesMax);
  }
  return absl::StrCat("a record of kind ", KindOf(header));
}

}  // namespace

LogReader::LogReader(const LogReaderOptions& options)
    : pieces_(std::make_unique<LogPieces>(options)), from_(options.from) {}

LogReader::~LogReader() = default;

absl::Status LogReader::Open() { return pieces_->Open(); }

absl::StatusOr<bool> LogReader::Next(LogRecord& record) {
  if (partial_handed_on_) DropPartial();
  while (true) {
    if (rest_.empty()) {
      LS_ASSIGN_OR_RETURN(const bool more, MorePieces());
      if (!more) return false;
      continue;
    }
    std::string_view whole;
    if (partial_.empty() && rest_.size() >= kRecordHeaderBytes &&
        rest_.size() - kRecordHeaderBytes >= RecordBytes(rest_)) {
      begin_ = position_;
      whole = Take(kRecordHeaderBytes + RecordBytes(rest_));
    } else if (Collect()) {
      whole = partial_;
    } else {
      continue;
    }
    if (!IsSound(whole)) {
      const std::string why = Contradiction(whole);
      rest_ = {};
      DropPartial();
      LS_RETURN_IF_ERROR(pieces_->Contradiction(begin_, why));
      continue;
    }
    // Only its header was collected so far.
    if (whole.size() < kRecordHeaderBytes + RecordBytes(whole)) continue;
    partial_handed_on_ = !partial_.empty();
    record = {static_cast<RecordKind>(KindOf(whole)), whole.substr(kRecordHeaderBytes), begin_,
              position_, written_at_nanos_};
    ++pieces_->verdict().records;
    pieces_->verdict().record_bytes += record.bytes.size();
    return true;
  }
}

std::string_view LogReader::Take(size_t bytes) {
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  position_ += taken.size();
  return taken;
}

// True: the header of a record, or all of it, was brought together.
bool LogReader::Collect() {
  if (partial_.empty()) begin_ = position_;
  const size_t wanted = partial_.size() < kRecordHeaderBytes
                            ? kRecordHeaderBytes
                            : kRecordHeaderBytes + RecordBytes(partial_);
  partial_.append(Take(wanted - partial_.size()));
  return partial_.size() == wanted;
}

void LogReader::DropPartial() {
  partial_handed_on_ = false;
  partial_.clear();
  if (partial_.capacity() > kPartialKept) partial_ = std::string();
}

absl::StatusOr<bool> LogReader::MorePieces() {
  LogPiece piece;
  LS_ASSIGN_OR_RETURN(const bool more, pieces_->Next(piece));
  if (!more) return false;
  if (piece.begins_anew) DropPartial();
  rest_ = piece.bytes;
  position_ = piece.position;
  written_at_nanos_ = piece.written_at_nanos;
  return true;
}

uint64_t LogReader::end() const { return std::max(pieces_->next_position(), from_); }
const LogVerdict& LogReader::verdict() const { return pieces_->verdict(); }
uint32_t LogReader::last_shards() const { return pieces_->last_shards(); }
uint32_t LogReader::last_run() const { return pieces_->last_run(); }
uint64_t LogReader::bytes_done() const { return pieces_->bytes_done(); }
uint64_t LogReader::bytes_total() const { return pieces_->bytes_total(); }

}  // namespace liststore::commitlog
