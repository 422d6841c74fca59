#include "engine/serve/handler_factory.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/cql/schema/role_tables.h"
#include "engine/cql/schema/runtime_tables.h"
#include "engine/cql/schema/system_schema_tables.h"
#include "engine/cql/schema/system_tables.h"
#include "engine/execute/query_processor.h"
#include "engine/instruments/clock_table.h"
#include "engine/instruments/config_table.h"
#include "engine/instruments/data_table.h"
#include "engine/instruments/fault_plan.h"
#include "engine/instruments/fault_table.h"
#include "engine/instruments/faulting_handler.h"
#include "engine/instruments/journal_table.h"
#include "engine/instruments/journaling_handler.h"
#include "engine/instruments/lint.h"
#include "engine/instruments/requests_table.h"
#include "engine/instruments/unsupported_table.h"

namespace liststore {
namespace {

std::function<bool()> ReplacesClientTimestamps(const HandlerContext& context) {
  switch (context.client_timestamps) {
    case CqlServerOptions::ClientTimestamps::kHonour:
      return {};
    case CqlServerOptions::ClientTimestamps::kReplace:
      return [] { return true; };
    case CqlServerOptions::ClientTimestamps::kByClock:
      return [&clock = context.clock] { return clock.mode() != ServerClock::Mode::kReal; };
  }
  LS_UNREACHABLE("there is no other rule");
}

cql::RuntimeFacts RuntimeOf(shard::Engine& engine, const std::vector<std::string>& cql_addresses,
                            const Schema& schema) {
  cql::RuntimeFacts facts;
  facts.cql_addresses = cql_addresses;
  facts.memory_limit_bytes = engine.memory_limit_bytes();
  facts.memory_used_bytes = engine.held_bytes();
  for (const auto& [name, keyspace] : schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_virtual) continue;
      const storage::TableStats stats = engine.StatsOf(table->storage.id);
      facts.stored_bytes += stats.live_bytes;
      facts.partitions += stats.partitions;
    }
  }
  return facts;
}

instruments::ClockTable::Kept KeptClock(keeping::Keeper* keeper) {
  if (keeper == nullptr) return {nullptr, nullptr};
  return {[keeper] { return keeper->ClockRefusal(); }, [keeper] { keeper->NoteClock(); }};
}

bool KeepsLog(const HandlerContext& context) {
  return context.keeper != nullptr && context.keeper->logs() != nullptr;
}

// Roles go back with the data.
class ResettableRoles final : public instruments::Resettable {
 public:
  // `keeps_log`: who writes the reset down resets the roles in the same step.
  ResettableRoles(std::shared_ptr<roles::RoleStore> roles, bool keeps_log)
      : roles_(std::move(roles)), keeps_log_(keeps_log) {}

  void Reset() override {
    if (!keeps_log_) roles_->Reset();
  }
  void Mark() override { roles_->Mark(); }
  void Forget() override { roles_->Forget(); }

 private:
  const std::shared_ptr<roles::RoleStore> roles_;
  const bool keeps_log_;
};

// For those that cannot be told.
class ResetCount final : public instruments::Resettable {
 public:
  void Reset() override { resets_.fetch_add(1, std::memory_order_acq_rel); }
  uint64_t resets() const { return resets_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> resets_{0};
};

// The statements of a server, with the tables and the clock that they see.
class ServedStatements final : public StatementHandler {
 public:
  explicit ServedStatements(const HandlerContext& context)
      : resettable_roles_(context.roles, KeepsLog(context)) {
    cql::AddSystemTables(tables_, context.looks_like_scylla, &context.clients,
                         context.cassandra_major);
    cql::AddRoleTables(tables_, context.looks_like_scylla, context.cassandra_major,
                       [roles = context.roles] { return roles->snapshot(); });
    cql::AddSystemSchemaTables(tables_, context.looks_like_scylla, &context.engine.catalog());
    if (context.looks_like_scylla) {
      cql::AddRuntimeTables(tables_, [&engine = context.engine, addresses = context.cql_addresses](
                                         const cql::VirtualReadContext& read) {
        return RuntimeOf(engine, addresses ? addresses() : std::vector<std::string>(), read.schema);
      });
    }
    cql::AddSizeEstimates(tables_, [&engine = context.engine](const TableDefinition& table) {
      const storage::TableStats stats = engine.StatsOf(table.storage.id);
      return cql::TableSize{stats.partitions, stats.live_bytes};
    });
    tables_.Add(instruments::MakeUnsupportedTable(context.tally));
    instruments::ConfigTable* config = nullptr;
    if (context.looks_like_scylla) {
      auto config_table = std::make_unique<instruments::ConfigTable>(
          context.settings, [this](const settings::StatementSettings& before) {
            processor_->NoteSettingsChange(before);
          });
      config = config_table.get();
      tables_.Add(std::move(config_table));
    }
    tables_.Add(instruments::MakeMemoryTable(context.memory_uses, context.change_limit));
    tables_.Add(instruments::MakeCountersTable(context.counters));
    tables_.Add(instruments::MakeHotPartitionsTable(context.hot_partitions));
    tables_.Add(instruments::MakeSlowTurnsTable(context.slow_turns));
    tables_.Add(instruments::MakeSnapshotsTable(context.snapshots));
    if (context.has_instruments) AddInstruments(context, config);
    execute::QueryProcessorOptions options;
    options.result_bytes_max = context.result_bytes_max;
    options.statement_bytes_max = context.statement_bytes_max;
    options.cells_max = context.cells_max;
    options.batch_statements_max = context.batch_statements_max;
    options.json_values_max = std::min(options.json_values_max, context.json_values_max);
    options.tally = &context.tally;
    options.replaces_client_timestamps = ReplacesClientTimestamps(context);
    options.settings = context.settings;
    options.roles = context.roles;
    options.node = context.node;
    options.dialect = context.dialect;
    options.node.host_id = context.host_id;
    options.node.looks_like_scylla = context.looks_like_scylla;
    options.node.start_seconds = WholeSeconds(context.clock.NowNanos());
    options.on_schema_change = [&events = context.events, tell = context.on_schema_change](
                                   const protocol::SchemaChange& change) {
      events.Publish(change);
      if (!tell) return;
      try {
        tell({.change = protocol::NameOf(change.change),
              .target = protocol::NameOf(change.target),
              .keyspace = change.keyspace,
              .name = change.name});
      } catch (const std::bad_alloc&) {
        // It has been made: what cannot be told is left out.
      }
    };
    options.schema_journal = context.keeper;
    options.on_lost_schema_change = [&events = context.events] { events.PublishLost(); };
    processor_ = std::make_unique<execute::QueryProcessor>(context.engine, context.clock, tables_,
                                                           std::move(options));
    faulting_ = std::make_unique<instruments::FaultingHandler>(faults_, *processor_);
    // Around the others: it sees what the client sees.
    journaling_ = std::make_unique<instruments::JournalingHandler>(
        context.journal, context.clock, processor_->statements(), *faulting_);
    slow_turns_ = std::make_unique<instruments::SlowTurnHandler>(
        context.slow_turns, context.hot_partitions, context.metrics, context.slow_requests,
        processor_->statements(), *journaling_);
  }

