// LogPieces: the bytes of one shard's log, out of all its segments, in order and each once. What is
// missing is judged here: cut off by a crash, or damaged.
#ifndef LISTSTORE_ENGINE_COMMITLOG_LOG_PIECES_H_
#define LISTSTORE_ENGINE_COMMITLOG_LOG_PIECES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/log_reader.h"
#include "engine/commitlog/segment_reader.h"

namespace liststore::commitlog {

// Some bytes of the log.
struct LogPiece {
  std::string_view bytes;  // valid until the next one is read
  uint64_t position = 0;
  uint64_t written_at_nanos = 0;
  bool begins_anew = false;  // a record begins here: what was begun before it was cut off
};

// Used by one thread.
class LogPieces {
 public:
  explicit LogPieces(const LogReaderOptions& options);

  absl::Status Open();
  // False: the end.
  absl::StatusOr<bool> Next(LogPiece& piece);
  // The piece that was read last has content that no writer made; `text` says what. DataLoss, or OK:
  // it is gone on behind it.
  absl::Status Contradiction(uint64_t position, const std::string& text);

  uint64_t next_position() const { return next_; }
  LogVerdict& verdict() { return verdict_; }
  uint32_t last_shards() const { return last_shards_; }
  uint32_t last_run() const { return last_run_; }
  uint64_t bytes_done() const { return bytes_before_ + (index_ < segments_.size() ? offset_ : 0); }
  uint64_t bytes_total() const { return bytes_total_; }

 private:
  struct Segment {
    SegmentHeader header;
    std::string path;
    uint64_t bytes = 0;
    bool header_is_zero = false;      // it never came to the disk
    std::string why;                  // the header is not right; position and run are guessed
    std::vector<uint64_t> seeds;      // of its blocks; several are tried with a header not right
    uint64_t void_from = UINT64_MAX;  // what begins here or behind was cut off by a later run
  };
  // What follows something that is missing.
  struct Behind {
    bool found = false;
    size_t index = 0;
    uint64_t offset = 0;
    uint64_t position = 0;
    uint64_t written_at_nanos = 0;
    uint64_t synced = 0;  // the largest that is said anywhere behind, or enough
  };

  absl::Status OpenSegment(const SegmentName& name, bool& has_content);
  absl::Status GuessHeaders();
  void MarkVoid();
  absl::Status Enter();
  void Leave();
  bool LaterOneCovers() const;
  // From the current place: true, a block was read; false, there is none here.
  absl::StatusOr<bool> ReadHere(SegmentReader::Block& block, std::string& why);
  bool Take(const SegmentReader::Block& block, LogPiece& piece);
  absl::StatusOr<bool> Step(LogPiece& piece);
  // The log is not there at next_: it ends, is gone on with behind, or DataLoss. `certain`: no crash
  // leaves that behind.
  absl::Status Missing(uint64_t at_offset, const std::string& why, bool certain);
  absl::StatusOr<bool> ComesLaterHere(uint64_t offset);
  absl::Status LookBehind(uint64_t offset, Behind& behind);
  absl::Status CutOff(uint64_t at_offset, const std::string& why);
  absl::Status GoBehind(uint64_t at_offset, const std::string& why, const Behind& behind);
  absl::Status Damaged(LogDamage damage);

  const LogReaderOptions options_;
  std::vector<Segment> segments_;
  std::unique_ptr<SegmentReader> reader_;  // of segments_[index_], while it is entered
  size_t index_ = 0;
  uint64_t offset_ = 0;
  uint64_t next_;        // the position that is to come
  uint64_t synced_ = 0;  // what blocks have said so far
  uint64_t last_written_at_nanos_ = 0;
  uint64_t run_of_piece_ = 0;  // first_of_run of the last piece
  bool has_piece_ = false;
  bool anew_ = false;  // the next piece begins with a record's beginning
  bool ended_ = false;
  absl::Status failed_;  // the first error; stays until the end
  uint64_t bytes_before_ = 0;
  uint64_t bytes_total_ = 0;
  uint32_t last_shards_ = 0;
  uint32_t last_run_ = 0;
  LogVerdict verdict_;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_LOG_PIECES_H_
