// The notations of the protocol ([int], [string], [bytes map] ...): a reader that never reads past
// its end, and functions that append them. Everything is big-endian.
//
// Source: native_protocol_v4.spec section 3; texts of errors: ScyllaDB transport/request.hh.
#ifndef LISTSTORE_ENGINE_PROTOCOL_PRIMITIVES_H_
#define LISTSTORE_ENGINE_PROTOCOL_PRIMITIVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/base/output_buffer.h"
#include "engine/protocol/error_code.h"
#include "engine/protocol/frame.h"

namespace liststore::protocol {

// What fits the length of a [string], and the count of a list or map.
inline constexpr size_t kShortMax = 65'535;

// [consistency]
enum class Consistency : uint16_t {
  kAny = 0x00,
  kOne = 0x01,
  kTwo = 0x02,
  kThree = 0x03,
  kQuorum = 0x04,
  kAll = 0x05,
  kLocalQuorum = 0x06,
  kEachQuorum = 0x07,
  kSerial = 0x08,
  kLocalSerial = 0x09,
  kLocalOne = 0x0a,
};
// "LOCAL_ONE": as messages print it. A literal: it ends with a NUL and lives forever.
const char* ConsistencyName(Consistency consistency);

// [value]: bytes, null, or (v4) not set. 16 bytes; does not own them.
class Value {
 public:
  // Null.
  constexpr Value() = default;
  static constexpr Value Null() { return Value(); }
  static constexpr Value Unset() { return Value(nullptr, kUnsetLength); }
  // At most 2^31 - 1 bytes.
  static constexpr Value Of(std::string_view bytes) {
    LS_DCHECK(bytes.size() <= INT32_MAX, "the length of a value is a positive [int]");
    return Value(bytes.data(), static_cast<int32_t>(bytes.size()));
  }

  constexpr bool is_null() const { return length_ == kNullLength; }
  constexpr bool is_unset() const { return length_ == kUnsetLength; }
  constexpr bool has_bytes() const { return length_ >= 0; }
  // Of a value that has bytes: maybe none (an empty value is not null).
  constexpr std::string_view bytes() const {
    LS_DCHECK(has_bytes(), "null and unset have no bytes");
    return {data_, static_cast<size_t>(length_)};
  }

  bool operator==(const Value& other) const {
    if (!has_bytes() || !other.has_bytes()) return length_ == other.length_;
    return bytes() == other.bytes();
  }

 private:
  static constexpr int32_t kNullLength = -1;
  static constexpr int32_t kUnsetLength = -2;
  constexpr Value(const char* data, int32_t length) : data_(data), length_(length) {}

  const char* data_ = nullptr;
  int32_t length_ = kNullLength;
};

struct StringPair {
  std::string_view key;
  std::string_view value;

  bool operator==(const StringPair&) const = default;
};
// An entry of a [bytes map].
struct BytesPair {
  std::string_view key;
  Value value;

  bool operator==(const BytesPair&) const = default;
};

// An address of an [inet] or an inet value: 4 or 16 bytes.
struct InetAddress {
  uint8_t bytes[16] = {};
  uint8_t length = 4;
  int32_t port = 0;
};

// Reads notations one after the other. The first that cannot be read puts the reader into a failed
// state: it says why (TakeError), stands at the end, and from then on every read gives zero, an
// empty string or null. So a decoder reads straight on and asks once, but a loop whose length was
// read asks in every step. Views point into the body. No reads allocate, failures do.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : at_(body.data()), end_(body.data() + body.size()) {}

  bool ok() const { return !error_.has_value(); }
  size_t bytes_left() const { return static_cast<size_t>(end_ - at_); }
  std::string_view rest() const { return {at_, bytes_left()}; }
  // The failure, once; nullopt when there was none.
  std::optional<ProtocolError> TakeError();
  // Fails for a reason of the decoder's. The first failure stays.
  void Fail(ProtocolError error);

