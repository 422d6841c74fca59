#include "engine/cql/values/literal.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/cql_type.h"

namespace liststore::cql {
namespace {

using Kind = DataType::Kind;
using MaybeValue = std::optional<std::string>;

bool AreAssignable(const std::vector<Expression>& elements, const DataType& type) {
  const std::vector<DataType>& parameters = type.parameters();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!IsAssignable(elements[i], parameters[i % parameters.size()])) return false;
  }
  return true;
}

// What the literal says of a field; nullptr: nothing.
const Expression* FindField(const UserTypeLiteral& literal, std::string_view field) {
  const auto at = std::ranges::find(literal.fields, field);
  if (at == literal.fields.end()) return nullptr;
  return &literal.values[static_cast<size_t>(at - literal.fields.begin())];
}

bool AreFieldsAssignable(const UserTypeLiteral& literal, const DataType& type) {
  const std::vector<std::string>& fields = type.user().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Expression* value = FindField(literal, fields[i]);
    if (value != nullptr && !IsAssignable(*value, type.parameters()[i])) return false;
  }
  return true;
}

CqlError NotAssignable(std::string_view what, std::string_view receiver, std::string_view role,
                       const Expression& element, const DataType& type) {
  return CqlError::Invalid("Invalid " + std::string(what) + " literal for " +
                           std::string(receiver) + ": " + std::string(role) + " " +
                           ShownText(ShownInMessage(element)) + " is not of type " +
                           type.ToString());
}

CqlError WrongLiteral(std::string_view what, std::string_view receiver, const DataType& type) {
  return CqlError::Invalid("Invalid " + std::string(what) + " literal for " +
                           std::string(receiver) + " of type " + type.ToString());
}

using Parts = std::vector<LiteralPart>;

// Of a list, a set, or a map whose keys and values come in turn.
CqlOr<Parts> ElementsOf(std::string_view what, const std::vector<Expression>& elements,
                        const DataType& type, std::string_view receiver, FitsType fits) {
  const std::vector<DataType>& parameters = type.parameters();
  const bool is_map = type.kind() == Kind::kMap;
  Parts parts;
  for (size_t i = 0; i < elements.size(); ++i) {
    const DataType& element = parameters[i % parameters.size()];
    const bool is_key = is_map && i % 2 == 0;
    LS_ASSIGN_OR_RETURN(const bool assignable, fits(elements[i], element));
    if (!assignable) {
      return NotAssignable(what, receiver, is_key ? "key" : "value", elements[i], element);
    }
    parts.push_back(
        {&elements[i], element, is_key ? KeyReceiver(receiver) : ElementReceiver(receiver)});
  }
  return parts;
}

CqlOr<Parts> FieldsOf(const TupleLiteral& tuple, const DataType& type, std::string_view receiver,
                      FitsType fits) {
  if (!type.has_fields()) return WrongLiteral("tuple type", receiver, type);
  const std::vector<DataType>& fields = type.parameters();
  if (tuple.elements.size() > fields.size()) {
    return CqlError::Invalid("Invalid tuple literal for " + std::string(receiver) +
                             ": too many elements. Type " + type.ToString() + " expects " +
                             std::to_string(fields.size()) + " but got " +
                             std::to_string(tuple.elements.size()));
  }
  Parts parts;
  for (size_t i = 0; i < tuple.elements.size(); ++i) {
    LS_ASSIGN_OR_RETURN(const bool assignable, fits(tuple.elements[i], fields[i]));
    if (!assignable) {
      return CqlError::Invalid("Invalid tuple literal for " + std::string(receiver) +
                               ": component " + std::to_string(i) + " is not of type " +
                               fields[i].ToString());
    }
    parts.push_back({&tuple.elements[i], fields[i], FieldReceiver(receiver, i)});
  }
  return parts;
}

