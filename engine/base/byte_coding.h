// Numbers and texts as bytes of a file: little-endian, one behind the other, and back, whatever the bytes.
#ifndef LISTSTORE_ENGINE_BASE_BYTE_CODING_H_
#define LISTSTORE_ENGINE_BASE_BYTE_CODING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/big_endian.h"

namespace liststore {

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Its length in 4 bytes, then it.
inline void PutText(std::string& out, std::string_view text) {
  Put(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

// Bytes taken from the front. What does not fit makes all of it bad, and everything taken from then on
// is zero: a record is looked at as a whole before anybody believes it. Views are into the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes), bytes_(bytes.size()) {}

  bool bad() const { return bad_; }
  // All was taken, and was there.
  bool AtEnd() const { return !bad_ && rest_.empty(); }
  size_t left() const { return rest_.size(); }
  std::string_view rest() const { return rest_; }
  // How many were taken. Once it is bad: all.
  uint64_t taken() const { return bytes_ - rest_.size(); }

  template <typename T>
  T Take() {
    if (rest_.size() < sizeof(T)) return Fail(), T{};
    const T value = LoadNative<T>(rest_.data());
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view TakeBytes(size_t bytes) {
    if (rest_.size() < bytes) return Fail(), std::string_view();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  // Of PutText.
  std::string_view TakeText() { return TakeBytes(Take<uint32_t>()); }
  // A number of things that take so many bytes at least: none of them is a reason to ask for memory
  // that its bytes do not bear out.
  uint32_t TakeCount(size_t bytes_min) {
    const auto count = Take<uint32_t>();
    if (count > rest_.size() / bytes_min) return Fail(), 0;
    return count;
  }

 private:
  void Fail() {
    bad_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  const size_t bytes_;
  bool bad_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_BYTE_CODING_H_
