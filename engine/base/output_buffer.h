// OutputBuffer: bytes on their way to a socket.
#ifndef LISTSTORE_ENGINE_BASE_OUTPUT_BUFFER_H_
#define LISTSTORE_ENGINE_BASE_OUTPUT_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore {

// A growable array of bytes that is never zero-filled. It doubles when it grows, and keeps its
// memory over Clear(), so that a connection which answers in a steady way allocates nothing. One
// owner, one thread at a time. What makes it larger throws std::bad_alloc where the heap refuses, and
// has changed nothing.
class OutputBuffer {
 public:
  OutputBuffer() = default;
  ~OutputBuffer();
  OutputBuffer(OutputBuffer&& other) noexcept { Swap(other); }
  OutputBuffer& operator=(OutputBuffer&& other) noexcept {
    Swap(other);
    return *this;
  }
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  const char* data() const { return begin_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }
  // Valid until the next call that is not const.
  std::string_view view() const { return {begin_, size_}; }
  std::string_view ViewFrom(size_t offset) const { return view().substr(offset); }

  // Drops the contents and keeps the memory.
  void Clear() { size_ = 0; }
  // Drops everything from `size` on.
  void Truncate(size_t size) {
    LS_CHECK(size <= size_, "a buffer is cut where it has bytes");
    size_ = size;
  }
  // Drops the first `bytes`; O(what remains).
  void DropFront(size_t bytes);
  // Gives memory back beyond `capacity_max` bytes. For an empty buffer, after a giant answer.
  void ShrinkTo(size_t capacity_max);

  // Room for `bytes` more without a reallocation.
  void Reserve(size_t bytes) {
    if (__builtin_expect(capacity_ - size_ < bytes, false)) Grow(bytes);
  }
  // Appends `bytes` uninitialised bytes, which the caller writes; valid until the next growth.
  char* Extend(size_t bytes) {
    Reserve(bytes);
    char* const at = begin_ + size_;
    size_ += bytes;
    return at;
  }

  void Append(std::string_view bytes) {
    char* const to = Extend(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  void AppendByte(uint8_t value) { *Extend(1) = static_cast<char>(value); }
  void AppendBigEndian16(uint16_t value) { StoreBigEndian16(Extend(2), value); }
  void AppendBigEndian32(uint32_t value) { StoreBigEndian32(Extend(4), value); }
  void AppendBigEndian64(uint64_t value) { StoreBigEndian64(Extend(8), value); }

  void PatchByte(size_t offset, uint8_t value) {
    LS_CHECK(offset < size(), "what is patched lies in the buffer");
    begin_[offset] = static_cast<char>(value);
  }
  // Overwrites 4 bytes at `offset`.
  void PatchBigEndian32(size_t offset, uint32_t value) {
    LS_CHECK(size() >= 4 && offset <= size() - 4, "what is patched lies in the buffer");
    StoreBigEndian32(begin_ + offset, value);
  }
  uint32_t BigEndian32At(size_t offset) const {
    LS_CHECK(size() >= 4 && offset <= size() - 4, "what is read lies in the buffer");
    return LoadBigEndian32(begin_ + offset);
  }
  // Opens a gap of `bytes` uninitialised bytes at `offset`; moves what lies behind it.
  char* Insert(size_t offset, size_t bytes);

 private:
  // Makes room for at least `bytes` more.
  void Grow(size_t bytes);
  void Swap(OutputBuffer& other) {
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  char* begin_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_OUTPUT_BUFFER_H_
