// AttributeValue, and Item: what DynamoDB stores. Plain data that owns itself.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_ATTRIBUTE_VALUE_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_ATTRIBUTE_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/dynamodb/values/number.h"

namespace liststore::dynamodb {

// Lists and maps within one another. Source: DynamoDB's developer guide, "Quotas", nested attribute depth:
// 32 levels, of which the item is the first, as DynamoDB Local 2.5.4 counts.
inline constexpr int kNestingMax = 31;
// Names and values together. Source: the same, item size.
inline constexpr size_t kItemBytesMax = size_t{400} << 10;
// Of an attribute's name. Source: the same, attribute names; those of keys have 255.
inline constexpr size_t kAttributeNameBytesMax = 65535;

// In the order of the variant of AttributeValue.
enum class AttributeType : uint8_t {
  kS,
  kN,
  kB,
  kBool,
  kNull,
  kM,
  kL,
  kSS,
  kNS,
  kBS
};
inline constexpr int kAttributeTypes = 10;
// "S", "BOOL", ...
std::string_view NameOf(AttributeType type);
// "STRING", "BOOLEAN", ...: as some errors call them.
std::string_view LongNameOf(AttributeType type);
// nullopt: no type is called so.
std::optional<AttributeType> AttributeTypeNamed(std::string_view name);

class AttributeValue;
struct Attribute;

// Attributes by name, in the order of the names' bytes, each once. A sorted array: O(log n) to find, O(n)
// to put in or take out one, O(n log n) to build from many.
class AttributeMap {
 public:
  AttributeMap();
  // Of one name the last counts.
  explicit AttributeMap(std::vector<Attribute> attributes);
  AttributeMap(const AttributeMap&);
  AttributeMap(AttributeMap&&) noexcept;
  AttributeMap& operator=(const AttributeMap&);
  AttributeMap& operator=(AttributeMap&&) noexcept;
  ~AttributeMap();

  bool empty() const;
  size_t size() const;
  std::vector<Attribute>::const_iterator begin() const;
  std::vector<Attribute>::const_iterator end() const;

  // nullptr: there is none of that name. Valid until the map changes.
  const AttributeValue* Find(std::string_view name) const;
  AttributeValue* Find(std::string_view name);
  bool Contains(std::string_view name) const { return Find(name) != nullptr; }
  // Puts it in, or in the place of what was there. The value in the map.
  AttributeValue& Set(std::string_view name, AttributeValue value);
  // False: there was none.
  bool Erase(std::string_view name);
  // Of several, none of which is there; of one name the last counts: O(n + k log k).
  void Add(std::vector<Attribute> attributes);
  // Of several; those that are not there are none: O(n + k log n + k log k).
  void Erase(std::span<const std::string_view> names);

  bool operator==(const AttributeMap& other) const;

 private:
  std::vector<Attribute> attributes_;
};

// An item: attribute name -> value.
using Item = AttributeMap;

class AttributeValue {
 public:
  struct Binary {
    std::string bytes;
    bool operator==(const Binary&) const = default;
    bool operator<(const Binary& other) const { return bytes < other.bytes; }
  };
  struct Null {
    bool operator==(const Null&) const = default;
  };
  using List = std::vector<AttributeValue>;
  // Sorted (by bytes, by value), without duplicates, not empty: StringSetOf and its like see to it.
  template <typename T>
  struct Set {
    std::vector<T> elements;
    bool operator==(const Set&) const = default;
  };
  using StringSet = Set<std::string>;
  using NumberSet = Set<Number>;
  using BinarySet = Set<Binary>;
  using Node = std::variant<std::string, Number, Binary, bool, Null, AttributeMap, List, StringSet,
                            NumberSet, BinarySet>;

  // NULL.
  AttributeValue() : node_(Null()) {}
  AttributeValue(Node node) : node_(std::move(node)) {}  // NOLINT(google-explicit-constructor)

  static AttributeValue OfString(std::string value) {
    return Node(std::in_place_index<0>, std::move(value));
  }
  static AttributeValue OfNumber(const Number& value) { return Node(value); }
  static AttributeValue OfBinary(std::string bytes) { return Node(Binary{std::move(bytes)}); }
  static AttributeValue OfBool(bool value) { return Node(std::in_place_index<3>, value); }
  static AttributeValue OfMap(AttributeMap map) { return Node(std::move(map)); }
  static AttributeValue OfList(List list) { return Node(std::move(list)); }
  // Sorts, drops duplicates. Not empty.
  static AttributeValue OfStrings(std::vector<std::string> elements);
  static AttributeValue OfNumbers(std::vector<Number> elements);
  static AttributeValue OfBinaries(std::vector<Binary> elements);

  AttributeType type() const { return static_cast<AttributeType>(node_.index()); }
  bool is(AttributeType type) const { return this->type() == type; }
  const Node& node() const { return node_; }

  // nullptr: it is of another type.
  const std::string* string() const { return std::get_if<std::string>(&node_); }
  const Number* number() const { return std::get_if<Number>(&node_); }
  const Binary* binary() const { return std::get_if<Binary>(&node_); }
  const bool* boolean() const { return std::get_if<bool>(&node_); }
  const AttributeMap* map() const { return std::get_if<AttributeMap>(&node_); }
  AttributeMap* map() { return std::get_if<AttributeMap>(&node_); }
  const List* list() const { return std::get_if<List>(&node_); }
  List* list() { return std::get_if<List>(&node_); }
  const StringSet* strings() const { return std::get_if<StringSet>(&node_); }
  const NumberSet* numbers() const { return std::get_if<NumberSet>(&node_); }
  const BinarySet* binaries() const { return std::get_if<BinarySet>(&node_); }
  bool is_set() const { return type() >= AttributeType::kSS; }

  // By type and value: sets and maps without regard to order, numbers by value.
  bool operator==(const AttributeValue& other) const;

 private:
  Node node_;
};

struct Attribute {
  std::string name;
  AttributeValue value;

  bool operator==(const Attribute&) const = default;
};

inline bool AttributeMap::empty() const { return attributes_.empty(); }
inline size_t AttributeMap::size() const { return attributes_.size(); }
inline std::vector<Attribute>::const_iterator AttributeMap::begin() const {
  return attributes_.begin();
}
inline std::vector<Attribute>::const_iterator AttributeMap::end() const {
  return attributes_.end();
}

// Three-way, of two strings, numbers or binaries; nullopt: of others, or of different types, which have no
// order. Strings and binaries by unsigned bytes.
std::optional<int> CompareOrdered(const AttributeValue& a, const AttributeValue& b);

// As Amazon counts: names and values in bytes, numbers by digits, 3 for a list or map and 1 for each of its
// elements. Source: DynamoDB's developer guide, "Item sizes and formats". O(size).
inline constexpr size_t kContainerBytes = 3;
inline constexpr size_t kElementBytes = 1;
size_t SizeInItem(const AttributeValue& value);
size_t ItemSize(const Item& item);
// Lists and maps within one another: 0 of a scalar or a set. O(size).
int NestingOf(const AttributeValue& value);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_ATTRIBUTE_VALUE_H_
