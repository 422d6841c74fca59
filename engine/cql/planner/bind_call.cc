// Calls of functions as values, and casts of what is no literal. Methods of Binder. Source of rules
// and words: ScyllaDB cql3/functions/functions.cc (get), cql3/expr/prepare_expr.cc.
#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/cql/values/evaluate_function.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/shown_value.h"

namespace liststore::cql {
namespace {

// As the statement names it.
std::string NameText(const FunctionName& name) {
  return name.keyspace.empty() ? name.name : name.keyspace + "." + name.name;
}

std::string SignatureTexts(const std::vector<NativeFunction>& functions) {
  std::string text;
  for (const NativeFunction& function : functions) {
    text += (text.empty() ? "" : ", ") + SignatureText(function);
  }
  return text;
}

// What has an other name since; functions' names are in lower case.
bool IsDateOf(std::string_view name) { return name == "dateof" || name == "unixtimestampof"; }

}  // namespace

CqlOr<std::optional<DataType>> Binder::TypeOf(const Expression& expression) const {
  using Type = std::optional<DataType>;
  if (const auto* call = expression.As<FunctionCall>()) {
    if (IsFromJson(call->function)) return Type();
    LS_ASSIGN_OR_RETURN(const NativeFunction function, ResolveCall(*call));
    return Type(function.result);
  }
  if (const auto* cast = expression.As<TypeCast>()) {
    LS_ASSIGN_OR_RETURN(const DataType type, ToDataType(cast->type, keyspace_));
    return Type(type);
  }
  if (const auto* cast = expression.As<SelectorCast>()) return Type(cast->type);
  if (expression.Is<CountRows>()) return Type(CqlType::kBigint);
  if (const auto* attribute = expression.As<CellAttribute>()) {
    const bool is_ttl = attribute->kind == CellAttribute::Kind::kTtl;
    return Type(is_ttl ? CqlType::kInt : CqlType::kBigint);
  }
  if (const auto* access = expression.As<FieldAccess>()) {
    LS_ASSIGN_OR_RETURN(const DataType structure, KnownTypeOf(access->operand[0]));
    LS_ASSIGN_OR_RETURN(const size_t field, FindField(*access, structure));
    return Type(structure.parameters()[field]);
  }
  if (const auto* access = expression.As<ElementAccess>()) {
    const Expression& collection = access->operand_and_key[0];
    LS_ASSIGN_OR_RETURN(const DataType type, KnownTypeOf(collection));
    LS_RETURN_IF_ERROR(CheckHasElements(ToString(collection), type));
    return Type(type.parameters().back());
  }
  if (const auto* name = expression.As<ColumnName>()) {
    LS_CHECK(table_ != nullptr, "the columns of a selection are of its table");
    const ColumnDefinition* column = table_->FindColumn(name->name);
    if (column == nullptr) return CqlError::Invalid("Unrecognized name " + name->name);
    return Type(column->type);
  }
  return Type();
}

CqlOr<DataType> Binder::KnownTypeOf(const Expression& expression) const {
  LS_ASSIGN_OR_RETURN(const std::optional<DataType> type, TypeOf(expression));
  if (type) return *type;
  const auto* call = expression.As<FunctionCall>();
  if (call != nullptr) return ResolveFromJson(*call, nullptr).status();
  return CqlError::Invalid("Could not infer type of " + ShownInMessage(expression));
}

CqlOr<Binder::Match> Binder::MatchType(const Expression& expression, const DataType& type) const {
  LS_ASSIGN_OR_RETURN(const std::optional<DataType> own, TypeOf(expression));
  if (own) {
    if (*own == type) return Match::kExact;
    // A counter is what its sum is.
    if (own->is(CqlType::kCounter) && type.is(CqlType::kBigint)) return Match::kExact;
    return IsCompatible(*own, type) ? Match::kWeak : Match::kNo;
  }
  if (expression.Is<BindMarker>()) return Match::kWeak;
  if (expression.Is<FunctionCall>()) return Match::kExact;  // fromJson becomes what is wanted
  if (!IsAssignable(expression, type)) return Match::kNo;
  const auto* constant = expression.As<Constant>();
  const bool is_duration = constant != nullptr && constant->kind == ConstantKind::kDuration;
  return is_duration ? Match::kExact : Match::kWeak;
}

CqlOr<bool> Binder::Fits(const Expression& expression, const DataType& type) const {
  LS_ASSIGN_OR_RETURN(const Match match, MatchType(expression, type));
  return match != Match::kNo;
}

CqlOr<Binder::Match> Binder::MatchArguments(const NativeFunction& function,
                                            const FunctionCall& call) const {
  if (function.arguments.size() != call.arguments.size()) return Match::kNo;
  Match all = Match::kExact;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    LS_ASSIGN_OR_RETURN(const Match match, MatchType(call.arguments[i], function.arguments[i]));
    all = std::min(all, match);
  }
  return all;
}

