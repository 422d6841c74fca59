// Virtual tables: tables whose rows are computed when they are read (system, system_schema,
// liststore). Statements reach them by the same path as any other table: definition in the catalog,
// the same filters, paging and projection.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_VIRTUAL_TABLE_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_VIRTUAL_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// What a node says of itself. Constant while the server runs.
// Source of the defaults: ScyllaDB `version.hh`, `db/config.cc`.
struct NodeFacts {
  std::string cluster_name = "liststore";
  std::string data_center = "datacenter1";
  std::vector<std::string> other_data_centers = {};  // which have no node here
  bool knows_data_centers = false;                   // keyspaces may be in none but these
  std::string rack = "rack1";
  std::string release_version = "3.0.8";
  std::string cql_version = "3.3.1";
  std::string scylla_version = "2025.1.0";  // in system.versions
  Uuid host_id;
  std::vector<std::string> tokens = {"0"};  // at least one: drivers drop nodes without
  int64_t start_seconds = 0;                // gossip generation, as far as that goes
  // Says what ScyllaDB says; else what Cassandra does.
  bool looks_like_scylla = true;
};

// One connection, for system.clients.
struct ClientFacts {
  std::string address;  // 4 or 16 bytes; (address, port) is unique
  int32_t port = 0;
  int32_t protocol_version = 4;
  int32_t shard = 0;
  std::string driver_name;     // empty: not said
  std::string driver_version;  // empty: not said
  std::string user;
  std::string tls_protocol;  // empty: its connection is not encrypted
  std::string tls_cipher_suite;
  PropertyMap options = {};  // what its STARTUP said, whatever that was
  bool is_ready = true;      // else it has still to say who it is
};

// Who is connected. Implemented by the server.
class ClientDirectory {
 public:
  virtual ~ClientDirectory() = default;
  // Thread-safe; in any order. O(connections).
  virtual std::vector<ClientFacts> Clients() const = 0;
};

// What a read of a virtual table may look at.
struct VirtualReadContext {
  const Schema& schema;
  const NodeFacts& node;
  // Through which of the server's addresses the client came: 4 or 16 bytes, or none for one that
  // came through no socket. What system.local gives back, so that drivers behind a forwarded port
  // or another interface reach the server again.
  std::string_view local_address;
  uint64_t now_nanos = 0;
};

// Serialised values in the order of the definition's columns; nullopt: null.
using VirtualRow = std::vector<std::optional<std::string>>;

// A table without storage. Thread-safe.
class VirtualTable {
 public:
  // Values of a statement by column; nullopt: null.
  using Values = std::vector<std::pair<std::string, std::optional<std::string>>>;

  virtual ~VirtualTable() = default;
  // `columns` complete (CompleteTable), is_virtual set, with an id that never changes.
  virtual const std::shared_ptr<const TableDefinition>& definition() const = 0;
  // All rows: partitions in order of their tokens, those of one partition together and in
  // clustering order; key columns never null. O(rows log rows).
  virtual std::vector<VirtualRow> Rows(const VirtualReadContext& context) const = 0;
  // INSERT and UPDATE of one row: everything that was given, key columns included, each column
  // once, values valid for their types. Applied as a whole, or not at all where there is an error.
  // By default refused in the words of ScyllaDB `db/virtual_table.cc`, with its code where it has
  // the table, else Invalid.
  virtual std::optional<CqlError> Write(const Values& values);
  // The same where the answer says something beside; by default nothing.
  virtual std::optional<CqlError> WriteAndWarn(const Values& values,
                                               std::vector<std::string>& warnings);
  // What is written to it changes the server as a whole: where clients log in, superusers alone may,
  // and it may take long.
  virtual bool is_for_superusers() const { return false; }
  // DELETE of whole rows: those with these values of the key, all of its partition key and the
  // clustering columns that were given. None there: nothing. By default refused like Write.
  virtual std::optional<CqlError> Delete(const Values& key);
  // Whether this write may take longer than those should wait who have nothing to do with it, or may
  // wait for others: where a loop would do it, it is done beside.
  virtual bool WriteTakesLong(const Values& /*values*/) const { return false; }
  // Whether TRUNCATE may be said; else it is refused like that of any table of the system.
  virtual bool can_be_truncated() const { return false; }
  virtual void Truncate();
};

// What a virtual table answers to whoever wants to change it, where it cannot be.
CqlError VirtualTableRefusesWrites();

// The virtual tables of a server, by keyspace and name. Filled before the server starts; from then
// on thread-safe.
class VirtualTables {
 public:
  // One table a name.
  void Add(std::unique_ptr<VirtualTable> table);
  // nullptr: no such table. O(log tables).
  VirtualTable* Find(std::string_view keyspace, std::string_view table) const;
  // Puts all definitions into a schema, with their keyspaces where it has none of
  // that name. For use within Catalog::Change.
  void PutInto(Schema& schema) const;

 private:
  using Name = std::pair<std::string, std::string>;
  std::map<Name, std::unique_ptr<VirtualTable>> tables_;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_VIRTUAL_TABLE_H_
