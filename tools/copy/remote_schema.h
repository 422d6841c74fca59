// The schema of a CQL server as its keyspace system_schema tells it, the same for Cassandra,
// ScyllaDB and liststore: what `liststore export` and `liststore import` copy.
#ifndef LISTSTORE_TOOLS_COPY_REMOTE_SCHEMA_H_
#define LISTSTORE_TOOLS_COPY_REMOTE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"

namespace liststore {

struct RemoteColumn {
  // In the order in which a table has them.
  enum class Kind : uint8_t {
    kPartitionKey,
    kClustering,
    kStatic,
    kRegular
  };
  std::string name;
  Kind kind = Kind::kRegular;
  int32_t position = 0;  // within the key
  bool descending = false;
  std::string type;  // as CQL writes it
  // What of a value is written part by part; kNone: nothing, it is one cell.
  enum class Parts : uint8_t {
    kNone,
    kList,
    kSet,
    kMap,
    kFields
  };
  Parts parts = Parts::kNone;
  std::vector<std::string> fields = {};  // of a user type that is not frozen

  bool operator==(const RemoteColumn&) const = default;
};

struct RemoteIndex {
  std::string name;
  std::string kind;        // COMPOSITES, CUSTOM
  std::string target;      // "value", "full(value)"; of a local index JSON
  std::string class_name;  // of a custom one
};

struct RemoteTable {
  std::string keyspace;
  std::string name;
  int32_t default_ttl_seconds = 0;
  int32_t gc_grace_seconds = 0;
  std::string comment;
  std::vector<RemoteColumn> columns;  // by kind, position, name
  std::vector<RemoteIndex> indexes;

  size_t CountOf(RemoteColumn::Kind kind) const;
  bool is_counter() const;
  // As statements name it.
  std::string QuotedName() const;
  // As messages do.
  std::string ShownName() const { return keyspace + "." + name; }
};

// A materialized view. Its rows are read as a table's are; what writes them is its server.
struct RemoteView {
  RemoteTable table;  // of its own options none but the comment
  std::string base;
  bool selects_all = false;  // SELECT *
  std::string where;
};

struct RemoteType {
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;  // name, type

  bool operator==(const RemoteType&) const = default;
};

struct RemoteKeyspace {
  std::string name;
  std::vector<std::pair<std::string, std::string>> replication;
  std::vector<RemoteType> types;  // each behind those that it is made of
  std::vector<RemoteTable> tables;
  std::vector<RemoteView> views;      // by name
  std::vector<std::string> left_out;  // "function f": what is there and is not copied

  const RemoteTable* FindTable(std::string_view table) const;
  const RemoteView* FindView(std::string_view view) const;
  const RemoteType* FindType(std::string_view type) const;
};

// How a server tells the write times and TTLs of all parts of a value.
enum class PartTimes : uint8_t {
  kNever,       // ScyllaDB, Cassandra before 5
  kOfColumn,    // WRITETIME(c), TTL(c): Cassandra from 5 on
  kByFunction,  // liststore.writetimes(c), liststore.ttls(c), liststore.timeuuids(c)
};

struct RemoteSchema {
  PartTimes part_times = PartTimes::kNever;
  bool has_local_indexes = false;          // ScyllaDB, and what looks like one
  bool places_elements = false;            // l[SCYLLA_TIMEUUID_LIST_INDEX(?)] = ?
  uint16_t consistency = kCqlLocalQuorum;  // for its rows; ONE where one node is all there is
  std::vector<RemoteKeyspace> keyspaces;   // users' own, by name

  const RemoteKeyspace* Find(std::string_view keyspace) const;
};

// Statuses are the client's.
absl::StatusOr<RemoteSchema> ReadRemoteSchema(CqlClient& client);

// The type without `frozen<...>` within it, which servers write or leave out as they like; of a
// tuple also around it.
std::string NormalType(std::string_view type);
// Whether parts of a column's value are written one by one: collections and user types that are not
// frozen.
bool IsMultiCell(const RemoteKeyspace& keyspace, std::string_view type);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_REMOTE_SCHEMA_H_
