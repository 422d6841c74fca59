#include "engine/cql/schema/describe.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/schema/create_statement.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/inet_text.h"

namespace liststore::cql {
namespace {

using DescribeKind = DescribeStatement::Kind;

constexpr char kPartitionerClass[] = "org.apache.cassandra.dht.Murmur3Partitioner";
constexpr char kSnitch[] = "org.apache.cassandra.locator.SimpleSnitch";

CqlError NotInKeyspaces(std::string_view name) {
  return CqlError::Invalid("'" + std::string(name) + "' not found in keyspaces");
}

// "Table 't' not found in keyspace 'ks'"; `what` may be empty.
CqlError NotInKeyspace(std::string_view what, std::string_view name, std::string_view keyspace) {
  std::string message(what);
  if (!message.empty()) message += ' ';
  message += "'" + std::string(name) + "' not found in keyspace '" + std::string(keyspace) + "'";
  return CqlError::Invalid(std::move(message));
}

CqlOr<const KeyspaceDefinition*> FindKeyspace(const Schema& schema, std::string_view name) {
  const KeyspaceDefinition* keyspace = schema.FindKeyspace(name);
  if (keyspace == nullptr) return NotInKeyspaces(name);
  return keyspace;
}

struct FoundIndex {
  const TableDefinition* table = nullptr;
  const IndexDefinition* index = nullptr;
};

std::optional<FoundIndex> FindIndex(const KeyspaceDefinition& keyspace, std::string_view name) {
  for (const auto& [table_name, table] : keyspace.tables) {
    const auto at = std::ranges::find(table->indexes, name, &IndexDefinition::name);
    if (at != table->indexes.end()) return FoundIndex{table.get(), &*at};
  }
  return std::nullopt;
}

// Rows of keyspace_name, type, name and, but in listings, create_statement.
class Describer {
 public:
  Describer(const VirtualReadContext& context, bool listing, bool with_internals)
      : looks_like_scylla_(context.node.looks_like_scylla),
        listing_(listing),
        with_internals_(with_internals) {}

  void AddKeyspace(const KeyspaceDefinition& keyspace) {
    Add(keyspace.name, "keyspace", keyspace.name,
        listing_ ? std::string() : CreateKeyspaceText(keyspace));
  }
  // With its indexes, but in listings.
  void AddTable(const TableDefinition& table) {
    Add(table.keyspace, "table", table.name,
        listing_ ? std::string() : CreateTableText(table, with_internals_));
    if (listing_) return;
    std::vector<const IndexDefinition*> indexes;
    for (const IndexDefinition& index : table.indexes) indexes.push_back(&index);
    std::ranges::sort(indexes, {}, [](const IndexDefinition* index) { return index->name; });
    for (const IndexDefinition* index : indexes) AddIndex(table, *index);
  }
  void AddTables(const KeyspaceDefinition& keyspace) {
    for (const auto& [name, table] : keyspace.tables) {
      if (!table->view) AddTable(*table);
    }
  }
  // Also that of an index, which is described as one.
  void AddViewOf(const KeyspaceDefinition& keyspace, const TableDefinition& view) {
    if (!view.is_index_view()) return AddView(view);
    const TableDefinition& base = *keyspace.tables.at(view.view->base);
    AddIndex(base, *base.FindIndex(view.view->index));
  }
  void AddView(const TableDefinition& view) {
    Add(view.keyspace, "view", view.name,
        listing_ ? std::string() : CreateViewText(view, with_internals_));
  }
  // With its indexes, and behind them its views by their names.
  // Source: ScyllaDB cql3/statements/describe_statement.cc, table().
  void AddTableAndViews(const KeyspaceDefinition& keyspace, const TableDefinition& table) {
    AddTable(table);
    std::vector<std::string> views = table.views;
    std::ranges::sort(views);
    for (const std::string& view : views) AddView(*keyspace.tables.at(view));
  }
  void AddIndex(const TableDefinition& table, const IndexDefinition& index) {
    LS_DCHECK(!listing_, "indexes are not listed");
    // Source: ScyllaDB schema/schema.cc, describe: there the name is that of the view.
    Add(table.keyspace, "index", looks_like_scylla_ ? IndexViewName(index.name) : index.name,
        CreateIndexText(table, index));
  }
  void AddType(const DataType& type) {
    Add(type.user().keyspace, "type", type.user().name,
        listing_ ? std::string() : CreateTypeText(type));
  }
  // Each behind those that it is made of: by name what is made of none, then what is made of what
  // stands there already. Source: ScyllaDB utils/sorting.hh, topological_sort.
  void AddTypes(const KeyspaceDefinition& keyspace) {
    std::map<std::string_view, size_t> missing;
    std::vector<const DataType*> sorted;
    for (const auto& [name, type] : keyspace.types) {
      for (const auto& entry : keyspace.types) missing[name] += IsPart(entry.second, type);
      if (missing[name] == 0) sorted.push_back(&type);
    }
    for (size_t i = 0; i < sorted.size(); ++i) {
      for (const auto& [name, type] : keyspace.types) {
        if (IsPart(*sorted[i], type) && --missing[name] == 0) sorted.push_back(&type);
      }
      AddType(*sorted[i]);
    }
  }
  void AddWholeKeyspace(const KeyspaceDefinition& keyspace) {
    AddKeyspace(keyspace);
    AddTypes(keyspace);
    for (const auto& [name, table] : keyspace.tables) {
      if (!table->view) AddTableAndViews(keyspace, *table);
    }
  }

