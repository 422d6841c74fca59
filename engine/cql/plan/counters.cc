#include "engine/cql/plan/counters.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore::cql {

bool IsCounterTable(const TableDefinition& table) {
  return std::ranges::any_of(table.columns, [](const ColumnDefinition& column) {
    return column.type.is(CqlType::kCounter);
  });
}

CqlStatus CheckCounterTtl(const TableDefinition& table) {
  if (table.options.default_ttl_seconds == 0 || !IsCounterTable(table)) return {};
  return CqlError::Invalid("Cannot set default_time_to_live on a table with counters");
}

CqlStatus CheckCounterAttributes(const ModificationPlan& plan) {
  if (!plan.is_counter) return {};
  if (plan.timestamp) {
    return CqlError::Invalid("Cannot provide custom timestamp for counter updates");
  }
  if (plan.ttl) return CqlError::Invalid("Cannot provide custom TTL for counter updates");
  return {};
}

CqlStatus CheckCounterBatch(BatchStatement::Kind kind, bool has_timestamp,
                            std::span<const ModificationPlan* const> statements) {
  const auto is_counter = [](const ModificationPlan* statement) { return statement->is_counter; };
  const bool any = std::ranges::any_of(statements, is_counter);
  const bool all = std::ranges::all_of(statements, is_counter);
  if (has_timestamp && kind == BatchStatement::Kind::kCounter) {
    return CqlError::Invalid("Cannot provide custom timestamp for counter BATCH");
  }
  if (has_timestamp && any) {
    return CqlError::Invalid("Cannot provide custom timestamp for a BATCH containing counters");
  }
  if (kind == BatchStatement::Kind::kCounter && !all) {
    return CqlError::Invalid("Cannot include non-counter statement in a counter batch");
  }
  if (kind == BatchStatement::Kind::kLogged && any) {
    return CqlError::Invalid("Cannot include a counter statement in a logged batch");
  }
  if (any && !all) {
    return CqlError::Invalid("Counter and non-counter mutations cannot exist in the same batch");
  }
  return {};
}

CqlStatus ResolveAddition(const CellAssignment& assignment, BoundValues values, int64_t& addition,
                          bool& unset) {
  LS_CHECK(assignment.kind != CellAssignment::Kind::kSet, "counters are added to");
  BoundValue value;
  LS_RETURN_IF_ERROR(Resolve(assignment.value, values, value));
  unset = value.is_unset();
  if (unset) return {};
  if (value.is_null()) return CqlError::Invalid("Invalid null value for counter increment");
  LS_CHECK(value.bytes.size() == sizeof(int64_t), "the value was checked when it was bound");
  addition = static_cast<int64_t>(LoadBigEndian64(value.bytes.data()));
  if (assignment.kind == CellAssignment::Kind::kAdd) return {};
  if (addition == std::numeric_limits<int64_t>::min()) {
    return CqlError::Invalid("The negation of " + std::to_string(addition) +
                             " overflows supported counter precision (signed 8 bytes integer)");
  }
  addition = -addition;
  return {};
}

}  // namespace liststore::cql
