#include "engine/cql/planner/plan_modification.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/planner/plan_bytes.h"
#include "engine/cql/planner/plan_conditions.h"
#include "engine/cql/planner/plan_modification_impl.h"
#include "engine/cql/planner/restrictions.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/cql/planner/where_clause.h"

namespace liststore::cql {
CqlStatus PlanAttributes(const UsingClause& attributes, Binder& binder, ModificationPlan& plan) {
  binder.EnterClause("USING clause");
  if (attributes.timestamp) {
    LS_ASSIGN_OR_RETURN(plan.timestamp, binder.Bind(*attributes.timestamp, CqlType::kBigint,
                                                    "[timestamp]", "[timestamp]"));
  }
  if (attributes.ttl) {
    LS_ASSIGN_OR_RETURN(plan.ttl, binder.Bind(*attributes.ttl, CqlType::kInt, "[ttl]", "[ttl]"));
  }
  LS_ASSIGN_OR_RETURN(plan.timeout, BindTimeout(attributes.timeout, binder));
  plan.is_counter = IsCounterTable(*plan.table);
  return {};
}

CqlOr<std::shared_ptr<const TableDefinition>> FindModifiable(const QualifiedName& name,
                                                             Binder& binder) {
  LS_ASSIGN_OR_RETURN(auto table, binder.FindTable(name));
  // The store holds features in memory, for its data path: rows alone would change nothing there.
  if (table->belongs_to_list_store && table->name == "list_features") {
    return CqlError::Invalid("Table " + table->keyspace + "." + table->name +
                             " belongs to a list store: features are changed through it");
  }
  return table;
}

std::vector<CellAssignment>& AssignmentsOf(const ColumnDefinition& column, ModificationPlan& plan) {
  return column.kind == ColumnKind::kStatic ? plan.static_assignments : plan.assignments;
}
namespace {

// Parts of a column may be assigned beside each other, even the same field twice; its whole value
// only alone. Names do not have to be known. Source: ScyllaDB cql3/statements/update_statement.cc,
// prepare_internal; cql3/operation.cc, is_compatible_with.
CqlStatus CheckCompatible(const std::vector<Assignment>& assignments) {
  for (size_t i = 0; i < assignments.size(); ++i) {
    for (size_t j = i + 1; j < assignments.size(); ++j) {
      const Assignment& a = assignments[i];
      const Assignment& b = assignments[j];
      const bool is_whole = a.kind == Assignment::Kind::kSet || b.kind == Assignment::Kind::kSet;
      if (is_whole && a.column == b.column) {
        return CqlError::Invalid("Multiple incompatible setting of column " + a.column);
      }
    }
  }
  return {};
}

const std::string& NameOf(const CellAssignment& assignment, const TableDefinition& table) {
  return table.storage.regular[assignment.column].name;
}

// ---- WHERE of UPDATE and DELETE

// All relations on clustering columns: tuples as they are, others in brackets.
std::string ShownClustering(const TableDefinition& table, const WhereClause& where,
                            const Binder& binder) {
  std::vector<std::string> shown;
  for (const BoundRelation& relation : where.relations()) {
    if (table.columns[relation.columns[0]].kind != ColumnKind::kClustering) continue;
    shown.push_back(ShownRelation(relation, table, binder));
  }
  if (shown.size() == 1 && where.has_tuples()) return shown[0];
  std::string text;
  for (const std::string& one : shown) text += (text.empty() ? "(" : " AND (") + one + ")";
  return text;
}

CqlError InvalidOperator(const TableDefinition& table, const WhereClause& where,
                         const Binder& binder) {
  return CqlError::Invalid("Invalid operator in where clause " +
                           ShownClustering(table, where, binder));
}

// The first column of the key that has no relation; nullptr: all have one.
const ColumnDefinition* FindMissing(const TableDefinition& table, ColumnKind kind,
                                    const std::map<uint16_t, WhereClause::Relations>& columns) {
  for (uint16_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind == kind && !columns.contains(i)) return &table.columns[i];
  }
  return nullptr;
}

CqlError MissingKeyPart(const ColumnDefinition& column) {
  return CqlError::Invalid("Missing mandatory PRIMARY KEY part " + column.name);
}

// Neither the token nor columns that are no keys.
CqlStatus CheckKeysAlone(const TableDefinition& table, const WhereClause& where,
                         const std::map<uint16_t, WhereClause::Relations>& columns,
                         const Binder& binder) {
  if (where.has_token()) {
    std::string shown;
    for (const BoundRelation& relation : where.token_relations()) {
      shown += (shown.empty() ? "(" : " AND (") + ShownRelation(relation, table, binder) + ")";
    }
    return CqlError::Invalid(
        "The token function cannot be used in WHERE clauses for UPDATE and DELETE statements: " +
        shown);
  }
  std::string names;
  for (const auto& [column, relations] : columns) {
    if (table.columns[column].is_key()) continue;
    names += (names.empty() ? "" : ", ") + table.columns[column].name;
  }
  if (names.empty()) return {};
  return CqlError::Invalid("Invalid where clause contains non PRIMARY KEY columns: " + names);
}

// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc, the constructor;
// cql3/statements/modification_statement.cc, process_where_clause; delete_statement.cc,
// prepare_internal.
CqlStatus CheckModifyingWhere(const WhereClause& where, const ModificationPlan& plan,
                              const Binder& binder) {
  const TableDefinition& table = *plan.table;
  const bool updates = plan.kind == ModificationPlan::Kind::kUpdate;
  if (plan.only_statics && where.Restricts(ColumnKind::kClustering)) {
    return CqlError::Invalid(std::string("Invalid restrictions on clustering columns since the ") +
                             (updates ? "UPDATE" : "DELETE") +
                             " statement modifies only static columns");
  }
  LS_RETURN_IF_ERROR(
      CheckClusteringOrder(table, where, /*contains=*/false, /*gaps=*/SelectsCollection(plan)));
  const auto columns = where.ByColumn();
  LS_RETURN_IF_ERROR(CheckKeysAlone(table, where, columns, binder));
  const bool slices = where.Any(ColumnKind::kClustering, &BoundRelation::is_slice);
  if (slices && updates) return InvalidOperator(table, where, binder);
  const ColumnDefinition* const missing = FindMissing(table, ColumnKind::kClustering, columns);
  if (missing != nullptr && !plan.only_statics) {
    if (updates) return MissingKeyPart(*missing);
    if (!slices && !plan.assignments.empty()) {
      return CqlError::Invalid("Primary key column '" + missing->name +
                               "' must be specified in order to modify column '" +
                               NameOf(plan.assignments.front(), table) + "'");
    }
  }
  const ColumnDefinition* const open = FindMissing(table, ColumnKind::kPartitionKey, columns);
  if (open != nullptr) return MissingKeyPart(*open);
  if (plan.condition) LS_RETURN_IF_ERROR(CheckConditionalRows(where, plan));
  if (slices && plan.kind == ModificationPlan::Kind::kDeleteCells) {
    return CqlError::Invalid("Range deletions are not supported for specific columns");
  }
  return {};
}

// Partition key and clustering key of an UPDATE or DELETE.
CqlStatus PlanModifiedRows(const std::vector<Relation>& relations, Binder& binder,
                           ModificationPlan& plan) {
  const TableDefinition& table = *plan.table;
  plan.only_statics =
      plan.assignments.empty() && !plan.static_assignments.empty() && !AsksRegularColumns(plan);
  binder.EnterClause("WHERE clause");
  LS_ASSIGN_OR_RETURN(WhereClause where,
                      WhereClause::Bind(relations, table, /*allow_filtering=*/false, binder));
  LS_RETURN_IF_ERROR(CheckModifyingWhere(where, plan, binder));
  std::vector<BoundRelation> left = std::move(where).TakeRelations();
  plan.partition_key = TakePartitionKey(table, binder.settings(), left);
  plan.clustering = TakeClustering(table, binder.settings(), left);
  if (left.empty()) return {};
  // LIKE: where ScyllaDB would write to more rows than are meant. The message has all relations.
  LS_ASSIGN_OR_RETURN(const WhereClause whole,
                      WhereClause::Bind(relations, table, /*allow_filtering=*/false, binder));
  return InvalidOperator(table, whole, binder);
}

// ---- UPDATE

// Source of the words: ScyllaDB cql3/operation.cc.
CqlStatus PlanAddition(const Assignment& assignment, const ColumnDefinition& column, Binder& binder,
                       ModificationPlan& plan) {
  CellAssignment::Kind kind = CellAssignment::Kind::kAdd;
  switch (assignment.kind) {
    case Assignment::Kind::kAdd:
      break;
    case Assignment::Kind::kSubtract:
      kind = CellAssignment::Kind::kSubtract;
      break;
    case Assignment::Kind::kSet: {
      const CqlOr<Operand> value = binder.BindTo(column, assignment.value);
      if (!value.ok()) return value.error();
      return CqlError::Invalid("Cannot set the value of counter column " + column.name +
                               " (counters can only be incremented/decremented, not set)");
    }
    case Assignment::Kind::kPrepend:
    case Assignment::Kind::kSetElement:
    case Assignment::Kind::kSetField:
      return PlanPart(assignment, column, binder).status();
  }
  LS_ASSIGN_OR_RETURN(Operand operand, binder.BindTo(column, assignment.value));
  AssignmentsOf(column, plan).push_back({column.position, std::move(operand), kind});
  return {};
}

// Rows of virtual tables are computed whole.
CqlStatus CheckHasParts(const ColumnDefinition& column, const TableDefinition& table) {
  if (!table.is_virtual || !column.type.is_multi_cell()) return {};
  return CqlError::Unsupported(CqlFeature::kVirtualWrites, column.name);
}

CqlStatus PlanAssignment(const Assignment& assignment, Binder& binder, ModificationPlan& plan) {
  const ColumnDefinition* column = plan.table->FindColumn(assignment.column);
  if (column == nullptr) return CqlError::Invalid("Unknown identifier " + assignment.column);
  if (column->is_key()) {
    // What is wrong with the value comes first, as in ScyllaDB.
    if (assignment.kind == Assignment::Kind::kSet) {
      const CqlOr<Operand> value = binder.BindTo(*column, assignment.value);
      if (!value.ok()) return value.error();
    } else {
      const CqlOr<CellAssignment> part = PlanPart(assignment, *column, binder);
      if (!part.ok()) return part.error();
    }
    return CqlError::Invalid("PRIMARY KEY part " + column->name + " found in SET part");
  }
  if (column->type.is(CqlType::kCounter)) {
    return PlanAddition(assignment, *column, binder, plan);
  }
  CellAssignment next;
  if (assignment.kind == Assignment::Kind::kSet) {
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindTo(*column, assignment.value));
    next = SetColumn(*column, std::move(operand));
  } else {
    LS_RETURN_IF_ERROR(CheckHasParts(*column, *plan.table));
    LS_ASSIGN_OR_RETURN(next, PlanPart(assignment, *column, binder));
  }
  AssignmentsOf(*column, plan).push_back(std::move(next));
  return {};
}

