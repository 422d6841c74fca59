// A text that may be an item in DynamoDB's JSON: what is read can be written, as JSON and as bytes, and read
// again, and is the same.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/check.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore::dynamodb;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = JsonDocument::Parse(text, 10'000);
  if (!document.ok()) return 0;
  const ErrorOr<Item> item = ItemFromJson(document->root());
  if (!item.ok()) {
    LS_CHECK(HttpStatusOf(item.error().code) == 400, "what a client sends is the client's fault");
    return 0;
  }
  const std::string json = ToJson(*item);
  const auto again = JsonDocument::Parse(json);
  LS_CHECK(again.ok(), "what is written is JSON");
  const ErrorOr<Item> read = ItemFromJson(again->root());
  LS_CHECK(read.ok() && *read == *item, "an item comes back from its JSON");
  const std::string bytes = ItemBytes(*item);
  LS_CHECK(ItemFromBytes(bytes) == *item, "an item comes back from its bytes");
  std::string of_bytes;
  LS_CHECK(AppendItemJsonOfBytes(bytes, of_bytes) && of_bytes == json,
           "the JSON of the bytes is that of the item");
  LS_CHECK(ItemSizeOfBytes(bytes) == ItemSize(*item), "sizes are the same");
  for (const Attribute& attribute : *item) {
    LS_CHECK(ItemView(bytes).Find(attribute.name) == attribute.value, "every attribute is found");
  }
  return 0;
}
