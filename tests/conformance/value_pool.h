// A few values of each type, so that random statements meet each other: smallest and largest,
// empty, bytes that encodings treat apart.
#ifndef LISTSTORE_TESTS_CONFORMANCE_VALUE_POOL_H_
#define LISTSTORE_TESTS_CONFORMANCE_VALUE_POOL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/types/data_type.h"

namespace liststore::testing {

struct PoolValue {
  std::string bytes;
  std::string literal;  // as a statement spells it; empty: there is no literal of it
  // Of a pool: the name of its type, by which functions can make it of a blob.
  std::string_view type = {};
  std::vector<std::string> jsons = {};  // that make it, see JsonsFor
  // Numbers with a point or an exponent that do, too; Cassandra takes none for a whole number.
  std::vector<std::string> whole_jsons = {};
};

// Types with a pool, of key columns too.
std::span<const DataType> PoolTypes();
// Those of columns of several cells, which have the pools of their frozen twins.
std::span<const DataType> ElementPoolTypes();
// Those with durations, which have no order: of columns that are no key, frozen or in one cell.
std::span<const DataType> DurationPoolTypes();
bool HasDuration(const DataType& type);
const std::vector<PoolValue>& PoolOf(const DataType& type);
// That of these bytes, or one of a user type that had fewer fields when its pool was made.
PoolValue PoolValueOf(const DataType& type, const std::string& bytes);
// Of a value of a native type's pool.
const std::string& LiteralOf(CqlType type, std::string_view bytes);

// Big-endian.
std::string BytesOfInt(int64_t value, size_t bytes);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_VALUE_POOL_H_
