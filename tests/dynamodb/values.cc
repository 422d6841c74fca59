#include "tests/dynamodb/values.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/dynamodb/values/item_json.h"
#include "engine/dynamodb/values/json.h"

namespace liststore::dynamodb::testing {

AttributeValue ValueOf(std::string_view json) {
  const auto document = JsonDocument::Parse(std::string(json));
  if (!document.ok()) {
    ADD_FAILURE() << "no JSON: " << json;
    return {};
  }
  auto value = ValueFromJson(document->root());
  if (!value.ok()) {
    ADD_FAILURE() << json << ": " << value.error().message;
    return {};
  }
  return *std::move(value);
}

Item ItemOf(std::string_view json) {
  const auto document = JsonDocument::Parse(std::string(json));
  if (!document.ok()) {
    ADD_FAILURE() << "no JSON: " << json;
    return {};
  }
  auto item = ItemFromJson(document->root());
  if (!item.ok()) {
    ADD_FAILURE() << json << ": " << item.error().message;
    return {};
  }
  return *std::move(item);
}

std::string ValueError(std::string_view json) {
  const auto document = JsonDocument::Parse(std::string(json));
  if (!document.ok()) return "no JSON";
  const auto value = ValueFromJson(document->root());
  if (value.ok()) return "no error";
  return std::string(NameOf(value.error().code)) + ": " + value.error().message;
}

Placeholders PlaceholdersOf(std::string_view names, std::string_view values) {
  const auto of_names = JsonDocument::Parse(std::string(names.empty() ? "null" : names));
  const auto of_values = JsonDocument::Parse(std::string(values.empty() ? "null" : values));
  if (!of_names.ok() || !of_values.ok()) {
    ADD_FAILURE() << "no JSON: " << names << values;
    return {};
  }
  auto placeholders = Placeholders::FromJson(of_names->root(), of_values->root(), true, true);
  if (!placeholders.ok()) {
    ADD_FAILURE() << placeholders.error().message;
    return {};
  }
  return *std::move(placeholders);
}

Number RandomNumber(Random& random) {
  std::string text = random.OneIn(2) ? "-" : "";
  const auto digits = static_cast<size_t>(random.Between(1, random.OneIn(3) ? 38 : 3));
  for (size_t i = 0; i < digits; ++i) text.push_back(static_cast<char>('0' + random.Below(10)));
  const int64_t exponent = random.OneIn(3) ? random.Between(-130, 88) : random.Between(-3, 3);
  text += "e" + std::to_string(exponent);
  const ErrorOr<Number> number = Number::Parse(text);
  return number.ok() ? *number : Number();
}

namespace {

std::string RandomText(Random& random) {
  const std::vector<std::string> texts = {"",
                                          "a",
                                          "b",
                                          "ab",
                                          "a\"b\\c\n\x01",
                                          "\xc3\xa9\xf0\x9f\x98\x80",
                                          "longer than eight bytes",
                                          "values"};
  return texts[random.Below(texts.size())];
}

template <typename T, typename Make>
std::vector<T> Several(Random& random, Make make) {
  std::vector<T> elements;
  const uint64_t count = 1 + random.Below(4);
  for (uint64_t i = 0; i < count; ++i) elements.push_back(make());
  return elements;
}

}  // namespace

AttributeValue RandomValue(Random& random, int nesting_max) {
  switch (random.Below(nesting_max > 0 ? 12 : 8)) {
    case 0:
      return AttributeValue::OfString(RandomText(random));
    case 1:
      return AttributeValue::OfNumber(RandomNumber(random));
    case 2:
      return AttributeValue::OfBinary(RandomText(random) + '\xff');
    case 3:
      return AttributeValue::OfBool(random.OneIn(2));
    case 4:
      return {};
    case 5:
      return AttributeValue::OfStrings(
          Several<std::string>(random, [&] { return RandomText(random); }));
    case 6:
      return AttributeValue::OfNumbers(
          Several<Number>(random, [&] { return RandomNumber(random); }));
    case 7:
      return AttributeValue::OfBinaries(Several<AttributeValue::Binary>(
          random, [&] { return AttributeValue::Binary{RandomText(random) + '\x80'}; }));
    case 8:
    case 9:
      return AttributeValue::OfMap(RandomItem(random, nesting_max - 1));
    default: {
      AttributeValue::List list;
      const uint64_t count = random.Below(4);
      for (uint64_t i = 0; i < count; ++i) list.push_back(RandomValue(random, nesting_max - 1));
      return AttributeValue::OfList(std::move(list));
    }
  }
}

Item RandomItem(Random& random, int nesting_max) {
  Item item;
  const uint64_t count = random.Below(5);
  for (uint64_t i = 0; i < count; ++i) {
    const auto name = static_cast<char>('a' + random.Below(4));
    item.Set(std::string(1, name), RandomValue(random, nesting_max));
  }
  return item;
}

}  // namespace liststore::dynamodb::testing
