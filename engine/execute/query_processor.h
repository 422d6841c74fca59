// QueryProcessor: statements for connections. Plans texts, keeps what was prepared, runs plans
// against the engine or virtual tables, and writes the answers.
#ifndef LISTSTORE_ENGINE_EXECUTE_QUERY_PROCESSOR_H_
#define LISTSTORE_ENGINE_EXECUTE_QUERY_PROCESSOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/command/conditional_write.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/schema/describe.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/values/json_value.h"
#include "engine/execute/answers.h"
#include "engine/execute/feature_tally.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/schema_journal.h"
#include "engine/execute/statement_cache.h"
#include "engine/execute/write/timeuuid_source.h"
#include "engine/execute/write/write_set.h"
#include "engine/model/schema_difference.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"
#include "engine/roles/permission.h"
#include "engine/roles/role_store.h"
#include "engine/settings/live_settings.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore::execute {

struct QueryProcessorOptions {
  // Timestamps that drivers give by themselves are left out of account, so that writes are ordered
  // by the server's clock; USING TIMESTAMP counts all the same. Asked at each write, by any thread;
  // empty: never.
  std::function<bool()> replaces_client_timestamps;
  cql::NodeFacts node;
  // Whose CQL it speaks.
  cql::Dialect dialect = {};
  // Told of every change of the schema once it can be seen. Called by the loop of the connection
  // that made it.
  std::function<void(const protocol::SchemaChange&)> on_schema_change;
  // Outlives the processor; nullptr: nobody is told how to make changes again.
  SchemaJournal* schema_journal = nullptr;
  // The schema has changed, and the heap had no room to say how. Takes none.
  std::function<void()> on_lost_schema_change;
  // Where features are counted that statements ask for in vain; outlives the processor. nullptr:
  // nowhere.
  FeatureTally* tally = nullptr;
  // nullptr: ScyllaDB's defaults.
  std::shared_ptr<const settings::LiveSettings> settings;
  // nullptr: those of a server where nobody logs in.
  std::shared_ptr<roles::RoleStore> roles;
  // Of a SELECT's rows without pages; it may have kResultBytesMax in any case at most.
  size_t result_bytes_max = SIZE_MAX;
  // Of all statements that are prepared.
  size_t statement_bytes_max = StatementCache::kBytesMax;
  // Of one request, where there is little memory for its work: cells and elements that it writes,
  // statements of a BATCH message, and values of a JSON.
  size_t cells_max = WriteSet::kCellsMax;
  size_t batch_statements_max = SIZE_MAX;
  size_t json_values_max = cql::kJsonValuesMax;
};

class StatementConditions;
struct StatementScratch;

// Thread-safe.
class QueryProcessor final : public RequestHandler {
 public:
  // `engine`, `clock` and `virtual_tables` outlive it. The virtual tables are put into the catalog.
  QueryProcessor(shard::Engine& engine, const Clock& clock,
                 const cql::VirtualTables& virtual_tables, QueryProcessorOptions options);
  ~QueryProcessor() override;

  ConnectionOrders Handle(std::span<RequestView> requests, ClientState& client,
                          OutputBuffer& out) override;

  // The schema was changed by other means than a statement that changes schemas: what was prepared
  // for it is dropped, and who listens is told. Any thread, once the change can be seen.
  void NoteSchemaDifference(const SchemaDifference& difference);

  // The settings have changed: what was prepared by those of before is prepared again, where its
  // plan depends on them. Any thread, once the change can be seen.
  void NoteSettingsChange(const settings::StatementSettings& before);

  // As of now, for who plans requests to look at them.
  std::shared_ptr<const settings::StatementSettings> settings() const {
    return settings_->statements();
  }
  const StatementCache& statements() const { return statements_; }
  void set_statement_bytes_max(size_t bytes) { statements_.set_bytes_max(bytes); }
  const cql::Dialect& dialect() const { return options_.dialect; }
  // As of now, for who looks at requests.
  std::shared_ptr<const Schema> schema() const { return engine_.catalog().snapshot(); }

