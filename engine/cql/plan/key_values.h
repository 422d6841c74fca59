// The values that a key is made of, one for each column, in the columns' order.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_KEY_VALUES_H_
#define LISTSTORE_ENGINE_CQL_PLAN_KEY_VALUES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"

namespace liststore::cql {

// A null in a key: a read finds nothing by it, a write is refused.
enum class KeyUse : uint8_t {
  kRead,
  kWrite
};

// Of a key or its beginning; views into plan and values.
using KeyValues = absl::InlinedVector<std::string_view, 8>;

inline std::span<const std::string_view> AsSpan(const KeyValues& key) {
  return {key.data(), key.size()};
}

// A key's value: something must be there. `found` becomes false for a null in a read.
inline CqlStatus ResolveKey(const Operand& operand, BoundValues values, KeyUse use,
                            std::string_view& bytes, bool& found) {
  BoundValue value;
  LS_RETURN_IF_ERROR(ResolveSet(operand, values, value));
  bytes = value.bytes;
  if (value.has_value()) return {};
  if (use == KeyUse::kWrite) return NullInKey(operand);
  found = false;
  return {};
}

// The first null of the values of a tuple is an error, in reads as well.
inline CqlStatus CheckNoNull(const std::vector<Operand>& operands, BoundValues values) {
  for (const Operand& operand : operands) {
    if (Peek(operand, values).is_null()) return NullInKey(operand);
  }
  return {};
}

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_KEY_VALUES_H_
