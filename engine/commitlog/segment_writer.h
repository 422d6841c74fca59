// SegmentWriter: blocks into segments, one behind the other, and which segments there are.
//
// Blocks are stored to the file's memory, where it can be mapped, else written by calls: a call costs as
// much as the rest of a small write, a store a page's fault once in 4 KiB.
//
// A segment that a call failed for is over: the next block goes into a new one. What could be written
// of it stays. After a failed synchronisation nothing of what was not synchronised is believed to be
// there (GiveUp): the log's owner has it taken again, into new segments.
#ifndef LISTSTORE_ENGINE_COMMITLOG_SEGMENT_WRITER_H_
#define LISTSTORE_ENGINE_COMMITLOG_SEGMENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/commitlog/log_buffer.h"
#include "engine/commitlog/segment_supply.h"
#include "engine/disk/file_calls.h"
#include "engine/disk/mapped_window.h"

namespace liststore::commitlog {

// Used by one thread at a time.
class SegmentWriter {
 public:
  struct Run {
    uint32_t shards = 1;
    uint32_t number = 0;         // the caller's
    uint64_t first_segment = 0;  // of the log
    uint64_t salt = 0;
  };
  // What the blocks say that are written next.
  struct Stamp {
    uint64_t synced = 0;
    uint64_t now_nanos = 0;
  };
  struct Done {
    size_t cost = 0;            // of the records in the blocks
    size_t bytes = 0;           // with headers
    uint64_t calls = 0;         // of the kernel
    uint64_t end_position = 0;  // 0: nothing was written
  };
  struct Unsynced {
    uint64_t number = 0;
    int file = -1;
    bool full = false;  // nothing more is written to it
  };

  // `calls` and `supply` outlive it.
  SegmentWriter(disk::FileCalls& calls, SegmentSupply& supply, size_t segment_bytes,
                size_t chunk_bytes, const Run& run);
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  // What records may cost (LogBuffer::CostOf) that a segment takes, or `bytes` of one: its last block
  // may not fit any more, and blocks may have no record of their own.
  static size_t Usable(size_t bytes, size_t chunk_bytes);
  // Of the segment that is written.
  size_t room() const;

  // Everything that was sealed. After an error what is left stays in the buffer.
  absl::Status WriteAll(LogBuffer& buffer, const Stamp& stamp, Done& done);

  // What was written since it was last synchronised, oldest first; the one that is written is last,
  // and left out with `full_only`.
  void ListUnsynced(bool full_only, std::vector<Unsynced>& files) const;
  bool has_full() const { return !full_.empty(); }
  // Where the segment that is written begins; `otherwise` without one.
  uint64_t PositionOfCurrent(uint64_t otherwise) const;
  // These are synchronised as they were when they were listed.
  void Synced(const std::vector<Unsynced>& files);
  // A synchronisation failed. `written_again`: all that was not synchronised will be, and has been
  // since the last time; what was given up then is removed.
  void GiveUp(bool written_again);
  // Everything is synchronised again: what was given up is removed, but for what lies before
  // `position` in it.
  void Recovered(uint64_t position);

  // A block that says that the log was closed, the end of the segment cut off. Synchronised after.
  absl::Status WriteEnd(const Stamp& stamp, uint64_t position);

  // Segments of earlier runs, in order. Position UINT64_MAX: not known.
  void AddEarlier(const SegmentFile& segment, uint64_t position);
  // Takes those off the list that end at or before `position`; their paths.
  std::vector<std::string> TakeBefore(uint64_t position);
  size_t segments() const { return segments_.size(); }

 private:
  struct Segment {
    SegmentFile file;
    uint64_t position = 0;  // of its first byte of the log
  };
  absl::Status Begin(uint64_t position);
  void End();
  void SealHeaders(const LogBuffer::Run& run, const Stamp& stamp);
  absl::Status WriteFully(const char* from, size_t bytes, uint64_t offset, Done& done);
  absl::Status StoreFully(const char* from, size_t bytes, uint64_t offset, Done& done);
  // The window is where `offset` is. False: nothing is mapped, and it is written by calls.
  bool Slide(uint64_t offset, Done& done);
  void Remove(const Segment& segment);

  disk::FileCalls& calls_;
  SegmentSupply& supply_;
  const size_t segment_bytes_;
  const size_t chunk_bytes_;
  const Run run_;

  // Small, since what is mapped counts to the resident memory of the process.
  static constexpr size_t kWindowBytes = size_t{256} << 10;
  disk::MappedWindow window_;  // of current_
  bool maps_ = true;           // not refused for current_ so far
  Segment current_;
  bool has_file_ = false;  // current_ has a file, whose header may have to be written again
  bool begun_ = false;     // current_ takes blocks
  uint64_t offset_ = 0;
  std::vector<Segment> full_;            // written, open, not known to be synchronised
  std::vector<Segment> given_up_;        // after a first failure
  std::vector<Segment> given_up_again_;  // after another one: their content is in later ones
  std::vector<Segment> segments_;        // all with a header, in order
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_SEGMENT_WRITER_H_