 private:
  // One request on its way: what every step wants to know.
  struct Call;
  struct Writes;
  class Functions;
  class BatchValues;
  class RoleRunner;
  // What requests that came together share.
  struct Turn;

  // How a plan's run ended, when it is no error.
  enum class Ran : uint8_t {
    kAnswered,
    kJoined,     // the group, which answers it
    kAlone,      // no: with these values it has to be run alone; nothing was done
    kTableGone,  // the plan's, or the schema has changed; nothing was written: plan again
    kDeferred,   // nothing was done; the outcome says so
  };

  // Answers the request, or puts it into the turn's group.
  void Take(RequestView& request, Turn& turn);
  // The same of one that has not joined by items. `statement`: that of FindGroupable.
  void TakeAtLength(const PreparedStatement* statement, RequestView& request, Turn& turn);
  // The statement of an EXECUTE that may join the group; nullptr: it is run alone.
  const PreparedStatement* FindGroupable(RequestView& request, const Turn& turn) const;
  // Runs the group, and then alone what was too large for it, the first at least.
  void RunGroup(Turn& turn);
  void Answer(RequestView& request, Turn& turn);
  // One attempt.
  cql::CqlOr<Ran> Handle(Call& call);
  cql::CqlOr<Ran> HandleQuery(Call& call);
  cql::CqlOr<Ran> HandlePrepare(Call& call);
  cql::CqlOr<Ran> HandleExecute(Call& call);
  cql::CqlOr<Ran> HandleBatch(Call& call);

  cql::CqlOr<Ran> RunPrepared(const PreparedStatement& statement, Call& call);
  // A read or an insertion of items by values in their usual form has joined the turn's group. False:
  // nothing was done, and RunPrepared finds out why.
  bool JoinsByItems(const PreparedStatement& statement, RequestView& request, Turn& turn);
  // The client may run it.
  bool HasAccess(const PreparedStatement& statement, RequestView& request, Turn& turn);
  cql::CqlOr<std::shared_ptr<const PreparedStatement>> Prepare(StatementView& statement,
                                                               Call& call);
  // The plan of a BATCH message's statement, or why there is none.
  cql::CqlStatus PlanBatchStatement(StatementView& statement, size_t& plan_bytes, Call& call);
  // Of a BATCH message that was answered: what its texts ask for in vain.
  static void CountAcceptedOf(std::span<StatementView> statements, Call& call);

