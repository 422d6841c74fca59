#include "engine/cql/schema/system_schema_tables.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/schema/create_statement.h"
#include "engine/cql/schema/table_extensions.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::cql {
namespace {

// Text of JSON, without the quotes around it.
std::string EscapeJson(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += "\\u00";
      escaped += kDigits[c >> 4];
      escaped += kDigits[c & 15];
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string_view KindName(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kPartitionKey:
      return "partition_key";
    case ColumnKind::kClustering:
      return "clustering";
    case ColumnKind::kStatic:
      return "static";
    case ColumnKind::kRegular:
      return "regular";
  }
  LS_UNREACHABLE("every kind has a name");
}

// Drivers written for Cassandra look for "desc" and overlook ScyllaDB's "DESC"; both are kept.
std::string ClusteringOrder(const ColumnDefinition& column, bool upper_case) {
  if (column.kind != ColumnKind::kClustering) return upper_case ? "NONE" : "none";
  if (column.descending) return upper_case ? "DESC" : "desc";
  return upper_case ? "ASC" : "asc";
}

std::vector<std::string> Flags(const TableDefinition& table) {
  // Without "compound" drivers take the table for one in compact storage.
  std::vector<std::string> flags;
  if (table.is_compound()) flags.push_back("compound");
  if (IsCounterTable(table)) flags.push_back("counter");
  if (table.is_dense()) flags.push_back("dense");
  return flags;
}

// To a Cassandra an index has no view.
template <typename Visit>
void ForEachTable(const VirtualReadContext& context, Visit visit) {
  for (const auto& [keyspace_name, keyspace] : context.schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      if (context.node.looks_like_scylla || !table->is_index_view()) visit(*table);
    }
  }
}

void ListKeyspaces(const VirtualReadContext& context, RowCollector& rows) {
  for (const auto& [name, keyspace] : context.schema.keyspaces) {
    LS_DCHECK(keyspace->replication.contains("class"), "a keyspace has a replication strategy");
    rows.Row()
        .Set("keyspace_name", name)
        .Set("durable_writes", EncodeBoolean(keyspace->durable_writes))
        .Set("replication", EncodeTextMap(keyspace->replication));
  }
}

// Those of which there is something to say. Source: ScyllaDB db/schema_tables.cc,
// make_create_keyspace_mutations.
void ListScyllaKeyspaces(const VirtualReadContext& context, RowCollector& rows) {
  for (const auto& [name, keyspace] : context.schema.keyspaces) {
    if (!keyspace->uses_tablets()) continue;
    rows.Row()
        .Set("keyspace_name", name)
        .Set("initial_tablets", EncodeInt(static_cast<int32_t>(*keyspace->initial_tablets)));
  }
}

// The table of an index's view, and the index.
std::pair<const TableDefinition*, const IndexDefinition*> IndexOfView(const Schema& schema,
                                                                      const TableDefinition& view) {
  LS_DCHECK(view.is_index_view(), "it is an index's");
  const TableDefinition& base = *schema.FindKeyspace(view.keyspace)->tables.at(view.view->base);
  const IndexDefinition* index = base.FindIndex(view.view->index);
  LS_CHECK(index != nullptr, "a view is there as long as its index");
  return {&base, index};
}

// What follows from a column that an index is by as a whole: rows without it are not in its view.
std::string WhereOfIndexView(const IndexDefinition& index) {
  return index.part == IndexedPart::kValue ? QuoteIdentifier(index.column) + " IS NOT NULL" : "";
}

// The view of a local index is up to date when a write is answered: a tag says so. Source: ScyllaDB
// index/secondary_index_manager.cc, create_view_for_index.
std::map<std::string, TableExtension> ExtensionsOf(const TableDefinition& table,
                                                   const IndexDefinition* index = nullptr) {
  std::map<std::string, TableExtension> extensions = table.options.schema_extensions;
  if (index != nullptr && index->local) {
    extensions.try_emplace("scylla_tags",
                           PropertyMap{{std::string(schema_change::kSynchronousViewTag), "true"}});
  }
  return extensions;
}

