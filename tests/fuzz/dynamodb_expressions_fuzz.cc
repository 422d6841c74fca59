// Expressions: the first byte says which. What is parsed is carried out on items; an error is the client's, and
// says which expression is meant.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/key_condition.h"
#include "engine/dynamodb/expressions/legacy.h"
#include "engine/dynamodb/expressions/projection.h"
#include "engine/dynamodb/expressions/update.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"

namespace liststore::dynamodb {
namespace {

Item FixedItem() {
  const auto document = JsonDocument::Parse(
      R"({"a":{"N":"1"},"b":{"S":"x"},"l":{"L":[{"N":"1"},{"M":{"a":{"S":"y"}}}]},)"
      R"("m":{"M":{"a":{"N":"2"},"l":{"L":[]}}},"s":{"SS":["p","q"]}})");
  return *ItemFromJson(document->root());
}

Placeholders FixedPlaceholders() {
  Placeholders placeholders;
  placeholders.AddName("#a", "a");
  placeholders.AddName("#v", "values");
  placeholders.AddValue(":n", AttributeValue::OfNumber(Number::Of(1)));
  placeholders.AddValue(":s", AttributeValue::OfString("x"));
  placeholders.AddValue(":t", AttributeValue::OfString("SS"));
  placeholders.AddValue(":l", AttributeValue::OfList({AttributeValue()}));
  placeholders.AddValue(":e", AttributeValue::OfStrings({"p", "r"}));
  return placeholders;
}

void CheckError(const Error& error, std::string_view expression) {
  LS_CHECK(error.code == ErrorCode::kValidation || error.code == ErrorCode::kSerialization,
           "errors of expressions are the client's");
  LS_CHECK(!IsValidUtf8(expression) || IsValidUtf8(error.message), "messages are texts");
}

void FuzzUpdate(const Update& update, const Item& item) {
  (void)CheckUpdateOfKey(update, "b", "s");
  const ErrorOr<Item> after = Apply(update, item);
  if (!after.ok()) return;
  LS_CHECK(ItemFromBytes(ItemBytes(*after)) == *after, "what an update makes can be stored");
  for (const ReturnValues values : {ReturnValues::kUpdatedOld, ReturnValues::kUpdatedNew}) {
    (void)ReturnedAttributes(values, update, &item, &*after);
  }
}

void FuzzLegacy(std::string_view text, const Item& item) {
  const auto document = JsonDocument::Parse(std::string(text), 10'000);
  if (!document.ok()) return;
  const Json root = document->root();
  if (const auto condition = ConditionOfExpected(root.Find("Expected"), root.Find("Op"));
      condition.ok()) {
    Effort effort;
    (void)Evaluate(*condition, item, effort);
  }
  if (const auto filter = ConditionOfFilter(root.Find("Filter"), root.Find("Op")); filter.ok()) {
    Effort effort;
    (void)Evaluate(*filter, item, effort);
  }
  if (const auto projection = ProjectionOfAttributesToGet(root.Find("Get")); projection.ok()) {
    (void)Project(*projection, item);
  }
  if (const auto update = UpdateOfAttributeUpdates(root.Find("Updates")); update.ok()) {
    FuzzUpdate(*update, item);
  }
  (void)KeyConditionOfKeyConditions(root.Find("Keys"), {{"b", AttributeType::kS}, std::nullopt});
}

void Fuzz(uint8_t kind, std::string_view text) {
  const Item item = FixedItem();
  Placeholders placeholders = FixedPlaceholders();
  switch (kind % 5) {
    case 0: {
      const auto condition = ParseCondition(text, ExpressionKind::kFilter, placeholders);
      if (!condition.ok()) return CheckError(condition.error(), text);
      const auto judge = [&](const Item& of) {
        Effort effort;
        const ErrorOr<bool> judged = Evaluate(*condition, of, effort);
        LS_CHECK(judged.ok(), "so small an item is looked at whole");
        return *judged;
      };
      // What it does not name does not matter to it.
      LS_CHECK(judge(ItemView(ItemBytes(item)).Select(AttributesOf(*condition))) == judge(item),
               "the attributes of a condition suffice for it");
      (void)judge(Item());
      return;
    }
    case 1: {
      const KeySchema schema = {{"b", AttributeType::kS}, KeyAttribute{"a", AttributeType::kN}};
      const auto condition = ParseKeyCondition(text, schema, placeholders);
      if (!condition.ok()) return CheckError(condition.error(), text);
      LS_CHECK(condition->hash.is(AttributeType::kS), "keys have the schema's types");
      if (condition->sort.has_value()) (void)Contains(*condition->sort, *item.Find("a"));
      return;
    }
    case 2: {
      const auto projection = ParseProjection(text, placeholders);
      if (!projection.ok()) return CheckError(projection.error(), text);
      const Item part = Project(*projection, item);
      LS_CHECK(
          Project(*projection, ItemView(ItemBytes(item)).Select(AttributesOf(*projection))) == part,
          "the attributes of a projection suffice for it");
      return;
    }
    case 3: {
      const auto update = ParseUpdate(text, placeholders);
      if (!update.ok()) return CheckError(update.error(), text);
      FuzzUpdate(*update, item);
      FuzzUpdate(*update, Item());
      return;
    }
    default:
      FuzzLegacy(text, item);
  }
}

}  // namespace
}  // namespace liststore::dynamodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  liststore::dynamodb::Fuzz(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
