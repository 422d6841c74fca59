#include "engine/model/clustering_encoding.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/decimal.h"
#include "engine/model/types/uuid_order.h"

namespace liststore {
namespace {

// First byte of a form that can be empty. The rest of the varint's first bytes are its length.
constexpr char kEmpty = 0;
constexpr char kPresent = 1;

// Text that is not last: 00 is written as 00 01 and the end as 00 00. Two bytes, because what
// follows an end of one byte could begin like an escape.
constexpr char kEscape = 0;
constexpr char kEscapedZero = 1;
constexpr char kEndOfText = 0;

// Varints of up to 100 bytes: 0x80 + length when not negative, 0x7f - length when negative, so that
// longer is larger or smaller. Beyond: 0xfe and 4 bytes of length, or all of that inverted.
constexpr size_t kShortVarintBytesMax = 100;
constexpr uint8_t kVarintBase = 0x80;
constexpr uint8_t kLongVarint = 0xfe;
static_assert(kVarintBase + kShortVarintBytesMax < kLongVarint);
static_assert(static_cast<uint8_t>(~kLongVarint) > kEmpty);

constexpr char kNegative = 1;
constexpr char kZero = 2;
constexpr char kPositive = 3;
constexpr char kEndOfDigits = 0;  // pairs of digits are 1 + 0 to 99

enum class Form {
  kBytes,
  kFixed,
  kVarint,
  kDecimal,
};

Form FormOf(CqlType type) {
  LS_CHECK(CanBeKeyColumn(type), "counters and durations are no clustering columns");
  if (CqlFixedBytes(type) != 0) return Form::kFixed;
  if (type == CqlType::kVarint) return Form::kVarint;
  if (type == CqlType::kDecimal) return Form::kDecimal;
  return Form::kBytes;
}

void Invert(char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

// IEEE bits so that they compare as unsigned numbers; all NaNs become the one behind infinity.
template <typename Float, typename Bits>
Bits OrderOfFloat(Bits bits) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto value = std::bit_cast<Float>(bits);
  if (value != value) bits = std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : bits | kSign;
}
template <typename Bits>
Bits FloatOfOrder(Bits order) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  return (order & kSign) != 0 ? order & ~kSign : static_cast<Bits>(~order);
}

// Changes the bytes of a fixed-length value in place so that memcmp orders them.
void OrderFixed(CqlType type, char* bytes) {
  switch (type) {
    case CqlType::kBoolean:
      bytes[0] = bytes[0] != 0;
      return;
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
    case CqlType::kTimestamp:
      bytes[0] = static_cast<char>(bytes[0] ^ 0x80);
      return;
    case CqlType::kFloat:
      StoreBigEndian32(bytes, OrderOfFloat<float>(LoadBigEndian32(bytes)));
      return;
    case CqlType::kDouble:
      StoreBigEndian64(bytes, OrderOfFloat<double>(LoadBigEndian64(bytes)));
      return;
    case CqlType::kUuid:
    case CqlType::kTimeuuid: {
      const UuidOrder order = type == CqlType::kUuid ? OrderOfUuid(bytes) : OrderOfTimeuuid(bytes);
      StoreBigEndian64(bytes, order.high);
      StoreBigEndian64(bytes + 8, order.low);
      return;
    }
    default:
      LS_DCHECK(type == CqlType::kDate || type == CqlType::kTime, "the others are unsigned");
  }
}

// The inverse.
void RestoreFixed(CqlType type, char* bytes) {
  switch (type) {
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
    case CqlType::kTimestamp:
      bytes[0] = static_cast<char>(bytes[0] ^ 0x80);
      return;
    case CqlType::kFloat:
      StoreBigEndian32(bytes, FloatOfOrder(LoadBigEndian32(bytes)));
      return;
    case CqlType::kDouble:
      StoreBigEndian64(bytes, FloatOfOrder(LoadBigEndian64(bytes)));
      return;
    case CqlType::kUuid:
      UuidOfOrder({LoadBigEndian64(bytes), LoadBigEndian64(bytes + 8)}, bytes);
      return;
    case CqlType::kTimeuuid:
      TimeuuidOfOrder({LoadBigEndian64(bytes), LoadBigEndian64(bytes + 8)}, bytes);
      return;
    default:
      return;
  }
}

void AppendFixed(CqlType type, std::string_view value, std::string& out) {
  if (value.empty()) return;
  LS_CHECK(value.size() == CqlFixedBytes(type), "values are validated before they are encoded");
  out.append(value);
  OrderFixed(type, out.data() + out.size() - value.size());
}

std::string ReadFixed(CqlType type, std::string_view ordered) {
  LS_CHECK(ordered.size() == CqlFixedBytes(type), "an encoded key holds whole columns");
  std::string value(ordered);
  RestoreFixed(type, value.data());
  return value;
}

std::string_view Take(std::string_view& rest, size_t size) {
  LS_CHECK(size <= rest.size(), "an encoded key holds whole columns");
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

void AppendEscaped(std::string_view value, std::string& out) {
  for (const char c : value) {
    out.push_back(c);
    if (c == kEscape) out.push_back(kEscapedZero);
  }
  out.push_back(kEscape);
  out.push_back(kEndOfText);
}

std::string ReadEscaped(std::string_view& rest) {
  std::string value;
  // By the pieces between zeros: most texts are one.
  for (;;) {
    const size_t zero = rest.find(kEscape);
    LS_CHECK(zero != std::string_view::npos, "an encoded text has an end");
    const std::string_view piece = Take(rest, zero + 2);
    const bool is_last = piece.back() == kEndOfText;
    value.append(piece.data(), is_last ? zero : zero + 1);
    if (is_last) return value;
  }
}

void AppendVarint(std::string_view value, std::string& out) {
  value = TrimVarint(value);
  const bool negative = (value[0] & 0x80) != 0;
  const size_t start = out.size();
  if (value.size() <= kShortVarintBytesMax) {
    out.push_back(static_cast<char>(kVarintBase + value.size()));
  } else {
    char length[4];
    StoreBigEndian32(length, static_cast<uint32_t>(value.size()));
    out.push_back(static_cast<char>(kLongVarint));
    out.append(length, sizeof(length));
  }
  if (negative) Invert(out.data() + start, out.size() - start);
  out.append(value);
}

std::string ReadVarint(std::string_view& rest) {
  auto first = static_cast<uint8_t>(Take(rest, 1)[0]);
  const bool negative = first < kVarintBase;
  if (negative) first = static_cast<uint8_t>(~first);
  size_t size = first - kVarintBase;
  if (first == kLongVarint) {
    const uint32_t length = LoadBigEndian32(Take(rest, 4).data());
    size = negative ? ~length : length;
  }
  return std::string(Take(rest, size));
}

void AppendDecimal(std::string_view value, std::string& out) {
  const NormalDecimal number = NormalizeDecimal(value);
  if (number.sign == 0) {
    out.push_back(kZero);
    return;
  }
  out.push_back(number.sign < 0 ? kNegative : kPositive);
  const size_t start = out.size();
  char exponent[8];
  StoreBigEndian64(exponent, static_cast<uint64_t>(number.exponent));
  AppendVarint({exponent, sizeof(exponent)}, out);
  for (size_t i = 0; i < number.digits.size(); i += 2) {
    const int tens = number.digits[i] - '0';
    const int ones = i + 1 < number.digits.size() ? number.digits[i + 1] - '0' : 0;
    out.push_back(static_cast<char>(1 + tens * 10 + ones));
  }
  out.push_back(kEndOfDigits);
  if (number.sign < 0) Invert(out.data() + start, out.size() - start);
}

// Behind the sign of a number that is not zero; `rest` is already inverted when it is negative.
NormalDecimal ReadMagnitude(std::string_view& rest) {
  NormalDecimal number;
  const std::string exponent = ReadVarint(rest);
  number.exponent = (exponent[0] & 0x80) != 0 ? -1 : 0;
  for (const char byte : exponent)
    number.exponent = number.exponent << 8 | static_cast<uint8_t>(byte);
  for (char pair = Take(rest, 1)[0]; pair != kEndOfDigits; pair = Take(rest, 1)[0]) {
    number.digits.push_back(static_cast<char>('0' + (pair - 1) / 10));
    number.digits.push_back(static_cast<char>('0' + (pair - 1) % 10));
  }
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  return number;
}

std::string ReadDecimal(std::string_view& rest) {
  const char sign = Take(rest, 1)[0];
  if (sign == kZero) return EncodeDecimal({});
  LS_CHECK(sign == kNegative || sign == kPositive, "a decimal begins with its sign");
  // Up to its end alone: a key may hold thousands. Exponents are short.
  LS_CHECK(!rest.empty(), "an encoded key holds whole columns");
  auto first = static_cast<uint8_t>(sign == kNegative ? ~rest[0] : rest[0]);
  if (first < kVarintBase) first = static_cast<uint8_t>(~first);
  const size_t exponent_bytes = 1 + size_t{first} - kVarintBase;
  const char end = sign == kNegative ? static_cast<char>(~kEndOfDigits) : kEndOfDigits;
  const size_t last = rest.find(end, exponent_bytes);
  LS_CHECK(last != std::string_view::npos, "the digits of a decimal end");
  std::string magnitude(Take(rest, last + 1));
  if (sign == kNegative) Invert(magnitude.data(), magnitude.size());
  std::string_view from = magnitude;
  NormalDecimal number = ReadMagnitude(from);
  number.sign = sign == kNegative ? -1 : 1;
  return EncodeDecimal(number);
}

// Self-delimiting: no encoding is a prefix of another's.
void AppendDelimited(CqlType type, std::string_view value, std::string& out) {
  const Form form = FormOf(type);
  if (form == Form::kBytes) return AppendEscaped(value, out);
  if (value.empty()) return out.push_back(kEmpty);
  switch (form) {
    case Form::kFixed:
      out.push_back(kPresent);
      return AppendFixed(type, value, out);
    case Form::kVarint:
      return AppendVarint(value, out);
    case Form::kDecimal:
      return AppendDecimal(value, out);
    case Form::kBytes:
      break;
  }
  LS_UNREACHABLE("bytes are never empty in their delimited form");
}

std::string ReadDelimited(CqlType type, std::string_view& rest) {
  const Form form = FormOf(type);
  if (form == Form::kBytes) return ReadEscaped(rest);
  LS_CHECK(!rest.empty(), "an encoded key holds whole columns");
  if (rest[0] == kEmpty) {
    rest.remove_prefix(1);
    return {};
  }
  switch (form) {
    case Form::kFixed:
      rest.remove_prefix(1);
      return ReadFixed(type, Take(rest, CqlFixedBytes(type)));
    case Form::kVarint:
      return ReadVarint(rest);
    case Form::kDecimal:
      return ReadDecimal(rest);
    case Form::kBytes:
      break;
  }
  LS_UNREACHABLE("bytes are never empty in their delimited form");
}

// ---- Values of other than native types

// What stands before each element or field, and behind the last one.
constexpr char kEnd = 0;
constexpr char kNullField = 1;
constexpr char kElement = 2;

void AppendDelimited(const DataType& type, std::string_view value, std::string& out);
std::string ReadDelimited(const DataType& type, std::string_view& rest);

void AppendElements(const DataType& type, std::string_view value, std::string& out) {
  const auto elements = SplitCollection(type, value);
  LS_CHECK(elements.has_value(), "values are validated before they are encoded");
  const size_t stride = type.parameters().size();
  for (size_t i = 0; i < elements->size(); ++i) {
    if (i % stride == 0) out.push_back(kElement);
    AppendDelimited(type.parameters()[i % stride], (*elements)[i], out);
  }
  out.push_back(kEnd);
}

std::string ReadElements(const DataType& type, std::string_view& rest) {
  std::vector<std::string> elements;
  for (char mark = Take(rest, 1)[0]; mark != kEnd; mark = Take(rest, 1)[0]) {
    LS_CHECK(mark == kElement, "an encoded collection has elements and an end");
    for (const DataType& part : type.parameters()) elements.push_back(ReadDelimited(part, rest));
  }
  return JoinCollection(type, elements);
}

// Without the nulls at the end, which are equal to fields that are not there: fields that a type
// is given later leave the keys of before as they are.
void AppendFields(const DataType& type, std::string_view value, std::string& out) {
  const auto fields = SplitTuple(type, value);
  LS_CHECK(fields.has_value(), "values are validated before they are encoded");
  size_t count = fields->size();
  while (count > 0 && !(*fields)[count - 1]) --count;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<std::string_view>& field = (*fields)[i];
    out.push_back(field ? kElement : kNullField);
    if (field) AppendDelimited(type.parameters()[i], *field, out);
  }
  out.push_back(kEnd);
}

std::string ReadFields(const DataType& type, std::string_view& rest) {
  std::vector<std::optional<std::string>> fields;
  for (char mark = Take(rest, 1)[0]; mark != kEnd; mark = Take(rest, 1)[0]) {
    LS_CHECK(fields.size() < type.parameters().size(), "an encoded tuple has its type's fields");
    std::optional<std::string>& field = fields.emplace_back();
    if (mark == kElement) field = ReadDelimited(type.parameters()[fields.size() - 1], rest);
  }
  fields.resize(type.parameters().size());
  return EncodeTuple(fields);
}

void AppendDelimited(const DataType& type, std::string_view value, std::string& out) {
  if (type.is_native()) return AppendDelimited(type.native(), value, out);
  type.has_fields() ? AppendFields(type, value, out) : AppendElements(type, value, out);
}

std::string ReadDelimited(const DataType& type, std::string_view& rest) {
  if (type.is_native()) return ReadDelimited(type.native(), rest);
  return type.has_fields() ? ReadFields(type, rest) : ReadElements(type, rest);
}

// ---- Columns

bool IsInverted(const std::vector<ClusteringColumnSchema>& columns, size_t index) {
  return columns[index].descending != columns[0].descending;
}

// The last column, not inverted, of a native type of bytes or of fixed length: its bytes alone.
bool IsBare(const std::vector<ClusteringColumnSchema>& columns, size_t index) {
  if (index + 1 != columns.size() || IsInverted(columns, index)) return false;
  if (!columns[index].type.is_native()) return false;
  const Form form = FormOf(columns[index].type.native());
  return form == Form::kBytes || form == Form::kFixed;
}

}  // namespace

