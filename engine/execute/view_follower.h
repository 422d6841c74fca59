// ViewFollower: rows of materialized views, as they follow from the rows of their bases.
#ifndef LISTSTORE_ENGINE_EXECUTE_VIEW_FOLLOWER_H_
#define LISTSTORE_ENGINE_EXECUTE_VIEW_FOLLOWER_H_

#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/command/row_follower.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/execute/select/row_buffer.h"

namespace liststore::execute {

// Of one statement or batch. A row of a view is its base's, under the view's key: cells keep their
// write timestamps and expiries, and it lives as long as the row of the base, or, where a cell of
// the base is part of its key, as long as that cell; none of its cells lives longer. So it ends by
// itself when the time comes, and there is nothing to be looked at then.
//
// Used by one thread at a time. O(log rows seen) a row and view, and its bytes.
class ViewFollower final : public RowFollower {
 public:
  explicit ViewFollower(std::vector<std::shared_ptr<const cql::ViewPlans>> plans);

  bool Follows(TableId table) const override;
  std::span<const TableId> Derived() const override { return derived_; }
  void OnAttempt() override;
  void OnRowBefore(TableId table, std::string_view partition_key, const RowView& row) override {
    AddRow(table, partition_key, row, before_);
  }
  void OnRowAfter(TableId table, std::string_view partition_key, const RowView& row) override {
    AddRow(table, partition_key, row, after_);
  }
  std::span<const DerivedRow> Changes() override;
  uint64_t BytesTakenOut() const override { return bytes_taken_out_; }

 private:
  struct View {
    View(const TableDefinition& base, const cql::ViewPlan& view_plan);

    const cql::ViewPlan& plan;
    std::vector<cql::BoundFilter> filters;
    std::optional<cql::TokenRange> tokens;  // nullopt: none is wanted
  };
  struct Base {
    explicit Base(const TableDefinition& table) : id(table.storage.id), row(table) {}

    TableId id;
    RowBuffer row;
    std::vector<size_t> views;  // of views_
  };
  // A row of a view, whose keys name no other row of the base.
  struct Key {
    size_t view = 0;
    std::string partition;
    std::string clustering;
    auto operator<=>(const Key&) const = default;
  };
  struct Cell {
    ColumnId column = 0;
    Liveness liveness;
    std::string value;
    std::string path;
    bool operator==(const Cell&) const = default;
  };
  struct Row {
    Liveness marker;
    std::vector<Cell> cells;
    bool operator==(const Row&) const = default;
  };
  using Rows = std::map<Key, Row>;

  void AddView(const TableDefinition& base, const cql::ViewPlan& plan);
  void AddRow(TableId table, std::string_view partition_key, const RowView& row, Rows& rows);
  // False: the row of the base has none in the view.
  static bool MakeKey(const View& view, const RowBuffer& row, Key& key);
  static Row MakeRow(const View& view, const RowBuffer& row, const RowView& of_base);
  void NoteTakenOut(const Key& key, const Row& row);
  // `row`: nullptr: it is taken out.
  void AddChange(const Key& key, const Row* row);

  const std::vector<std::shared_ptr<const cql::ViewPlans>> plans_;
  std::deque<Base> bases_;
  std::deque<View> views_;
  std::vector<TableId> derived_;
  Rows before_;
  Rows after_;
  std::vector<DerivedRow> changes_;
  std::deque<std::vector<StoredCell>> cells_;  // of changes_
  uint64_t bytes_taken_out_ = 0;
};

// Of one view, as it is in this schema, whatever other views its base has.
std::unique_ptr<RowFollower> MakeViewFollower(const Schema& schema, const TableDefinition& view);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_VIEW_FOLLOWER_H_