// What tables and views have in common, in the row that was begun last.
void SetOptions(const TableDefinition& table, RowCollector& rows,
                const std::map<std::string, TableExtension>& extensions) {
  const TableOptions& options = table.options;
  PropertyMap serialized;
  for (const auto& [name, extension] : extensions) {
    serialized[name] = SerializedExtension(extension);
  }
  rows.Set("keyspace_name", table.keyspace)
      .Set("bloom_filter_fp_chance", EncodeDouble(options.bloom_filter_fp_chance))
      .Set("caching", EncodeTextMap(options.caching))
      .Set("comment", options.comment)
      .Set("compaction", EncodeTextMap(options.compaction))
      .Set("compression", EncodeTextMap(options.compression))
      .Set("crc_check_chance", EncodeDouble(options.crc_check_chance))
      .Set("dclocal_read_repair_chance", EncodeDouble(options.dclocal_read_repair_chance))
      .Set("default_time_to_live", EncodeInt(static_cast<int32_t>(options.default_ttl_seconds)))
      .Set("extensions",
           options.extensions.empty() ? EncodeTextMap(serialized) : options.extensions)
      .Set("gc_grace_seconds", EncodeInt(static_cast<int32_t>(options.gc_grace_seconds)))
      .Set("id", EncodeUuid(table.id))
      .Set("max_index_interval", EncodeInt(options.max_index_interval))
      .Set("memtable_flush_period_in_ms", EncodeInt(options.memtable_flush_period_in_ms))
      .Set("min_index_interval", EncodeInt(options.min_index_interval))
      .Set("read_repair_chance", EncodeDouble(options.read_repair_chance))
      .Set("speculative_retry", options.speculative_retry);
}

// Source: ScyllaDB service/client_state.cc, has_access: only definitions are kept from the system's
// keyspaces.
class TablesTable final : public VirtualTable {
 public:
  TablesTable(const TableSpec& spec, ComputedTable::RowFunction rows, shard::Catalog& catalog)
      : shown_(spec, std::move(rows)), catalog_(catalog) {}

  const std::shared_ptr<const TableDefinition>& definition() const override {
    return shown_.definition();
  }
  std::vector<VirtualRow> Rows(const VirtualReadContext& context) const override {
    return shown_.Rows(context);
  }
  std::optional<CqlError> Write(const Values& values) override {
    std::string keyspace;
    std::string table;
    std::string extensions;
    for (const auto& [column, value] : values) {
      if (column == "keyspace_name") {
        keyspace = value.value_or("");
      } else if (column == "table_name") {
        table = value.value_or("");
      } else if (column == "extensions") {
        extensions = value.value_or("");
      } else {
        return VirtualTableRefusesWrites();
      }
    }
    std::optional<CqlError> error;
    catalog_.Change([&](Schema& schema) {
      const std::shared_ptr<const TableDefinition> found = schema.FindTable(keyspace, table);
      if (found == nullptr || found->is_virtual || found->view) {
        error = VirtualTableRefusesWrites();
        return false;
      }
      auto changed = std::make_shared<TableDefinition>(*found);
      changed->options.extensions = extensions;
      shard::Catalog::PutTable(schema, std::move(changed));
      return true;
    });
    return error;
  }

 private:
  const ComputedTable shown_;
  shard::Catalog& catalog_;
};

void ListTables(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&rows](const TableDefinition& table) {
    if (table.view) return;
    rows.Row().Set("table_name", table.name).Set("flags", EncodeTextSet(Flags(table)));
    SetOptions(table, rows, ExtensionsOf(table));
  });
}

void ListDroppedColumns(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&rows](const TableDefinition& table) {
    for (const auto& [name, dropped] : table.dropped) {
      rows.Row()
          .Set("keyspace_name", table.keyspace)
          .Set("table_name", table.name)
          .Set("column_name", name)
          .Set("dropped_time", EncodeBigint(dropped.at_micros / 1000))
          .Set("type", dropped.type.ToString());
    }
  });
}

void ListViews(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&](const TableDefinition& table) {
    if (!table.view) return;
    rows.Row()
        .Set("view_name", table.name)
        .Set("base_table_id", EncodeUuid(table.view->base_id))
        .Set("base_table_name", table.view->base)
        .Set("include_all_columns", EncodeBoolean(table.view->all_columns));
    if (table.is_index_view()) {
      const IndexDefinition& index = *IndexOfView(context.schema, table).second;
      rows.Set("where_clause", WhereOfIndexView(index));
      SetOptions(table, rows, ExtensionsOf(table, &index));
    } else {
      rows.Set("where_clause", table.view->where);
      SetOptions(table, rows, ExtensionsOf(table));
    }
  });
}

