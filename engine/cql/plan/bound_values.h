// The values that a client binds to a plan's variables, and operands resolved against them.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_BOUND_VALUES_H_
#define LISTSTORE_ENGINE_CQL_PLAN_BOUND_VALUES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"

namespace liststore::cql {

// Borrows its bytes from the request.
struct BoundValue {
  enum class State : uint8_t {
    kValue,
    kNull,
    kUnset,  // the client leaves it open: what it would change stays as it is
  };
  State state = State::kNull;
  std::string_view bytes;

  bool has_value() const { return state == State::kValue; }
  bool is_null() const { return state == State::kNull; }
  bool is_unset() const { return state == State::kUnset; }
};
// One for each of Plan::variables.
using BoundValues = std::span<const BoundValue>;

// The operand's value, not looked at.
inline BoundValue Peek(const Operand& operand, BoundValues values) {
  if (operand.marker) return values[*operand.marker];
  if (!operand.constant) return {};
  return {BoundValue::State::kValue, *operand.constant};
}

// Errors of the two functions below, out of their way.
CqlError InvalidValue(const Operand& operand, std::string_view bytes);
CqlError UnexpectedUnset(const Operand& operand);
// Of values for key columns, in writes.
CqlError NullInKey(const Operand& operand);
CqlError EmptyKey();

// The operand's value into `value`; Invalid when its bytes are none of its type
// (`Exception while binding column c: marshaling error: ...`). Constants were checked when the
// statement was planned. O(bytes).
inline CqlStatus Resolve(const Operand& operand, BoundValues values, BoundValue& value) {
  value = Peek(operand, values);
  if (!operand.marker || !value.has_value()) return {};
  if (operand.type.IsValid(value.bytes)) [[likely]]
    return {};
  return InvalidValue(operand, value.bytes);
}
// The same where something must be there: unset is an error too. Null is left to the caller.
inline CqlStatus ResolveSet(const Operand& operand, BoundValues values, BoundValue& value) {
  CqlStatus status = Resolve(operand, values, value);
  if (!status.ok() || !value.is_unset()) [[likely]]
    return status;
  return UnexpectedUnset(operand);
}

// A LIMIT: positive; UINT64_MAX when there is none or it is unset. `name` is LIMIT or
// PER PARTITION LIMIT.
CqlStatus ResolveLimit(const std::optional<Operand>& operand, BoundValues values,
                       std::string_view name, uint64_t& limit);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_BOUND_VALUES_H_
