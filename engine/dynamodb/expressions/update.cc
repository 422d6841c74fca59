#include "engine/dynamodb/expressions/update.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/dynamodb/expressions/projection.h"
#include "engine/dynamodb/values/erase_indexes.h"

namespace liststore::dynamodb {
namespace {

Error MissingOperand() {
  return Invalid("The provided expression refers to an attribute that does not exist in the item");
}
Error WrongType(const Update& update) {
  return Invalid(update.of_attribute_updates
                     ? "Type mismatch for attribute to update"
                     : "An operand in the update expression has an incorrect data type");
}
Error InvalidPath() {
  return Invalid("The document path provided in the update expression is invalid for update");
}
Error TooDeep() { return Invalid("Nesting Levels have exceeded supported limits"); }

// Lists and maps around what is at the path.
int DepthOf(const Path& path) { return static_cast<int>(path.elements.size()); }

// What a list is made up to in one update: lists can be put behind themselves in one expression again and
// again.
constexpr size_t kAppendedBytesMax = 2 * kItemBytesMax;

// Right-hand sides, of the item as it was.
class Operands {
 public:
  Operands(const Update& update, const Item& before) : update_(update), before_(before) {}

  ErrorOr<AttributeValue> ValueOf(const UpdateValue& value) {
    switch (value.kind) {
      case UpdateValue::Kind::kConstant:
        return value.constant;
      case UpdateValue::Kind::kPath: {
        const AttributeValue* const found = Resolve(value.path, before_);
        if (found == nullptr) return MissingOperand();
        return Copied(*found);
      }
      case UpdateValue::Kind::kIfNotExists: {
        const AttributeValue* const found = Resolve(value.path, before_);
        if (found != nullptr) return Copied(*found);
        return ValueOf(value.operands[0]);
      }
      case UpdateValue::Kind::kListAppend:
        return Append(value);
      case UpdateValue::Kind::kPlus:
      case UpdateValue::Kind::kMinus:
        return Sum(value);
    }
    return MissingOperand();
  }

 private:
  // What is copied out of the item is limited: 4 KB of expression name it a thousand times.
  ErrorOr<AttributeValue> Copied(const AttributeValue& value) {
    copied_bytes_ += SizeInItem(value);
    if (copied_bytes_ > kAppendedBytesMax) {
      return Invalid("Item size to update has exceeded the maximum allowed size");
    }
    return value;
  }

  ErrorOr<AttributeValue> Append(const UpdateValue& value) {
    LS_ASSIGN_OR_RETURN(AttributeValue front, ValueOf(value.operands[0]));
    LS_ASSIGN_OR_RETURN(AttributeValue back, ValueOf(value.operands[1]));
    AttributeValue::List* const list = front.list();
    AttributeValue::List* const behind = back.list();
    if (list == nullptr || behind == nullptr) return WrongType(update_);
    list->insert(list->end(), std::make_move_iterator(behind->begin()),
                 std::make_move_iterator(behind->end()));
    return front;
  }

  ErrorOr<AttributeValue> Sum(const UpdateValue& value) {
    LS_ASSIGN_OR_RETURN(const AttributeValue left, ValueOf(value.operands[0]));
    LS_ASSIGN_OR_RETURN(const AttributeValue right, ValueOf(value.operands[1]));
    if (left.number() == nullptr || right.number() == nullptr) return WrongType(update_);
    LS_ASSIGN_OR_RETURN(const Number sum, value.kind == UpdateValue::Kind::kPlus
                                              ? Number::Add(*left.number(), *right.number())
                                              : Number::Subtract(*left.number(), *right.number()));
    return AttributeValue::OfNumber(sum);
  }

  const Update& update_;
  const Item& before_;
  size_t copied_bytes_ = 0;
};

template <typename T>
std::vector<T> UnionOf(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> both;
  std::ranges::set_union(a, b, std::back_inserter(both), std::less<>());
  return both;
}
template <typename T>
std::vector<T> DifferenceOf(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest), std::less<>());
  return rest;
}

// Both sets of one type: `combine` of their elements, nullopt if that is nothing.
template <typename Combine>
std::optional<AttributeValue> CombineSets(const AttributeValue& a, const AttributeValue& b,
                                          Combine combine) {
  if (a.strings() != nullptr) {
    auto elements = combine(a.strings()->elements, b.strings()->elements);
    if (elements.empty()) return std::nullopt;
    return AttributeValue::OfStrings(std::move(elements));
  }
  if (a.numbers() != nullptr) {
    auto elements = combine(a.numbers()->elements, b.numbers()->elements);
    if (elements.empty()) return std::nullopt;
    return AttributeValue::OfNumbers(std::move(elements));
  }
  auto elements = combine(a.binaries()->elements, b.binaries()->elements);
  if (elements.empty()) return std::nullopt;
  return AttributeValue::OfBinaries(std::move(elements));
}

// What stands at the path's end: in a map under a name, or in a list.
struct Place {
  AttributeMap* map = nullptr;  // the item, or a map within
  std::string_view name;
  AttributeValue::List* list = nullptr;
  size_t index = 0;
};

