#include "engine/dynamodb/expressions/projection.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/expressions/expression_reader.h"

namespace liststore::dynamodb {
namespace {

// Paths of which one leads no further than another, as a tree: what is kept of a value.
struct Kept {
  // All of it; else what the children say, of which there are some of one kind.
  bool whole = false;
  std::map<std::string, Kept, std::less<>> members;
  std::map<uint32_t, Kept> elements;
};

void Insert(const Path& path, std::map<std::string, Kept, std::less<>>& tree) {
  Kept* kept = &tree[path.attribute];
  for (const PathElement& element : path.elements) {
    kept = std::holds_alternative<std::string>(element)
               ? &kept->members[std::get<std::string>(element)]
               : &kept->elements[std::get<uint32_t>(element)];
  }
  kept->whole = true;
}

std::optional<AttributeValue> Cut(const AttributeValue& value, const Kept& kept);

AttributeMap CutMap(const AttributeMap& map,
                    const std::map<std::string, Kept, std::less<>>& members) {
  std::vector<Attribute> cut;
  for (const auto& [name, kept] : members) {
    const AttributeValue* const value = map.Find(name);
    if (value == nullptr) continue;
    if (std::optional<AttributeValue> part = Cut(*value, kept)) {
      cut.push_back({name, *std::move(part)});
    }
  }
  return AttributeMap(std::move(cut));
}

// nullopt: nothing of it is kept.
std::optional<AttributeValue> Cut(const AttributeValue& value, const Kept& kept) {
  if (kept.whole) return value;
  if (const AttributeMap* map = value.map()) {
    AttributeMap cut = CutMap(*map, kept.members);
    if (cut.empty()) return std::nullopt;
    return AttributeValue::OfMap(std::move(cut));
  }
  const AttributeValue::List* const list = value.list();
  if (list == nullptr) return std::nullopt;
  AttributeValue::List cut;
  for (const auto& [index, element] : kept.elements) {
    if (index >= list->size()) break;
    if (std::optional<AttributeValue> part = Cut((*list)[index], element)) {
      cut.push_back(*std::move(part));
    }
  }
  if (cut.empty()) return std::nullopt;
  return AttributeValue::OfList(std::move(cut));
}

}  // namespace

bool Projection::is_top_level() const { return std::ranges::all_of(paths, &Path::is_top_level); }

ErrorOr<Projection> ParseProjection(std::string_view text, Placeholders& placeholders) {
  ExpressionReader reader(text, ExpressionKind::kProjection, placeholders);
  LS_RETURN_IF_ERROR(reader.CheckText());
  Projection projection;
  do {
    projection.paths.push_back(reader.TakePath());
  } while (reader.TakeSymbol(","));
  if (!reader.failed() && !reader.AtEnd()) reader.FailSyntax();
  if (!reader.failed()) {
    std::vector<const Path*> paths;
    for (const Path& path : projection.paths) paths.push_back(&path);
    if (const std::optional<PathClash> clash = FindClash(paths)) {
      reader.Note(Problem::kPaths, ClashMessage(*clash, paths));
    }
  }
  LS_RETURN_IF_ERROR(reader.Finish());
  return projection;
}

Item Project(const Projection& projection, const Item& item) {
  if (projection.is_everything()) return item;
  std::map<std::string, Kept, std::less<>> tree;
  for (const Path& path : projection.paths) Insert(path, tree);
  return CutMap(item, tree);
}

std::vector<std::string_view> AttributesOf(const Projection& projection) {
  std::vector<std::string_view> names;
  for (const Path& path : projection.paths) names.push_back(path.attribute);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace liststore::dynamodb
