#include "engine/execute/statement_conditions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/conditions.h"

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
  LS_CHECK(names_row || plan.only_statics, "a conditional statement names one row, or none");
  statement.condition = &*plan.condition;
  LS_RETURN_IF_ERROR(BindConditions(*plan.condition, values, statement.cells));
  if (!names_row) return {};  // the static row is looked at anyway
  if (row_by_key_.emplace(*statement.key, looked_at_.size()).second) {
    looked_at_.push_back(std::move(ranges[0]));
  }
  return {};
}

RowLook StatementConditions::Look() {
  LS_CHECK(table_ != nullptr && one_schema_, "there are statements, of one table");
  ranges_.clear();
  for (const EncodedRange& range : looked_at_) {
    ranges_.push_back(range.View(table_->storage.packs_item_keys()));
  }
  // Static columns alone count; whether the partition has any row is answered.
  if (ranges_.empty()) ranges_.emplace_back();
  return {.table = table_->storage.id,
          .partition_key = partition_key_,
          .rows = ranges_,
          .with_static_row = has_statics(),
          .conditions = this};
}

void StatementConditions::OnAttempt() {
  rows_.resize(looked_at_.size());
  for (OldRow& row : rows_) row = {};
  any_row_ = false;
  if (!has_statics()) return;
  buffer_->SetStaticRow({});
  buffer_->SetNoRow();
  statics_ = TakeRow();
  statics_.exists = false;
}

StatementConditions::OldRow StatementConditions::TakeRow() const {
  const std::span<const std::optional<std::string_view>> values = buffer_->values();
  return {true, Values(values.begin(), values.end())};
}

void StatementConditions::OnStaticRow(std::span<const LiveCellView> cells) {
  buffer_->SetStaticRow(cells);
  buffer_->SetNoRow();
  statics_ = TakeRow();
}

void StatementConditions::OnRow(size_t index, const RowView& row) {
  any_row_ = true;
  if (rows_.empty()) return;
  buffer_->SetRow(row);
  rows_[index] = TakeRow();
}

const StatementConditions::OldRow* StatementConditions::RowOf(const Statement& statement) const {
  if (!statement.key) return nullptr;
  const auto at = row_by_key_.find(*statement.key);
  return at == row_by_key_.end() || !rows_[at->second].exists ? nullptr : &rows_[at->second];
}

// Source: ScyllaDB cql3/statements/cas_request.cc, find_old_row.
const StatementConditions::Values* StatementConditions::ValuesOf(const Statement& statement) const {
  if (const OldRow* row = RowOf(statement)) return &row->values;
  const bool asks_for_row = statement.key && statement.condition != nullptr &&
                            statement.condition->existence != ConditionPlan::Existence::kAny;
  if (!has_statics() || asks_for_row || !(any_row_ || statics_.exists)) return nullptr;
  return &statics_.values;
}

bool StatementConditions::Holds(const Statement& statement) const {
  if (statement.condition == nullptr) return true;
  const bool exists = statement.key ? RowOf(statement) != nullptr : statics_.exists;
  switch (statement.condition->existence) {
    case ConditionPlan::Existence::kExists:
      return exists;
    case ConditionPlan::Existence::kNotExists:
      return !exists;
    case ConditionPlan::Existence::kAny:
      break;
  }
  std::vector<std::optional<std::string_view>> values(table_->columns.size());
  if (const Values* old = ValuesOf(statement)) values.assign(old->begin(), old->end());
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
    const Values* old = ValuesOf(statement);
    for (const Selection& selection : answer) {
      if (selection.kind == Selection::Kind::kApplied) {
        rows.AppendBoolean(applied);
      } else if (old != nullptr && (*old)[selection.column]) {
        rows.AppendBytes(*(*old)[selection.column]);
      } else {
        rows.AppendNull();
      }
    }
    rows.EndRow();
    if (rows.row_bytes() > protocol::kFrameBodyBytesMax) return;  // Finish says so
  }
}

}  // namespace liststore
