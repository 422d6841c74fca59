#include "engine/protocol/primitives.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace liststore::protocol {

const char* ConsistencyName(Consistency consistency) {
  switch (consistency) {
    case Consistency::kAny:
      return "ANY";
    case Consistency::kOne:
      return "ONE";
    case Consistency::kTwo:
      return "TWO";
    case Consistency::kThree:
      return "THREE";
    case Consistency::kQuorum:
      return "QUORUM";
    case Consistency::kAll:
      return "ALL";
    case Consistency::kLocalQuorum:
      return "LOCAL_QUORUM";
    case Consistency::kEachQuorum:
      return "EACH_QUORUM";
    case Consistency::kSerial:
      return "SERIAL";
    case Consistency::kLocalSerial:
      return "LOCAL_SERIAL";
    case Consistency::kLocalOne:
      return "LOCAL_ONE";
  }
  LS_UNREACHABLE("a consistency is one of the protocol's");
}

std::optional<ProtocolError> BodyReader::TakeError() {
  if (ok()) return std::nullopt;
  return std::exchange(error_, std::nullopt);
}

void BodyReader::Fail(ProtocolError error) {
  if (!error_) error_ = std::move(error);
  at_ = end_;
}

std::string_view BodyReader::ReadLongString() {
  // A negative length wants more bytes than there are, as it does in ScyllaDB.
  const int32_t length = ReadInt();
  return CheckUtf8(ReadRaw(static_cast<size_t>(length)));
}

Value BodyReader::ReadBytes() {
  const int32_t length = ReadInt();
  if (length < 0) return Value::Null();
  const std::string_view bytes = ReadRaw(static_cast<size_t>(length));
  return ok() ? Value::Of(bytes) : Value::Null();
}

Consistency BodyReader::FailConsistency(uint16_t code) {
  Fail({ErrorCode::kProtocolError,
        absl::StrCat("Unknown code ", static_cast<int16_t>(code), " for a consistency level")});
  return Consistency::kAny;
}

void BodyReader::FailTruncated(size_t bytes_wanted) {
  if (ok()) {
    Fail({ErrorCode::kProtocolError, absl::StrCat("truncated frame: expected ", bytes_wanted,
                                                  " bytes, length is ", bytes_left())});
  }
}

Value BodyReader::FailValueLength(int32_t length) {
  Fail({ErrorCode::kProtocolError, absl::StrCat("invalid value length: ", length)});
  return Value::Null();
}

std::string_view BodyReader::CheckUtf8(std::string_view text) {
  if (__builtin_expect(IsValidUtf8(text), true)) return text;
  Fail({ErrorCode::kProtocolError,
        absl::StrCat("Cannot decode string as UTF8, invalid character at byte offset ",
                     ValidUtf8Bytes(text))});
  return {};
}

void AppendString(OutputBuffer& out, std::string_view text) {
  LS_CHECK(text.size() <= kShortMax, "a [string] has at most 65,535 bytes");
  out.AppendBigEndian16(static_cast<uint16_t>(text.size()));
  out.Append(text);
}

void AppendTruncatedString(OutputBuffer& out, std::string_view text) {
  if (text.size() > kShortMax) {
    size_t bytes = kShortMax;
    // Back to the first byte of the character that the limit falls into: at most 3 bytes, since
    // text that is no UTF-8 is cut wherever the limit falls.
    for (size_t back = 0; back < 4; ++back) {
      if ((static_cast<uint8_t>(text[kShortMax - back]) & 0xc0) != 0x80) {
        bytes = kShortMax - back;
        break;
      }
    }
    text = text.substr(0, bytes);
  }
  AppendString(out, text);
}

void AppendLongString(OutputBuffer& out, std::string_view text) {
  LS_CHECK(text.size() <= INT32_MAX, "a [long string] has at most 2^31 - 1 bytes");
  AppendBytes(out, text);
}

void AppendShortBytes(OutputBuffer& out, std::string_view bytes) { AppendString(out, bytes); }

void AppendStringList(OutputBuffer& out, std::span<const std::string_view> texts) {
  const size_t count = std::min(texts.size(), kShortMax);
  out.AppendBigEndian16(static_cast<uint16_t>(count));
  for (const std::string_view text : texts.first(count)) AppendTruncatedString(out, text);
}

void AppendBytesMap(OutputBuffer& out, std::span<const BytesPair> entries) {
  LS_CHECK(entries.size() <= kShortMax, "a map has at most 65,535 entries");
  out.AppendBigEndian16(static_cast<uint16_t>(entries.size()));
  for (const BytesPair& entry : entries) {
    AppendString(out, entry.key);
    AppendValue(out, entry.value);
  }
}

void AppendInet(OutputBuffer& out, const InetAddress& address) {
  LS_CHECK(address.length == 4 || address.length == 16, "an address has 4 or 16 bytes");
  out.AppendByte(address.length);
  out.Append({reinterpret_cast<const char*>(address.bytes), address.length});
  AppendInt(out, address.port);
}

void AppendValue(OutputBuffer& out, const Value& value) {
  if (value.has_bytes()) {
    AppendBytes(out, value.bytes());
  } else {
    AppendInt(out, value.is_null() ? -1 : -2);
  }
}

}  // namespace liststore::protocol
