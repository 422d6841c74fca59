// What the planners of INSERT, UPDATE and DELETE share; for them alone.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLAN_MODIFICATION_IMPL_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLAN_MODIFICATION_IMPL_H_

#include <memory>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// In plan_insert.cc.
CqlOr<ModificationPlan> PlanInsert(const InsertStatement& statement, Binder& binder);
CqlOr<ModificationPlan> PlanInsertJson(const InsertJsonStatement& statement, Binder& binder);

// The table, unless it can be written through a list store alone.
CqlOr<std::shared_ptr<const TableDefinition>> FindModifiable(const QualifiedName& name,
                                                             Binder& binder);
// USING. The plan's table is known.
CqlStatus PlanAttributes(const UsingClause& attributes, Binder& binder, ModificationPlan& plan);
// One part of SET or DELETE that is about a column of several cells, but not `c = value` and
// DELETE c: plan_elements.cc. Invalid: the column has no such parts.
CqlOr<CellAssignment> PlanPart(const Assignment& assignment, const ColumnDefinition& column,
                               Binder& binder);
CqlOr<CellAssignment> PlanPartDeletion(const Deletion& deletion, const ColumnDefinition& column,
                                       Binder& binder);
// `value` as what the column becomes.
CellAssignment SetColumn(const ColumnDefinition& column, Operand value);
// Where assignments to a column that is no key go.
std::vector<CellAssignment>& AssignmentsOf(const ColumnDefinition& column, ModificationPlan& plan);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLAN_MODIFICATION_IMPL_H_
