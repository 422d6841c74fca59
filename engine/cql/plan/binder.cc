#include "engine/cql/plan/binder.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/literal.h"
#include "engine/model/composite_value.h"

namespace liststore {

Binder::Binder(const Schema& schema, std::string_view keyspace,
               const std::vector<std::string>& markers, const StatementSettings& settings,
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

CqlOr<Operand> Binder::Bind(const Expression& expression, const DataType& type,
                            std::string_view receiver, std::string_view variable_name) {
  Operand operand;
  operand.type = type;
  operand.receiver = receiver;
  if (const auto* marker = expression.As<BindMarker>()) {
    LS_ASSIGN_OR_RETURN(operand, BindMarkerTo(*marker, std::move(operand), variable_name));
    if (!HasOrder(type)) return operand;
    return ComputeOf(NativeFunction::Kind::kInOrder, type, {operand}, receiver);
  }
  if (const auto* call = expression.As<FunctionCall>()) return BindCall(*call, type, receiver);
  if (const auto* cast = expression.As<TypeCast>(); cast != nullptr && !IsLiteral(expression)) {
    return BindCast(*cast, type, receiver);
  }
  if (!IsLiteral(expression)) return BindParts(expression, type, receiver);
  LS_ASSIGN_OR_RETURN(operand.constant, EncodeLiteral(expression, type, receiver));
  return operand;
}

CqlOr<Operand> Binder::BindMarkerTo(const BindMarker& marker, Operand operand,
                                    std::string_view variable_name) {
  LS_CHECK(marker.index < markers_.size(), "the parser counted the markers");
  const std::string& own_name = markers_[marker.index];
  std::optional<BindVariable>& variable = variables_[marker.index];
  if (variable && variable->type != operand.type) {
    return CqlError::Invalid("variable :" + own_name + " has type " + variable->type.ToString() +
                             " which doesn't match " + operand.type.ToString());
  }
  if (!variable) {
    variable = BindVariable{own_name.empty() ? std::string(variable_name) : own_name, operand.type,
                            table_ == nullptr ? std::string() : table_->keyspace,
                            table_ == nullptr ? std::string() : table_->name};
  }
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

std::vector<uint16_t> PartitionKeyVariables(const std::vector<KeyAlternatives>& partition_key,
                                            size_t variables,
                                            const std::vector<ComputedValue>& computed) {
  std::vector<uint16_t> markers;
  for (const KeyAlternatives& part : partition_key) {
    if (part.is_in || part.alternatives.size() != 1) return {};
    std::optional<uint32_t> marker = part.alternatives[0][0].marker;
    // What is put in order was bound.
    if (marker && *marker >= variables) {
      const ComputedValue& value = computed[*marker - variables];
      if (value.function.kind == NativeFunction::Kind::kInOrder) marker = value.arguments[0].marker;
    }
    if (!marker || *marker >= variables) return {};
    markers.push_back(static_cast<uint16_t>(*marker));
  }
  return markers;
}

}  // namespace liststore
