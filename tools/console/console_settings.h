// What is said to the console itself, and not to the server: `\timing`, `\format csv`.
#ifndef LISTSTORE_TOOLS_CONSOLE_CONSOLE_SETTINGS_H_
#define LISTSTORE_TOOLS_CONSOLE_CONSOLE_SETTINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/query/result_printer.h"

namespace liststore {

// How answers are shown.
struct ConsoleSettings {
  ResultFormat format = ResultFormat::kTable;
  int32_t page_rows = 100;
  // Stops behind a page, and asks.
  bool pages = true;
  bool timing = false;
};

// A line that is for the console.
struct ConsoleCommand {
  std::string_view name;      // with its backslash, as kConsoleCommands has it
  std::string_view argument;  // maybe empty
};

// A name is all that it takes: "\d", "\format".
extern const std::vector<std::string_view> kConsoleCommands;
// What \help prints.
extern const char kConsoleHelp[];

// Whether the line, the first of an input, is for the console: it begins with a backslash, or is help, exit or
// quit and nothing else.
bool IsForConsole(std::string_view line);
// Of such a line. InvalidArgument: there is no such command; the message says what was meant.
absl::StatusOr<ConsoleCommand> ParseConsoleCommand(std::string_view line);

// \timing, \format and \paging: sets it, or turns it over where no argument is given. Returns what to say.
// InvalidArgument: the argument is none of its values.
absl::StatusOr<std::string> ChangeSetting(const ConsoleCommand& command, ConsoleSettings* settings);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_CONSOLE_SETTINGS_H_
