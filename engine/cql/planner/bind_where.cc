#include "engine/cql/planner/bind_where.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/literal.h"

namespace liststore::cql {
namespace {

CqlOr<std::vector<uint16_t>> FindColumns(const Relation& relation, const TableDefinition& table) {
  std::vector<uint16_t> columns;
  for (const std::string& name : relation.columns) {
    const ColumnDefinition* column = table.FindColumn(name);
    if (column == nullptr) return CqlError::Invalid("Unrecognized name " + name);
    columns.push_back(static_cast<uint16_t>(column - table.columns.data()));
  }
  return columns;
}

enum class Clause : uint8_t {
  kWhere,
  kIf
};

// Durations have no order, wherever they are. Source: ScyllaDB cql3/expr/prepare_expr.cc,
// prepare_binary_operator.
CqlStatus CheckOrdered(const Relation& relation, const ColumnDefinition& column) {
  if (!IsSlice(relation.op) || !column.type.Contains(CqlType::kDuration)) return {};
  return CqlError::Invalid("Duration type is unordered for " + column.name);
}

// `column`: the first that it is about. Sources of words: ScyllaDB cql3/expr/prepare_expr.cc,
// expression.cc.
CqlStatus CheckOperator(const Relation& relation, const ColumnDefinition& column) {
  switch (relation.op) {
    case RelationOperator::kNotEqual:
    case RelationOperator::kIsNotNull:
      return {};
    case RelationOperator::kContains:
      if (column.type.is_collection()) return {};
      return CqlError::Invalid("Cannot use CONTAINS on non-collection column " +
                               ShownInQuotes(column.name));
    case RelationOperator::kContainsKey:
      if (column.type.kind() == DataType::Kind::kMap) return {};
      return CqlError::Invalid("Cannot use CONTAINS KEY on non-map column " + column.name);
    case RelationOperator::kLike:
      if (!column.type.is(CqlType::kText) && !column.type.is(CqlType::kAscii)) {
        return CqlError::Invalid("LIKE is allowed only on string types, which " + column.name +
                                 " is not");
      }
      return {};
    default:
      return CheckOrdered(relation, column);
  }
}

// A collection of several cells is not compared as a whole. Source: ScyllaDB
// cql3/expr/restrictions.cc.
CqlStatus CheckNotWhole(const Relation& relation, const ColumnDefinition& column) {
  if (!column.type.is_collection() || column.type.is_frozen()) return {};
  if (relation.op == RelationOperator::kContains || relation.op == RelationOperator::kContainsKey) {
    return {};
  }
  return CqlError::Invalid("Collection column '" + column.name + "' (" + column.type.ToString() +
                           ") cannot be restricted by a '" + std::string(ToString(relation.op)) +
                           "' relation");
}

// The value of CONTAINS and CONTAINS KEY: of the type of the collection's elements or keys.
CqlOr<Operand> BindContained(const Relation& relation, const ColumnDefinition& column,
                             Binder& binder) {
  const bool is_key = relation.op == RelationOperator::kContainsKey;
  const std::string receiver = is_key ? KeyReceiver(column.name) : ElementReceiver(column.name);
  const std::vector<DataType>& parameters = column.type.parameters();
  return binder.Bind(relation.value, is_key ? parameters.front() : parameters.back(), receiver,
                     receiver);
}

// "(a,b)", and a tuple of the columns' types. Source: ScyllaDB cql3/expr/prepare_expr.cc,
// get_lhs_receiver.
std::string TupleReceiver(const std::vector<uint16_t>& columns, const TableDefinition& table) {
  std::string names;
  for (const uint16_t column : columns) {
    names += (names.empty() ? "(" : ",") + table.columns[column].name;
  }
  return names + ")";
}
DataType TupleTypeOf(const std::vector<uint16_t>& columns, const TableDefinition& table) {
  std::vector<DataType> fields;
  for (const uint16_t column : columns) fields.push_back(table.columns[column].type);
  return DataType::Tuple(std::move(fields));
}

CqlOr<std::vector<Operand>> BindWholeTuple(const Expression& marker, const std::string& receiver,
                                           const std::vector<uint16_t>& columns,
                                           const TableDefinition& table, Binder& binder) {
  LS_ASSIGN_OR_RETURN(const Operand tuple,
                      binder.Bind(marker, TupleTypeOf(columns, table), receiver, receiver));
  std::vector<Operand> operands;
  for (size_t i = 0; i < columns.size(); ++i) {
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindField(tuple, i, table.columns[columns[i]]));
    operands.push_back(std::move(operand));
  }
  return operands;
}

// What messages call the list of (NOT) IN, and its elements. Source: ScyllaDB
// cql3/expr/prepare_expr.cc, get_rhs_receiver.
std::string ListReceiver(std::string_view receiver) { return "in(" + std::string(receiver) + ")"; }
std::string AlternativeReceiver(std::string_view receiver, RelationOperator op) {
  if (!IsOfList(op)) return std::string(receiver);
  return ElementReceiver(ListReceiver(receiver));
}

// The values of one alternative: one for each column.
CqlOr<std::vector<Operand>> BindAlternative(const Relation& relation, const Expression& value,
                                            const std::vector<uint16_t>& columns,
                                            const TableDefinition& table, Binder& binder) {
  std::vector<Operand> operands;
  if (relation.op == RelationOperator::kContains || relation.op == RelationOperator::kContainsKey) {
    LS_ASSIGN_OR_RETURN(Operand operand,
                        BindContained(relation, table.columns[columns[0]], binder));
    operands.push_back(std::move(operand));
    return operands;
  }
  if (relation.target == Relation::Target::kColumn) {
    const ColumnDefinition& column = table.columns[columns[0]];
    LS_ASSIGN_OR_RETURN(Operand operand,
                        binder.Bind(value, column.type, column.name,
                                    AlternativeReceiver(column.name, relation.op)));
    operands.push_back(std::move(operand));
    return operands;
  }
  const std::string receiver = AlternativeReceiver(TupleReceiver(columns, table), relation.op);
  if (value.Is<BindMarker>()) return BindWholeTuple(value, receiver, columns, table, binder);
  const auto* tuple = value.As<TupleLiteral>();
  LS_CHECK(tuple != nullptr, "the parser makes it a tuple or a marker");
  LS_CHECK(tuple->elements.size() == columns.size(), "the size was checked");
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnDefinition& column = table.columns[columns[i]];
    LS_ASSIGN_OR_RETURN(Operand operand, binder.Bind(tuple->elements[i], column.type, column.name,
                                                     FieldReceiver(receiver, i)));
    operands.push_back(std::move(operand));
  }
  return operands;
}

