#include "engine/cql/planner/plan_selector.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/cast_value.h"
#include "engine/cql/values/encode_json.h"
#include "engine/cql/values/literal.h"

namespace liststore::cql {
namespace {

using Kind = Selection::Kind;

uint16_t PositionOf(const TableDefinition& table, const ColumnDefinition& column) {
  return static_cast<uint16_t>(&column - table.columns.data());
}

CqlOr<const ColumnDefinition*> FindColumn(const TableDefinition& table, const std::string& name) {
  const ColumnDefinition* column = table.FindColumn(name);
  if (column == nullptr) return CqlError::Invalid("Unrecognized name " + name);
  return column;
}

Selection Named(Kind kind, std::string name, DataType type) {
  Selection selection;
  selection.kind = kind;
  selection.name = std::move(name);
  selection.type = std::move(type);
  return selection;
}

Kind AggregateKind(NativeFunction::Kind kind) {
  switch (kind) {
    case NativeFunction::Kind::kCount:
      return Kind::kCountValues;
    case NativeFunction::Kind::kMin:
      return Kind::kMin;
    case NativeFunction::Kind::kMax:
      return Kind::kMax;
    case NativeFunction::Kind::kSum:
      return Kind::kSum;
    default:
      LS_CHECK(kind == NativeFunction::Kind::kAvg, "aggregates are these five");
      return Kind::kAvg;
  }
}

// Plans the parts of one selector.
class SelectorPlanner {
 public:
  SelectorPlanner(const TableDefinition& table, Binder& binder) : table_(table), binder_(binder) {}

  CqlOr<Selection> Plan(const Expression& expression) {
    if (const auto* name = expression.As<ColumnName>()) {
      LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table_, name->name));
      return SelectColumn(table_, *column);
    }
    if (expression.Is<CountRows>()) return Count();
    if (const auto* attribute = expression.As<CellAttribute>()) return CellAttributeOf(*attribute);
    if (const auto* call = expression.As<FunctionCall>()) return Call(*call);
    if (const auto* cast = expression.As<SelectorCast>()) return Cast(*cast);
    if (const auto* access = expression.As<FieldAccess>()) return Field(*access);
    if (const auto* access = expression.As<ElementAccess>()) return Element(*access);
    LS_ASSIGN_OR_RETURN(const DataType type, binder_.KnownTypeOf(expression));
    return Value(expression, type, "cast" + ToString(expression));
  }

 private:
  static Selection Count() { return Named(Kind::kCountRows, "count", CqlType::kBigint); }

