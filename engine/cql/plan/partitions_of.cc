#include "engine/cql/plan/partitions_of.h"

#include <variant>

#include "engine/cql/plan/computed_values.h"
#include "engine/cql/plan/instantiate.h"

namespace liststore::cql {
namespace {

void AddPartitions(const TableDefinition& table, const std::vector<KeyAlternatives>& partition_key,
                   BoundValues values, Partitions& partitions) {
  if (partition_key.empty()) return;
  std::vector<std::string> keys;
  if (!EncodePartitionKeys(table, partition_key, values, KeyUse::kRead, keys).ok()) return;
  for (std::string& key : keys) partitions.emplace(&table, std::move(key));
}

}  // namespace

Partitions PartitionsOf(const Plan& plan, std::vector<BoundValue> values) {
  Partitions partitions;
  ComputedBytes computed;
  AppendPureValues(plan, values, computed);
  if (const auto* select = std::get_if<SelectPlan>(&plan.body)) {
    AddPartitions(*select->table, select->partition_key, values, partitions);
  } else if (const auto* change = std::get_if<ModificationPlan>(&plan.body)) {
    AddPartitions(*change->table, change->partition_key, values, partitions);
  } else if (const auto* batch = std::get_if<BatchPlan>(&plan.body)) {
    for (const ModificationPlan& part : batch->modifications) {
      AddPartitions(*part.table, part.partition_key, values, partitions);
    }
  }
  return partitions;
}

}  // namespace liststore::cql
