#include "tools/copy/remote_schema.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/protocol/primitives.h"

namespace liststore {
namespace {

constexpr std::string_view kFrozen = "frozen<";
constexpr std::string_view kInstruments = "liststore";  // the keyspace that only liststore has

// The elements of a list<text>; of a map<text, text> keys and values in turn. None of what is not.
std::vector<std::string> Texts(std::string_view bytes, bool map) {
  std::vector<std::string> texts;
  protocol::BodyReader reader(bytes);
  for (int64_t left = int64_t{reader.ReadInt()} * (map ? 2 : 1); left > 0; --left) {
    const protocol::Value text = reader.ReadBytes();
    if (!reader.ok()) break;
    texts.emplace_back(text.has_bytes() ? text.bytes() : std::string_view());
  }
  if (map && texts.size() % 2 != 0) texts.pop_back();
  return texts;
}

std::vector<std::pair<std::string, std::string>> TextMap(std::string_view bytes) {
  std::vector<std::pair<std::string, std::string>> map;
  const std::vector<std::string> texts = Texts(bytes, true);
  for (size_t i = 0; i < texts.size(); i += 2) map.emplace_back(texts[i], texts[i + 1]);
  std::ranges::sort(map);
  return map;
}

std::string Found(const std::vector<std::pair<std::string, std::string>>& map,
                  std::string_view key) {
  for (const auto& [name, value] : map) {
    if (name == key) return value;
  }
  return "";
}

// The servers' own, which no user has made.
bool IsSystemKeyspace(std::string_view name) {
  return name == "system" || name.starts_with("system_") || name == kInstruments;
}

// Identifiers of a type, out of their quotes: of map<text, frozen<"A b">> map, text, frozen, A b.
std::vector<std::string> NamesIn(std::string_view type) {
  std::vector<std::string> names;
  bool quoted = false, open = false;
  for (size_t i = 0; i < type.size(); ++i) {
    const char c = type[i];
    if (c == '"') {
      const bool doubled = quoted && i + 1 < type.size() && type[i + 1] == '"';
      if (doubled) {
        names.back() += '"';
        ++i;
        continue;
      }
      quoted = !quoted;
      if (quoted) names.emplace_back();
      open = false;
      continue;
    }
    const bool part = quoted || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z');
    if (part && !quoted && !open) names.emplace_back();
    if (part) names.back() += c;
    open = part && !quoted;
  }
  return names;
}

// Each behind those that it is made of; they cannot go round in circles.
std::vector<RemoteType> InOrder(std::vector<RemoteType> types) {
  std::vector<RemoteType> ordered;
  std::set<std::string> missing;
  for (const RemoteType& type : types) missing.insert(type.name);
  const auto is_ready = [&missing](const RemoteType& type) {
    return std::ranges::none_of(type.fields, [&missing](const auto& field) {
      return std::ranges::any_of(NamesIn(field.second), [&missing](const std::string& name) {
        return missing.contains(name);
      });
    });
  };
  while (!types.empty()) {
    const auto next = std::ranges::find_if(types, is_ready);
    if (next == types.end()) break;  // nothing that a server would have
    missing.erase(next->name);
    ordered.push_back(std::move(*next));
    types.erase(next);
  }
  return ordered;
}

const std::string& NameOfView(const RemoteView& view) { return view.table.name; }

RemoteColumn::Kind KindOf(std::string_view name) {
  if (name == "partition_key") return RemoteColumn::Kind::kPartitionKey;
  if (name == "clustering") return RemoteColumn::Kind::kClustering;
  if (name == "static") return RemoteColumn::Kind::kStatic;
  return RemoteColumn::Kind::kRegular;
}

class SchemaReader {
 public:
  SchemaReader(CqlClient& client, RemoteSchema& schema) : client_(client), schema_(schema) {}

