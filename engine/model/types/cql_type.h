// CQL's native types: names, validation of encoded values, order. Collections, tuples and
// user-defined types are made of them (data_type.h).
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_CQL_TYPE_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_CQL_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace liststore {

enum class CqlType : uint8_t {
  kAscii,
  kBigint,
  kBlob,
  kBoolean,
  kCounter,
  kDate,
  kDecimal,
  kDouble,
  kDuration,
  kFloat,
  kInet,
  kInt,
  kSmallint,
  kText,
  kTime,
  kTimestamp,
  kTimeuuid,
  kTinyint,
  kUuid,
  kVarint,
};

// "text", "bigint", ...; `varchar` is read as text.
std::string_view CqlTypeName(CqlType type);
std::optional<CqlType> ParseCqlType(std::string_view name);

// Bytes of every value of `type` that is not empty; 0 when they vary.
size_t CqlFixedBytes(CqlType type);
// Counters and durations cannot be key columns, as in Cassandra.
constexpr bool CanBeKeyColumn(CqlType type) {
  return type != CqlType::kCounter && type != CqlType::kDuration;
}

// True when `value` is a valid encoding (protocol v4, without the outer length). Empty values are
// valid for every type but duration and counter, as in Cassandra ("empty" is a value apart from
// null).
bool IsValidCqlValue(CqlType type, std::string_view value);

// Order of two valid values as clustering columns compare them: negative, zero, positive. An empty
// value lies before all others. Values of different bytes can be equal: -0.0 and 0.0 are not (-0.0
// is the smaller), but all NaNs are (and lie behind infinity), and so are 1.0 and 1.00, 01 and 0001
// as varints, any two bytes other than zero as booleans. Durations, which have no order, compare as
// bytes. Source: Cassandra's marshal types; ScyllaDB `types/types.cc` (compare_visitor).
int CompareCqlValues(CqlType type, std::string_view a, std::string_view b);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_CQL_TYPE_H_