// One for each field of the type.
CqlOr<Parts> FieldsOf(const UserTypeLiteral& literal, const DataType& type,
                      std::string_view receiver, FitsType fits) {
  if (type.kind() != Kind::kUser) return WrongLiteral("user type", receiver, type);
  const std::vector<std::string>& fields = type.user().fields;
  Parts parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    const DataType& field = type.parameters()[i];
    const Expression* value = FindField(literal, fields[i]);
    bool assignable = true;
    if (value != nullptr) {
      LS_ASSIGN_OR_RETURN(assignable, fits(*value, field));
    }
    if (!assignable) {
      return CqlError::Invalid("Invalid user type literal for " + std::string(receiver) +
                               ": field " + fields[i] + " is not of type " + field.ToString());
    }
    parts.push_back({value, field, std::string(receiver) + "." + fields[i]});
  }
  for (const std::string& field : literal.fields) {
    if (std::ranges::count(fields, field) != 0) continue;
    return CqlError::Invalid("Unknown field '" + field + "' in value of user defined type " +
                             type.user().name);
  }
  return parts;
}

CqlOr<MaybeValue> EncodeCast(const TypeCast& cast, const DataType& type,
                             std::string_view receiver) {
  CqlOr<DataType> from = ToDataType(cast.type, "");
  if (!from.ok()) return from.status();
  const Expression& operand = cast.operand[0];
  const CqlStatus fits = CheckCast(cast, *from, IsAssignable(operand, *from), type, receiver);
  if (!fits.ok()) return fits.error();
  return EncodeLiteral(operand, *from, receiver);
}

}  // namespace

// Source: ScyllaDB types/types.cc, is_value_compatible_with_internal.
bool IsCompatible(const DataType& from, const DataType& to) {
  if (DataType::Frozen(from) == DataType::Frozen(to) || to.is(CqlType::kBlob)) return true;
  if (!from.is_native() || !to.is_native()) return false;
  const auto is_long = [](const DataType& type) {
    return type.is(CqlType::kBigint) || type.is(CqlType::kTimestamp);
  };
  if (is_long(from) && is_long(to)) return true;
  if (from.is(CqlType::kAscii) && to.is(CqlType::kText)) return true;
  if (from.is(CqlType::kTimeuuid) && to.is(CqlType::kUuid)) return true;
  return to.is(CqlType::kVarint) && (from.is(CqlType::kInt) || is_long(from));
}

// Source: ScyllaDB cql3/expr/prepare_expr.cc, test_assignment.
bool IsAssignable(const Expression& literal, const DataType& type) {
  if (const auto* constant = literal.As<Constant>()) {
    if (type.kind() == Kind::kTuple) return true;  // its text: EncodeTupleText
    return type.is_native() && IsConstantOf(*constant, type.native());
  }
  if (literal.Is<NullConstant>()) return !type.is(CqlType::kCounter);
  if (literal.Is<BindMarker>() || literal.Is<FunctionCall>()) return true;
  if (const auto* list = literal.As<ListLiteral>()) {
    return type.kind() == Kind::kList && AreAssignable(list->elements, type);
  }
  if (const auto* set = literal.As<SetLiteral>()) {
    if (type.kind() == Kind::kMap) return set->elements.empty();
    return type.kind() == Kind::kSet && AreAssignable(set->elements, type);
  }
  if (const auto* map = literal.As<MapLiteral>()) {
    return type.kind() == Kind::kMap && AreAssignable(map->keys_and_values, type);
  }
  if (const auto* tuple = literal.As<TupleLiteral>()) {
    return type.has_fields() && tuple->elements.size() <= type.parameters().size() &&
           AreAssignable(tuple->elements, type);
  }
  if (const auto* user = literal.As<UserTypeLiteral>()) {
    return type.kind() == Kind::kUser && AreFieldsAssignable(*user, type);
  }
  if (const auto* cast = literal.As<TypeCast>()) {
    const CqlOr<DataType> from = ToDataType(cast->type, "");
    return from.ok() && IsCompatible(*from, type);
  }
  return false;
}

CqlStatus CheckCast(const TypeCast& cast, const DataType& from, bool operand_fits,
                    const DataType& type, std::string_view receiver) {
  const Expression& operand = cast.operand[0];
  if (!operand_fits) {
    return CqlError::Invalid("Cannot cast value " + ShownText(ShownInMessage(operand)) +
                             " to type " + from.ToString());
  }
  if (IsCompatible(from, type)) return {};
  return CqlError::Invalid("Cannot assign value " +
                           ShownText("(" + ToString(cast.type) + ") " + ShownInMessage(operand)) +
                           " to " + std::string(receiver) + " of type " + type.ToString());
}