  absl::Status Read() {
    LS_RETURN_IF_ERROR(ReadKeyspaces());
    LS_RETURN_IF_ERROR(ReadTypes());
    LS_RETURN_IF_ERROR(ReadTables());
    LS_RETURN_IF_ERROR(ReadIndexes());
    LS_RETURN_IF_ERROR(ReadViews());
    LS_RETURN_IF_ERROR(ReadColumns());
    LS_RETURN_IF_ERROR(ReadVersion());
    for (const auto& [table, name] : {std::pair("functions", "function"),
                                      {"aggregates", "aggregate"},
                                      {"triggers", "trigger"}}) {
      LS_RETURN_IF_ERROR(ReadLeftOut(table, name));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadKeyspaces() {
    LS_ASSIGN_OR_RETURN(const CqlRows rows, client_.Query("SELECT keyspace_name, replication FROM "
                                                          "system_schema.keyspaces"));
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows.at(row, 0) == kInstruments) {
        schema_.consistency = kCqlOne;
        schema_.part_times = PartTimes::kByFunction;
        schema_.places_elements = true;
      }
      if (IsSystemKeyspace(rows.at(row, 0))) continue;
      RemoteKeyspace keyspace;
      keyspace.name = rows.at(row, 0);
      keyspace.replication = TextMap(rows.at(row, 1));
      schema_.keyspaces.push_back(std::move(keyspace));
    }
    std::ranges::sort(schema_.keyspaces, {}, &RemoteKeyspace::name);
    return absl::OkStatus();
  }

  absl::Status ReadTypes() {
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query("SELECT keyspace_name, type_name, field_names, field_types "
                                      "FROM system_schema.types"));
    for (size_t row = 0; row < rows.size(); ++row) {
      RemoteKeyspace* const keyspace = Keyspace(rows.at(row, 0));
      if (keyspace == nullptr) continue;
      const std::vector<std::string> names = Texts(rows.at(row, 2), false);
      const std::vector<std::string> types = Texts(rows.at(row, 3), false);
      RemoteType type{std::string(rows.at(row, 1)), {}};
      for (size_t i = 0; i < std::min(names.size(), types.size()); ++i) {
        type.fields.emplace_back(names[i], types[i]);
      }
      keyspace->types.push_back(std::move(type));
    }
    for (RemoteKeyspace& keyspace : schema_.keyspaces) {
      keyspace.types = InOrder(std::move(keyspace.types));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTables() {
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query("SELECT keyspace_name, table_name, default_time_to_live, "
                                      "gc_grace_seconds, comment FROM system_schema.tables"));
    for (size_t row = 0; row < rows.size(); ++row) {
      // Only ScyllaDB has this one, and only there an index can be local.
      if (rows.at(row, 0) == "system_schema" && rows.at(row, 1) == "scylla_tables") {
        schema_.has_local_indexes = true;
        schema_.places_elements = true;
      }
      RemoteKeyspace* const keyspace = Keyspace(rows.at(row, 0));
      if (keyspace == nullptr) continue;
      RemoteTable table;
      table.keyspace = keyspace->name;
      table.name = rows.at(row, 1);
      table.default_ttl_seconds = static_cast<int32_t>(rows.Integer(row, 2));
      table.gc_grace_seconds = static_cast<int32_t>(rows.Integer(row, 3));
      table.comment = rows.at(row, 4);
      keyspace->tables.push_back(std::move(table));
    }
    for (RemoteKeyspace& keyspace : schema_.keyspaces) {
      std::ranges::sort(keyspace.tables, {}, &RemoteTable::name);
    }
    return absl::OkStatus();
  }

  absl::Status ReadColumns() {
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query("SELECT keyspace_name, table_name, column_name, kind, "
                                      "position, clustering_order, type FROM "
                                      "system_schema.columns"));
    for (size_t row = 0; row < rows.size(); ++row) {
      RemoteTable* const table = Table(rows.at(row, 0), rows.at(row, 1));
      if (table == nullptr) continue;
      const std::string_view order = rows.at(row, 5);
      table->columns.push_back({.name = std::string(rows.at(row, 2)),
                                .kind = KindOf(rows.at(row, 3)),
                                .position = static_cast<int32_t>(rows.Integer(row, 4)),
                                .descending = order == "desc" || order == "DESC",
                                .type = std::string(rows.at(row, 6))});
    }
    for (RemoteKeyspace& keyspace : schema_.keyspaces) {
      for (RemoteTable& table : keyspace.tables) FinishColumns(keyspace, table);
      for (RemoteView& view : keyspace.views) FinishColumns(keyspace, view.table);
    }
    return absl::OkStatus();
  }

