#include "tools/copy/schema_copy.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore {
namespace {

using Kind = RemoteColumn::Kind;

std::string QuoteString(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"'", "''"}}) + "'";
}

std::string CreateKeyspace(const RemoteKeyspace& keyspace, const std::string& replication) {
  std::string map = replication;
  if (map.empty()) {
    for (const auto& [key, value] : keyspace.replication) {
      constexpr std::string_view kPackage = "org.apache.cassandra.locator.";
      const bool full = key == "class" && value.starts_with(kPackage);
      absl::StrAppend(&map, map.empty() ? "" : ", ", QuoteString(key), ": ",
                      QuoteString(full ? value.substr(kPackage.size()) : value));
    }
    map = "{" + map + "}";
  }
  return absl::StrCat("CREATE KEYSPACE ", cql::QuoteIdentifier(keyspace.name),
                      " WITH replication = ", map);
}

std::string CreateType(const RemoteKeyspace& keyspace, const RemoteType& type) {
  std::string fields;
  for (const auto& [name, field_type] : type.fields) {
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", cql::QuoteIdentifier(name), " ",
                    field_type);
  }
  return absl::StrCat("CREATE TYPE ", cql::QuoteIdentifier(keyspace.name), ".",
                      cql::QuoteIdentifier(type.name), " (", fields, ")");
}

std::string NamesOf(const RemoteTable& table, Kind kind) {
  std::string names;
  for (const RemoteColumn& column : table.columns) {
    if (column.kind != kind) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", cql::QuoteIdentifier(column.name));
  }
  return names;
}

// "a ASC, b DESC"; empty: there are no clustering columns.
std::string OrderOf(const RemoteTable& table) {
  std::string order;
  for (const RemoteColumn& column : table.columns) {
    if (column.kind != Kind::kClustering) continue;
    absl::StrAppend(&order, order.empty() ? "" : ", ", cql::QuoteIdentifier(column.name),
                    column.descending ? " DESC" : " ASC");
  }
  return order;
}

std::string PrimaryKey(const RemoteTable& table) {
  const std::string clustering = NamesOf(table, Kind::kClustering);
  return absl::StrCat("PRIMARY KEY ((", NamesOf(table, Kind::kPartitionKey), ")",
                      clustering.empty() ? "" : ", ", clustering, ")");
}

std::string CreateTable(const RemoteTable& table) {
  std::string columns;
  for (const RemoteColumn& column : table.columns) {
    absl::StrAppend(&columns, cql::QuoteIdentifier(column.name), " ", column.type,
                    column.kind == Kind::kStatic ? " static, " : ", ");
  }
  std::string text =
      absl::StrCat("CREATE TABLE ", table.QuotedName(), " (", columns, PrimaryKey(table),
                   ") WITH gc_grace_seconds = ", table.gc_grace_seconds);
  const std::string order = OrderOf(table);
  if (!order.empty()) absl::StrAppend(&text, " AND CLUSTERING ORDER BY (", order, ")");
  if (table.default_ttl_seconds > 0) {
    absl::StrAppend(&text, " AND default_time_to_live = ", table.default_ttl_seconds);
  }
  if (!table.comment.empty()) absl::StrAppend(&text, " AND comment = ", QuoteString(table.comment));
  return text;
}

std::string CreateView(const RemoteView& view) {
  const RemoteTable& table = view.table;
  const std::string selected =
      absl::StrJoin(table.columns, ", ", [](std::string* out, const RemoteColumn& column) {
        out->append(cql::QuoteIdentifier(column.name));
      });
  std::string text = absl::StrCat(
      "CREATE MATERIALIZED VIEW ", table.QuotedName(), " AS SELECT ",
      view.selects_all ? "*" : selected, " FROM ", cql::QuoteIdentifier(table.keyspace), ".",
      cql::QuoteIdentifier(view.base), " WHERE ", view.where, " ", PrimaryKey(table));
  const std::string order = OrderOf(table);
  if (!order.empty()) absl::StrAppend(&text, " WITH CLUSTERING ORDER BY (", order, ")");
  if (table.comment.empty()) return text;
  return absl::StrCat(text, order.empty() ? " WITH " : " AND ",
                      "comment = ", QuoteString(table.comment));
}

// The column of a local index, out of {"pk":["a"],"ck":["column"]}; nothing: another index.
std::optional<std::string> LocalColumn(const std::string& target) {
  constexpr std::string_view kColumn = "\"ck\":[\"";
  const size_t at = target.find(kColumn);
  if (!target.starts_with("{") || at == std::string::npos) return std::nullopt;
  std::string column;
  for (size_t i = at + kColumn.size(); i < target.size() && target[i] != '"'; ++i) {
    if (target[i] == '\\' && i + 1 < target.size()) ++i;
    column += target[i];
  }
  return column;
}

