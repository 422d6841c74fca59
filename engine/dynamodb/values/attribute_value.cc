#include "engine/dynamodb/values/attribute_value.h"

#include <algorithm>
#include <array>
#include <functional>

#include "engine/base/check.h"
#include "engine/base/three_way.h"
#include "engine/dynamodb/values/erase_indexes.h"

namespace liststore::dynamodb {
namespace {

constexpr std::array<std::string_view, kAttributeTypes> kTypeNames = {
    "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"};

template <typename T>
AttributeValue SetOf(std::vector<T> elements) {
  LS_CHECK(!elements.empty(), "a set has an element");
  std::ranges::sort(elements, std::less<>());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return AttributeValue::Node(AttributeValue::Set<T>{std::move(elements)});
}

template <typename It>
It LowerBound(It begin, It end, std::string_view name) {
  return std::lower_bound(begin, end, name, [](const Attribute& attribute, std::string_view other) {
    return std::string_view(attribute.name) < other;
  });
}

}  // namespace

std::string_view NameOf(AttributeType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::string_view LongNameOf(AttributeType type) {
  constexpr std::array<std::string_view, kAttributeTypes> kLongNames = {
      "STRING", "NUMBER", "BINARY",     "BOOLEAN",    "NULL",
      "MAP",    "LIST",   "STRING_SET", "NUMBER_SET", "BINARY_SET"};
  return kLongNames[static_cast<size_t>(type)];
}

std::optional<AttributeType> AttributeTypeNamed(std::string_view name) {
  const auto found = std::ranges::find(kTypeNames, name);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<AttributeType>(found - kTypeNames.begin());
}

AttributeMap::AttributeMap() = default;
AttributeMap::AttributeMap(const AttributeMap&) = default;
AttributeMap::AttributeMap(AttributeMap&&) noexcept = default;
AttributeMap& AttributeMap::operator=(const AttributeMap&) = default;
AttributeMap& AttributeMap::operator=(AttributeMap&&) noexcept = default;
AttributeMap::~AttributeMap() = default;

AttributeMap::AttributeMap(std::vector<Attribute> attributes) : attributes_(std::move(attributes)) {
  const auto in_order = [](const Attribute& a, const Attribute& b) { return a.name < b.name; };
  const auto out_of_order = [](const Attribute& a, const Attribute& b) { return a.name >= b.name; };
  if (std::ranges::adjacent_find(attributes_, out_of_order) == attributes_.end()) return;
  std::ranges::stable_sort(attributes_, in_order);
  // Backwards, so that of equals the last stays.
  const auto first_kept =
      std::unique(attributes_.rbegin(), attributes_.rend(),
                  [](const Attribute& a, const Attribute& b) { return a.name == b.name; })
          .base();
  attributes_.erase(attributes_.begin(), first_kept);
}

const AttributeValue* AttributeMap::Find(std::string_view name) const {
  const auto found = LowerBound(attributes_.begin(), attributes_.end(), name);
  return found != attributes_.end() && found->name == name ? &found->value : nullptr;
}

AttributeValue* AttributeMap::Find(std::string_view name) {
  const auto found = LowerBound(attributes_.begin(), attributes_.end(), name);
  return found != attributes_.end() && found->name == name ? &found->value : nullptr;
}

AttributeValue& AttributeMap::Set(std::string_view name, AttributeValue value) {
  const auto place = LowerBound(attributes_.begin(), attributes_.end(), name);
  if (place != attributes_.end() && place->name == name) {
    place->value = std::move(value);
    return place->value;
  }
  return attributes_.insert(place, {std::string(name), std::move(value)})->value;
}

bool AttributeMap::Erase(std::string_view name) {
  const auto found = LowerBound(attributes_.begin(), attributes_.end(), name);
  if (found == attributes_.end() || found->name != name) return false;
  attributes_.erase(found);
  return true;
}

void AttributeMap::Add(std::vector<Attribute> attributes) {
  const auto in_order = [](const Attribute& a, const Attribute& b) { return a.name < b.name; };
  AttributeMap added(std::move(attributes));
  MergeInto(attributes_, std::move(added.attributes_), in_order);
}

void AttributeMap::Erase(std::span<const std::string_view> names) {
  std::vector<size_t> indexes;
  for (const std::string_view name : names) {
    const auto found = LowerBound(attributes_.begin(), attributes_.end(), name);
    if (found == attributes_.end() || found->name != name) continue;
    indexes.push_back(static_cast<size_t>(found - attributes_.begin()));
  }
  std::ranges::sort(indexes);
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  EraseIndexes(attributes_, indexes);
}

bool AttributeMap::operator==(const AttributeMap& other) const {
  return attributes_ == other.attributes_;
}

AttributeValue AttributeValue::OfStrings(std::vector<std::string> elements) {
  return SetOf(std::move(elements));
}
AttributeValue AttributeValue::OfNumbers(std::vector<Number> elements) {
  return SetOf(std::move(elements));
}
AttributeValue AttributeValue::OfBinaries(std::vector<Binary> elements) {
  return SetOf(std::move(elements));
}

bool AttributeValue::operator==(const AttributeValue& other) const { return node_ == other.node_; }

std::optional<int> CompareOrdered(const AttributeValue& a, const AttributeValue& b) {
  if (a.type() != b.type()) return std::nullopt;
  switch (a.type()) {
    case AttributeType::kS:
      return ThreeWay(*a.string(), *b.string());
    case AttributeType::kN:
      return Number::Compare(*a.number(), *b.number());
    case AttributeType::kB:
      return ThreeWay(a.binary()->bytes, b.binary()->bytes);
    default:
      return std::nullopt;
  }
}

size_t SizeInItem(const AttributeValue& value) {
  size_t size = 0;
  switch (value.type()) {
    case AttributeType::kS:
      return value.string()->size();
    case AttributeType::kN:
      return value.number()->SizeInItem();
    case AttributeType::kB:
      return value.binary()->bytes.size();
    case AttributeType::kBool:
    case AttributeType::kNull:
      return 1;
    case AttributeType::kM:
      return kContainerBytes + kElementBytes * value.map()->size() + ItemSize(*value.map());
    case AttributeType::kL:
      size = kContainerBytes + kElementBytes * value.list()->size();
      for (const AttributeValue& element : *value.list()) size += SizeInItem(element);
      return size;
    case AttributeType::kSS:
      for (const std::string& element : value.strings()->elements) size += element.size();
      return size;
    case AttributeType::kNS:
      for (const Number& element : value.numbers()->elements) size += element.SizeInItem();
      return size;
    case AttributeType::kBS:
      for (const auto& element : value.binaries()->elements) size += element.bytes.size();
      return size;
  }
  return size;
}

size_t ItemSize(const Item& item) {
  size_t size = 0;
  for (const Attribute& attribute : item)
    size += attribute.name.size() + SizeInItem(attribute.value);
  return size;
}

int NestingOf(const AttributeValue& value) {
  int deepest = 0;
  if (const AttributeMap* map = value.map()) {
    for (const Attribute& member : *map) deepest = std::max(deepest, NestingOf(member.value));
  } else if (const AttributeValue::List* list = value.list()) {
    for (const AttributeValue& element : *list) deepest = std::max(deepest, NestingOf(element));
  } else {
    return 0;
  }
  return deepest + 1;
}

}  // namespace liststore::dynamodb
