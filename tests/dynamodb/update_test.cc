#include "engine/dynamodb/expressions/update.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "engine/dynamodb/values/erase_indexes.h"
#include "engine/dynamodb/values/item_json.h"
#include "tests/dynamodb/values.h"
#include "tests/support/seed.h"

namespace liststore::dynamodb {
namespace update_test {

using testing::ItemOf;
using testing::PlaceholdersOf;
using testing::RandomItem;
using testing::RandomValue;

constexpr std::string_view kItem =
    R"({"n":{"N":"5"},"s":{"S":"x"},"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]},"m":{"M":{"k":{"S":"v"},)"
    R"("l":{"L":[{"M":{"z":{"N":"1"}}}]}}},"ss":{"SS":["a","b"]},"ns":{"NS":["1","2"]}})";
constexpr std::string_view kNames = R"({"#n":"n","#v":"values"})";
constexpr std::string_view kValues =
    R"({":one":{"N":"1"},":two":{"N":"2"},":s":{"S":"y"},":l":{"L":[{"S":"p"}]},":e":{"L":[]},":m":{"M":{}},
        ":ss":{"SS":["b","c"]},":ns":{"NS":["2","3"]},":all":{"SS":["a","b","c"]},":t":{"BOOL":true},":nul":{"NULL":true}})";

// What the update makes of the item, without what it leaves as it is; or the error.
std::string Updated(std::string_view text) {
  Placeholders placeholders = PlaceholdersOf(kNames, kValues);
  const auto update = ParseUpdate(text, placeholders);
  if (!update.ok()) return update.error().message;
  const Item before = ItemOf(kItem);
  const auto after = Apply(*update, before);
  if (!after.ok()) return after.error().message;
  Item changed;
  for (const Attribute& attribute : *after) {
    const AttributeValue* const was = before.Find(attribute.name);
    if (was == nullptr || !(*was == attribute.value)) changed.Set(attribute.name, attribute.value);
  }
  std::string text_of = ToJson(changed);
  for (const Attribute& attribute : before) {
    if (!after->Contains(attribute.name)) text_of += " without " + attribute.name;
  }
  return text_of;
}

struct UpdateExample {
  std::string_view text, result;
};

// Source: DynamoDB's developer guide, "Using update expressions", and API reference, UpdateItem.
TEST(UpdateTest, WhatBecomesOfAnItem) {
  const UpdateExample examples[] = {
      // SET
      {"SET a = :one", R"({"a":{"N":"1"}})"},
      {"set #n = #n + :one", R"({"n":{"N":"6"}})"},
      {"SET n = n - :two, a = n", R"({"a":{"N":"5"},"n":{"N":"3"}})"},
      {"SET a = s, s = :s", R"({"a":{"S":"x"},"s":{"S":"y"}})"},
      {"SET a = if_not_exists(a, :one)", R"({"a":{"N":"1"}})"},
      {"SET n = if_not_exists(n, :one)", "{}"},
      {"SET a = if_not_exists(a, :two) + :one", R"({"a":{"N":"3"}})"},
      {"SET a = if_not_exists(a, if_not_exists(b, n))", R"({"a":{"N":"5"}})"},
      {"SET a = (n) + (:one)", R"({"a":{"N":"6"}})"},
      {"DELETE m.nope :ss", "{}"},
      {"SET a = (n + :one)", R"({"a":{"N":"6"}})"},
      {"SET l = list_append(l, :l)", R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"S":"p"}]}})"},
      {"SET l = list_append(:l, l)", R"({"l":{"L":[{"S":"p"},{"N":"0"},{"N":"1"},{"N":"2"}]}})"},
      {"SET a = list_append(if_not_exists(a, :e), :l)", R"({"a":{"L":[{"S":"p"}]}})"},
      {"SET l[1] = :s", R"({"l":{"L":[{"N":"0"},{"S":"y"},{"N":"2"}]}})"},
      // Behind the end, in the order of the indexes.
      {"SET l[90] = :one, l[10] = :two",
       R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"2"},{"N":"1"}]}})"},
      {"SET m.l[0].z = :s, m.fresh = :m",
       R"({"m":{"M":{"fresh":{"M":{}},"k":{"S":"v"},"l":{"L":[{"M":{"z":{"S":"y"}}}]}}}})"},
      {"SET a = m.l[0].z + l[2]", R"({"a":{"N":"3"}})"},
      {"SET #v = :nul", R"({"values":{"NULL":true}})"},
      // REMOVE
      {"REMOVE n, nope, m.k", R"({"m":{"M":{"l":{"L":[{"M":{"z":{"N":"1"}}}]}}}} without n)"},
      {"REMOVE l[0], l[2]", R"({"l":{"L":[{"N":"1"}]}})"},
      {"REMOVE l[2], l[0], l[1]", R"({"l":{"L":[]}})"},
      {"REMOVE l[7]", "{}"},
      // Indexes are those of the item before.
      {"REMOVE l[0] SET l[1] = :s, l[5] = :one", R"({"l":{"L":[{"S":"y"},{"N":"2"},{"N":"1"}]}})"},
      {"REMOVE l[3] SET l[5] = :one", R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"1"}]}})"},
      // ADD
      {"ADD n :two", R"({"n":{"N":"7"}})"},
      {"ADD a :two, ss :ss", R"({"a":{"N":"2"},"ss":{"SS":["a","b","c"]}})"},
      {"ADD ns :ns", R"({"ns":{"NS":["1","2","3"]}})"},
      {"ADD m.x :ss",
       R"({"m":{"M":{"k":{"S":"v"},"l":{"L":[{"M":{"z":{"N":"1"}}}]},"x":{"SS":["b","c"]}}}})"},
      // DELETE
      {"DELETE ss :ss", R"({"ss":{"SS":["a"]}})"},
      {"DELETE ss :all", "{} without ss"},
      {"DELETE a :ss", "{}"},
      // All of them.
      {"DELETE ss :ss REMOVE s SET a = s ADD n :one",
       R"({"a":{"S":"x"},"n":{"N":"6"},"ss":{"SS":["a"]}} without s)"},
  };
  for (const UpdateExample& example : examples) {
    EXPECT_EQ(Updated(example.text), example.result) << example.text;
  }
}

