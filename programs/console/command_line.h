// The command line of a program: options that fill the fields of plain structs, and subcommands.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_COMMAND_LINE_H_
#define LISTSTORE_PROGRAMS_CONSOLE_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace liststore {

// Where the value of an option comes from; the later ones come before the earlier ones.
enum class OptionSource : uint8_t {
  kDefault,
  kFile,
  kEnvironment,
  kCommandLine,
};

// An option of a command. A handle: copies mean the same option, which lives as long as its
// CommandLine. Calls chain.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}

  // What help shows as its value: "HOST:PORT".
  const CommandOption& Value(const std::string& name) const;
  // Help shows what the field holds when this is called.
  const CommandOption& ShowDefault() const;
  const CommandOption& Required() const;
  const CommandOption& FromEnvironment(const std::string& variable) const;
  // Not together with the other.
  const CommandOption& Excludes(const CommandOption& other) const;
  // Bounds, both allowed. The type is what a refusal names: int, uint32_t, uint64_t or double.
  template <typename Number>
  const CommandOption& Within(Number low, Number high) const;
  // 1 to `high`, or `word`, which stands for 0.
  const CommandOption& UpToOr(uint32_t high, const std::string& word) const;
  // Help shows it below this heading, with the others that are in it.
  const CommandOption& In(const std::string& group) const;
  const CommandOption& OneOf(const std::vector<std::string>& values) const;
  // Of several values, each with the option's name before it.
  const CommandOption& OneAtATime() const;
  // Several values in one, parted by `separator`.
  const CommandOption& PartedBy(char separator) const;

 private:
  CLI::Option* option_;
};

class CommandLine;

// A program's command line, or a subcommand of it. A handle like CommandOption.
class Subcommand {
 public:
  // `name` as it is typed, `text` in one line of help.
  Subcommand Add(const std::string& name, const std::string& text) const;
  // What help says below the options.
  void Footer(const std::string& text) const;
  // One of its subcommands has to be given.
  void RequireSubcommand() const;
  // Options of the command that this is a subcommand of may stand behind it as well.
  void TakesOptionsOfParent() const;

  // `field` outlives the parsing, and keeps its value where the option is not given. Its type is
  // std::string, a vector of them, int, uint16_t, uint32_t, uint64_t or double, or a std::optional
  // of uint16_t or uint64_t.
  template <typename Field>
  CommandOption Option(const std::string& name, Field* field, const std::string& text) const;
  // The same of a number, which help shows with its default.
  template <typename Field>
  CommandOption Number(const std::string& name, Field* field, const std::string& text) const {
    return Option(name, field, text).Value("N").ShowDefault();
  }
  // Of a size: K, M and G are powers of 1024. `field` is a uint64_t, or an optional one.
  template <typename Field>
  CommandOption Bytes(const std::string& name, Field* field, const std::string& text) const;
  CommandOption Flag(const std::string& name, bool* field, const std::string& text) const;
  // A flag that does something else than set a field.
  CommandOption Flag(const std::string& name, std::function<void()> given,
                     const std::string& text) const;
  // A bool, or an optional one, by words for its values.
  template <typename Field>
  CommandOption Choice(const std::string& name, Field* field, const std::string& text,
                       const std::vector<std::pair<std::string, bool>>& words) const;

  // An option that names a file with more of this command's options, as lines `NAME = VALUE`. What
  // is given elsewhere comes before the file.
  CommandOption ConfigFile(const std::string& name, const std::string& text) const;
  // All options so far may come from the environment, --cql-port as PREFIX_CQL_PORT. What is given
  // on the command line comes before it.
  void AllFromEnvironment(const std::string& prefix) const;

  // Variables of the environment that are called PREFIX_... and that no option of the program takes, each with the
  // one that may be meant: "PREFIX_CQL_PRT; did you mean PREFIX_CQL_PORT?". Without those that Kubernetes makes for
  // a service of that name.
  std::vector<std::string> UnknownVariables(const std::string& prefix) const;

  // Of an option, once the command runs.
  OptionSource SourceOf(const std::string& name) const;
  // What the file of ConfigFile says of an option now, while the command runs; nullopt: nothing.
  // InvalidArgument: the file cannot be read, or is none.
  absl::StatusOr<std::optional<std::string>> ReadConfigAgain(const std::string& name) const;

  // What is done when this command is given; returns the program's exit status.
  void Runs(std::function<int()> run) const;

 private:
  friend class CommandLine;
  Subcommand(CommandLine* line, CLI::App* app) : line_(line), app_(app) {}

  CommandLine* line_;
  CLI::App* app_;
};

// Owns what the handles mean. One thread.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& program);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // What --version prints.
  void SetVersion(const std::string& version);
  // A flag, which help does not show, that prints all commands and options as JSON (command_description.h).
  void AddDescription(const std::string& flag);
  // The program itself as a command.
  Subcommand program();
  // Parses, and does what the command that was given runs. Returns the exit status: of that, or
  // kExitSame after help, kExitFailed after wrong usage, which is explained on standard error: what
  // is wrong, what was meant where a name is misspelt, and whose help to read.
  int Run(int argc, char** argv);

 private:
  friend class Subcommand;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_COMMAND_LINE_H_
