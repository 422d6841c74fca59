#include "engine/shard/copied_parts.h"

#include <algorithm>

#include "engine/model/token.h"

namespace liststore::shard {

bool CopiedParts::Add(const CopiedPart& part) {
  if (part.lane >= lanes()) return false;
  std::vector<std::vector<End>>& of_table = tables_[{part.table.value, part.table.generation}];
  of_table.resize(lanes());
  std::vector<End>& ends = of_table[part.lane];
  if (!ends.empty() && ends.back().last_address >= part.last_address) return false;
  ends.push_back({part.last_address, part.position});
  uint64_t& last = last_positions_[router_->ShardOfLane(part.lane).value];
  last = std::max(last, part.position);
  return true;
}

std::optional<CopiedParts::Place> CopiedParts::Find(TableId table,
                                                    std::string_view partition_key) const {
  const auto of_table = tables_.find({table.value, table.generation});
  if (!router_ || of_table == tables_.end()) return std::nullopt;
  const Router::Place place = router_->PlaceOf(TokenOf(partition_key));
  const std::vector<End>& ends = of_table->second[place.lane];
  const auto end = std::ranges::lower_bound(ends, place.address, {}, &End::last_address);
  if (end == ends.end()) return std::nullopt;
  return Place{router_->ShardOfLane(place.lane).value, end->position};
}

bool CopiedParts::Has(uint32_t log, uint64_t position, TableId table,
                      std::string_view partition_key) const {
  const std::optional<Place> place = Find(table, partition_key);
  return place && place->log == log && position <= place->position;
}

}  // namespace liststore::shard