namespace {

// ScyllaDB keeps casts, also those of constants.
bool HasCast(const Expression& literal) {
  const auto any = [](const std::vector<Expression>& parts) {
    return std::ranges::any_of(parts, HasCast);
  };
  if (const auto* list = literal.As<ListLiteral>()) return any(list->elements);
  if (const auto* set = literal.As<SetLiteral>()) return any(set->elements);
  if (const auto* map = literal.As<MapLiteral>()) return any(map->keys_and_values);
  if (const auto* tuple = literal.As<TupleLiteral>()) return any(tuple->elements);
  if (const auto* user = literal.As<UserTypeLiteral>()) return any(user->values);
  return literal.Is<TypeCast>();
}

}  // namespace

std::optional<Binder::TypedValue> Binder::FoldedCall(const FunctionCall& call,
                                                     const DataType* type) const {
  const CqlOr<NativeFunction> function = ResolveCall(call, type);
  if (!function.ok() || !function->is_pure()) return std::nullopt;
  std::vector<TypedValue> arguments;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    std::optional<TypedValue> argument = FoldedValue(call.arguments[i], &function->arguments[i]);
    if (!argument) return std::nullopt;
    arguments.push_back(*std::move(argument));
  }
  std::vector<std::optional<std::string_view>> values;
  for (const TypedValue& argument : arguments) values.emplace_back(argument.value);
  CqlOr<std::optional<std::string>> result = EvaluateFunction(*function, values, nullptr);
  if (!result.ok()) return std::nullopt;
  return TypedValue{function->result, *std::move(result)};
}

std::optional<Binder::TypedValue> Binder::FoldedValue(const Expression& expression,
                                                      const DataType* type) const {
  if (const auto* call = expression.As<FunctionCall>()) return FoldedCall(*call, type);
  if (type == nullptr || !IsLiteral(expression) || HasCast(expression)) return std::nullopt;
  CqlOr<std::optional<std::string>> value = EncodeLiteral(expression, *type, {});
  if (!value.ok()) return std::nullopt;
  return TypedValue{*type, *std::move(value)};
}

