#include "engine/cql/plan/bind_where.h"

#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/literal.h"

namespace liststore {
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

// Durations have no order, wherever they are. Sources: ScyllaDB cql3/expr/restrictions.cc,
// cql3/column_condition.cc.
CqlStatus CheckOrdered(const Relation& relation, const DataType& type, Clause clause) {
  if (!IsSlice(relation.op) || !type.Contains(CqlType::kDuration)) return {};
  const bool is_where = clause == Clause::kWhere;
  return CqlError::Invalid(std::string(is_where ? "Slice restrictions" : "Slice conditions") +
                           " are not supported on " +
                           (type.is_collection() ? "collections containing durations"
                            : type.kind() == DataType::Kind::kUser ? "UDTs containing durations"
                            : type.has_fields()                    ? "tuples containing durations"
                            : is_where                             ? "duration columns"
                                                                   : "durations"));
}

// `column`: the first that it is about. Sources of words: ScyllaDB cql3/expr/prepare_expr.cc,
// expression.cc.
CqlStatus CheckOperator(const Relation& relation, const ColumnDefinition& column, Clause clause) {
  switch (relation.op) {
    case RelationOperator::kNotEqual:
      if (clause == Clause::kIf) return {};
      return CqlError::Invalid("Unsupported \"!=\" relation: " + ToString(relation));
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
    case RelationOperator::kIsNotNull:
      return CqlError::Invalid("IS NOT is only allowed in CREATE MATERIALIZED VIEW statements");
    default:
      return CheckOrdered(relation, column.type, clause);
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

CqlOr<std::vector<Operand>> BindWholeTuple(const Expression& marker,
                                           const std::vector<uint16_t>& columns,
                                           const TableDefinition& table, Binder& binder) {
  const std::string receiver = TupleReceiver(columns, table);
  LS_ASSIGN_OR_RETURN(const Operand tuple,
                      binder.Bind(marker, TupleTypeOf(columns, table), receiver, receiver));
  std::vector<Operand> operands;
  for (size_t i = 0; i < columns.size(); ++i) {
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindField(tuple, i, table.columns[columns[i]]));
    operands.push_back(std::move(operand));
  }
  return operands;
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
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindTo(table.columns[columns[0]], value));
    operands.push_back(std::move(operand));
    return operands;
  }
  if (value.Is<BindMarker>()) return BindWholeTuple(value, columns, table, binder);
  const auto* tuple = value.As<TupleLiteral>();
  LS_CHECK(tuple != nullptr, "the parser makes it a tuple or a marker");
  if (tuple->elements.size() != columns.size()) {
    return CqlError::Invalid("Expected " + std::to_string(columns.size()) +
                             " elements in value tuple, but got " +
                             std::to_string(tuple->elements.size()) + ": " + ToString(value));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    LS_ASSIGN_OR_RETURN(Operand operand,
                        binder.BindTo(table.columns[columns[i]], tuple->elements[i]));
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

CqlOr<BoundRelation> BindRelation(const Relation& relation, const TableDefinition& table,
                                  Clause clause, Binder& binder) {
  BoundRelation bound;
  bound.relation = &relation;
  bound.op = relation.op;
  LS_ASSIGN_OR_RETURN(bound.columns, FindColumns(relation, table));
  if (relation.op == RelationOperator::kLike && relation.target == Relation::Target::kTuple) {
    return CqlError::Invalid("LIKE cannot be used for Multi-column relations");
  }
  LS_RETURN_IF_ERROR(CheckOperator(relation, table.columns[bound.columns[0]], clause));
  if (clause == Clause::kWhere) {
    LS_RETURN_IF_ERROR(CheckNotWhole(relation, table.columns[bound.columns[0]]));
  }
  if (relation.target == Relation::Target::kTuple) {
    for (const uint16_t column : bound.columns) {
      if (table.columns[column].kind == ColumnKind::kClustering) continue;
      return CqlError::Invalid(
          "Multi-column relations can only be applied to clustering columns but was applied to: " +
          table.columns[column].name);
    }
  }
  if (!IsOfList(relation.op)) {
    LS_ASSIGN_OR_RETURN(auto values,
                        BindAlternative(relation, relation.value, bound.columns, table, binder));
    bound.alternatives.push_back(std::move(values));
    return bound;
  }
  if (relation.value.Is<BindMarker>()) {
    bound.list_is_of_tuples = relation.target == Relation::Target::kTuple;
    const ColumnDefinition& column = table.columns[bound.columns[0]];
    const DataType type = bound.list_is_of_tuples ? TupleTypeOf(bound.columns, table) : column.type;
    const std::string receiver =
        bound.list_is_of_tuples ? TupleReceiver(bound.columns, table) : column.name;
    LS_ASSIGN_OR_RETURN(bound.list, binder.Bind(relation.value, DataType::List(type), receiver,
                                                "in(" + receiver + ")"));
    return bound;
  }
  const auto* list = relation.value.As<ListLiteral>();
  LS_CHECK(list != nullptr, "the parser makes IN a list or a marker");
  for (const Expression& element : list->elements) {
    LS_ASSIGN_OR_RETURN(auto values,
                        BindAlternative(relation, element, bound.columns, table, binder));
    bound.alternatives.push_back(std::move(values));
  }
  return bound;
}

CqlOr<std::vector<TokenBound>> BindToken(const Relation& relation, const TableDefinition& table,
                                         Binder& binder) {
  LS_ASSIGN_OR_RETURN(const std::vector<uint16_t> columns, FindColumns(relation, table));
  if (relation.op == RelationOperator::kLike) {
    return CqlError::Invalid("LIKE cannot be used with the token function");
  }
  if (relation.op == RelationOperator::kNotEqual) {
    return CqlError::Invalid("Unsupported \"!=\" relation: " + ToString(relation));
  }
  const std::vector<const ColumnDefinition*> key = table.ColumnsOf(ColumnKind::kPartitionKey);
  bool in_order = columns.size() == key.size();
  for (size_t i = 0; in_order && i < columns.size(); ++i) {
    in_order = &table.columns[columns[i]] == key[i];
  }
  if (!in_order) {
    std::string names;
    for (const ColumnDefinition* column : key) {
      names += (names.empty() ? "" : ", ") + column->name;
    }
    return CqlError::Invalid("The token function arguments must be in the partition key order: " +
                             names);
  }
  LS_ASSIGN_OR_RETURN(Operand value, binder.Bind(relation.value, CqlType::kBigint,
                                                 "partition key token", "partition key token"));
  std::vector<TokenBound> bounds;
  switch (relation.op) {
    case RelationOperator::kEqual:
      bounds.push_back({value, true, true});
      bounds.push_back({value, false, true});
      break;
    case RelationOperator::kLess:
    case RelationOperator::kLessOrEqual:
      bounds.push_back({value, false, relation.op == RelationOperator::kLessOrEqual});
      break;
    case RelationOperator::kGreater:
    case RelationOperator::kGreaterOrEqual:
      bounds.push_back({value, true, relation.op == RelationOperator::kGreaterOrEqual});
      break;
    default:
      LS_UNREACHABLE("the parser takes comparisons alone");
  }
  return bounds;
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
  if (column.type.is_frozen()) {
    const bool is_map = column.type.kind() == DataType::Kind::kMap;
    return CqlError::Invalid((is_map ? "Map-entry equality predicates on frozen map column "
                                     : "List element equality predicates on frozen list column ") +
                             column.name + " are not supported");
  }
  if (relation.op != RelationOperator::kEqual) {
    return CqlError::Invalid("Only EQ relations are supported on map/list entries");
  }
  LS_ASSIGN_OR_RETURN(bound.element,
                      BindElementKey(*relation.element, column.name, column.type, binder));
  const std::string receiver = ElementReceiver(column.name);
  LS_ASSIGN_OR_RETURN(Operand value, binder.Bind(relation.value, column.type.parameters().back(),
                                                 receiver, receiver));
  bound.alternatives.push_back({std::move(value)});
  return bound;
}

// The values of a condition on a part of a column, which messages call `part.name`.
CqlStatus BindPartValues(const Relation& condition, const ColumnDefinition& part, Binder& binder,
                         RowFilter& filter) {
  filter.op = condition.op;
  LS_RETURN_IF_ERROR(CheckOperator(condition, part, Clause::kIf));
  if (!IsOfList(condition.op)) {
    LS_ASSIGN_OR_RETURN(Operand value, binder.BindTo(part, condition.value));
    filter.operands.push_back(std::move(value));
    return {};
  }
  if (condition.value.Is<BindMarker>()) {
    LS_ASSIGN_OR_RETURN(filter.list, binder.Bind(condition.value, DataType::List(part.type),
                                                 part.name, "in(" + part.name + ")"));
    return {};
  }
  const auto* list = condition.value.As<ListLiteral>();
  LS_CHECK(list != nullptr, "the parser makes IN a list or a marker");
  for (const Expression& element : list->elements) {
    LS_ASSIGN_OR_RETURN(Operand value, binder.BindTo(part, element));
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

CqlOr<BoundWhere> BindWhere(const std::vector<Relation>& where, const TableDefinition& table,
                            Binder& binder) {
  BoundWhere bound;
  for (const Relation& relation : where) {
    switch (relation.target) {
      case Relation::Target::kElement: {
        LS_ASSIGN_OR_RETURN(BoundRelation next, BindElementRelation(relation, table, binder));
        bound.relations.push_back(std::move(next));
        break;
      }
      case Relation::Target::kField:
        LS_UNREACHABLE("conditions alone are about fields");
      case Relation::Target::kFunction:
        return RefuseCallInWhere(relation.function->As<FunctionCall>()->function, table);
      case Relation::Target::kToken: {
        LS_ASSIGN_OR_RETURN(const std::vector<TokenBound> bounds,
                            BindToken(relation, table, binder));
        bound.token_bounds.insert(bound.token_bounds.end(), bounds.begin(), bounds.end());
        if (bound.token_relation == nullptr) bound.token_relation = &relation;
        break;
      }
      case Relation::Target::kColumn:
      case Relation::Target::kTuple: {
        LS_ASSIGN_OR_RETURN(BoundRelation next,
                            BindRelation(relation, table, Clause::kWhere, binder));
        bound.relations.push_back(std::move(next));
        break;
      }
    }
  }
  return bound;
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
  LS_ASSIGN_OR_RETURN(BoundRelation bound, BindRelation(condition, table, Clause::kIf, binder));
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

}  // namespace liststore
