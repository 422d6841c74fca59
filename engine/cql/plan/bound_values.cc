#include "engine/cql/plan/bound_values.h"

#include "engine/base/big_endian.h"
#include "engine/base/status_macros.h"
#include "engine/base/utf8.h"

namespace liststore {
namespace {

// What ScyllaDB says of bytes that are no value of a type. Source: ScyllaDB types/types.cc
// (validate_visitor), test/cqlpy.
std::string Detail(const DataType& type, std::string_view bytes) {
  const std::string size = std::to_string(bytes.size());
  if (!type.is_native())
    return "Validation failed for type " + type.ToString() + ": got " + size + " bytes";
  switch (type.native()) {
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
    case CqlType::kTimeuuid:
      return "Validation failed for timeuuid - got " + size + " bytes";
    case CqlType::kTimestamp:
      return "Validation failed for timestamp - got " + size + " bytes";
    case CqlType::kBoolean:
      return "Validation failed for boolean, got " + size + " bytes";
    case CqlType::kFloat:
      return "Expected 4 bytes for a floating type, got " + size;
    case CqlType::kDouble:
      return "Expected 8 bytes for a floating type, got " + size;
    default:
      return "Validation failed for type " + type.ToString() + ": got " + size + " bytes";
  }
}

}  // namespace

CqlError InvalidValue(const Operand& operand, std::string_view bytes) {
  return CqlError::Invalid("Exception while binding column " + operand.receiver +
                           ": marshaling error: " + Detail(operand.type, bytes));
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

}  // namespace liststore
