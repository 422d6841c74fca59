#include "tools/serve/config_text.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/settings/scylla_settings.h"
#include "programs/console/config_file.h"
#include "tools/serve/scylla_config.h"
#include "tools/serve/serve_settings.h"

namespace liststore {
namespace {

constexpr std::string_view kScyllaSource = "scylla-config";
// Of ScyllaDB's options, the table of the file.
constexpr std::string_view kScyllaOption = "scylla-option";

// A setting, or an option of ScyllaDB, as it is shown.
struct ConfigRow {
  std::string_view group = {};
  std::string_view name = {};
  std::string value = {};  // as TOML and JSON have it; empty: there is none
  std::string means = {};  // what stands for it then
  std::string_view source = "default";
  std::string place = {};
  std::string option = {};  // of ScyllaDB, that says so
  bool is_secret = false;
  bool has_effect = true;
  // A file with its line comes to the same as what was given.
  bool is_line = false;
};

// Of a password. As a line it is no TOML, so that who gives the lines back is told where one is missing, and has no server
// without it.
constexpr std::string_view kNotShown = "not shown";

// Who reads it here does not need it.
bool IsSecret(const ServeSetting& row, const std::string& value) {
  return row.setting.name == "auth" && absl::StrContains(value, ":");
}

// One of the words that are values of it.
bool IsWord(const ServeSetting& row, std::string_view text) {
  return std::ranges::find(row.words, text) != row.words.end() ||
         std::ranges::any_of(row.choices, [&](const auto& choice) { return choice.first == text; });
}

std::string TomlValue(const ServeSetting& row, const ServeOptions& options) {
  std::string text = ValueText(row, options);
  if (text.empty()) return text;
  const bool is_text = !row.choices.empty() || (!row.word.empty() && text == row.word) ||
                       std::holds_alternative<std::string ServeOptions::*>(row.field);
  return is_text ? TomlText(text) : text;
}

ConfigRow RowOf(const ServeSetting& row, const ServeOptions& asked, const ScyllaChoice& chosen) {
  const std::string_view name = row.setting.name;
  ConfigRow shown{.group = row.group, .name = name};
  const auto given = asked.sources.find(name);
  const auto from_scylla = chosen.from_scylla.find(name);
  const std::string text = ValueText(row, chosen.options);
  if (given != asked.sources.end()) {
    shown.source = settings::ToString(given->second.source);
    shown.place = given->second.place;
    shown.is_line = true;
  } else if (from_scylla != chosen.from_scylla.end()) {
    shown.source = kScyllaSource;
    shown.option = from_scylla->second;
    const auto origin = chosen.origins.find(shown.option);
    if (origin != chosen.origins.end()) shown.place = origin->second.place;
  } else if (text != row.setting.default_value) {
    // There is none, or one that says so, as 0 bytes.
    const std::string_view stands_for_it = row.setting.default_value;
    if (IsWord(row, stands_for_it)) {
      shown.value = TomlText(stands_for_it);
    } else {
      shown.means = stands_for_it;
    }
    return shown;
  }
  shown.value = TomlValue(row, chosen.options);
  if (shown.value.empty() && shown.is_line) shown.value = TomlText("");
  const bool is_by_scylla = name == "auth" && chosen.options.auth_by_scylla_config;
  shown.is_secret = IsSecret(row, text) || is_by_scylla;
  if (shown.is_secret) {
    shown.value.clear();
    shown.means = kNotShown;
  }
  return shown;
}

std::string TomlValue(settings::SettingType type, const std::string& text) {
  using T = settings::SettingType;
  switch (type) {
    case T::kBoolean:
    case T::kUint16:
    case T::kUint32:
    case T::kUint64:
    case T::kInt32:
    case T::kInt64:
    case T::kFloat:
      return text;
    default:
      return TomlText(text);
  }
}

bool IsOfPassword(std::string_view name) { return absl::StrContains(ToAbsl(name), "passw"); }

// Also of a map that has one among others: where it ends cannot be told.
bool HasPassword(const settings::Setting& setting, const std::string& text) {
  const bool is_map =
      setting.type == settings::SettingType::kMap || setting.type == settings::SettingType::kMaps;
  return !text.empty() && (IsOfPassword(setting.name) || (is_map && IsOfPassword(text)));
}

std::vector<ConfigRow> ScyllaRows(const ScyllaChoice& chosen) {
  std::vector<ConfigRow> rows;
  const std::span<const settings::Setting> all = settings::ScyllaSettings();
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& text = chosen.config.at(i).text;
    ConfigRow row{.name = all[i].name, .value = TomlValue(all[i].type, text)};
    row.has_effect = all[i].has_effect();
    if (const auto origin = chosen.origins.find(row.name); origin != chosen.origins.end()) {
      row.is_line = chosen.own.contains(row.name);
      row.source = row.is_line ? settings::ToString(origin->second.source) : kScyllaSource;
      row.place = origin->second.place;
    }
    row.is_secret = HasPassword(all[i], text);
    if (row.is_secret) {
      row.value.clear();
      row.means = kNotShown;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

struct ConfigRows {
  std::vector<ConfigRow> settings;
  std::vector<ConfigRow> scylla;
};

absl::StatusOr<ConfigRows> RowsOf(const ServeOptions& options) {
  LS_ASSIGN_OR_RETURN(const ScyllaChoice chosen, ChooseScyllaConfig(options));
  ConfigRows rows;
  for (const ServeSetting& row : ServeSettings()) {
    if (row.is_question || row.setting.name == kScyllaOption) continue;
    rows.settings.push_back(RowOf(row, options, chosen));
    ConfigRow& shown = rows.settings.back();
    // As a flag it says how this is printed.
    if (shown.name == "json" && shown.source == "flag") {
      shown = {.group = row.group, .name = "json", .value = "false"};
    }
  }
  rows.scylla = ScyllaRows(chosen);
  return rows;
}

// "file.toml:3", "LISTSTORE_SHARDS", "flag", "native_transport_port, scylla.yaml:7"
std::string SourceText(const ConfigRow& row) {
  std::string text(row.place.empty() ? row.source : std::string_view(row.place));
  if (!row.option.empty()) {
    text = absl::StrCat(row.option, row.place.empty() ? "" : ", ", row.place);
  }
  if (!row.has_effect) text += ", without effect";
  return text;
}

// One of ScyllaDB's is "workdir,W".
std::string TomlKey(std::string_view name) {
  return absl::StrContains(ToAbsl(name), ",") ? TomlText(name) : std::string(name);
}

void AppendLine(const ConfigRow& row, std::string& text) {
  const std::string value = !row.value.empty()  ? row.value
                            : row.means.empty() ? "\"\""
                                                : absl::StrCat("(", row.means, ")");
  absl::StrAppendFormat(&text, "%-60s  # %s\n",
                        absl::StrCat(row.is_line ? "" : "# ", TomlKey(row.name), " = ", value),
                        SourceText(row));
}

void AppendJson(const std::vector<ConfigRow>& rows, bool is_scylla, std::string& json) {
  json += "{";
  for (const ConfigRow& row : rows) {
    absl::StrAppend(&json, json.back() == '{' ? "\n" : ",\n", "  ", TomlText(row.name),
                    ":{\"value\":", row.value.empty() ? "null" : row.value);
    if (!row.means.empty()) absl::StrAppend(&json, ",\"means\":", TomlText(row.means));
    absl::StrAppend(&json, ",\"source\":", TomlText(row.source));
    if (!row.option.empty()) absl::StrAppend(&json, ",\"option\":", TomlText(row.option));
    if (!row.place.empty()) absl::StrAppend(&json, ",\"place\":", TomlText(row.place));
    if (is_scylla) absl::StrAppend(&json, ",\"has_effect\":", row.has_effect ? "true" : "false");
    json += "}";
  }
  json += "}";
}

}  // namespace

absl::StatusOr<std::string> ConfigText(const ServeOptions& options) {
  LS_ASSIGN_OR_RETURN(const ConfigRows rows, RowsOf(options));
  std::string text = absl::StrCat(
      "# liststore serve, ", options.config_file.empty() ? "without a configuration file" : "with ",
      options.config_file,
      "\n"
      "# What is set stands as a line; defaults, and what a scylla.yaml says, are comments. This "
      "can be given back\n"
      "# with --config, once what is '(not shown)', which are passwords, stands there again.\n");
  // Help's headings in its order; their rows need not stand side by side in the table.
  std::vector<std::string_view> groups;
  for (const ConfigRow& row : rows.settings) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.push_back(row.group);
  }
  for (const std::string_view group : groups) {
    absl::StrAppend(&text, "\n# ", ToAbsl(group), "\n");
    for (const ConfigRow& row : rows.settings) {
      if (row.group == group) AppendLine(row, text);
    }
  }
  absl::StrAppend(&text, "\n# Options of ScyllaDB\n[", ToAbsl(kScyllaOption), "]\n");
  for (const ConfigRow& row : rows.scylla) AppendLine(row, text);
  return text;
}

absl::StatusOr<std::string> ConfigJson(const ServeOptions& options) {
  LS_ASSIGN_OR_RETURN(const ConfigRows rows, RowsOf(options));
  std::string json = absl::StrCat(
      "{\"config_file\":", options.config_file.empty() ? "null" : TomlText(options.config_file),
      ",\n\"settings\":");
  AppendJson(rows.settings, /*is_scylla=*/false, json);
  json += ",\n\"scylla_options\":";
  AppendJson(rows.scylla, /*is_scylla=*/true, json);
  return json + "}\n";
}

}  // namespace liststore
