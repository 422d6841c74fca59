#include "tools/console/console_settings.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/nearest_name.h"
#include "engine/base/strings.h"
#include "programs/console/text.h"
#include "tools/query/query.h"

namespace liststore {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// People end what they type with `;`.
std::string_view WithoutSemicolon(std::string_view line) {
  std::string_view text = Trimmed(line);
  if (text.ends_with(';')) text = Trimmed(text.substr(0, text.size() - 1));
  return text;
}

// The command that a word of psql and cqlsh stands for; empty: it is none.
std::string_view PlainCommand(std::string_view text) {
  for (const auto& [word, command] :
       {std::pair<std::string_view, std::string_view>{"help", "\\help"},
        {"exit", "\\q"},
        {"quit", "\\q"}}) {
    if (absl::EqualsIgnoreCase(ToAbsl(text), ToAbsl(word))) return command;
  }
  return {};
}

// What `on`, `off` or nothing makes of a switch; nullopt: anything else.
std::optional<bool> Switched(std::string_view argument, bool present) {
  if (argument.empty()) return !present;
  if (argument == "on") return true;
  if (argument == "off") return false;
  return std::nullopt;
}

absl::StatusOr<std::string> ChangeFormat(std::string_view argument, ConsoleSettings* settings) {
  if (!argument.empty()) {
    if (std::ranges::find(kResultFormats, argument) == kResultFormats.end()) {
      return absl::InvalidArgumentError(absl::StrCat("'", ToAbsl(argument),
                                                     "' is not a format; use one of ",
                                                     absl::StrJoin(kResultFormats, ", ")));
    }
    settings->format = ParseResultFormat(std::string(argument));
  }
  return "format is " + kResultFormats[static_cast<size_t>(settings->format)];
}

absl::StatusOr<std::string> ChangePaging(std::string_view argument, ConsoleSettings* settings) {
  int32_t rows = 0;
  if (absl::SimpleAtoi(ToAbsl(argument), &rows)) {
    if (rows < 1 || rows > static_cast<int32_t>(kPageRowsMax)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a page has 1 to ", Grouped(kPageRowsMax), " rows, not ", rows));
    }
    settings->pages = true;
    settings->page_rows = rows;
  } else if (const std::optional<bool> pages = Switched(argument, settings->pages)) {
    settings->pages = *pages;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("'", ToAbsl(argument), "' is not on, off or how many rows a page has"));
  }
  if (!settings->pages) return "paging is off";
  return "paging is on: " + Counted(static_cast<uint64_t>(settings->page_rows), "row") + " a page";
}

absl::StatusOr<std::string> ChangeTiming(std::string_view argument, ConsoleSettings* settings) {
  const std::optional<bool> timing = Switched(argument, settings->timing);
  if (!timing) {
    return absl::InvalidArgumentError(absl::StrCat("'", ToAbsl(argument), "' is not on or off"));
  }
  settings->timing = *timing;
  return settings->timing ? "timing is on" : "timing is off";
}

}  // namespace

const std::vector<std::string_view> kConsoleCommands = {"\\d",      "\\format", "\\help",
                                                        "\\paging", "\\q",      "\\timing"};

const char kConsoleHelp[] =
    R"(A statement of CQL may have several lines, and ends with ';'. Of the console itself:

  \d [NAME]                  tables; or the statements that make a table, keyspace, view, index or type
  \format [table|json|csv]   how rows are printed
  \paging [on|off|ROWS]      whether to stop behind each page, and how many rows it has
  \timing [on|off]           say how long each answer took
  \help, help                this
  \q, exit, quit             leave, as Ctrl-D does

  Tab                        completes keywords, keyspaces, tables and columns
  Ctrl-C                     cancels the input, or an answer behind its page
  Ctrl-R, arrow up           earlier statements
)";

bool IsForConsole(std::string_view line) {
  const std::string_view text = WithoutSemicolon(line);
  return text.starts_with('\\') || !PlainCommand(text).empty();
}

absl::StatusOr<ConsoleCommand> ParseConsoleCommand(std::string_view line) {
  std::string_view text = WithoutSemicolon(line);
  if (const std::string_view plain = PlainCommand(text); !plain.empty())
    return ConsoleCommand{plain, {}};
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view name = text.substr(0, end);
  const auto at = std::ranges::find(kConsoleCommands, name);
  if (at == kConsoleCommands.end()) {
    const std::string meant = DidYouMean(name, kConsoleCommands);
    return absl::InvalidArgumentError(absl::StrCat("no command ", ToAbsl(name), meant,
                                                   meant.empty() ? "; \\help lists them" : ""));
  }
  return ConsoleCommand{*at, Trimmed(text.substr(end))};
}

absl::StatusOr<std::string> ChangeSetting(const ConsoleCommand& command,
                                          ConsoleSettings* settings) {
  if (command.name == "\\format") return ChangeFormat(command.argument, settings);
  if (command.name == "\\paging") return ChangePaging(command.argument, settings);
  return ChangeTiming(command.argument, settings);
}

}  // namespace liststore
