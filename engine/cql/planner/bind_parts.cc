// Values of lists, sets, maps, tuples and user types whose parts are bound or computed, and fields
// of tuples that are bound whole. Methods of Binder.
#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/values/encode_value.h"
#include "engine/cql/values/json_row.h"
#include "engine/cql/values/literal.h"

namespace liststore::cql {

// Source of the words: ScyllaDB cql3/expr/prepare_expr.cc.
CqlOr<size_t> FindField(const FieldAccess& access, const DataType& structure) {
  const std::string shown = ToString(access.operand[0]);
  if (structure.kind() != DataType::Kind::kUser) {
    return CqlError::Invalid("Invalid field selection: " + shown + " of type " +
                             structure.ToString() + " is not a user type");
  }
  const std::vector<std::string>& fields = structure.user().fields;
  const auto at = std::ranges::find(fields, access.field);
  if (at == fields.end()) {
    return CqlError::Invalid(shown + " of type " + structure.ToString() + " has no field " +
                             access.field);
  }
  return static_cast<size_t>(at - fields.begin());
}

Operand FieldNumber(size_t field, std::string_view receiver) {
  Operand number;
  number.type = CqlType::kInt;
  number.receiver = receiver;
  number.constant = EncodeInt(static_cast<int32_t>(field));
  return number;
}

CqlOr<Operand> Binder::BindParts(const Expression& expression, const DataType& type,
                                 std::string_view receiver) {
  const auto fits = [this](const Expression& part, const DataType& wanted) -> CqlOr<bool> {
    LS_ASSIGN_OR_RETURN(const Match match, MatchType(part, wanted));
    return match != Match::kNo;
  };
  LS_ASSIGN_OR_RETURN(const std::vector<LiteralPart> parts,
                      PartsOf(expression, type, receiver, fits));
  std::vector<Operand> arguments;
  for (const LiteralPart& part : parts) {
    Operand argument;  // null
    argument.type = part.type;
    argument.receiver = part.receiver;
    if (part.value != nullptr) {
      LS_ASSIGN_OR_RETURN(argument, Bind(*part.value, part.type, part.receiver, part.receiver));
    }
    arguments.push_back(std::move(argument));
  }
  return ComputeOf(NativeFunction::Kind::kParts, type, std::move(arguments), receiver);
}

CqlOr<Operand> Binder::BindField(const Operand& tuple, size_t field,
                                 const ColumnDefinition& column) {
  return ComputeOf(NativeFunction::Kind::kField, column.type,
                   {tuple, FieldNumber(field, tuple.receiver)}, column.name);
}

CqlOr<Operand> Binder::BindJsonRow(const Expression& text) {
  LS_CHECK(table_ != nullptr, "a row is of the table that was found");
  LS_ASSIGN_OR_RETURN(const Operand json, Bind(text, CqlType::kText, "", ""));
  LS_ASSIGN_OR_RETURN(Operand row, ComputeOf(NativeFunction::Kind::kJsonRow, ColumnsOfRow(*table_),
                                             {json}, "[json]"));
  row.type = CqlType::kBlob;  // of a form of its own
  return row;
}

CqlOr<Operand> Binder::BindJsonCell(const Operand& row, const ColumnDefinition& column,
                                    NativeFunction::Kind kind) {
  const auto position = static_cast<size_t>(&column - table_->columns.data());
  NativeFunction function;
  function.kind = kind;
  function.name = column.name;
  function.arguments = {row.type, CqlType::kInt};
  function.result = column.type;
  Operand operand;
  operand.type = column.type;
  operand.receiver = column.name;
  return Compute(std::move(function), {row, FieldNumber(position, column.name)},
                 std::move(operand));
}

CqlOr<Operand> Binder::ComputeOf(NativeFunction::Kind kind, const DataType& result,
                                 std::vector<Operand> arguments, std::string_view receiver) {
  NativeFunction function;
  function.kind = kind;
  for (const Operand& argument : arguments) function.arguments.push_back(argument.type);
  function.result = result;
  Operand operand;
  operand.type = result;
  operand.receiver = receiver;
  return Compute(std::move(function), std::move(arguments), std::move(operand));
}

}  // namespace liststore::cql
