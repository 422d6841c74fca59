#include "engine/cql/literal.h"

#include <algorithm>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/cql/shown_text.h"
#include "engine/model/cql_type.h"

namespace liststore {
namespace {

using Kind = DataType::Kind;
using MaybeValue = std::optional<std::string>;

constexpr size_t kLengthBytes = 4;

bool AreAssignable(const std::vector<Expression>& elements, const DataType& type) {
  const std::vector<DataType>& parameters = type.parameters();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!IsAssignable(elements[i], parameters[i % parameters.size()])) return false;
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

CqlOr<MaybeValue> EncodeCast(const TypeCast& cast, const DataType& type,
                             std::string_view receiver) {
  CqlOr<DataType> from = ToDataType(cast.type, "");
  if (!from.ok()) return from.status();
  const Expression& operand = cast.operand[0];
  const CqlStatus fits = CheckCast(cast, *from, IsAssignable(operand, *from), type, receiver);
  if (!fits.ok()) return fits.error();
  return EncodeLiteral(operand, *from, receiver);
}

int CompareElements(const DataType& type, std::string_view a, std::string_view b) {
  const std::optional<std::vector<std::string_view>> left = SplitCollection(type, a);
  const std::optional<std::vector<std::string_view>> right = SplitCollection(type, b);
  LS_CHECK(left && right, "values are validated before they are compared");
  const size_t common = std::min(left->size(), right->size());
  for (size_t i = 0; i < common; ++i) {
    const DataType& element = type.parameters()[i % type.parameters().size()];
    if (const int order = CompareValues(element, (*left)[i], (*right)[i])) return order;
  }
  return left->size() < right->size() ? -1 : left->size() > right->size() ? 1 : 0;
}

int CompareFields(const DataType& type, std::string_view a, std::string_view b) {
  const auto left = SplitTuple(type, a);
  const auto right = SplitTuple(type, b);
  LS_CHECK(left && right, "values are validated before they are compared");
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    const auto& field_a = (*left)[i];
    const auto& field_b = (*right)[i];
    if (!field_a || !field_b) {
      if (field_a.has_value() != field_b.has_value()) return field_a.has_value() ? 1 : -1;
      continue;
    }
    if (const int order = CompareValues(type.parameters()[i], *field_a, *field_b)) return order;
  }
  return 0;
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
  LS_DCHECK(literal.Is<UserTypeLiteral>(), "literals only: the caller has asked IsLiteral");
  return WrongLiteral("user type", receiver, type);
}

std::string EncodeCollection(const DataType& type, std::vector<std::string> elements) {
  LS_CHECK(!type.is_native() && type.kind() != Kind::kTuple, "lists, sets and maps have elements");
  LS_CHECK(elements.size() % type.parameters().size() == 0, "keys and values come in pairs");
  if (type.kind() == Kind::kList) return JoinCollection(type, elements);
  const size_t stride = type.parameters().size();
  const DataType& key_type = type.parameters()[0];
  // By key; among equal ones in the order given, of which the last stays.
  std::vector<size_t> order(elements.size() / stride);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i * stride;
  const auto compare = [&](size_t a, size_t b) {
    return CompareValues(key_type, elements[a], elements[b]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return compare(a, b) < 0; });
  std::vector<std::string> sorted;
  sorted.reserve(elements.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && compare(order[i], order[i + 1]) == 0) continue;
    for (size_t part = 0; part < stride; ++part) {
      sorted.push_back(std::move(elements[order[i] + part]));
    }
  }
  return JoinCollection(type, sorted);
}

std::string EncodeTuple(const std::vector<MaybeValue>& fields) {
  std::string value;
  for (const MaybeValue& field : fields) {
    char length[kLengthBytes];
    StoreBigEndian32(length, field ? static_cast<uint32_t>(field->size()) : ~uint32_t{0});
    value.append(length, kLengthBytes);
    if (field) value += *field;
  }
  return value;
}

std::optional<std::vector<std::optional<std::string_view>>> SplitTuple(const DataType& type,
                                                                       std::string_view value) {
  LS_CHECK(type.kind() == Kind::kTuple, "only tuples have fields");
  std::vector<std::optional<std::string_view>> fields(type.parameters().size());
  for (auto& field : fields) {
    if (value.empty()) return fields;
    if (value.size() < kLengthBytes) return std::nullopt;
    const auto length = static_cast<int32_t>(LoadBigEndian32(value.data()));
    value.remove_prefix(kLengthBytes);
    if (length < 0) continue;
    if (value.size() < static_cast<size_t>(length)) return std::nullopt;
    field = value.substr(0, static_cast<size_t>(length));
    value.remove_prefix(static_cast<size_t>(length));
  }
  if (!value.empty()) return std::nullopt;
  return fields;
}

int CompareValues(const DataType& type, std::string_view a, std::string_view b) {
  if (type.is_native()) return CompareCqlValues(type.native(), a, b);
  return type.kind() == Kind::kTuple ? CompareFields(type, a, b) : CompareElements(type, a, b);
}

}  // namespace liststore
