#include "engine/shard/baseline.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"

namespace liststore::shard {
namespace {

using Keyspaces = decltype(Schema::keyspaces);

Keyspaces KeyspacesOfUsers(const Schema& schema) {
  Keyspaces of_users = schema.keyspaces;
  std::erase_if(of_users, [](const auto& entry) { return entry.second->is_system(); });
  return of_users;
}

// Calls visit(definition) for every table that is stored, in order of names. Views of indexes are
// not.
template <typename Visitor>
void ForEachTable(const Keyspaces& keyspaces, Visitor&& visit) {
  for (const auto& [name, keyspace] : keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      if (!table->is_index_view()) visit(*table);
    }
  }
}

std::vector<TableId> IdsOf(const Keyspaces& keyspaces) {
  std::vector<TableId> ids;
  ForEachTable(keyspaces, [&](const TableDefinition& table) {
    LS_CHECK(!table.is_virtual && !table.belongs_to_list_store,
             "a baseline is of tables that nobody holds");
    ids.push_back(table.storage.id);
  });
  return ids;
}

// Of those who write nothing down.
void NoInstant(std::span<const TableId> /*tables*/) {}

}  // namespace

OpStatus Baseline::Mark(absl::FunctionRef<uint64_t()> clock) {
  OpStatus status = OpStatus::kOk;
  engine_.catalog().ChangeAs([&](Schema& schema) {
    Keyspaces keyspaces = KeyspacesOfUsers(schema);
    const std::vector<TableId> ids = IdsOf(keyspaces);
    const auto mark = [&](BaselineJournal::AtInstant at_instant) {
      return engine_.TakeImage(ids, clock, image_, [&] { at_instant(ids); });
    };
    status = journal_ == nullptr ? mark(NoInstant) : journal_->Mark(mark);
    if (status == OpStatus::kOk) {
      keyspaces_ = std::move(keyspaces);
      marked_nanos_ = image_.taken_nanos;
    }
    return Catalog::Outcome::kNothing;
  });
  return status;
}

void Baseline::Forget() {
  engine_.DropImage(image_);
  keyspaces_.clear();
  marked_nanos_.reset();
  if (journal_ != nullptr) journal_->Forget();
}

ReturnRequest Baseline::RequestFor(const Schema& current, uint64_t now_nanos,
                                   absl::FunctionRef<bool()> set_clock,
                                   BaselineJournal::AtInstant at_instant) const {
  ReturnRequest request{.tables = image_.tables,
                        .ends = IdsOf(KeyspacesOfUsers(current)),
                        .last_timestamps = image_.last_timestamps,
                        .now_nanos = now_nanos,
                        .set_clock = set_clock,
                        .at_instant = at_instant};
  // A table keeps its number as long as there is an image of it, whatever becomes of it.
  std::erase_if(request.ends, [&](TableId id) {
    return std::ranges::find(image_.tables, id.value, &TableId::value) != image_.tables.end();
  });
  return request;
}

Baseline::Renumbered Baseline::MakeRenumbered() const {
  Renumbered copies;
  for (const auto& [name, keyspace] : keyspaces_) {
    const auto copy = std::make_shared<KeyspaceDefinition>(*keyspace);
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_index_view()) continue;
      copies.tables.push_back(std::make_shared<TableDefinition>(*table));
      copy->tables[table_name] = copies.tables.back();
    }
    copies.keyspaces.push_back(copy);
  }
  return copies;
}

void Baseline::TakeIds(std::span<const TableId> tables, const Renumbered& copies) {
  size_t keyspace_number = 0;
  size_t number = 0;
  for (auto& [name, keyspace] : keyspaces_) {
    const std::shared_ptr<KeyspaceDefinition>& copy = copies.keyspaces[keyspace_number++];
    bool changes = false;
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_index_view()) continue;
      const TableId id = tables[number];
      image_.tables[number] = id;
      const std::shared_ptr<TableDefinition>& numbered = copies.tables[number++];
      if (table->storage.id == id) {
        copy->tables.find(table_name)->second = table;
      } else {
        numbered->storage.id = id;
        changes = true;
      }
    }
    if (changes) keyspace = copy;
  }
}

std::vector<Engine::EvictionChoice> Baseline::ChoicesOf(const Keyspaces& keyspaces) {
  std::vector<Engine::EvictionChoice> choices;
  ForEachTable(keyspaces, [&](const TableDefinition& table) {
    choices.push_back({table.storage.id, table.may_be_evicted()});
  });
  return choices;
}

OpStatus Baseline::WriteDown(BaselineJournal::Act go_back) const {
  if (journal_ == nullptr) return go_back(NoInstant);
  std::vector<NumberedTable> tables;
  ForEachTable(keyspaces_, [&](const TableDefinition& table) {
    tables.push_back({table.storage.id, table.keyspace, table.name});
  });
  return journal_->Return(std::move(tables), go_back);
}

OpStatus Baseline::Reset(uint64_t now_nanos, absl::FunctionRef<bool()> set_clock,
                         std::vector<SchemaDifference>& differences) {
  OpStatus status = OpStatus::kOk;
  engine_.catalog().ChangeAs([&](Schema& schema) {
    const Schema current = schema;
    // Behind the return nothing is taken of the heap: tables that the schema has are gone then.
    const Renumbered copies = MakeRenumbered();
    std::erase_if(schema.keyspaces, [](const auto& entry) { return !entry.second->is_system(); });
    schema.keyspaces.insert(keyspaces_.begin(), keyspaces_.end());
    std::vector<SchemaDifference> told = DifferencesBetween(current, schema);
    const std::vector<Engine::EvictionChoice> present = ChoicesOf(KeyspacesOfUsers(current));
    std::vector<Engine::EvictionChoice> marked = ChoicesOf(keyspaces_);
    // What has an index or a view again is whole from the first instant on.
    std::vector<Engine::EvictionChoice> stay = marked;
    std::erase_if(stay, &Engine::EvictionChoice::takes_part);
    absl::Cleanup choose_present = [&] { engine_.ChooseEvicted(present); };
    engine_.ChooseEvicted(stay);
    std::vector<TableId> tables;
    status = WriteDown([&](BaselineJournal::AtInstant at_instant) {
      ReturnRequest request = RequestFor(current, now_nanos, set_clock, at_instant);
      const OpStatus done = engine_.ReturnTo(request);
      tables = std::move(request.tables);
      return done;
    });
    if (status != OpStatus::kOk) return Catalog::Outcome::kNothing;
    std::move(choose_present).Cancel();
    TakeIds(tables, copies);
    for (const auto& [name, keyspace] : keyspaces_) {
      schema.keyspaces.find(name)->second = keyspace;
    }
    for (size_t i = 0; i < marked.size(); ++i) marked[i].table = tables[i];
    engine_.ChooseEvicted(marked);
    differences = std::move(told);
    if (!differences.empty()) return Catalog::Outcome::kChanged;
    return schema.keyspaces == current.keyspaces ? Catalog::Outcome::kNothing
                                                 : Catalog::Outcome::kUnseen;
  });
  return status;
}

}  // namespace liststore::shard