CqlError RefuseCallInWhere(const FunctionName& function, const TableDefinition& table) {
  const bool exists =
      AggregateOf(function, CqlType::kBlob) || !FindNativeFunctions(function, &table).empty();
  if (!exists) return RefuseCall(function);
  return CqlError::Unsupported(CqlFeature::kFunctions, function.name + "()");
}

// What is wrong with a relation whatever its table. Source: ScyllaDB cql3/expr/restrictions.cc,
// preliminary_binop_vaidation_checks.
CqlStatus CheckForm(const Relation& relation) {
  if (relation.op == RelationOperator::kNotEqual) {
    return CqlError::Invalid("Unsupported \"!=\" relation: " + ShownInMessage(relation));
  }
  const bool is_tuple = relation.target == Relation::Target::kTuple;
  if (relation.op == RelationOperator::kLike) {
    if (is_tuple) return CqlError::Invalid("LIKE cannot be used for Multi-column relations");
    if (relation.target == Relation::Target::kToken) {
      return CqlError::Invalid("LIKE cannot be used with the token function");
    }
  }
  const auto* tuple = relation.value.As<TupleLiteral>();
  if (!is_tuple || tuple == nullptr || tuple->elements.size() == relation.columns.size()) return {};
  return CqlError::Invalid(
      "Expected " + std::to_string(relation.columns.size()) + " elements in value tuple, but got " +
      std::to_string(tuple->elements.size()) + ": " + ShownInMessage(relation.value));
}

