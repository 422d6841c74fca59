#include "engine/cql/schema/create_statement.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/cql/schema/table_extensions.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/print_value.h"

namespace liststore::cql {
namespace {

std::string NameInKeyspace(const TableDefinition& table) {
  return QuoteIdentifier(table.keyspace) + "." + QuoteIdentifier(table.name);
}

// The shortest text that reads back as the same number: "0.01", "1".
std::string NumberText(double value) {
  char text[32];
  const std::to_chars_result result = std::to_chars(text, text + sizeof(text), value);
  LS_CHECK(result.ec == std::errc(), "32 characters hold any double");
  return {text, result.ptr};
}

// {'class': '...', 'other': '...'}: the class first, as ScyllaDB has it, the rest by name.
std::string MapText(const PropertyMap& map) {
  std::string text;
  const auto append = [&text](const std::string& key, const std::string& value) {
    text += (text.empty() ? "{" : ", ") + QuoteString(key) + ": " + QuoteString(value);
  };
  const auto first = map.find("class");
  if (first != map.end()) append(first->first, first->second);
  for (const auto& [key, value] : map) {
    if (key != "class") append(key, value);
  }
  return text.empty() ? "{}" : text + "}";
}

using Columns = std::vector<const ColumnDefinition*>;

// "a, b", each as `print` says.
template <typename Print>
std::string Joined(const Columns& columns, Print print) {
  std::string text;
  for (const ColumnDefinition* column : columns) {
    if (!text.empty()) text += ", ";
    text += print(*column);
  }
  return text;
}

std::string NameOf(const ColumnDefinition& column) { return QuoteIdentifier(column.name); }

std::string NameAndOrder(const ColumnDefinition& column) {
  return NameOf(column) + (column.descending ? " DESC" : " ASC");
}

// "(a, b), c": the partition key in parentheses of its own if it has several columns.
std::string PrimaryKeyText(const TableDefinition& table) {
  const auto partition = table.ColumnsOf(ColumnKind::kPartitionKey);
  std::string text = Joined(partition, NameOf);
  if (partition.size() > 1) text = "(" + text + ")";
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kClustering)) {
    text += ", " + NameOf(*column);
  }
  return text;
}

std::string ColumnText(const ColumnDefinition& column) {
  return NameOf(column) + " " + column.type.ToString() +
         (column.kind == ColumnKind::kStatic ? " STATIC" : "");
}

// Keys, then static columns, then regular ones: not quite the order of `SELECT *`. With internals
// those that were dropped stand behind the others, also where they are there again.
std::string ColumnLines(const TableDefinition& table, bool with_internals) {
  std::string text;
  for (const ColumnKind kind : {ColumnKind::kPartitionKey, ColumnKind::kClustering,
                                ColumnKind::kStatic, ColumnKind::kRegular}) {
    for (const ColumnDefinition* column : table.ColumnsOf(kind)) {
      if (with_internals && table.dropped.contains(column->name)) continue;
      text += "\n    " + ColumnText(*column) + ",";
    }
  }
  if (!with_internals) return text;
  for (const auto& [name, dropped] : table.dropped) {
    text += "\n    " + QuoteIdentifier(name) + " " + dropped.type.ToString() + ",";
  }
  return text;
}

// What makes of the columns of ColumnLines those of the table.
std::string DropsAndAdditions(const TableDefinition& table) {
  const std::string alter = "\nALTER TABLE " + NameInKeyspace(table);
  std::string text;
  for (const auto& [name, dropped] : table.dropped) {
    text += alter + " DROP " + QuoteIdentifier(name) + " USING TIMESTAMP " +
            std::to_string(dropped.at_micros) + ";";
    const ColumnDefinition* column = table.FindColumn(name);
    if (column != nullptr) text += alter + " ADD " + ColumnText(*column) + ";";
  }
  return text;
}

std::vector<std::string> OptionLines(const TableOptions& options) {
  std::vector<std::string> lines = {
      "bloom_filter_fp_chance = " + NumberText(options.bloom_filter_fp_chance),
      "caching = " + MapText(options.caching),
      "comment = " + QuoteString(options.comment),
      "compaction = " + MapText(options.compaction),
      "compression = " + MapText(options.compression),
      "crc_check_chance = " + NumberText(options.crc_check_chance),
      "default_time_to_live = " + std::to_string(options.default_ttl_seconds),
      "gc_grace_seconds = " + std::to_string(options.gc_grace_seconds),
      "max_index_interval = " + std::to_string(options.max_index_interval),
      "memtable_flush_period_in_ms = " + std::to_string(options.memtable_flush_period_in_ms),
      "min_index_interval = " + std::to_string(options.min_index_interval),
      "speculative_retry = " + QuoteString(options.speculative_retry),
  };
  for (const auto& [name, extension] : options.schema_extensions) {
    lines.push_back(name + " = " + ExtensionText(extension));
  }
  return lines;
}

