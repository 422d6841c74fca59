// The JSON of items, straight from their bytes.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/dynamodb/values/encoded_reader.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/json.h"

namespace liststore::dynamodb {
namespace {

bool NumberToJson(std::string_view text, std::string& out) {
  bool plain = !text.empty();
  for (const char c : text) plain &= (c >= '0' && c <= '9') || c == '-' || c == '.';
  if (plain) {
    out.append(text);
    return true;
  }
  const ErrorOr<Number> number = Number::Parse(text);
  if (!number.ok()) return false;
  number->AppendText(out);
  return true;
}

bool StringToJson(std::string_view text, std::string& out) {
  if (!IsValidUtf8(text)) return false;
  AppendJsonString(text, out);
  return true;
}

// `element(text)` of each, with commas between them; then `closing`.
template <typename Element>
bool ElementsToJson(EncodedReader& reader, std::string_view closing, std::string& out,
                    Element element) {
  size_t count = 0;
  if (!reader.Count(count)) return false;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out.push_back(',');
    if (!element()) return false;
  }
  out.append(closing);
  return true;
}

bool ValueToJson(EncodedReader& reader, int nesting, std::string& out) {
  AttributeType type = {};
  if (!reader.Type(type)) return false;
  std::string_view text;
  switch (type) {
    case AttributeType::kS:
      out.append(R"({"S":)");
      if (!reader.Text(text) || !StringToJson(text, out)) return false;
      out.push_back('}');
      return true;
    case AttributeType::kN:
      out.append(R"({"N":")");
      if (!reader.Text(text) || !NumberToJson(text, out)) return false;
      out.append(R"("})");
      return true;
    case AttributeType::kB:
      out.append(R"({"B":)");
      if (!reader.Text(text)) return false;
      AppendJsonBase64(text, out);
      out.push_back('}');
      return true;
    case AttributeType::kBool: {
      bool value = false;
      if (!reader.Bool(value)) return false;
      out.append(value ? R"({"BOOL":true})" : R"({"BOOL":false})");
      return true;
    }
    case AttributeType::kNull:
      out.append(R"({"NULL":true})");
      return true;
    case AttributeType::kM:
      if (nesting == kNestingMax) return false;
      out.append(R"({"M":{)");
      return ElementsToJson(reader, "}}", out, [&] {
        if (!reader.Text(text) || !StringToJson(text, out)) return false;
        out.push_back(':');
        return ValueToJson(reader, nesting + 1, out);
      });
    case AttributeType::kL:
      if (nesting == kNestingMax) return false;
      out.append(R"({"L":[)");
      return ElementsToJson(reader, "]}", out,
                            [&] { return ValueToJson(reader, nesting + 1, out); });
    case AttributeType::kSS:
      out.append(R"({"SS":[)");
      return ElementsToJson(reader, "]}", out,
                            [&] { return reader.Text(text) && StringToJson(text, out); });
    case AttributeType::kNS:
      out.append(R"({"NS":[)");
      return ElementsToJson(reader, "]}", out, [&] {
        out.push_back('"');
        if (!reader.Text(text) || !NumberToJson(text, out)) return false;
        out.push_back('"');
        return true;
      });
    case AttributeType::kBS:
      out.append(R"({"BS":[)");
      return ElementsToJson(reader, "]}", out, [&] {
        if (!reader.Text(text)) return false;
        AppendJsonBase64(text, out);
        return true;
      });
  }
  return false;
}

bool MembersToJson(std::string_view bytes, std::string& out) {
  if (!HasItemVersion(bytes)) return false;
  // Once, and not in steps: names and values in quotes, and a type each. Twice what there was at least, so
  // that many items in one answer cost no more than one.
  const size_t needed = out.size() + bytes.size() + bytes.size() / 2 + 64;
  if (out.capacity() < needed) out.reserve(std::max(needed, 2 * out.capacity()));
  bool first = true;
  return ForEachAttribute(bytes.substr(1), [&](std::string_view name, std::string_view encoded) {
    if (!std::exchange(first, false)) out.push_back(',');
    if (!StringToJson(name, out)) return false;
    out.push_back(':');
    EncodedReader reader(encoded);
    return ValueToJson(reader, 0, out) && reader.AtEnd();
  });
}

// What `write` appends, or nothing.
template <typename Write>
bool AllOrNothing(std::string& out, Write write) {
  const size_t from = out.size();
  if (write()) return true;
  out.resize(from);
  return false;
}

}  // namespace

bool AppendItemJsonOfBytes(std::string_view bytes, std::string& out) {
  return AllOrNothing(out, [&] {
    out.push_back('{');
    if (!MembersToJson(bytes, out)) return false;
    out.push_back('}');
    return true;
  });
}

bool AppendMembersJsonOfBytes(std::string_view bytes, std::string& out) {
  return AllOrNothing(out, [&] { return MembersToJson(bytes, out); });
}

bool AppendValueJsonOfEncoded(std::string_view encoded, std::string& out) {
  return AllOrNothing(out, [&] {
    EncodedReader reader(encoded);
    return ValueToJson(reader, 0, out) && reader.AtEnd();
  });
}

}  // namespace liststore::dynamodb
