// Bytes of items (item_bytes.h), taken from the front.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_ENCODED_READER_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_ENCODED_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/dynamodb/values/attribute_value.h"

namespace liststore::dynamodb {

inline constexpr char kItemVersion = 1;
inline constexpr auto kValueVersion = static_cast<char>(0x81);

// Bytes taken from the front; each answers false where they do not fit, and then what was taken is of no use.
class EncodedReader {
 public:
  explicit EncodedReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool AtEnd() const { return at_ == end_; }
  std::string_view rest() const { return {at_, left()}; }

  bool Byte(uint8_t& byte) {
    if (at_ == end_) return false;
    byte = static_cast<uint8_t>(*at_++);
    return true;
  }
  bool Varint(size_t& value) {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
      value = static_cast<uint8_t>(*at_++);
      return true;
    }
    value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      uint8_t byte = 0;
      if (!Byte(byte)) return false;
      value |= static_cast<size_t>(byte & 0x7f) << shift;
      // In the shortest form alone: equal items have equal bytes.
      if (byte < 0x80) return byte != 0 || shift == 0;
    }
    return false;
  }
  bool Text(std::string_view& text) {
    size_t length = 0;
    if (!Varint(length) || length > left()) return false;
    text = {at_, length};
    at_ += length;
    return true;
  }
  // Of things of at least one byte each.
  bool Count(size_t& count) { return Varint(count) && count <= left(); }
  bool Type(AttributeType& type) {
    uint8_t byte = 0;
    if (!Byte(byte) || byte >= kAttributeTypes) return false;
    type = static_cast<AttributeType>(byte);
    return true;
  }
  bool Bool(bool& value) {
    uint8_t byte = 0;
    if (!Byte(byte) || byte > 1) return false;
    value = byte == 1;
    return true;
  }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  const char* at_;
  const char* const end_;
};

// Behind the version: calls `each(name, encoded value)` until it answers false. False: it did, or the bytes
// are broken.
template <typename Each>
bool ForEachAttribute(std::string_view bytes, Each each) {
  EncodedReader reader(bytes);
  size_t count = 0;
  if (!reader.Count(count)) return false;
  for (size_t i = 0; i < count; ++i) {
    std::string_view name;
    std::string_view encoded;
    if (!reader.Text(name) || !reader.Text(encoded) || !each(name, encoded)) return false;
  }
  return reader.AtEnd();
}

inline bool HasItemVersion(std::string_view bytes) { return bytes.starts_with(kItemVersion); }

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_ENCODED_READER_H_
