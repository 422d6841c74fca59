#include "engine/dynamodb/values/item_bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/dynamodb/values/encoded_reader.h"

namespace liststore::dynamodb {
namespace {

// Elements for which room is made before they are seen: lists within one another may each claim as many as
// there are bytes.
constexpr size_t kReservedMax = 16;

// --- Writing ---

// LEB128: 7 bits a byte, the lowest first. Where it ends in `to`, which has 5 bytes.
size_t PutVarint(uint32_t value, char* to) {
  size_t bytes = 0;
  for (; value >= 0x80; value >>= 7) to[bytes++] = static_cast<char>((value & 0x7f) | 0x80);
  to[bytes++] = static_cast<char>(value);
  return bytes;
}
void AppendVarint(size_t value, std::string& out) {
  std::array<char, 5> bytes;
  out.append(bytes.data(), PutVarint(static_cast<uint32_t>(value), bytes.data()));
}
void AppendText(std::string_view text, std::string& out) {
  AppendVarint(text.size(), out);
  out.append(text);
}
// The length of what is in `out` from `from` on, put in front of it.
void InsertLength(size_t from, std::string& out) {
  std::array<char, 5> bytes;
  const size_t length = PutVarint(static_cast<uint32_t>(out.size() - from), bytes.data());
  out.insert(from, bytes.data(), length);
}
void AppendNumber(const Number& number, std::string& out) {
  const size_t from = out.size();
  number.AppendShortText(out);
  InsertLength(from, out);
}

void AppendEncoded(const AttributeValue& value, std::string& out) {
  out.push_back(static_cast<char>(value.type()));
  switch (value.type()) {
    case AttributeType::kS:
      AppendText(*value.string(), out);
      break;
    case AttributeType::kN:
      AppendNumber(*value.number(), out);
      break;
    case AttributeType::kB:
      AppendText(value.binary()->bytes, out);
      break;
    case AttributeType::kBool:
      out.push_back(*value.boolean() ? 1 : 0);
      break;
    case AttributeType::kNull:
      break;
    case AttributeType::kM:
      AppendVarint(value.map()->size(), out);
      for (const Attribute& member : *value.map()) {
        AppendText(member.name, out);
        AppendEncoded(member.value, out);
      }
      break;
    case AttributeType::kL:
      AppendVarint(value.list()->size(), out);
      for (const AttributeValue& element : *value.list()) AppendEncoded(element, out);
      break;
    case AttributeType::kSS:
      AppendVarint(value.strings()->elements.size(), out);
      for (const std::string& element : value.strings()->elements) AppendText(element, out);
      break;
    case AttributeType::kNS:
      AppendVarint(value.numbers()->elements.size(), out);
      for (const Number& element : value.numbers()->elements) AppendNumber(element, out);
      break;
    case AttributeType::kBS:
      AppendVarint(value.binaries()->elements.size(), out);
      for (const auto& element : value.binaries()->elements) AppendText(element.bytes, out);
      break;
  }
}

// --- Reading ---

bool ToElement(std::string_view text, std::string& element) {
  element = text;
  return IsValidUtf8(text);
}
bool ToElement(std::string_view text, AttributeValue::Binary& element) {
  element.bytes = text;
  return true;
}
// As AppendShortText writes it: equal numbers have equal bytes.
bool ToElement(std::string_view text, Number& element) {
  if (text.size() > Number::kShortTextBytesMax + 3) return false;
  const ErrorOr<Number> number = Number::Parse(text);
  if (!number.ok()) return false;
  element = *number;
  std::string again;
  element.AppendShortText(again);
  return again == text;
}

template <typename T>
bool DecodeSet(EncodedReader& reader, AttributeValue& value) {
  size_t count = 0;
  if (!reader.Count(count) || count == 0) return false;
  AttributeValue::Set<T> set;
  set.elements.reserve(std::min(count, kReservedMax));
  for (size_t i = 0; i < count; ++i) {
    std::string_view text;
    T element;
    if (!reader.Text(text) || !ToElement(text, element)) return false;
    if (i > 0 && !(set.elements.back() < element)) return false;
    set.elements.push_back(std::move(element));
  }
  value = AttributeValue::Node(std::move(set));
  return true;
}

bool Decode(EncodedReader& reader, int nesting, AttributeValue& value);

bool DecodeMap(EncodedReader& reader, int nesting, AttributeValue& value) {
  size_t count = 0;
  if (!reader.Count(count)) return false;
  std::vector<Attribute> members;
  members.reserve(std::min(count, kReservedMax));
  for (size_t i = 0; i < count; ++i) {
    std::string_view name;
    if (!reader.Text(name) || !IsValidUtf8(name)) return false;
    if (i > 0 && members.back().name >= name) return false;
    Attribute& member = members.emplace_back();
    member.name = name;
    if (!Decode(reader, nesting, member.value)) return false;
  }
  value = AttributeValue::OfMap(AttributeMap(std::move(members)));
  return true;
}

bool DecodeList(EncodedReader& reader, int nesting, AttributeValue& value) {
  size_t count = 0;
  if (!reader.Count(count)) return false;
  AttributeValue::List list;
  list.reserve(std::min(count, kReservedMax));
  for (size_t i = 0; i < count; ++i) {
    if (!Decode(reader, nesting, list.emplace_back())) return false;
  }
  value = AttributeValue::OfList(std::move(list));
  return true;
}

// `nesting`: lists and maps around it.
bool Decode(EncodedReader& reader, int nesting, AttributeValue& value) {
  AttributeType type = {};
  if (!reader.Type(type)) return false;
  std::string_view text;
  switch (type) {
    case AttributeType::kS:
      if (!reader.Text(text) || !IsValidUtf8(text)) return false;
      value = AttributeValue::OfString(std::string(text));
      return true;
    case AttributeType::kN: {
      Number number;
      if (!reader.Text(text) || !ToElement(text, number)) return false;
      value = AttributeValue::OfNumber(number);
      return true;
    }
    case AttributeType::kB:
      if (!reader.Text(text)) return false;
      value = AttributeValue::OfBinary(std::string(text));
      return true;
    case AttributeType::kBool: {
      bool boolean = false;
      if (!reader.Bool(boolean)) return false;
      value = AttributeValue::OfBool(boolean);
      return true;
    }
    case AttributeType::kNull:
      value = AttributeValue();
      return true;
    case AttributeType::kM:
      return nesting < kNestingMax && DecodeMap(reader, nesting + 1, value);
    case AttributeType::kL:
      return nesting < kNestingMax && DecodeList(reader, nesting + 1, value);
    case AttributeType::kSS:
      return DecodeSet<std::string>(reader, value);
    case AttributeType::kNS:
      return DecodeSet<Number>(reader, value);
    case AttributeType::kBS:
      return DecodeSet<AttributeValue::Binary>(reader, value);
  }
  return false;
}

// Adds SizeInItem of what Decode would take. Lists and maps are not built: one value at a time.
bool AddSize(EncodedReader& reader, int nesting, size_t& size) {
  const std::string_view rest = reader.rest();
  const bool is_map = rest.starts_with(static_cast<char>(AttributeType::kM));
  if (!is_map && !rest.starts_with(static_cast<char>(AttributeType::kL))) {
    AttributeValue value;
    if (!Decode(reader, nesting, value)) return false;
    size += SizeInItem(value);
    return true;
  }
  AttributeType type = {};
  size_t count = 0;
  if (nesting >= kNestingMax || !reader.Type(type) || !reader.Count(count)) return false;
  size += kContainerBytes + kElementBytes * count;
  std::string_view last;
  for (size_t i = 0; i < count; ++i) {
    if (is_map) {
      std::string_view name;
      if (!reader.Text(name) || !IsValidUtf8(name) || (i > 0 && last >= name)) return false;
      size += name.size();
      last = name;
    }
    if (!AddSize(reader, nesting + 1, size)) return false;
  }
  return true;
}

std::optional<AttributeValue> DecodeWhole(std::string_view encoded) {
  EncodedReader reader(encoded);
  AttributeValue value;
  if (!Decode(reader, 0, value) || !reader.AtEnd()) return std::nullopt;
  return value;
}

}  // namespace

void AppendItemBytes(const Item& item, std::string& out) {
  out.push_back(kItemVersion);
  AppendVarint(item.size(), out);
  for (const Attribute& attribute : item) {
    AppendText(attribute.name, out);
    const size_t from = out.size();
    AppendEncoded(attribute.value, out);
    InsertLength(from, out);
  }
}

std::string ItemBytes(const Item& item) {
  std::string bytes;
  AppendItemBytes(item, bytes);
  return bytes;
}

void AppendValueBytes(const AttributeValue& value, std::string& out) {
  out.push_back(kValueVersion);
  AppendEncoded(value, out);
}

std::string ValueBytes(const AttributeValue& value) {
  std::string bytes;
  AppendValueBytes(value, bytes);
  return bytes;
}

std::optional<Item> ItemFromBytes(std::string_view bytes) {
  if (!HasItemVersion(bytes)) return std::nullopt;
  std::vector<Attribute> attributes;
  const auto decode = [&](std::string_view name, std::string_view encoded) {
    if (!IsValidUtf8(name)) return false;
    if (!attributes.empty() && attributes.back().name >= name) return false;
    Attribute& attribute = attributes.emplace_back();
    attribute.name = name;
    EncodedReader reader(encoded);
    return Decode(reader, 0, attribute.value) && reader.AtEnd();
  };
  if (!ForEachAttribute(bytes.substr(1), decode)) return std::nullopt;
  return Item(std::move(attributes));
}

std::optional<AttributeValue> ValueFromBytes(std::string_view bytes) {
  if (!bytes.starts_with(kValueVersion)) return std::nullopt;
  return DecodeWhole(bytes.substr(1));
}

ItemView::ItemView(std::string_view bytes) : version_is_known_(HasItemVersion(bytes)) {
  if (!version_is_known_) return;
  attributes_ = bytes.substr(1);
  EncodedReader reader(attributes_);
  if (!reader.Count(count_)) count_ = 0;
}

bool ItemView::whole() const {
  return version_is_known_ &&
         ForEachAttribute(attributes_, [](std::string_view, std::string_view) { return true; });
}

std::optional<std::string_view> ItemView::FindEncoded(std::string_view name) const {
  std::optional<std::string_view> found;
  (void)ForEachAttribute(attributes_, [&](std::string_view each, std::string_view encoded) {
    if (each == name) found = encoded;
    return each < name;
  });
  return found;
}

std::optional<AttributeValue> ItemView::Find(std::string_view name) const {
  const std::optional<std::string_view> encoded = FindEncoded(name);
  if (!encoded.has_value()) return std::nullopt;
  return DecodeWhole(*encoded);
}

Item ItemView::Select(std::span<const std::string_view> names) const {
  std::vector<std::string_view> wanted(names.begin(), names.end());
  std::ranges::sort(wanted);
  std::vector<Attribute> selected;
  (void)ForEachAttribute(attributes_, [&](std::string_view name, std::string_view encoded) {
    if (std::ranges::binary_search(wanted, name)) {
      if (std::optional<AttributeValue> value = DecodeWhole(encoded)) {
        selected.push_back({std::string(name), *std::move(value)});
      }
    }
    return true;
  });
  return Item(std::move(selected));
}

std::optional<size_t> ItemSizeOfBytes(std::string_view bytes) {
  if (!HasItemVersion(bytes)) return std::nullopt;
  size_t size = 0;
  std::optional<std::string_view> last;
  const auto add = [&](std::string_view name, std::string_view encoded) {
    if (!IsValidUtf8(name) || (last && *last >= name)) return false;
    last = name;
    size += name.size();
    EncodedReader reader(encoded);
    return AddSize(reader, 0, size) && reader.AtEnd();
  };
  if (!ForEachAttribute(bytes.substr(1), add)) return std::nullopt;
  return size;
}

}  // namespace liststore::dynamodb
