#include "engine/dynamodb/expressions/condition.h"

#include <algorithm>

#include "engine/base/check.h"

namespace liststore::dynamodb {
namespace {

// What an operand is of an item: a value of the tree, of the item, or one that was computed. nullptr: there is
// nothing.
class OperandValue {
 public:
  OperandValue(const Operand& operand, const Item& item) {
    if (const auto* constant = std::get_if<AttributeValue>(&operand)) {
      value_ = constant;
    } else if (const auto* path = std::get_if<Path>(&operand)) {
      value_ = Resolve(*path, item);
    } else if (const AttributeValue* of = Resolve(std::get<SizeOf>(operand).path, item)) {
      computed_ = SizeAsValue(*of);
      if (computed_.has_value()) value_ = &*computed_;
    }
  }
  OperandValue(const OperandValue&) = delete;
  OperandValue& operator=(const OperandValue&) = delete;

  const AttributeValue* get() const { return value_; }

 private:
  const AttributeValue* value_ = nullptr;
  std::optional<AttributeValue> computed_;
};

bool Compare(const AttributeValue* left, Comparator comparator, const AttributeValue* right) {
  const bool both = left != nullptr && right != nullptr;
  // What is not there equals nothing.
  if (comparator == Comparator::kEqual) return both && *left == *right;
  if (comparator == Comparator::kNotEqual) return !both || !(*left == *right);
  if (!both) return false;
  const std::optional<int> order = CompareOrdered(*left, *right);
  if (!order.has_value()) return false;
  switch (comparator) {
    case Comparator::kLess:
      return *order < 0;
    case Comparator::kLessOrEqual:
      return *order <= 0;
    case Comparator::kGreater:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

bool BeginsWith(const AttributeValue& value, const AttributeValue& prefix) {
  if (value.type() != prefix.type()) return false;
  if (const std::string* text = value.string()) return text->starts_with(*prefix.string());
  if (const auto* binary = value.binary()) return binary->bytes.starts_with(prefix.binary()->bytes);
  return false;
}

// Of valid UTF-8: a character of four bytes has two. Observed with DynamoDB Local 2.5.4.
size_t Utf16Units(std::string_view text) {
  size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    units += static_cast<size_t>((byte & 0xc0) != 0x80) + static_cast<size_t>(byte >= 0xf0);
  }
  return units;
}

template <typename T>
bool HasElement(const AttributeValue::Set<T>* set, const T* element) {
  return element != nullptr && std::ranges::binary_search(set->elements, *element, std::less<>());
}

// A piece of a string or binary, an element of a set or list.
bool ContainsValue(const AttributeValue& value, const AttributeValue& part) {
  switch (value.type()) {
    case AttributeType::kS:
      return part.string() != nullptr && value.string()->find(*part.string()) != std::string::npos;
    case AttributeType::kB:
      return part.binary() != nullptr &&
             value.binary()->bytes.find(part.binary()->bytes) != std::string::npos;
    case AttributeType::kSS:
      return HasElement(value.strings(), part.string());
    case AttributeType::kNS:
      return HasElement(value.numbers(), part.number());
    case AttributeType::kBS:
      return HasElement(value.binaries(), part.binary());
    case AttributeType::kL:
      return std::ranges::find(*value.list(), part) != value.list()->end();
    default:
      return false;
  }
}

bool EvaluateIn(const Condition& condition, const Item& item) {
  const OperandValue left(condition.operands[0], item);
  for (size_t i = 1; i < condition.operands.size(); ++i) {
    const OperandValue right(condition.operands[i], item);
    if (Compare(left.get(), Comparator::kEqual, right.get())) return true;
  }
  return false;
}

bool EvaluateBetween(const Condition& condition, const Item& item) {
  const OperandValue value(condition.operands[0], item);
  const OperandValue lower(condition.operands[1], item);
  const OperandValue upper(condition.operands[2], item);
  return Compare(value.get(), Comparator::kGreaterOrEqual, lower.get()) &&
         Compare(value.get(), Comparator::kLessOrEqual, upper.get());
}

bool EvaluateOfTwo(const Condition& condition, const Item& item) {
  const OperandValue left(condition.operands[0], item);
  const OperandValue right(condition.operands[1], item);
  if (condition.kind == Condition::Kind::kCompare) {
    return Compare(left.get(), condition.comparator, right.get());
  }
  if (left.get() == nullptr || right.get() == nullptr) return false;
  if (condition.kind == Condition::Kind::kBeginsWith) return BeginsWith(*left.get(), *right.get());
  const bool contains = ContainsValue(*left.get(), *right.get());
  return condition.kind == Condition::Kind::kContains ? contains : !contains;
}

// Calls `each` with every path.
template <typename Each>
void ForEachPath(const Condition& condition, Each& each) {
  for (const Operand& operand : condition.operands) {
    if (const auto* path = std::get_if<Path>(&operand)) each(*path);
    if (const auto* size = std::get_if<SizeOf>(&operand)) each(size->path);
  }
  for (const Condition& child : condition.children) ForEachPath(child, each);
}

}  // namespace

std::optional<AttributeValue> SizeAsValue(const AttributeValue& value) {
  size_t size = 0;
  switch (value.type()) {
    case AttributeType::kS:
      size = Utf16Units(*value.string());
      break;
    case AttributeType::kB:
      size = value.binary()->bytes.size();
      break;
    case AttributeType::kM:
      size = value.map()->size();
      break;
    case AttributeType::kL:
      size = value.list()->size();
      break;
    case AttributeType::kSS:
      size = value.strings()->elements.size();
      break;
    case AttributeType::kNS:
      size = value.numbers()->elements.size();
      break;
    case AttributeType::kBS:
      size = value.binaries()->elements.size();
      break;
    default:
      return std::nullopt;
  }
  return AttributeValue::OfNumber(Number::Of(static_cast<int64_t>(size)));
}

bool Evaluate(const Condition& condition, const Item& item) {
  const auto is_true = [&](const Condition& child) { return Evaluate(child, item); };
  switch (condition.kind) {
    case Condition::Kind::kAlways:
      return true;
    case Condition::Kind::kAnd:
      return std::ranges::all_of(condition.children, is_true);
    case Condition::Kind::kOr:
      return std::ranges::any_of(condition.children, is_true);
    case Condition::Kind::kNot:
      return !is_true(condition.children[0]);
    case Condition::Kind::kIn:
      return EvaluateIn(condition, item);
    case Condition::Kind::kBetween:
      return EvaluateBetween(condition, item);
    case Condition::Kind::kAttributeExists:
      return OperandValue(condition.operands[0], item).get() != nullptr;
    case Condition::Kind::kAttributeNotExists:
      return OperandValue(condition.operands[0], item).get() == nullptr;
    case Condition::Kind::kAttributeType: {
      const OperandValue value(condition.operands[0], item);
      return value.get() != nullptr && value.get()->is(condition.type);
    }
    case Condition::Kind::kCompare:
    case Condition::Kind::kBeginsWith:
    case Condition::Kind::kContains:
    case Condition::Kind::kNotContains:
      return EvaluateOfTwo(condition, item);
  }
  return false;
}

std::vector<std::string_view> AttributesOf(const Condition& condition) {
  std::vector<std::string_view> names;
  const auto note = [&](const Path& path) { names.push_back(path.attribute); };
  ForEachPath(condition, note);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Status CheckFilterOfQuery(const Condition& filter, std::string_view hash_name,
                          std::string_view sort_name, bool legacy) {
  for (const std::string_view name : AttributesOf(filter)) {
    if (name != hash_name && (sort_name.empty() || name != sort_name)) continue;
    std::string message = legacy
                              ? "QueryFilter can only contain non-primary key attributes: "
                              : "Filter Expression can only contain non-primary key attributes: ";
    return Invalid(message.append("Primary key attribute: ").append(name));
  }
  return {};
}

}  // namespace liststore::dynamodb
