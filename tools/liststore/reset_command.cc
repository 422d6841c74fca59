#include "tools/liststore/reset_command.h"

#include <memory>
#include <string>

#include "tools/instruments/instruments.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/instrument_arguments.h"

namespace liststore {
namespace {

constexpr char kResetHelp[] =
    R"(Schema, rows, clock, roles and faults as they were at the mark of 'liststore mark'; without a mark
everything is gone. Shows what there is then.

  UPDATE liststore.data SET action = 'reset' WHERE key = 'data'

Examples:
  liststore reset --to mark
)";

}  // namespace

void AddResetCommand(const Subcommand& program) {
  const Subcommand command = program.Add("reset", "Go back to the mark, or to an empty server");
  command.Footer(std::string(kResetHelp) + kConnectionHelp);
  const auto options = std::make_shared<ResetOptions>();
  command.Option("--to", &options->to, "Only to the mark: it is an error when there is none")
      .OneOf({"mark"});
  AddFormatArgument(command, &options->format);
  AddConnectionArguments(command, &options->server);
  command.Runs([options] { return RunReset(*options); });
}

}  // namespace liststore
