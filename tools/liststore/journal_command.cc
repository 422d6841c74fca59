#include "tools/liststore/journal_command.h"

#include <memory>
#include <string>

#include "tools/instruments/instruments.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/instrument_arguments.h"

namespace liststore {
namespace {

constexpr char kJournalHelp[] =
    R"(The last requests of all clients: the table liststore.requests, oldest first; a server keeps as many as
'liststore serve --journal N' says. Requests on the keyspaces liststore and system* are not among them.

  SELECT ... FROM liststore.requests WHERE journal = 'requests' AND seq > LAST - N

A table has the columns that are looked at first; --format json and csv have all of them.

Examples:
  liststore journal --last 5
  liststore journal --follow --format json
)";

}  // namespace

void AddJournalCommand(const Subcommand& program) {
  const Subcommand command = program.Add("journal", "Show the last requests of all clients");
  command.Footer(std::string(kJournalHelp) + kConnectionHelp);
  const auto options = std::make_shared<JournalOptions>();
  command.Number("--last", &options->last, "How many").Within(uint32_t{0}, uint32_t{100'000});
  command.Flag("--follow", &options->follow, "Go on with those that come, until it is ended");
  AddFormatArgument(command, &options->format);
  AddConnectionArguments(command, &options->server);
  command.Runs([options] { return RunJournal(*options); });
}

}  // namespace liststore
