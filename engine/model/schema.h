// The schema as statements see it: keyspaces, their tables, columns and indexes by name. Plain
// data.
//
// A Schema is a snapshot: whoever holds one sees no later change. shard/catalog.h holds the current
// one. TableSchema (table_schema.h) is the small part of a table that drives storage.
#ifndef LISTSTORE_ENGINE_MODEL_SCHEMA_H_
#define LISTSTORE_ENGINE_MODEL_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/model/table_schema.h"
#include "engine/model/types/data_type.h"
#include "engine/model/types/uuid.h"

namespace liststore {

enum class ColumnKind : uint8_t {
  kPartitionKey,
  kClustering,
  kStatic,
  kRegular
};

struct ColumnDefinition {
  std::string name;
  DataType type = CqlType::kBlob;
  ColumnKind kind = ColumnKind::kRegular;
  // Within its kind: place in the key; of the others the ColumnId.
  uint16_t position = 0;
  bool descending = false;  // of a clustering column

  bool operator==(const ColumnDefinition&) const = default;
  bool is_key() const {
    return kind == ColumnKind::kPartitionKey || kind == ColumnKind::kClustering;
  }
};

// What of its column an index is by.
enum class IndexedPart : uint8_t {
  kValue,   // the column's value, of a frozen collection the whole
  kValues,  // of a collection with several cells: each value, or element
  kKeys,    // each key of such a map
  kEntries  // each key with its value
};

struct IndexDefinition {
  std::string name;
  std::string column;
  // Of every partition by itself (`ON t((pk), c)`), so that queries name the partition; else
  // global.
  bool local = false;
  IndexedPart part = IndexedPart::kValue;

  bool operator==(const IndexDefinition&) const = default;
};

using PropertyMap = std::map<std::string, std::string>;

// A table's option that ScyllaDB keeps as an extension of the schema: a number or a map.
using TableExtension = std::variant<int32_t, PropertyMap>;

// The WITH part of a table. Only the two times matter here; the rest is kept and shown.
// Defaults: ScyllaDB `schema/schema.hh`, docs/cql/ddl.rst.
struct TableOptions {
  int64_t default_ttl_seconds = 0;
  int64_t gc_grace_seconds = 864'000;
  std::string comment;
  double bloom_filter_fp_chance = 0.01;
  double crc_check_chance = 1.0;
  double dclocal_read_repair_chance = 0.0;
  double read_repair_chance = 0.0;
  int32_t max_index_interval = 2048;
  int32_t min_index_interval = 128;
  int32_t memtable_flush_period_in_ms = 0;
  std::string speculative_retry = "99.0PERCENTILE";
  PropertyMap caching = {{"keys", "ALL"}, {"rows_per_partition", "ALL"}};
  PropertyMap compaction = {{"class", "SizeTieredCompactionStrategy"}};
  PropertyMap compression = {
      {"sstable_compression", "org.apache.cassandra.io.compress.LZ4Compressor"}};
  // By name; "tombstone_gc" of every table that was made by a statement of ScyllaDB's language.
  std::map<std::string, TableExtension> schema_extensions = {};
  // As system_schema.tables was told, a serialised map<text, blob>, and shown there; empty: those
  // of `schema_extensions` are.
  std::string extensions = {};

  bool operator==(const TableOptions&) const = default;
};

// What makes a table a materialized view: its rows follow from those of another. That of an index
// is virtual, and is made and dropped with its index.
struct ViewDefinition {
  std::string base;  // of the same keyspace
  Uuid base_id;
  bool all_columns = false;  // `SELECT *`: columns that the base gets, the view gets too
  std::string where;         // CQL, without the word; of an index's view nothing
  std::string index = {};    // the name of the index whose view it is; empty: it is none

  bool operator==(const ViewDefinition&) const = default;
};

struct KeptCells;  // schema_actions.h

// A column that a table has had.
struct DroppedColumn {
  // With tuples in place of user types, which may be gone by now.
  DataType type = CqlType::kBlob;
  // A column of its name that is added later has no cells with timestamps up to this.
  int64_t at_micros = 0;
  // Those that it had with later ones; nullptr: none, or the column has got them back.
  std::shared_ptr<const KeptCells> kept = {};

