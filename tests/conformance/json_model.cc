#include "tests/conformance/json_model.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/types/composite_value.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/time_model.h"

namespace liststore::testing {
namespace {

using Kind = DataType::Kind;

bool IsInteger(CqlType type) {
  constexpr CqlType kIntegers[] = {CqlType::kTinyint, CqlType::kSmallint, CqlType::kInt,
                                   CqlType::kBigint,  CqlType::kCounter,  CqlType::kVarint};
  return std::ranges::find(kIntegers, type) != std::end(kIntegers);
}

// Literals that are spelled otherwise as JSON, and that of Java.
struct Spelling {
  CqlType type;
  std::string_view literal;
  std::string_view json;
  std::string_view of_java;
};
constexpr Spelling kSpellings[] = {
    {CqlType::kDouble, "-1e300", "-1e+300", "-1.0E300"},
    {CqlType::kDouble, "1e300", "1e+300", "1.0E300"},
    {CqlType::kDouble, "0.0", "0", "0.0"},
    {CqlType::kFloat, "0.0", "0", "0.0"},
    {CqlType::kDuration, "0ns", R"("")", R"("")"},
    {CqlType::kDuration, "P1Y2M3DT4H5M6S", R"("1y2mo3d4h5m6s")", R"("1y2mo3d4h5m6s")"},
    {CqlType::kDuration, "P2W", R"("14d")", R"("14d")"},
    {CqlType::kDuration, "2147483647mo2147483647d9223372036854775807ns",
     R"("178956970y7mo2147483647d2562047h47m16s854ms775us807ns")",
     R"("178956970y7mo2147483647d2562047h47m16s854ms775us807ns")"},
    {CqlType::kInet, "'::1'", R"("::1")", R"("0:0:0:0:0:0:0:1")"},
};

std::string Unquoted(std::string_view literal) {
  if (literal.starts_with('\'')) literal = literal.substr(1, literal.size() - 2);
  return std::string(literal);
}

// 0x00ff; of a column that was of another type it need not be in the pool.
std::string HexOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string UuidText(std::string_view bytes) {
  std::string text = HexOf(bytes).substr(2);
  for (const size_t at : {8, 13, 18, 23}) text.insert(at, "-");
  return text;
}

// Of the types whose values need not be in a pool: the functions of time and chance make others.
std::optional<std::string> TextOfWrittenOut(CqlType type, const std::string& bytes) {
  switch (type) {
    case CqlType::kBlob:
      return HexOf(bytes);
    case CqlType::kDate:
      return DateText(bytes);
    case CqlType::kTime:
      return TimeText(bytes);
    case CqlType::kTimestamp:
      return TimestampText(bytes);
    case CqlType::kTimeuuid:
    case CqlType::kUuid:
      return UuidText(bytes);
    default:
      return std::nullopt;
  }
}

std::optional<std::string> NativeJson(CqlType type, const std::string& bytes, JsonStyle style) {
  if (type == CqlType::kText || type == CqlType::kAscii) return QuotedJson(bytes);
  if (IsInteger(type)) {
    if (!bytes.empty()) return std::to_string(IntOf(bytes));
    return style == JsonStyle::kJava ? std::optional<std::string>("\"\"") : std::nullopt;
  }
  if (const std::optional<std::string> text = TextOfWrittenOut(type, bytes)) {
    return "\"" + *text + "\"";
  }
  const std::string& literal = LiteralOf(type, bytes);
  for (const Spelling& spelling : kSpellings) {
    if (spelling.type != type || spelling.literal != literal) continue;
    return std::string(style == JsonStyle::kJava ? spelling.of_java : spelling.json);
  }
  switch (type) {
    case CqlType::kBoolean:
    case CqlType::kDecimal:
    case CqlType::kDouble:
    case CqlType::kFloat:
      return literal;
    default:
      return "\"" + Unquoted(literal) + "\"";
  }
}

// How many there are in a tuple.
size_t FieldsIn(std::string_view bytes) {
  size_t fields = 0;
  while (!bytes.empty()) {
    const int64_t length = IntOf(bytes.substr(0, 4));
    bytes.remove_prefix(4 + static_cast<size_t>(std::max<int64_t>(length, 0)));
    ++fields;
  }
  return fields;
}

// The parts of a list, set or map in turn, or the fields of a tuple or user type.
std::vector<std::optional<std::string>> PartsOf(const DataType& type, std::string_view bytes) {
  std::vector<std::optional<std::string>> parts;
  const auto add = [&](const auto& part) {
    parts.push_back(part ? std::optional(std::string(*part)) : std::nullopt);
  };
  if (type.has_fields()) {
    const auto fields = SplitTuple(type, bytes);
    for (const auto& field : *fields) add(field);
    // A tuple may be shorter than its type; of a user type the other fields are null.
    if (type.kind() == Kind::kTuple) parts.resize(FieldsIn(bytes));
  } else {
    const auto elements = SplitCollection(type, bytes);
    for (const std::string_view element : *elements) add(std::optional(element));
  }
  return parts;
}

const DataType& TypeOfPart(const DataType& type, size_t part) {
  return type.parameters()[part % type.parameters().size()];
}

// Puts the JSON of parts together; nullopt: it is left out, as fields can be.
std::string Joined(const DataType& type, const std::vector<std::optional<std::string>>& parts) {
  const bool is_object = type.kind() == Kind::kMap || type.kind() == Kind::kUser;
  std::string json = is_object ? "{" : "[";
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i]) continue;
    const bool is_key = type.kind() == Kind::kMap && i % 2 == 0;
    const bool is_value = type.kind() == Kind::kMap && i % 2 == 1;
    if (json.size() > 1) json += is_value ? ": " : ", ";
    if (type.kind() == Kind::kUser) json += QuotedJson(type.user().fields[i]) + ": ";
    json += is_key && !parts[i]->starts_with('"') ? QuotedJson(*parts[i]) : *parts[i];
  }
  return json + (is_object ? "}" : "]");
}