// Source: texts of Amazon's service as its public error messages show them; those of paths and key
// attributes observed with DynamoDB Local 2.5.4.
TEST(UpdateTest, WhatAnItemDoesNotAllow) {
  constexpr std::string_view kMissing =
      "The provided expression refers to an attribute that does not exist in the item";
  constexpr std::string_view kType =
      "An operand in the update expression has an incorrect data type";
  constexpr std::string_view kPath =
      "The document path provided in the update expression is invalid for update";
  const UpdateExample examples[] = {
      {"SET a = b", kMissing},      {"SET a = a + :one", kMissing},
      {"SET a = m.zz", kMissing},   {"SET a = list_append(a, :l)", kMissing},
      {"SET a = s + :one", kType},  {"SET a = list_append(s, :l)", kType},
      {"ADD s :one", kType},        {"ADD n :ss", kType},
      {"ADD ss :ns", kType},        {"DELETE n :ss", kType},
      {"DELETE ns :ss", kType},     {"SET a.b = :one", kPath},
      {"SET s.b = :one", kPath},    {"SET l.b = :one", kPath},
      {"SET m[0] = :one", kPath},   {"SET a[0] = :one", kPath},
      {"SET l[5].a = :one", kPath}, {"REMOVE a.b", kPath},
      {"REMOVE l[5].a", kPath},     {"ADD a.b :one", kPath},
  };
  for (const UpdateExample& example : examples) {
    EXPECT_EQ(Updated(example.text), example.result) << example.text;
  }
}

