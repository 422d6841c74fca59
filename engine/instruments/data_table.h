// The table liststore.data: shows how much is stored, marks it as the baseline, and goes back to it
// or to nothing. Its columns are described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_DATA_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_DATA_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/resettable.h"
#include "engine/model/schema_difference.h"
#include "engine/shard/baseline.h"
#include "engine/shard/engine.h"
#include "liststore/server_clock.h"

namespace liststore::instruments {

struct DataTableOptions {
  // The engine belongs to a list store of the program, which knows its tables by number and its
  // features by heart: nothing can be taken back under it, and every action is refused.
  bool serves_list_store = false;
  // Writes down marks and resets; outlives the table. nullptr: nobody does.
  shard::BaselineJournal* journal = nullptr;
  // A reset without a mark is refused where there were keyspaces of users when the table was made: what it would
  // empty is kept on a disk, and marks end with the process.
  bool keeps_what_it_began_with = false;
  // Told of every change of the schema that a reset made, once it can be seen and before the
  // statement is answered, by the thread that asked. May be empty.
  std::function<void(std::span<const SchemaDifference>)> on_schema_change;
  // Some of it was not told: the heap had no room. Takes none; may be empty.
  std::function<void()> on_lost_schema_change = {};
};

// Thread-safe; one action at a time. One row, under the key 'data'. What a reset costs is in
// docs/cql_support.md; see Baseline for what it promises to statements under way.
class DataTable final : public cql::VirtualTable {
 public:
  // `engine` and `clock` outlive the table. Without a baseline a reset sets the clock to what it is
  // now, and to the mode that it has now.
  DataTable(shard::Engine& engine, ServerClock& clock, DataTableOptions options);
  ~DataTable() override;

  // `part`, which outlives the table, is reset with the data, after it and in the order of adding.
  // Before the table is used.
  void AddResettable(Resettable& part) { resettables_.push_back(&part); }

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  // Counts tables of users alone, and what is stored: rows that are over and wait for reclamation
  // included; the baseline's bytes, not its rows. Waits for an action that is under way.
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  bool WriteTakesLong(const Values& /*values*/) const override { return true; }
  // `action` is 'mark', 'reset' or 'forget'. Errors change nothing: Invalid for what cannot be
  // done, ServerError where the machine has no memory for it.
  std::optional<cql::CqlError> Write(const Values& values) override;

 private:
  std::optional<cql::CqlError> Mark();
  std::optional<cql::CqlError> Reset();
  cql::CqlError Refusal(std::string_view action, OpStatus status) const;

  shard::Engine& engine_;
  ServerClock& clock_;
  const DataTableOptions options_;
  const ServerClock::Setting start_setting_;
  const uint64_t start_nanos_;
  const bool began_with_data_;
  const std::shared_ptr<const TableDefinition> definition_;
  std::vector<Resettable*> resettables_;
  mutable Mutex mutex_;
  shard::Baseline baseline_ ABSL_GUARDED_BY(mutex_);
  // At the mark, while there is one.
  ServerClock::Setting marked_setting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_DATA_TABLE_H_
