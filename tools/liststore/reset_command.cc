#include "tools/liststore/reset_command.h"

#include <memory>

#include "tools/instruments/instruments.h"
#include "tools/liststore/instrument_command.h"

namespace liststore {
namespace {

constexpr char kResetHelp[] =
    R"(Schema, rows, clock, roles and faults as they were at the mark of 'liststore mark'. Shows what there is then.

Where nothing is marked it would take everything away: then it says what that is and does nothing, unless
--everything is given, or the question on the terminal is answered with y. --everything takes a mark away too.

  UPDATE liststore.data SET action = 'reset' WHERE key = 'data'

Examples:
  liststore reset
  liststore reset --to mark
  liststore reset --everything
)";

}  // namespace

void AddResetCommand(const Subcommand& program) {
  const InstrumentCommand reset(program, "reset", "Go back to the mark, or to an empty server",
                                kResetHelp);
  const auto options = std::make_shared<ResetOptions>();
  const CommandOption to =
      reset.command()
          .Option("--to", &options->to, "Only to the mark: it is an error when there is none")
          .OneOf({"mark"});
  reset.command()
      .Flag("--everything", &options->everything, "To an empty server, whatever is marked")
      .Excludes(to);
  reset.Runs(
      [options](const InstrumentOptions& instrument) { return RunReset(instrument, *options); });
}

}  // namespace liststore
