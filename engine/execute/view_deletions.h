// ViewDeletions: deletions of many rows from tables with materialized views.
#ifndef LISTSTORE_ENGINE_EXECUTE_VIEW_DELETIONS_H_
#define LISTSTORE_ENGINE_EXECUTE_VIEW_DELETIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/command/command.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/model/op_status.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// What follows from a row of such a table goes in the same step as the row, which holds all lanes and
// takes some 15 us: for a partition of a million rows a quarter of a minute, in which nobody reads or
// writes anything. So where a statement deletes a long range, most rows of it go beforehand, in steps
// of few, each with the rows of views, under the statement's timestamp where it has one; the statement
// itself takes the rest. Meanwhile others see a part of the range, and what they write goes or stays,
// as if it had come before the statement or after it.
//
// For one statement or batch, on one thread, which holds no lane.
class ViewDeletions {
 public:
  // What goes in one step, and what a statement, or a batch in all, deletes without further ado.
  static constexpr uint64_t kRowsPerStep = 64;
  static constexpr uint64_t kRowsAtOnce = 256;

  // Borrows all of it. `views`: of the tables that are written.
  ViewDeletions(shard::Engine& engine, std::span<const Command> writes,
                std::span<const std::shared_ptr<const cql::ViewPlans>> views, uint64_t now_nanos)
      : engine_(engine),
        writes_(writes),
        views_(views.begin(), views.end()),
        now_nanos_(now_nanos),
        rest_(writes.begin(), writes.end()) {}

  // Whether the writes delete more rows together than go at once.
  bool AreLong() const;
  // Deletes these rows. kTableGone. `goes_on` is asked between the steps, when no lane is held; after it
  // has said no nothing more is done.
  OpStatus DeleteBeforehand(absl::FunctionRef<bool()> goes_on);
  // What the writes have to do still: ranges are what is left of them. Valid as long as this is.
  std::span<const Command> rest() const { return rest_; }

 private:
  // Where the table of a range that is deleted packs keys; nullopt: it has no views, or the write is
  // another one.
  struct Range {
    ClusteringRange range;
    bool packs_item_keys = false;
  };
  std::optional<Range> RangeOf(const Command& write) const;
  struct Read {
    uint64_t rows = 0;
    std::optional<std::string> bound;  // behind them; nullopt: there are no more
  };
  // Looks at the first `rows` of a range.
  Read ReadFirst(const Command& write, const ClusteringRange& range, uint64_t rows) const;
  OpStatus DeleteStep(const Command& write, const ClusteringRange& range) const;

  shard::Engine& engine_;
  const std::span<const Command> writes_;
  const std::vector<std::shared_ptr<const cql::ViewPlans>> views_;
  const uint64_t now_nanos_;
  std::vector<Command> rest_;
  std::deque<std::string> bounds_;  // of its ranges
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_VIEW_DELETIONS_H_
