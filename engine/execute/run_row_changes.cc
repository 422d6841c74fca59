// Requests whose rows are changed by whoever has sent them: row_changes.h.
#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/seconds.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/row_changes.h"
#include "engine/execute/view_follower.h"

namespace liststore::execute {
namespace {

// What a loop looks at of it at most: rows, and the bytes of their cells. Who changes them may take them apart.
constexpr size_t kLoopLooks = 2;
constexpr size_t kLoopLookBytes = size_t{32} << 10;

// One attempt after the other of the changes, as looks and commands of the engine. Constant in size, so that
// what it hands out stays where it is.
class RowChangesRun {
 public:
  // `bytes_max`: of cells that are looked at; where there are more nothing is written.
  RowChangesRun(RowChanges& changes, int64_t now_seconds, size_t bytes_max)
      : changes_(changes), now_seconds_(now_seconds), bytes_max_(bytes_max), rows_(changes.Rows()) {
    for (size_t i = 0; i < rows_.size(); ++i) Add(i);
  }
  RowChangesRun(const RowChangesRun&) = delete;
  RowChangesRun& operator=(const RowChangesRun&) = delete;

  std::span<const RowLook> looks() const { return looks_; }
  std::span<const Command> commands() const { return commands_; }
  // Of the last attempt.
  bool is_too_large() const { return bytes_ > bytes_max_; }

 private:
  // The looks are taken one behind the other: the first begins the attempt, the last ends it.
  class Look final : public RowConditions {
   public:
    Look(RowChangesRun& run, size_t index) : run_(run), index_(index) {}

    void OnAttempt() override {
      if (index_ != 0) return;
      run_.bytes_ = 0;
      run_.changes_.OnAttempt();
    }
    void OnRow(size_t, const RowView& row) override {
      for (const LiveCellView& cell : row.cells) run_.bytes_ += cell.value.size();
      if (!run_.is_too_large()) run_.changes_.OnRow(index_, row);
    }
    bool Hold() override { return index_ + 1 < run_.rows_.size() || run_.Decide(); }

   private:
    RowChangesRun& run_;
    const size_t index_;
  };
  struct Place {
    Place(RowChangesRun& run, size_t index) : look(run, index) {}

    Look look;
    PackedItemKey packed;
    ClusteringKeyView key;
    std::string behind;  // the key
    ClusteringRange range;
    RowUpdate update;
  };

  void Add(size_t index) {
    const RowChanges::Row& row = rows_[index];
    const bool packs = row.table->storage.packs_item_keys();
    const bool has_clustering = !row.table->storage.clustering.empty();
    Place& place = places_.emplace_back(*this, index);
    place.key = MakeClusteringKey(row.clustering_key, packs, place.packed);
    if (has_clustering) {
      place.behind = BoundAfterKey(row.clustering_key);
      place.range = {ClusteringBound::At(row.clustering_key, packs),
                     ClusteringBound::At(place.behind, packs)};
    }
    looks_.push_back({.table = row.table->storage.id,
                      .partition_key = row.partition_key,
                      .rows = {&place.range, 1},
                      .with_static_row = false,
                      .conditions = &place.look});
    if (row.kind == RowChanges::Kind::kLook) return;
    CommandBody body;
    if (row.kind == RowChanges::Kind::kUpsert) {
      place.update.key = place.key;
      body = UpsertCommand{{&place.update, 1}};
    } else if (has_clustering) {
      body = DeleteRowsCommand{{&place.key, 1}};
    } else {
      body = DeletePartitionCommand{.counts_rows = false};
    }
    commands_.push_back({.table = row.table->storage.id,
                         .partition_key = row.partition_key,
                         .body = std::move(body)});
  }

  bool Decide() {
    if (is_too_large() || !changes_.Decide(now_seconds_)) return false;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].kind != RowChanges::Kind::kUpsert) continue;
      const RowChanges::Written written = changes_.WrittenOf(i);
      RowUpdate& update = places_[i].update;
      update.ttl_seconds = written.ttl_seconds;
      update.expiry_seconds = written.expiry_seconds;
      update.cells = written.cells;
    }
    return true;
  }

  RowChanges& changes_;
  const int64_t now_seconds_;
  const size_t bytes_max_;
  size_t bytes_ = 0;
  const std::span<const RowChanges::Row> rows_;
  std::deque<Place> places_;
  std::vector<RowLook> looks_;
  std::vector<Command> commands_;
};

}  // namespace

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunRowChanges(
    std::span<const cql::ModificationPlan* const> plans, Call& call) {
  RowChanges& changes = *call.request.row_changes;
  std::vector<std::shared_ptr<const cql::ViewPlans>> views;
  for (const cql::ModificationPlan* const plan : plans) {
    if (plan->views != nullptr && std::ranges::find(views, plan->views) == views.end()) {
      views.push_back(plan->views);
    }
  }
  for (const RowChanges::Row& row : changes.Rows()) {
    // The statements say that a table is written, if anything: whoever looks reads.
    if (checks_access_ && (row.is_read || row.kind == RowChanges::Kind::kLook)) {
      LS_RETURN_IF_ERROR(CheckTable(row.table, roles::Permission::kSelect, call));
    }
    if (row.kind == RowChanges::Kind::kLook) continue;
    // What follows from the row is what the statement's plan says.
    const bool is_planned = std::ranges::any_of(plans, [&](const cql::ModificationPlan* plan) {
      return plan->table->storage.id == row.table->storage.id;
    });
    if (!is_planned) return Ran::kTableGone;
  }
  const bool defers = call.client.place.defers();
  if (defers && changes.Rows().size() > kLoopLooks) return Defer(Deferral::kLarge, call);
  const RowChangesRun run(changes, WholeSeconds(call.now_nanos),
                          defers ? kLoopLookBytes : SIZE_MAX);
  if (!run.commands().empty()) {
    call.had_written = std::exchange(call.client.has_written, true);
  }
  ConditionalWrite write{.looks = run.looks(), .writes = run.commands()};
  std::optional<ViewFollower> follower;
  if (!views.empty() && !run.commands().empty()) {
    follower.emplace(std::move(views));
    write.follower = &*follower;
  }
  const ConditionalReply reply = engine_.ExecuteConditional(write, call.now_nanos);
  if (run.is_too_large()) {
    if (!run.commands().empty()) call.client.has_written = call.had_written;
    return Defer(Deferral::kInOrder, call);
  }
  if (reply.status == OpStatus::kOk && reply.applied) changes.OnApplied();
  return AnswerWrite({reply.status, reply.large_row}, protocol::WriteType::kSimple, call);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunRowChanges(const cql::Plan& plan, Call& call) {
  const auto* const change = std::get_if<cql::ModificationPlan>(&plan.body);
  if (change == nullptr)
    return RunRowChanges(std::span<const cql::ModificationPlan* const>(), call);
  return RunRowChanges({&change, 1}, call);
}

}  // namespace liststore::execute