std::string Binder::Shown(const Expression& expression, const DataType* type) const {
  if (const std::optional<TypedValue> folded = FoldedValue(expression, type)) {
    return ShownValue(folded->type, folded->value);
  }
  if (const auto* call = expression.As<FunctionCall>()) {
    const CqlOr<NativeFunction> function = ResolveCall(*call, type);
    if (!function.ok()) return ShownInMessage(expression);
    std::string arguments;
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      if (i != 0) arguments += ", ";
      arguments += Shown(call->arguments[i], &function->arguments[i]);
    }
    return FullName(*function) + "(" + arguments + ")";
  }
  if (const auto* cast = expression.As<SelectorCast>()) {
    const std::string operand = Shown(cast->operand[0], nullptr);
    const CqlOr<std::optional<DataType>> from = TypeOf(cast->operand[0]);
    if (from.ok() && *from == DataType(cast->type)) return operand;
    return "system.castas" + std::string(CqlTypeName(cast->type)) + "(" + operand + ")";
  }
  if (const auto* cast = expression.As<TypeCast>()) {
    // It becomes a value of what is wanted, and is shown so.
    const CqlOr<DataType> from = ToDataType(cast->type, keyspace_);
    if (!from.ok()) return ShownInMessage(expression);
    return "(" + (type == nullptr ? *from : *type).ToString() + ") " +
           Shown(cast->operand[0], &*from);
  }
  if (const auto* tuple = expression.As<TupleLiteral>(); tuple != nullptr && type != nullptr) {
    std::string fields;
    for (size_t i = 0; i < tuple->elements.size(); ++i) {
      const bool is_known = type->has_fields() && i < type->parameters().size();
      if (i != 0) fields += ", ";
      fields += Shown(tuple->elements[i], is_known ? &type->parameters()[i] : nullptr);
    }
    return "(" + fields + ")";
  }
  if (expression.Is<CountRows>()) return "system.countRows()";
  if (const auto* attribute = expression.As<CellAttribute>()) {
    const bool is_ttl = attribute->kind == CellAttribute::Kind::kTtl;
    return (is_ttl ? "TTL(" : "WRITETIME(") + ShownInMessage(attribute->operand[0]) + ")";
  }
  return ShownInMessage(expression);
}

CqlOr<NativeFunction> Binder::OnlySignature(const NativeFunction& function,
                                            const FunctionCall& call) const {
  if (call.arguments.size() != function.arguments.size()) {
    return CqlError::Invalid("Invalid number of arguments in call to function " +
                             FullName(function) + ": " + std::to_string(function.arguments.size()) +
                             " required but " + std::to_string(call.arguments.size()) +
                             " provided");
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const DataType& wanted = function.arguments[i];
    LS_ASSIGN_OR_RETURN(const Match match, MatchType(call.arguments[i], wanted));
    if (match != Match::kNo) continue;
    return CqlError::Invalid("Type error: " + ShownText(Shown(call.arguments[i], nullptr)) +
                             " cannot be passed as argument " + std::to_string(i) +
                             " of function " + FullName(function) + " of type " +
                             wanted.ToString());
  }
  return function;
}

// count, min and max, which there are of every type.
CqlOr<NativeFunction> Binder::ResolveAggregate(const FunctionCall& call) const {
  const std::string& name = call.function.name;
  if (call.arguments.size() != 1) {
    return CqlError::Server(name + "() function requires only 1 argument");
  }
  LS_ASSIGN_OR_RETURN(const std::optional<DataType> type, TypeOf(call.arguments[0]));
  if (!type) {
    return CqlError::Invalid(name + "() function is only valid when argument types are known");
  }
  return *AggregateOf(call.function, *type);
}

CqlOr<NativeFunction> Binder::ResolveToJson(const FunctionCall& call) const {
  if (call.arguments.size() != 1) return CqlError::Invalid("toJson() accepts 1 argument only");
  LS_ASSIGN_OR_RETURN(const std::optional<DataType> type, TypeOf(call.arguments[0]));
  if (type) return ToJsonOf(*type);
  return CqlError::Invalid("toJson() is only valid when its argument type is known");
}

CqlOr<NativeFunction> Binder::ResolveFromJson(const FunctionCall& call,
                                              const DataType* wanted) const {
  if (call.arguments.size() != 1) return CqlError::Invalid("fromJson() accepts 1 argument only");
  if (wanted == nullptr) {
    return CqlError::Invalid("fromJson() can only be called if receiver type is known");
  }
  return OnlySignature(FromJsonTo(*wanted, table_ == nullptr ? keyspace_ : table_->keyspace), call);
}

