#include "engine/cql/planner/bind_timeout.h"

#include <string_view>

#include "engine/base/status_macros.h"
#include "engine/model/types/duration.h"

namespace liststore::cql {
namespace {

CqlOr<int64_t> MillisOf(std::string_view bytes) {
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
  return duration->nanoseconds / kNanosPerMilli;
}

}  // namespace

// Source of all: ScyllaDB cql3/attributes.cc, get_timeout. What is wrong with a constant is said
// when it is looked at, which it is not everywhere.
CqlOr<std::optional<Operand>> BindTimeout(const std::optional<Expression>& timeout,
                                          Binder& binder) {
  if (!timeout) return std::optional<Operand>();
  LS_ASSIGN_OR_RETURN(Operand operand,
                      binder.Bind(*timeout, CqlType::kDuration, "[timeout]", "[timeout]"));
  return std::optional(std::move(operand));
}

CqlOr<int64_t> ResolveTimeout(const Operand& timeout, BoundValues values) {
  BoundValue value;
  LS_RETURN_IF_ERROR(ResolveSet(timeout, values, value));
  if (value.is_null()) return CqlError::Invalid("Timeout value cannot be null");
  return MillisOf(value.bytes);
}

bool MattersAtOnce(const std::optional<Operand>& timeout) {
  if (!timeout) return false;
  if (timeout->marker || !timeout->constant) return true;
  const CqlOr<int64_t> millis = MillisOf(*timeout->constant);
  return !millis.ok() || *millis == 0;
}

}  // namespace liststore::cql