// Whether the expression may stand for the tuple of the columns.
CqlOr<bool> FitsTuple(const Expression& value, const std::vector<uint16_t>& columns,
                      const TableDefinition& table, const Binder& binder) {
  const auto* tuple = value.As<TupleLiteral>();
  if (tuple == nullptr) return true;  // a marker
  if (tuple->elements.size() > columns.size()) return false;
  for (size_t i = 0; i < tuple->elements.size(); ++i) {
    LS_ASSIGN_OR_RETURN(const bool fits,
                        binder.Fits(tuple->elements[i], table.columns[columns[i]].type));
    if (!fits) return false;
  }
  return true;
}

// The list of IN is a literal of a list, whose elements are looked at before they are bound.
// Sources: ScyllaDB cql3/expr/prepare_expr.cc, list_validate_assignable_to;
// cql3/restrictions/statement_restrictions.cc, multi_column_range_accumulator.
CqlStatus CheckListOf(const Relation& relation, const std::vector<Expression>& elements,
                      const std::vector<uint16_t>& columns, const TableDefinition& table,
                      const Binder& binder) {
  const bool is_tuple = relation.target == Relation::Target::kTuple;
  for (const Expression& element : elements) {
    LS_ASSIGN_OR_RETURN(const bool fits,
                        is_tuple ? FitsTuple(element, columns, table, binder)
                                 : binder.Fits(element, table.columns[columns[0]].type));
    if (fits) continue;
    const ColumnDefinition& column = table.columns[columns[0]];
    return CqlError::Invalid("Invalid list literal for " +
                             ListReceiver(is_tuple ? TupleReceiver(columns, table) : column.name) +
                             ": value " + ShownInMessage(element) + " is not of type " +
                             (is_tuple ? TupleTypeOf(columns, table) : column.type).ToString());
  }
  for (const Expression& element : elements) {
    const auto* tuple = element.As<TupleLiteral>();
    if (!is_tuple || tuple == nullptr || tuple->elements.size() == columns.size()) continue;
    return CqlError::Invalid("Expected " + std::to_string(columns.size()) +
                             " elements in value tuple, but got " +
                             std::to_string(tuple->elements.size()));
  }
  return {};
}

// Binds the values of a relation of columns: of `bound` what is known before.
CqlStatus BindValues(const Relation& relation, const TableDefinition& table, Binder& binder,
                     BoundRelation& bound) {
  if (relation.op == RelationOperator::kIsNotNull) return {};
  if (!IsOfList(relation.op)) {
    LS_ASSIGN_OR_RETURN(auto values,
                        BindAlternative(relation, relation.value, bound.columns, table, binder));
    bound.alternatives.push_back(std::move(values));
    return {};
  }
  if (relation.value.Is<BindMarker>()) {
    bound.list_is_of_tuples = relation.target == Relation::Target::kTuple;
    const ColumnDefinition& column = table.columns[bound.columns[0]];
    const DataType type = bound.list_is_of_tuples ? TupleTypeOf(bound.columns, table) : column.type;
    const std::string receiver =
        bound.list_is_of_tuples ? TupleReceiver(bound.columns, table) : column.name;
    LS_ASSIGN_OR_RETURN(bound.list, binder.Bind(relation.value, DataType::List(type), receiver,
                                                ListReceiver(receiver)));
    return {};
  }
  const auto* list = relation.value.As<ListLiteral>();
  LS_CHECK(list != nullptr, "the parser makes IN a list or a marker");
  LS_RETURN_IF_ERROR(CheckListOf(relation, list->elements, bound.columns, table, binder));
  for (const Expression& element : list->elements) {
    LS_ASSIGN_OR_RETURN(auto values,
                        BindAlternative(relation, element, bound.columns, table, binder));
    bound.alternatives.push_back(std::move(values));
  }
  return {};
}

