// EncodeConstant: one constant for a native type. Declared in literal.h.
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/cql/values/inet_text.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/number_text.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/uuid_order.h"

namespace liststore::cql {
namespace {

std::string Quoted(std::string_view text) { return "'" + ShownText(text) + "'"; }

std::string BigEndian64(uint64_t number) {
  std::string bytes(8, '\0');
  StoreBigEndian64(bytes.data(), number);
  return bytes;
}
std::string BigEndian32(uint32_t number) {
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), number);
  return bytes;
}

// What ScyllaDB calls its integer types in messages.
std::string_view MarshalClass(CqlType type) {
  switch (type) {
    case CqlType::kTinyint:
      return "org.apache.cassandra.db.marshal.ByteType";
    case CqlType::kSmallint:
      return "org.apache.cassandra.db.marshal.ShortType";
    case CqlType::kInt:
      return "org.apache.cassandra.db.marshal.Int32Type";
    default:
      return "org.apache.cassandra.db.marshal.LongType";
  }
}

// An integer of 8 * `bytes` bits.
CqlOr<std::string> IntegerFromText(std::string_view text, CqlType type, size_t bytes) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) {
    return CqlError::Marshaling("Invalid number format " + Quoted(text));
  }
  const int64_t max = static_cast<int64_t>((uint64_t{1} << (8 * bytes - 1)) - 1);
  if (number > max || number < -max - 1) {
    return CqlError::Marshaling("Value out of range for type " + std::string(MarshalClass(type)) +
                                ": " + Quoted(text));
  }
  return BigEndian64(static_cast<uint64_t>(number)).substr(8 - bytes);
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

// A number that is too small for its type is zero; from_chars does not tell it from one too large.
bool IsTiny(std::string_view text) {
  const size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos && text.substr(e + 1).starts_with('-')) return true;
  return text.starts_with("0.") || text.starts_with("-0.");
}

template <typename Float>
std::optional<Float> ParseFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view word = text.substr(negative ? 1 : 0);
  if (EqualsIgnoringCase(word, "nan")) return std::numeric_limits<Float>::quiet_NaN();
  if (EqualsIgnoringCase(word, "infinity")) {
    const Float infinity = std::numeric_limits<Float>::infinity();
    return negative ? -infinity : infinity;
  }
  Float number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::result_out_of_range && IsTiny(text)) return negative ? -0.0f : 0.0f;
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Pairs of hex digits; nullopt for anything else.
std::optional<std::string> FromHexDigits(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = HexValue(digits[i]);
    const int low = HexValue(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

// Source: ScyllaDB bytes.cc, from_hex, whose errors nobody makes one of a value.
CqlOr<std::string> EncodeHex(std::string_view digits) {
  if (digits.size() % 2 != 0) {
    return CqlError::Server("An hex string representing bytes must have an even length");
  }
  std::optional<std::string> bytes = FromHexDigits(digits);
  if (!bytes) return CqlError::Server("Non-hex characters in " + ShownText(digits));
  return *std::move(bytes);
}

CqlOr<std::string> EncodeBlob(std::string_view text) {
  LS_DCHECK(text.starts_with("0x") || text.starts_with("0X"), "the lexer has seen the 0x");
  return EncodeHex(text.substr(2));
}

CqlOr<std::string> EncodeBooleanText(std::string_view text) {
  if (EqualsIgnoringCase(text, "true")) return std::string(1, '\1');
  if (text.empty() || EqualsIgnoringCase(text, "false")) return std::string(1, '\0');
  return CqlError::Marshaling("unable to make boolean from " + Quoted(text));
}

// 8-4-4-4-12 digits. Source: ScyllaDB types/types.cc, uuid_type_impl::from_string_view,
// timeuuid_type_impl::from_string_view.
CqlOr<std::string> EncodeUuid(std::string_view text, CqlType type) {
  constexpr size_t kTextBytes = 36;
  std::string digits;
  for (const char c : text) {
    if (c != '-') digits.push_back(c);
  }
  std::optional<std::string> bytes = FromHexDigits(digits);
  const bool has_form = text.size() == kTextBytes && text[8] == '-' && text[13] == '-' &&
                        text[18] == '-' && text[23] == '-';
  if (!bytes || bytes->size() != 16 || !has_form) {
    return CqlError::Marshaling(type == CqlType::kTimeuuid
                                    ? "Invalid UUID format (" + ShownText(text) + ")"
                                    : "Cannot parse uuid from " + Quoted(text));
  }
  const unsigned version = UuidVersion(bytes->data());
  if (type == CqlType::kTimeuuid && version != kTimeuuidVersion) {
    return CqlError::Marshaling("Unsupported UUID version (" + std::to_string(version) + ")");
  }
  return *std::move(bytes);
}

// Where the first character stands that is none.
size_t InvalidUtf8Offset(std::string_view text) {
  size_t offset = 0;
  while (offset < text.size()) {
    size_t length = 1;
    while (length <= 4 && !IsValidUtf8(text.substr(offset, length))) ++length;
    if (length > 4) break;
    offset += length;
  }
  return offset;
}

CqlOr<std::string> EncodeString(std::string_view text, CqlType type) {
  if (IsValidCqlValue(type, text)) return std::string(text);
  if (type == CqlType::kAscii) {
    return CqlError::Marshaling("Invalid ASCII character in string literal: " + Quoted(text));
  }
  return CqlError::Marshaling(
      "Validation failed - non-UTF8 character in a UTF8 string, at byte offset " +
      std::to_string(InvalidUtf8Offset(text)));
}

CqlOr<std::string> EncodeLongNumber(std::string_view text, CqlType type) {
  if (const size_t digits = CountDigits(text); digits > kLiteralDigitsMax) {
    return CqlError::Marshaling("a number of " + std::to_string(digits) +
                                " digits exceeds the maximum of " +
                                std::to_string(kLiteralDigitsMax));
  }
  const bool decimal = type == CqlType::kDecimal;
  std::optional<std::string> value = decimal ? ParseDecimal(text) : ParseVarint(text);
  if (!value) {
    return CqlError::Marshaling(
        (decimal ? "unable to make BigDecimal from " : "unable to make int from ") + Quoted(text));
  }
  return *std::move(value);
}

CqlOr<std::string> EncodeInetText(std::string_view text) {
  std::optional<std::string> bytes = ParseInet(text);
  if (!bytes) return CqlError::Marshaling("Failed to parse inet_addr from " + Quoted(text));
  return *std::move(bytes);
}

template <typename Int, typename Encode>
CqlOr<std::string> Encoded(CqlOr<Int> number, Encode encode) {
  if (!number.ok()) return number.status();
  return encode(*number);
}

// Which constants a type takes. Source: ScyllaDB cql3/expr/prepare_expr.cc,
// untyped_constant_test_assignment.
bool Takes(CqlType type, ConstantKind kind) {
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
    case CqlType::kInet:
    case CqlType::kTime:
      return kind == ConstantKind::kString;
    case CqlType::kDate:
    case CqlType::kTimestamp:
      return kind == ConstantKind::kString || kind == ConstantKind::kInteger;
    case CqlType::kBigint:
    case CqlType::kCounter:
    case CqlType::kInt:
    case CqlType::kSmallint:
    case CqlType::kTinyint:
    case CqlType::kVarint:
      return kind == ConstantKind::kInteger;
    case CqlType::kDecimal:
    case CqlType::kDouble:
    case CqlType::kFloat:
      return kind == ConstantKind::kInteger || kind == ConstantKind::kFloat;
    case CqlType::kUuid:
    case CqlType::kTimeuuid:
      return kind == ConstantKind::kUuid;
    case CqlType::kBoolean:
      return kind == ConstantKind::kBoolean;
    case CqlType::kBlob:
      return kind == ConstantKind::kHex;
    case CqlType::kDuration:
      return kind == ConstantKind::kDuration;
  }
  LS_UNREACHABLE("a type is one of the enum");
}

CqlOr<std::string> EncodeFloatText(std::string_view text, CqlType type) {
  if (type == CqlType::kFloat) {
    if (const auto number = ParseFloat<float>(text)) {
      return BigEndian32(std::bit_cast<uint32_t>(*number));
    }
  } else if (const auto number = ParseFloat<double>(text)) {
    return BigEndian64(std::bit_cast<uint64_t>(*number));
  }
  return CqlError::Marshaling("Invalid number format " + Quoted(text));
}

}  // namespace

