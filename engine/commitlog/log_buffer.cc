#include "engine/commitlog/log_buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore::commitlog {

struct LogBuffer::Chunk {
  Chunk* next = nullptr;
  size_t filled = 0;  // where its last block ends, once it is not the tail
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
};

LogBuffer::LogBuffer(size_t chunk_bytes, uint64_t position)
    : chunk_bytes_(chunk_bytes), end_(position), appended_(position) {
  LS_CHECK(chunk_bytes > kEncodedBytesMax + kRecordHeaderBytes + 2 * kBlockHeaderBytes &&
               chunk_bytes <= kBlockPayloadMax,
           "a chunk takes the longest record that is encoded into it, and is a block at most");
}

LogBuffer::~LogBuffer() {
  for (Chunk* list : {kept_.chunk, free_}) {
    while (list != nullptr) {
      Chunk* next = list->next;
      ::operator delete(list);
      list = next;
    }
  }
}

// Of each chunk the end may stay unused, where an encoded record did not fit; and a block may begin
// in it that has no record of its own. The first and the last are partly used.
void LogBuffer::SetCapacityLocked() {
  const size_t usable =
      chunk_bytes_ - kEncodedBytesMax - kRecordHeaderBytes - 2 * kBlockHeaderBytes;
  capacity_.store(chunks_ < 2 ? 0 : (chunks_ - 2) * usable, std::memory_order_relaxed);
  is_small_.store(chunks_ <= kChunksKept, std::memory_order_relaxed);
}

bool LogBuffer::Grow(size_t cost) {
  while (capacity() < cost) {
    void* memory = ::operator new(sizeof(Chunk) + chunk_bytes_, std::nothrow);
    if (memory == nullptr) return false;
    auto* chunk = new (memory) Chunk;
    MutexLock lock(mutex_);
    ++chunks_;
    if (tail_ == nullptr) {
      tail_ = chunk;
      kept_ = next_ = sealed_ = {chunk, 0};
    } else {
      chunk->next = free_;
      free_ = chunk;
      ++free_chunks_;
    }
    SetCapacityLocked();
  }
  return true;
}

void LogBuffer::Shrink(size_t cost) {
  Chunk* unused = nullptr;
  {
    MutexLock lock(mutex_);
    while (free_chunks_min_ > 0 && chunks_ > kChunksKept) {
      --chunks_;
      SetCapacityLocked();
      if (capacity() < cost) {
        ++chunks_;
        SetCapacityLocked();
        break;
      }
      Chunk* chunk = free_;
      free_ = chunk->next;
      --free_chunks_;
      --free_chunks_min_;
      chunk->next = unused;
      unused = chunk;
    }
    free_chunks_min_ = free_chunks_;
  }
  while (unused != nullptr) {
    Chunk* next = unused->next;
    ::operator delete(unused);
    unused = next;
  }
}

void LogBuffer::SealLocked() {
  if (!open_) return;
  open_ = false;
  block_.payload_bytes = static_cast<uint32_t>(at_ - block_at_ - kBlockHeaderBytes);
  StoreOpenHeader(block_, tail_->bytes() + block_at_);
}

void LogBuffer::NextChunkLocked() {
  SealLocked();
  Chunk* chunk = free_;
  LS_CHECK(chunk != nullptr, "room is set aside before a record is appended");
  free_ = chunk->next;
  --free_chunks_;
  free_chunks_min_ = std::min(free_chunks_min_, free_chunks_);
  chunk->next = nullptr;
  tail_->filled = at_;
  tail_->next = chunk;
  tail_ = chunk;
  at_ = 0;
}

void LogBuffer::PrepareLocked(size_t bytes) {
  if (open_ && room() >= bytes) return;
  if (open_ || room() < kBlockHeaderBytes + bytes) NextChunkLocked();
  open_ = true;
  block_at_ = at_;
  at_ += kBlockHeaderBytes;
  block_ = BlockHeader{.position = end_};
}

