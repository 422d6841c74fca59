#include "engine/cql/planner/plan_bytes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "engine/cql/planner/view_plan.h"

namespace liststore::cql {
namespace {

// One function for each struct of a plan: what it owns beside itself.
class Meter {
 public:
  size_t Of(uint16_t) { return 0; }
  size_t Of(const std::string& text) {
    return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 1;
  }
  template <typename T>
  size_t Of(const std::optional<T>& value) {
    return value.has_value() ? Of(*value) : 0;
  }
  template <typename T>
  size_t Of(const std::vector<T>& values) {
    size_t bytes = values.capacity() * sizeof(T);
    for (const T& value : values) bytes += Of(value);
    return bytes;
  }

  size_t Of(const DataType& type) {
    const std::vector<DataType>& parameters = type.parameters();
    return parameters.empty() || !shared_.insert(&parameters).second ? 0 : Of(parameters);
  }
  size_t Of(const Operand& operand) {
    return Of(operand.type) + Of(operand.receiver) + Of(operand.bound_to) + Of(operand.constant);
  }
  size_t Of(const NativeFunction& function) {
    return Of(function.name) + Of(function.arguments) + Of(function.result) + Of(function.keyspace);
  }
  size_t Of(const ComputedValue& value) { return Of(value.function) + Of(value.arguments); }
  size_t Of(const BindVariable& variable) {
    return Of(variable.name) + Of(variable.type) + Of(variable.keyspace) + Of(variable.table);
  }

  size_t Of(const KeyAlternatives& key) {
    return Of(key.alternatives) + Of(key.list) + Of(key.also);
  }
  size_t Of(const ClusteringSlice& slice) { return Of(slice.values); }
  size_t Of(const ClusteringRestriction& rows) { return Of(rows.prefix) + Of(rows.slices); }
  size_t Of(const RowFilter& filter) {
    return Of(filter.columns) + Of(filter.element) + Of(filter.operands) + Of(filter.list);
  }
  size_t Of(const TokenBound& bound) { return Of(bound.value); }
  size_t Of(const IndexLookup& lookup) { return Of(lookup.value); }
  size_t Of(const Selection& selection) {
    return Of(selection.name) + Of(selection.type) + Of(selection.value) + Of(selection.function) +
           Of(selection.operands);
  }
  size_t Of(const CellAssignment& assignment) {
    return Of(assignment.value) + Of(assignment.elements) + Of(assignment.element);
  }
  size_t Of(const ConditionPlan& condition) { return Of(condition.cells); }
  size_t Of(const ViewPlan& view) {
    return Of(view.partition_key) + Of(view.clustering) +
           view.regular.capacity() * sizeof(view.regular[0]) + Of(view.filters) +
           Of(view.token_bounds);
  }

  size_t Of(const SelectPlan& plan) {
    return Of(plan.partition_key) + Of(plan.token_bounds) + Of(plan.clustering) + Of(plan.index) +
           Of(plan.filters) + Of(plan.selections) + Of(plan.group_by) + Of(plan.limit) +
           Of(plan.per_partition_limit) + Of(plan.timeout);
  }
  size_t Of(const ModificationPlan& plan) {
    size_t bytes = Of(plan.partition_key) + Of(plan.clustering) + Of(plan.assignments) +
                   Of(plan.static_assignments) + Of(plan.timestamp) + Of(plan.ttl) +
                   Of(plan.timeout) + Of(plan.condition) + Of(plan.answer);
    if (plan.views != nullptr && shared_.insert(plan.views.get()).second) {
      bytes += sizeof(ViewPlans) + Of(plan.views->views);
    }
    return bytes;
  }
  size_t Of(const BatchPlan& plan) {
    return Of(plan.timestamp) + Of(plan.timeout) + Of(plan.modifications) + Of(plan.answer);
  }
  size_t Of(const UsePlan& plan) { return Of(plan.keyspace); }
  size_t Of(const SchemaPlan& plan) { return Of(plan.timestamp) + Of(plan.timeout); }
  size_t Of(const DescribePlan& plan) {
    return Of(plan.statement.name.keyspace) + Of(plan.statement.name.name) + Of(plan.keyspace);
  }
  size_t Of(const RolePlan&) { return 0; }
  size_t Of(const PruneViewPlan&) { return 0; }

 private:
  std::unordered_set<const void*> shared_;  // was counted
};

}  // namespace

size_t PlanBytes(const Plan& plan) {
  Meter meter;
  return sizeof(Plan) + std::visit([&](const auto& body) { return meter.Of(body); }, plan.body) +
         meter.Of(plan.variables) + meter.Of(plan.computed) +
         meter.Of(plan.partition_key_variables) +
         plan.without_effect.capacity() * sizeof(CqlFeature);
}

CqlError BatchTooLarge(size_t plan_bytes_max) {
  return CqlError::Invalid("Batch too large: its statements take more than " +
                           std::to_string(plan_bytes_max) + " bytes when they are planned");
}

size_t PlanBytes(const ModificationPlan& plan) { return sizeof(plan) + Meter().Of(plan); }

}  // namespace liststore::cql