// Of the columns of a tuple: the first ones of the clustering key, in its order; or those behind
// some (`anywhere`). Source: ScyllaDB cql3/expr/restrictions.cc, validate_multi_column_relation.
CqlStatus CheckTupleColumns(const std::vector<uint16_t>& columns, const TableDefinition& table,
                            bool anywhere) {
  const size_t first = anywhere ? table.columns[columns[0]].position : 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnDefinition& column = table.columns[columns[i]];
    if (column.kind != ColumnKind::kClustering) {
      return CqlError::Invalid(
          "Multi-column relations can only be applied to clustering columns but was applied to: " +
          column.name);
    }
    if (column.position == first + i) continue;
    return CqlError::Invalid(
        i == 0 ? "Clustering columns may not be skipped in multi-column relations. They should "
                 "appear in the PRIMARY KEY order"
               : "Clustering columns must appear in the PRIMARY KEY order in multi-column "
                 "relations");
  }
  return {};
}

CqlOr<BoundRelation> BindColumns(const Relation& relation, const TableDefinition& table,
                                 Clause clause, Binder& binder) {
  BoundRelation bound;
  bound.relation = &relation;
  bound.op = relation.op;
  LS_ASSIGN_OR_RETURN(bound.columns, FindColumns(relation, table));
  LS_RETURN_IF_ERROR(CheckOperator(relation, table.columns[bound.columns[0]]));
  LS_RETURN_IF_ERROR(BindValues(relation, table, binder, bound));
  if (clause == Clause::kIf) return bound;
  if (relation.target == Relation::Target::kTuple) {
    LS_RETURN_IF_ERROR(
        CheckTupleColumns(bound.columns, table, binder.dialect().tuples_behind_columns));
  } else {
    LS_RETURN_IF_ERROR(CheckNotWhole(relation, table.columns[bound.columns[0]]));
  }
  if (bound.op == RelationOperator::kIn && bound.alternatives.size() == 1) {
    bound.op = RelationOperator::kEqual;
  }
  return bound;
}

// Source: ScyllaDB cql3/expr/restrictions.cc, validate_token_relation.
CqlStatus CheckTokenColumns(const std::vector<uint16_t>& columns, const TableDefinition& table) {
  const std::vector<const ColumnDefinition*> key = table.ColumnsOf(ColumnKind::kPartitionKey);
  LS_CHECK(columns.size() == key.size(), "the call was checked");
  if (std::ranges::equal(columns, key, [&](uint16_t column, const ColumnDefinition* wanted) {
        return &table.columns[column] == wanted;
      })) {
    return {};
  }
  if (std::ranges::adjacent_find(columns) != columns.end()) {
    return CqlError::Invalid("The token() function contains duplicate partition key components");
  }
  std::string names;
  for (const ColumnDefinition* column : key) names += (names.empty() ? "" : ", ") + column->name;
  return CqlError::Invalid("The token function arguments must be in the partition key order: " +
                           names);
}

// The left side as the call that it is: its errors come first.
CqlStatus CheckTokenCall(const Relation& relation, const Binder& binder) {
  FunctionCall call;
  call.function.name = "token";
  for (const std::string& name : relation.columns) {
    call.arguments.push_back(Expression{ColumnName{name}, relation.position});
  }
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const NativeFunction found, binder.ResolveCall(call));
  return {};
}

CqlOr<BoundRelation> BindToken(const Relation& relation, const TableDefinition& table,
                               Binder& binder) {
  BoundRelation bound;
  bound.relation = &relation;
  bound.op = relation.op;
  LS_ASSIGN_OR_RETURN(bound.columns, FindColumns(relation, table));
  LS_RETURN_IF_ERROR(CheckTokenCall(relation, binder));
  LS_ASSIGN_OR_RETURN(Operand value, binder.Bind(relation.value, CqlType::kBigint,
                                                 "partition key token", "partition key token"));
  LS_RETURN_IF_ERROR(CheckTokenColumns(bound.columns, table));
  const bool is_equal = relation.op == RelationOperator::kEqual;
  const bool inclusive = is_equal || relation.op == RelationOperator::kLessOrEqual ||
                         relation.op == RelationOperator::kGreaterOrEqual;
  const bool is_upper =
      relation.op == RelationOperator::kLess || relation.op == RelationOperator::kLessOrEqual;
  LS_CHECK(is_equal || bound.is_slice(), "the parser takes comparisons alone");
  if (!is_upper) bound.token_bounds.push_back({value, true, inclusive});
  if (is_equal || is_upper) bound.token_bounds.push_back({value, false, inclusive});
  return bound;
}

