// How long the keys that statements name may be.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_KEY_BYTES_H_
#define LISTSTORE_ENGINE_CQL_VALUES_KEY_BYTES_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/model/partition_key.h"

namespace liststore::cql {

// Invalid: `bytes` is more than kKeyBytesMax.
CqlError KeyTooLong(size_t bytes);
// Invalid: components of a partition key that together are too long.
// Source: ScyllaDB validation.cc, validate_cql_key; compound.hh: each component has two bytes of its
// own.
inline CqlStatus CheckKeyBytes(std::span<const std::string_view> components) {
  size_t bytes = 0;
  for (const std::string_view component : components) bytes += component.size() + 2;
  if (bytes <= kKeyBytesMax) [[likely]]
    return {};
  return KeyTooLong(bytes);
}

// Invalid: one of the values of clustering columns is too long; together they may be of any length.
// Source: ScyllaDB compound.hh, serialize_value, which has a server error for it.
inline CqlStatus CheckClusteringBytes(std::span<const std::string_view> components) {
  for (const std::string_view component : components) {
    if (component.size() > kKeyBytesMax) [[unlikely]]
      return KeyTooLong(component.size());
  }
  return {};
}

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_KEY_BYTES_H_
