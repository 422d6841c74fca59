#include "tools/liststore/query_command.h"

#include <memory>
#include <string>

#include "tools/console/console.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/console_command.h"
#include "tools/query/query.h"

namespace liststore {
namespace {

constexpr char kQueryHelp[] =
    R"(Sends CQL statements to a running server and prints its answers, page by page as they come. Several
statements, parted by ';', go over one connection, so that USE counts for those behind it; the first that
fails is the last. Without STATEMENTS they come from standard input; where that is a terminal they are typed, as at
'liststore console'.

A table has numbers to the right of their columns; json is an object for each row, on a line of its own, with
values as SELECT JSON writes them; csv is that of RFC 4180, with lines that end with a line feed, whose first
names the columns, and where nothing between two commas is null.

Examples:
  liststore query "SELECT * FROM feat.clicks WHERE user = 'u1'"
  liststore query --format csv --page-size 10000 "SELECT * FROM feat.clicks" > clicks.csv
  liststore query --via db1.example.org:9042 --user app < schema.cql
)";

}  // namespace

void AddQueryCommand(const Subcommand& program) {
  const Subcommand command = program.Add("query", "Send CQL statements and print the answers");
  command.Footer(std::string(kQueryHelp) + kConnectionHelp);
  const auto options = std::make_shared<QueryOptions>();
  command
      .Option("STATEMENTS", &options->text, "What to send [standard input, or typed at a terminal]")
      .Value("CQL");
  AddAnswerArguments(command, options.get());
  AddConnectionArguments(command, &options->server);
  command.Runs([command, options] {
    const bool is_typed = options->text.empty() && IsAtTerminal();
    return is_typed ? RunConsoleOf(command, *options) : RunQuery("query", *options);
  });
}

}  // namespace liststore
