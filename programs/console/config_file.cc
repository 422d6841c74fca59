#include "programs/console/config_file.h"

#include <algorithm>

// What is wrong is a value here, and no exception.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "programs/console/regular_file.h"

namespace liststore {
namespace {

// An option of ScyllaDB has lists in maps in lists at most.
constexpr int kNestingMax = 8;

absl::Status ErrorAt(const std::string& path, size_t line, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": ", ToAbsl(what)));
}

size_t LineOf(const toml::node& node) { return node.source().begin.line; }

std::string ScalarText(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return absl::StrCat(number->get());
  if (const auto* number = node.as_floating_point()) return absl::StrCat(number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return "a date or time";
}

// Within a list or a map; what would not be one element again stands in quotes.
absl::Status AppendFlow(const toml::node& node, const std::string& path, int depth,
                        std::string& text) {
  if (depth > kNestingMax) return ErrorAt(path, LineOf(node), "nested too deep");
  if (const toml::array* const list = node.as_array()) {
    text += '[';
    for (const toml::node& element : *list) {
      if (text.back() != '[') text += ',';
      LS_RETURN_IF_ERROR(AppendFlow(element, path, depth + 1, text));
    }
    text += ']';
    return absl::OkStatus();
  }
  if (const toml::table* const map = node.as_table()) {
    text += '{';
    for (const auto& [key, value] : *map) {
      if (text.back() != '{') text += ',';
      absl::StrAppend(&text, ToAbsl(key.str()), ":");
      LS_RETURN_IF_ERROR(AppendFlow(value, path, depth + 1, text));
    }
    text += '}';
    return absl::OkStatus();
  }
  const std::string scalar = ScalarText(node);
  const bool is_quoted = depth > 0 && scalar.find_first_of(",[]{}' ") != std::string::npos;
  absl::StrAppend(&text, is_quoted ? "\"" : "", scalar, is_quoted ? "\"" : "");
  return absl::OkStatus();
}

bool IsOfTexts(const toml::array& list) {
  return std::ranges::all_of(list, [](const toml::node& node) { return node.is_string(); });
}

// `in_one`: a list of texts is one text as well.
absl::Status Fill(const toml::node& node, const std::string& path, bool in_one,
                  ConfigEntry& entry) {
  using Kind = ConfigEntry::Kind;
  entry.line = LineOf(node);
  const toml::array* const list = node.as_array();
  if (list != nullptr && IsOfTexts(*list) && !in_one) {
    entry.kind = Kind::kTexts;
    for (const toml::node& element : *list) entry.texts.push_back(ScalarText(element));
    return absl::OkStatus();
  }
  entry.kind = node.is_string()           ? Kind::kText
               : node.is_integer()        ? Kind::kNumber
               : node.is_floating_point() ? Kind::kDecimal
               : node.is_boolean()        ? Kind::kBoolean
                                          : Kind::kOther;
  return AppendFlow(node, path, 0, entry.texts.emplace_back());
}

absl::Status AppendTable(const toml::table& table, const std::string& name, const std::string& path,
                         std::vector<ConfigEntry>& entries) {
  if (table.empty()) {  // a heading alone, which may be misspelt
    entries.push_back({.table = name, .texts = {""}, .line = LineOf(table)});
  }
  for (const auto& [key, value] : table) {
    ConfigEntry& entry = entries.emplace_back();
    entry.table = name;
    entry.name = std::string(key.str());
    LS_RETURN_IF_ERROR(Fill(value, path, /*in_one=*/true, entry));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ConfigEntry::Shown() const {
  if (kind != Kind::kTexts) return texts.front();
  return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

absl::StatusOr<std::vector<ConfigEntry>> ParseConfig(std::string_view text,
                                                     const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    // Who writes lines as a shell's meets this.
    return ErrorAt(path, error.source().begin.line,
                   absl::StrCat(ToAbsl(error.description()),
                                " (the file is TOML: texts stand in quotes, as rack = \"r1\")"));
  }
  std::vector<ConfigEntry> entries;
  for (const auto& [key, value] : parsed.table()) {
    const std::string name(key.str());
    if (const toml::table* const table = value.as_table()) {
      LS_RETURN_IF_ERROR(AppendTable(*table, name, path, entries));
      continue;
    }
    ConfigEntry& entry = entries.emplace_back();
    entry.name = name;
    LS_RETURN_IF_ERROR(Fill(value, path, /*in_one=*/false, entry));
  }
  // A table of the library is in the order of its names.
  std::ranges::stable_sort(entries, {}, &ConfigEntry::line);
  return entries;
}

absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(const std::string& path) {
  LS_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kConfigBytesMax + 1));
  if (text.size() > kConfigBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is larger than ", kConfigBytesMax, " bytes, and no configuration"));
  }
  return ParseConfig(text, path);
}

std::string TomlText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&quoted, "\\u%04X", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace liststore
