#include "tests/opinion/wire_type.h"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "engine/base/big_endian.h"

namespace liststore::testing {
namespace {

// native_protocol_v4.spec, section 4.2.5.2.
enum : uint16_t {
  kCustom = 0x00,
  kAscii = 0x01,
  kBigint = 0x02,
  kBlob = 0x03,
  kBoolean = 0x04,
  kCounter = 0x05,
  kDecimal = 0x06,
  kDouble = 0x07,
  kFloat = 0x08,
  kInt = 0x09,
  kTimestamp = 0x0b,
  kUuid = 0x0c,
  kText = 0x0d,
  kVarint = 0x0e,
  kTimeuuid = 0x0f,
  kInet = 0x10,
  kDate = 0x11,
  kTime = 0x12,
  kSmallint = 0x13,
  kTinyint = 0x14,
  kDuration = 0x15,
  kList = 0x20,
  kMap = 0x21,
  kSet = 0x22,
  kUserType = 0x30,
  kTuple = 0x31
};

constexpr const char* kNames[] = {
    "class", "ascii", "bigint", "blob",      "boolean", "counter", "decimal", "double",
    "float", "int",   "?",      "timestamp", "uuid",    "text",    "varint",  "timeuuid",
    "inet",  "date",  "time",   "smallint",  "tinyint", "duration"};

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// ---- To text ----

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) {
    hex += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

int64_t SignedOf(std::string_view bytes) {
  int64_t value = static_cast<int8_t>(bytes[0]);
  for (const char byte : bytes.substr(1)) value = value * 256 + static_cast<uint8_t>(byte);
  return value;
}

// Any number of bytes: digit by digit.
std::string VarintText(std::string bytes) {
  const bool negative = !bytes.empty() && bytes[0] < 0;
  if (negative) {
    for (char& byte : bytes) byte = static_cast<char>(~byte);
    for (size_t i = bytes.size(); i-- > 0 && ++bytes[i] == 0;) {
    }
  }
  std::string digits;
  while (std::any_of(bytes.begin(), bytes.end(), [](char byte) { return byte != 0; })) {
    int rest = 0;
    for (char& byte : bytes) {
      rest = rest * 256 + static_cast<uint8_t>(byte);
      byte = static_cast<char>(rest / 10);
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  if (digits.empty()) digits = "0";
  if (negative) digits += '-';
  return {digits.rbegin(), digits.rend()};
}

std::string DecimalText(std::string_view bytes) {
  if (bytes.size() < 5) return "0x" + Hex(bytes);
  const int64_t scale = SignedOf(bytes.substr(0, 4));
  std::string digits = VarintText(std::string(bytes.substr(4)));
  if (scale == 0) return digits;
  if (scale < 0) return digits + "E" + std::to_string(-scale);
  if (scale > 40) return digits + "E-" + std::to_string(scale);
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  const size_t places = static_cast<size_t>(scale);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  digits.insert(digits.size() - places, ".");
  return (negative ? "-" : "") + digits;
}

template <typename Float, typename Bits>
std::string FloatText(Bits bits) {
  const Float value = std::bit_cast<Float>(bits);
  if (value != value) return "NaN";
  if (value - value != 0) return value > 0 ? "Infinity" : "-Infinity";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

// "2023-11-14"; nothing outside of four digits of a year.
std::string DateText(int64_t days) {
  const std::time_t seconds = days * 86'400;
  std::tm parts;
  if (std::abs(days) > 3'000'000 || gmtime_r(&seconds, &parts) == nullptr) return {};
  if (parts.tm_year < -1900 || parts.tm_year > 8099) return {};
  char text[40];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday);
  return text;
}

std::string TimeText(int64_t nanos, int fraction_digits, int64_t unit) {
  const int64_t seconds = nanos / unit;
  char text[80];
  std::snprintf(text, sizeof(text), "%02d:%02d:%02d.%0*lld", static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60),
                fraction_digits, static_cast<long long>(nanos % unit));
  return text;
}

std::string TimestampText(int64_t millis) {
  constexpr int64_t kDay = 86'400'000;
  const int64_t rest = (millis % kDay + kDay) % kDay;
  const std::string date = DateText((millis - rest) / kDay);
  if (date.empty()) return std::to_string(millis);
  return "'" + date + "T" + TimeText(rest, 3, 1000) + "Z'";
}

std::string DurationText(std::string_view bytes) {
  int64_t parts[3] = {};
  for (int64_t& part : parts) {
    if (bytes.empty()) return "?";
    const uint8_t first = static_cast<uint8_t>(bytes[0]);
    const size_t more = static_cast<size_t>(std::countl_one(first));
    if (bytes.size() < more + 1) return "?";
    uint64_t value = more >= 8 ? 0 : first & (0xffu >> more);
    for (size_t i = 1; i <= more; ++i) value = value * 256 + static_cast<uint8_t>(bytes[i]);
    part = static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
    bytes.remove_prefix(more + 1);
  }
  std::string text;
  const bool negative = parts[0] < 0 || parts[1] < 0 || parts[2] < 0;
  const char* const units[] = {"mo", "d", "ns"};
  for (int i = 0; i < 3; ++i) {
    if (parts[i] != 0) text += std::to_string(std::abs(parts[i])) + units[i];
  }
  return text.empty() ? "0ns" : (negative ? "-" : "") + text;
}

std::string UuidText(std::string_view bytes) {
  std::string hex = Hex(bytes);
  for (const size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

std::string InetText(std::string_view bytes) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text));
  return "'" + std::string(text) + "'";
}

// Bytes that the type cannot have: "0x..." too.
std::optional<size_t> SizeOf(uint16_t id) {
  switch (id) {
    case kBoolean:
    case kTinyint:
      return 1;
    case kSmallint:
      return 2;
    case kInt:
    case kFloat:
    case kDate:
      return 4;
    case kBigint:
    case kCounter:
    case kDouble:
    case kTimestamp:
    case kTime:
      return 8;
    case kUuid:
    case kTimeuuid:
      return 16;
    default:
      return std::nullopt;
  }
}

std::string ScalarText(uint16_t id, const std::string& bytes) {
  switch (id) {
    case kBoolean:
      return bytes[0] != 0 ? "true" : "false";
    case kTinyint:
    case kSmallint:
    case kInt:
    case kBigint:
    case kCounter:
      return std::to_string(SignedOf(bytes));
    case kDouble:
      return FloatText<double>(LoadBigEndian64(bytes.data()));
    case kFloat:
      return FloatText<float>(LoadBigEndian32(bytes.data()));
    case kUuid:
    case kTimeuuid:
      return UuidText(bytes);
    case kTimestamp:
      return TimestampText(SignedOf(bytes));
    case kTime:
      return "'" + TimeText(SignedOf(bytes), 9, 1'000'000'000) + "'";
    case kDate: {
      const int64_t days = int64_t{LoadBigEndian32(bytes.data())} - (int64_t{1} << 31);
      const std::string date = DateText(days);
      return date.empty() ? std::to_string(days) : "'" + date + "'";
    }
    case kVarint:
      return VarintText(bytes);
    case kDecimal:
      return DecimalText(bytes);
    case kDuration:
      return DurationText(bytes);
    case kInet:
      return bytes.size() == 4 || bytes.size() == 16 ? InetText(bytes) : "0x" + Hex(bytes);
    case kAscii:
    case kText: {
      std::string text = "'";
      for (const char character : bytes)
        text += character == '\'' ? "''" : std::string(1, character);
      return text + "'";
    }
    default:
      return "0x" + Hex(bytes);
  }
}

std::optional<std::string> ReadPart(protocol::BodyReader& reader) {
  const protocol::Value value = reader.ReadBytes();
  return value.has_bytes() ? std::optional(std::string(value.bytes())) : std::nullopt;
}

std::string CollectionText(const WireType& type, std::string_view bytes) {
  protocol::BodyReader reader(bytes);
  std::string text = type.id == kList ? "[" : "{";
  const int32_t count = reader.ReadInt();
  for (int32_t i = 0; i < count && reader.ok(); ++i) {
    if (i > 0) text += ", ";
    text += ToLiteral(type.parts[0], ReadPart(reader));
    if (type.id == kMap) text += ": " + ToLiteral(type.parts[1], ReadPart(reader));
  }
  if (!reader.ok()) return "0x" + Hex(bytes);
  return text + (type.id == kList ? "]" : "}");
}

// Fields that the value ends before are null, as drivers read them.
std::string FieldsText(const WireType& type, std::string_view bytes) {
  protocol::BodyReader reader(bytes);
  std::string text = type.id == kTuple ? "(" : "{";
  for (size_t i = 0; i < type.parts.size(); ++i) {
    if (i > 0) text += ", ";
    if (type.id == kUserType) text += type.members[i] + ": ";
    text += ToLiteral(type.parts[i], reader.bytes_left() == 0 ? std::nullopt : ReadPart(reader));
  }
  return text + (type.id == kTuple ? ")" : "}");
}

// ---- From text ----

std::optional<std::string> Unhex(std::string_view hex) {
  std::string bytes;
  if (hex.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto end = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (end.ptr != hex.data() + i + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string BigEndian(uint64_t value, size_t size) {
  char bytes[8];
  StoreBigEndian64(bytes, value);
  return {bytes + 8 - size, size};
}

std::optional<std::string> IntegerBytes(std::string_view literal, size_t size) {
  int64_t value = 0;
  const auto end = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (end.ptr != literal.data() + literal.size()) return std::nullopt;
  std::string bytes = BigEndian(static_cast<uint64_t>(value), 8);
  if (size > 0) return bytes.substr(8 - size);
  // A varint: as short as it can be.
  while (bytes.size() > 1 && SignedOf(bytes) == SignedOf(bytes.substr(1))) bytes.erase(0, 1);
  return bytes;
}

std::optional<std::string> Unquote(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '\'' || literal.back() != '\'') return std::nullopt;
  std::string text;
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    text += literal[i];
    if (literal[i] == '\'') ++i;
  }
  return text;
}

std::optional<std::string> ScalarBytes(uint16_t id, std::string_view literal) {
  switch (id) {
    case kTinyint:
    case kSmallint:
    case kInt:
    case kBigint:
    case kCounter:
    case kTimestamp:
    case kTime:
      return IntegerBytes(literal, *SizeOf(id));
    case kDate: {
      std::optional<std::string> bytes = IntegerBytes(literal, 4);
      if (bytes) (*bytes)[0] = static_cast<char>((*bytes)[0] ^ '\x80');
      return bytes;
    }
    case kVarint:
      return IntegerBytes(literal, 0);
    case kBoolean:
      if (literal != "true" && literal != "false") return std::nullopt;
      return std::string(1, literal == "true" ? '\1' : '\0');
    case kDouble:
      return BigEndian(std::bit_cast<uint64_t>(std::strtod(std::string(literal).c_str(), nullptr)),
                       8);
    case kFloat:
      return BigEndian(std::bit_cast<uint32_t>(std::strtof(std::string(literal).c_str(), nullptr)),
                       4);
    case kUuid:
    case kTimeuuid: {
      std::string hex(literal);
      std::erase(hex, '-');
      return hex.size() == 32 ? Unhex(hex) : std::nullopt;
    }
    case kInet: {
      const std::string text = Unquote(literal).value_or("");
      char bytes[16];
      if (inet_pton(AF_INET, text.c_str(), bytes) == 1) return std::string(bytes, 4);
      if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) return std::string(bytes, 16);
      return std::nullopt;
    }
    case kAscii:
    case kText:
      return Unquote(literal);
    default:
      return std::nullopt;
  }
}

bool AppendPart(const WireType& type, std::string_view literal, std::string& to) {
  if (literal == "null" || literal == "unset") {
    to += BigEndian(literal == "null" ? ~uint64_t{0} : ~uint64_t{1}, 4);
    return true;
  }
  const std::optional<std::string> bytes = FromLiteral(type, literal);
  if (!bytes) return false;
  to += BigEndian(bytes->size(), 4) + *bytes;
  return true;
}

// The part of "a: b" that stands before or behind the colon.
std::pair<std::string, std::string> SplitPair(std::string_view text) {
  const std::vector<std::string> halves = SplitLiterals(text, ':');
  return {halves.at(0), halves.size() > 1 ? halves[1] : "?"};
}

std::optional<std::string> CompositeBytes(const WireType& type, std::string_view literal) {
  if (literal.size() < 2) return std::nullopt;
  const std::vector<std::string> items = SplitLiterals(literal.substr(1, literal.size() - 2));
  std::string bytes;
  bool fits = true;
  if (type.id == kList || type.id == kSet || type.id == kMap) {
    bytes = BigEndian(items.size(), 4);
    for (const std::string& item : items) {
      if (type.id != kMap) {
        fits = fits && AppendPart(type.parts[0], item, bytes);
        continue;
      }
      const auto [key, value] = SplitPair(item);
      fits =
          fits && AppendPart(type.parts[0], key, bytes) && AppendPart(type.parts[1], value, bytes);
    }
    return fits ? std::optional(bytes) : std::nullopt;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    // Fields of a user type in their order, with names or without. What is too much is bytes.
    const std::string item = literal[0] == '{' ? SplitPair(items[i]).second : items[i];
    fits = fits && AppendPart(i < type.parts.size() ? type.parts[i] : WireType{}, item, bytes);
  }
  return fits ? std::optional(bytes) : std::nullopt;
}

}  // namespace

WireType ReadWireType(protocol::BodyReader& reader) {
  WireType type;
  type.id = reader.ReadShort();
  if (type.id == kCustom) type.name = reader.ReadString();
  if (type.id == kUserType) {
    reader.ReadString();
    type.name = reader.ReadString();
  }
  size_t parts = type.id == kMap ? 2 : type.id == kList || type.id == kSet ? 1 : 0;
  if (type.id == kUserType || type.id == kTuple) parts = reader.ReadShort();
  for (; parts > 0 && reader.ok(); --parts) {
    if (type.id == kUserType) type.members.emplace_back(reader.ReadString());
    type.parts.push_back(ReadWireType(reader));
  }
  return type;
}

std::string ToText(const WireType& type) {
  if (type.id == kCustom || type.id == kUserType) return type.name;
  if (type.id < std::size(kNames)) return kNames[type.id];
  std::string text = type.id == kList    ? "list<"
                     : type.id == kMap   ? "map<"
                     : type.id == kSet   ? "set<"
                     : type.id == kTuple ? "tuple<"
                                         : "?<";
  for (size_t i = 0; i < type.parts.size(); ++i) {
    text += (i > 0 ? ", " : "") + ToText(type.parts[i]);
  }
  return text + ">";
}

std::string ToLiteral(const WireType& type, const std::optional<std::string>& bytes) {
  if (!bytes) return "null";
  if (type.id == kTuple || type.id == kUserType) return FieldsText(type, *bytes);
  if (type.id == kList || type.id == kMap || type.id == kSet) return CollectionText(type, *bytes);
  const bool may_be_empty =
      type.id == kText || type.id == kAscii || type.id == kBlob || type.id == kCustom;
  if (bytes->empty() && !may_be_empty) return "empty";
  const std::optional<size_t> size = SizeOf(type.id);
  if (size && *size != bytes->size()) return "0x" + Hex(*bytes);
  return ScalarText(type.id, *bytes);
}

std::optional<std::string> FromLiteral(const WireType& type, std::string_view literal) {
  if (literal.starts_with("0x")) return Unhex(literal.substr(2));
  if (type.id == kList || type.id == kMap || type.id == kSet || type.id == kTuple ||
      type.id == kUserType) {
    return CompositeBytes(type, literal);
  }
  return ScalarBytes(type.id, literal);
}

std::vector<std::string> SplitLiterals(std::string_view text, char separator) {
  std::vector<std::string> items;
  size_t begin = 0;
  int depth = 0;
  bool is_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') is_text = !is_text;
    if (is_text) continue;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != separator || depth > 0) continue;
    items.emplace_back(Trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (!Trim(text).empty()) items.emplace_back(Trim(text.substr(begin)));
  return items;
}

}  // namespace liststore::testing
