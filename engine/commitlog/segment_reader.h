// SegmentReader: the blocks of one segment, whole ones alone.
#ifndef LISTSTORE_ENGINE_COMMITLOG_SEGMENT_READER_H_
#define LISTSTORE_ENGINE_COMMITLOG_SEGMENT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/log_format.h"
#include "engine/disk/file_calls.h"

namespace liststore::commitlog {

// Used by one thread. Keeps up to 2 MiB.
class SegmentReader {
 public:
  struct Block {
    BlockHeader header;
    uint64_t offset = 0;       // of the header
    uint64_t end = 0;          // of the payload
    std::string_view payload;  // valid until the next call
  };

  // `calls` outlives it.
  SegmentReader(disk::FileCalls& calls, std::string path);
  ~SegmentReader();
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  // NotFound, PermissionDenied and others: the disk's.
  absl::Status Open();
  void Close();
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Up to `bytes`, at most kWindowBytes, from `offset`; fewer at the end. Valid until the next call.
  absl::StatusOr<std::string_view> At(uint64_t offset, size_t bytes);
  // The block at `offset`, whose header's checksum has this seed; "" or why it is not whole.
  absl::StatusOr<std::string> ReadBlock(uint64_t offset, uint64_t seed, Block& block);
  // The first whole block at `offset` or behind it, of any of the seeds. False: there is none.
  absl::StatusOr<bool> FindBlock(uint64_t offset, const std::vector<uint64_t>& seeds, Block& block);
  // Where the last byte from `offset` on that is not zero ends; `offset` without one.
  absl::StatusOr<uint64_t> EndOfContent(uint64_t offset);

 private:
  static constexpr size_t kWindowBytes = 2 * kBlockPayloadMax;
  static constexpr int kNoFile = -1;

  disk::FileCalls& calls_;
  const std::string path_;
  int file_ = kNoFile;
  uint64_t size_ = 0;
  std::string window_;
  uint64_t window_at_ = 0;
  size_t window_bytes_ = 0;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_SEGMENT_READER_H_
