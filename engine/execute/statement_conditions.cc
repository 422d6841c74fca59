#include "engine/execute/statement_conditions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/conditions.h"
#include "engine/cql/planner/plan_conditions.h"
#include "engine/cql/planner/plan_selector.h"

namespace liststore::execute {
namespace {

std::string KindNameOf(const cql::ModificationPlan& plan) {
  return plan.kind == cql::ModificationPlan::Kind::kUpdate ? "update" : "deletion";
}

}  // namespace

// Source of the words: ScyllaDB cql3/statements/batch_statement.cc, modification_statement.cc
// (execute_with_condition).
cql::CqlStatus StatementConditions::AddPartition(const cql::ModificationPlan& plan,
                                                 cql::BoundValues values, bool& named) {
  std::vector<std::string> keys;
  LS_RETURN_IF_ERROR(
      cql::EncodePartitionKeys(*plan.table, plan.partition_key, values, cql::KeyUse::kWrite, keys));
  named = !keys.empty();
  if (!named) {
    if (is_batch_) return {};
    return cql::CqlError::Invalid("Unrestricted partition key in a conditional " +
                                  KindNameOf(plan));
  }
  if (table_ == nullptr && keys.size() == 1) {
    table_ = plan.table.get();
    partition_key_ = std::move(keys[0]);
    buffer_ = std::make_unique<RowBuffer>(*table_);
    buffer_->SetPartition(partition_key_);
    return {};
  }
  if (keys.size() == 1 && keys[0] == partition_key_) return {};
  return cql::CqlError::Invalid("BATCH with conditions cannot span multiple partitions");
}

// Source: ScyllaDB cql3/statements/cas_request.cc, read_command.
StatementConditions::Reads StatementConditions::ReadsOf(const cql::ModificationPlan& plan) {
  // Without clustering columns named, all rows of the partition are.
  if (std::ranges::any_of(plan.static_assignments, &cql::CellAssignment::reads)) {
    return plan.clustering.empty() ? Reads::kPartition : Reads::kRow;
  }
  if (std::ranges::any_of(plan.assignments, &cql::CellAssignment::reads)) return Reads::kRow;
  if (!plan.condition || plan.only_statics) return Reads::kNothing;
  const bool asks_existence = plan.condition->existence != cql::ConditionPlan::Existence::kAny;
  return asks_existence || cql::AsksRegularColumns(plan) ? Reads::kRow : Reads::kNothing;
}

cql::CqlStatus StatementConditions::Add(const cql::ModificationPlan& plan,
                                        cql::BoundValues values) {
  bool named = false;
  LS_RETURN_IF_ERROR(AddPartition(plan, values, named));
  if (!named) return {};
  one_schema_ &= plan.table->storage.id == table_->storage.id;
  if (!one_schema_) return {};
  Statement& statement = statements_.emplace_back();
  std::vector<cql::EncodedRange> ranges;
  LS_RETURN_IF_ERROR(
      cql::EncodeRanges(*plan.table, plan.clustering, values, cql::KeyUse::kWrite, ranges));
  if (ranges.empty()) {
    return cql::CqlError::Invalid(is_batch_ ? "Empty clustering range"
                                            : "Unrestricted clustering key in a conditional " +
                                                  KindNameOf(plan));
  }
  const bool names_row = plan.clustering.slices.empty() && ranges.size() == 1 &&
                         plan.clustering.prefix_columns() == table_->storage.clustering.size();
  if (names_row) statement.key = ranges[0].lower;
  if (plan.condition) {
    LS_CHECK(names_row || plan.only_statics, "a conditional statement names one row, or none");
    statement.condition = &*plan.condition;
    LS_RETURN_IF_ERROR(cql::BindConditions(*plan.condition, *table_, values, statement.cells));
    statement.asks_row = names_row && ReadsOf(plan) == Reads::kRow;
    if (dialect_.one_kind_of_condition_for_a_row) LS_RETURN_IF_ERROR(CheckKinds(statement));
  }
  statement.writes_statics = !plan.static_assignments.empty();
  statement.is_of_rows = table_->storage.clustering.empty() || !plan.clustering.empty();
  const Reads reads = ReadsOf(plan);
  reads_partition_ |= reads == Reads::kPartition;
  for (cql::EncodedRange& range : ranges) {
    if (!range.is_one_key && !names_row) continue;
    const auto [at, is_new] = row_by_key_.emplace(range.lower, named_.size());
    if (is_new) named_.push_back({std::move(range), false});
    named_[at->second].is_read |= reads == Reads::kRow;
  }
  return {};
}

RowLook StatementConditions::Look() {
  LS_CHECK(table_ != nullptr && one_schema_, "there are statements, of one table");
  ranges_.clear();
  row_of_range_.clear();
  for (size_t i = 0; i < named_.size(); ++i) {
    if (!named_[i].is_read && !reads_partition_) continue;
    ranges_.push_back(named_[i].range.View(table_->storage.packs_item_keys()));
    row_of_range_.push_back(i);
  }
  // The first row, where any will do. Where all are read it tells whether there is one.
  if (ranges_.empty() || reads_partition_) {
    ranges_.emplace_back();
    row_of_range_.push_back(kFirstRow);
  }
  return {.table = table_->storage.id,
          .partition_key = partition_key_,
          .rows = ranges_,
          .with_static_row = has_statics(),
          .conditions = this};
}

void StatementConditions::OnAttempt() {
  rows_.resize(named_.size());
  for (OldRow& row : rows_) row = {};
  any_row_ = false;
  first_ = {};
  taken_bytes_ = 0;
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
  buffer_->SetRow(row);
  taken_bytes_ += buffer_->value_bytes();
  // It is refused in the end.
  if (taken_bytes_ > bytes_max_) return;
  if (!any_row_ && dialect_.answers_of_conditions_vary) first_ = TakeRow();
  any_row_ = true;
  size_t number = row_of_range_[index];
  if (number == kFirstRow) {
    const auto at = row_by_key_.find(buffer_->clustering_key());
    if (at == row_by_key_.end()) return;
    number = at->second;
  }
  rows_[number] = TakeRow();
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
                            statement.condition->existence != cql::ConditionPlan::Existence::kAny;
  if (!has_statics() || asks_for_row || !(any_row_ || statics_.exists)) return nullptr;
  return &statics_.values;
}

bool StatementConditions::Holds(const Statement& statement) {
  if (statement.condition == nullptr) return true;
  const bool exists = statement.key ? RowOf(statement) != nullptr : statics_.exists;
  switch (statement.condition->existence) {
    case cql::ConditionPlan::Existence::kExists:
      return exists;
    case cql::ConditionPlan::Existence::kNotExists:
      return !exists;
    case cql::ConditionPlan::Existence::kAny:
      break;
  }
  std::vector<std::optional<std::string_view>> values(table_->columns.size());
  if (const Values* old = ValuesOf(statement)) values.assign(old->begin(), old->end());
  // What is false ends it before what cannot be told.
  for (const cql::BoundFilter& cell : statement.cells) {
    status_ = cql::CheckComparable(cell);
    if (!status_.ok() || !cql::ConditionHolds(cell, *table_, values)) return false;
  }
  return true;
}

cql::CqlStatus StatementConditions::CheckBytes() const {
  // An element is looked for from the first one on.
  constexpr uint64_t kLookedAtMax = uint64_t{64} << 20;
  uint64_t of_answer = taken_bytes_;
  uint64_t looked_at = 0;
  for (const Statement& statement : statements_) {
    const Values* const old = ValuesOf(statement);
    if (old == nullptr) continue;
    const auto bytes_of = [&](size_t column) {
      const std::optional<std::string>& value = (*old)[column];
      return value ? value->size() : 0;
    };
    for (const cql::BoundFilter& cell : statement.cells) {
      looked_at += bytes_of(cell.filter->columns[0]);
    }
    if (answer_ == nullptr) continue;
    for (const cql::Selection& selection : *answer_) {
      if (selection.kind == cql::Selection::Kind::kColumn) of_answer += bytes_of(selection.column);
    }
  }
  if (of_answer > bytes_max_) {
    return cql::CqlError::Invalid(
        "The rows that conditions are about, and the answer with their "
        "values, have more than " +
        std::to_string(bytes_max_) + " bytes: ask for less of them at a time");
  }
  if (looked_at > kLookedAtMax) {
    return cql::CqlError::Invalid("Conditions look at values of more than " +
                                  std::to_string(kLookedAtMax) +
                                  " bytes: ask for less of them at a time");
  }
  return {};
}

bool StatementConditions::Hold() {
  status_ = CheckBytes();
  if (!status_.ok()) return false;
  return std::ranges::all_of(statements_,
                             [&](const Statement& statement) { return Holds(statement); });
}

// ---- Where Cassandra differs

// Source: Cassandra cql3/statements/CQL3CasRequest.java, addExistsCondition, addConditions.
cql::CqlStatus StatementConditions::CheckKinds(const Statement& statement) const {
  using Existence = cql::ConditionPlan::Existence;
  const Existence kind = statement.condition->existence;
  for (const Statement& other : statements_) {
    if (&other == &statement || other.condition == nullptr || other.key != statement.key) continue;
    const Existence previous = other.condition->existence;
    if (previous == kind) continue;
    if (previous != Existence::kAny && kind != Existence::kAny) {
      return cql::CqlError::Invalid(
          "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row");
    }
    return cql::CqlError::Invalid(std::string("Cannot mix IF conditions and IF ") +
                                  (kind == Existence::kExists ? "" : "NOT ") +
                                  "EXISTS for the same row");
  }
  return {};
}

std::vector<uint16_t> StatementConditions::ColumnsAsked() const {
  std::vector<uint16_t> columns;
  const auto add = [&](uint16_t column) {
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  };
  for (const Statement& statement : statements_) {
    if (statement.condition == nullptr) continue;
    if (statement.condition->existence == cql::ConditionPlan::Existence::kAny) continue;
    for (uint16_t i = 0; i < table_->columns.size(); ++i) add(i);
    return columns;
  }
  for (const Statement& statement : statements_) {
    if (statement.condition == nullptr) continue;
    for (const ColumnKind kind : {ColumnKind::kRegular, ColumnKind::kStatic}) {
      for (const cql::RowFilter& cell : statement.condition->cells) {
        if (table_->columns[cell.columns[0]].kind == kind) add(cell.columns[0]);
      }
    }
  }
  return columns;
}

std::vector<const StatementConditions::OldRow*> StatementConditions::RowsAsked() const {
  std::vector<std::string> keys;
  for (const Statement& statement : statements_) {
    if (statement.asks_row) keys.push_back(*statement.key);
  }
  if (keys.empty()) {
    if (!any_row_) return {};
    return {&first_};
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (table_->storage.reads_backwards()) std::ranges::reverse(keys);
  std::vector<const OldRow*> rows;
  for (const std::string& key : keys) {
    const OldRow& row = rows_[row_by_key_.at(key)];
    if (row.exists) rows.push_back(&row);
  }
  return rows;
}

// Source: Cassandra cql3/statements/CQL3CasRequest.java, columnsToRead.
std::vector<bool> StatementConditions::ColumnsRead() const {
  const bool all_statics = std::ranges::any_of(statements_, &Statement::writes_statics);
  const bool all_regular = std::ranges::any_of(statements_, &Statement::is_of_rows);
  std::vector<bool> read(table_->columns.size());
  for (size_t i = 0; i < read.size(); ++i) {
    const ColumnKind kind = table_->columns[i].kind;
    read[i] =
        kind == ColumnKind::kStatic ? all_statics : all_regular || table_->columns[i].is_key();
  }
  for (const Statement& statement : statements_) {
    for (const cql::BoundFilter& cell : statement.cells) read[cell.filter->columns[0]] = true;
  }
  return read;
}

StatementConditions::VaryingAnswer StatementConditions::AnswerThatVaries(bool applied,
                                                                         bool is_batch) const {
  VaryingAnswer answer;
  answer.table = table_;
  answer.columns = {{cql::Selection::Kind::kApplied, 0, "[applied]", CqlType::kBoolean}};
  const std::string said(1, applied ? '\1' : '\0');
  answer.rows = {{said}};
  if (applied) return answer;
  const std::vector<bool> read = ColumnsRead();
  const std::vector<const OldRow*> found = RowsAsked();
  // Without a row the static values alone, if there are any that were read.
  std::vector<const OldRow*> shown = found;
  if (found.empty() && has_statics()) {
    for (size_t i = 0; i < read.size(); ++i) {
      const bool is_static = table_->columns[i].kind == ColumnKind::kStatic;
      if (is_static && read[i] && statics_.values[i]) shown = {&statics_};
    }
  }
  if (shown.empty()) return answer;
  std::vector<uint16_t> columns;
  if (is_batch) {
    for (uint16_t i = 0; i < read.size() && table_->columns[i].is_key(); ++i) columns.push_back(i);
  }
  for (const uint16_t column : ColumnsAsked()) {
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  }
  for (const uint16_t column : columns) {
    answer.columns.push_back(cql::SelectColumn(*table_, table_->columns[column]));
  }
  answer.rows.clear();
  for (const OldRow* row : shown) {
    auto& values = answer.rows.emplace_back();
    values.emplace_back(said);
    for (const uint16_t column : columns) {
      values.push_back(read[column] ? row->values[column] : std::nullopt);
    }
  }
  return answer;
}

void StatementConditions::Append(bool applied, const std::vector<cql::Selection>& answer,
                                 protocol::RowsEncoder& rows) const {
  for (const Statement& statement : statements_) {
    const Values* old = ValuesOf(statement);
    for (const cql::Selection& selection : answer) {
      if (selection.kind == cql::Selection::Kind::kApplied) {
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

}  // namespace liststore::execute
