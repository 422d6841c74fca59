#include "engine/dynamodb/expressions/condition.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace liststore::dynamodb {
namespace {

// An operand, an operator, a member or an element that is looked at, beside its bytes.
constexpr uint64_t kNodeBytes = 16;

// Of valid UTF-8: a character of four bytes has two. Observed with DynamoDB Local 2.5.4.
size_t Utf16Units(std::string_view text) {
  size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    units += static_cast<size_t>((byte & 0xc0) != 0x80) + static_cast<size_t>(byte >= 0xf0);
  }
  return units;
}

// What an operand is of an item: a value of the tree, of the item, or one that was computed. nullptr: there is
// nothing.
class OperandValue {
 public:
  OperandValue(const Operand& operand, const Item& item, Effort& effort) {
    if (!effort.Spend(kNodeBytes)) return;
    if (const auto* constant = std::get_if<AttributeValue>(&operand)) {
      value_ = constant;
    } else if (const auto* path = std::get_if<Path>(&operand)) {
      value_ = Resolve(*path, item);
    } else if (const AttributeValue* of = Resolve(std::get<SizeOf>(operand).path, item)) {
      if (of->string() != nullptr && !effort.Spend(of->string()->size())) return;
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

// A condition's truth for an item. Where the effort is exceeded nothing more is looked at, and what it says
// does not count.
class Evaluation {
 public:
  Evaluation(const Item& item, Effort& effort) : item_(item), effort_(effort) {}

  bool IsTrue(const Condition& condition) {
    if (!effort_.Spend(kNodeBytes)) return false;
    const auto is_true = [&](const Condition& child) { return IsTrue(child); };
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
        return IsIn(condition);
      case Condition::Kind::kBetween:
        return IsBetween(condition);
      case Condition::Kind::kAttributeExists:
        return OperandValue(condition.operands[0], item_, effort_).get() != nullptr;
      case Condition::Kind::kAttributeNotExists:
        return OperandValue(condition.operands[0], item_, effort_).get() == nullptr;
      case Condition::Kind::kAttributeType: {
        const OperandValue value(condition.operands[0], item_, effort_);
        return value.get() != nullptr && value.get()->is(condition.type);
      }
      case Condition::Kind::kCompare:
      case Condition::Kind::kBeginsWith:
      case Condition::Kind::kContains:
      case Condition::Kind::kNotContains:
        return IsTrueOfTwo(condition);
    }
    return false;
  }

 private:
  // As operator== of AttributeValue, counted.
  bool Equal(const AttributeValue& a, const AttributeValue& b) {
    if (!effort_.Spend(kNodeBytes) || a.type() != b.type()) return false;
    switch (a.type()) {
      case AttributeType::kS:
        return EqualBytes(*a.string(), *b.string());
      case AttributeType::kB:
        return EqualBytes(a.binary()->bytes, b.binary()->bytes);
      case AttributeType::kM:
        return std::ranges::equal(
            *a.map(), *b.map(), [&](const Attribute& member, const Attribute& other) {
              return EqualBytes(member.name, other.name) && Equal(member.value, other.value);
            });
      case AttributeType::kL:
        return std::ranges::equal(*a.list(), *b.list(),
                                  [&](const AttributeValue& element, const AttributeValue& other) {
                                    return Equal(element, other);
                                  });
      case AttributeType::kSS:
        return std::ranges::equal(a.strings()->elements, b.strings()->elements,
                                  [&](const std::string& element, const std::string& other) {
                                    return effort_.Spend(kNodeBytes) && EqualBytes(element, other);
                                  });
      case AttributeType::kBS:
        return std::ranges::equal(
            a.binaries()->elements, b.binaries()->elements,
            [&](const AttributeValue::Binary& element, const AttributeValue::Binary& other) {
              return effort_.Spend(kNodeBytes) && EqualBytes(element.bytes, other.bytes);
            });
      case AttributeType::kNS: {
        const std::vector<Number>& elements = a.numbers()->elements;
        return elements.size() == b.numbers()->elements.size() &&
               effort_.Spend(elements.size() * kNodeBytes) && a == b;
      }
      default:
        return a == b;
    }
  }
  bool EqualBytes(std::string_view a, std::string_view b) {
    return a.size() == b.size() && effort_.Spend(a.size()) && a == b;
  }

  bool Compare(const AttributeValue* left, Comparator comparator, const AttributeValue* right) {
    const bool both = left != nullptr && right != nullptr;
    // What is not there equals nothing.
    if (comparator == Comparator::kEqual) return both && Equal(*left, *right);
    if (comparator == Comparator::kNotEqual) return !both || !Equal(*left, *right);
    if (!both) return false;
    if (!effort_.Spend(std::min(BytesOf(*left).size(), BytesOf(*right).size()))) return false;
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

  // Of a string or binary; else none.
  static std::string_view BytesOf(const AttributeValue& value) {
    if (const std::string* text = value.string()) return *text;
    if (const auto* binary = value.binary()) return binary->bytes;
    return {};
  }

  bool BeginsWith(const AttributeValue& value, const AttributeValue& prefix) {
    if (value.type() != prefix.type()) return false;
    if (value.string() == nullptr && value.binary() == nullptr) return false;
    const std::string_view bytes = BytesOf(prefix);
    return effort_.Spend(bytes.size()) && BytesOf(value).starts_with(bytes);
  }

  // `bytes`: of the element.
  template <typename T>
  bool HasElement(const AttributeValue::Set<T>* set, const T* element, size_t bytes) {
    return element != nullptr &&
           effort_.Spend(std::bit_width(set->elements.size()) * (kNodeBytes + bytes)) &&
           std::ranges::binary_search(set->elements, *element, std::less<>());
  }

  // A piece of a string or binary, an element of a set or list.
  bool ContainsValue(const AttributeValue& value, const AttributeValue& part) {
    switch (value.type()) {
      case AttributeType::kS:
      case AttributeType::kB:
        return part.type() == value.type() && IsPieceOf(BytesOf(part), BytesOf(value), effort_);
      case AttributeType::kSS:
        return HasElement(value.strings(), part.string(), BytesOf(part).size());
      case AttributeType::kNS:
        return HasElement(value.numbers(), part.number(), 0);
      case AttributeType::kBS:
        return HasElement(value.binaries(), part.binary(), BytesOf(part).size());
      case AttributeType::kL:
        return std::ranges::any_of(
            *value.list(), [&](const AttributeValue& element) { return Equal(element, part); });
      default:
        return false;
    }
  }

  bool IsIn(const Condition& condition) {
    const OperandValue left(condition.operands[0], item_, effort_);
    for (size_t i = 1; i < condition.operands.size(); ++i) {
      const OperandValue right(condition.operands[i], item_, effort_);
      if (Compare(left.get(), Comparator::kEqual, right.get())) return true;
    }
    return false;
  }

  bool IsBetween(const Condition& condition) {
    const OperandValue value(condition.operands[0], item_, effort_);
    const OperandValue lower(condition.operands[1], item_, effort_);
    const OperandValue upper(condition.operands[2], item_, effort_);
    return Compare(value.get(), Comparator::kGreaterOrEqual, lower.get()) &&
           Compare(value.get(), Comparator::kLessOrEqual, upper.get());
  }

  bool IsTrueOfTwo(const Condition& condition) {
    const OperandValue left(condition.operands[0], item_, effort_);
    const OperandValue right(condition.operands[1], item_, effort_);
    if (condition.kind == Condition::Kind::kCompare) {
      return Compare(left.get(), condition.comparator, right.get());
    }
    if (left.get() == nullptr || right.get() == nullptr) return false;
    if (condition.kind == Condition::Kind::kBeginsWith) {
      return BeginsWith(*left.get(), *right.get());
    }
    const bool contains = ContainsValue(*left.get(), *right.get());
    return condition.kind == Condition::Kind::kContains ? contains : !contains;
  }

  const Item& item_;
  Effort& effort_;
};

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

ErrorOr<bool> Evaluate(const Condition& condition, const Item& item, Effort& effort) {
  const bool is_true = Evaluation(item, effort).IsTrue(condition);
  if (effort.is_exceeded()) return effort.Exceeded();
  return is_true;
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
