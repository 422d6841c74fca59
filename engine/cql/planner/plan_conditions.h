// IF of INSERT, UPDATE and DELETE -> ConditionPlan, and the columns that conditional writes answer
// with. Source: ScyllaDB cql3/statements/modification_statement.cc, batch_statement.cc.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLAN_CONDITIONS_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLAN_CONDITIONS_H_

#include <span>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/planner/where_clause.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {

// IF NOT EXISTS, IF EXISTS, or conditions joined by AND; nothing of all: `plan` stays
// unconditional. Its table and attributes are planned already. Invalid: conditions on key columns,
// a timestamp beside them.
CqlStatus PlanExistence(ConditionPlan::Existence existence, ModificationPlan& plan);
CqlStatus PlanConditions(bool if_exists, const std::vector<Relation>& conditions, Binder& binder,
                         ModificationPlan& plan);
// A conditional statement names one row, or is about static columns alone.
CqlStatus CheckConditionalRows(const WhereClause& where, const ModificationPlan& plan);

// Whether any condition is about a regular column.
bool AsksRegularColumns(const ModificationPlan& plan);
// It writes a regular column that is a collection, frozen or not, or asks for one: of such a
// statement ScyllaDB finds gaps in the clustering key later.
bool SelectsCollection(const ModificationPlan& plan);

// What a batch of these statements is refused for because some have conditions, or the batch a
// timestamp. Called for batches without conditions too.
CqlStatus CheckConditionalBatch(std::span<const ModificationPlan* const> statements,
                                bool has_timestamp);
// Columns of a batch's answer: [applied], the primary key, and what any of its statements answers
// with. Empty: no statement has conditions.
std::vector<Selection> BatchAnswer(std::span<const ModificationPlan* const> statements);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLAN_CONDITIONS_H_