  // Runs a plan. `columns`: of the result, encoded.
  cql::CqlOr<Ran> Run(const cql::Plan& plan, const protocol::ColumnsMetadata& columns, Call& call);
  cql::CqlOr<Ran> RunBound(const cql::Plan& plan, const protocol::ColumnsMetadata& columns,
                           cql::BoundValues values, Call& call);
  cql::CqlOr<Ran> RunSelect(const cql::SelectPlan& plan, const protocol::ColumnsMetadata& columns,
                            cql::BoundValues values, Call& call);
  // A modification, or a batch as text.
  cql::CqlOr<Ran> RunText(const cql::Plan& plan, const protocol::ColumnsMetadata& columns,
                          cql::BoundValues values, Call& call);
  cql::CqlOr<Ran> RunWrites(const Writes& writes, Call& call);
  // The same, until it is answered or stopped.
  cql::CqlOr<Ran> ApplyAll(const Writes& writes, Call& call);
  // What a statement comes to that was stopped.
  static Ran Defer(Deferral deferral, Call& call);
  static Ran AnswerStopped(const Writes& writes, Call& call);
  static Ran AnswerTimedOut(const Writes& writes, Call& call);
  // Milliseconds that writes without a timeout of their own may take.
  static uint32_t WriteTimeout(const Writes& writes, const settings::StatementSettings& settings);
  // Those that have conditions, at least some of them.
  cql::CqlOr<Ran> RunConditional(const Writes& writes, Call& call);
  // Of a request that has row changes: they, and not the statements' values. `plans`: of what it writes.
  cql::CqlOr<Ran> RunRowChanges(std::span<const cql::ModificationPlan* const> plans, Call& call);
  cql::CqlOr<Ran> RunRowChanges(const cql::Plan& plan, Call& call);
  // Those of tables of counters, which all of them are.
  cql::CqlOr<Ran> RunCounters(const Writes& writes, Call& call);
  template <typename Visit>
  cql::CqlStatus ForEachWrite(const Writes& writes, Call& call, const Visit& visit);
  // Applies what is in the scratch's write set.
  cql::CqlOr<Ran> ApplyWrites(protocol::WriteType type, Call& call);
  // The same if the conditions hold.
  cql::CqlOr<Ran> ApplyConditional(StatementConditions& conditions,
                                   const std::vector<cql::Selection>& answer,
                                   const protocol::ColumnsMetadata& columns, bool is_batch,
                                   Call& call);
  // Changes the rows of views in the same step, those of the tables in the scratch's write set.
  ConditionalReply ExecuteWithViews(ConditionalWrite write, Call& call);
  // What a write that gives no rows came to.
  // What became of a write; `refusal` holds its status, kOk too.
  Ran AnswerWrite(const WriteRefusal& refusal, protocol::WriteType type, Call& call);
  cql::CqlOr<Ran> WriteVirtual(const cql::ModificationPlan& plan, cql::BoundValues values,
                               Call& call);
  // Of a virtual table. Unauthorized: clients log in, and this one's role is no superuser.
  cql::CqlStatus CheckSuperuser(const TableDefinition& table, const Call& call);
  cql::CqlStatus RunUse(const cql::UsePlan& plan, Call& call);
  cql::CqlStatus RunSchema(const cql::SchemaPlan& plan, cql::BoundValues values, Call& call);
  // Those who listen; in Cassandra's look not of the views of indexes.
  void TellOfSchemaDifference(const SchemaDifference& difference) const;
  // What a definition is refused with when it is prepared.
  cql::CqlStatus CheckPreparedDefinition(const cql::SchemaPlan& plan, const Call& call);
  cql::CqlStatus RunRoles(const cql::RolePlan& plan, Call& call);
  // ---- check_access.cc, where clients log in or permissions are checked. Unauthorized: the client
  // may not.
  cql::CqlStatus CheckAccess(const cql::Plan& plan, Call& call);
  cql::CqlStatus CheckModification(const cql::ModificationPlan& plan, Call& call);
  cql::CqlStatus CheckTable(const std::shared_ptr<const TableDefinition>& table,
                            roles::Permission permission, Call& call);
  cql::CqlStatus CheckDefinition(const cql::SchemaPlan& plan, Call& call);
  cql::CqlStatus RunDescribe(const cql::DescribePlan& plan, Call& call);
  cql::CqlStatus AnswerDescription(const cql::CqlOr<cql::Description>& description, Call& call);
  // False: no virtual table that can be truncated.
  bool TruncateVirtual(const cql::TruncateStatement& statement, const Call& call);

  std::optional<int64_t> TimestampOf(const protocol::QueryParameters& parameters) const {
    if (options_.replaces_client_timestamps && options_.replaces_client_timestamps()) {
      return std::nullopt;
    }
    return parameters.default_timestamp;
  }

  shard::Engine& engine_;
  const Clock& clock_;
  const cql::VirtualTables& virtual_tables_;
  const QueryProcessorOptions options_;
  const std::shared_ptr<const settings::LiveSettings> settings_;
  const std::shared_ptr<roles::RoleStore> roles_;
  const bool checks_access_;  // not everybody may do everything
  StatementCache statements_;
  TimeuuidSource timeuuids_;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_QUERY_PROCESSOR_H_