CqlOr<ModificationPlan> PlanUpdate(const UpdateStatement& statement, Binder& binder) {
  ModificationPlan plan;
  plan.kind = ModificationPlan::Kind::kUpdate;
  LS_ASSIGN_OR_RETURN(plan.table, FindModifiable(statement.table, binder));
  LS_RETURN_IF_ERROR(PlanAttributes(statement.attributes, binder, plan));
  LS_RETURN_IF_ERROR(CheckCompatible(statement.assignments));
  binder.EnterClause("SET clause");
  for (const Assignment& assignment : statement.assignments) {
    LS_RETURN_IF_ERROR(PlanAssignment(assignment, binder, plan));
  }
  LS_RETURN_IF_ERROR(PlanConditions(statement.if_exists, statement.conditions, binder, plan));
  LS_RETURN_IF_ERROR(PlanModifiedRows(statement.where, binder, plan));
  return plan;
}

// ---- DELETE

CqlStatus PlanDeletion(const Deletion& deletion, Binder& binder, ModificationPlan& plan) {
  const ColumnDefinition* column = plan.table->FindColumn(deletion.column);
  if (column == nullptr) return CqlError::Invalid("Unknown identifier " + deletion.column);
  if (column->is_key()) {
    return CqlError::Invalid("Invalid identifier " + column->name +
                             " for deletion (should not be a PRIMARY KEY part)");
  }
  std::vector<CellAssignment>& assignments = AssignmentsOf(*column, plan);
  if (deletion.element || !deletion.field.empty()) {
    LS_RETURN_IF_ERROR(CheckHasParts(*column, *plan.table));
    LS_ASSIGN_OR_RETURN(CellAssignment part, PlanPartDeletion(deletion, *column, binder));
    assignments.push_back(std::move(part));
    return {};
  }
  Operand null;
  null.type = column->type;
  null.receiver = column->name;
  CellAssignment all = SetColumn(*column, std::move(null));
  if (all.of_elements()) all.kind = CellAssignment::Kind::kDelete;
  const bool twice = std::ranges::any_of(assignments, [&](const CellAssignment& other) {
    return other.column == all.column && other.kind == all.kind;
  });
  if (!twice) assignments.push_back(std::move(all));
  return {};
}