// What a view has of a column that it does not show: when it was written, so that rows live as long
// as those of the table do. Source: ScyllaDB db/view/view.cc, create_virtual_column.
std::string VirtualColumnType(const DataType& type) {
  if (!type.is_multi_cell()) return "empty";
  switch (type.kind()) {
    case DataType::Kind::kList:
      return "map<timeuuid, empty>";
    case DataType::Kind::kMap:
      return "map<" + type.parameters()[0].ToString() + ", empty>";
    case DataType::Kind::kUser:
      return "map<smallint, empty>";
    default:
      return type.ToString();  // a set is nothing but its elements
  }
}

// Whether the rows of a view live as long as any cell of the table does: its key is of key columns
// alone. Source: ScyllaDB index/secondary_index_manager.cc, create_view_for_index, for indexes.
bool HasVirtualColumns(const Schema& schema, const TableDefinition& view) {
  if (view.is_index_view()) {
    const auto [base, index] = IndexOfView(schema, view);
    return base->FindColumn(index->column)->is_key();
  }
  const TableDefinition& base = *schema.FindKeyspace(view.keyspace)->tables.at(view.view->base);
  return std::ranges::all_of(view.columns, [&](const ColumnDefinition& column) {
    return !column.is_key() || base.FindColumn(column.name)->is_key();
  });
}

void ListVirtualColumns(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&](const TableDefinition& view) {
    if (!view.view || !HasVirtualColumns(context.schema, view)) return;
    const TableDefinition& base =
        *context.schema.FindKeyspace(view.keyspace)->tables.at(view.view->base);
    for (const ColumnDefinition& column : base.columns) {
      if (column.kind != ColumnKind::kRegular || view.FindColumn(column.name) != nullptr) continue;
      rows.Row()
          .Set("keyspace_name", view.keyspace)
          .Set("view_name", view.name)
          .Set("column_name", column.name)
          .Set("type", VirtualColumnType(column.type));
    }
  });
}

// How a column of an index's view comes about, as JSON. Source: ScyllaDB schema/schema.cc,
// token_column_computation, collection_column_computation.
std::string Computation(IndexViewValue value, const IndexDefinition& index, const DataType& type) {
  if (value == IndexViewValue::kToken) return "{\"type\":\"token_v2\"}";
  const bool of_keys = value == IndexViewValue::kElementKey || index.part == IndexedPart::kKeys ||
                       type.kind() == DataType::Kind::kSet;
  const std::string_view kind = of_keys                               ? "keys"
                                : index.part == IndexedPart::kEntries ? "entries"
                                                                      : "values";
  return "{\"type\":\"collection_" + std::string(kind) + "\",\"collection_name\":\"" +
         EscapeJson(index.column) + "\"}";
}

void ListComputedColumns(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&](const TableDefinition& view) {
    if (!view.is_index_view()) return;
    const auto [base, index] = IndexOfView(context.schema, view);
    for (const ColumnDefinition& column : view.columns) {
      const IndexViewValue value = ShownIn(*base, column);
      if (value == IndexViewValue::kColumn) continue;
      rows.Row()
          .Set("keyspace_name", view.keyspace)
          .Set("table_name", view.name)
          .Set("column_name", column.name)
          .Set("computation", Computation(value, *index, base->FindColumn(index->column)->type));
    }
  });
}

void ListColumn(const VirtualReadContext& context, const TableDefinition& table,
                const ColumnDefinition& column, std::string type, RowCollector& rows) {
  rows.Row()
      .Set("keyspace_name", table.keyspace)
      .Set("table_name", table.name)
      .Set("column_name", column.name)
      .Set("clustering_order", ClusteringOrder(column, context.node.looks_like_scylla))
      .Set("column_name_bytes", column.name)
      .Set("kind", std::string(KindName(column.kind)))
      // Of key columns only, and counted within their kind.
      .Set("position", EncodeInt(column.is_key() ? column.position : -1))
      .Set("type", std::move(type));
}

// `base`, or with the first number behind it that makes it no column's. Source: ScyllaDB
// schema/schema.cc, default_names::unique_name.
std::string UniqueName(const TableDefinition& table, const std::string& base, size_t index) {
  while (true) {
    std::string name = index == 0 ? base : base + std::to_string(index);
    if (table.FindColumn(name) == nullptr) return name;
    ++index;
  }
}

