// Values that a plan computes when it is executed, held behind those that were bound.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_COMPUTED_VALUES_H_
#define LISTSTORE_ENGINE_CQL_PLAN_COMPUTED_VALUES_H_

#include <deque>
#include <string>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/evaluate_function.h"

namespace liststore::cql {

// The bytes of computed values, which stay where they are.
using ComputedBytes = std::deque<std::string>;

// Of one execution. Everything it is made with is borrowed; one thread.
class ComputedValues {
 public:
  // `values`: the bound ones of the plan's variables, behind which the computed come.
  ComputedValues(const Plan& plan, FunctionContext& context, std::vector<BoundValue>& values,
                 ComputedBytes& bytes)
      : plan_(plan), context_(context), values_(values), bytes_(bytes) {}

  // Errors are those of bound values of a wrong type and of EvaluateFunction. O(values).
  CqlStatus Compute();
  // Rows are written: for all but the first of them NextRow computes whatever depends on time or
  // chance again, in its place. What was read before stays valid.
  void BeginRows() { has_row_ = false; }
  CqlStatus NextRow();

 private:
  const Plan& plan_;
  FunctionContext& context_;
  std::vector<BoundValue>& values_;
  ComputedBytes& bytes_;
  bool has_row_ = false;
};

// Behind the bound values those computed ones that follow from them; unset, which no key may be,
// those that depend on the time, on chance or on values that are wrong. For who looks at a request
// without executing it.
void AppendPureValues(const Plan& plan, std::vector<BoundValue>& values, ComputedBytes& bytes);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_COMPUTED_VALUES_H_
