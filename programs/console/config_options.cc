#include "programs/console/config_options.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/base/nearest_name.h"
#include "programs/console/config_file.h"

namespace liststore {
namespace {

// "; did you mean cql-port?", or nothing. `name` and what is meant stand without dashes.
std::string MeantOption(const CLI::App& command, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) names.emplace_back(known);
  }
  return DidYouMean(name, names);
}

constexpr char kNameAndValue[] = "NAME=VALUE";

// Its value may have one, which messages do not show.
bool HasPassword(const CLI::Option& option) {
  return option.get_type_name().find("PASSWORD") != std::string::npos;
}

bool TakesTable(const CLI::Option& option) { return option.get_type_name() == kNameAndValue; }

// What is wrong about a text that stands for a value of `option`; empty: nothing.
std::string WhatIsWrong(CLI::Option& option, std::string text) {
  for (int i = 0;; ++i) {
    const CLI::Validator* validator = nullptr;
    try {
      validator = option.get_validator(i);
    } catch (const CLI::OptionNotFound&) {
      return "";
    }
    const std::string wrong = (*validator)(text);
    if (!wrong.empty()) return wrong;
  }
}

bool IsWholeNumber(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

// What is wrong about the type of a value; empty: nothing, or what is wrong about its text says it as well.
std::string WrongType(ValueKind kind, const ConfigEntry& entry) {
  using Kind = ConfigEntry::Kind;
  switch (kind) {
    case ValueKind::kText:
      if (entry.kind == Kind::kText) return "";
      return entry.kind == Kind::kTexts || entry.kind == Kind::kOther
                 ? entry.Shown() + " is not one text"
                 : entry.Shown() + " is not a text; put it in quotes";
    case ValueKind::kTexts:
      return entry.kind == Kind::kText || entry.kind == Kind::kTexts
                 ? ""
                 : entry.Shown() + " is not a list of texts";
    case ValueKind::kNumber:
      return entry.kind == Kind::kText && IsWholeNumber(entry.Shown())
                 ? "\"" + entry.Shown() + "\" is a text and not a number; leave out the quotes"
                 : "";
    case ValueKind::kFlag:
      return entry.kind == Kind::kBoolean ? "" : "'" + entry.Shown() + "' is not true or false";
    case ValueKind::kSize:
    case ValueKind::kSwitch:
      break;
  }
  return "";
}

// The option that an entry is about. `where`: for messages.
CLI::Option* OptionOf(CLI::App* command, const ConfigEntry& entry, const std::string& where) {
  if (entry.table.empty()) {
    CLI::Option* const option = command->get_option_no_throw("--" + entry.name);
    if (option == nullptr || option == command->get_help_ptr()) {
      throw CLI::ConfigError(where + "no option " + entry.name + MeantOption(*command, entry.name));
    }
    if (!option->get_configurable()) {
      throw CLI::ConfigError(where + entry.name + " cannot stand in a configuration file");
    }
    return option;
  }
  CLI::Option* const option = command->get_option_no_throw("--" + entry.table);
  if (option != nullptr && TakesTable(*option)) return option;
  std::vector<std::string_view> tables;
  for (const CLI::Option* known : command->get_options()) {
    if (TakesTable(*known)) tables.emplace_back(known->get_lnames()[0]);
  }
  const std::string meant = DidYouMean(entry.table, tables);
  throw CLI::ConfigError(where + "no table [" + entry.table + "]" +
                         (meant.empty() ? "; settings stand above all headings" : meant));
}

}  // namespace

std::map<CLI::Option*, FileValues> ReadValues(CLI::App* command, const ValueKinds& kinds,
                                              const std::string& path) {
  const absl::StatusOr<std::vector<ConfigEntry>> entries = ReadConfigFile(path);
  if (!entries.ok()) throw CLI::ConfigError(std::string(entries.status().message()));
  std::map<CLI::Option*, FileValues> values;
  for (const ConfigEntry& entry : *entries) {
    const std::string place = path + ":" + std::to_string(entry.line);
    CLI::Option* const option = OptionOf(command, entry, place + ": ");
    FileValues& of_option = values[option];
    const auto add = [&](const std::string& text) {
      of_option.texts.push_back(text);
      of_option.origins.push_back({OptionSource::kFile, place});
    };
    if (!entry.table.empty()) {
      if (!entry.name.empty()) add(entry.name + "=" + entry.texts.front());
      continue;
    }
    const auto kind = kinds.find(option);
    std::string wrong = kind == kinds.end() ? "" : WrongType(kind->second, entry);
    if (!wrong.empty() && HasPassword(*option)) {
      wrong = "it is to be one text in quotes; the value is not shown, it may hold a password";
    }
    const bool takes_several = kind != kinds.end() && kind->second == ValueKind::kTexts;
    if (wrong.empty() && !takes_several) wrong = WhatIsWrong(*option, entry.Shown());
    if (!wrong.empty()) throw CLI::ConfigError(place + ": " + entry.name + ": " + wrong);
    for (const std::string& text : entry.texts) add(text);
  }
  return values;
}

std::string ConfigPathOf(const std::string& path, const std::string& name_in_folder) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return path;
  const std::string file = path + (path.ends_with('/') ? "" : "/") + name_in_folder;
  // What is there and cannot be reached is an error of whoever reads it, and no absence.
  return ::lstat(file.c_str(), &facts) != 0 && errno == ENOENT ? "" : file;
}

}  // namespace liststore