// What the schema tables, and none else, say of COMPACT STORAGE: columns that Thrift had. Source:
// ScyllaDB schema/schema.cc, v3_columns::from_v2_schema, prepare_dense_schema.
void ListCompactColumns(const VirtualReadContext& context, const TableDefinition& table,
                        RowCollector& rows) {
  ColumnDefinition value;
  value.name = UniqueName(table, "value", 0);
  if (table.is_static_compact()) {
    ColumnDefinition name;
    name.name = UniqueName(table, "column", 1);
    name.kind = ColumnKind::kClustering;
    ListColumn(context, table, name, "text", rows);
    ListColumn(context, table, value, IsCounterTable(table) ? "counter" : "blob", rows);
  } else if (table.CountOf(ColumnKind::kRegular) == 0) {
    ListColumn(context, table, value, "empty", rows);
  }
}

void ListColumns(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&](const TableDefinition& table) {
    for (ColumnDefinition column : table.columns) {
      if (table.is_static_compact() && column.kind == ColumnKind::kRegular) {
        column.kind = ColumnKind::kStatic;
      }
      ListColumn(context, table, column, column.type.ToString(), rows);
    }
    if (table.compact_storage) ListCompactColumns(context, table, rows);
  });
}

// ScyllaDB keeps the elements of sets as keys, and says so here, although `keys(s)` makes no index;
// that a frozen collection is indexed as a whole it does not say. Sources: ScyllaDB
// cql3/statements/create_index_statement.cc, rewrite_target_for_collection;
// index/secondary_index.cc, serialize_targets.
std::string ShownTarget(const TableDefinition& table, const IndexDefinition& index,
                        const NodeFacts& node) {
  if (index.part == IndexedPart::kValue && !index.local && node.looks_like_scylla) {
    return QuoteIdentifier(index.column);
  }
  const bool of_set = table.FindColumn(index.column)->type.kind() == DataType::Kind::kSet;
  if (index.part != IndexedPart::kValues || !of_set || !node.looks_like_scylla) {
    return IndexTargetText(table, index);
  }
  return "keys(" + QuoteIdentifier(index.column) + ")";
}

void ListIndexes(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&](const TableDefinition& table) {
    for (const IndexDefinition& index : table.indexes) {
      rows.Row()
          .Set("keyspace_name", table.keyspace)
          .Set("table_name", table.name)
          .Set("index_name", index.name)
          .Set("kind", "COMPOSITES")
          .Set("options", EncodeTextMap({{"target", ShownTarget(table, index, context.node)}}));
    }
  });
}

void ListScyllaTables(const VirtualReadContext& context, RowCollector& rows) {
  ForEachTable(context, [&rows](const TableDefinition& table) {
    // No partitioner is the default one; a version of its own is something that only clusters need.
    rows.Row().Set("keyspace_name", table.keyspace).Set("table_name", table.name);
  });
}

void ListTypes(const VirtualReadContext& context, RowCollector& rows) {
  for (const auto& [keyspace_name, keyspace] : context.schema.keyspaces) {
    for (const auto& [type_name, type] : keyspace->types) {
      std::vector<std::string> field_types;
      for (const DataType& field : type.parameters()) field_types.push_back(field.ToString());
      rows.Row()
          .Set("keyspace_name", keyspace_name)
          .Set("type_name", type_name)
          .Set("field_names", EncodeTextList(type.user().fields))
          .Set("field_types", EncodeTextList(field_types));
    }
  }
}

struct SchemaTable {
  TableSpec spec;
  // nullptr: always empty.
  void (*rows)(const VirtualReadContext&, RowCollector&);
  bool scylla_only = false;
};