  bool operator==(const DroppedColumn&) const = default;
};

// Where the tables of DynamoDB's face are.
inline constexpr std::string_view kDynamodbKeyspace = "dynamodb";

struct TableDefinition {
  std::string keyspace;
  std::string name;
  Uuid id;
  // In the order of `SELECT *`: partition key, clustering key, then static and then regular columns
  // by name.
  std::vector<ColumnDefinition> columns;
  std::vector<IndexDefinition> indexes;
  // By name, as they were dropped last; some may be there again.
  std::map<std::string, DroppedColumn, std::less<>> dropped;
  TableOptions options;
  std::optional<ViewDefinition> view;
  // Names of the views of this table, ascending. Who changes them gives the table another id in the
  // engine (SchemaAction::Kind::kRenewTable, kFillView): writes that know the table know its views.
  std::vector<std::string> views;
  // One more, which is not there yet for anybody else: its rows come from the base a slice at a time,
  // and writes to the base keep those that have come. nullptr: none.
  std::shared_ptr<const TableDefinition> view_under_way = {};
  // COMPACT STORAGE: a row is there as long as one of its values is. With clustering columns there
  // is at most one other column.
  bool compact_storage = false;
  // As its keyspace, which never changes in this.
  bool uses_tablets = false;
  // Rows are computed when they are read; `storage` means nothing.
  bool is_virtual = false;
  // Made by a list store: columns and indexes are its own, and cannot be changed by statements.
  bool belongs_to_list_store = false;
  // What storage sees. Its id is the number of the table in the engine, which changes when columns
  // or indexes do.
  TableSchema storage;

  // A server that is a cache may evict its partitions: it is a table of users, and no rows follow
  // from its rows.
  bool may_be_evicted() const {
    return !is_virtual && !belongs_to_list_store && !view && views.empty() &&
           view_under_way == nullptr && indexes.empty();
  }
  bool is_index_view() const { return view && !view->index.empty(); }
  // What COMPACT STORAGE makes of a table. Source: ScyllaDB schema/schema.cc, schema_builder::build.
  bool is_dense() const { return compact_storage && CountOf(ColumnKind::kClustering) > 0; }
  bool is_compound() const { return !compact_storage || CountOf(ColumnKind::kClustering) > 1; }
  bool is_static_compact() const { return !is_dense() && !is_compound(); }

  // O(columns). nullptr: no such column.
  const ColumnDefinition* FindColumn(std::string_view name) const;
  const IndexDefinition* FindIndexOn(std::string_view column) const;
  const IndexDefinition* FindIndex(std::string_view name) const;
  size_t CountOf(ColumnKind kind) const;
  // The columns of a kind in their order. O(columns).
  std::vector<const ColumnDefinition*> ColumnsOf(ColumnKind kind) const;
};

struct KeyspaceDefinition {
  std::string name;
  // As system_schema.keyspaces shows it; has a fully qualified "class".
  PropertyMap replication;
  bool durable_writes = true;
  // Asked for, 0: as many as there should be. nullopt: tables are not made of tablets. That has no
  // effect but for what ScyllaDB does not do with them: counters, and conditional writes.
  std::optional<uint32_t> initial_tablets = {};
  std::map<std::string, std::shared_ptr<const TableDefinition>, std::less<>> tables;
  UserTypes types;

  bool is_system() const;
  bool uses_tablets() const { return initial_tablets.has_value(); }
  // Puts a table in place of one of its name, and the views of its indexes in place of those that
  // it had; what ALTER has changed of a view stays. O(tables).
  void Put(std::shared_ptr<const TableDefinition> table);
  // Takes a table that is there out, and the views of its indexes. O(tables).
  void Erase(std::string_view table);
};

// ScyllaDB keeps an index in a view of this name.
std::string IndexViewName(std::string_view index);
// Virtual and complete, with default options; its id is another one for another table or index.
// Source: ScyllaDB index/secondary_index_manager.cc, create_view_for_index.
TableDefinition MakeIndexView(const TableDefinition& base, const IndexDefinition& index);

// What a column of an index's view shows.
enum class IndexViewValue : uint8_t {
  kColumn,     // that of the base with its name
  kToken,      // of the base's partition key
  kPart,       // what of its collection the index is by
  kElementKey  // where in its collection the indexed value stands
};
IndexViewValue ShownIn(const TableDefinition& base, const ColumnDefinition& of_view);

struct Schema {
  std::map<std::string, std::shared_ptr<const KeyspaceDefinition>, std::less<>> keyspaces;
  Uuid version;             // changes with every change
  uint64_t generation = 0;  // ascends with every change

  // nullptr: none of that name. O(log names).
  const KeyspaceDefinition* FindKeyspace(std::string_view keyspace) const;
  std::shared_ptr<const TableDefinition> FindTable(std::string_view keyspace,
                                                   std::string_view table) const;
};

// Puts the columns into the order of `SELECT *`, numbers them within their kinds and makes
// `storage` again from columns, indexes and options (its id stays). Every column's kind, type,
// direction and, for key columns, position are given; key columns are of types that
// CanBeKeyColumn. Storage keeps values of other than native types as blobs.
void CompleteTable(TableDefinition& table);
// The definition of a table that was made from a storage schema: no options but its times.
TableDefinition DefinitionOf(const TableSchema& storage);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_SCHEMA_H_