// Source: the same.
TEST(UpdateTest, ErrorsOfExpressions) {
  const UpdateExample examples[] = {
      {"", "The expression can not be empty;"},
      {"SETT a = :one", R"_(Syntax error; token: "SETT", near: "SETT a")_"},
      {"SET", R"_(Syntax error; token: "<EOF>", near: "SET")_"},
      {"SET a", R"_(Syntax error; token: "<EOF>", near: "a")_"},
      {"SET a =", R"_(Syntax error; token: "<EOF>", near: "=")_"},
      {"SET a = n + (n - :one)", R"_(Syntax error; token: "-", near: "n - :one")_"},
      {"SET a = (n + :one) + :one", R"_(Syntax error; token: "+", near: ") + :one")_"},
      {"SET a = ((:one))", "The expression has redundant parentheses;"},
      {"SET a = :one,", R"_(Syntax error; token: "<EOF>", near: ",")_"},
      {"SET a = :one + :one + :one", R"_(Syntax error; token: "+", near: ":one + :one")_"},
      {"SET a = :one * :one", R"_(Syntax error; token: "*", near: ":one * :one")_"},
      {"SET a = -:one", R"_(Syntax error; token: "-", near: "= -:one")_"},
      {"REMOVE a = :one", R"_(Syntax error; token: "=", near: "a = :one")_"},
      {"ADD a b", R"_(Syntax error; token: "b", near: "a b")_"},
      {"ADD a = :one", R"_(Syntax error; token: "=", near: "a = :one")_"},
      {"SET a = :one SET b = :one",
       "The \"SET\" section can only be used once in an update expression;"},
      {"remove a Remove b",
       "The \"REMOVE\" section can only be used once in an update expression;"},
      {"SET values = :one", "Attribute name is a reserved keyword; reserved keyword: values"},
      {"SET a = :zz",
       "An expression attribute value used in expression is not defined; attribute value: :zz"},
      {"SET #zz = :one",
       "An expression attribute name used in the document path is not defined; attribute name: "
       "#zz"},
      {"SET a = nofunction(:one)", "Invalid function name; function: nofunction"},
      {"SET a = size(s)", "The function is not allowed in an update expression; function: size"},
      {"SET a = if_not_exists(a)",
       "Incorrect number of operands for operator or function; operator or function: "
       "if_not_exists, "
       "number of operands: 1"},
      {"SET a = if_not_exists(:one, :two)",
       "Operator or function requires a document path; operator or function: if_not_exists"},
      {"SET a = list_append(l, :one)",
       "Incorrect operand type for operator or function; operator or function: list_append, "
       "operand "
       "type: N"},
      {"SET a = n + :s",
       "Incorrect operand type for operator or function; operator or function: +, operand type: S"},
      {"SET a = n - :s",
       "Incorrect operand type for operator or function; operator or function: -, operand type: S"},
      {"ADD a :s",
       "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, "
       "typeSet: "
       "ALLOWED_FOR_ADD_OPERAND"},
      {"DELETE ss :one",
       "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, "
       "typeSet: ALLOWED_FOR_DELETE_OPERAND"},
      {"SET a = :one, a = :two",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[a], path two: [a]"},
      {"SET m.k = :one REMOVE m",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[m, k], path two: [m]"},
      {"SET m.k = :one, m[0] = :one",
       "Two document paths conflict with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[m, k], path two: [m, [0]]"},
  };
  for (const UpdateExample& example : examples) {
    EXPECT_EQ(Updated(example.text), "Invalid UpdateExpression: " + std::string(example.result))
        << example.text;
  }
}

TEST(UpdateTest, KeyAttributesStay) {
  Placeholders placeholders = PlaceholdersOf(kNames, kValues);
  const auto update = ParseUpdate("SET a = :one REMOVE l[0]", placeholders);
  ASSERT_TRUE(update.ok());
  EXPECT_TRUE(CheckUpdateOfKey(*update, "pk", "").ok());
  EXPECT_EQ(
      CheckUpdateOfKey(*update, "pk", "l").error().message,
      "One or more parameter values were invalid: Cannot update attribute l. This attribute is "
      "part of the key");
  EXPECT_EQ(AttributesOf(*update), (std::vector<std::string_view>{"a", "l"}));
}

// Source: DynamoDB's API reference, UpdateItem, ReturnValues.
TEST(UpdateTest, WhatIsReturned) {
  Placeholders placeholders = PlaceholdersOf(kNames, kValues);
  const auto update = ParseUpdate("SET m.k = :one, a = :two, l[0] = :s REMOVE s", placeholders);
  ASSERT_TRUE(update.ok());
  const Item before = ItemOf(kItem);
  const auto after = Apply(*update, before);
  ASSERT_TRUE(after.ok());
  struct ReturnExample {
    std::string_view name, attributes;
  };
  const ReturnExample examples[] = {
      {"NONE", "{}"},
      {"UPDATED_OLD",
       R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]},"m":{"M":{"k":{"S":"v"}}},"s":{"S":"x"}})"},
      {"UPDATED_NEW",
       R"({"a":{"N":"2"},"l":{"L":[{"S":"y"},{"N":"1"},{"N":"2"}]},"m":{"M":{"k":{"N":"1"}}}})"},
  };
  for (const ReturnExample& example : examples) {
    const auto values = ReturnValuesNamed(example.name);
    ASSERT_TRUE(values.has_value());
    EXPECT_EQ(ToJson(ReturnedAttributes(*values, *update, &before, &*after)), example.attributes);
  }
  EXPECT_EQ(ReturnedAttributes(ReturnValues::kAllOld, *update, &before, &*after), before);
  EXPECT_EQ(ReturnedAttributes(ReturnValues::kAllNew, *update, &before, &*after), *after);
  EXPECT_EQ(ReturnedAttributes(ReturnValues::kAllOld, *update, nullptr, &*after), Item());
  EXPECT_EQ(ReturnValuesNamed("all_old"), std::nullopt);
}

