#include "engine/storage/probation_queue.h"

#include <algorithm>

namespace liststore::storage {

void ProbationQueue::Push(uint64_t address, uint32_t push) {
  if (last_ == nullptr || last_->end == kEntries) {
    auto* chunk =
        static_cast<Chunk*>(arena_.Allocate(sizeof(Chunk), memory::Arena::Mobility::kFixed));
    chunk->next = nullptr;
    chunk->begin = chunk->end = 0;
    chunk->first_push = push;
    (last_ == nullptr ? first_ : last_->next) = chunk;
    last_ = chunk;
  }
  last_->entries[last_->end++] = address;
  last_->last_push = push;
  ++size_;
}

uint64_t ProbationQueue::Pop() {
  LS_CHECK(size_ != 0, "an entry is popped from a queue that has one");
  const uint64_t address = first_->entries[first_->begin++];
  if (first_->begin == first_->end) FreeFirst();
  --size_;
  if (left_to_sweep_ != 0) --left_to_sweep_;
  return address;
}

void ProbationQueue::FreeFirst() {
  Chunk* const next = first_->next;
  arena_.Free(first_, sizeof(Chunk));
  first_ = next;
  if (first_ == nullptr) last_ = nullptr;
}

void ProbationQueue::Clear() {
  while (first_ != nullptr) FreeFirst();
  size_ = left_to_sweep_ = 0;
}

void ProbationQueue::Verify() const {
  size_t entries = 0;
  const Chunk* last = nullptr;
  for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
    LS_CHECK(chunk->begin < chunk->end && chunk->end <= kEntries, "no chunk is empty");
    LS_CHECK(chunk->next == nullptr || chunk->end == kEntries, "only the last chunk has room");
    entries += chunk->end - chunk->begin;
    last = chunk;
  }
  LS_CHECK(last == last_, "the last chunk is known");
  LS_CHECK(entries == size_, "entries are counted");
  LS_CHECK(left_to_sweep_ <= size_, "a sweep ends");
}

}  // namespace liststore::storage