// nullopt: what leads there is not there, or of another type.
std::optional<Place> PlaceOf(const Path& path, Item& item) {
  Place place;
  place.map = &item;
  place.name = path.attribute;
  for (const PathElement& element : path.elements) {
    AttributeValue* inner = nullptr;
    if (place.map != nullptr) {
      inner = place.map->Find(place.name);
    } else if (place.index < place.list->size()) {
      inner = &(*place.list)[place.index];
    }
    if (inner == nullptr) return std::nullopt;
    const auto* const name = std::get_if<std::string>(&element);
    place = Place();
    if (name != nullptr) {
      place.map = inner->map();
      place.name = *name;
    } else {
      place.list = inner->list();
      place.index = std::get<uint32_t>(element);
    }
    if (place.map == nullptr && place.list == nullptr) return std::nullopt;
  }
  return place;
}

// Carries out actions, whose values are known, on the item. In this order: what is put in stands where the
// paths say as long as nothing was taken out; elements beyond the end of a list come behind it in the order
// of their indexes; then elements are taken out.
class Changes {
 public:
  explicit Changes(Item& item) : item_(item) {}

  void Put(const Path& path, AttributeValue value) { puts_.push_back({&path, std::move(value)}); }
  void Remove(const Path& path) { removals_.push_back(&path); }

  Status CarryOut() {
    const auto last_index = [](const Path& path) {
      const auto* index =
          path.elements.empty() ? nullptr : std::get_if<uint32_t>(&path.elements.back());
      return index == nullptr ? uint32_t{0} : *index;
    };
    // The deepest first: what leads through an element that only comes with another is no path yet.
    std::ranges::stable_sort(puts_, [&](const PutIn& a, const PutIn& b) {
      const size_t depth_a = a.path->elements.size();
      const size_t depth_b = b.path->elements.size();
      return depth_a != depth_b ? depth_a > depth_b : last_index(*a.path) < last_index(*b.path);
    });
    // Before anything is put in: a list that grows is not as long as an index says.
    LS_RETURN_IF_ERROR(FindRemovals());
    LS_RETURN_IF_ERROR(CarryOutPuts());
    RemoveFound();
    return {};
  }

 private:
  struct PutIn {
    const Path* path;
    AttributeValue value;
  };
  static size_t DepthOfPut(const PutIn& put) { return put.path->elements.size(); }
  static size_t DepthOfRemoval(const Path* path) { return path->elements.size(); }

  // Depth by depth: maps and lists of one depth are not within one another, so none moves while others
  // change. What is new in a map comes in at once: one by one moves all members behind it each time.
  Status CarryOutPuts() {
    for (size_t first = 0, end = 0; first < puts_.size(); first = end) {
      std::map<AttributeMap*, std::vector<Attribute>> added;
      while (end < puts_.size() && DepthOfPut(puts_[end]) == DepthOfPut(puts_[first])) {
        PutIn& put = puts_[end++];
        const std::optional<Place> place = PlaceOf(*put.path, item_);
        if (!place.has_value()) return InvalidPath();
        if (DepthOf(*put.path) + NestingOf(put.value) > kNestingMax) return TooDeep();
        if (place->map == nullptr) {
          if (place->index < place->list->size()) {
            (*place->list)[place->index] = std::move(put.value);
          } else {
            place->list->push_back(std::move(put.value));
          }
        } else if (AttributeValue* const there = place->map->Find(place->name)) {
          *there = std::move(put.value);
        } else {
          added[place->map].push_back({std::string(place->name), std::move(put.value)});
        }
      }
      for (auto& [map, attributes] : added) map->Add(std::move(attributes));
    }
    return {};
  }

  // Drops those whose element or member is not there.
  Status FindRemovals() {
    std::vector<const Path*> found;
    for (const Path* const path : removals_) {
      const std::optional<Place> place = PlaceOf(*path, item_);
      if (!place.has_value()) return InvalidPath();
      const bool is_there = place->map != nullptr ? place->map->Contains(place->name)
                                                  : place->index < place->list->size();
      if (is_there) found.push_back(path);
    }
    removals_ = std::move(found);
    return {};
  }

  // The deepest first: no path of an update leads through what another takes out, but one may lead through
  // what stands behind it. Of one list or map all at once.
  void RemoveFound() {
    std::ranges::stable_sort(removals_, std::greater<>(), DepthOfRemoval);
    for (size_t first = 0, end = 0; first < removals_.size(); first = end) {
      std::map<AttributeMap*, std::vector<std::string_view>> members;
      std::map<AttributeValue::List*, std::vector<size_t>> elements;
      while (end < removals_.size() &&
             DepthOfRemoval(removals_[end]) == DepthOfRemoval(removals_[first])) {
        const std::optional<Place> place = PlaceOf(*removals_[end++], item_);
        LS_CHECK(place.has_value(), "what was found is there until it is taken out");
        if (place->map != nullptr) {
          members[place->map].push_back(place->name);
        } else {
          elements[place->list].push_back(place->index);
        }
      }
      for (const auto& [map, names] : members) map->Erase(names);
      for (auto& [list, indexes] : elements) {
        std::ranges::sort(indexes);  // paths do not overlap: each is there once
        EraseIndexes(*list, indexes);
      }
    }
  }