// c[k] = v. Source: ScyllaDB cql3/expr/restrictions.cc.
CqlOr<BoundRelation> BindElementRelation(const Relation& relation, const TableDefinition& table,
                                         Binder& binder) {
  BoundRelation bound;
  bound.relation = &relation;
  bound.op = relation.op;
  LS_ASSIGN_OR_RETURN(bound.columns, FindColumns(relation, table));
  const ColumnDefinition& column = table.columns[bound.columns[0]];
  LS_RETURN_IF_ERROR(CheckHasElements(column.name, column.type));
  LS_ASSIGN_OR_RETURN(bound.element,
                      BindElementKey(*relation.element, column.name, column.type, binder));
  const std::string receiver = ElementReceiver(column.name);
  LS_ASSIGN_OR_RETURN(Operand value, binder.Bind(relation.value, column.type.parameters().back(),
                                                 receiver, receiver));
  if (column.type.is_frozen()) {
    const bool is_map = column.type.kind() == DataType::Kind::kMap;
    return CqlError::Invalid((is_map ? "Map-entry equality predicates on frozen map column "
                                     : "List element equality predicates on frozen list column ") +
                             column.name + " are not supported");
  }
  if (relation.op != RelationOperator::kEqual) {
    return CqlError::Invalid("Only EQ relations are supported on map/list entries");
  }
  bound.alternatives.push_back({std::move(value)});
  return bound;
}

// The values of a condition on a part of a column, which messages call `part.name`.
CqlStatus BindPartValues(const Relation& condition, const ColumnDefinition& part, Binder& binder,
                         RowFilter& filter) {
  filter.op = condition.op;
  LS_RETURN_IF_ERROR(CheckOperator(condition, part));
  if (!IsOfList(condition.op)) {
    LS_ASSIGN_OR_RETURN(Operand value, binder.BindTo(part, condition.value));
    filter.operands.push_back(std::move(value));
    return {};
  }
  if (condition.value.Is<BindMarker>()) {
    LS_ASSIGN_OR_RETURN(filter.list, binder.Bind(condition.value, DataType::List(part.type),
                                                 part.name, ListReceiver(part.name)));
    return {};
  }
  const auto* list = condition.value.As<ListLiteral>();
  LS_CHECK(list != nullptr, "the parser makes IN a list or a marker");
  const std::string receiver = AlternativeReceiver(part.name, condition.op);
  for (const Expression& element : list->elements) {
    LS_ASSIGN_OR_RETURN(const bool fits, binder.Fits(element, part.type));
    if (fits) continue;
    return CqlError::Invalid("Invalid list literal for " + ListReceiver(part.name) + ": value " +
                             ShownInMessage(element) + " is not of type " + part.type.ToString());
  }
  for (const Expression& element : list->elements) {
    LS_ASSIGN_OR_RETURN(Operand value, binder.Bind(element, part.type, part.name, receiver));
    filter.operands.push_back(std::move(value));
  }
  return {};
}

