#include "engine/cql/plan/computed_values.h"

#include <optional>
#include <string_view>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/json_row.h"

namespace liststore::cql {
namespace {

// What is left open stays so.
bool IsLeftOpen(const ComputedValue& computed, BoundValues values) {
  if (computed.function.kind == NativeFunction::Kind::kInOrder) {
    return Peek(computed.arguments[0], values).is_unset();
  }
  if (computed.function.kind != NativeFunction::Kind::kJsonOpenCell) return false;
  const BoundValue row = Peek(computed.arguments[0], values);
  const uint32_t column = LoadBigEndian32(computed.arguments[1].constant->data());
  return row.has_value() && !JsonCellOf(row.bytes, column).is_named;
}

CqlOr<BoundValue> ValueOf(const ComputedValue& computed, BoundValues values,
                          FunctionContext* context, ComputedBytes& bytes) {
  if (IsLeftOpen(computed, values)) return BoundValue{BoundValue::State::kUnset, {}};
  std::vector<std::optional<std::string_view>> arguments;
  for (const Operand& operand : computed.arguments) {
    BoundValue argument;
    LS_RETURN_IF_ERROR(ResolveSet(operand, values, argument));
    arguments.push_back(argument.has_value() ? std::optional(argument.bytes) : std::nullopt);
  }
  LS_ASSIGN_OR_RETURN(std::optional<std::string> result,
                      EvaluateFunction(computed.function, arguments, context));
  if (!result) return BoundValue{BoundValue::State::kNull, {}};
  bytes.push_back(*std::move(result));
  return BoundValue{BoundValue::State::kValue, bytes.back()};
}

}  // namespace

CqlStatus ComputedValues::Compute() {
  LS_CHECK(values_.size() == plan_.variables.size(), "the bound values come first, all of them");
  for (const ComputedValue& computed : plan_.computed) {
    LS_ASSIGN_OR_RETURN(const BoundValue value, ValueOf(computed, values_, &context_, bytes_));
    values_.push_back(value);
  }
  return {};
}

CqlStatus ComputedValues::NextRow() {
  const size_t first = plan_.variables.size();
  LS_CHECK(values_.size() == first + plan_.computed.size(), "a row comes behind Compute");
  if (!std::exchange(has_row_, true)) return {};
  for (size_t i = 0; i < plan_.computed.size(); ++i) {
    const ComputedValue& computed = plan_.computed[i];
    if (computed.is_pure) continue;
    LS_ASSIGN_OR_RETURN(values_[first + i], ValueOf(computed, values_, &context_, bytes_));
  }
  return {};
}

void AppendPureValues(const Plan& plan, std::vector<BoundValue>& values, ComputedBytes& bytes) {
  LS_CHECK(values.size() == plan.variables.size(), "the bound values come first, all of them");
  for (const ComputedValue& computed : plan.computed) {
    CqlOr<BoundValue> value = BoundValue{BoundValue::State::kUnset, {}};
    if (computed.is_pure) value = ValueOf(computed, values, nullptr, bytes);
    values.push_back(value.ok() ? *value : BoundValue{BoundValue::State::kUnset, {}});
  }
}

}  // namespace liststore::cql
