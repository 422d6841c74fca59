#include "programs/console/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <type_traits>

#include "absl/status/status.h"
#include "engine/base/nearest_name.h"
#include "programs/console/command_description.h"
#include "programs/console/config_options.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

// `text` as the name of a variable: "cql-port" of LISTSTORE, LISTSTORE_CQL_PORT.
std::string EnvironmentName(const std::string& prefix, const std::string& text) {
  std::string name = prefix + '_';
  for (const char c : text) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// "; did you mean 'serve'?", or nothing.
std::string MeantSubcommand(const CLI::App& command, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CLI::App* known : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.emplace_back(known->get_name());
  }
  const std::string_view nearest = NearestName(name, names);
  return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

// The same of a flag, and of those of the commands around it.
std::string MeantFlag(const CLI::App& command, std::string_view flag) {
  const std::string_view name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::vector<std::string_view> names;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& known : option->get_lnames()) names.emplace_back(known);
    }
  }
  const std::string_view nearest = NearestName(name, names);
  return nearest.empty() ? "" : "; did you mean '--" + std::string(nearest) + "'?";
}

// "liststore bench wire"
std::string FullName(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : FullName(*parent) + ' ' + command.get_name();
}

bool HasSubcommands(const CLI::App& command) {
  return !command.get_subcommands([](const CLI::App*) { return true; }).empty();
}

// What is wrong about an argument that nobody has taken.
std::string ExplainExtra(const CLI::App& command, const std::string& extra) {
  const std::string name = extra.substr(0, extra.find('='));
  if (name.size() > 1 && name.starts_with('-')) {
    return "no flag '" + name + "'" + MeantFlag(command, name);
  }
  if (HasSubcommands(command)) {
    return "no subcommand '" + extra + "'" + MeantSubcommand(command, extra);
  }
  return "'" + extra + "' is one argument too many";
}

// "a, b, c"
std::string Listed(const std::vector<std::string>& words) {
  std::string listed;
  for (const std::string& word : words) listed += (listed.empty() ? "" : ", ") + word;
  return listed;
}

// As the name of a type: "a|b|c".
std::string Alternatives(const std::vector<std::string>& words) {
  std::string alternatives;
  for (const std::string& word : words) alternatives += (alternatives.empty() ? "" : "|") + word;
  return alternatives;
}

std::string NotOneOf(const std::string& text, const std::vector<std::string>& words) {
  return "'" + text + "' is not a value of it; use one of " + Listed(words);
}

// The name under which an option of a number has the check of its bounds, which may be set later.
constexpr char kBoundsCheck[] = "bounds";

// What is wrong about a number; empty: nothing. `option` tells its unit.
template <typename Number>
std::function<std::string(std::string&)> BoundsCheck(const CLI::Option* option, Number low,
                                                     Number high) {
  return [option, low, high](std::string& text) -> std::string {
    Number number{};
    if (CLI::detail::lexical_cast(text, number) && number >= low && number <= high) return "";
    const std::string unit = option->get_type_name();
    std::ostringstream what;
    what.precision(10);
    what << "'" << text << "' is not a number";
    if (unit == "SECONDS" || unit == "MILLISECONDS") {
      what << " of " << (unit == "SECONDS" ? "seconds" : "milliseconds");
    }
    // Of those with a fraction the largest says nothing.
    const bool has_bounds =
        std::is_integral_v<Number> || low != std::numeric_limits<Number>::lowest();
    if (has_bounds) what << " from " << +low << " to " << +high;
    return what.str();
  };
}

template <typename Field>
struct NumberOf {
  using Type = Field;
};
template <typename Number>
struct NumberOf<std::optional<Number>> {
  using Type = Number;
};

// A size with its unit becomes a number.
std::string ToSizeText(std::string& text) {
  const std::string given = text;
  try {
    // As an unsigned number it would be a very large one.
    if (given.find('-') != std::string::npos) throw CLI::ValidationError("size", given);
    static const CLI::AsSizeValue kSize(false);
    if (kSize(text).empty()) return "";
  } catch (const CLI::ValidationError&) {
  }
  return "'" + given +
         "' is not a size; use a number of bytes, or one with K, M or G behind it, as 512M";
}

// Names of variables that Kubernetes makes for a service called liststore.
bool IsOfAService(std::string_view name, const std::string& prefix) {
  const std::string_view rest = name.substr(prefix.size() + 1);
  return rest.starts_with("SERVICE_") || rest == "PORT" || rest.starts_with("PORT_");
}

void AppendVariables(const CLI::App& command, std::vector<std::string>* names) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_envname().empty()) names->push_back(option->get_envname());
  }
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    AppendVariables(*subcommand, names);
  }
}

