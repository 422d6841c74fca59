#include "engine/cql/planner/binder.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/properties.h"
#include "engine/cql/values/literal.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {

Binder::Binder(const Schema& schema, std::string_view keyspace,
               const std::vector<std::string>& markers, const settings::StatementSettings& settings,
               const Dialect& dialect)
    : schema_(schema),
      keyspace_(keyspace),
      markers_(markers),
      settings_(settings),
      dialect_(dialect),
      variables_(markers.size()) {}

CqlOr<std::shared_ptr<const TableDefinition>> Binder::FindTable(const QualifiedName& name) {
  const std::string_view keyspace = name.keyspace.empty() ? keyspace_ : name.keyspace;
  if (keyspace.empty()) {
    return CqlError::Invalid(
        "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename");
  }
  if (schema_.FindKeyspace(keyspace) == nullptr) {
    return CqlError::Invalid("Keyspace " + std::string(keyspace) + " does not exist");
  }
  table_ = schema_.FindTable(keyspace, name.name);
  if (table_ == nullptr) return CqlError::Invalid("unconfigured table " + name.name);
  return table_;
}

namespace {

bool IsEmptyCollection(const Expression& literal) {
  if (const auto* list = literal.As<ListLiteral>()) return list->elements.empty();
  const auto* set = literal.As<SetLiteral>();
  return set != nullptr && set->elements.empty();
}

// The timestamp of the moment, where it stands for one. Source: ScyllaDB types/types.cc,
// timestamp_from_string.
bool IsNow(const Expression& literal) {
  const auto* constant = literal.As<Constant>();
  return constant != nullptr && constant->kind == ConstantKind::kString &&
         AsciiLower(constant->text) == "now";
}

// Somewhere within a collection, a tuple or a user type, or behind a cast.
bool ContainsNow(const Expression& literal) {
  const auto any = [](const std::vector<Expression>& parts) {
    return std::ranges::any_of(parts, ContainsNow);
  };
  if (const auto* list = literal.As<ListLiteral>()) return any(list->elements);
  if (const auto* set = literal.As<SetLiteral>()) return any(set->elements);
  if (const auto* map = literal.As<MapLiteral>()) return any(map->keys_and_values);
  if (const auto* tuple = literal.As<TupleLiteral>()) return any(tuple->elements);
  if (const auto* user = literal.As<UserTypeLiteral>()) return any(user->values);
  if (const auto* cast = literal.As<TypeCast>()) return any(cast->operand);
  return IsNow(literal);
}

}  // namespace

CqlOr<Operand> Binder::Bind(const Expression& expression, const DataType& type,
                            std::string_view receiver, std::string_view variable_name) {
  LS_ASSIGN_OR_RETURN(Operand operand, BindAs(variable_name, expression, type));
  if (receiver != variable_name) {
    operand.receiver = receiver;
    operand.bound_to = variable_name;
  }
  return operand;
}

CqlOr<Operand> Binder::BindAs(std::string_view receiver, const Expression& expression,
                              const DataType& type) {
  Operand operand;
  operand.type = type;
  operand.receiver = receiver;
  if (const auto* marker = expression.As<BindMarker>()) {
    LS_ASSIGN_OR_RETURN(operand, BindMarkerTo(*marker, std::move(operand)));
    if (!HasOrder(type)) return operand;
    return ComputeOf(NativeFunction::Kind::kInOrder, type, {operand}, receiver);
  }
  if (const auto* call = expression.As<FunctionCall>()) return BindCall(*call, type, receiver);
  // Nearly all types hold no timestamps, and are not looked through.
  const bool is_literal =
      IsLiteral(expression) && !(type.Contains(CqlType::kTimestamp) && ContainsNow(expression));
  if (const auto* cast = expression.As<TypeCast>(); cast != nullptr && !is_literal) {
    return BindCast(*cast, type, receiver);
  }
  if (type.is(CqlType::kTimestamp) && IsNow(expression)) {
    return ComputeOf(NativeFunction::Kind::kCurrentTimestamp, type, {}, receiver);
  }
  if (!is_literal) return BindParts(expression, type, receiver);
  LS_ASSIGN_OR_RETURN(operand.constant, EncodeLiteral(expression, type, receiver));
  // A collection of several cells that has none is null. Source: ScyllaDB
  // cql3/expr/prepare_expr.cc, list_prepare_expression. Cassandra finds that when it is compared.
  if (!dialect_.is_cassandra && type.is_collection() && type.is_multi_cell() &&
      IsEmptyCollection(expression)) {
    operand.constant.reset();
  }
  return operand;
}

