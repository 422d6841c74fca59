#include "engine/dynamodb/expressions/key_condition.h"

#include <utility>
#include <variant>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/expressions/condition_parser.h"
#include "engine/dynamodb/expressions/expression_reader.h"

namespace liststore::dynamodb {
namespace {

Error NotSupported() { return Invalid("Query key condition not supported"); }

Error InvalidOperator(std::string_view operation) {
  std::string message = "Invalid operator used in KeyConditionExpression: ";
  return Invalid(message.append(operation));
}

// What a key condition cannot be made of although it is a condition.
Status CheckOperators(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::kOr:
      return InvalidOperator("OR");
    case Condition::Kind::kNot:
      return InvalidOperator("NOT");
    case Condition::Kind::kIn:
      return InvalidOperator("IN");
    case Condition::Kind::kAttributeExists:
      return InvalidOperator("attribute_exists");
    case Condition::Kind::kAttributeNotExists:
      return InvalidOperator("attribute_not_exists");
    case Condition::Kind::kAttributeType:
      return InvalidOperator("attribute_type");
    case Condition::Kind::kContains:
      return InvalidOperator("contains");
    case Condition::Kind::kCompare:
      if (condition.comparator == Comparator::kNotEqual) return InvalidOperator("<>");
      break;
    default:
      break;
  }
  int paths = 0;
  for (const Operand& operand : condition.operands) {
    if (std::holds_alternative<SizeOf>(operand)) {
      return Invalid("KeyConditionExpressions cannot contain nested operations");
    }
    const auto* path = std::get_if<Path>(&operand);
    if (path == nullptr) continue;
    ++paths;
    if (!path->is_top_level()) {
      return Invalid(
          "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
          "allowed: Key: " +
          path->attribute);
    }
  }
  if (paths > 1) {
    return Invalid(
        "Invalid condition in KeyConditionExpression: Multiple attribute names used in one "
        "condition");
  }
  if (paths == 0 && !condition.operands.empty()) {
    return Invalid("Invalid condition in KeyConditionExpression: No key attribute specified");
  }
  for (const Condition& child : condition.children) LS_RETURN_IF_ERROR(CheckOperators(child));
  return {};
}

// The conditions joined by AND, at whatever depth.
void Flatten(const Condition& condition, std::vector<const Condition*>& leaves) {
  if (condition.kind == Condition::Kind::kAnd) {
    for (const Condition& child : condition.children) Flatten(child, leaves);
  } else {
    leaves.push_back(&condition);
  }
}

// One of them, with the attribute on its left.
struct KeyLeaf {
  std::string_view attribute;
  SortCondition::Kind kind;
  const AttributeValue* value;
  const AttributeValue* upper = nullptr;
};

std::optional<SortCondition::Kind> KindOf(Comparator comparator, bool turned) {
  switch (comparator) {
    case Comparator::kEqual:
      return SortCondition::Kind::kEqual;
    case Comparator::kLess:
      return turned ? SortCondition::Kind::kGreater : SortCondition::Kind::kLess;
    case Comparator::kLessOrEqual:
      return turned ? SortCondition::Kind::kGreaterOrEqual : SortCondition::Kind::kLessOrEqual;
    case Comparator::kGreater:
      return turned ? SortCondition::Kind::kLess : SortCondition::Kind::kGreater;
    case Comparator::kGreaterOrEqual:
      return turned ? SortCondition::Kind::kLessOrEqual : SortCondition::Kind::kGreaterOrEqual;
    case Comparator::kNotEqual:
      break;
  }
  return std::nullopt;
}

// nullopt: not of that form.
std::optional<KeyLeaf> LeafOf(const Condition& condition) {
  const auto path = [&](size_t i) {
    const auto* found = std::get_if<Path>(&condition.operands[i]);
    return found != nullptr && found->is_top_level() ? found : nullptr;
  };
  const auto constant = [&](size_t i) {
    return std::get_if<AttributeValue>(&condition.operands[i]);
  };
  switch (condition.kind) {
    case Condition::Kind::kCompare: {
      const bool turned = path(0) == nullptr;
      const Path* const attribute = path(turned ? 1 : 0);
      const AttributeValue* const value = constant(turned ? 0 : 1);
      const auto kind = KindOf(condition.comparator, turned);
      if (attribute == nullptr || value == nullptr || !kind.has_value()) return std::nullopt;
      return KeyLeaf{attribute->attribute, *kind, value};
    }
    case Condition::Kind::kBetween:
    case Condition::Kind::kBeginsWith: {
      const bool between = condition.kind == Condition::Kind::kBetween;
      const AttributeValue* const upper = between ? constant(2) : nullptr;
      if (path(0) == nullptr || constant(1) == nullptr || (between && upper == nullptr)) {
        return std::nullopt;
      }
      return KeyLeaf{path(0)->attribute,
                     between ? SortCondition::Kind::kBetween : SortCondition::Kind::kBeginsWith,
                     constant(1), upper};
    }
    default:
      return std::nullopt;
  }
}

bool IsEmptyText(const AttributeValue& value) {
  if (const std::string* text = value.string()) return text->empty();
  if (const auto* binary = value.binary()) return binary->bytes.empty();
  return false;
}

// Of a key, by its schema. An empty prefix is one of everything.
Status CheckKeyValue(const AttributeValue& value, const KeyAttribute& attribute,
                     bool may_be_empty) {
  if (!value.is(attribute.type)) {
    return InvalidParameter("Condition parameter type does not match schema type");
  }
  if (may_be_empty || !IsEmptyText(value)) return {};
  std::string message =
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
      "contain an empty ";
  return Invalid(message.append(value.is(AttributeType::kS) ? "string" : "binary")
                     .append(" value. Key: ")
                     .append(attribute.name));
}

ErrorOr<SortCondition> SortConditionOf(const KeyLeaf& leaf, const KeyAttribute& attribute) {
  SortCondition sort;
  sort.kind = leaf.kind;
  const bool is_prefix = leaf.kind == SortCondition::Kind::kBeginsWith;
  LS_RETURN_IF_ERROR(CheckKeyValue(*leaf.value, attribute, is_prefix));
  if (is_prefix && attribute.type == AttributeType::kN) return NotSupported();
  sort.value = *leaf.value;
  if (leaf.upper != nullptr) {
    LS_RETURN_IF_ERROR(CheckKeyValue(*leaf.upper, attribute, false));
    sort.upper = *leaf.upper;
  }
  return sort;
}

}  // namespace