CqlOr<NativeFunction> Binder::ResolveCall(const FunctionCall& call, const DataType* wanted) const {
  if (IsToJson(call.function)) return ResolveToJson(call);
  if (IsFromJson(call.function)) return ResolveFromJson(call, wanted);
  if (AggregateOf(call.function, CqlType::kBlob)) return ResolveAggregate(call);
  const std::vector<NativeFunction> candidates = FindNativeFunctions(call.function, table_.get());
  if (candidates.empty()) return RefuseCall(call.function);
  if (!dialect_.has_date_of && IsDateOf(call.function.name)) {
    return CqlError::Invalid("Unknown function '" + NameText(call.function) + "'");
  }
  if (candidates.size() == 1) return OnlySignature(candidates[0], call);
  std::vector<NativeFunction> compatible;
  for (const NativeFunction& candidate : candidates) {
    LS_ASSIGN_OR_RETURN(const Match match, MatchArguments(candidate, call));
    if (match == Match::kExact) return candidate;
    if (match == Match::kWeak) compatible.push_back(candidate);
  }
  if (compatible.size() == 1) return compatible[0];
  if (compatible.empty()) {
    return CqlError::Invalid("Invalid call to function " + NameText(call.function) +
                             ", none of its type signatures match (known type signatures: " +
                             SignatureTexts(candidates) + ")");
  }
  return CqlError::Invalid("Ambiguous call to function " + NameText(call.function) +
                           " (can be matched by following signatures: " +
                           SignatureTexts(compatible) + "): use type casts to disambiguate");
}

CqlOr<Operand> Binder::BindCall(const FunctionCall& call, const DataType& type,
                                std::string_view receiver) {
  LS_ASSIGN_OR_RETURN(NativeFunction function, ResolveCall(call, &type));
  if (!IsCompatible(function.result, type)) {
    return CqlError::Invalid("Type error: cannot assign result of function " + FullName(function) +
                             " (type " + function.result.ToString() + ") to " +
                             std::string(receiver) + " (type " + type.ToString() + ")");
  }
  // Source: ScyllaDB cql3/expr/expression.cc, verify_no_aggregate_functions.
  if (function.is_aggregate()) {
    return CqlError::Invalid("Aggregation functions are not supported in the " +
                             std::string(clause_));
  }
  std::vector<Operand> arguments;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string name = ArgumentName(function, i);
    LS_ASSIGN_OR_RETURN(Operand argument,
                        Bind(call.arguments[i], function.arguments[i], name, name));
    arguments.push_back(std::move(argument));
  }
  Operand operand;
  operand.type = type;
  operand.receiver = receiver;
  return Compute(std::move(function), std::move(arguments), std::move(operand));
}

CqlOr<Operand> Binder::Compute(NativeFunction function, std::vector<Operand> arguments,
                               Operand operand) {
  const auto is_constant = [](const Operand& argument) { return !argument.marker; };
  if (function.is_pure() && std::ranges::all_of(arguments, is_constant)) {
    std::vector<std::optional<std::string_view>> values;
    for (const Operand& argument : arguments) values.emplace_back(argument.constant);
    LS_ASSIGN_OR_RETURN(operand.constant, EvaluateFunction(function, values, nullptr));
    return operand;
  }
  const auto is_pure = [&](const Operand& argument) {
    return !argument.marker || *argument.marker < markers_.size() ||
           computed_[*argument.marker - markers_.size()].is_pure;
  };
  ComputedValue computed;
  computed.is_pure = function.is_pure() && std::ranges::all_of(arguments, is_pure);
  computed.function = std::move(function);
  computed.arguments = std::move(arguments);
  operand.marker = static_cast<uint32_t>(markers_.size() + computed_.size());
  computed_.push_back(std::move(computed));
  return operand;
}

CqlOr<Operand> Binder::BindCast(const TypeCast& cast, const DataType& type,
                                std::string_view receiver) {
  LS_ASSIGN_OR_RETURN(const DataType from, ToDataType(cast.type, keyspace_));
  LS_ASSIGN_OR_RETURN(const Match match, MatchType(cast.operand[0], from));
  LS_RETURN_IF_ERROR(CheckCast(cast, from, match != Match::kNo, type, receiver));
  const std::string name = "(" + from.ToString() + ")" + ShownInMessage(cast.operand[0]);
  return Bind(cast.operand[0], from, name, name);
}

}  // namespace liststore::cql