// Whether the option stands on the command line itself.
bool IsIn(const CLI::Option& option, const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin() + 1, arguments.end(), [&](const std::string& argument) {
    return std::ranges::any_of(option.get_lnames(), [&](const std::string& name) {
      return argument == "--" + name || argument.starts_with("--" + name + "=");
    });
  });
}

}  // namespace

// --- CommandOption ------------------------------------------------------------------------------

const CommandOption& CommandOption::Value(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

const CommandOption& CommandOption::ShowDefault() const {
  option_->capture_default_str();
  return *this;
}

const CommandOption& CommandOption::Required() const {
  option_->required();
  return *this;
}

const CommandOption& CommandOption::FromEnvironment(const std::string& variable) const {
  option_->envname(variable);
  return *this;
}

const CommandOption& CommandOption::Excludes(const CommandOption& other) const {
  option_->excludes(other.option_);
  return *this;
}

template <typename Number>
const CommandOption& CommandOption::Within(Number low, Number high) const {
  option_->get_validator(kBoundsCheck)->operation(BoundsCheck(option_, low, high));
  return *this;
}
template const CommandOption& CommandOption::Within(int, int) const;
template const CommandOption& CommandOption::Within(uint16_t, uint16_t) const;
template const CommandOption& CommandOption::Within(uint32_t, uint32_t) const;
template const CommandOption& CommandOption::Within(uint64_t, uint64_t) const;
template const CommandOption& CommandOption::Within(double, double) const;

const CommandOption& CommandOption::UpToOr(uint32_t high, const std::string& word) const {
  const auto number_of = [high, word](std::string& text) -> std::string {
    if (text == word) {
      text = "0";
      return "";
    }
    uint32_t number = 0;
    if (CLI::detail::lexical_cast(text, number) && number >= 1 && number <= high) return "";
    return "'" + text + "' is not 1 to " + std::to_string(high) + ", or " + word;
  };
  option_->transform(CLI::Validator(number_of, ""));
  return *this;
}

const CommandOption& CommandOption::OneOf(const std::vector<std::string>& values) const {
  option_->check([values](const std::string& text) -> std::string {
    return std::ranges::find(values, text) != values.end() ? "" : NotOneOf(text, values);
  });
  option_->type_name(Alternatives(values));
  return *this;
}

const CommandOption& CommandOption::In(const std::string& group) const {
  option_->group(group);
  return *this;
}

const CommandOption& CommandOption::OneAtATime() const {
  option_->allow_extra_args(false);
  return *this;
}

const CommandOption& CommandOption::OnCommandLineOnly() const {
  option_->configurable(false);
  return *this;
}

const CommandOption& CommandOption::PartedBy(char separator) const {
  option_->delimiter(separator);
  return *this;
}

// --- CommandLine --------------------------------------------------------------------------------

struct CommandLine::Parts {
  struct Command {
    std::function<int()> run;
    const CLI::Option* config = nullptr;
    std::string config_path;     // as it is given
    std::string name_in_folder;  // of the file, where that is a folder
    std::string config_read;     // empty: none
  };

  Parts(const std::string& description, const std::string& program) : app(description, program) {}

  // The innermost command that was given.
  CLI::App* Given() {
    CLI::App* given = &app;
    while (!given->get_subcommands().empty()) given = given->get_subcommands().front();
    return given;
  }
  // Throws CLI::ParseError.
  void Parse();
  void TakeConfigFile(CLI::App* given, const std::string& path);
  // What is wrong, in words that say what to do.
  std::string Explain(const CLI::ParseError& error);

  CLI::App app;
  std::map<const CLI::App*, Command> commands;
  ValueKinds kinds;
  std::vector<std::string> arguments;
  // Of those that are given, one for each of their values.
  std::map<const CLI::Option*, std::vector<OptionOrigin>> origins;
};

void CommandLine::Parts::Parse() {
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  app.parse(static_cast<int>(argv.size()), argv.data());
  CLI::App* const given = Given();
  for (const CLI::Option* option : given->get_options()) {
    if (option->count() == 0) continue;
    const OptionOrigin origin =
        IsIn(*option, arguments) ? OptionOrigin{OptionSource::kCommandLine}
                                 : OptionOrigin{OptionSource::kEnvironment, option->get_envname()};
    origins[option].assign(option->count(), origin);
  }
  Command& command = commands[given];
  if (command.config_path.empty()) return;
  command.config_read = ConfigPathOf(command.config_path, command.name_in_folder);
  if (!command.config_read.empty()) TakeConfigFile(given, command.config_read);
}

void CommandLine::Parts::TakeConfigFile(CLI::App* given, const std::string& path) {
  for (auto& [option, values] : ReadValues(given, kinds, path)) {
    const auto kind = kinds.find(option);
    const bool has_several = kind != kinds.end() && kind->second == ValueKind::kTexts;
    if (values.texts.empty() || (option->count() > 0 && !has_several)) continue;
    // What counts more comes last.
    const std::vector<std::string> before = option->results();
    option->clear();
    option->add_result(values.texts);
    for (const std::string& text : before) option->add_result(text);
    option->run_callback();
    std::vector<OptionOrigin>& of_option = origins[option];
    of_option.insert(of_option.begin(), values.origins.begin(), values.origins.end());
  }
}

std::string CommandLine::Parts::Explain(const CLI::ParseError& error) {
  const CLI::App& given = *Given();
  // What nobody takes is the cause of what is missing then.
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  if (!extras.empty()) return ExplainExtra(given, extras.front());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      given.get_require_subcommand_min() > 0) {
    return "a subcommand is wanted";
  }
  const std::string what = error.what();
  const size_t name_end = what.find(':');
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && what.ends_with(" missing")) {
    return what.substr(0, name_end) + " needs a value";
  }
  // A variable of the environment is named as such.
  const CLI::Option* const option =
      what.starts_with("--") ? given.get_option_no_throw(what.substr(0, name_end)) : nullptr;
  const bool is_variable = option != nullptr && option->count() > 0 &&
                           !option->get_envname().empty() && !IsIn(*option, arguments);
  return is_variable ? option->get_envname() + what.substr(name_end) : what;
}