ErrorOr<KeyCondition> KeyConditionOf(const Condition& condition, const KeySchema& schema) {
  std::vector<const Condition*> conditions;
  Flatten(condition, conditions);
  std::optional<KeyLeaf> hash;
  std::optional<KeyLeaf> sort;
  bool has_other = false;
  for (const Condition* const each : conditions) {
    const std::optional<KeyLeaf> leaf = LeafOf(*each);
    if (!leaf.has_value()) return NotSupported();
    const bool of_hash = leaf->attribute == schema.hash.name;
    const bool of_sort = schema.sort.has_value() && leaf->attribute == schema.sort->name;
    has_other |= !of_hash && !of_sort;
    if (!of_hash && !of_sort) continue;
    std::optional<KeyLeaf>& place = of_hash ? hash : sort;
    if (place.has_value()) {
      return Invalid("KeyConditionExpressions must only contain one condition per key");
    }
    place = leaf;
  }
  const auto missed = [](const KeyAttribute& attribute) {
    return Invalid("Query condition missed key schema element: " + attribute.name);
  };
  if (!hash.has_value()) return missed(schema.hash);
  if (conditions.size() > 2) return Invalid("Conditions can be of length 1 or 2 only");
  if (hash->kind != SortCondition::Kind::kEqual) return NotSupported();
  if (has_other) {
    if (schema.sort.has_value()) return missed(*schema.sort);
    return NotSupported();
  }
  LS_RETURN_IF_ERROR(CheckKeyValue(*hash->value, schema.hash, false));
  KeyCondition result;
  result.hash = *hash->value;
  if (sort.has_value()) {
    LS_ASSIGN_OR_RETURN(result.sort, SortConditionOf(*sort, *schema.sort));
  }
  return result;
}

ErrorOr<KeyCondition> ParseKeyCondition(std::string_view text, const KeySchema& schema,
                                        Placeholders& placeholders) {
  ExpressionReader reader(text, ExpressionKind::kKeyCondition, placeholders);
  LS_RETURN_IF_ERROR(reader.CheckText());
  const Condition condition = ConditionParser(reader).Parse();
  LS_RETURN_IF_ERROR(reader.Finish());
  LS_RETURN_IF_ERROR(CheckOperators(condition));
  return KeyConditionOf(condition, schema);
}

bool Contains(const SortCondition& range, const AttributeValue& sort_key) {
  if (range.kind == SortCondition::Kind::kBeginsWith) {
    if (const std::string* text = sort_key.string(); text != nullptr && range.value.string()) {
      return text->starts_with(*range.value.string());
    }
    const auto* binary = sort_key.binary();
    return binary != nullptr && range.value.binary() != nullptr &&
           binary->bytes.starts_with(range.value.binary()->bytes);
  }
  const std::optional<int> order = CompareOrdered(sort_key, range.value);
  if (!order.has_value()) return false;
  switch (range.kind) {
    case SortCondition::Kind::kEqual:
      return *order == 0;
    case SortCondition::Kind::kLess:
      return *order < 0;
    case SortCondition::Kind::kLessOrEqual:
      return *order <= 0;
    case SortCondition::Kind::kGreater:
      return *order > 0;
    case SortCondition::Kind::kGreaterOrEqual:
      return *order >= 0;
    default:
      return *order >= 0 && CompareOrdered(sort_key, range.upper).value_or(1) <= 0;
  }
}

}  // namespace liststore::dynamodb