  execute::ConnectionOrders Handle(std::span<execute::RequestView> requests,
                                   execute::ClientState& client, OutputBuffer& out) override {
    execute::ConnectionOrders orders = slow_turns_->Handle(requests, client, out);
    client.statements.EndTurn();
    return orders;
  }

  uint64_t resets() const override { return reset_count_.resets(); }
  size_t statement_count() const override { return processor_->statements().size(); }
  size_t statement_bytes() const override { return processor_->statements().bytes(); }
  size_t statement_bytes_max() const override { return processor_->statements().bytes_max(); }
  execute::StatementCache::Lookups statement_lookups() const override {
    return processor_->statements().lookups();
  }
  void set_statement_bytes_max(size_t bytes) override {
    processor_->set_statement_bytes_max(bytes);
  }

 private:
  // `config`: nullptr for none.
  void AddInstruments(const HandlerContext& context, instruments::ConfigTable* config) {
    tables_.Add(std::make_unique<instruments::ClockTable>(
        context.clock, [&engine = context.engine](uint64_t now) { return engine.NextExpiry(now); },
        KeptClock(context.keeper)));
    instruments::DataTableOptions data;
    data.serves_list_store = context.serves_list_store;
    data.journal = context.keeper;
    data.keeps_what_it_began_with = KeepsLog(context);
    data.on_schema_change = [this](std::span<const SchemaDifference> differences) {
      for (const SchemaDifference& difference : differences) {
        processor_->NoteSchemaDifference(difference);
      }
    };
    data.on_lost_schema_change = [&events = context.events] { events.PublishLost(); };
    auto data_table =
        std::make_unique<instruments::DataTable>(context.engine, context.clock, std::move(data));
    data_table->AddResettable(reset_count_);
    data_table->AddResettable(resettable_roles_);
    data_table->AddResettable(faults_);
    data_table->AddResettable(context.journal);
    data_table->AddResettable(context.hot_partitions);
    if (config != nullptr) data_table->AddResettable(*config);
    tables_.Add(std::move(data_table));
    tables_.Add(std::make_unique<instruments::FaultTable>(
        faults_, [&catalog = context.engine.catalog()] { return catalog.snapshot(); }));
    tables_.Add(std::make_unique<instruments::RequestsTable>(context.journal));
    tables_.Add(std::make_unique<instruments::JournalTable>(context.journal));
    tables_.Add(instruments::MakeLintTable(context.journal, context.engine,
                                           ReplacesClientTimestamps(context)));
  }

  ResetCount reset_count_;
  ResettableRoles resettable_roles_;
  instruments::FaultPlan faults_;
  cql::VirtualTables tables_;
  std::unique_ptr<execute::QueryProcessor> processor_;
  std::unique_ptr<instruments::FaultingHandler> faulting_;
  std::unique_ptr<instruments::JournalingHandler> journaling_;
  std::unique_ptr<instruments::SlowTurnHandler> slow_turns_;
};

}  // namespace

std::unique_ptr<StatementHandler> MakeStatementHandler(const HandlerContext& context) {
  return std::make_unique<ServedStatements>(context);
}

}  // namespace liststore