// As it was told of a view; empty: it was not.
std::string SynchronousUpdates(const TableDefinition& table) {
  const auto tags = table.options.schema_extensions.find("scylla_tags");
  if (!table.view || tags == table.options.schema_extensions.end()) return "";
  const PropertyMap& map = std::get<PropertyMap>(tags->second);
  const auto tag = map.find(std::string(schema_change::kSynchronousViewTag));
  return tag == map.end() ? "" : tag->second;
}

// What stands behind WITH, and the end.
std::string Options(const TableDefinition& table, bool with_internals) {
  std::vector<std::string> lines;
  if (with_internals) lines.push_back("ID = " + table.id.ToString());
  const Columns clustering = table.ColumnsOf(ColumnKind::kClustering);
  if (!clustering.empty()) {
    lines.push_back("CLUSTERING ORDER BY (" + Joined(clustering, NameAndOrder) + ")");
  }
  if (table.compact_storage) lines.emplace_back("COMPACT STORAGE");
  for (std::string& line : OptionLines(table.options)) lines.push_back(std::move(line));
  const std::string synchronous = SynchronousUpdates(table);
  if (!synchronous.empty()) lines.push_back("synchronous_updates = " + synchronous);
  std::string text;
  // ScyllaDB does not indent what follows the id.
  const char* behind_first = with_internals ? "\nAND " : "\n    AND ";
  for (size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "" : i == 1 ? behind_first : "\n    AND ") + lines[i];
  }
  return text + ";\n";
}

}  // namespace

std::string CreateKeyspaceText(const KeyspaceDefinition& keyspace) {
  const std::string tablets =
      keyspace.initial_tablets.value_or(0) > 0
          ? "{'initial': " + std::to_string(*keyspace.initial_tablets) + "}"
          : "{'enabled': " + std::string(keyspace.uses_tablets() ? "true" : "false") + "}";
  return "CREATE KEYSPACE " + QuoteIdentifier(keyspace.name) +
         " WITH replication = " + MapText(keyspace.replication) +
         " AND durable_writes = " + (keyspace.durable_writes ? "true" : "false") +
         " AND tablets = " + tablets + ";";
}

std::string CreateTableText(const TableDefinition& table, bool with_internals) {
  const std::string text = "CREATE TABLE " + NameInKeyspace(table) + " (" +
                           ColumnLines(table, with_internals) + "\n    PRIMARY KEY (" +
                           PrimaryKeyText(table) + ")\n) WITH ";
  return text + Options(table, with_internals) + (with_internals ? DropsAndAdditions(table) : "");
}

std::string CreateViewText(const TableDefinition& view, bool with_internals) {
  LS_CHECK(view.view.has_value(), "it is a view");
  Columns columns;
  for (const ColumnDefinition& column : view.columns) columns.push_back(&column);
  std::string text = "CREATE MATERIALIZED VIEW " + NameInKeyspace(view) + " AS\n    SELECT " +
                     Joined(columns, NameOf) + "\n    FROM " + QuoteIdentifier(view.keyspace) +
                     "." + QuoteIdentifier(view.view->base);
  if (!view.view->where.empty()) text += "\n    WHERE " + view.view->where;
  return text + "\n    PRIMARY KEY (" + PrimaryKeyText(view) + ")\n    WITH " +
         Options(view, with_internals);
}

std::string IndexedText(const TableDefinition& table, const IndexDefinition& index) {
  const ColumnDefinition* column = table.FindColumn(index.column);
  LS_CHECK(column != nullptr, "an index is on a column");
  const std::string name = NameOf(*column);
  switch (index.part) {
    case IndexedPart::kValue:
      // A frozen collection is indexed as a whole, and that has to be said.
      return column->type.is_frozen() && column->type.is_collection() ? "full(" + name + ")" : name;
    case IndexedPart::kValues:
      return "values(" + name + ")";
    case IndexedPart::kKeys:
      return "keys(" + name + ")";
    case IndexedPart::kEntries:
      return "entries(" + name + ")";
  }
  LS_UNREACHABLE("all parts are above");
}

std::string CreateIndexText(const TableDefinition& table, const IndexDefinition& index) {
  std::string target = IndexedText(table, index);
  if (index.local) {
    target = "(" + Joined(table.ColumnsOf(ColumnKind::kPartitionKey), NameOf) + "), " + target;
  }
  return "CREATE INDEX " + QuoteIdentifier(index.name) + " ON " + NameInKeyspace(table) + "(" +
         target + ");\n";
}

std::string CreateTypeText(const DataType& type) {
  const UserTypeNames& names = type.user();
  std::string text =
      "CREATE TYPE " + QuoteIdentifier(names.keyspace) + "." + names.name_in_cql + " (";
  for (size_t i = 0; i < names.fields.size(); ++i) {
    text += (i == 0 ? "\n    " : ",\n    ") + QuoteIdentifier(names.fields[i]) + " " +
            type.parameters()[i].ToString();
  }
  return text + "\n);\n";
}

}  // namespace liststore::cql