TEST(UpdateTest, CopiesOfAttributesAreBounded) {
  Item item;
  item.Set("l", AttributeValue::OfList(
                    AttributeValue::List(1, AttributeValue::OfString(std::string(300'000, 'x')))));
  Placeholders placeholders;
  const auto update =
      ParseUpdate("SET a = list_append(list_append(l, l), list_append(l, l))", placeholders);
  ASSERT_TRUE(update.ok());
  const auto after = Apply(*update, item);
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().message, "Item size to update has exceeded the maximum allowed size");
}

TEST(UpdateTest, NestingIsBounded) {
  AttributeValue deep = AttributeValue::OfMap({});
  for (int i = 1; i < kNestingMax; ++i) {
    AttributeMap outer;
    outer.Set("d", std::move(deep));
    deep = AttributeValue::OfMap(std::move(outer));
  }
  Item item;
  item.Set("m", AttributeValue::OfMap({}));
  Placeholders placeholders;
  placeholders.AddValue(":deep", deep);
  const auto fits = ParseUpdate("SET x = :deep", placeholders);
  const auto exceeds = ParseUpdate("SET m.x = :deep", placeholders);
  ASSERT_TRUE(fits.ok() && exceeds.ok());
  EXPECT_TRUE(Apply(*fits, item).ok());
  EXPECT_FALSE(Apply(*exceeds, item).ok());
}

// --- A model: lists are maps by index, with gaps until the end ---

struct ModelNode {
  AttributeValue leaf;
  bool is_map = false;
  bool is_list = false;
  std::map<std::string, ModelNode> members;
  std::map<uint32_t, ModelNode> elements;

  static ModelNode Of(const AttributeValue& value) {
    ModelNode node;
    if (const AttributeMap* map = value.map()) {
      node.is_map = true;
      for (const Attribute& member : *map) node.members[member.name] = Of(member.value);
    } else if (const AttributeValue::List* list = value.list()) {
      node.is_list = true;
      for (uint32_t i = 0; i < list->size(); ++i) node.elements[i] = Of((*list)[i]);
    } else {
      node.leaf = value;
    }
    return node;
  }
  AttributeValue Value() const {
    if (is_map) {
      std::vector<Attribute> all;
      for (const auto& [name, member] : members) all.push_back({name, member.Value()});
      return AttributeValue::OfMap(AttributeMap(std::move(all)));
    }
    if (!is_list) return leaf;
    AttributeValue::List all;
    for (const auto& [index, element] : elements) all.push_back(element.Value());
    return AttributeValue::OfList(std::move(all));
  }
  ModelNode* Child(const PathElement& element) {
    if (const auto* name = std::get_if<std::string>(&element)) {
      const auto found = members.find(*name);
      return found == members.end() ? nullptr : &found->second;
    }
    const auto found = elements.find(std::get<uint32_t>(element));
    return found == elements.end() ? nullptr : &found->second;
  }
};

// A path that often leads somewhere.
Path RandomPath(Random& random, const Item& item) {
  Path path;
  path.attribute = std::string(1, static_cast<char>('a' + random.Below(5)));
  const AttributeValue* at = item.Find(path.attribute);
  while (at != nullptr && random.Below(3) != 0) {
    if (at->map() != nullptr) {
      path.elements.emplace_back(std::string(1, static_cast<char>('a' + random.Below(4))));
    } else if (at->list() != nullptr) {
      path.elements.emplace_back(static_cast<uint32_t>(random.Below(at->list()->size() + 2)));
    } else {
      break;
    }
    at = Resolve(path, item);
  }
  return path;
}

std::string ExpressionOf(const Path& path) {
  std::string text = path.attribute;
  for (const PathElement& element : path.elements) {
    if (const auto* name = std::get_if<std::string>(&element)) {
      text += "." + *name;
    } else {
      text += "[" + std::to_string(std::get<uint32_t>(element)) + "]";
    }
  }
  return text;
}

// The model's answer; nullopt: an error.
std::optional<Item> ModelUpdate(
    const std::vector<std::pair<Path, std::optional<AttributeValue>>>& actions,
    const Item& before) {
  ModelNode root = ModelNode::Of(AttributeValue::OfMap(before));
  const auto parent_of = [&root](const Path& path) {
    ModelNode* parent = &root;
    PathElement last = path.attribute;
    for (const PathElement& element : path.elements) {
      parent = parent->Child(last);
      if (parent == nullptr) break;
      last = element;
    }
    return std::pair(parent, last);
  };
  // Places as they are before anything is done.
  std::vector<std::pair<ModelNode*, PathElement>> places;
  for (const auto& [path, value] : actions) {
    places.push_back(parent_of(path));
    const auto& [parent, last] = places.back();
    if (parent == nullptr) return std::nullopt;
    if (std::holds_alternative<std::string>(last) ? !parent->is_map : !parent->is_list)
      return std::nullopt;
  }
  // Taken out: an empty place. Nodes of maps stay where they are.
  std::vector<std::pair<ModelNode*, PathElement>> taken;
  for (size_t i = 0; i < actions.size(); ++i) {
    const auto& [parent, last] = places[i];
    if (actions[i].second.has_value()) {
      ModelNode node = ModelNode::Of(*actions[i].second);
      if (const auto* name = std::get_if<std::string>(&last)) {
        parent->members[*name] = std::move(node);
      } else {
        parent->elements[std::get<uint32_t>(last)] = std::move(node);
      }
    } else if (parent->Child(last) != nullptr) {
      taken.push_back(places[i]);
    }
  }
  for (const auto& [parent, last] : taken) {
    if (const auto* name = std::get_if<std::string>(&last)) {
      parent->members.erase(*name);
    } else {
      parent->elements.erase(std::get<uint32_t>(last));
    }
  }
  return *root.Value().map();
}

TEST(UpdateTest, AgreesWithAModel) {
  Random random(liststore::testing::TestSeed());
  const uint64_t steps = liststore::testing::TestSteps(4'000);
  uint64_t applied = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    const Item before = RandomItem(random, 3);
    std::vector<std::pair<Path, std::optional<AttributeValue>>> actions;
    Placeholders placeholders;
    std::string set;
    std::string remove;
    const uint64_t count = 1 + random.Below(4);
    for (uint64_t i = 0; i < count; ++i) {
      const Path path = RandomPath(random, before);
      if (random.OneIn(3)) {
        remove += (remove.empty() ? "REMOVE " : ", ") + ExpressionOf(path);
        actions.emplace_back(path, std::nullopt);
        continue;
      }
      set += (set.empty() ? "SET " : ", ") + ExpressionOf(path) + " = ";
      // A constant, or what the item has somewhere.
      const Path from = RandomPath(random, before);
      const AttributeValue* const there = Resolve(from, before);
      if (there != nullptr && random.OneIn(2)) {
        set += ExpressionOf(from);
        actions.emplace_back(path, *there);
      } else {
        const std::string key = ":v" + std::to_string(i);
        AttributeValue value = RandomValue(random, 1);
        placeholders.AddValue(key, value);
        set += key;
        actions.emplace_back(path, std::move(value));
      }
    }
    const std::string text = random.OneIn(2) ? set + " " + remove : remove + " " + set;
    SCOPED_TRACE("step " + std::to_string(step) + ": " + text + " of " + ToJson(before));
    const auto update = ParseUpdate(text, placeholders);
    std::vector<const Path*> paths;
    for (const auto& action : actions) paths.push_back(&action.first);
    bool clash = false;
    for (size_t i = 0; i < paths.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const Path& a = *paths[i];
        const Path& b = *paths[j];
        size_t same = 0;
        const size_t shorter = std::min(a.elements.size(), b.elements.size());
        while (same < shorter && a.elements[same] == b.elements[same]) ++same;
        clash |= a.attribute == b.attribute &&
                 (same == shorter || a.elements[same].index() != b.elements[same].index());
      }
    }
    ASSERT_EQ(update.ok(), !clash);
    if (clash) continue;
    const auto after = Apply(*update, before);
    const std::optional<Item> model = ModelUpdate(actions, before);
    ASSERT_EQ(after.ok(), model.has_value()) << (after.ok() ? "" : after.error().message);
    if (!after.ok()) continue;
    ASSERT_EQ(ToJson(*after), ToJson(*model));
    ++applied;
  }
  EXPECT_GT(applied, steps / 10);
}

// An element that counts how often one of its kind was moved.
struct Moved {
  explicit Moved(size_t of_value) : value(of_value) {}
  Moved(Moved&& other) noexcept : value(other.value) { ++moves; }
  Moved& operator=(Moved&& other) noexcept {
    value = other.value;
    ++moves;
    return *this;
  }

  size_t value;
  static inline size_t moves = 0;
};

TEST(UpdateTest, ElementsAreTakenOutAndPutInByOnePass) {
  constexpr size_t kElements = 200'000;
  std::vector<Moved> elements;
  elements.reserve(kElements);
  for (size_t i = 0; i < kElements; ++i) elements.emplace_back(i);
  std::vector<size_t> indexes;
  for (size_t i = 0; i < 500; ++i) indexes.push_back(2 * i);
  Moved::moves = 0;
  EraseIndexes(elements, indexes);
  EXPECT_LE(Moved::moves, kElements);
  ASSERT_EQ(elements.size(), kElements - indexes.size());
  EXPECT_EQ(elements[0].value, 1u);
  EXPECT_EQ(elements[499].value, 999u);
  EXPECT_EQ(elements[500].value, 1000u);
  EXPECT_EQ(elements.back().value, kElements - 1);

  std::vector<Moved> added;
  added.reserve(indexes.size());
  for (const size_t index : indexes) added.emplace_back(index);
  Moved::moves = 0;
  MergeInto(elements, std::move(added),
            [](const Moved& a, const Moved& b) { return a.value < b.value; });
  EXPECT_LE(Moved::moves, kElements);
  ASSERT_EQ(elements.size(), kElements);
  for (size_t i = 0; i < kElements; ++i) ASSERT_EQ(elements[i].value, i);
}

// Of lists and maps within one another several at once: against the same one by one.
TEST(UpdateTest, ManyAreTakenOutAndPutInAtOnce) {
  const Item item = ItemOf(
      R"({"l":{"L":[{"N":"0"},{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]},{"N":"2"},{"N":"3"},)"
      R"({"M":{"b":{"N":"1"},"d":{"N":"2"},"f":{"N":"3"}}}]},"b":{"N":"1"},"d":{"N":"2"}})");
  Placeholders placeholders = PlaceholdersOf(kNames, R"({":one":{"N":"1"}})");
  const auto update = ParseUpdate(
      "SET l[4].c = :one, l[4].a = :one, l[4].g = :one, c = :one, a = :one, e = :one "
      "REMOVE l[1][3], l[0], l[1][0], l[4].f, l[3], l[4].b, l[1][9], d, nope",
      placeholders);
  ASSERT_TRUE(update.ok()) << update.error().message;
  const auto after = Apply(*update, item);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(
      ToJson(*after),
      R"({"a":{"N":"1"},"b":{"N":"1"},"c":{"N":"1"},"e":{"N":"1"},"l":{"L":[{"L":[{"N":"1"},{"N":"2"}]},)"
      R"({"N":"2"},{"M":{"a":{"N":"1"},"c":{"N":"1"},"d":{"N":"2"},"g":{"N":"1"}}}]}})");
}

// Each name is a copy in the tree, and is compared with those of the item.
TEST(UpdateTest, LongNamesAreNotNamedAgainAndAgain) {
  Placeholders placeholders;
  placeholders.AddName("#x", std::string(65'000, 'x'));
  std::string text = "REMOVE ";
  for (int i = 0; i < 100; ++i) {
    text.append(i == 0 ? "" : ", ").append("#x[").append(std::to_string(i)).append("]");
  }
  const auto update = ParseUpdate(text, placeholders);
  ASSERT_FALSE(update.ok());
  EXPECT_NE(update.error().message.find("names that the expression uses"), std::string::npos);
}

}  // namespace update_test
}  // namespace liststore::dynamodb
