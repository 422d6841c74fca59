#include "engine/dynamodb/expressions/path.h"

#include <algorithm>
#include <utility>

#include "engine/base/three_way.h"

namespace liststore::dynamodb {
namespace {

int CompareElements(const PathElement& a, const PathElement& b) {
  if (a.index() != b.index()) return ThreeWay(a.index(), b.index());
  if (const auto* name = std::get_if<std::string>(&a)) {
    return ThreeWay(*name, std::get<std::string>(b));
  }
  return ThreeWay(std::get<uint32_t>(a), std::get<uint32_t>(b));
}

// How many elements both have in common; -1: not even the attribute.
int CommonElements(const Path& a, const Path& b) {
  if (a.attribute != b.attribute) return -1;
  const size_t shorter = std::min(a.elements.size(), b.elements.size());
  size_t common = 0;
  while (common < shorter && a.elements[common] == b.elements[common]) ++common;
  return static_cast<int>(common);
}

bool PathLess(const Path& a, const Path& b) {
  if (a.attribute != b.attribute) return a.attribute < b.attribute;
  const size_t shorter = std::min(a.elements.size(), b.elements.size());
  for (size_t i = 0; i < shorter; ++i) {
    if (const int order = CompareElements(a.elements[i], b.elements[i])) return order < 0;
  }
  return a.elements.size() < b.elements.size();
}

}  // namespace

std::string Path::ToText() const {
  std::string text = "[" + attribute;
  for (const PathElement& element : elements) {
    text.append(", ");
    if (const auto* name = std::get_if<std::string>(&element)) {
      text.append(*name);
    } else {
      text.append("[").append(std::to_string(std::get<uint32_t>(element))).append("]");
    }
  }
  return text.append("]");
}

const AttributeValue* Resolve(const Path& path, const Item& item) {
  const AttributeValue* value = item.Find(path.attribute);
  for (size_t i = 0; value != nullptr && i < path.elements.size(); ++i) {
    if (const auto* name = std::get_if<std::string>(&path.elements[i])) {
      const AttributeMap* const map = value->map();
      value = map == nullptr ? nullptr : map->Find(*name);
    } else {
      const AttributeValue::List* const list = value->list();
      const uint32_t index = std::get<uint32_t>(path.elements[i]);
      value = list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
    }
  }
  return value;
}

std::optional<PathClash> FindClash(const std::vector<const Path*>& paths) {
  std::vector<size_t> order(paths.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return PathLess(*paths[a], *paths[b]); });
  // What begins with a path stands right behind it. Names stand before indexes: of two kinds below one path
  // the last name and the first index are neighbours.
  for (size_t i = 1; i < order.size(); ++i) {
    const Path& a = *paths[order[i - 1]];
    const Path& b = *paths[order[i]];
    const int common = CommonElements(a, b);
    if (common < 0) continue;
    const auto same = static_cast<size_t>(common);
    const bool overlap = same == a.elements.size();
    if (!overlap && a.elements[same].index() == b.elements[same].index()) continue;
    return PathClash{overlap, std::min(order[i - 1], order[i]), std::max(order[i - 1], order[i])};
  }
  return std::nullopt;
}

}  // namespace liststore::dynamodb