std::string ElementReceiver(std::string_view receiver) {
  return "value(" + std::string(receiver) + ")";
}
std::string KeyReceiver(std::string_view receiver) { return "key(" + std::string(receiver) + ")"; }
std::string FieldReceiver(std::string_view receiver, size_t field) {
  return std::string(receiver) + "[" + std::to_string(field) + "]";
}

CqlOr<MaybeValue> EncodeLiteral(const Expression& literal, const DataType& type,
                                std::string_view receiver) {
  if (const auto* constant = literal.As<Constant>()) {
    if (type.kind() == Kind::kTuple) {
      LS_ASSIGN_OR_RETURN(std::string value, EncodeTupleText(constant->text, type));
      return MaybeValue(std::move(value));
    }
    if (!type.is_native()) return InvalidConstant(*constant, type.ToString(), receiver);
    CqlOr<std::string> value = EncodeConstant(*constant, type.native(), receiver);
    if (!value.ok()) return value.status();
    return MaybeValue(*std::move(value));
  }
  if (literal.Is<NullConstant>()) {
    if (type.is(CqlType::kCounter)) {
      return CqlError::Invalid("Invalid null value for counter increment/decrement");
    }
    return MaybeValue();
  }
  if (const auto* cast = literal.As<TypeCast>()) return EncodeCast(*cast, type, receiver);
  const auto fits = [](const Expression& part, const DataType& wanted) -> CqlOr<bool> {
    return IsAssignable(part, wanted);
  };
  LS_ASSIGN_OR_RETURN(const Parts parts, PartsOf(literal, type, receiver, fits));
  std::vector<MaybeValue> values(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].value == nullptr) continue;
    LS_ASSIGN_OR_RETURN(values[i],
                        EncodeLiteral(*parts[i].value, parts[i].type, parts[i].receiver));
  }
  LS_ASSIGN_OR_RETURN(std::string value, JoinParts(type, std::move(values)));
  return MaybeValue(std::move(value));
}

CqlOr<Parts> PartsOf(const Expression& literal, const DataType& type, std::string_view receiver,
                     FitsType fits) {
  if (const auto* list = literal.As<ListLiteral>()) {
    if (type.kind() != Kind::kList) return WrongLiteral("list", receiver, type);
    return ElementsOf("list", list->elements, type, receiver, fits);
  }
  if (const auto* set = literal.As<SetLiteral>()) {
    const bool empty_map = type.kind() == Kind::kMap && set->elements.empty();
    if (type.kind() != Kind::kSet && !empty_map) return WrongLiteral("set", receiver, type);
    return ElementsOf("set", set->elements, type, receiver, fits);
  }
  if (const auto* map = literal.As<MapLiteral>()) {
    if (type.kind() != Kind::kMap) return WrongLiteral("map", receiver, type);
    return ElementsOf("map", map->keys_and_values, type, receiver, fits);
  }
  if (const auto* tuple = literal.As<TupleLiteral>()) return FieldsOf(*tuple, type, receiver, fits);
  const auto* user = literal.As<UserTypeLiteral>();
  LS_CHECK(user != nullptr, "what has parts is one of these");
  return FieldsOf(*user, type, receiver, fits);
}

namespace {

// Source: ScyllaDB cql3/lists.cc (do_append), types/types.cc (validate_for_storage),
// cql3/expr/expression.cc (evaluate_set, evaluate_map).
CqlError NullInside(const DataType& type) {
  if (type.kind() != Kind::kList) {
    return CqlError::Invalid("null is not supported inside collections");
  }
  return CqlError::Invalid(type.is_frozen() ? "Cannot store NULL in list or set"
                                            : "Invalid NULL element in list");
}

}  // namespace

CqlOr<std::string> JoinParts(const DataType& type, std::vector<MaybeValue> parts) {
  if (type.has_fields()) return EncodeTuple(parts);
  std::vector<std::string> elements;
  for (MaybeValue& part : parts) {
    if (!part) return NullInside(type);
    elements.push_back(*std::move(part));
  }
  return EncodeCollection(type, std::move(elements));
}

}  // namespace liststore::cql