CqlOr<ModificationPlan> PlanDelete(const DeleteStatement& statement, Binder& binder) {
  ModificationPlan plan;
  plan.kind = statement.deletions.empty() ? ModificationPlan::Kind::kDeleteRows
                                          : ModificationPlan::Kind::kDeleteCells;
  LS_ASSIGN_OR_RETURN(plan.table, FindModifiable(statement.table, binder));
  LS_RETURN_IF_ERROR(PlanAttributes(statement.attributes, binder, plan));
  binder.EnterClause("SET clause");
  for (const Deletion& deletion : statement.deletions) {
    LS_RETURN_IF_ERROR(PlanDeletion(deletion, binder, plan));
  }
  LS_RETURN_IF_ERROR(PlanConditions(statement.if_exists, statement.conditions, binder, plan));
  LS_RETURN_IF_ERROR(PlanModifiedRows(statement.where, binder, plan));
  return plan;
}

struct Planner {
  Binder& binder;

  CqlOr<ModificationPlan> operator()(const InsertStatement& statement) const {
    return PlanInsert(statement, binder);
  }
  CqlOr<ModificationPlan> operator()(const InsertJsonStatement& statement) const {
    return PlanInsertJson(statement, binder);
  }
  CqlOr<ModificationPlan> operator()(const UpdateStatement& statement) const {
    return PlanUpdate(statement, binder);
  }
  CqlOr<ModificationPlan> operator()(const DeleteStatement& statement) const {
    return PlanDelete(statement, binder);
  }
};

