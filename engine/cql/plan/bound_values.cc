#include "engine/cql/plan/bound_values.h"

#include "engine/base/big_endian.h"
#include "engine/base/hex.h"
#include "engine/base/status_macros.h"
#include "engine/base/utf8.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/marshal_name.h"
#include "engine/model/types/decimal.h"
#include "engine/model/types/duration.h"

namespace liststore::cql {
namespace {

// ---- What ScyllaDB says of bytes that are no value of a type. Source: ScyllaDB types/types.cc
// (validate_visitor, validate_aux, read_collection_value), types/tuple.hh.

struct Flaw {
  std::string text;
  bool is_marshaling = true;  // said of the column that the value is bound to
};

constexpr size_t kLengthBytes = 4;
constexpr int32_t kNullLength = -1;
constexpr int32_t kUnsetLength = -2;

std::string DurationFlaw(const DurationCounts& counts) {
  const auto is_long = [](int64_t count) { return count != static_cast<int32_t>(count); };
  if (is_long(counts.months) || is_long(counts.days)) {
    const bool months = is_long(counts.months);
    return std::string("The duration ") + (months ? "months" : "days") + " (" +
           std::to_string(months ? counts.months : counts.days) + ") must be a 32 bit integer";
  }
  return "The duration months, days, and nanoseconds must be all of the same sign (" +
         std::to_string(counts.months) + ", " + std::to_string(counts.days) + ", " +
         std::to_string(counts.nanoseconds) + ")";
}

std::string NativeFlaw(CqlType type, std::string_view bytes) {
  const std::string size = std::to_string(bytes.size());
  switch (type) {
    case CqlType::kText:
      return "Validation failed - non-UTF8 character in a UTF8 string, at byte offset " +
             std::to_string(ValidUtf8Bytes(bytes));
    case CqlType::kAscii:
      return "Validation failed - non-ASCII character in an ASCII string";
    case CqlType::kSmallint:
      return "Expected 2 bytes for a smallint (" + size + ")";
    case CqlType::kTinyint:
      return "Expected 1 byte for a tinyint (" + size + ")";
    case CqlType::kUuid:
      return "Validation failed for uuid - got " + size + " bytes";
    case CqlType::kTimeuuid: {
      constexpr size_t kUuidBytes = 16;
      constexpr size_t kVersionAt = 6;
      if (bytes.size() != kUuidBytes) {
        return "Validation failed for timeuuid - got " + size + " bytes";
      }
      const unsigned version = static_cast<uint8_t>(bytes[kVersionAt]) >> 4;
      return "Unsupported UUID version (" + std::to_string(version) + ")";
    }
    case CqlType::kTimestamp:
      return "Validation failed for timestamp - got " + size + " bytes";
    case CqlType::kDate:
      return "Expected 4 byte long for date (" + size + ")";
    case CqlType::kTime:
      return "Expected 8 byte long for time (" + size + ")";
    case CqlType::kInet:
      return "Validation failed for inet_addr - got " + size + " bytes";
    case CqlType::kBoolean:
      return "Validation failed for boolean, got " + size + " bytes";
    case CqlType::kFloat:
      return "Expected 4 bytes for a floating type, got " + size;
    case CqlType::kDouble:
      return "Expected 8 bytes for a floating type, got " + size;
    case CqlType::kDuration:
      if (bytes.size() < 3) return "Expected at least 3 bytes for a duration, got " + size;
      if (const auto counts = DecodeDurationCounts(bytes)) return DurationFlaw(*counts);
      break;
    case CqlType::kCounter:
      type = CqlType::kBigint;
      break;
    case CqlType::kDecimal:
      if (bytes.size() <= kDecimalBytesMax) break;
      return "a decimal of " + size + " bytes exceeds the maximum of " +
             std::to_string(kDecimalBytesMax) + " bytes";
    default:
      break;
  }
  return "Validation failed for type " + MarshalTypeName(type) + ": got " + size + " bytes";
}

std::optional<Flaw> FindFlaw(const DataType& type, std::string_view bytes);

// Takes a length and as many bytes from `bytes`; nullopt: null. What is wrong goes into `flaw`.
std::optional<std::string_view> TakePart(std::string_view& bytes, int32_t& length,
                                         std::optional<Flaw>& flaw) {
  if (bytes.size() < kLengthBytes) {
    flaw = Flaw{"read_simple - not enough bytes (expected 4, got " + std::to_string(bytes.size()) +
                ")"};
    return std::nullopt;
  }
  length = static_cast<int32_t>(LoadBigEndian32(bytes.data()));
  bytes.remove_prefix(kLengthBytes);
  if (length < 0) return std::nullopt;
  const auto size = static_cast<size_t>(length);
  if (bytes.size() < size) {
    flaw = Flaw{"read_simple_bytes - not enough bytes (requested " + std::to_string(size) +
                ", got " + std::to_string(bytes.size()) + ")"};
    return std::nullopt;
  }
  const std::string_view part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return part;
}

// Of an element that is null or unset. Lists may have nulls, but not in a column.
Flaw MissingElement(const DataType& type, bool is_key, int32_t length) {
  if (is_key) return {"null/unset is not supported inside collections", false};
  if (length == kUnsetLength) return {"unset value is not supported inside collections", false};
  if (type.kind() != DataType::Kind::kList || length != kNullLength) {
    return {"null is not supported inside collections", false};
  }
  return {type.is_frozen() ? "Cannot store NULL in list or set" : "Invalid NULL element in list",
          false};
}

std::optional<Flaw> CollectionFlaw(const DataType& type, std::string_view bytes) {
  std::optional<Flaw> flaw;
  int32_t count = 0;
  if (bytes.size() >= kLengthBytes) {
    count = static_cast<int32_t>(LoadBigEndian32(bytes.data()));
    bytes.remove_prefix(kLengthBytes);
  } else {
    TakePart(bytes, count, flaw);
    return flaw;
  }
  const size_t parts = type.parameters().size();
  for (int64_t i = 0; i != count; ++i) {
    for (size_t part = 0; part < parts; ++part) {
      int32_t length = 0;
      const std::optional<std::string_view> element = TakePart(bytes, length, flaw);
      if (flaw) return flaw;
      if (!element) return MissingElement(type, parts > 1 && part == 0, length);
      flaw = FindFlaw(type.parameters()[part], *element);
      if (flaw) return flaw;
    }
  }
  if (bytes.empty()) return std::nullopt;
  return Flaw{"Validation failed for type " + MarshalTypeName(type) +
              ": bytes remaining after reading all " + std::to_string(count) +
              " elements of the list -> [" + LowerHex(bytes) + "]"};
}

std::optional<Flaw> FieldsFlaw(const DataType& type, std::string_view bytes) {
  std::optional<Flaw> flaw;
  const size_t fields = type.parameters().size();
  size_t taken = 0;
  for (; !bytes.empty(); ++taken) {
    int32_t length = 0;
    const std::optional<std::string_view> field = TakePart(bytes, length, flaw);
    if (!flaw && field && taken < fields) flaw = FindFlaw(type.parameters()[taken], *field);
    if (flaw) return flaw;
  }
  if (taken <= fields) return std::nullopt;
  return Flaw{"Value of type " + MarshalTypeName(type) + " contained too many fields (expected " +
              std::to_string(fields) + ", got " + std::to_string(taken) + ")"};
}

std::optional<Flaw> FindFlaw(const DataType& type, std::string_view bytes) {
  if (type.IsValid(bytes)) return std::nullopt;
  if (type.is_native()) return Flaw{NativeFlaw(type.native(), bytes)};
  std::optional<Flaw> flaw =
      type.is_collection() ? CollectionFlaw(type, bytes) : FieldsFlaw(type, bytes);
  if (flaw) return flaw;
  return Flaw{"Validation failed for type " + MarshalTypeName(type) + ": got " +
              std::to_string(bytes.size()) + " bytes"};
}

}  // namespace

CqlError InvalidValue(const Operand& operand, std::string_view bytes) {
  const Flaw flaw = FindFlaw(operand.type, bytes).value_or(Flaw{});
  if (!flaw.is_marshaling) return CqlError::Invalid(flaw.text);
  const std::string& name = operand.bound_to.empty() ? operand.receiver : operand.bound_to;
  return CqlError::Invalid("Exception while binding column " + QuoteIdentifier(name) +
                           ": marshaling error: " + flaw.text);
}

CqlError UnexpectedUnset(const Operand& operand) {
  return CqlError::Invalid("Unexpected unset value for bind variable " +
                           std::to_string(*operand.marker));
}

CqlError NullInKey(const Operand& operand) {
  return CqlError::Invalid("Invalid null value in condition for column " + operand.receiver);
}

CqlError EmptyKey() { return CqlError::Invalid("Key may not be empty"); }

CqlStatus ResolveLimit(const std::optional<Operand>& operand, BoundValues values,
                       std::string_view name, uint64_t& limit) {
  limit = UINT64_MAX;
  if (!operand) return {};
  const BoundValue value = Peek(*operand, values);
  if (value.is_unset()) return {};
  if (value.is_null()) return CqlError::Invalid("Invalid null value of limit");
  if (value.bytes.size() != sizeof(int32_t)) return CqlError::Invalid("Invalid limit value");
  const auto rows = static_cast<int32_t>(LoadBigEndian32(value.bytes.data()));
  if (rows <= 0) return CqlError::Invalid(std::string(name) + " must be strictly positive");
  limit = static_cast<uint64_t>(rows);
  return {};
}

}  // namespace liststore::cql
