#include "engine/dynamodb/expressions/legacy.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/values/item_json.h"

namespace liststore::dynamodb {
namespace {

// Types that a comparison operator of old takes, as bits.
constexpr unsigned BitOf(AttributeType type) { return 1u << static_cast<unsigned>(type); }
constexpr unsigned kOrderedTypes =
    BitOf(AttributeType::kS) | BitOf(AttributeType::kN) | BitOf(AttributeType::kB);
constexpr unsigned kTextTypes = BitOf(AttributeType::kS) | BitOf(AttributeType::kB);
constexpr unsigned kAllTypes = (1u << kAttributeTypes) - 1;

struct LegacyOperator {
  std::string_view name;
  Condition::Kind kind;
  Comparator comparator;  // of kCompare
  size_t arguments_min;
  size_t arguments_max;
  unsigned types;
  bool of_keys;  // KeyConditions may have it
};
constexpr auto kCompareKind = Condition::Kind::kCompare;
constexpr auto kNoComparator = Comparator::kEqual;
// Source: DynamoDB's API reference, Condition, ComparisonOperator.
constexpr std::array<LegacyOperator, 13> kLegacyOperators = {{
    {"EQ", kCompareKind, Comparator::kEqual, 1, 1, kAllTypes, true},
    {"NE", kCompareKind, Comparator::kNotEqual, 1, 1, kAllTypes, false},
    {"LE", kCompareKind, Comparator::kLessOrEqual, 1, 1, kOrderedTypes, true},
    {"LT", kCompareKind, Comparator::kLess, 1, 1, kOrderedTypes, true},
    {"GE", kCompareKind, Comparator::kGreaterOrEqual, 1, 1, kOrderedTypes, true},
    {"GT", kCompareKind, Comparator::kGreater, 1, 1, kOrderedTypes, true},
    {"NOT_NULL", Condition::Kind::kAttributeExists, kNoComparator, 0, 0, kAllTypes, false},
    {"NULL", Condition::Kind::kAttributeNotExists, kNoComparator, 0, 0, kAllTypes, false},
    {"CONTAINS", Condition::Kind::kContains, kNoComparator, 1, 1, kOrderedTypes, false},
    {"NOT_CONTAINS", Condition::Kind::kNotContains, kNoComparator, 1, 1, kOrderedTypes, false},
    {"BEGINS_WITH", Condition::Kind::kBeginsWith, kNoComparator, 1, 1, kTextTypes, true},
    {"IN", Condition::Kind::kIn, kNoComparator, 1, SIZE_MAX, kOrderedTypes, false},
    {"BETWEEN", Condition::Kind::kBetween, kNoComparator, 2, 2, kOrderedTypes, true},
}};

// What of a request is said again in an error.
std::string_view SaidOf(std::string_view text) { return text.substr(0, 255); }

Error OfAttribute(std::string_view what, std::string_view attribute) {
  std::string message(what);
  return InvalidParameter(message.append(" for Attribute: ").append(SaidOf(attribute)));
}

Error NotInEnum(std::string_view value, std::string_view where, std::string_view values) {
  std::string message = "1 validation error detected: Value '";
  return Invalid(
      message.append(SaidOf(value))
          .append("' at '")
          .append(where)
          .append("' failed to satisfy constraint: Member must satisfy enum value set: [")
          .append(values)
          .append("]"));
}

ErrorOr<const LegacyOperator*> OperatorOf(Json name, std::string_view attribute) {
  if (name.is_absent()) {
    std::string message = "1 validation error detected: Value null at '";
    return Invalid(
        message.append(SaidOf(attribute))
            .append(".member.comparisonOperator' failed to satisfy constraint: Member must "
                    "not be null"));
  }
  if (!name.is_string()) return NotOfKind(name, "String");
  const auto* const found = std::ranges::find(kLegacyOperators, name.text(), &LegacyOperator::name);
  if (found == kLegacyOperators.end()) {
    std::string where(SaidOf(attribute));
    return NotInEnum(name.text(), where.append(".member.comparisonOperator"),
                     "IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, "
                     "GE, CONTAINS");
  }
  return found;
}

ErrorOr<std::vector<AttributeValue>> ValuesOf(Json list) {
  std::vector<AttributeValue> values;
  if (list.is_absent()) return values;
  if (!list.is_array()) return NotOfKind(list, "List");
  for (const JsonMember element : list) {
    LS_ASSIGN_OR_RETURN(AttributeValue value, ValueFromJson(element.value));
    values.push_back(std::move(value));
  }
  return values;
}

Status CheckArguments(const LegacyOperator& with, const std::vector<AttributeValue>& values) {
  if (values.size() < with.arguments_min || values.size() > with.arguments_max) {
    std::string message = "Invalid number of argument(s) for the ";
    return InvalidParameter(message.append(with.name).append(" ComparisonOperator"));
  }
  for (const AttributeValue& value : values) {
    if ((BitOf(value.type()) & with.types) == 0) {
      std::string message = "ComparisonOperator ";
      return InvalidParameter(message.append(with.name)
                                  .append(" is not valid for ")
                                  .append(NameOf(value.type()))
                                  .append(" AttributeValue type"));
    }
    if (value.type() != values[0].type()) {
      return InvalidParameter("AttributeValues inside AttributeValueList must be of same type");
    }
  }
  if (with.kind == Condition::Kind::kBetween &&
      CompareOrdered(values[0], values[1]).value_or(0) > 0) {
    return Invalid(
        "The BETWEEN condition was provided a range where the lower bound is greater than the "
        "upper "
        "bound");
  }
  return {};
}

// `attribute` operator `values`.
ErrorOr<Condition> ConditionOf(std::string_view attribute, const LegacyOperator& with,
                               std::vector<AttributeValue> values) {
  LS_RETURN_IF_ERROR(CheckArguments(with, values));
  Condition condition;
  condition.kind = with.kind;
  condition.comparator = with.comparator;
  condition.operands.emplace_back(Path{std::string(attribute), {}});
  for (AttributeValue& value : values) condition.operands.emplace_back(std::move(value));
  return condition;
}

// {"ComparisonOperator":"EQ","AttributeValueList":[...]}
ErrorOr<Condition> ConditionOfMember(const JsonMember& member) {
  if (!member.value.is_object()) return NotOfKind(member.value, "Map");
  LS_ASSIGN_OR_RETURN(const LegacyOperator* const with,
                      OperatorOf(member.value.Find("ComparisonOperator"), member.name));
  LS_ASSIGN_OR_RETURN(std::vector<AttributeValue> values,
                      ValuesOf(member.value.Find("AttributeValueList")));
  return ConditionOf(member.name, *with, std::move(values));
}

// {"Value":{...}} and {"Exists":false}, without an operator.
ErrorOr<Condition> ConditionOfExistence(std::string_view attribute, Json value, Json exists) {
  if (!exists.is_absent() && !exists.is_bool()) return NotOfKind(exists, "Boolean");
  const bool must_exist = exists.is_absent() || exists.is_true();
  if (!must_exist) {
    if (!value.is_absent())
      return OfAttribute("Value cannot be used when Exists is false", attribute);
    return ConditionOf(attribute, kLegacyOperators[7], {});
  }
  if (value.is_absent()) {
    return OfAttribute(exists.is_absent() ? "Value must be provided when Exists is null"
                                          : "Value must be provided when Exists is true",
                       attribute);
  }
  LS_ASSIGN_OR_RETURN(AttributeValue equals, ValueFromJson(value));
  std::vector<AttributeValue> values;
  values.push_back(std::move(equals));
  return ConditionOf(attribute, kLegacyOperators[0], std::move(values));
}
static_assert(kLegacyOperators[0].name == "EQ" && kLegacyOperators[7].name == "NULL");

// An attribute of Expected, in either form.
ErrorOr<Condition> ConditionOfExpectedMember(const JsonMember& member) {
  if (!member.value.is_object()) return NotOfKind(member.value, "Map");
  const Json value = member.value.Find("Value");
  const Json exists = member.value.Find("Exists");
  const Json with_name = member.value.Find("ComparisonOperator");
  const Json list = member.value.Find("AttributeValueList");
  if (!value.is_absent() && !list.is_absent()) {
    return OfAttribute("Value and AttributeValueList cannot be used together", member.name);
  }
  if (with_name.is_absent()) {
    if (!list.is_absent()) {
      return OfAttribute("AttributeValueList can only be used with a ComparisonOperator",
                         member.name);
    }
    return ConditionOfExistence(member.name, value, exists);
  }
  if (!exists.is_absent()) {
    return OfAttribute("Exists and ComparisonOperator cannot be used together", member.name);
  }
  LS_ASSIGN_OR_RETURN(const LegacyOperator* const with, OperatorOf(with_name, member.name));
  LS_ASSIGN_OR_RETURN(std::vector<AttributeValue> values, ValuesOf(list));
  if (!value.is_absent()) {
    LS_ASSIGN_OR_RETURN(AttributeValue only, ValueFromJson(value));
    values.push_back(std::move(only));
  } else if (list.is_absent() && with->arguments_min > 0) {
    std::string message = "Value or AttributeValueList must be used with ComparisonOperator: ";
    return OfAttribute(message.append(with->name), member.name);
  }
  return ConditionOf(member.name, *with, std::move(values));
}

// All members, joined. Of one or none there is nothing to join.
template <typename OfMember>
ErrorOr<Condition> Joined(Json members, Json conditional_operator, OfMember of_member) {
  Condition joined;
  joined.kind = Condition::Kind::kAnd;
  if (!conditional_operator.is_absent()) {
    if (!conditional_operator.is_string()) return NotOfKind(conditional_operator, "String");
    const std::string_view name = conditional_operator.text();
    if (name != "AND" && name != "OR") return NotInEnum(name, "conditionalOperator", "OR, AND");
    if (members.is_absent()) {
      return Invalid("ConditionalOperator cannot be used without Filter or Expected");
    }
    if (members.size() < 2) {
      return Invalid(
          "ConditionalOperator can only be used when Filter or Expected has two or more elements");
    }
    if (name == "OR") joined.kind = Condition::Kind::kOr;
  }
  if (members.is_absent()) return Condition();
  if (!members.is_object()) return NotOfKind(members, "Map");
  for (const JsonMember member : members) {
    LS_ASSIGN_OR_RETURN(Condition condition, of_member(member));
    joined.children.push_back(std::move(condition));
  }
  if (joined.children.empty()) return Condition();
  if (joined.children.size() == 1) {
    Condition only = std::move(joined.children[0]);
    return only;
  }
  return joined;
}

ErrorOr<UpdateAction> ActionOfMember(const JsonMember& member) {
  if (!member.value.is_object()) return NotOfKind(member.value, "Map");
  const Json action_name = member.value.Find("Action");
  const Json value = member.value.Find("Value");
  if (!action_name.is_absent() && !action_name.is_string()) return NotOfKind(action_name, "String");
  const std::string_view name = action_name.is_absent() ? "PUT" : action_name.text();
  if (name != "PUT" && name != "ADD" && name != "DELETE") {
    std::string where(SaidOf(member.name));
    return NotInEnum(name, where.append(".member.action"), "ADD, PUT, DELETE");
  }
  UpdateAction action;
  action.path.attribute = member.name;
  if (value.is_absent()) {
    if (name != "DELETE") {
      return InvalidParameter("Only DELETE action is allowed when no attribute value is specified");
    }
    action.kind = UpdateAction::Kind::kRemove;
    return action;
  }
  LS_ASSIGN_OR_RETURN(action.value.constant, ValueFromJson(value));
  const AttributeType type = action.value.constant.type();
  const bool is_set = action.value.constant.is_set();
  if (name == "PUT") {
    action.kind = UpdateAction::Kind::kSet;
  } else if (name == "DELETE") {
    action.kind = UpdateAction::Kind::kDelete;
    if (!is_set) {
      return InvalidParameter(std::string("DELETE action with value is not supported for the type ")
                                  .append(LongNameOf(type)));
    }
  } else {
    action.kind =
        type == AttributeType::kL ? UpdateAction::Kind::kAddToList : UpdateAction::Kind::kAdd;
    if (!is_set && type != AttributeType::kN && type != AttributeType::kL) {
      return InvalidParameter(
          std::string("ADD action is not supported for the type ").append(LongNameOf(type)));
    }
  }
  return action;
}

std::string NamesPresent(Json request, const std::vector<std::string_view>& names) {
  std::string present;
  for (const std::string_view name : names) {
    if (request.Find(name).is_absent()) continue;
    if (!present.empty()) present.append(", ");
    present.append(name);
  }
  return present;
}

}  // namespace

ErrorOr<Condition> ConditionOfExpected(Json expected, Json conditional_operator) {
  return Joined(expected, conditional_operator, ConditionOfExpectedMember);
}

ErrorOr<Condition> ConditionOfFilter(Json filter, Json conditional_operator) {
  return Joined(filter, conditional_operator, ConditionOfMember);
}

ErrorOr<KeyCondition> KeyConditionOfKeyConditions(Json key_conditions, const KeySchema& schema) {
  if (!key_conditions.is_object()) return NotOfKind(key_conditions, "Map");
  if (key_conditions.size() < 1 || key_conditions.size() > 2) {
    return Invalid("Conditions can be of length 1 or 2 only");
  }
  for (const JsonMember member : key_conditions) {
    if (!member.value.is_object()) return NotOfKind(member.value, "Map");
    LS_ASSIGN_OR_RETURN(const LegacyOperator* const with,
                        OperatorOf(member.value.Find("ComparisonOperator"), member.name));
    if (!with->of_keys) {
      if (member.name == schema.hash.name) return Invalid("Query key condition not supported");
      return Invalid("Attempted conditional constraint is not an indexable operation");
    }
  }
  LS_ASSIGN_OR_RETURN(const Condition condition, ConditionOfFilter(key_conditions, Json()));
  return KeyConditionOf(condition, schema);
}

ErrorOr<Projection> ProjectionOfAttributesToGet(Json attributes) {
  Projection projection;
  if (attributes.is_absent()) return projection;
  if (!attributes.is_array()) return NotOfKind(attributes, "List");
  if (attributes.size() == 0) {
    return Invalid(
        "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy "
        "constraint: "
        "Member must have length greater than or equal to 1");
  }
  std::vector<std::string_view> names;
  for (const JsonMember element : attributes) {
    if (!element.value.is_string()) return NotOfKind(element.value, "String");
    names.push_back(element.value.text());
    projection.paths.push_back({std::string(element.value.text()), {}});
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return InvalidParameter(
        std::string("Duplicate value in attribute name: ").append(SaidOf(*twice)));
  }
  return projection;
}

ErrorOr<Update> UpdateOfAttributeUpdates(Json updates) {
  Update update;
  update.of_attribute_updates = true;
  if (updates.is_absent()) return update;
  if (!updates.is_object()) return NotOfKind(updates, "Map");
  for (const JsonMember member : updates) {
    LS_ASSIGN_OR_RETURN(UpdateAction action, ActionOfMember(member));
    update.actions.push_back(std::move(action));
  }
  return update;
}

Status CheckNotMixed(Json request, const std::vector<std::string_view>& legacy,
                     const std::vector<std::string_view>& expressions) {
  const std::string old = NamesPresent(request, legacy);
  const std::string now = NamesPresent(request, expressions);
  if (old.empty() || now.empty()) return {};
  std::string message =
      "Can not use both expression and non-expression parameters in the same request: "
      "Non-expression parameters: {";
  return Invalid(message.append(old).append("} Expression parameters: {").append(now).append("}"));
}

}  // namespace liststore::dynamodb
