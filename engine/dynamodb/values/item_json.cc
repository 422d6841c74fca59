#include "engine/dynamodb/values/item_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"

namespace liststore::dynamodb {
namespace {

// Of a set that is said again in an error.
constexpr size_t kSaidBytesMax = 1000;

ErrorOr<std::string_view> TextOf(Json json) {
  if (!json.is_string()) return NotOfKind(json, "String");
  return json.text();
}

ErrorOr<std::string> BytesOf(Json json) {
  LS_ASSIGN_OR_RETURN(const std::string_view text, TextOf(json));
  std::optional<std::string> bytes = DecodeBase64(text);
  if (!bytes.has_value()) {
    return Error{ErrorCode::kSerialization, "Invalid Base64 encoding"};
  }
  return *std::move(bytes);
}

template <typename T>
ErrorOr<T> ElementOf(Json json);
template <>
ErrorOr<std::string> ElementOf<std::string>(Json json) {
  LS_ASSIGN_OR_RETURN(const std::string_view text, TextOf(json));
  return std::string(text);
}
template <>
ErrorOr<Number> ElementOf<Number>(Json json) {
  LS_ASSIGN_OR_RETURN(const std::string_view text, TextOf(json));
  return Number::Parse(text);
}
template <>
ErrorOr<AttributeValue::Binary> ElementOf<AttributeValue::Binary>(Json json) {
  LS_ASSIGN_OR_RETURN(std::string bytes, BytesOf(json));
  return AttributeValue::Binary{std::move(bytes)};
}

// "[a, b]"
std::string Enumerated(Json array) {
  std::string said = "[";
  for (const JsonMember element : array) {
    if (said.size() > 1) said.append(", ");
    if (said.size() > kSaidBytesMax) {
      said.append("...");
      break;
    }
    said.append(element.value.text().substr(0, kSaidBytesMax));
  }
  return said.append("]");
}

Error Duplicates(Json array, AttributeType type) {
  if (type == AttributeType::kNS) return Invalid("Input collection contains duplicates");
  const std::string said = "Input collection " + Enumerated(array);
  return InvalidParameter(type == AttributeType::kSS ? said + " contains duplicates."
                                                     : said + "of type BS contains duplicates.");
}

Error EmptySet(AttributeType type) {
  // With two blanks, as Amazon writes it.
  if (type == AttributeType::kSS) return InvalidParameter("An string set  may not be empty");
  if (type == AttributeType::kNS) return InvalidParameter("An number set  may not be empty");
  return InvalidParameter("Binary sets should not be empty");
}

template <typename T>
ErrorOr<std::vector<T>> SetElements(Json json, AttributeType type) {
  if (!json.is_array()) return NotOfKind(json, "List");
  if (json.size() == 0) return EmptySet(type);
  std::vector<T> elements;
  elements.reserve(json.size());
  for (const JsonMember element : json) {
    LS_ASSIGN_OR_RETURN(T value, ElementOf<T>(element.value));
    elements.push_back(std::move(value));
  }
  return elements;
}

// `make` sorts and drops duplicates, of which there must be none.
template <typename T>
ErrorOr<AttributeValue> SetFromJson(Json json, AttributeType type,
                                    AttributeValue (*make)(std::vector<T>)) {
  LS_ASSIGN_OR_RETURN(std::vector<T> elements, SetElements<T>(json, type));
  const size_t size = elements.size();
  AttributeValue value = make(std::move(elements));
  if (std::get<AttributeValue::Set<T>>(value.node()).elements.size() < size) {
    return Duplicates(json, type);
  }
  return value;
}

ErrorOr<AttributeValue> FromJson(Json json, int nesting);

ErrorOr<AttributeMap> MapFromJson(Json json, int nesting) {
  if (!json.is_object()) return NotOfKind(json, "Map");
  std::vector<Attribute> attributes;
  attributes.reserve(json.size());
  for (const JsonMember member : json) {
    if (member.name.empty()) return Invalid("Empty attribute name");
    if (member.name.size() > kAttributeNameBytesMax) {
      return Invalid("Attribute name is too large, must be less than 65536 bytes");
    }
    LS_ASSIGN_OR_RETURN(AttributeValue value, FromJson(member.value, nesting));
    attributes.push_back({std::string(member.name), std::move(value)});
  }
  return AttributeMap(std::move(attributes));
}

ErrorOr<AttributeValue> ListFromJson(Json json, int nesting) {
  if (!json.is_array()) return NotOfKind(json, "List");
  AttributeValue::List list;
  list.reserve(json.size());
  for (const JsonMember element : json) {
    LS_ASSIGN_OR_RETURN(AttributeValue value, FromJson(element.value, nesting));
    list.push_back(std::move(value));
  }
  return AttributeValue::OfList(std::move(list));
}

// `nesting`: lists and maps around it.
ErrorOr<AttributeValue> OfType(AttributeType type, Json json, int nesting) {
  switch (type) {
    case AttributeType::kS: {
      LS_ASSIGN_OR_RETURN(const std::string_view text, TextOf(json));
      return AttributeValue::OfString(std::string(text));
    }
    case AttributeType::kN: {
      LS_ASSIGN_OR_RETURN(const Number number, ElementOf<Number>(json));
      return AttributeValue::OfNumber(number);
    }
    case AttributeType::kB: {
      LS_ASSIGN_OR_RETURN(std::string bytes, BytesOf(json));
      return AttributeValue::OfBinary(std::move(bytes));
    }
    case AttributeType::kBool:
      if (!json.is_bool()) return NotOfKind(json, "Boolean");
      return AttributeValue::OfBool(json.is_true());
    case AttributeType::kNull:
      if (!json.is_bool()) return NotOfKind(json, "Boolean");
      if (!json.is_true()) {
        return InvalidParameter("Null attribute value types must have the value of true");
      }
      return AttributeValue();
    case AttributeType::kM:
    case AttributeType::kL: {
      if (nesting == kNestingMax) {
        return Invalid(
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
            "levels "
            "beyond supported limit");
      }
      if (type == AttributeType::kL) return ListFromJson(json, nesting + 1);
      LS_ASSIGN_OR_RETURN(AttributeMap map, MapFromJson(json, nesting + 1));
      return AttributeValue::OfMap(std::move(map));
    }
    case AttributeType::kSS:
      return SetFromJson<std::string>(json, type, AttributeValue::OfStrings);
    case AttributeType::kNS:
      return SetFromJson<Number>(json, type, AttributeValue::OfNumbers);
    case AttributeType::kBS:
      return SetFromJson<AttributeValue::Binary>(json, type, AttributeValue::OfBinaries);
  }
  return Invalid("");
}

ErrorOr<AttributeValue> FromJson(Json json, int nesting) {
  if (!json.is_object()) return NotOfKind(json, "AttributeValue");
  Json of_type;
  std::optional<AttributeType> type;
  // Members that are no type, and those that are null, are passed by, as Amazon's services do.
  for (const JsonMember member : json) {
    const std::optional<AttributeType> named = AttributeTypeNamed(member.name);
    if (!named.has_value() || member.value.is_absent()) continue;
    if (type.has_value() && type != named) {
      return Invalid(
          "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
          "the "
          "supported datatypes");
    }
    type = named;
    of_type = member.value;
  }
  if (!type.has_value()) {
    return Invalid(
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  }
  return OfType(*type, of_type, nesting);
}

// In the order of AttributeType: what a value's JSON begins with.
constexpr std::array<std::string_view, kAttributeTypes> kOpenings = {
    R"({"S":)", R"({"N":")", R"({"B":)",   R"({"BOOL":)", R"({"NULL":true)",
    R"({"M":)", R"({"L":[)", R"({"SS":[)", R"({"NS":[)",  R"({"BS":[)"};

// Elements with commas between them.
template <typename Elements, typename Append>
void AppendElements(const Elements& elements, std::string& out, Append append) {
  bool first = true;
  for (const auto& element : elements) {
    if (!std::exchange(first, false)) out.push_back(',');
    append(element);
  }
}

}  // namespace

ErrorOr<AttributeValue> ValueFromJson(Json json) { return FromJson(json, 0); }

ErrorOr<Item> ItemFromJson(Json json) { return MapFromJson(json, 0); }

void AppendValueJson(const AttributeValue& value, std::string& out) {
  out.append(kOpenings[static_cast<size_t>(value.type())]);
  switch (value.type()) {
    case AttributeType::kS:
      AppendJsonString(*value.string(), out);
      break;
    case AttributeType::kN:
      value.number()->AppendText(out);
      out.push_back('"');
      break;
    case AttributeType::kB:
      AppendJsonBase64(value.binary()->bytes, out);
      break;
    case AttributeType::kBool:
      out.append(*value.boolean() ? "true" : "false");
      break;
    case AttributeType::kNull:
      break;
    case AttributeType::kM:
      AppendItemJson(*value.map(), out);
      break;
    case AttributeType::kL:
      AppendElements(*value.list(), out,
                     [&](const AttributeValue& element) { AppendValueJson(element, out); });
      out.push_back(']');
      break;
    case AttributeType::kSS:
      AppendElements(value.strings()->elements, out,
                     [&](const std::string& element) { AppendJsonString(element, out); });
      out.push_back(']');
      break;
    case AttributeType::kNS:
      AppendElements(value.numbers()->elements, out, [&](const Number& element) {
        out.push_back('"');
        element.AppendText(out);
        out.push_back('"');
      });
      out.push_back(']');
      break;
    case AttributeType::kBS:
      AppendElements(value.binaries()->elements, out, [&](const AttributeValue::Binary& element) {
        AppendJsonBase64(element.bytes, out);
      });
      out.push_back(']');
      break;
  }
  out.push_back('}');
}

void AppendItemJson(const Item& item, std::string& out) {
  out.push_back('{');
  AppendElements(item, out, [&](const Attribute& attribute) {
    AppendJsonString(attribute.name, out);
    out.push_back(':');
    AppendValueJson(attribute.value, out);
  });
  out.push_back('}');
}

std::string ToJson(const AttributeValue& value) {
  std::string json;
  AppendValueJson(value, json);
  return json;
}

std::string ToJson(const Item& item) {
  std::string json;
  AppendItemJson(item, json);
  return json;
}

}  // namespace liststore::dynamodb
