#include "tools/liststore/journal_command.h"

#include <memory>

#include "tools/instruments/instruments.h"
#include "tools/liststore/instrument_command.h"

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
  const InstrumentCommand journal(program, "journal", "Show the last requests of all clients",
                                  kJournalHelp);
  const auto options = std::make_shared<JournalOptions>();
  journal.command()
      .Number("--last", &options->last, "How many")
      .Within(uint32_t{0}, uint32_t{100'000});
  journal.command().Flag("--follow", &options->follow,
                         "Go on with those that come, until it is ended");
  journal.Runs(
      [options](const InstrumentOptions& instrument) { return RunJournal(instrument, *options); });
}

}  // namespace liststore
