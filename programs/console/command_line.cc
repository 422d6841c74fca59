#include "programs/console/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <type_traits>

#include "engine/base/nearest_name.h"
#include "programs/console/command_description.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

// `text` as the name of a variable: "cql-port" of LISTSTORE, LISTSTORE_CQL_PORT.
std::string EnvironmentName(const std::string& prefix, const std::string& text) {
  std::string name = prefix + '_';
  for (const char c : text) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// "; did you mean cql-port?", or nothing. `name` and what is meant stand without dashes.
std::string MeantOption(const CLI::App& command, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) names.emplace_back(known);
  }
  return DidYouMean(name, names);
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

// What is wrong, in words that say what to do.
std::string Explain(const CLI::ParseError& error) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && what.ends_with(" missing")) {
    return what.substr(0, what.find(':')) + " needs a value";
  }
  return what;
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

// Takes from a file what neither the command line nor the environment has said; returns what that
// was.
std::vector<const CLI::Option*> ReadConfigFile(CLI::App* command, const std::string& path) {
  std::vector<const CLI::Option*> taken;
  if (::access(path.c_str(), R_OK) != 0) {
    throw CLI::ConfigError("cannot read " + path + ": " + std::strerror(errno));
  }
  for (const CLI::ConfigItem& item : CLI::ConfigINI().from_file(path)) {
    CLI::Option* const option = command->get_option_no_throw("--" + item.name);
    if (option == nullptr || !item.parents.empty()) {
      throw CLI::ConfigError(path + ": no option " + item.fullname() +
                             MeantOption(*command, item.name));
    }
    if (option->count() > 0) continue;
    option->add_result(item.inputs);
    option->run_callback();
    taken.push_back(option);
  }
  return taken;
}

// Whether the option stands on the command line itself.
bool IsIn(const CLI::Option& option, int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [&](const std::string argument) {
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

const CommandOption& CommandOption::PartedBy(char separator) const {
  option_->delimiter(separator);
  return *this;
}

// --- CommandLine --------------------------------------------------------------------------------

struct CommandLine::Parts {
  struct Command {
    std::function<int()> run;
    std::string config_path;
  };

  Parts(const std::string& description, const std::string& program) : app(description, program) {}

  CLI::App app;
  std::map<const CLI::App*, Command> commands;
  std::map<const CLI::Option*, OptionSource> sources;  // of those that are given

  // The innermost command that was given.
  CLI::App* Given() {
    CLI::App* given = &app;
    while (!given->get_subcommands().empty()) given = given->get_subcommands().front();
    return given;
  }
};

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

int CommandLine::Run(int argc, char** argv) {
  CLI::App& app = parts_->app;
  try {
    app.parse(argc, argv);
    CLI::App* const given = parts_->Given();
    const Parts::Command& command = parts_->commands[given];
    for (const CLI::Option* option : given->get_options()) {
      if (option->count() == 0) continue;
      parts_->sources[option] =
          IsIn(*option, argc, argv) ? OptionSource::kCommandLine : OptionSource::kEnvironment;
    }
    if (!command.config_path.empty()) {
      for (const CLI::Option* option : ReadConfigFile(given, command.config_path)) {
        parts_->sources[option] = OptionSource::kFile;
      }
    }
    return command.run();
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too.
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? kExitSame : kExitFailed;
    // What nobody takes is the cause of what is missing then.
    const CLI::App& given = *parts_->Given();
    const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
    const std::string name = FullName(given);
    std::string what = Explain(error);
    if (!extras.empty()) {
      what = ExplainExtra(given, extras.front());
    } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
               given.get_require_subcommand_min() > 0) {
      what = "a subcommand is wanted";
    }
    std::cerr << name << ": " << what << "\n'" << name << " --help' "
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
  return CommandOption(option->transform(CLI::Validator(ToSizeText, ""))->type_name("BYTES"));
}
template CommandOption Subcommand::Bytes(const std::string&, uint64_t*, const std::string&) const;
template CommandOption Subcommand::Bytes(const std::string&, std::optional<uint64_t>*,
                                         const std::string&) const;

CommandOption Subcommand::Flag(const std::string& name, bool* field,
                               const std::string& text) const {
  return CommandOption(app_->add_flag(name, *field, text));
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
  return CommandOption(option->transform(CLI::Validator(to_value, "")));
}
template CommandOption Subcommand::Choice(const std::string&, bool*, const std::string&,
                                          const std::vector<std::pair<std::string, bool>>&) const;
template CommandOption Subcommand::Choice(const std::string&, std::optional<bool>*,
                                          const std::string&,
                                          const std::vector<std::pair<std::string, bool>>&) const;

CommandOption Subcommand::ConfigFile(const std::string& name, const std::string& text) const {
  std::string* const path = &line_->parts_->commands[app_].config_path;
  return Option(name, path, text).Value("FILE");
}

void Subcommand::AllFromEnvironment(const std::string& prefix) const {
  for (CLI::Option* option : app_->get_options()) {
    if (option == app_->get_help_ptr()) continue;
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

OptionSource Subcommand::SourceOf(const std::string& name) const {
  const auto& sources = line_->parts_->sources;
  const auto at = sources.find(app_->get_option_no_throw(name));
  return at == sources.end() ? OptionSource::kDefault : at->second;
}

absl::StatusOr<std::optional<std::string>> Subcommand::ReadConfigAgain(
    const std::string& name) const {
  const std::string& path = line_->parts_->commands[app_].config_path;
  try {
    std::optional<std::string> value;
    for (const CLI::ConfigItem& item : CLI::ConfigINI().from_file(path)) {
      if (item.parents.empty() && "--" + item.name == name && item.inputs.size() == 1) {
        value = item.inputs.front();
      }
    }
    return value;
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

void Subcommand::Runs(std::function<int()> run) const {
  line_->parts_->commands[app_].run = std::move(run);
}

}  // namespace liststore
