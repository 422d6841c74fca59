#include "engine/model/schema_difference.h"

#include <utility>

namespace liststore {
namespace {

using DifferenceKind = SchemaDifference::Kind;

// `storage` follows from the rest, but for its id.
bool IsSame(const TableDefinition& a, const TableDefinition& b) {
  return &a == &b || (a.columns == b.columns && a.indexes == b.indexes && a.options == b.options &&
                      a.view == b.view && a.is_virtual == b.is_virtual &&
                      a.belongs_to_list_store == b.belongs_to_list_store);
}

class Comparer {
 public:
  void AddGone(const Schema& before, const Schema& after) {
    for (const auto& [name, keyspace] : before.keyspaces) {
      const KeyspaceDefinition* left = after.FindKeyspace(name);
      if (left == nullptr) {
        Add(DifferenceKind::kDropped, name);
        continue;
      }
      if (left == keyspace.get()) continue;
      for (const auto& [table_name, table] : keyspace->tables) {
        const auto at = left->tables.find(table_name);
        if (at == left->tables.end() || at->second->id != table->id) {
          Add(DifferenceKind::kDropped, *table);
        }
      }
      for (const auto& [type_name, type] : keyspace->types) {
        if (!left->types.contains(type_name)) AddType(DifferenceKind::kDropped, name, type_name);
      }
    }
  }

  void AddNewAndChanged(const Schema& before, const Schema& after) {
    for (const auto& [name, keyspace] : after.keyspaces) {
      const KeyspaceDefinition* old = before.FindKeyspace(name);
      if (old == keyspace.get()) continue;
      if (old == nullptr) {
        Add(DifferenceKind::kCreated, name);
      } else if (old->replication != keyspace->replication ||
                 old->durable_writes != keyspace->durable_writes) {
        Add(DifferenceKind::kUpdated, name);
      }
      for (const auto& [type_name, type] : keyspace->types) {
        const auto at = old == nullptr ? keyspace->types.end() : old->types.find(type_name);
        const bool is_new = old == nullptr || at == old->types.end();
        if (is_new) {
          AddType(DifferenceKind::kCreated, name, type_name);
        } else if (at->second != type) {
          AddType(DifferenceKind::kUpdated, name, type_name);
        }
      }
      for (const auto& [table_name, table] : keyspace->tables) {
        AddTable(old == nullptr ? nullptr : before.FindTable(name, table_name).get(), *table);
      }
    }
  }

  std::vector<SchemaDifference> Take() { return std::move(differences_); }

 private:
  void AddTable(const TableDefinition* old, const TableDefinition& table) {
    if (old == nullptr || old->id != table.id) {
      Add(DifferenceKind::kCreated, table);
    } else if (!IsSame(*old, table)) {
      Add(DifferenceKind::kUpdated, table);
    }
  }
  void Add(DifferenceKind kind, const TableDefinition& table) {
    differences_.push_back({kind, table.keyspace, table.name, {}, table.is_index_view()});
  }
  void Add(DifferenceKind kind, std::string keyspace) {
    differences_.push_back({kind, std::move(keyspace), {}});
  }
  void AddType(DifferenceKind kind, std::string keyspace, std::string type) {
    differences_.push_back({kind, std::move(keyspace), {}, std::move(type)});
  }

  std::vector<SchemaDifference> differences_;
};

}  // namespace

std::vector<SchemaDifference> DifferencesBetween(const Schema& before, const Schema& after) {
  Comparer comparer;
  comparer.AddGone(before, after);
  comparer.AddNewAndChanged(before, after);
  return comparer.Take();
}

}  // namespace liststore
