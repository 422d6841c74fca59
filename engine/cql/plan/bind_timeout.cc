#include "engine/cql/plan/bind_timeout.h"

#include <string_view>

#include "engine/base/status_macros.h"
#include "engine/model/duration.h"

namespace liststore::cql {
namespace {

CqlOr<bool> IsZero(std::string_view bytes) {
  const std::optional<Duration> duration = DecodeDuration(bytes);
  if (!duration) return CqlError::Invalid("Invalid timeout value");
  constexpr int64_t kNanosPerMilli = 1'000'000;
  if (duration->months != 0 || duration->days != 0) {
    return CqlError::Invalid("Timeout values cannot be expressed in days/months");
  }
  if (duration->nanoseconds % kNanosPerMilli != 0) {
    return CqlError::Invalid("Timeout values cannot have granularity finer than milliseconds");
  }
  if (duration->nanoseconds < 0) return CqlError::Invalid("Timeout values must be non-negative");
  return duration->nanoseconds == 0;
}

}  // namespace

// Source of both: ScyllaDB cql3/attributes.cc, get_timeout.
CqlOr<std::optional<Operand>> BindTimeout(const std::optional<Expression>& timeout,
                                          Binder& binder) {
  if (!timeout) return std::optional<Operand>();
  LS_ASSIGN_OR_RETURN(Operand operand,
                      binder.Bind(*timeout, CqlType::kDuration, "[timeout]", "[timeout]"));
  if (operand.marker || !operand.constant) return std::optional(std::move(operand));
  // What is wrong with it is said when it is looked at, which it is not everywhere.
  const CqlOr<bool> is_zero = IsZero(*operand.constant);
  // One that is never reached says something only where there would be none without it.
  if (is_zero.ok() && !*is_zero && !binder.settings().run_alone()) return std::optional<Operand>();
  return std::optional(std::move(operand));
}

CqlOr<bool> IsOverAtOnce(const Operand& timeout, BoundValues values) {
  BoundValue value;
  LS_RETURN_IF_ERROR(ResolveSet(timeout, values, value));
  if (value.is_null()) return CqlError::Invalid("Timeout value cannot be null");
  return IsZero(value.bytes);
}

}  // namespace liststore::cql
