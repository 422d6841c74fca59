// Binder: what the planners of all statement kinds share. Looks names up and turns expressions into
// operands, keeping book of the bind variables.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_BINDER_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_BINDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"
#include "engine/settings/statement_settings.h"

namespace liststore::cql {

// Used while one statement is planned.
class Binder {
 public:
  // The arguments outlive the binder. `markers`: Statement::markers.
  Binder(const Schema& schema, std::string_view keyspace, const std::vector<std::string>& markers,
         const settings::StatementSettings& settings, const Dialect& dialect = ScyllaDialect());

  const Schema& schema() const { return schema_; }
  const settings::StatementSettings& settings() const { return settings_; }
  const Dialect& dialect() const { return dialect_; }

  // Invalid: no keyspace was said, it does not exist, or the table does not.
  CqlOr<std::shared_ptr<const TableDefinition>> FindTable(const QualifiedName& name);

  // `expression` as a value of `type`. A marker becomes a bind variable called `variable_name`
  // (unless it has a name of its own) of the table found last; a call of a function a computed
  // value, or a constant where neither variables nor the time can change it. Messages call the
  // place so too, but where a null is none of its values: they call that `receiver`.
  CqlOr<Operand> Bind(const Expression& expression, const DataType& type, std::string_view receiver,
                      std::string_view variable_name);
  // A value for a column.
  CqlOr<Operand> BindTo(const ColumnDefinition& column, const Expression& expression) {
    return Bind(expression, column.type, column.name, column.name);
  }

  // The text of an INSERT JSON, a string or a marker, taken apart into the columns of the table
  // that was found last; and of that what stands at one of them (NativeFunction::Kind::kJsonKey,
  // kJsonCell, kJsonOpenCell).
  CqlOr<Operand> BindJsonRow(const Expression& text);
  CqlOr<Operand> BindJsonCell(const Operand& row, const ColumnDefinition& column,
                              NativeFunction::Kind kind);

  // A field of `tuple`, an operand of a tuple type, as a value for a column.
  CqlOr<Operand> BindField(const Operand& tuple, size_t field, const ColumnDefinition& column);
  // The type of an expression, where it says one by itself; nullopt of constants, markers and
  // fromJson().
  CqlOr<std::optional<DataType>> TypeOf(const Expression& expression) const;
  // The same where there has to be one.
  CqlOr<DataType> KnownTypeOf(const Expression& expression) const;
  // Could the expression be a value of the type, by its form?
  CqlOr<bool> Fits(const Expression& expression, const DataType& type) const;
  // The signature that a call means, of a scalar function or an aggregate. `wanted`: the type of
  // the place it stands at; nullptr: any.
  CqlOr<NativeFunction> ResolveCall(const FunctionCall& call,
                                    const DataType* wanted = nullptr) const;

  // An expression as messages show it once its names are looked up: calls by their whole names, and
  // what is a constant already as its value. `type`: of the place it stands at; nullptr: nothing is
  // known of it, and literals stay as they were written. Source: ScyllaDB
  // cql3/expr/prepare_expr.cc, prepare_function_call; expression.cc, expression::printer.
  std::string Shown(const Expression& expression, const DataType* type) const;

  // What messages call the clause whose values are bound next; at first the WHERE clause.
  void EnterClause(std::string_view clause) { clause_ = clause; }

  // For each marker of the statement, in order. Checks that all were bound.
  CqlOr<std::vector<BindVariable>> TakeVariables();
  // Plan::partition_key_variables of a statement about `table`: for each of the columns the last
  // variable that was called so.
  std::vector<uint16_t> PartitionKeyVariables(const TableDefinition& table) const;
  // Plan::computed.
  std::vector<ComputedValue> TakeComputed() { return std::move(computed_); }

 private:
  struct TypedValue {
    DataType type;
    std::optional<std::string> value;  // nullopt: null
  };

  CqlOr<Operand> BindAs(std::string_view receiver, const Expression& expression,
                        const DataType& type);
  CqlOr<Operand> BindMarkerTo(const BindMarker& marker, Operand operand);

  // ---- Calls and casts: bind_call.cc.

  // Could it be a value of a type?
  enum class Match : uint8_t {
    kNo,
    kWeak,  // its bytes could
    kExact,
  };
  CqlOr<Operand> BindCall(const FunctionCall& call, const DataType& type,
                          std::string_view receiver);
  CqlOr<Operand> BindCast(const TypeCast& cast, const DataType& type, std::string_view receiver);
  CqlOr<NativeFunction> ResolveAggregate(const FunctionCall& call) const;
  CqlOr<NativeFunction> ResolveToJson(const FunctionCall& call) const;
  CqlOr<NativeFunction> ResolveFromJson(const FunctionCall& call, const DataType* wanted) const;
  // What the expression is whatever is bound, which a cast is not to ScyllaDB; nullopt: it depends,
  // or is no value. `type` as of Shown.
  std::optional<TypedValue> FoldedValue(const Expression& expression, const DataType* type) const;
  std::optional<TypedValue> FoldedCall(const FunctionCall& call, const DataType* type) const;
  CqlOr<NativeFunction> OnlySignature(const NativeFunction& function,
                                      const FunctionCall& call) const;
  CqlOr<Match> MatchArguments(const NativeFunction& function, const FunctionCall& call) const;
  CqlOr<Match> MatchType(const Expression& expression, const DataType& type) const;
  // ---- Parts of values: bind_parts.cc.

  // A literal with something in it that is none.
  CqlOr<Operand> BindParts(const Expression& expression, const DataType& type,
                           std::string_view receiver);
  // What a function without a name makes of the arguments.
  CqlOr<Operand> ComputeOf(NativeFunction::Kind kind, const DataType& result,
                           std::vector<Operand> arguments, std::string_view receiver);

  // A constant where it can be evaluated now.
  CqlOr<Operand> Compute(NativeFunction function, std::vector<Operand> arguments, Operand operand);

  const Schema& schema_;
  const std::string_view keyspace_;
  const std::vector<std::string>& markers_;
  std::string_view clause_ = "WHERE clause";
  const settings::StatementSettings& settings_;
  const Dialect dialect_;
  std::shared_ptr<const TableDefinition> table_;
  std::vector<std::optional<BindVariable>> variables_;
  // What each variable was bound to, in the order in which that happened.
  std::vector<std::pair<uint16_t, std::string>> targets_;
  std::vector<ComputedValue> computed_;
};

// Why a function cannot be called where it was: liststore does not have it there, or CQL has no
// such function.
CqlError RefuseCall(const FunctionName& function);

// Elements of `collection`, called so, can be asked for: it is a list or a map.
CqlStatus CheckHasElements(std::string_view collection, const DataType& type);
// The index or key of one of them.
CqlOr<Operand> BindElementKey(const Expression& key, std::string_view collection,
                              const DataType& type, Binder& binder);

// Which field of `structure`, the type of what it is taken from, the expression means. Invalid: no
// user type, or none of its fields.
CqlOr<size_t> FindField(const FieldAccess& access, const DataType& structure);
// The second argument of NativeFunction::Kind::kField.
Operand FieldNumber(size_t field, std::string_view receiver);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_BINDER_H_