// Source: ScyllaDB `db/schema_tables.cc`.
constexpr SchemaTable kSchemaTables[] = {
    {{"system_schema", "keyspaces", "keyspace_name text", "",
      "durable_writes boolean, replication frozen<map<text, text>>", "keyspaces"},
     ListKeyspaces},
    {{"system_schema", "tables", "keyspace_name text", "table_name text",
      "bloom_filter_fp_chance double, caching frozen<map<text, text>>, comment text, "
      "compaction frozen<map<text, text>>, compression frozen<map<text, text>>, "
      "crc_check_chance double, dclocal_read_repair_chance double, default_time_to_live int, "
      "extensions frozen<map<text, blob>>, flags frozen<set<text>>, gc_grace_seconds int, id uuid, "
      "max_index_interval int, memtable_flush_period_in_ms int, min_index_interval int, "
      "read_repair_chance double, speculative_retry text",
      "tables"},
     ListTables},
    {{"system_schema", "columns", "keyspace_name text", "table_name text, column_name text",
      "clustering_order text, column_name_bytes blob, kind text, position int, type text",
      "columns of tables"},
     ListColumns},
    {{"system_schema", "indexes", "keyspace_name text", "table_name text, index_name text",
      "kind text, options frozen<map<text, text>>", "secondary indexes"},
     ListIndexes},
    {{"system_schema", "views", "keyspace_name text", "view_name text",
      "base_table_id uuid, base_table_name text, bloom_filter_fp_chance double, "
      "caching frozen<map<text, text>>, comment text, compaction frozen<map<text, text>>, "
      "compression frozen<map<text, text>>, crc_check_chance double, "
      "dclocal_read_repair_chance double, default_time_to_live int, "
      "extensions frozen<map<text, blob>>, gc_grace_seconds int, id uuid, "
      "include_all_columns boolean, max_index_interval int, memtable_flush_period_in_ms int, "
      "min_index_interval int, read_repair_chance double, speculative_retry text, "
      "where_clause text",
      "materialized views"},
     ListViews},
    {{"system_schema", "view_virtual_columns", "keyspace_name text",
      "view_name text, column_name text", "type text", "columns that views have and do not show"},
     ListVirtualColumns,
     /*scylla_only=*/true},
    {{"system_schema", "types", "keyspace_name text", "type_name text",
      "field_names frozen<list<text>>, field_types frozen<list<text>>", "user-defined types"},
     ListTypes},
    {{"system_schema", "functions", "keyspace_name text",
      "function_name text, argument_types frozen<list<text>>",
      "argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text, "
      "return_type text",
      "user-defined functions"},
     nullptr},
    {{"system_schema", "aggregates", "keyspace_name text",
      "aggregate_name text, argument_types frozen<list<text>>",
      "final_func text, initcond text, return_type text, state_func text, state_type text",
      "user-defined aggregates"},
     nullptr},
    {{"system_schema", "triggers", "keyspace_name text", "table_name text, trigger_name text",
      "options frozen<map<text, text>>", "triggers"},
     nullptr},
    {{"system_schema", "dropped_columns", "keyspace_name text", "table_name text, column_name text",
      "dropped_time timestamp, type text", "columns that were dropped"},
     ListDroppedColumns},
    {{"system_schema", "computed_columns", "keyspace_name text",
      "table_name text, column_name text", "computation blob", "columns that are computed"},
     ListComputedColumns,
     /*scylla_only=*/true},
    {{"system_schema", "scylla_keyspaces", "keyspace_name text", "",
      "initial_tablets int, storage_options frozen<map<text, text>>, storage_type text",
      "keyspaces: what is ScyllaDB's own"},
     ListScyllaKeyspaces,
     /*scylla_only=*/true},
    {{"system_schema", "scylla_tables", "keyspace_name text", "table_name text",
      "cdc frozen<map<text, text>>, committed_by_group0 boolean, partitioner text, version uuid",
      "tables: what is ScyllaDB's own"},
     ListScyllaTables,
     /*scylla_only=*/true},
    {{"system_schema", "scylla_aggregates", "keyspace_name text",
      "aggregate_name text, argument_types frozen<list<text>>", "reduce_func text, state_type text",
      "user-defined aggregates: what is ScyllaDB's own"},
     nullptr,
     /*scylla_only=*/true},
};

}  // namespace

void AddSystemSchemaTables(VirtualTables& tables, bool looks_like_scylla, shard::Catalog* catalog) {
  for (const SchemaTable& entry : kSchemaTables) {
    if (entry.scylla_only && !looks_like_scylla) continue;
    if (entry.rows == ListTables && looks_like_scylla && catalog != nullptr) {
      tables.Add(std::make_unique<TablesTable>(entry.spec, entry.rows, *catalog));
    } else {
      tables.Add(std::make_unique<ComputedTable>(entry.spec, entry.rows));
    }
  }
}

std::string IndexTargetText(const TableDefinition& table, const IndexDefinition& index) {
  if (!index.local) return IndexedText(table, index);
  std::string target = "{\"pk\":[";
  const char* separator = "\"";
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    target += separator + EscapeJson(column->name) + "\"";
    separator = ",\"";
  }
  return target + "],\"ck\":[\"" + EscapeJson(index.column) + "\"]}";
}

}  // namespace liststore::cql