// Source: ScyllaDB schema/schema.cc, column_definition::dropped_at.
void HideFromBefore(const TableDefinition& table, ColumnKind kind,
                    std::vector<CellAssignment>& assignments) {
  for (const auto& [name, dropped] : table.dropped) {
    const ColumnDefinition* column = table.FindColumn(name);
    if (column == nullptr || column->kind != kind) continue;
    for (CellAssignment& assignment : assignments) {
      if (assignment.column == column->position) assignment.hidden_until = dropped.at_micros;
    }
  }
}

// Rows of COMPACT STORAGE have no marker: they are there as long as one of their values is. A table
// of nothing but keys has a value of no bytes instead, which is a marker here. Sources: ScyllaDB
// cql3/statements/update_statement.cc, add_update_for_key; delete_statement.cc, prepare_internal.
CqlStatus PlanCompactStorage(ModificationPlan& plan) {
  const TableDefinition& table = *plan.table;
  if (plan.kind == ModificationPlan::Kind::kDeleteRows && !plan.clustering.slices.empty() &&
      !table.is_compound()) {
    return CqlError::Invalid("Range deletions on \"compact storage\" schemas are not supported");
  }
  if (plan.kind != ModificationPlan::Kind::kInsert) return {};
  if (table.CountOf(ColumnKind::kRegular) == 0) return {};
  if (table.is_dense() && plan.assignments.empty()) {
    return CqlError::Invalid("Column " + table.ColumnsOf(ColumnKind::kRegular)[0]->name +
                             " is mandatory for this COMPACT STORAGE table");
  }
  plan.kind = ModificationPlan::Kind::kUpdate;
  return {};
}

}  // namespace

