#include "engine/cql/schema/virtual_table.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/shard/catalog.h"

namespace liststore::cql {
namespace {

// Most are of one node alone; others are kept as tables of users are. Sources: ScyllaDB
// db/system_distributed_keyspace.cc, tracing/trace_keyspace_helper.cc.
PropertyMap ReplicationOf(std::string_view keyspace) {
  const std::string package = "org.apache.cassandra.locator.";
  if (keyspace == "system_distributed") {
    return {{"class", package + "SimpleStrategy"}, {"replication_factor", "3"}};
  }
  // Of Cassandra's, and of ScyllaDBs before they kept roles in `system`.
  if (keyspace == "system_auth") {
    return {{"class", package + "SimpleStrategy"}, {"replication_factor", "1"}};
  }
  if (keyspace == "system_traces") {
    return {{"class", package + "SimpleStrategy"}, {"replication_factor", "2"}};
  }
  return {{"class", package + "LocalStrategy"}};
}

}  // namespace

CqlError VirtualTableRefusesWrites() {
  return CqlError::Invalid("this virtual table doesn't allow updates");
}

namespace {

// Those that ScyllaDB computes as well get the write, and it fails there; others it has on disk.
// Sources: ScyllaDB db/virtual_tables.cc, register_virtual_tables; service/storage_proxy.cc, handling
// of virtual_table_update_exception.
CqlError RefusalOfWrites(const TableDefinition& table) {
  constexpr std::array<std::string_view, 9> kComputed = {
      "clients",      "cluster_status", "config",     "protocol_servers", "raft_state",
      "runtime_info", "snapshots",      "token_ring", "versions"};
  CqlError refusal = VirtualTableRefusesWrites();
  if (table.keyspace != "system" || std::ranges::count(kComputed, table.name) == 0) return refusal;
  return {CqlErrorCode::kWriteFailure, std::move(refusal.message), WriteFailureDetail{}};
}

}  // namespace

std::optional<CqlError> VirtualTable::Write(const Values& /*values*/) {
  return RefusalOfWrites(*definition());
}

std::optional<CqlError> VirtualTable::WriteAndWarn(const Values& values,
                                                   std::vector<std::string>& /*warnings*/) {
  return Write(values);
}

std::optional<CqlError> VirtualTable::Delete(const Values& /*key*/) {
  return RefusalOfWrites(*definition());
}

void VirtualTable::Truncate() { LS_UNREACHABLE("who truncates a table has asked whether it may"); }

void VirtualTables::Add(std::unique_ptr<VirtualTable> table) {
  const TableDefinition& definition = *table->definition();
  LS_CHECK(definition.is_virtual, "virtual tables say that they are");
  LS_CHECK(definition.id != Uuid{}, "virtual tables have an id");
  Name name(definition.keyspace, definition.name);
  const bool inserted = tables_.emplace(std::move(name), std::move(table)).second;
  LS_CHECK(inserted, "a name has one virtual table");
}

VirtualTable* VirtualTables::Find(std::string_view keyspace, std::string_view table) const {
  const auto at = tables_.find(Name(keyspace, table));
  return at == tables_.end() ? nullptr : at->second.get();
}

void VirtualTables::PutInto(Schema& schema) const {
  for (const auto& [name, table] : tables_) {
    if (schema.FindKeyspace(name.first) == nullptr) {
      auto keyspace = std::make_shared<KeyspaceDefinition>();
      keyspace->name = name.first;
      keyspace->replication = ReplicationOf(name.first);
      schema.keyspaces.emplace(name.first, std::move(keyspace));
    }
    shard::Catalog::PutTable(schema, table->definition());
  }
}

}  // namespace liststore::cql
