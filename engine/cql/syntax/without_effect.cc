#include "engine/cql/syntax/without_effect.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cql/syntax/properties.h"

namespace liststore::cql {
namespace {

using Features = std::vector<CqlFeature>;

struct Option {
  std::string_view name;
  CqlFeature feature;
};

constexpr Option kTableOptions[] = {
    {"bloom_filter_fp_chance", CqlFeature::kBloomFilters},
    {"caching", CqlFeature::kCaching},
    {"compaction", CqlFeature::kCompaction},
    {"compression", CqlFeature::kCompression},
    {"crc_check_chance", CqlFeature::kChecksums},
    {"in_memory", CqlFeature::kInMemory},
    {"max_index_interval", CqlFeature::kIndexIntervals},
    {"memtable_flush_period_in_ms", CqlFeature::kMemtableFlush},
    {"min_index_interval", CqlFeature::kIndexIntervals},
    {"paxos_grace_seconds", CqlFeature::kPaxosGrace},
    {"speculative_retry", CqlFeature::kSpeculativeRetry},
    {"tombstone_gc", CqlFeature::kTombstoneGc},
};

void AddOnce(CqlFeature feature, Features& features) {
  if (std::ranges::count(features, feature) == 0) features.push_back(feature);
}

void AddTableOptions(const std::vector<Property>& properties, Features& features) {
  for (const Property& property : properties) {
    const auto at = std::ranges::find(kTableOptions, property.name, &Option::name);
    if (at != std::end(kTableOptions)) AddOnce(at->feature, features);
  }
}

// A factor of one is what a node has; the class alone says nothing about copies.
bool AsksForCopies(const Property::Map& replication) {
  return std::ranges::any_of(replication, [](const auto& entry) {
    const auto& [option, value] = entry;
    return option != "class" && ParseInteger(value).value_or(1) != 1;
  });
}

void AddKeyspaceOptions(const std::vector<Property>& properties, Features& features) {
  for (const Property& property : properties) {
    const auto* map = std::get_if<Property::Map>(&property.value);
    if (property.name == "replication") {
      if (map != nullptr && AsksForCopies(*map)) AddOnce(CqlFeature::kReplication, features);
    } else if (property.name == "durable_writes") {
      AddOnce(CqlFeature::kDurableWrites, features);
    } else if (property.name == "tablets") {
      // Tables without tablets are what there is.
      const auto is_off = [](const auto& entry) {
        return entry.first == "enabled" && entry.second == "false";
      };
      if (map != nullptr && std::ranges::none_of(*map, is_off)) {
        AddOnce(CqlFeature::kTablets, features);
      }
    } else if (property.name == "consistency") {
      AddOnce(CqlFeature::kKeyspaceConsistency, features);
    }
  }
}

bool IsSystem(const QualifiedName& table) { return table.keyspace.starts_with("system"); }

// Adds what a node of the statement tree asks for.
struct Finder {
  Features& features;

  void operator()(const SelectStatement& select) const {
    if (IsSystem(select.table)) return;
    if (select.bypass_cache) AddOnce(CqlFeature::kBypassCache, features);
  }
  void operator()(const TruncateStatement& truncate) const {
    if (truncate.timeout) AddOnce(CqlFeature::kTimeouts, features);
  }
  void operator()(const BatchStatement&) const {}
  void operator()(const InsertStatement&) const {}
  void operator()(const InsertJsonStatement&) const {}
  void operator()(const UpdateStatement&) const {}
  void operator()(const DeleteStatement&) const {}
  void operator()(const CreateKeyspaceStatement& create) const {
    AddKeyspaceOptions(create.properties, features);
  }
  void operator()(const AlterKeyspaceStatement& alter) const {
    AddKeyspaceOptions(alter.properties, features);
  }
  void operator()(const CreateTableStatement& create) const {
    AddTableOptions(create.properties, features);
  }
  void operator()(const AlterTableStatement& alter) const {
    AddTableOptions(alter.properties, features);
  }
  void operator()(const CreateViewStatement& create) const {
    AddTableOptions(create.properties, features);
  }
  void operator()(const AlterViewStatement& alter) const {
    AddTableOptions(alter.properties, features);
  }
  void operator()(const DropViewStatement&) const {}
  void operator()(const PruneViewStatement& prune) const {
    if (prune.timeout) AddOnce(CqlFeature::kTimeouts, features);
  }
  void operator()(const UseStatement&) const {}
  void operator()(const DropKeyspaceStatement&) const {}
  void operator()(const DropTableStatement&) const {}
  void operator()(const CreateIndexStatement&) const {}
  void operator()(const DropIndexStatement&) const {}
  void operator()(const CreateTypeStatement&) const {}
  void operator()(const AlterTypeStatement&) const {}
  void operator()(const DropTypeStatement&) const {}
  void operator()(const DescribeStatement&) const {}
  void operator()(const CreateRoleStatement&) const {}
  void operator()(const AlterRoleStatement&) const {}
  void operator()(const DropRoleStatement&) const {}
  void operator()(const GrantRoleStatement&) const {}
  void operator()(const GrantStatement&) const {}
  void operator()(const ListStatement&) const {}
  void operator()(const UnsupportedStatement&) const {}
};

}  // namespace

std::vector<CqlFeature> FeaturesWithoutEffect(const Statement& statement) {
  Features features;
  std::visit(Finder{features}, statement.node);
  return features;
}

}  // namespace liststore::cql