void AppendClusteringKey(const std::vector<ClusteringColumnSchema>& columns,
                         std::span<const std::string_view> values, std::string& out) {
  LS_CHECK(values.size() <= columns.size(), "a key has at most a value for every column");
  for (size_t i = 0; i < values.size(); ++i) {
    const DataType& type = columns[i].type;
    LS_DCHECK(type.IsValid(values[i]), "values are validated before they are encoded");
    if (IsBare(columns, i)) {
      if (FormOf(type.native()) == Form::kFixed) {
        AppendFixed(type.native(), values[i], out);
      } else {
        out.append(values[i]);
      }
      continue;
    }
    const size_t start = out.size();
    AppendDelimited(type, values[i], out);
    if (IsInverted(columns, i)) Invert(out.data() + start, out.size() - start);
  }
}

std::vector<std::string> DecodeClusteringKey(const std::vector<ClusteringColumnSchema>& columns,
                                             std::string_view encoded) {
  std::vector<std::string> values;
  values.reserve(columns.size());
  const std::string_view whole = encoded;
  std::string inverted;  // all of it, once
  for (size_t i = 0; i < columns.size(); ++i) {
    const DataType& type = columns[i].type;
    if (IsBare(columns, i)) {
      const bool fixed = FormOf(type.native()) == Form::kFixed && !encoded.empty();
      values.push_back(fixed ? ReadFixed(type.native(), encoded) : std::string(encoded));
      encoded = {};
    } else if (IsInverted(columns, i)) {
      if (inverted.empty()) {
        inverted = whole;
        Invert(inverted.data(), inverted.size());
      }
      std::string_view rest = inverted;
      rest.remove_prefix(whole.size() - encoded.size());
      values.push_back(ReadDelimited(type, rest));
      encoded.remove_prefix(encoded.size() - rest.size());
    } else {
      values.push_back(ReadDelimited(type, encoded));
    }
  }
  LS_CHECK(encoded.empty(), "an encoded key ends with its last column");
  return values;
}

}  // namespace liststore
