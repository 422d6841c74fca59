#include "tools/liststore/console_command.h"

#include <memory>
#include <string>

#include "tools/console/console.h"
#include "tools/console/console_settings.h"
#include "tools/liststore/connection_arguments.h"

namespace liststore {
namespace {

constexpr char kConsoleIntroduction[] =
    R"(Statements typed at a terminal, and what the server says to them; what 'liststore query' does where none is given
on the command line. Where standard input is no terminal its statements are sent, as by 'liststore query'.

)";

constexpr char kConsoleExamples[] = R"(
What was typed is kept, for its owner alone, in $XDG_STATE_HOME/liststore/history, else below ~/.local/state; not
what has the word PASSWORD in it. Keys are those of the shell, and of ~/.editrc. NO_COLOR switches colours off.

Examples:
  liststore console
  liststore console --via db1.example.org:9042 --user app
)";

}  // namespace

void AddAnswerArguments(const Subcommand& command, QueryOptions* options) {
  command.Option("--format", &options->format, "How rows are printed")
      .OneOf(kResultFormats)
      .ShowDefault();
  command
      .Option("--page-size", &options->page_rows,
              "Rows fetched at a time [1000; 100 of the console]")
      .Value("N")
      .Within(uint32_t{1}, kPageRowsMax);
  command.Flag("--timing", &options->timing, "Say how long each answer took, from here");
}

int RunConsoleOf(const Subcommand& command, const QueryOptions& options) {
  const bool has_page_size = command.SourceOf("--page-size") != OptionSource::kDefault;
  return RunConsole(
      {.server = options.server,
       .format = ParseResultFormat(options.format),
       .page_rows = has_page_size ? static_cast<int32_t>(options.page_rows) : kConsolePageRows,
       .timing = options.timing});
}

void AddConsoleCommand(const Subcommand& program) {
  const Subcommand command = program.Add("console", "Type CQL statements, and see the answers");
  command.Footer(std::string(kConsoleIntroduction) + kConsoleHelp + kConsoleExamples +
                 kConnectionHelp);
  const auto options = std::make_shared<QueryOptions>();
  AddAnswerArguments(command, options.get());
  AddConnectionArguments(command, &options->server);
  command.Runs([command, options] {
    return IsAtTerminal() ? RunConsoleOf(command, *options) : RunQuery("console", *options);
  });
}

}  // namespace liststore
