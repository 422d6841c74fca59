#include "engine/execute/item_read.h"

#include <utility>

#include "engine/base/big_endian.h"
#include "engine/cql/plan/bound_values.h"

namespace liststore::execute {

std::optional<ItemRead> ItemRead::Of(const cql::SelectPlan& plan, size_t variables) {
  std::optional<TextKey> key = TextKey::Of(plan.partition_key, variables);
  const cql::ClusteringRestriction& clustering = plan.clustering;
  if (!key || !clustering.prefix.empty() || clustering.slices.size() > 1 ||
      !plan.not_empty.empty()) {
    return std::nullopt;
  }
  ItemRead read;
  read.key_ = *std::move(key);
  if (!clustering.slices.empty()) {
    const cql::ClusteringSlice& slice = clustering.slices[0];
    if (!slice.is_lower || !slice.inclusive || slice.is_tuple || slice.in_clustering_order) {
      return std::nullopt;
    }
    read.from_ = TextVariable(slice.values[0], variables);
    if (!read.from_) return std::nullopt;
  }
  if (!plan.limit) return read;
  if (plan.limit->marker) {
    if (*plan.limit->marker >= variables) return std::nullopt;
    read.limit_ = static_cast<uint16_t>(*plan.limit->marker);
    return read;
  }
  if (!cql::ResolveLimit(plan.limit, {}, "LIMIT", read.fixed_limit_).ok()) return std::nullopt;
  return read;
}

uint64_t ItemRead::Limit(Values values) const {
  if (!limit_) return fixed_limit_;
  const protocol::Value& value = values[*limit_];
  if (!value.has_bytes() || value.bytes().size() != sizeof(int32_t)) return 0;
  const auto rows = static_cast<int32_t>(LoadBigEndian32(value.bytes().data()));
  return rows > 0 ? static_cast<uint64_t>(rows) : 0;
}

bool ItemRead::MakeBound(Values values, ClusteringBound& bound) const {
  if (!from_) {
    bound = ClusteringBound::Begin();
    return true;
  }
  const protocol::Value& value = values[*from_];
  if (!value.has_bytes()) return false;
  bound.bytes = value.bytes();
  bound.at_end = false;
  bound.packed = PackItemKeyBound(value.bytes());
  return bound.packed.has_value();
}

}  // namespace liststore::execute