// Of a native type, the first as it is shown, where that can be read back.
std::vector<std::string> NativeJsonsFor(CqlType type, const std::string& bytes) {
  const std::optional<std::string> json = NativeJson(type, bytes, JsonStyle::kScylla);
  if (!json) return {};
  switch (type) {
    case CqlType::kBoolean:
      return {*json, bytes[0] != 0 ? R"("True")" : R"("FALSE")"};
    case CqlType::kDuration:
      if (*json == "\"\"") return {R"("0ns")", R"("P0W")"};
      return {*json};
    case CqlType::kText:
    case CqlType::kAscii:
      if (!bytes.starts_with('a')) return {*json};
      return {*json, "\"\\u0061" + json->substr(2)};
    case CqlType::kTimestamp:
      // A small number is no timestamp to Cassandra.
      if (IntOf(bytes) <= std::numeric_limits<int32_t>::max()) return {*json};
      return {*json, std::to_string(IntOf(bytes))};
    default:
      break;
  }
  // Counters cannot be inserted; all other numbers are taken as strings, too.
  const bool is_number = !json->starts_with('"');
  return is_number ? std::vector<std::string>{*json, "\"" + *json + "\""} : std::vector{*json};
}

}  // namespace

std::optional<std::string> JsonOf(const DataType& type, const std::optional<std::string>& bytes,
                                  JsonStyle style) {
  if (!bytes) return "null";
  if (type.is_native()) return NativeJson(type.native(), *bytes, style);
  std::vector<std::optional<std::string>> parts = PartsOf(type, *bytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = JsonOf(TypeOfPart(type, i), parts[i], style);
    if (!parts[i]) return std::nullopt;
  }
  return Joined(type, parts);
}

bool HaveJson(const DataType& type) {
  return std::ranges::all_of(PoolOf(type), [&](const PoolValue& value) {
    return JsonOf(type, value.bytes, JsonStyle::kScylla).has_value();
  });
}

std::vector<std::string> JsonsFor(const DataType& type, std::string_view bytes) {
  if (type.is_native()) return NativeJsonsFor(type.native(), std::string(bytes));
  constexpr size_t kSpellingsMax = 2;
  const std::vector<std::optional<std::string>> parts = PartsOf(type, bytes);
  std::vector<std::string> jsons;
  for (size_t spelling = 0; spelling < kSpellingsMax; ++spelling) {
    std::vector<std::optional<std::string>> of_parts;
    for (size_t i = 0; i < parts.size(); ++i) {
      std::optional<std::string>& json = of_parts.emplace_back();
      if (!parts[i]) {
        // null is no part of a tuple; fields can be left out.
        if (type.kind() != Kind::kUser) return {};
        if (spelling == 0) json = "null";
        continue;
      }
      const std::vector<std::string> each = JsonsFor(TypeOfPart(type, i), *parts[i]);
      if (each.empty()) return {};
      json = each[spelling % each.size()];
    }
    jsons.push_back(Joined(type, of_parts));
  }
  return jsons;
}

std::vector<std::string> WholeJsonsFor(const DataType& type, const std::string& bytes) {
  if (!type.is_native() || bytes.empty()) return {};
  // A varint is taken as it is printed, which for these is with a point.
  const bool is_whole =
      (IsInteger(type.native()) && !type.is(CqlType::kVarint)) || type.is(CqlType::kTimestamp);
  // More a double does not keep, but for powers of two.
  constexpr int64_t kKept = int64_t{1} << 53;
  const int64_t number = is_whole ? IntOf(bytes) : 0;
  if (!is_whole) return {};
  if (number == std::numeric_limits<int64_t>::min()) return {"-9223372036854775808.0"};
  if (number > kKept || number < -kKept) return {};
  const std::string digits = std::to_string(number);
  std::vector<std::string> jsons = {digits + ".0", digits + "e0"};
  if (number != 0) jsons.push_back(digits + "0E-1");
  if (number != 0 && number % 100 == 0) {
    const std::string fewer = std::to_string(number / 100);
    jsons.insert(jsons.end(), {fewer + "e2", fewer + ".0E+2"});
  }
  return jsons;
}

std::optional<PoolValue> ShortTuple(const DataType& type, std::string_view bytes) {
  const std::vector<std::optional<std::string>> fields = PartsOf(type, bytes);
  if (!fields[0]) return std::nullopt;
  const std::vector<std::string> jsons = JsonsFor(TypeOfPart(type, 0), *fields[0]);
  if (jsons.empty()) return std::nullopt;
  PoolValue tuple;
  tuple.bytes = EncodeTuple({fields[0]});
  tuple.jsons = {"[" + jsons[0] + "]"};
  return tuple;
}

std::string QuotedJson(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace liststore::testing