  static void FinishColumns(const RemoteKeyspace& keyspace, RemoteTable& table) {
    for (RemoteColumn& column : table.columns) FindParts(keyspace, column);
    std::ranges::sort(table.columns, {}, [](const RemoteColumn& column) {
      return std::tie(column.kind, column.position, column.name);
    });
  }

  static void FindParts(const RemoteKeyspace& keyspace, RemoteColumn& column) {
    using Parts = RemoteColumn::Parts;
    if (!IsMultiCell(keyspace, column.type)) return;
    column.parts = column.type.starts_with("list<")  ? Parts::kList
                   : column.type.starts_with("set<") ? Parts::kSet
                   : column.type.starts_with("map<") ? Parts::kMap
                                                     : Parts::kFields;
    if (column.parts != Parts::kFields) return;
    const RemoteType* const type = keyspace.FindType(NamesIn(column.type).front());
    for (const auto& field : type->fields) column.fields.push_back(field.first);
  }

  // Of Cassandra; ScyllaDB says 3.0.8 whatever it is.
  absl::Status ReadVersion() {
    if (schema_.part_times != PartTimes::kNever || schema_.has_local_indexes) {
      return absl::OkStatus();
    }
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query("SELECT release_version FROM system.local"));
    constexpr int kFirstWithPartTimes = 5;
    int major = 0;
    const std::string_view version = rows.size() == 1 ? rows.at(0, 0) : "";
    std::from_chars(version.data(), version.data() + version.size(), major);
    if (major >= kFirstWithPartTimes) schema_.part_times = PartTimes::kOfColumn;
    return absl::OkStatus();
  }

  absl::Status ReadIndexes() {
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query("SELECT keyspace_name, table_name, index_name, kind, options "
                                      "FROM system_schema.indexes"));
    for (size_t row = 0; row < rows.size(); ++row) {
      RemoteTable* const table = Table(rows.at(row, 0), rows.at(row, 1));
      if (table == nullptr) continue;
      const auto options = TextMap(rows.at(row, 4));
      table->indexes.push_back({.name = std::string(rows.at(row, 2)),
                                .kind = std::string(rows.at(row, 3)),
                                .target = Found(options, "target"),
                                .class_name = Found(options, "class_name")});
    }
    return absl::OkStatus();
  }

  absl::Status ReadViews() {
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query("SELECT keyspace_name, view_name, base_table_name, "
                                      "include_all_columns, where_clause, comment FROM "
                                      "system_schema.views"));
    for (size_t row = 0; row < rows.size(); ++row) {
      RemoteKeyspace* const keyspace = Keyspace(rows.at(row, 0));
      if (keyspace == nullptr || IsViewOfIndex(*keyspace, rows.at(row, 1))) continue;
      RemoteView view;
      view.table.keyspace = keyspace->name;
      view.table.name = rows.at(row, 1);
      view.table.comment = rows.at(row, 5);
      view.base = rows.at(row, 2);
      view.selects_all = rows.at(row, 3) == std::string_view("\1", 1);
      view.where = rows.at(row, 4);
      keyspace->views.push_back(std::move(view));
    }
    for (RemoteKeyspace& keyspace : schema_.keyspaces) {
      std::ranges::sort(keyspace.views, {}, NameOfView);
    }
    return absl::OkStatus();
  }

  // What has no rows of its own, and takes the servers' own languages.
  absl::Status ReadLeftOut(std::string_view table, std::string_view kind) {
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        client_.Query(absl::StrCat("SELECT keyspace_name, ", ToAbsl(kind),
                                                   "_name FROM system_schema.", ToAbsl(table))));
    for (size_t row = 0; row < rows.size(); ++row) {
      RemoteKeyspace* const keyspace = Keyspace(rows.at(row, 0));
      if (keyspace == nullptr) continue;
      keyspace->left_out.push_back(std::string(kind) + " " + std::string(rows.at(row, 1)));
    }
    return absl::OkStatus();
  }

  // ScyllaDB keeps a global or local index as a view called <index>_index.
  static bool IsViewOfIndex(const RemoteKeyspace& keyspace, std::string_view view) {
    for (const RemoteTable& table : keyspace.tables) {
      for (const RemoteIndex& index : table.indexes) {
        if (view == index.name + "_index") return true;
      }
    }
    return false;
  }

  RemoteKeyspace* Keyspace(std::string_view name) {
    const auto at = std::ranges::find(schema_.keyspaces, name, &RemoteKeyspace::name);
    return at == schema_.keyspaces.end() ? nullptr : &*at;
  }
  RemoteTable* Table(std::string_view keyspace_name, std::string_view name) {
    RemoteKeyspace* const keyspace = Keyspace(keyspace_name);
    if (keyspace == nullptr) return nullptr;
    const auto at = std::ranges::find(keyspace->tables, name, &RemoteTable::name);
    if (at != keyspace->tables.end()) return &*at;
    const auto view = std::ranges::find(keyspace->views, name, NameOfView);
    return view == keyspace->views.end() ? nullptr : &view->table;
  }

  CqlClient& client_;
  RemoteSchema& schema_;
};

}  // namespace

