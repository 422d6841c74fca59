#include "tools/liststore/mark_command.h"

#include <memory>
#include <string>

#include "tools/instruments/statements.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/instrument_arguments.h"

namespace liststore {
namespace {

constexpr char kMarkHelp[] =
    R"(What 'liststore reset' goes back to: the present schema, rows, clock and roles, in place of an earlier
mark. Shows what there is.

  UPDATE liststore.data SET action = 'mark' WHERE key = 'data'
  UPDATE liststore.data SET action = 'forget' WHERE key = 'data'     with --forget

Examples:
  liststore mark
)";

struct MarkOptions {
  InstrumentOptions instrument = {};
  bool forget = false;
};

}  // namespace

void AddMarkCommand(const Subcommand& program) {
  const Subcommand command = program.Add("mark", "Mark what a reset goes back to");
  command.Footer(std::string(kMarkHelp) + kConnectionHelp);
  const auto options = std::make_shared<MarkOptions>();
  command.Flag("--forget", &options->forget, "Take the mark away; what is stored stays");
  AddInstrumentArguments(command, &options->instrument);
  command.Runs([options] {
    return RunInstrument("mark", options->instrument,
                         {DoWithData(options->forget ? "forget" : "mark"), kShowBaseline});
  });
}

}  // namespace liststore
