// Tables of an engine by name, made, altered and dropped as statements do it; and all there is in
// one, as text.
#ifndef LISTSTORE_TESTS_SHARD_NAMED_TABLES_H_
#define LISTSTORE_TESTS_SHARD_NAMED_TABLES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/stored_row.h"
#include "engine/shard/engine.h"
#include "engine/shard/run_schema_actions.h"

namespace liststore::testing {

inline constexpr char kAppKeyspace[] = "app";

inline std::shared_ptr<const TableDefinition> TableNamed(shard::Engine& engine,
                                                         std::string_view name) {
  return engine.catalog().snapshot()->FindTable(kAppKeyspace, name);
}
inline TableId IdOf(shard::Engine& engine, std::string_view name) {
  const auto table = TableNamed(engine, name);
  LS_CHECK(table != nullptr, "the test asks for a table that is there");
  return table->storage.id;
}

// Runs one action of the schema. `after`: the definition of the table once it has run; nullptr: it
// is gone.
inline OpStatus RunAction(shard::Engine& engine, SchemaAction::Kind kind, const std::string& name,
                          const TableDefinition* after, ColumnMap columns, uint64_t now_nanos) {
  OpStatus status = OpStatus::kOk;
  const SchemaAction action{kind, kAppKeyspace, name, std::move(columns)};
  engine.catalog().Change([&](Schema& next) {
    const std::shared_ptr<const Schema> current = engine.catalog().snapshot();
    if (after != nullptr) {
      shard::Catalog::PutTable(next, std::make_shared<TableDefinition>(*after));
    } else {
      auto keyspace =
          std::make_shared<KeyspaceDefinition>(*next.keyspaces.find(kAppKeyspace)->second);
      keyspace->Erase(name);
      next.keyspaces.insert_or_assign(kAppKeyspace, std::move(keyspace));
    }
    status = shard::RunSchemaActions(engine, *current, std::span(&action, 1), now_nanos, next);
    return status == OpStatus::kOk && kind != SchemaAction::Kind::kTruncateTable;
  });
  return status;
}

inline OpStatus CreateNamed(shard::Engine& engine, const std::string& name, TableSchema storage) {
  storage.keyspace = kAppKeyspace;
  storage.name = name;
  // No two in a keyspace have one name.
  for (IndexSchema& index : storage.indexes) index.name = name + "_" + index.name;
  TableDefinition table = DefinitionOf(storage);
  table.id = engine.catalog().NewUuid();
  return RunAction(engine, SchemaAction::Kind::kCreateTable, name, &table, {}, 0);
}
inline OpStatus DropNamed(shard::Engine& engine, const std::string& name) {
  return RunAction(engine, SchemaAction::Kind::kDropTable, name, nullptr, {}, 0);
}
inline OpStatus TruncateNamed(shard::Engine& engine, const std::string& name) {
  const auto table = TableNamed(engine, name);
  return RunAction(engine, SchemaAction::Kind::kTruncateTable, name, table.get(), {}, 0);
}
// Gives it another grace.
inline OpStatus RetimeNamed(shard::Engine& engine, const std::string& name,
                            int64_t gc_grace_seconds) {
  TableDefinition table = *TableNamed(engine, name);
  table.options.gc_grace_seconds = gc_grace_seconds;
  CompleteTable(table);
  return RunAction(engine, SchemaAction::Kind::kRetimeTable, name, &table, {}, 0);
}
// Adds a column behind all others.
inline OpStatus AddColumnTo(shard::Engine& engine, const std::string& name, uint64_t now_nanos) {
  TableDefinition table = *TableNamed(engine, name);
  ColumnMap same = ColumnMap::Same(table.storage);
  table.columns.push_back({"zzz", CqlType::kText, ColumnKind::kRegular, 0, false});
  CompleteTable(table);
  return RunAction(engine, SchemaAction::Kind::kRebuildTable, name, &table, std::move(same),
                   now_nanos);
}

// A StoredRowSink that writes down everything there is of a table, a line a row.
class StoredText final : public StoredRowSink {
 public:
  void OnPartition(const StoredPartition& partition) override {
    text_ += "partition ";
    AddBytes(partition.key);
    Add(partition.tombstone);
    if (partition.foreign_timestamps) {
      text_ += " grace from " + std::to_string(partition.grace_start_seconds);
    }
    text_ += '\n';
    for (const StoredRange& range : partition.ranges) {
      text_ += " range ";
      AddBytes(range.range.lower.bytes);
      text_ += range.range.upper.at_end ? " to the end" : " to ";
      AddBytes(range.range.upper.bytes);
      Add(range.tombstone);
      text_ += '\n';
    }
    if (partition.static_cells.empty()) return;
    text_ += " static";
    Add(partition.static_cells);
    text_ += '\n';
  }
  void OnRow(const StoredRow& row) override {
    char plain[kItemKeyTextBytes];
    text_ += " row ";
    AddBytes(PlainKey(row.key, plain));
    Add(row.marker);
    Add(row.tombstone);
    Add(row.cells);
    text_ += '\n';
  }
  void OnPartitionEnd() override {}
  bool Full() const override { return false; }

  const std::string& text() const { return text_; }

 private:
  void AddBytes(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    for (const char c : bytes) {
      text_ += kDigits[static_cast<unsigned char>(c) >> 4];
      text_ += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  void Add(std::span<const StoredCell> cells) {
    for (const StoredCell& cell : cells) {
      text_ += " " + std::to_string(cell.column) + (cell.view.live ? "=" : " dead ");
      AddBytes(cell.view.value);
      if (!cell.path.empty()) text_ += " of ";
      AddBytes(cell.path);
      Add(cell.view.liveness);
      if (!cell.view.live) text_ += " from " + std::to_string(cell.view.deletion_seconds);
    }
  }
  void Add(const Liveness& liveness) {
    if (!liveness.present()) return;
    text_ += " @" + std::to_string(liveness.timestamp.micros) + "+" +
             std::to_string(liveness.ttl_seconds) + "->" + std::to_string(liveness.expiry_seconds);
  }
  void Add(const Tombstone& tombstone) {
    if (!tombstone.present()) return;
    text_ += " deleted @" + std::to_string(tombstone.timestamp.micros) + " at " +
             std::to_string(tombstone.deletion_seconds);
  }

  std::string text_;
};

// Everything of a table that has an effect at `now_nanos`.
inline std::string StoredIn(shard::Engine& engine, TableId table, uint64_t now_nanos) {
  StoredText text;
  shard::CopyPosition position;
  while (!position.done) {
    LS_CHECK(engine.CopyOut(table, now_nanos, position, text) == OpStatus::kOk, "it is there");
  }
  return text.text();
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SHARD_NAMED_TABLES_H_