// `values(s)`, which makes an index, of `keys(s)`, as ScyllaDB shows that of a set; `full(l)` of the
// name alone, as it shows that of a frozen collection.
std::string AsStatementsHaveIt(const RemoteTable& table, const std::string& target) {
  for (const RemoteColumn& column : table.columns) {
    const std::string name = cql::QuoteIdentifier(column.name);
    for (const char* frozen : {"frozen<list<", "frozen<set<", "frozen<map<"}) {
      if (target == name && column.type.starts_with(frozen))
        return absl::StrCat("full(", name, ")");
    }
    if (!column.type.starts_with("set<")) continue;
    if (target == absl::StrCat("keys(", name, ")")) return absl::StrCat("values(", name, ")");
  }
  return target;
}

// Adds the index, or says what becomes of it.
void AddIndex(const RemoteTable& table, const RemoteIndex& index, bool has_local_indexes,
              SchemaCopy& copy) {
  const std::string name = table.keyspace + "." + index.name;
  std::string target = AsStatementsHaveIt(table, index.target);
  if (const std::optional<std::string> column = LocalColumn(target)) {
    target = cql::QuoteIdentifier(*column);
    if (has_local_indexes) {
      target = absl::StrCat("(", NamesOf(table, Kind::kPartitionKey), "), ", target);
    } else {
      copy.notes.push_back("index " + name +
                           " becomes one of all partitions: only ScyllaDB has "
                           "local ones; queries within a partition are answered all the same");
    }
  } else if (index.kind == "CUSTOM") {
    const bool sai = index.class_name == "sai" ||
                     index.class_name.find("StorageAttachedIndex") != std::string::npos;
    if (!sai) {
      copy.notes.push_back("index " + name + " is left out: it is a custom one, of class " +
                           index.class_name);
      return;
    }
    copy.notes.push_back("index " + name + " becomes an ordinary one: it is storage-attached");
  }
  copy.index_statements.push_back(absl::StrCat("CREATE INDEX ", cql::QuoteIdentifier(index.name),
                                               " ON ", table.QuotedName(), " (", target, ")"));
}

std::string Shown(const RemoteColumn& column) {
  const char* const kinds[] = {"partition key ", "clustering ", "static ", ""};
  std::string text = kinds[static_cast<size_t>(column.kind)] + column.type;
  if (column.kind <= Kind::kClustering) absl::StrAppend(&text, ", number ", column.position + 1);
  if (column.descending) text += ", descending";
  return text;
}

void CompareTypes(const RemoteKeyspace& keyspace, const RemoteType& wanted, const RemoteType& there,
                  SchemaCopy& copy) {
  const auto shown = [](const RemoteType& type) {
    return absl::StrJoin(type.fields, ", ", [](std::string* out, const auto& field) {
      absl::StrAppend(out, field.first, " ", NormalType(field.second));
    });
  };
  if (shown(wanted) == shown(there)) return;
  copy.differences.push_back(absl::StrCat("type ", keyspace.name, ".", wanted.name, ": (",
                                          shown(wanted), ") here, (", shown(there), ") there"));
}

// `kind`: "table" or "view".
void CompareTables(const std::string& kind, const RemoteTable& wanted, const RemoteTable& there,
                   SchemaCopy& copy) {
  const auto differ = [&](const std::string& what) {
    copy.differences.push_back(kind + " " + wanted.ShownName() + ": " + what);
  };
  for (const RemoteColumn& column : wanted.columns) {
    const auto other = std::ranges::find(there.columns, column.name, &RemoteColumn::name);
    if (other == there.columns.end()) {
      differ("column " + column.name + " is not there");
      continue;
    }
    RemoteColumn normal = column, other_normal = *other;
    normal.type = NormalType(normal.type);
    other_normal.type = NormalType(other_normal.type);
    if (normal == other_normal) continue;
    differ("column " + column.name + ": " + Shown(column) + " here, " + Shown(*other) + " there");
  }
  for (const RemoteColumn& column : there.columns) {
    if (std::ranges::find(wanted.columns, column.name, &RemoteColumn::name) !=
        wanted.columns.end()) {
      continue;
    }
    differ("column " + column.name + " is there, and not here");
  }
  if (wanted.default_ttl_seconds == there.default_ttl_seconds) return;
  differ(absl::StrCat("default_time_to_live: ", wanted.default_ttl_seconds, " here, ",
                      there.default_ttl_seconds, " there"));
}

// Of the rows that a view's WHERE chooses both sides are compared.
void AddView(const RemoteView& view, const RemoteKeyspace* there, SchemaCopy& copy) {
  const RemoteView* const other = there == nullptr ? nullptr : there->FindView(view.table.name);
  if (other == nullptr) {
    copy.view_statements.push_back(CreateView(view));
    return;
  }
  if (other->base != view.base) {
    copy.differences.push_back("view " + view.table.ShownName() + ": of the table " + view.base +
                               " here, of " + other->base + " there");
  }
  CompareTables("view", view.table, other->table, copy);
}