// IF c[k] = v, IF u.f = v.
CqlOr<RowFilter> BindPartCondition(const Relation& condition, uint16_t position,
                                   const ColumnDefinition& column, Binder& binder) {
  RowFilter filter;
  filter.columns = {position};
  ColumnDefinition part;
  if (condition.target == Relation::Target::kElement) {
    LS_RETURN_IF_ERROR(CheckHasElements(column.name, column.type));
    LS_ASSIGN_OR_RETURN(filter.element,
                        BindElementKey(*condition.element, column.name, column.type, binder));
    part.name = ElementReceiver(column.name);
    part.type = column.type.parameters().back();
  } else {
    FieldAccess access;
    access.operand.push_back({ColumnName{column.name}, condition.position});
    access.field = condition.field;
    LS_ASSIGN_OR_RETURN(filter.field, FindField(access, column.type));
    part.name = column.name + "." + condition.field;
    part.type = column.type.parameters()[*filter.field];
  }
  LS_RETURN_IF_ERROR(BindPartValues(condition, part, binder, filter));
  if (column.is_key()) {
    return CqlError::Invalid("PRIMARY KEY column '" + column.name + "' cannot have IF conditions");
  }
  return filter;
}

}  // namespace

CqlOr<BoundRelation> BindRelation(const Relation& relation, const TableDefinition& table,
                                  Binder& binder) {
  LS_RETURN_IF_ERROR(CheckForm(relation));
  switch (relation.target) {
    case Relation::Target::kElement:
      return BindElementRelation(relation, table, binder);
    case Relation::Target::kField:
      LS_UNREACHABLE("conditions alone are about fields");
    case Relation::Target::kFunction:
      return RefuseCallInWhere(relation.function->As<FunctionCall>()->function, table);
    case Relation::Target::kToken:
      return BindToken(relation, table, binder);
    case Relation::Target::kColumn:
    case Relation::Target::kTuple:
      return BindColumns(relation, table, Clause::kWhere, binder);
  }
  LS_UNREACHABLE("all targets are above");
}

std::string ShownRelation(const BoundRelation& relation, const TableDefinition& table,
                          const Binder& binder) {
  const ColumnDefinition& column = table.columns[relation.columns[0]];
  DataType type = column.type;
  if (relation.is_token()) type = CqlType::kBigint;
  if (relation.is_tuple()) type = TupleTypeOf(relation.columns, table);
  if (relation.is_contains()) {
    const std::vector<DataType>& parameters = column.type.parameters();
    type = relation.op == RelationOperator::kContainsKey ? parameters.front() : parameters.back();
  }
  Relation shown = *relation.relation;
  shown.op = relation.op;
  const auto* list = relation.relation->value.As<ListLiteral>();
  if (list == nullptr || !IsOfList(relation.relation->op)) {
    return ToString(shown, binder.Shown(shown.value, &type));
  }
  std::string values;
  for (const Expression& element : list->elements) {
    values += (values.empty() ? "" : ", ") + binder.Shown(element, &type);
  }
  // IN with a list of one became an equality.
  return ToString(shown, IsOfList(shown.op) ? "(" + values + ")" : values);
}

CqlOr<RowFilter> BindCondition(const Relation& condition, const TableDefinition& table,
                               Binder& binder) {
  LS_ASSIGN_OR_RETURN(const std::vector<uint16_t> columns, FindColumns(condition, table));
  const ColumnDefinition& column = table.columns[columns[0]];
  if (condition.target == Relation::Target::kElement ||
      condition.target == Relation::Target::kField) {
    return BindPartCondition(condition, columns[0], column, binder);
  }
  LS_CHECK(condition.target == Relation::Target::kColumn, "conditions are about single columns");
  LS_ASSIGN_OR_RETURN(BoundRelation bound, BindColumns(condition, table, Clause::kIf, binder));
  if (column.is_key()) {
    return CqlError::Invalid("PRIMARY KEY column '" + column.name + "' cannot have IF conditions");
  }
  return ToFilter(std::move(bound));
}

RowFilter ToFilter(BoundRelation relation) {
  RowFilter filter;
  filter.columns = std::move(relation.columns);
  filter.op = relation.op;
  for (std::vector<Operand>& alternative : relation.alternatives) {
    for (Operand& operand : alternative) filter.operands.push_back(std::move(operand));
  }
  filter.list = std::move(relation.list);
  filter.list_is_of_tuples = relation.list_is_of_tuples;
  filter.element = std::move(relation.element);
  return filter;
}

}  // namespace liststore::cql