bool IsConstantOf(const Constant& constant, CqlType type) { return Takes(type, constant.kind); }

CqlOr<std::string> EncodeConstant(const Constant& constant, CqlType type,
                                  std::string_view receiver) {
  if (!Takes(type, constant.kind)) return InvalidConstant(constant, CqlTypeName(type), receiver);
  if (type == CqlType::kBlob) return EncodeBlob(constant.text);
  return EncodeText(constant.text, type);
}

CqlOr<std::string> EncodeText(std::string_view text, CqlType type) {
  switch (type) {
    case CqlType::kBigint:
    case CqlType::kCounter:
      return IntegerFromText(text, type, 8);
    case CqlType::kInt:
      return IntegerFromText(text, type, 4);
    case CqlType::kSmallint:
      return IntegerFromText(text, type, 2);
    case CqlType::kTinyint:
      return IntegerFromText(text, type, 1);
    case CqlType::kBlob:
      return EncodeHex(text);
    case CqlType::kBoolean:
      return EncodeBooleanText(text);
    default:
      break;
  }
  // The value of no bytes.
  if (text.empty()) return std::string();
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      return EncodeString(text, type);
    case CqlType::kDate:
      return Encoded(ParseDateText(text), BigEndian32);
    case CqlType::kTime:
      return Encoded(ParseTimeText(text), BigEndian64);
    case CqlType::kTimestamp:
      return Encoded(ParseTimestampText(text), BigEndian64);
    case CqlType::kDuration:
      return Encoded(ParseDurationText(text), EncodeDuration);
    case CqlType::kFloat:
    case CqlType::kDouble:
      return EncodeFloatText(text, type);
    case CqlType::kInet:
      return EncodeInetText(text);
    case CqlType::kUuid:
    case CqlType::kTimeuuid:
      return EncodeUuid(text, type);
    case CqlType::kDecimal:
    case CqlType::kVarint:
      return EncodeLongNumber(text, type);
    default:
      LS_UNREACHABLE("the others are above");
  }
}

CqlError InvalidConstant(const Constant& constant, std::string_view type,
                         std::string_view receiver) {
  return CqlError::Invalid("Invalid " + std::string(ConstantKindName(constant.kind)) +
                           " constant (" + ShownText(constant.text) + ") for \"" +
                           std::string(receiver) + "\" of type " + std::string(type));
}

}  // namespace liststore::cql
