// LogBuffer: the end of a log that is in memory. Lanes append records at its end; one writer takes
// blocks from its front, and says when they need not be kept any more.
//
// Blocks are made where they lie: before the first byte of one there is room for its header, so that
// a run of blocks goes to the kernel as it is. Three cursors, in order: what is kept, what was handed
// to the kernel, where is appended.
//
// Memory: chunks of one size, each with a list's link. One that is all given back is used again.
#ifndef LISTSTORE_ENGINE_COMMITLOG_LOG_BUFFER_H_
#define LISTSTORE_ENGINE_COMMITLOG_LOG_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/log_format.h"
#include "engine/commitlog/write_log.h"

namespace liststore::commitlog {

class LogBuffer {
 public:
  // What a record of `bytes` takes of the buffer and of a segment at most: a block of its own.
  static constexpr size_t CostOf(size_t bytes) {
    return bytes + kRecordHeaderBytes + kBlockHeaderBytes;
  }

  // Chunks of `chunk_bytes`, over kEncodedBytesMax; the log goes on at `position`. Holds none before
  // Grow, which is called before anything is appended.
  LogBuffer(size_t chunk_bytes, uint64_t position);
  ~LogBuffer();
  LogBuffer(const LogBuffer&) = delete;
  LogBuffer& operator=(const LogBuffer&) = delete;

  // Any thread.

  // Takes chunks until records of this cost fit altogether. False: the heap refuses.
  bool Grow(size_t cost);
  // Gives chunks back that were not used since the last call; keeps some, and what `cost` takes.
  void Shrink(size_t cost);
  // What fits altogether, with what is kept.
  size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  // Shrink would find nothing.
  bool is_small() const { return is_small_.load(std::memory_order_relaxed); }

  // Both return the end position. The caller has seen to it that all records fit.
  uint64_t Append(RecordKind kind, std::string_view record);
  // `bytes` becomes the record's length, at most `bytes_max`.
  uint64_t AppendEncoded(RecordKind kind, size_t bytes_max, absl::FunctionRef<size_t(char*)> encode,
                         size_t& bytes);
  uint64_t appended() const { return appended_.load(std::memory_order_acquire); }

  // The writer: one thread at a time.

  struct Chunk;
  // A place between two blocks.
  struct Mark {
    Chunk* chunk = nullptr;
    size_t at = 0;
  };
  // Whole blocks, one behind the other, with room for their headers.
  struct Run {
    char* begin = nullptr;
    size_t bytes = 0;       // 0: there is none
    uint64_t position = 0;  // of the first byte of the log in it
    uint64_t end_position = 0;
    size_t cost = 0;  // what was counted for it
  };
  // Ends the block that is appended to: what was appended so far can be taken. Its end.
  uint64_t Seal();
  // Whether there is something to be taken, of what was sealed.
  bool HasMore();
  // What is next, up to `bytes_max` with headers. No bytes: not even one block is so small.
  Run Next(size_t bytes_max);
  // The run is with the kernel: the next one follows.
  void Taken(const Run& run);
  // Between what was taken and what is next.
  Mark mark() const { return next_; }
  // What lies before `mark` is not kept any more.
  void Release(const Mark& mark);
  // What is kept is taken once more, from its beginning.
  void TakeAgain() { next_ = kept_; }

 private:
  static constexpr size_t kChunksKept = 8;

  // Room for `bytes` of a record, and whether it is its beginning.
  void PrepareLocked(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginRecordLocked(RecordKind kind, size_t bytes, char* at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SealLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NextChunkLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetCapacityLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t room() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return chunk_bytes_ - at_; }

  const size_t chunk_bytes_;

  // Appenders.
  Mutex mutex_;
  Chunk* tail_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t at_ ABSL_GUARDED_BY(mutex_) = 0;  // the first free byte of the tail
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  size_t block_at_ ABSL_GUARDED_BY(mutex_) = 0;  // of the open block's header
  BlockHeader block_ ABSL_GUARDED_BY(mutex_);    // of the open block
  uint64_t end_ ABSL_GUARDED_BY(mutex_);
  Chunk* free_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t free_chunks_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t free_chunks_min_ ABSL_GUARDED_BY(mutex_) = 0;  // since the last Shrink
  size_t chunks_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> appended_;
  std::atomic<size_t> capacity_{0};
  std::atomic<bool> is_small_{true};

  // The writer.
  Mark kept_;
  Mark next_;
  Mark sealed_;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_LOG_BUFFER_H_