  Description Take() {
    Description description;
    for (const char* name : {"keyspace_name", "type", "name"}) {
      description.columns.emplace_back(name, CqlType::kText);
    }
    if (!listing_) description.columns.emplace_back("create_statement", CqlType::kText);
    description.rows = std::move(rows_);
    return description;
  }

 private:
  static bool IsPart(const DataType& part, const DataType& type) {
    return std::ranges::any_of(type.parameters(),
                               [&](const DataType& field) { return field.Contains(part.user()); });
  }
  void Add(std::string_view keyspace, const char* type, std::string_view name,
           std::string create_statement) {
    VirtualRow& row = rows_.emplace_back();
    row.emplace_back(QuoteIdentifier(keyspace));
    row.emplace_back(type);
    row.emplace_back(QuoteIdentifier(name));
    if (!listing_) row.emplace_back(std::move(create_statement));
  }

  const bool looks_like_scylla_;
  const bool listing_;
  const bool with_internals_;
  std::vector<VirtualRow> rows_;
};

// Which addresses own which part of the ring, by the token that ends the part: this one, all.
std::string RangeOwnership(const DataType& type, const VirtualReadContext& context) {
  constexpr std::string_view kLoopback = {"\x7f\0\0\1", 4};
  const std::string address =
      PrintInet(context.local_address.empty() ? kLoopback : context.local_address);
  const std::string owners = JoinCollection(type.parameters()[1], {address});
  std::vector<std::string> tokens = context.node.tokens;
  std::ranges::sort(tokens);
  std::vector<std::string> elements;
  for (std::string& token : tokens) {
    elements.push_back(std::move(token));
    elements.push_back(owners);
  }
  return JoinCollection(type, elements);
}

Description DescribeCluster(const VirtualReadContext& context, std::string_view current_keyspace) {
  Description description;
  for (const char* name : {"cluster", "partitioner", "snitch"}) {
    description.columns.emplace_back(name, CqlType::kText);
  }
  VirtualRow& row = description.rows.emplace_back();
  row = {context.node.cluster_name, kPartitionerClass, kSnitch};
  const KeyspaceDefinition* keyspace = context.schema.FindKeyspace(current_keyspace);
  // Of tablets ScyllaDB tells nothing.
  if (keyspace != nullptr && !keyspace->is_system() && !keyspace->uses_tablets()) {
    const DataType type =
        DataType::Map(CqlType::kText, DataType::Frozen(DataType::List(CqlType::kText)));
    description.columns.emplace_back("range_ownership", type);
    row.emplace_back(RangeOwnership(type, context));
  }
  return description;
}

// Of the current keyspace alone, KEYSPACES included, or of all when none was chosen.
CqlOr<Description> DescribeListing(DescribeKind kind, const VirtualReadContext& context,
                                   std::string_view current_keyspace) {
  Describer describer(context, /*listing=*/true, /*with_internals=*/false);
  const auto add = [&](const KeyspaceDefinition& keyspace) {
    if (kind == DescribeKind::kKeyspaces) describer.AddKeyspace(keyspace);
    if (kind == DescribeKind::kTables) describer.AddTables(keyspace);
    if (kind == DescribeKind::kTypes) describer.AddTypes(keyspace);
  };
  if (!current_keyspace.empty()) {
    LS_ASSIGN_OR_RETURN(const KeyspaceDefinition* keyspace,
                        FindKeyspace(context.schema, current_keyspace));
    add(*keyspace);
  } else {
    for (const auto& [name, keyspace] : context.schema.keyspaces) add(*keyspace);
  }
  return describer.Take();
}

Description DescribeSchema(const DescribeStatement& statement, const VirtualReadContext& context) {
  Describer describer(context, /*listing=*/false, statement.with_internals);
  for (const auto& [name, keyspace] : context.schema.keyspaces) {
    if (statement.full || !keyspace->is_system()) describer.AddWholeKeyspace(*keyspace);
  }
  return describer.Take();
}

CqlOr<Description> DescribeKeyspace(const DescribeStatement& statement,
                                    const VirtualReadContext& context,
                                    std::string_view current_keyspace) {
  const std::string_view name =
      statement.name.keyspace.empty() ? current_keyspace : statement.name.keyspace;
  LS_ASSIGN_OR_RETURN(const KeyspaceDefinition* keyspace, FindKeyspace(context.schema, name));
  Describer describer(context, /*listing=*/false, statement.with_internals);
  if (statement.only) {
    describer.AddKeyspace(*keyspace);
  } else {
    describer.AddWholeKeyspace(*keyspace);
  }
  return describer.Take();
}

// What the kinds of which there is nothing are called.
std::string_view WhatIsMissing(DescribeKind kind) {
  switch (kind) {
    case DescribeKind::kFunction:
      return "Function";
    case DescribeKind::kAggregate:
      return "Aggregate";
    default:
      LS_UNREACHABLE("there can be something of every other kind");
  }
}

CqlOr<Description> DescribeElement(const DescribeStatement& statement,
                                   const VirtualReadContext& context,
                                   std::string_view current_keyspace) {
  const std::string& name = statement.name.name;
  const std::string_view keyspace_name =
      statement.name.keyspace.empty() ? current_keyspace : statement.name.keyspace;
  if (keyspace_name.empty()) {
    return CqlError::Invalid("No keyspace specified and no current keyspace");
  }
  LS_ASSIGN_OR_RETURN(const KeyspaceDefinition* keyspace,
                      FindKeyspace(context.schema, keyspace_name));
  Describer describer(context, /*listing=*/false, statement.with_internals);
  if (statement.kind == DescribeKind::kTable) {
    const auto at = keyspace->tables.find(name);
    if (at == keyspace->tables.end()) return NotInKeyspace("Table", name, keyspace_name);
    if (at->second->view) {
      return CqlError::Invalid("Cannot use DESC TABLE on materialized View");
    }
    describer.AddTableAndViews(*keyspace, *at->second);
  } else if (statement.kind == DescribeKind::kMaterializedView) {
    const auto at = keyspace->tables.find(name);
    if (at == keyspace->tables.end() || !at->second->view) {
      return NotInKeyspace("Materialized view", name, keyspace_name);
    }
    describer.AddViewOf(*keyspace, *at->second);
  } else if (statement.kind == DescribeKind::kIndex) {
    const std::optional<FoundIndex> found = FindIndex(*keyspace, name);
    if (!found) {
      return CqlError::Invalid("Table for existing index '" + name + "' not found in '" +
                               keyspace->name + "'");
    }
    describer.AddIndex(*found->table, *found->index);
  } else if (statement.kind == DescribeKind::kType) {
    const auto at = keyspace->types.find(name);
    if (at == keyspace->types.end()) return NotInKeyspace("Type", name, keyspace_name);
    describer.AddType(at->second);
  } else {
    return NotInKeyspace(WhatIsMissing(statement.kind), name, keyspace_name);
  }
  return describer.Take();
}

// A bare name: of a keyspace, else of a table, index or type.
CqlOr<Description> DescribeAny(const DescribeStatement& statement,
                               const VirtualReadContext& context,
                               std::string_view current_keyspace) {
  const std::string& name = statement.name.name;
  Describer describer(context, /*listing=*/false, statement.with_internals);
  if (statement.name.keyspace.empty()) {
    if (const KeyspaceDefinition* keyspace = context.schema.FindKeyspace(name)) {
      describer.AddWholeKeyspace(*keyspace);
      return describer.Take();
    }
  }
  const std::string_view keyspace_name =
      statement.name.keyspace.empty() ? current_keyspace : statement.name.keyspace;
  const KeyspaceDefinition* keyspace = context.schema.FindKeyspace(keyspace_name);
  if (keyspace == nullptr) return NotInKeyspaces(name);
  const auto table = keyspace->tables.find(name);
  if (table != keyspace->tables.end()) {
    if (table->second->view) {
      describer.AddViewOf(*keyspace, *table->second);
    } else {
      describer.AddTableAndViews(*keyspace, *table->second);
    }
  } else if (const std::optional<FoundIndex> found = FindIndex(*keyspace, name)) {
    describer.AddIndex(*found->table, *found->index);
  } else if (const auto type = keyspace->types.find(name); type != keyspace->types.end()) {
    describer.AddType(type->second);
  } else {
    return NotInKeyspace("", name, keyspace_name);
  }
  return describer.Take();
}

}  // namespace

CqlOr<Description> Describe(const DescribeStatement& statement, const VirtualReadContext& context,
                            std::string_view current_keyspace) {
  switch (statement.kind) {
    case DescribeKind::kCluster:
      return DescribeCluster(context, current_keyspace);
    case DescribeKind::kSchema:
      return DescribeSchema(statement, context);
    case DescribeKind::kKeyspaces:
    case DescribeKind::kTables:
    case DescribeKind::kTypes:
    case DescribeKind::kFunctions:
    case DescribeKind::kAggregates:
      return DescribeListing(statement.kind, context, current_keyspace);
    case DescribeKind::kKeyspace:
      return DescribeKeyspace(statement, context, current_keyspace);
    case DescribeKind::kTable:
    case DescribeKind::kIndex:
    case DescribeKind::kMaterializedView:
    case DescribeKind::kType:
    case DescribeKind::kFunction:
    case DescribeKind::kAggregate:
      return DescribeElement(statement, context, current_keyspace);
    case DescribeKind::kAny:
      return DescribeAny(statement, context, current_keyspace);
  }
  LS_UNREACHABLE("every kind is described");
}

}  // namespace liststore::cql
