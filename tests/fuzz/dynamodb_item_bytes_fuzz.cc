// Bytes that may be an item of DynamoDB, as whoever writes the column by CQL can put them in: what is decoded is
// encoded to the same bytes, and has the same JSON; what is broken is refused, and answered as JSON or not at
// all.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore::dynamodb;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<Item> item = ItemFromBytes(bytes);
  std::string json = "before";
  const bool written = AppendItemJsonOfBytes(bytes, json);
  LS_CHECK(json.starts_with("before") && (written || json.size() == 6),
           "all or nothing is written");
  if (written) {
    LS_CHECK(JsonDocument::Parse(json.substr(6)).ok(), "what is written is JSON");
  }
  const ItemView view(bytes);
  const bool whole = view.whole();
  constexpr std::array<std::string_view, 3> kNames = {"b", "a", "values"};
  const Item some = view.Select(kNames);
  if (!item.has_value()) return 0;
  LS_CHECK(whole, "what is decoded has the outer form");
  LS_CHECK(ItemBytes(*item) == bytes, "equal items have equal bytes");
  LS_CHECK(written && json.substr(6) == ToJson(*item), "the JSON is that of the item");
  for (const std::string_view name : kNames) {
    const AttributeValue* const value = item->Find(name);
    LS_CHECK(value == nullptr ? !some.Contains(name) : *some.Find(name) == *value,
             "what is selected is what is there");
  }
  return 0;
}
