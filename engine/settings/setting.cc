#include "engine/settings/setting.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/strings.h"

namespace liststore::settings {
namespace {

using Texts = std::vector<std::string>;

template <typename Number>
std::optional<std::string> NormalNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return std::to_string(number);
}

std::optional<std::string> NormalFloat(std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(ToAbsl(text), &number) || !std::isfinite(number)) return std::nullopt;
  return absl::StrCat(number);
}

// 64K, 3M, 8G, 1024; a B or iB may follow.
std::optional<std::string> NormalBytes(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  std::string unit(at, end);
  std::ranges::transform(unit, unit.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 4> kUnits = {"", "k", "m", "g"};
  for (size_t power = 0; power < kUnits.size(); ++power) {
    const std::string letter(kUnits[power]);
    if (unit != letter && unit != letter + "b" && unit != letter + "ib") continue;
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(number, uint64_t{1} << (10 * power), &bytes)) return std::nullopt;
    return std::to_string(bytes);
  }
  return std::nullopt;
}

// Takes a list or a map apart, down to one level: brackets inside of others belong to the element.
// Source of the form: ScyllaDB utils/config_file.cc, operator>> of lists and maps.
Texts Split(std::string_view text, char separator) {
  Texts parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        parts.back() += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '{') {
      if (depth++ > 0) parts.back() += c;
    } else if (c == ']' || c == '}') {
      if (--depth > 0) parts.back() += c;
    } else if (c == separator && depth <= 1) {
      parts.emplace_back();
    } else if (c != ' ' && c != '\t' && c != '\n') {
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

std::string Bracketed(char open, const Texts& parts, char close) {
  std::string text(1, open);
  for (const std::string& part : parts) {
    if (text.size() > 1) text += ',';
    text += part;
  }
  return text + close;
}

std::optional<std::string> NormalWords(std::string_view text,
                                       std::span<const std::string_view> words) {
  const Texts elements = Split(text, ',');
  const bool known = std::ranges::all_of(
      elements, [&](const std::string& element) { return std::ranges::count(words, element) > 0; });
  if (!known) return std::nullopt;
  return Bracketed('[', elements, ']');
}

// What would not be one element again stands in quotes.
std::string NormalTexts(std::string_view text) {
  Texts elements = Split(text, ',');
  for (std::string& element : elements) {
    if (element.find_first_of(", \t{}[]'") != std::string::npos) element = '"' + element + '"';
  }
  return Bracketed('[', elements, ']');
}

std::optional<std::string> NormalBoolean(std::string_view text) {
  if (text == "true" || text == "1") return "true";
  if (text == "false" || text == "0") return "false";
  return std::nullopt;
}

// Source: ScyllaDB db/config.cc, replication_strategy_restriction_t.
constexpr std::array<std::string_view, 4> kStrategyNames = {
    "SimpleStrategy", "LocalStrategy", "NetworkTopologyStrategy", "EverywhereStrategy"};

template <typename Number>
std::string RangeOf() {
  return absl::StrCat("a number from ", std::numeric_limits<Number>::min(), " to ",
                      std::numeric_limits<Number>::max());
}

template <typename Words>
std::string ListOf(const Words& words) {
  std::string text = "a list of";
  for (const std::string_view word : words) {
    text.append(text.ends_with("of") ? " " : ", ").append(word);
  }
  return text;
}

}  // namespace

std::string_view ToString(SettingSource source) {
  switch (source) {
    case SettingSource::kDefault:
      return "default";
    case SettingSource::kFile:
      return "file";
    case SettingSource::kEnvironment:
      return "environment";
    case SettingSource::kCommandLine:
      return "flag";
    case SettingSource::kClient:
      return "client";
  }
  LS_UNREACHABLE("every source has its words");
}

std::string BoundsOf(SettingType type) {
  switch (type) {
    case SettingType::kBoolean:
      return "true or false";
    case SettingType::kSwitch:
      return "on or off";
    case SettingType::kUint16:
      return RangeOf<uint16_t>();
    case SettingType::kUint32:
      return RangeOf<uint32_t>();
    case SettingType::kUint64:
      return RangeOf<uint64_t>();
    case SettingType::kInt32:
      return RangeOf<int32_t>();
    case SettingType::kInt64:
      return RangeOf<int64_t>();
    case SettingType::kFloat:
      return "a number";
    case SettingType::kBytes:
      return "a number of bytes, with K, M or G";
    case SettingType::kMode:
      return "true, false or warn";
    case SettingType::kStrategies:
      return ListOf(kStrategyNames);
    case SettingType::kTexts:
    case SettingType::kFeatures:
      return "a list";
    case SettingType::kMap:
      return "a map";
    case SettingType::kMaps:
      return "a list of maps";
    case SettingType::kText:
    case SettingType::kHandoff:
    case SettingType::kSeeds:
    case SettingType::kInjections:
      return "a text";
  }
  LS_UNREACHABLE("every type has its bounds");
}

std::optional<std::string> NormalValue(SettingType type, std::string_view text) {
  switch (type) {
    case SettingType::kBoolean:
      return NormalBoolean(text);
    case SettingType::kSwitch:
      if (text == "on" || text == "off") return std::string(text);
      return std::nullopt;
    case SettingType::kUint16:
      return NormalNumber<uint16_t>(text);
    case SettingType::kUint32:
      return NormalNumber<uint32_t>(text);
    case SettingType::kUint64:
      return NormalNumber<uint64_t>(text);
    case SettingType::kInt32:
      return NormalNumber<int32_t>(text);
    case SettingType::kInt64:
      return NormalNumber<int64_t>(text);
    case SettingType::kFloat:
      return NormalFloat(text);
    case SettingType::kBytes:
      return NormalBytes(text);
    case SettingType::kMode:
      if (text == "warn") return "warn";
      return NormalBoolean(text);
    case SettingType::kStrategies:
      return NormalWords(text, kStrategyNames);
    case SettingType::kTexts:
    case SettingType::kFeatures:
      return NormalTexts(text);
    case SettingType::kMaps:
      return Bracketed('[', Split(text, ','), ']');
    case SettingType::kMap:
      return Bracketed('{', Split(text, ','), '}');
    case SettingType::kText:
    case SettingType::kHandoff:
    case SettingType::kSeeds:
    case SettingType::kInjections:
      return std::string(text);
  }
  LS_UNREACHABLE("every type has its values");
}

bool IsTrue(std::string_view value) { return value == "true" || value == "on"; }

int64_t ToInteger(std::string_view value) {
  int64_t number = 0;
  const bool is_number = absl::SimpleAtoi(ToAbsl(value), &number);
  LS_CHECK(is_number, "the value is normal");
  return number;
}

std::vector<std::string> ElementsOf(std::string_view value) { return Split(value, ','); }

std::vector<std::pair<std::string, std::string>> EntriesOf(std::string_view value) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const std::string& entry : Split(value, ',')) {
    const size_t at = entry.find_first_of(":=");
    if (at == std::string::npos) {
      entries.emplace_back(entry, "");
    } else {
      entries.emplace_back(entry.substr(0, at), entry.substr(at + 1));
    }
  }
  return entries;
}

}  // namespace liststore::settings
