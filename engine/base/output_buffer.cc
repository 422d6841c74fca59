#include "engine/base/output_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace liststore {
namespace {

// Holds most answers of a few rows, and is a step of malloc's small classes.
constexpr size_t kFirstCapacity = 1024;

}  // namespace

OutputBuffer::~OutputBuffer() { std::free(begin_); }

void OutputBuffer::Grow(size_t bytes) {
  LS_CHECK(bytes <= SIZE_MAX / 4 && capacity_ <= SIZE_MAX / 4, "sizes of buffers do not overflow");
  const size_t wanted = std::max({kFirstCapacity, size_ + bytes, 2 * capacity_});
  auto* const moved = static_cast<char*>(std::realloc(begin_, wanted));
  if (moved == nullptr) throw std::bad_alloc();
  begin_ = moved;
  capacity_ = wanted;
}

void OutputBuffer::DropFront(size_t bytes) {
  LS_CHECK(bytes <= size_, "a buffer loses bytes that it has");
  size_ -= bytes;
  if (size_ != 0 && bytes != 0) std::memmove(begin_, begin_ + bytes, size_);
}

void OutputBuffer::ShrinkTo(size_t capacity_max) {
  const size_t wanted = std::max(capacity_max, size_);
  if (capacity_ <= wanted) return;
  if (wanted == 0) {
    std::free(begin_);
    begin_ = nullptr;
  } else {
    auto* const moved = static_cast<char*>(std::realloc(begin_, wanted));
    if (moved == nullptr) return;
    begin_ = moved;
  }
  capacity_ = wanted;
}

char* OutputBuffer::Insert(size_t offset, size_t bytes) {
  LS_CHECK(offset <= size_, "a gap opens within the buffer or at its end");
  const size_t moved = size_ - offset;
  Extend(bytes);
  char* const at = begin_ + offset;
  if (moved != 0) std::memmove(at + bytes, at, moved);
  return at;
}

}  // namespace liststore