// What is lost, or not compared, where a server does not tell when parts of values were written.
void NoteUntoldTimes(const RemoteTable& table, const RemoteSchema& source,
                     const RemoteSchema& target, SchemaCopy& copy) {
  for (const RemoteColumn& column : table.columns) {
    if (column.parts == RemoteColumn::Parts::kNone) continue;
    const std::string begin =
        "column " + column.name + " of " + table.ShownName() + ": the parts of a " + column.type;
    if (source.part_times == PartTimes::kNever) {
      copy.notes.push_back(begin +
                           " lose their timestamps and TTLs, which the source does not tell: they "
                           "are written as of now, with the TTL that the table gives");
    } else if (target.part_times == PartTimes::kNever) {
      copy.notes.push_back(begin +
                           " keep their timestamps and TTLs, but are compared by value alone: the "
                           "target does not tell more");
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<RemoteKeyspace>> SelectTables(const RemoteSchema& schema,
                                                         const std::vector<std::string>& keyspaces,
                                                         const std::vector<std::string>& tables) {
  if (keyspaces.empty() && tables.empty()) return schema.keyspaces;
  for (const std::string& name : keyspaces) {
    if (schema.Find(name) != nullptr) continue;
    const auto append = [](std::string* out, const RemoteKeyspace& keyspace) {
      out->append(keyspace.name);
    };
    return absl::NotFoundError(absl::StrCat(
        "no keyspace '", name, "'; there are: ",
        schema.keyspaces.empty() ? "none" : absl::StrJoin(schema.keyspaces, ", ", append)));
  }
  const auto is_named = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  size_t found = 0;
  std::vector<RemoteKeyspace> selected;
  for (RemoteKeyspace keyspace : schema.keyspaces) {
    size_t named = 0;
    const bool whole = is_named(keyspaces, keyspace.name);
    std::erase_if(keyspace.tables, [&](const RemoteTable& table) {
      const bool is_one = is_named(tables, table.ShownName());
      named += is_one ? 1 : 0;
      return !whole && !is_one;
    });
    found += named;
    std::erase_if(keyspace.views,
                  [&](const RemoteView& view) { return keyspace.FindTable(view.base) == nullptr; });
    if (whole || named > 0) selected.push_back(std::move(keyspace));
  }
  if (found == tables.size()) return selected;
  for (const std::string& name : tables) {
    const size_t dot = name.find('.');
    const RemoteKeyspace* const keyspace = schema.Find(name.substr(0, dot));
    if (dot != std::string::npos && keyspace != nullptr &&
        keyspace->FindTable(name.substr(dot + 1)) != nullptr) {
      continue;
    }
    const RemoteView* const view = dot == std::string::npos || keyspace == nullptr
                                       ? nullptr
                                       : keyspace->FindView(name.substr(dot + 1));
    if (view != nullptr) {
      return absl::NotFoundError("'" + name + "' is a view, and comes with its table, " +
                                 keyspace->name + "." + view->base);
    }
    return absl::NotFoundError("no table '" + name + "'; --table takes KEYSPACE.TABLE");
  }
  return selected;  // one was named twice
}

SchemaCopy PlanSchemaCopy(const std::vector<RemoteKeyspace>& wanted, const RemoteSchema& source,
                          const RemoteSchema& target, const std::string& replication) {
  SchemaCopy copy;
  for (const RemoteKeyspace& keyspace : wanted) {
    const RemoteKeyspace* const there = target.Find(keyspace.name);
    if (there == nullptr) copy.statements.push_back(CreateKeyspace(keyspace, replication));
    for (const RemoteType& type : keyspace.types) {
      const RemoteType* const other = there == nullptr ? nullptr : there->FindType(type.name);
      if (other != nullptr) {
        CompareTypes(keyspace, type, *other, copy);
      } else {
        copy.statements.push_back(CreateType(keyspace, type));
      }
    }
    for (const RemoteTable& table : keyspace.tables) {
      NoteUntoldTimes(table, source, target, copy);
      const RemoteTable* const other = there == nullptr ? nullptr : there->FindTable(table.name);
      if (other != nullptr) {
        CompareTables("table", table, *other, copy);
      } else {
        copy.statements.push_back(CreateTable(table));
      }
      for (const RemoteIndex& index : table.indexes) {
        if (other != nullptr && std::ranges::find(other->indexes, index.name, &RemoteIndex::name) !=
                                    other->indexes.end()) {
          continue;
        }
        AddIndex(table, index, target.has_local_indexes, copy);
      }
    }
    for (const RemoteView& view : keyspace.views) AddView(view, there, copy);
    for (const std::string& name : keyspace.left_out) {
      copy.notes.push_back("left out: " + name + " of keyspace " + keyspace.name);
    }
  }
  return copy;
}

}  // namespace liststore
