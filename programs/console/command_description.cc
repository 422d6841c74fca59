#include "programs/console/command_description.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "programs/console/json_line.h"

namespace liststore {
namespace {

std::string JsonArray(const std::vector<std::string>& values) {
  std::string array;
  for (const std::string& value : values) array += (array.empty() ? "" : ",") + value;
  return '[' + array + ']';
}

std::string JsonTexts(std::vector<std::string> texts) {
  for (std::string& text : texts) text = JsonLine::Quoted(text);
  return JsonArray(texts);
}

// The words of "table|json|csv"; those of "1..256|off", where others are values too: none.
std::vector<std::string> ChoicesOf(std::string_view type) {
  std::vector<std::string> words;
  while (true) {
    const size_t end = type.find('|');
    const std::string_view word = type.substr(0, end);
    const bool is_word = !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    if (!is_word) return {};
    words.emplace_back(word);
    if (end == std::string_view::npos) break;
    type.remove_prefix(end + 1);
  }
  return words.size() > 1 ? words : std::vector<std::string>();
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string DescribeOption(const CLI::Option& option) {
  const bool takes_value = option.get_items_expected_max() > 0;
  const std::string value = takes_value ? option.get_type_name() : "";
  JsonLine line;
  line.Json("names", JsonTexts(NamesOf(option)));
  if (option.get_positional()) line.Text("argument", option.get_name(true, false));
  line.Json("takes_value", takes_value ? "true" : "false");
  line.Text("value", value);
  line.Json("choices", JsonTexts(ChoicesOf(value)));
  line.Text("default", option.get_default_str());
  line.Text("text", option.get_description());
  line.Text("group", option.get_group());
  line.Text("environment", option.get_envname());
  line.Json("required", option.get_required() ? "true" : "false");
  line.Json("several", option.get_items_expected_max() > 1 ? "true" : "false");
  return line.Finish();
}

}  // namespace

std::string DescribeCommand(const CLI::App& command) {
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) options.push_back(DescribeOption(*option));
  }
  std::vector<std::string> commands;
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!inner->get_group().empty()) commands.push_back(DescribeCommand(*inner));
  }
  JsonLine line;
  line.Text("name", command.get_name());
  line.Text("text", command.get_description());
  line.Text("footer", command.get_footer());
  line.Json("options", JsonArray(options));
  line.Json("commands", JsonArray(commands));
  return line.Finish();
}

}  // namespace liststore