size_t RemoteTable::CountOf(RemoteColumn::Kind kind) const {
  return static_cast<size_t>(std::ranges::count(columns, kind, &RemoteColumn::kind));
}

bool RemoteTable::is_counter() const {
  return std::ranges::find(columns, "counter", &RemoteColumn::type) != columns.end();
}

std::string RemoteTable::QuotedName() const {
  return cql::QuoteIdentifier(keyspace) + "." + cql::QuoteIdentifier(name);
}

const RemoteTable* RemoteKeyspace::FindTable(std::string_view table) const {
  const auto at = std::ranges::find(tables, table, &RemoteTable::name);
  return at == tables.end() ? nullptr : &*at;
}

const RemoteView* RemoteKeyspace::FindView(std::string_view view) const {
  const auto at = std::ranges::find(views, view, NameOfView);
  return at == views.end() ? nullptr : &*at;
}

const RemoteType* RemoteKeyspace::FindType(std::string_view type) const {
  const auto at = std::ranges::find(types, type, &RemoteType::name);
  return at == types.end() ? nullptr : &*at;
}

const RemoteKeyspace* RemoteSchema::Find(std::string_view keyspace) const {
  const auto at = std::ranges::find(keyspaces, keyspace, &RemoteKeyspace::name);
  return at == keyspaces.end() ? nullptr : &*at;
}

absl::StatusOr<RemoteSchema> ReadRemoteSchema(CqlClient& client) {
  RemoteSchema schema;
  LS_RETURN_IF_ERROR(SchemaReader(client, schema).Read());
  return schema;
}

std::string NormalType(std::string_view type) {
  std::string normal;
  std::vector<bool> kept;  // of each bracket that is open, whether it is written
  bool outermost = true;
  while (!type.empty()) {
    if (type.starts_with(kFrozen)) {
      const bool tuple = type.substr(kFrozen.size()).starts_with("tuple<");
      kept.push_back(outermost && !tuple);
      if (kept.back()) normal += kFrozen;
      type.remove_prefix(kFrozen.size());
      outermost = false;
      continue;
    }
    outermost = false;
    const char c = type.front();
    type.remove_prefix(1);
    if (c == '<') kept.push_back(true);
    if (c == '>' && !kept.empty()) {
      if (kept.back()) normal += c;
      kept.pop_back();
      continue;
    }
    if (c != ' ') normal += c;
  }
  return normal;
}

bool IsMultiCell(const RemoteKeyspace& keyspace, std::string_view type) {
  for (const std::string_view collection : {"list<", "set<", "map<"}) {
    if (type.starts_with(collection)) return true;
  }
  const std::vector<std::string> names = NamesIn(type);
  return names.size() == 1 && keyspace.FindType(names.front()) != nullptr;
}

}  // namespace liststore