CqlOr<Operand> Binder::BindMarkerTo(const BindMarker& marker, Operand operand) {
  LS_CHECK(marker.index < markers_.size(), "the parser counted the markers");
  const std::string& own_name = markers_[marker.index];
  std::optional<BindVariable>& variable = variables_[marker.index];
  if (variable && variable->type != operand.type) {
    return CqlError::Invalid("variable :" + own_name + " has type " + variable->type.ToString() +
                             " which doesn't match " + operand.receiver);
  }
  if (!variable) {
    variable = BindVariable{own_name.empty() ? operand.receiver : own_name, operand.type,
                            table_ == nullptr ? std::string() : table_->keyspace,
                            table_ == nullptr ? std::string() : table_->name};
  }
  targets_.emplace_back(static_cast<uint16_t>(marker.index), operand.receiver);
  operand.marker = marker.index;
  return operand;
}

CqlOr<std::vector<BindVariable>> Binder::TakeVariables() {
  std::vector<BindVariable> taken;
  taken.reserve(variables_.size());
  for (std::optional<BindVariable>& variable : variables_) {
    if (!variable) return CqlError::Invalid("Bind markers are not allowed at this place");
    taken.push_back(*std::move(variable));
  }
  return taken;
}

// Source: ScyllaDB cql3/prepare_context.cc, get_partition_key_bind_indexes.
std::vector<uint16_t> Binder::PartitionKeyVariables(const TableDefinition& table) const {
  std::vector<uint16_t> variables;
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    const auto last = std::find_if(targets_.rbegin(), targets_.rend(), [&](const auto& target) {
      return target.second == column->name;
    });
    if (last == targets_.rend()) return {};
    variables.push_back(last->first);
  }
  return variables;
}

CqlError RefuseCall(const FunctionName& function) {
  const bool is_native = function.keyspace.empty() || function.keyspace == "system";
  const std::optional<CqlFeature> feature =
      is_native ? FeatureOfFunction(function.name) : std::nullopt;
  if (feature) return CqlError::Unsupported(*feature, function.name + "()");
  // Source: ScyllaDB cql3/expr/prepare_expr.cc.
  const std::string prefix = function.keyspace.empty() ? "" : function.keyspace + ".";
  return CqlError::Invalid("Unknown function " + prefix + function.name + " called");
}

CqlStatus CheckHasElements(std::string_view collection, const DataType& type) {
  if (type.kind() == DataType::Kind::kMap || type.kind() == DataType::Kind::kList) return {};
  // Source: ScyllaDB cql3/expr/prepare_expr.cc.
  return CqlError::Invalid("Column " + std::string(collection) +
                           " is not a map/list, cannot be subscripted");
}

CqlOr<Operand> BindElementKey(const Expression& key, std::string_view collection,
                              const DataType& type, Binder& binder) {
  if (type.kind() == DataType::Kind::kMap) {
    const std::string receiver = KeyReceiver(collection);
    return binder.Bind(key, type.parameters()[0], receiver, receiver);
  }
  const std::string receiver = "index(" + std::string(collection) + ")";
  return binder.Bind(key, CqlType::kInt, receiver, receiver);
}

}  // namespace liststore::cql