  Item& item_;
  std::vector<PutIn> puts_;
  std::vector<const Path*> removals_;
};

// ADD and DELETE: what is at the path, and the value.
Status AddOrDelete(const Update& update, const UpdateAction& action, const Item& before,
                   Changes& changes) {
  const AttributeValue* const there = Resolve(action.path, before);
  const AttributeValue& value = action.value.constant;
  const bool deletes = action.kind == UpdateAction::Kind::kDelete;
  if (there == nullptr) {
    // To take out nothing asks for what leads there all the same.
    if (deletes) {
      changes.Remove(action.path);
    } else {
      changes.Put(action.path, value);
    }
    return {};
  }
  if (there->type() != value.type()) return WrongType(update);
  if (action.kind == UpdateAction::Kind::kAddToList) {
    AttributeValue::List list = *there->list();
    list.insert(list.end(), value.list()->begin(), value.list()->end());
    changes.Put(action.path, AttributeValue::OfList(std::move(list)));
  } else if (value.number() != nullptr) {
    LS_ASSIGN_OR_RETURN(const Number sum, Number::Add(*there->number(), *value.number()));
    changes.Put(action.path, AttributeValue::OfNumber(sum));
  } else {
    const auto combine = [&](const auto& a, const auto& b) {
      return deletes ? DifferenceOf(a, b) : UnionOf(a, b);
    };
    std::optional<AttributeValue> set = CombineSets(*there, value, combine);
    // No set is empty: it goes.
    if (set.has_value()) {
      changes.Put(action.path, *std::move(set));
    } else {
      changes.Remove(action.path);
    }
  }
  return {};
}

void NoteAttributes(const UpdateValue& value, std::vector<std::string_view>& names) {
  if (value.kind == UpdateValue::Kind::kPath || value.kind == UpdateValue::Kind::kIfNotExists) {
    names.push_back(value.path.attribute);
  }
  for (const UpdateValue& operand : value.operands) NoteAttributes(operand, names);
}

constexpr std::array<std::string_view, 5> kReturnValues = {"NONE", "ALL_OLD", "UPDATED_OLD",
                                                           "ALL_NEW", "UPDATED_NEW"};

}  // namespace

Status CheckUpdateOfKey(const Update& update, std::string_view hash_name,
                        std::string_view sort_name) {
  for (const UpdateAction& action : update.actions) {
    const std::string& name = action.path.attribute;
    if (name == hash_name || (!sort_name.empty() && name == sort_name)) {
      return InvalidParameter("Cannot update attribute " + name +
                              ". This attribute is part of the key");
    }
  }
  return {};
}

ErrorOr<Item> Apply(const Update& update, const Item& before) {
  Item after = before;
  Operands operands(update, before);
  Changes changes(after);
  for (const UpdateAction& action : update.actions) {
    if (action.kind == UpdateAction::Kind::kSet) {
      LS_ASSIGN_OR_RETURN(AttributeValue value, operands.ValueOf(action.value));
      changes.Put(action.path, std::move(value));
    } else if (action.kind == UpdateAction::Kind::kRemove) {
      changes.Remove(action.path);
    } else {
      LS_RETURN_IF_ERROR(AddOrDelete(update, action, before, changes));
    }
  }
  LS_RETURN_IF_ERROR(changes.CarryOut());
  return after;
}

std::vector<std::string_view> AttributesOf(const Update& update) {
  std::vector<std::string_view> names;
  for (const UpdateAction& action : update.actions) {
    names.push_back(action.path.attribute);
    NoteAttributes(action.value, names);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<ReturnValues> ReturnValuesNamed(std::string_view name) {
  const auto found = std::ranges::find(kReturnValues, name);
  if (found == kReturnValues.end()) return std::nullopt;
  return static_cast<ReturnValues>(found - kReturnValues.begin());
}

Item ReturnedAttributes(ReturnValues values, const Update& update, const Item* before,
                        const Item* after) {
  const bool old = values == ReturnValues::kAllOld || values == ReturnValues::kUpdatedOld;
  const Item* const item = old ? before : after;
  if (values == ReturnValues::kNone || item == nullptr) return {};
  if (values == ReturnValues::kAllOld || values == ReturnValues::kAllNew) return *item;
  Projection projection;
  for (const UpdateAction& action : update.actions) {
    Path path = action.path;
    // Of a list all elements: those behind one that was taken out have other places.
    const auto is_index = [](const PathElement& element) { return element.index() == 1; };
    path.elements.erase(std::ranges::find_if(path.elements, is_index), path.elements.end());
    projection.paths.push_back(std::move(path));
  }
  if (projection.paths.empty()) return {};
  return Project(projection, *item);
}

}  // namespace liststore::dynamodb
