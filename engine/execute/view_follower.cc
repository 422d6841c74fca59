#include "engine/execute/view_follower.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"

namespace liststore::execute {
namespace {

// A key's internal form adds 2 bytes a component.
constexpr size_t kComponentOverheadBytes = 2;

// The values of those columns; false: one is null, or they are too long for a key. Rows that were
// there before their view was made may be.
bool TakeValues(const RowBuffer& row, const std::vector<uint16_t>& columns,
                std::vector<std::string_view>& values) {
  size_t bytes = 0;
  for (const uint16_t column : columns) {
    const std::optional<std::string_view>& value = row.values()[column];
    if (!value) return false;
    values.push_back(*value);
    bytes += value->size() + kComponentOverheadBytes;
  }
  return bytes <= kKeyBytesMax;
}

bool Outlives(const Liveness& a, const Liveness& b) {
  if (!b.expiring()) return false;
  return !a.expiring() || b.expiry_seconds < a.expiry_seconds;
}

// What the row's being there ends with: the part of it that lives longest.
Liveness LongestOf(const RowView& row) {
  Liveness longest = row.marker;
  for (const LiveCellView& cell : row.cells) {
    if (!longest.present() || Outlives(cell.liveness, longest)) longest = cell.liveness;
  }
  return longest;
}

// Of the view's row: its base's, or where cells of that are in its key, the first of them that ends.
Liveness LivenessOf(const cql::ViewPlan& plan, const RowBuffer& row, const RowView& of_base) {
  if (plan.key_cells.empty()) return LongestOf(of_base);
  Liveness shortest = row.liveness(plan.key_cells.front());
  for (const uint16_t column : plan.key_cells) {
    const Liveness liveness = row.liveness(column);
    if (Outlives(shortest, liveness)) shortest = liveness;
  }
  return shortest;
}

}  // namespace

ViewFollower::View::View(const TableDefinition& base, const cql::ViewPlan& view_plan)
    : plan(view_plan) {
  const bool bound = cql::BindFilters(plan.filters, {}, filters).ok() &&
                     cql::EncodeTokenRange(plan.token_bounds, {}, tokens).ok();
  LS_CHECK(bound, "the filters of a view are of constants");
  LS_CHECK(plan.regular.size() == base.storage.regular.size(), "the plan is of this base");
}

ViewFollower::ViewFollower(std::vector<std::shared_ptr<const cql::ViewPlans>> plans)
    : plans_(std::move(plans)) {
  for (const auto& of_base : plans_) {
    for (const cql::ViewPlan& plan : of_base->views) AddView(*of_base->base, plan);
  }
}

void ViewFollower::AddView(const TableDefinition& base, const cql::ViewPlan& plan) {
  const TableId id = plan.view->storage.id;
  // Statements of one batch may bring plans of their own.
  if (std::ranges::find(derived_, id) != derived_.end()) return;
  auto at = std::ranges::find(bases_, base.storage.id, &Base::id);
  if (at == bases_.end()) {
    bases_.emplace_back(base);
    at = bases_.end() - 1;
  }
  at->views.push_back(views_.size());
  views_.emplace_back(base, plan);
  derived_.push_back(id);
}

bool ViewFollower::Follows(TableId table) const {
  return std::ranges::find(bases_, table, &Base::id) != bases_.end();
}

void ViewFollower::OnAttempt() {
  before_.clear();
  after_.clear();
}

void ViewFollower::AddRow(TableId table, std::string_view partition_key, const RowView& row,
                          Rows& rows) {
  const auto base = std::ranges::find(bases_, table, &Base::id);
  LS_CHECK(base != bases_.end(), "rows of other tables are not shown");
  base->row.SetPartition(partition_key);
  base->row.SetRow(row);
  for (const size_t number : base->views) {
    Key key;
    key.view = number;
    if (!MakeKey(views_[number], base->row, key)) continue;
    rows.insert_or_assign(std::move(key), MakeRow(views_[number], base->row, row));
  }
}

bool ViewFollower::MakeKey(const View& view, const RowBuffer& row, Key& key) {
  std::vector<std::string_view> partition;
  std::vector<std::string_view> clustering;
  if (!TakeValues(row, view.plan.partition_key, partition) ||
      !TakeValues(row, view.plan.clustering, clustering)) {
    return false;
  }
  if (!view.tokens) return false;
  if (!view.plan.token_bounds.empty()) {
    const int64_t token = TokenOf(row.partition_key()).value;
    if (token < view.tokens->first || view.tokens->last < token) return false;
  }
  const bool matches = std::ranges::all_of(view.filters, [&](const cql::BoundFilter& filter) {
    return cql::Matches(filter, row.table(), row.values());
  });
  if (!matches) return false;
  AppendPartitionKey(partition, key.partition);
  AppendClusteringKey(view.plan.view->storage.clustering, clustering, key.clustering);
  return true;
}

ViewFollower::Row ViewFollower::MakeRow(const View& view, const RowBuffer& row,
                                        const RowView& of_base) {
  Row made;
  made.marker = LivenessOf(view.plan, row, of_base);
  LS_CHECK(made.marker.present(), "a live row has something that lives");
  for (const LiveCellView& cell : of_base.cells) {
    const std::optional<ColumnId>& column = view.plan.regular[cell.column];
    if (!column) continue;
    Cell& copy = made.cells.emplace_back();
    copy = {*column, cell.liveness, std::string(cell.value), std::string(cell.path)};
    if (!Outlives(copy.liveness, made.marker)) continue;
    copy.liveness.expiry_seconds = made.marker.expiry_seconds;
    copy.liveness.ttl_seconds = made.marker.ttl_seconds;
  }
  return made;
}

std::span<const DerivedRow> ViewFollower::Changes() {
  changes_.clear();
  cells_.clear();
  bytes_taken_out_ = 0;
  for (const auto& [key, row] : before_) {
    if (after_.contains(key)) continue;
    NoteTakenOut(key, row);
    AddChange(key, nullptr);
  }
  for (const auto& [key, row] : after_) {
    const auto old = before_.find(key);
    if (old != before_.end() && old->second == row) continue;
    if (old != before_.end()) NoteTakenOut(key, old->second);
    AddChange(key, &row);
  }
  return changes_;
}

void ViewFollower::NoteTakenOut(const Key& key, const Row& row) {
  bytes_taken_out_ += key.clustering.size();
  for (const Cell& cell : row.cells) bytes_taken_out_ += cell.value.size() + cell.path.size();
}

void ViewFollower::AddChange(const Key& key, const Row* row) {
  DerivedRow& change = changes_.emplace_back();
  change.table = derived_[key.view];
  change.partition_key = key.partition;
  change.clustering_key = key.clustering;
  if (row == nullptr) return;
  change.marker = row->marker;
  std::vector<StoredCell>& cells = cells_.emplace_back();
  for (const Cell& cell : row->cells) {
    cells.push_back({cell.column, {.liveness = cell.liveness, .value = cell.value}, cell.path});
  }
  change.cells = cells;
}

std::unique_ptr<RowFollower> MakeViewFollower(const Schema& schema, const TableDefinition& view) {
  auto plans = std::make_shared<cql::ViewPlans>();
  plans->base = schema.FindTable(view.keyspace, view.view->base);
  cql::CqlOr<cql::ViewPlan> plan =
      cql::PlanView(schema, plans->base, schema.FindTable(view.keyspace, view.name));
  LS_CHECK(plan.ok(), "the statement that makes the view was checked");
  plans->views.push_back(*std::move(plan));
  return std::make_unique<ViewFollower>(
      std::vector<std::shared_ptr<const cql::ViewPlans>>{std::move(plans)});
}

}  // namespace liststore::execute