CommandLine::CommandLine(const std::string& description, const std::string& program)
    : parts_(std::make_unique<Parts>(description, program)) {}
CommandLine::~CommandLine() = default;

void CommandLine::SetVersion(const std::string& version) {
  parts_->app.set_version_flag("--version", version);
}

void CommandLine::AddDescription(const std::string& flag) {
  CLI::App& app = parts_->app;
  // Said as a version is: before anything that is missing on the command line is looked for.
  app.add_flag_callback(flag, [&app] { throw CLI::CallForVersion(DescribeCommand(app), 0); })
      ->group("");
}

Subcommand CommandLine::program() { return {this, &parts_->app}; }

absl::Status CommandLine::Parse(const std::vector<std::string>& arguments) {
  parts_->arguments = arguments;
  try {
    parts_->Parse();
    return absl::OkStatus();
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(parts_->Explain(error));
  }
}

int CommandLine::Run(int argc, char** argv) {
  CLI::App& app = parts_->app;
  parts_->arguments.assign(argv, argv + argc);
  try {
    parts_->Parse();
    return parts_->commands[parts_->Given()].run();
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too.
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? kExitSame : kExitFailed;
    const CLI::App& given = *parts_->Given();
    const std::string name = FullName(given);
    std::cerr << name << ": " << parts_->Explain(error) << "\n'" << name << " --help' "
              << (HasSubcommands(given) ? "lists them" : "tells more") << '\n';
    return kExitFailed;
  }
}

// --- Subcommand ---------------------------------------------------------------------------------

Subcommand Subcommand::Add(const std::string& name, const std::string& text) const {
  return {line_, app_->add_subcommand(name, text)};
}

void Subcommand::Footer(const std::string& text) const { app_->footer(text); }

void Subcommand::RequireSubcommand() const { app_->require_subcommand(1); }

void Subcommand::TakesOptionsOfParent() const { app_->fallthrough(); }

template <typename Field>
CommandOption Subcommand::Option(const std::string& name, Field* field,
                                 const std::string& text) const {
  CLI::Option* const option = app_->add_option(name, *field, text);
  using Number = typename NumberOf<Field>::Type;
  if constexpr (std::is_arithmetic_v<Number>) {
    constexpr Number kLowest = std::numeric_limits<Number>::lowest();
    constexpr Number kHighest = std::numeric_limits<Number>::max();
    option->check(CLI::Validator(BoundsCheck(option, kLowest, kHighest), "", kBoundsCheck));
    line_->parts_->kinds[option] = ValueKind::kNumber;
  } else {
    constexpr bool kIsOne = std::is_same_v<Field, std::string>;
    line_->parts_->kinds[option] = kIsOne ? ValueKind::kText : ValueKind::kTexts;
  }
  return CommandOption(option);
}
template CommandOption Subcommand::Option(const std::string&, std::string*,
                                          const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, std::vector<std::string>*,
                                          const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, int*, const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, uint16_t*, const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, uint32_t*, const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, uint64_t*, const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, double*, const std::string&) const;
template CommandOption Subcommand::Option(const std::string&, std::optional<uint16_t>*,
                                          const std::string&) const;

