#include "engine/cql/plan/bind_timeout.h"

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/model/duration.h"

namespace liststore {

// Source: ScyllaDB cql3/attributes.cc, get_timeout.
CqlStatus BindTimeout(const std::optional<Expression>& timeout, Binder& binder) {
  if (!timeout) return {};
  LS_ASSIGN_OR_RETURN(const Operand operand,
                      binder.Bind(*timeout, CqlType::kDuration, "[timeout]", "[timeout]"));
  if (operand.marker) return {};
  if (!operand.constant) return CqlError::Invalid("Timeout value cannot be null");
  const std::optional<Duration> duration = DecodeDuration(*operand.constant);
  LS_CHECK(duration.has_value(), "the literal of a duration is one");
  constexpr int64_t kNanosPerMilli = 1'000'000;
  if (duration->months != 0 || duration->days != 0) {
    return CqlError::Invalid("Timeout values cannot be expressed in days/months");
  }
  if (duration->nanoseconds % kNanosPerMilli != 0) {
    return CqlError::Invalid("Timeout values cannot have granularity finer than milliseconds");
  }
  if (duration->nanoseconds < 0) return CqlError::Invalid("Timeout values must be non-negative");
  return {};
}

}  // namespace liststore
