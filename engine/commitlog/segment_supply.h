// SegmentSupply: files of a log that are made before they are needed, so that a full disk is met
// before anything is promised, and no writer waits for a file.
#ifndef LISTSTORE_ENGINE_COMMITLOG_SEGMENT_SUPPLY_H_
#define LISTSTORE_ENGINE_COMMITLOG_SEGMENT_SUPPLY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/log_format.h"
#include "engine/disk/file_calls.h"

namespace liststore::commitlog {

// An open file, all zeros to begin with. Who has it closes it.
struct SegmentFile {
  SegmentName name;
  std::string path;
  int file = -1;
};

// Thread-safe.
class SegmentSupply {
 public:
  // `calls` outlives it. Numbers go up from `first_number`.
  SegmentSupply(disk::FileCalls& calls, std::string directory, uint32_t shard, size_t segment_bytes,
                uint64_t first_number);
  // Closes what is ahead, and leaves it.
  ~SegmentSupply();
  SegmentSupply(const SegmentSupply&) = delete;
  SegmentSupply& operator=(const SegmentSupply&) = delete;

  // Makes segments until `ahead` are there. Their names may not survive a loss of power yet.
  // ResourceExhausted: no space; nothing of the one that failed is left.
  absl::Status Prepare(size_t ahead);
  // Segments that are made and not taken.
  size_t ahead() const { return ahead_.load(std::memory_order_acquire); }
  // The oldest of them. False: there is none.
  bool Take(SegmentFile& segment);
  // Until it returns OK, the name of `number` may not survive a loss of power. A call of the kernel,
  // unless a later one was asked for before.
  absl::Status SyncNames(uint64_t number);
  // Whether there are names that SyncNames was not asked for.
  bool has_new_names() const;
  uint64_t last_number() const;
  // Removes what is ahead. What cannot be removed is left.
  void RemoveAhead();

 private:
  absl::Status MakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(making_);
  absl::Status FillWithZeros(int file, const std::string& path);

  disk::FileCalls& calls_;
  const std::string directory_;
  const uint32_t shard_;
  const size_t segment_bytes_;

  Mutex making_;  // held while files are made; before mutex_
  uint64_t next_number_ ABSL_GUARDED_BY(making_);
  mutable Mutex mutex_;
  std::deque<SegmentFile> files_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_made_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t names_synced_ ABSL_GUARDED_BY(mutex_) = 0;  // up to this number
  std::atomic<size_t> ahead_{0};
};

// Of a directory: the names in it survive a loss of power.
absl::Status SyncDirectory(disk::FileCalls& calls, const std::string& directory);

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_SEGMENT_SUPPLY_H_