template <typename Field>
CommandOption Subcommand::Bytes(const std::string& name, Field* field,
                                const std::string& text) const {
  CLI::Option* const option = app_->add_option(name, *field, text);
  line_->parts_->kinds[option] = ValueKind::kSize;
  return CommandOption(option->transform(CLI::Validator(ToSizeText, ""))->type_name("BYTES"));
}
template CommandOption Subcommand::Bytes(const std::string&, uint64_t*, const std::string&) const;
template CommandOption Subcommand::Bytes(const std::string&, std::optional<uint64_t>*,
                                         const std::string&) const;

CommandOption Subcommand::Flag(const std::string& name, bool* field,
                               const std::string& text) const {
  CLI::Option* const option = app_->add_flag(name, *field, text);
  option->check([](const std::string& given) -> std::string {
    bool value = false;
    return CLI::detail::lexical_cast(given, value) ? "" : NotOneOf(given, {"true", "false"});
  });
  line_->parts_->kinds[option] = ValueKind::kFlag;
  return CommandOption(option);
}

CommandOption Subcommand::Flag(const std::string& name, std::function<void()> given,
                               const std::string& text) const {
  return CommandOption(app_->add_flag_callback(name, std::move(given), text));
}

template <typename Field>
CommandOption Subcommand::Choice(const std::string& name, Field* field, const std::string& text,
                                 const std::vector<std::pair<std::string, bool>>& words) const {
  std::vector<std::string> known;
  for (const auto& choice : words) known.push_back(choice.first);
  const auto to_value = [words, known](std::string& given) -> std::string {
    for (const auto& [word, value] : words) {
      if (given != word) continue;
      given = value ? "true" : "false";
      return "";
    }
    return given == "true" || given == "false" ? "" : NotOneOf(given, known);
  };
  CLI::Option* const option = app_->add_option(name, *field, text);
  option->type_name(Alternatives(known));
  const bool is_switch = std::ranges::find(known, "on") != known.end();
  line_->parts_->kinds[option] = is_switch ? ValueKind::kSwitch : ValueKind::kText;
  return CommandOption(option->transform(CLI::Validator(to_value, "")));
}
template CommandOption Subcommand::Choice(const std::string&, bool*, const std::string&,
                                          const std::vector<std::pair<std::string, bool>>&) const;
template CommandOption Subcommand::Choice(const std::string&, std::optional<bool>*,
                                          const std::string&,
                                          const std::vector<std::pair<std::string, bool>>&) const;

CommandOption Subcommand::ConfigFile(const std::string& name, const std::string& text,
                                     const std::string& name_in_folder) const {
  CommandLine::Parts::Command& command = line_->parts_->commands[app_];
  command.name_in_folder = name_in_folder;
  const CommandOption option = Option(name, &command.config_path, text).Value("FILE");
  command.config = app_->get_option(name);
  app_->get_option(name)->configurable(false);  // a file names no other
  return option;
}

void Subcommand::AllFromEnvironment(const std::string& prefix) const {
  const CLI::Option* const config = line_->parts_->commands[app_].config;
  for (CLI::Option* option : app_->get_options()) {
    if (option == app_->get_help_ptr()) continue;
    if (!option->get_configurable() && option != config) continue;
    option->envname(EnvironmentName(prefix, option->get_lnames()[0]));
  }
}

std::vector<std::string> Subcommand::UnknownVariables(const std::string& prefix) const {
  std::vector<std::string> variables;
  AppendVariables(line_->parts_->app, &variables);
  const std::vector<std::string_view> known(variables.begin(), variables.end());
  std::vector<std::string> unknown;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name(*variable, std::strcspn(*variable, "="));
    if (!name.starts_with(prefix + '_') || IsOfAService(name, prefix) ||
        std::ranges::find(known, name) != known.end()) {
      continue;
    }
    unknown.push_back(std::string(name) + DidYouMean(name, known));
  }
  return unknown;
}

OptionOrigin Subcommand::OriginOf(const std::string& name) const {
  const std::vector<OptionOrigin> origins = OriginsOf(name);
  return origins.empty() ? OptionOrigin{} : origins.back();
}

std::vector<OptionOrigin> Subcommand::OriginsOf(const std::string& name) const {
  const auto& origins = line_->parts_->origins;
  const auto at = origins.find(app_->get_option_no_throw(name));
  return at == origins.end() ? std::vector<OptionOrigin>{} : at->second;
}

std::string Subcommand::config_path() const { return line_->parts_->commands[app_].config_read; }

const std::vector<std::string>& Subcommand::arguments() const { return line_->parts_->arguments; }

void Subcommand::Runs(std::function<int()> run) const {
  line_->parts_->commands[app_].run = std::move(run);
}

}  // namespace liststore
