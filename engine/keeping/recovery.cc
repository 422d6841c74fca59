#include "engine/keeping/recovery.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/execute/schema_journal.h"
#include "engine/execute/view_follower.h"
#include "engine/model/op_status.h"
#include "engine/model/schema_difference.h"
#include "engine/shard/baseline.h"

namespace liststore::keeping {
namespace {

// Makes the schema again, and gathers the rest.
class ServerSink final : public durable::RecoverySink {
 public:
  ServerSink(shard::Engine& engine, const std::optional<cql::Dialect>& asked, Recovered& recovered)
      : engine_(engine), asked_(asked), dialect_(recovered.dialect), events_(recovered.events) {
    if (asked) dialect_ = *asked;
  }

  absl::Status OnChange(const SchemaChangeRecord& change) override {
    if (!change.statement.empty()) LS_RETURN_IF_ERROR(NoteDialect(change.dialect));
    const cql::CqlStatus made = execute::ReplaySchemaChange(engine_, dialect_, change);
    if (made.ok()) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(
        "the commit log has a change of the schema that cannot be made again: ", change.statement,
        ": ", made.error().message));
  }

  absl::Status OnEvent(std::string_view event) override {
    if (ApplyEvent(event, events_)) return absl::OkStatus();
    return absl::DataLossError(
        "the commit log has a change of roles or of the clock that nobody wrote");
  }

  absl::Status OnReturn(bool to_nothing) override {
    events_ = {};
    if (!to_nothing) return absl::OkStatus();
    std::vector<SchemaDifference> differences;
    const OpStatus emptied = shard::Baseline(engine_).Reset(
        /*now_nanos=*/0, [] { return false; }, differences);
    return emptied == OpStatus::kOk ? absl::OkStatus() : HeapRefused();
  }

 private:
  // In what the next statement was made; empty: it does not say.
  absl::Status NoteDialect(std::string_view name) {
    if (name.empty()) {
      has_unnamed_ = true;
      return absl::OkStatus();
    }
    if (name == dialect_.name) {
      is_named_ = true;
      return absl::OkStatus();
    }
    const std::optional<cql::Dialect> made = cql::FindDialect(name);
    if (!made) {
      return absl::FailedPreconditionError(
          absl::StrCat("the schema was made like '", ToAbsl(name),
                       "', which this version does not know: a later one does"));
    }
    if (asked_ || is_named_) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the schema was made like ", ToAbsl(name), ", and is to be like ", ToAbsl(dialect_.name),
          ", in which the same statements make other tables: start with --like ", ToAbsl(name),
          ", or without --like"));
    }
    if (has_unnamed_) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the schema was made like ", ToAbsl(name),
          ", but its first part does not say like what: start with --like ", ToAbsl(name)));
    }
    dialect_ = *made;
    is_named_ = true;
    return absl::OkStatus();
  }

  shard::Engine& engine_;
  const std::optional<cql::Dialect>& asked_;
  cql::Dialect& dialect_;
  bool is_named_ = false;     // some statement has said it
  bool has_unnamed_ = false;  // some has not
  EventState& events_;
};

absl::Status FillViews(shard::Engine& engine, const std::optional<durable::ClockState>& clock,
                       const RecoveryOptions& options) {
  const std::shared_ptr<const Schema> schema = engine.catalog().snapshot();
  const auto& say = options.of_directory.say;
  // A clock that was moved shows another time than the machine's.
  const bool is_moved = clock && clock->setting.mode != ServerClock::Mode::kReal;
  const uint64_t now_nanos = is_moved ? clock->now_nanos : options.now_nanos;
  for (const auto& [keyspace_name, keyspace] : schema->keyspaces) {
    for (const auto& [name, table] : keyspace->tables) {
      if (!table->view || table->is_virtual) continue;
      const auto base = schema->FindTable(keyspace_name, table->view->base);
      const std::unique_ptr<RowFollower> follower = execute::MakeViewFollower(*schema, *table);
      if (say) say(absl::StrCat("fills the view ", keyspace_name, ".", name));
      const OpStatus filled = engine.FillDerived(base->storage.id, *follower, now_nanos);
      if (filled == OpStatus::kOk) continue;
      return absl::ResourceExhaustedError(
          absl::StrCat("the rows of the view ", keyspace_name, ".", name,
                       " have no room: ", engine.memory_refusal().Text()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Recovered> RecoverFrom(const std::string& snapshot_path, disk::FileCalls& calls,
                                      shard::Engine& engine, const RecoveryOptions& options) {
  Recovered recovered;
  ServerSink sink(engine, options.dialect, recovered);
  LS_ASSIGN_OR_RETURN(recovered.of_directory, durable::RecoverFrom(snapshot_path, calls, engine,
                                                                   sink, options.of_directory));
  LS_RETURN_IF_ERROR(FillViews(engine, recovered.events.clock, options));
  return recovered;
}

absl::StatusOr<Recovered> Recover(const durable::DataDirectory& directory, shard::Engine& engine,
                                  const RecoveryOptions& options) {
  Recovered recovered;
  ServerSink sink(engine, options.dialect, recovered);
  LS_ASSIGN_OR_RETURN(recovered.of_directory,
                      durable::Recover(directory, engine, sink, options.of_directory));
  LS_RETURN_IF_ERROR(FillViews(engine, recovered.events.clock, options));
  return recovered;
}

}  // namespace liststore::keeping