  CqlOr<Selection> CellAttributeOf(const CellAttribute& attribute) {
    const bool is_ttl = attribute.kind == CellAttribute::Kind::kTtl;
    const Expression& operand = attribute.operand[0];
    if (const auto* access = operand.As<ElementAccess>()) return OfElement(*access, is_ttl);
    if (const auto* access = operand.As<FieldAccess>()) return OfField(*access, is_ttl);
    const auto* name = operand.As<ColumnName>();
    LS_CHECK(name != nullptr, "the parser takes columns and their parts");
    LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table_, name->name));
    // Source of the words: ScyllaDB cql3/expr/prepare_expr.cc.
    if (column->type.is_multi_cell()) {
      return CqlError::Invalid(std::string(is_ttl ? "TTL" : "WRITETIME") +
                               " expects an atomic column, but " + column->name +
                               " is a non-frozen collection");
    }
    if (column->is_key()) {
      return CqlError::Invalid(std::string(is_ttl ? "TTL" : "WRITETIME") +
                               " is not legal on partition key component " + column->name);
    }
    Selection selection =
        is_ttl ? Named(Kind::kTtl, "ttl(" + column->name + ")", CqlType::kInt)
               : Named(Kind::kWriteTime, "writetime(" + column->name + ")", CqlType::kBigint);
    selection.column = PositionOf(table_, *column);
    return selection;
  }

  // The column that a part whose time is asked for is of. `part`: what the message calls it.
  // Source: ScyllaDB cql3/expr/prepare_expr.cc, prepare_column_mutation_attribute.
  CqlOr<const ColumnDefinition*> ColumnOfPart(const Expression& whole, std::string_view attribute,
                                              std::string_view part) const {
    const std::string what = std::string(attribute);
    const auto* name = whole.As<ColumnName>();
    if (name == nullptr) {
      return CqlError::Invalid(what + " on a " + std::string(part) + " expects a column, got " +
                               ToString(whole));
    }
    LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table_, name->name));
    if (!column->is_key()) return column;
    return CqlError::Invalid(what + " is not legal on primary key component " + column->name);
  }

  // WRITETIME(u.f), TTL(u.f).
  CqlOr<Selection> OfField(const FieldAccess& access, bool is_ttl) {
    const std::string attribute = is_ttl ? "TTL" : "WRITETIME";
    LS_ASSIGN_OR_RETURN(const Selection field, Field(access));
    LS_ASSIGN_OR_RETURN(const ColumnDefinition* column,
                        ColumnOfPart(access.operand[0], attribute, "field selection"));
    if (!column->type.is_multi_cell()) {
      return CqlError::Invalid(attribute +
                               " on a field selection is only valid for non-frozen UDT columns");
    }
    return OfPart(*column, field.name, field.operands[1], is_ttl);
  }

  // WRITETIME(m[k]), TTL(s[k]). The positions of lists' elements are no keys: they have none.
  CqlOr<Selection> OfElement(const ElementAccess& access, bool is_ttl) {
    const Expression& whole = access.operand_and_key[0];
    const Expression& key = access.operand_and_key[1];
    const std::string attribute = is_ttl ? "TTL" : "WRITETIME";
    LS_ASSIGN_OR_RETURN(const ColumnDefinition* column,
                        ColumnOfPart(whole, attribute, "subscript"));
    const bool is_set = column->type.kind() == DataType::Kind::kSet;
    if (!is_set) LS_RETURN_IF_ERROR(CheckHasElements(column->name, column->type));
    if (!column->type.is_multi_cell() || column->type.kind() == DataType::Kind::kList) {
      return CqlError::Invalid(attribute +
                               " on a subscript is only valid for non-frozen map or set columns");
    }
    const std::string receiver = is_set ? ElementReceiver(column->name) : KeyReceiver(column->name);
    Selection place = Named(Kind::kValue, {}, column->type.parameters()[0]);
    LS_ASSIGN_OR_RETURN(place.value, binder_.Bind(key, place.type, receiver, receiver));
    return OfPart(*column, column->name + "[" + ToString(key) + "]", std::move(place), is_ttl);
  }

  // Of a cell of `column`, that at the element, key or number of a field that `place` is.
  Selection OfPart(const ColumnDefinition& column, const std::string& part, Selection place,
                   bool is_ttl) const {
    Selection selection =
        is_ttl ? Named(Kind::kTtl, "ttl(" + part + ")", CqlType::kInt)
               : Named(Kind::kWriteTime, "writetime(" + part + ")", CqlType::kBigint);
    selection.column = PositionOf(table_, column);
    selection.operands.push_back(std::move(place));
    return selection;
  }

  // A literal, a marker, or a cast of one.
  CqlOr<Selection> Value(const Expression& expression, const DataType& type,
                         std::string_view receiver) {
    Selection selection = Named(Kind::kValue, ToString(expression), type);
    LS_ASSIGN_OR_RETURN(selection.value, binder_.Bind(expression, type, receiver, receiver));
    return selection;
  }

  // One that is wanted as a `type`, where its own does not count.
  CqlOr<Selection> Argument(const Expression& expression, const DataType& type,
                            const std::string& receiver) {
    if (const auto* call = expression.As<FunctionCall>();
        call != nullptr && IsFromJson(call->function)) {
      return Call(*call, &type);
    }
    LS_ASSIGN_OR_RETURN(const std::optional<DataType> own, binder_.TypeOf(expression));
    if (own && !expression.Is<TypeCast>()) return Plan(expression);
    return Value(expression, type, receiver);
  }

  // liststore.writetimes(c), ttls(c) and timeuuids(c), for tools that copy tables: ScyllaDB tells
  // such things of one element at a time, and of those of lists not at all.
  CqlOr<Selection> OfElements(const FunctionCall& call) {
    const std::string name = call.function.keyspace + "." + call.function.name;
    const auto* const operand =
        call.arguments.size() == 1 ? call.arguments[0].As<ColumnName>() : nullptr;
    if (operand == nullptr) return CqlError::Invalid(name + " takes one column");
    LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table_, operand->name));
    const auto [kind, type] =
        call.function.name == "writetimes" ? std::pair(Kind::kWriteTimes, CqlType::kBigint)
        : call.function.name == "ttls"     ? std::pair(Kind::kTtls, CqlType::kInt)
                                           : std::pair(Kind::kTimeuuids, CqlType::kTimeuuid);
    if (!column->type.is_multi_cell() ||
        (kind == Kind::kTimeuuids && column->type.kind() != DataType::Kind::kList)) {
      return CqlError::Invalid(name + " takes a " +
                               (kind == Kind::kTimeuuids ? "list" : "collection or user type") +
                               " that is not frozen, which " + column->name + " of type " +
                               column->type.ToString() + " is not");
    }
    Selection selection = Named(kind, name + "(" + column->name + ")", DataType::List(type));
    selection.column = PositionOf(table_, *column);
    return selection;
  }

  // `wanted`: as Binder::ResolveCall has it.
  CqlOr<Selection> Call(const FunctionCall& call, const DataType* wanted = nullptr) {
    if (call.function.name == "count" && call.arguments.size() == 1 &&
        call.arguments[0].Is<Constant>()) {
      return Count();
    }
    const std::string& name = call.function.name;
    if (call.function.keyspace == "liststore" &&
        (name == "writetimes" || name == "ttls" || name == "timeuuids")) {
      return OfElements(call);
    }
    LS_ASSIGN_OR_RETURN(NativeFunction function, binder_.ResolveCall(call, wanted));
    Selection selection = Named(Kind::kCall, FullName(function) + "(", function.result);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      LS_ASSIGN_OR_RETURN(Selection operand, Argument(call.arguments[i], function.arguments[i],
                                                      ArgumentName(function, i)));
      if (i != 0) selection.name += ", ";
      selection.name += operand.name;
      selection.operands.push_back(std::move(operand));
    }
    selection.name += ")";
    if (function.is_aggregate()) {
      selection.kind = AggregateKind(function.kind);
    } else if (IsTokenOfRow(function, selection)) {
      selection.kind = Kind::kToken;
      selection.operands.clear();
    }
    selection.function = std::move(function);
    return selection;
  }

  // Is it that of the row's own key?
  bool IsTokenOfRow(const NativeFunction& function, const Selection& selection) const {
    if (function.kind != NativeFunction::Kind::kToken) return false;
    for (size_t i = 0; i < selection.operands.size(); ++i) {
      // The partition key comes first in a table.
      if (selection.operands[i].kind != Kind::kColumn || selection.operands[i].column != i) {
        return false;
      }
    }
    return true;
  }

  CqlOr<Selection> Field(const FieldAccess& access) {
    LS_ASSIGN_OR_RETURN(Selection operand, Plan(access.operand[0]));
    LS_ASSIGN_OR_RETURN(const size_t field, FindField(access, operand.type));
    Selection selection =
        Named(Kind::kCall, operand.name + "." + access.field, operand.type.parameters()[field]);
    Selection number = Named(Kind::kValue, {}, CqlType::kInt);
    number.value = FieldNumber(field, operand.name);
    selection.function.kind = NativeFunction::Kind::kField;
    selection.function.arguments = {operand.type, number.type};
    selection.function.result = selection.type;
    selection.operands = {std::move(operand), std::move(number)};
    return selection;
  }

  CqlOr<Selection> Element(const ElementAccess& access) {
    const Expression& key = access.operand_and_key[1];
    LS_ASSIGN_OR_RETURN(Selection operand, Plan(access.operand_and_key[0]));
    LS_RETURN_IF_ERROR(CheckHasElements(operand.name, operand.type));
    if (binder_.dialect().refuses_elements_of_lists &&
        operand.type.kind() == DataType::Kind::kList) {
      return CqlError::Invalid("Element selection is only allowed on sets and maps, but " +
                               operand.name + " is a list");
    }
    Selection selection = Named(Kind::kCall, operand.name + "[" + ToString(key) + "]",
                                operand.type.parameters().back());
    Selection index = Named(Kind::kValue, {}, CqlType::kInt);
    LS_ASSIGN_OR_RETURN(index.value, BindElementKey(key, operand.name, operand.type, binder_));
    index.type = index.value.type;
    selection.function.kind = NativeFunction::Kind::kElement;
    selection.function.arguments = {operand.type, index.type};
    selection.function.result = selection.type;
    selection.operands = {std::move(operand), std::move(index)};
    return selection;
  }

  CqlOr<Selection> Cast(const SelectorCast& cast) {
    const Expression& expression = cast.operand[0];
    LS_ASSIGN_OR_RETURN(const std::optional<DataType> from, binder_.TypeOf(expression));
    if (!from) {
      return CqlError::Invalid("Could not infer type of cast argument " + ToString(expression));
    }
    LS_ASSIGN_OR_RETURN(Selection operand, Argument(expression, *from, ToString(expression)));
    if (operand.type.is(cast.type)) return operand;
    LS_ASSIGN_OR_RETURN(NativeFunction function, FindCast(*from, cast.type));
    Selection selection = Named(
        Kind::kCall, "cast(" + operand.name + " as " + function.result.ToString() + ")", cast.type);
    selection.function = std::move(function);
    selection.operands.push_back(std::move(operand));
    return selection;
  }

  const TableDefinition& table_;
  Binder& binder_;
};

}  // namespace

Selection SelectAsJson(std::vector<Selection> selections) {
  std::vector<std::string> names;
  NativeFunction row;
  row.kind = NativeFunction::Kind::kParts;
  for (const Selection& selection : selections) {
    names.push_back(selection.name);
    row.arguments.push_back(selection.type);
  }
  row.result = JsonRowType(names, row.arguments);
  Selection parts = Named(Kind::kCall, {}, row.result);
  parts.function = std::move(row);
  parts.operands = std::move(selections);
  Selection json = Named(Kind::kCall, "[json]", CqlType::kText);
  json.function = ToJsonOf(parts.type);
  json.operands.push_back(std::move(parts));
  return json;
}

Selection SelectColumn(const TableDefinition& table, const ColumnDefinition& column) {
  Selection selection = Named(Kind::kColumn, column.name, column.type);
  selection.column = PositionOf(table, column);
  return selection;
}

CqlOr<Selection> PlanSelector(const Expression& expression, const TableDefinition& table,
                              Binder& binder) {
  return SelectorPlanner(table, binder).Plan(expression);
}

}  // namespace liststore::cql