  uint8_t ReadByte() { return Has(1) ? static_cast<uint8_t>(*Take(1)) : uint8_t{0}; }
  uint16_t ReadShort() { return Has(2) ? LoadBigEndian16(Take(2)) : uint16_t{0}; }
  int32_t ReadInt() { return Has(4) ? static_cast<int32_t>(LoadBigEndian32(Take(4))) : 0; }
  int64_t ReadLong() { return Has(8) ? static_cast<int64_t>(LoadBigEndian64(Take(8))) : 0; }
  std::string_view ReadRaw(size_t bytes) {
    return Has(bytes) ? std::string_view(Take(bytes), bytes) : std::string_view();
  }
  // Passes over bytes that are there.
  void Skip(size_t bytes) {
    LS_DCHECK(bytes <= bytes_left(), "what is passed over is there");
    at_ += bytes;
  }
  // [string] and [long string]: valid UTF-8.
  std::string_view ReadString() { return CheckUtf8(ReadRaw(ReadShort())); }
  std::string_view ReadLongString();
  std::string_view ReadShortBytes() { return ReadRaw(ReadShort()); }
  // [bytes]; every negative length is null.
  Value ReadBytes();
  // [value]: v3 takes every negative length for null; v4 -1 for null, -2 for unset, and refuses
  // others with `invalid value length: N`.
  Value ReadValue(ProtocolVersion version);
  // Refuses other codes with `Unknown code N for a consistency level`.
  Consistency ReadConsistency() {
    const uint16_t code = ReadShort();
    if (code <= static_cast<uint16_t>(Consistency::kLocalOne)) [[likely]]
      return static_cast<Consistency>(code);
    return FailConsistency(code);
  }

 private:
  bool Has(size_t bytes) {
    if (__builtin_expect(bytes_left() >= bytes, true)) return true;
    FailTruncated(bytes);
    return false;
  }
  const char* Take(size_t bytes) {
    const char* const from = at_;
    at_ += bytes;
    return from;
  }
  void FailTruncated(size_t bytes_wanted);
  Value FailValueLength(int32_t length);
  Consistency FailConsistency(uint16_t code);
  // `text`, or failure with the offset of the first character that is none.
  std::string_view CheckUtf8(std::string_view text);

  const char* at_;
  const char* end_;
  std::optional<ProtocolError> error_;
};

inline Value BodyReader::ReadValue(ProtocolVersion version) {
  const int32_t length = ReadInt();
  if (__builtin_expect(length >= 0, true)) {
    // A failed read of the length gives 0, and so nothing.
    const std::string_view bytes = ReadRaw(static_cast<size_t>(length));
    return ok() ? Value::Of(bytes) : Value::Null();
  }
  if (length == -1 || version < ProtocolVersion::kV4) return Value::Null();
  if (length == -2) return Value::Unset();
  return FailValueLength(length);
}

// Appending. Whoever calls sees to lengths: what exceeds a notation's count is an invariant here,
// but texts of messages are cut (AppendTruncatedString).
void AppendString(OutputBuffer& out, std::string_view text);
// At most 65,535 bytes of `text`, cut before a character that does not fit. For what people read:
// messages and warnings can quote a statement of any length.
void AppendTruncatedString(OutputBuffer& out, std::string_view text);
void AppendLongString(OutputBuffer& out, std::string_view text);
void AppendShortBytes(OutputBuffer& out, std::string_view bytes);
void AppendStringList(OutputBuffer& out, std::span<const std::string_view> texts);
void AppendBytesMap(OutputBuffer& out, std::span<const BytesPair> entries);
void AppendInet(OutputBuffer& out, const InetAddress& address);
inline void AppendInt(OutputBuffer& out, int32_t value) {
  out.AppendBigEndian32(static_cast<uint32_t>(value));
}
inline void AppendConsistency(OutputBuffer& out, Consistency consistency) {
  out.AppendBigEndian16(static_cast<uint16_t>(consistency));
}
// [bytes] with contents, and null.
inline void AppendBytes(OutputBuffer& out, std::string_view bytes) {
  char* const to = out.Extend(sizeof(int32_t) + bytes.size());
  StoreBigEndian32(to, static_cast<uint32_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(to + sizeof(int32_t), bytes.data(), bytes.size());
}
inline void AppendNull(OutputBuffer& out) { AppendInt(out, -1); }
// [value]: null and unset by their lengths.
void AppendValue(OutputBuffer& out, const Value& value);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_PRIMITIVES_H_
