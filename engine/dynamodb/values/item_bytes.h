// Items and values <-> bytes, as they are kept in a column of type blob.
//
//   item       version (1 byte, 1), count, attributes in the order of their names
//   attribute  length of the name, name, length of the value, value
//   value      type (1 byte, AttributeType), and behind it
//     S, B           length, bytes
//     N              length, text of the number, Number::AppendShortText
//     BOOL, NULL     1 byte, 0 or 1; nothing
//     L              count, values
//     M              count, names (length, bytes) and values, in the order of the names
//     SS, NS, BS     count, elements (length, bytes) in their order
//   value alone    version (1 byte, 0x81), value
//
// Counts and lengths are LEB128 of at most 5 bytes. Equal items have equal bytes.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_ITEM_BYTES_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_ITEM_BYTES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/dynamodb/values/attribute_value.h"

namespace liststore::dynamodb {

// O(bytes).
void AppendItemBytes(const Item& item, std::string& out);
std::string ItemBytes(const Item& item);
void AppendValueBytes(const AttributeValue& value, std::string& out);
std::string ValueBytes(const AttributeValue& value);

// nullopt: no bytes of AppendItemBytes: another version, cut off, something behind the end, order or nesting
// broken. Whoever can write to the column by CQL can put in anything. No count makes it ask for more memory
// than its bytes bear out. O(bytes).
std::optional<Item> ItemFromBytes(std::string_view bytes);
std::optional<AttributeValue> ValueFromBytes(std::string_view bytes);

// An item as bytes, attribute by attribute, of which only those that are asked for are decoded. A view.
//
// What is in bytes that are broken is not there from the break on; `whole` says so beforehand, where it
// matters.
class ItemView {
 public:
  explicit ItemView(std::string_view bytes);

  // The outer form is right: the version, and attributes that fill the bytes. O(attributes). Values may
  // still be broken.
  bool whole() const;
  // How many attributes there are said to be.
  size_t size() const { return count_; }

  // The encoded value of an attribute, without a version; nullopt: there is none. O(attributes before it).
  std::optional<std::string_view> FindEncoded(std::string_view name) const;
  // Decoded; nullopt: there is none, or it is broken.
  std::optional<AttributeValue> Find(std::string_view name) const;
  // Those of `names`, in any order and perhaps repeated, that are there and not broken: what an expression
  // needs to be evaluated. O(attributes + log names for each), and the bytes of what is decoded.
  Item Select(std::span<const std::string_view> names) const;

 private:
  std::string_view attributes_;
  size_t count_ = 0;
  bool version_is_known_ = false;
};

// The item's JSON, as AppendItemJson writes it of the decoded item, straight from its bytes: nothing is
// decoded. False: they are broken, and `out` is as it was. O(bytes).
[[nodiscard]] bool AppendItemJsonOfBytes(std::string_view bytes, std::string& out);
// Its members alone, without braces and with commas between them, for items whose key attributes come from
// elsewhere: `{` + these + `}`. Nothing of an item without attributes.
[[nodiscard]] bool AppendMembersJsonOfBytes(std::string_view bytes, std::string& out);
// Of a value, without a version (FindEncoded).
[[nodiscard]] bool AppendValueJsonOfEncoded(std::string_view encoded, std::string& out);
// ItemSize of the item in bytes; nullopt: broken. O(bytes); nothing is built but one value that is no list or map.
std::optional<size_t> ItemSizeOfBytes(std::string_view bytes);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_ITEM_BYTES_H_