CqlOr<ModificationPlan> PlanModification(const ModificationStatement& statement, Binder& binder) {
  LS_ASSIGN_OR_RETURN(ModificationPlan plan, std::visit(Planner{binder}, statement));
  // Last, as in ScyllaDB cql3/statements/modification_statement.cc, validate.
  LS_RETURN_IF_ERROR(CheckCounterAttributes(plan));
  if (plan.table->view) return CqlError::Invalid("Cannot directly modify a materialized view");
  if (plan.table->compact_storage) LS_RETURN_IF_ERROR(PlanCompactStorage(plan));
  // Assignments go to storage in the order of their columns; those of one as they were written,
  // which is the order of what they append to a list.
  const auto precedes = [](const CellAssignment& a, const CellAssignment& b) {
    return a.column < b.column;
  };
  std::stable_sort(plan.assignments.begin(), plan.assignments.end(), precedes);
  std::stable_sort(plan.static_assignments.begin(), plan.static_assignments.end(), precedes);
  HideFromBefore(*plan.table, ColumnKind::kRegular, plan.assignments);
  HideFromBefore(*plan.table, ColumnKind::kStatic, plan.static_assignments);
  LS_ASSIGN_OR_RETURN(plan.views, PlanViews(binder.schema(), plan.table));
  return plan;
}

CqlOr<BatchPlan> PlanBatch(const BatchStatement& statement, Binder& binder) {
  BatchPlan plan;
  plan.kind = statement.kind;
  if (statement.attributes.timestamp) {
    LS_ASSIGN_OR_RETURN(plan.timestamp,
                        binder.Bind(*statement.attributes.timestamp, CqlType::kBigint,
                                    "[timestamp]", "[timestamp]"));
  }
  LS_ASSIGN_OR_RETURN(plan.timeout, BindTimeout(statement.attributes.timeout, binder));
  size_t bytes = 0;
  for (const ModificationStatement& modification : statement.statements) {
    LS_ASSIGN_OR_RETURN(ModificationPlan next, PlanModification(modification, binder));
    bytes += PlanBytes(next);
    const size_t bytes_max = binder.dialect().plan_bytes_max;
    if (bytes > bytes_max) return BatchTooLarge(bytes_max);
    plan.modifications.push_back(std::move(next));
  }
  // Of each statement before of the batch. Source: ScyllaDB cql3/statements/batch_statement.cc.
  if (statement.attributes.ttl) {
    return CqlError::Invalid("Global TTL on the BATCH statement is not supported.");
  }
  std::vector<const ModificationPlan*> statements;
  for (const ModificationPlan& modification : plan.modifications) {
    if (plan.timestamp && modification.timestamp) {
      return CqlError::Invalid("Timestamp must be set either on BATCH or individual statements");
    }
    statements.push_back(&modification);
  }
  LS_RETURN_IF_ERROR(CheckConditionalBatch(statements, plan.timestamp.has_value()));
  LS_RETURN_IF_ERROR(CheckCounterBatch(plan.kind, plan.timestamp.has_value(), statements));
  plan.answer = BatchAnswer(statements);
  return plan;
}

}  // namespace liststore::cql
