#include "engine/cql/planner/planner.h"

#include <algorithm>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/planner/plan_modification.h"
#include "engine/cql/planner/plan_select.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/without_effect.h"

namespace liststore::cql {
namespace {

using PlanBody = decltype(Plan::body);

// The table whose partition key variables may name; nullptr: there is none.
const TableDefinition* TableOf(const PlanBody& body) {
  if (const auto* select = std::get_if<SelectPlan>(&body)) return select->table.get();
  if (const auto* change = std::get_if<ModificationPlan>(&body)) return change->table.get();
  if (const auto* batch = std::get_if<BatchPlan>(&body)) {
    // That of the first statement, where the last one writes it too. Source: ScyllaDB
    // cql3/statements/batch_statement.cc, prepare.
    const auto& parts = batch->modifications;
    if (!parts.empty() && parts.back().table == parts[0].table) return parts[0].table.get();
  }
  return nullptr;
}

// Plans by statement kind. SchemaPlan keeps the statement, so that it is handed on whole.
struct BodyPlanner {
  Binder& binder;
  std::string_view keyspace;
  const std::shared_ptr<const Statement>& whole;

  CqlOr<PlanBody> operator()(const SelectStatement& statement) const {
    LS_ASSIGN_OR_RETURN(SelectPlan plan, PlanSelect(statement, binder));
    return PlanBody(std::move(plan));
  }
  CqlOr<PlanBody> operator()(const BatchStatement& statement) const {
    LS_ASSIGN_OR_RETURN(BatchPlan plan, PlanBatch(statement, binder));
    return PlanBody(std::move(plan));
  }
  CqlOr<PlanBody> operator()(const UseStatement& statement) const {
    return PlanBody(UsePlan{statement.keyspace});
  }
  CqlOr<PlanBody> operator()(const DescribeStatement& statement) const {
    if (statement.with_passwords && statement.kind != DescribeStatement::Kind::kSchema) {
      return CqlError::Invalid("Option WITH PASSWORDS is only allowed with DESC SCHEMA");
    }
    return PlanBody(DescribePlan{statement, std::string(keyspace)});
  }
  CqlOr<PlanBody> operator()(const CreateRoleStatement&) const { return OfRoles(); }
  CqlOr<PlanBody> operator()(const AlterRoleStatement&) const { return OfRoles(); }
  CqlOr<PlanBody> operator()(const DropRoleStatement&) const { return OfRoles(); }
  CqlOr<PlanBody> operator()(const GrantRoleStatement&) const { return OfRoles(); }
  CqlOr<PlanBody> operator()(const GrantStatement&) const { return OfRoles(); }
  CqlOr<PlanBody> operator()(const ListStatement&) const { return OfRoles(); }
  PlanBody OfRoles() const { return PlanBody(RolePlan{whole}); }
  // Source: ScyllaDB cql3/statements/prune_materialized_view_statement.cc, which is a SELECT.
  CqlOr<PlanBody> operator()(const PruneViewStatement& statement) const {
    SelectStatement select;
    select.table = statement.view;
    select.where = statement.where;
    select.timeout = statement.timeout;
    LS_ASSIGN_OR_RETURN(const SelectPlan plan, PlanSelect(select, binder));
    if (!plan.table->view) {
      return CqlError::Invalid("Ghost rows can only be deleted from materialized views");
    }
    return PlanBody(PruneViewPlan{plan.table});
  }
  CqlOr<PlanBody> operator()(const UnsupportedStatement& statement) const {
    return CqlError::Unsupported(statement.feature, statement.words);
  }
  CqlOr<PlanBody> operator()(const AlterTableStatement& statement) const {
    SchemaPlan plan{whole};
    if (statement.drop_timestamp) {
      LS_ASSIGN_OR_RETURN(plan.timestamp, binder.Bind(*statement.drop_timestamp, CqlType::kBigint,
                                                      "[timestamp]", "[timestamp]"));
    }
    return PlanBody(std::move(plan));
  }
  // A constant is looked at when the statement is executed, after the table.
  CqlOr<PlanBody> operator()(const TruncateStatement& statement) const {
    SchemaPlan plan{whole};
    if (statement.timeout && statement.timeout->Is<BindMarker>()) {
      LS_ASSIGN_OR_RETURN(plan.timeout, BindTimeout(statement.timeout, binder));
    }
    return PlanBody(std::move(plan));
  }
  CqlOr<PlanBody> operator()(const CreateViewStatement&) const {
    if (whole->markers.empty()) return PlanBody(SchemaPlan{whole});
    return CqlError::Invalid("Cannot use query parameters in CREATE MATERIALIZED VIEW statements");
  }
  template <typename S>
  CqlOr<PlanBody> operator()(const S& statement) const {
    if constexpr (std::is_constructible_v<ModificationStatement, const S&>) {
      LS_ASSIGN_OR_RETURN(ModificationPlan plan,
                          PlanModification(ModificationStatement(statement), binder));
      return PlanBody(std::move(plan));
    } else {
      return PlanBody(SchemaPlan{whole});
    }
  }
};

}  // namespace

CqlOr<std::shared_ptr<const Plan>> PlanStatement(Statement statement, const Schema& schema,
                                                 std::string_view keyspace, const Dialect& dialect,
                                                 const settings::StatementSettings& settings) {
  const auto whole = std::make_shared<const Statement>(std::move(statement));
  Binder binder(schema, keyspace, whole->markers, settings, dialect);
  LS_ASSIGN_OR_RETURN(PlanBody body, std::visit(BodyPlanner{binder, keyspace, whole}, whole->node));
  auto plan = std::make_shared<Plan>();
  plan->body = std::move(body);
  plan->without_effect = FeaturesWithoutEffect(*whole);
  plan->answer_varies = dialect.answers_of_conditions_vary && plan->is_conditional();
  LS_ASSIGN_OR_RETURN(plan->variables, binder.TakeVariables());
  plan->computed = binder.TakeComputed();
  if (const TableDefinition* table = TableOf(plan->body)) {
    plan->partition_key_variables = binder.PartitionKeyVariables(*table);
  }
  return std::shared_ptr<const Plan>(std::move(plan));
}

CqlOr<std::shared_ptr<const Plan>> PlanText(std::string_view text, const Schema& schema,
                                            std::string_view keyspace, const Dialect& dialect,
                                            const settings::StatementSettings& settings) {
  const ParseOptions options{settings.duplicate_bind_names_are_one_variable, dialect};
  LS_ASSIGN_OR_RETURN(Statement statement, ParseStatement(text, options));
  return PlanStatement(std::move(statement), schema, keyspace, dialect, settings);
}

}  // namespace liststore::cql