void LogBuffer::BeginRecordLocked(RecordKind kind, size_t bytes, char* at) {
  if (block_.records++ == 0) {
    block_.first_record = static_cast<uint32_t>(at_ - block_at_ - kBlockHeaderBytes);
  }
  StoreNative<uint32_t>(at, static_cast<uint32_t>(bytes));
  at[4] = static_cast<char>(kind);
  at_ += kRecordHeaderBytes;
}

uint64_t LogBuffer::Append(RecordKind kind, std::string_view record) {
  MutexLock lock(mutex_);
  PrepareLocked(kRecordHeaderBytes);
  BeginRecordLocked(kind, record.size(), tail_->bytes() + at_);
  end_ += kRecordHeaderBytes;
  while (!record.empty()) {
    if (room() == 0) PrepareLocked(1);
    const size_t piece = std::min(record.size(), room());
    std::memcpy(tail_->bytes() + at_, record.data(), piece);
    at_ += piece;
    end_ += piece;
    record.remove_prefix(piece);
  }
  appended_.store(end_, std::memory_order_release);
  return end_;
}

uint64_t LogBuffer::AppendEncoded(RecordKind kind, size_t bytes_max,
                                  absl::FunctionRef<size_t(char*)> encode, size_t& bytes) {
  MutexLock lock(mutex_);
  PrepareLocked(kRecordHeaderBytes + bytes_max);
  char* const at = tail_->bytes() + at_;
  bytes = encode(at + kRecordHeaderBytes);
  LS_CHECK(bytes <= bytes_max, "a record is no longer than what was set aside");
  BeginRecordLocked(kind, bytes, at);
  at_ += bytes;
  end_ += kRecordHeaderBytes + bytes;
  appended_.store(end_, std::memory_order_release);
  return end_;
}

uint64_t LogBuffer::Seal() {
  MutexLock lock(mutex_);
  SealLocked();
  sealed_ = {tail_, at_};
  return end_;
}

bool LogBuffer::HasMore() {
  while (next_.chunk != sealed_.chunk && next_.at == next_.chunk->filled) {
    next_ = {next_.chunk->next, 0};
  }
  return next_.chunk != sealed_.chunk || next_.at != sealed_.at;
}

LogBuffer::Run LogBuffer::Next(size_t bytes_max) {
  Run run;
  if (!HasMore()) return run;
  const size_t end = next_.chunk == sealed_.chunk ? sealed_.at : next_.chunk->filled;
  run.begin = next_.chunk->bytes() + next_.at;
  while (next_.at + run.bytes < end) {
    const BlockHeader block = LoadOpenHeader(run.begin + run.bytes);
    const size_t bytes = kBlockHeaderBytes + block.payload_bytes;
    if (run.bytes + bytes > bytes_max) break;
    if (run.bytes == 0) run.position = block.position;
    run.bytes += bytes;
    run.end_position = block.end();
    run.cost += block.payload_bytes + size_t{block.records} * kBlockHeaderBytes;
  }
  return run;
}

void LogBuffer::Taken(const Run& run) {
  LS_CHECK(run.begin == next_.chunk->bytes() + next_.at, "runs are taken in order");
  next_.at += run.bytes;
}

void LogBuffer::Release(const Mark& mark) {
  MutexLock lock(mutex_);
  while (kept_.chunk != mark.chunk) {
    Chunk* chunk = kept_.chunk;
    kept_.chunk = chunk->next;
    chunk->next = free_;
    free_ = chunk;
    ++free_chunks_;
  }
  kept_ = mark;
  // All of it: the next record is where the processor's caches have memory already.
  if (mark.chunk != tail_ || mark.at != at_ || open_ || next_.chunk != tail_ || next_.at != at_) {
    return;
  }
  at_ = 0;
  kept_.at = next_.at = sealed_.at = 0;
}

}  // namespace liststore::commitlog
