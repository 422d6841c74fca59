#include "engine/cql/literal.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/shown_text.h"
#include "engine/model/composite_value.h"
#include "engine/model/cql_type.h"

namespace liststore {
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
                           ShownText(ToString(element)) + " is not of type " + type.ToString());
}

CqlError WrongLiteral(std::string_view what, std::string_view receiver, const DataType& type) {
  return CqlError::Invalid("Invalid " + std::string(what) + " literal for " +
                           std::string(receiver) + " of type " + type.ToString());
}

// A list, a set, or a map whose keys and values come in turn.
CqlOr<MaybeValue> EncodeElements(std::string_view what, const std::vector<Expression>& elements,
                                 const DataType& type, std::string_view receiver) {
  const std::vector<DataType>& parameters = type.parameters();
  const bool is_map = type.kind() == Kind::kMap;
  const auto role_of = [is_map](size_t i) { return is_map && i % 2 == 0 ? "key" : "value"; };
  for (size_t i = 0; i < elements.size(); ++i) {
    const DataType& element_type = parameters[i % parameters.size()];
    if (!IsAssignable(elements[i], element_type)) {
      return NotAssignable(what, receiver, role_of(i), elements[i], element_type);
    }
  }
  const std::string value_receiver = ElementReceiver(receiver);
  const std::string key_receiver = KeyReceiver(receiver);
  std::vector<std::string> encoded;
  encoded.reserve(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    CqlOr<MaybeValue> value = EncodeLiteral(elements[i], parameters[i % parameters.size()],
                                            is_map && i % 2 == 0 ? key_receiver : value_receiver);
    if (!value.ok()) return value.status();
    if (!value->has_value()) return CqlError::Invalid("null is not supported inside collections");
    encoded.push_back(**std::move(value));
  }
  return MaybeValue(EncodeCollection(type, std::move(encoded)));
}

CqlOr<MaybeValue> EncodeFields(const std::vector<Expression>& elements, const DataType& type,
                               std::string_view receiver) {
  const std::vector<DataType>& fields = type.parameters();
  if (elements.size() > fields.size()) {
    return CqlError::Invalid("Invalid tuple literal for " + std::string(receiver) +
                             ": too many elements. Type " + type.ToString() + " expects " +
                             std::to_string(fields.size()) + " but got " +
                             std::to_string(elements.size()));
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!IsAssignable(elements[i], fields[i])) {
      return CqlError::Invalid("Invalid tuple literal for " + std::string(receiver) +
                               ": component " + std::to_string(i) + " is not of type " +
                               fields[i].ToString());
    }
  }
  std::vector<MaybeValue> encoded;
  for (size_t i = 0; i < elements.size(); ++i) {
    CqlOr<MaybeValue> value = EncodeLiteral(elements[i], fields[i], FieldReceiver(receiver, i));
    if (!value.ok()) return value.status();
    encoded.push_back(*std::move(value));
  }
  return MaybeValue(EncodeTuple(encoded));
}

// Fields that are not said are null.
CqlOr<MaybeValue> EncodeUserType(const UserTypeLiteral& literal, const DataType& type,
                                 std::string_view receiver) {
  if (type.kind() != Kind::kUser) return WrongLiteral("user type", receiver, type);
  const std::vector<std::string>& fields = type.user().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Expression* value = FindField(literal, fields[i]);
    if (value == nullptr || IsAssignable(*value, type.parameters()[i])) continue;
    return CqlError::Invalid("Invalid user type literal for " + std::string(receiver) + ": field " +
                             fields[i] + " is not of type " + type.parameters()[i].ToString());
  }
  std::vector<MaybeValue> encoded(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const Expression* value = FindField(literal, fields[i]);
    if (value == nullptr) continue;
    LS_ASSIGN_OR_RETURN(encoded[i], EncodeLiteral(*value, type.parameters()[i],
                                                  std::string(receiver) + "." + fields[i]));
  }
  for (const std::string& field : literal.fields) {
    if (std::ranges::count(fields, field) != 0) continue;
    return CqlError::Invalid("Unknown field '" + field + "' in value of user defined type " +
                             type.user().name);
  }
  return MaybeValue(EncodeTuple(encoded));
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
    return type.is_native() && IsConstantOf(*constant, type.native());
  }
  if (literal.Is<NullConstant>()) return !type.is(CqlType::kCounter);
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
    return type.kind() == Kind::kTuple && tuple->elements.size() <= type.parameters().size() &&
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
    return CqlError::Invalid("Cannot cast value " + ShownText(ToString(operand)) + " to type " +
                             from.ToString());
  }
  if (IsCompatible(from, type)) return {};
  return CqlError::Invalid("Cannot assign value " + ShownText(ToString(operand)) + " of type " +
                           from.ToString() + " to " + std::string(receiver) + " of type " +
                           type.ToString());
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
  if (const auto* list = literal.As<ListLiteral>()) {
    if (type.kind() != Kind::kList) return WrongLiteral("list", receiver, type);
    return EncodeElements("list", list->elements, type, receiver);
  }
  if (const auto* set = literal.As<SetLiteral>()) {
    const bool empty_map = type.kind() == Kind::kMap && set->elements.empty();
    if (type.kind() != Kind::kSet && !empty_map) return WrongLiteral("set", receiver, type);
    return EncodeElements("set", set->elements, type, receiver);
  }
  if (const auto* map = literal.As<MapLiteral>()) {
    if (type.kind() != Kind::kMap) return WrongLiteral("map", receiver, type);
    return EncodeElements("map", map->keys_and_values, type, receiver);
  }
  if (const auto* tuple = literal.As<TupleLiteral>()) {
    if (type.kind() != Kind::kTuple) return WrongLiteral("tuple type", receiver, type);
    return EncodeFields(tuple->elements, type, receiver);
  }
  if (const auto* cast = literal.As<TypeCast>()) return EncodeCast(*cast, type, receiver);
  const auto* user = literal.As<UserTypeLiteral>();
  LS_CHECK(user != nullptr, "literals only: the caller has asked IsLiteral");
  return EncodeUserType(*user, type, receiver);
}

}  // namespace liststore
