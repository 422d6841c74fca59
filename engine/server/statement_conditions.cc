#include "engine/server/statement_conditions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/conditions.h"

namespace liststore {

// Source of the words: ScyllaDB cql3/statements/batch_statement.cc.
CqlStatus StatementConditions::AddPartition(const ModificationPlan& plan, BoundValues values) {
  std::vector<std::string> keys;
  LS_RETURN_IF_ERROR(
      EncodePartitionKeys(*plan.table, plan.partition_key, values, KeyUse::kWrite, keys));
  if (table_ == nullptr && keys.size() == 1) {
    table_ = plan.table.get();
    partition_key_ = std::move(keys[0]);
    buffer_ = std::make_unique<RowBuffer>(*table_);
    buffer_->SetPartition(partition_key_);
    return {};
  }
  if (keys.size() == 1 && keys[0] == partition_key_) return {};
  return CqlError::Invalid("BATCH with conditions cannot span multiple partitions");
}

CqlStatus StatementConditions::Add(const ModificationPlan& plan, BoundValues values) {
  LS_RETURN_IF_ERROR(AddPartition(plan, values));
  one_schema_ &= plan.table->storage.id == table_->storage.id;
  if (!one_schema_) return {};
  Statement& statement = statements_.emplace_back();
  std::vector<EncodedRange> ranges;
  LS_RETURN_IF_ERROR(EncodeRanges(*plan.table, plan.clustering, values, KeyUse::kWrite, ranges));
  const bool names_row = plan.clustering.slices.empty() && ranges.size() == 1 &&
                         plan.clustering.prefix_columns() == table_->storage.clustering.size();
  if (names_row) statement.key = ranges[0].lower;
  if (!plan.condition) return {};
  LS_CHECK(names_row, "a conditional statement names one row");
  statement.condition = &*plan.condition;
  LS_RETURN_IF_ERROR(BindConditions(*plan.condition, values, statement.cells));
  if (row_by_key_.emplace(*statement.key, rows_.size()).second) {
    rows_.push_back({std::move(ranges[0]), false, {}});
  }
  return {};
}

RowLook StatementConditions::Look() {
  LS_CHECK(table_ != nullptr && one_schema_, "there are statements, of one table");
  ranges_.clear();
  for (const LookedAt& row : rows_) {
    ranges_.push_back(row.range.View(table_->storage.packs_item_keys()));
  }
  return {.table = table_->storage.id,
          .partition_key = partition_key_,
          .rows = ranges_,
          .conditions = this};
}

void StatementConditions::OnAttempt() {
  for (LookedAt& row : rows_) {
    row.exists = false;
    row.values.assign(table_->columns.size(), std::nullopt);
  }
}

void StatementConditions::OnRow(size_t index, const RowView& row) {
  buffer_->SetRow(row);
  LookedAt& seen = rows_[index];
  seen.exists = true;
  const std::span<const std::optional<std::string_view>> values = buffer_->values();
  for (size_t i = 0; i < values.size(); ++i) seen.values[i] = values[i];
}

const StatementConditions::LookedAt* StatementConditions::RowOf(const Statement& statement) const {
  if (!statement.key) return nullptr;
  const auto at = row_by_key_.find(*statement.key);
  return at == row_by_key_.end() ? nullptr : &rows_[at->second];
}

bool StatementConditions::Holds(const Statement& statement) const {
  if (statement.condition == nullptr) return true;
  const LookedAt* row = RowOf(statement);
  LS_CHECK(row != nullptr, "the row of a condition is looked at");
  switch (statement.condition->existence) {
    case ConditionPlan::Existence::kExists:
      return row->exists;
    case ConditionPlan::Existence::kNotExists:
      return !row->exists;
    case ConditionPlan::Existence::kAny:
      break;
  }
  const std::vector<std::optional<std::string_view>> values(row->values.begin(), row->values.end());
  return std::ranges::all_of(statement.cells, [&](const BoundFilter& cell) {
    return ConditionHolds(cell, *table_, values);
  });
}

bool StatementConditions::Hold() {
  return std::ranges::all_of(statements_,
                             [&](const Statement& statement) { return Holds(statement); });
}

void StatementConditions::Append(bool applied, const std::vector<Selection>& answer,
                                 protocol::RowsEncoder& rows) const {
  for (const Statement& statement : statements_) {
    const LookedAt* row = RowOf(statement);
    for (const Selection& selection : answer) {
      if (selection.kind == Selection::Kind::kApplied) {
        rows.AppendBoolean(applied);
      } else if (row != nullptr && row->values[selection.column]) {
        rows.AppendBytes(*row->values[selection.column]);
      } else {
        rows.AppendNull();
      }
    }
    rows.EndRow();
  }
}

}  // namespace liststore
