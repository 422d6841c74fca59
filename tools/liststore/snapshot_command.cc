#include "tools/liststore/snapshot_command.h"

#include <memory>
#include <string>

#include "tools/instruments/statements.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/instrument_arguments.h"

namespace liststore {
namespace {

constexpr char kSnapshotHelp[] =
    R"(Writes everything that a server with --data-dir holds to a snapshot there, and shows it when it is done.
Where clients log in superusers alone may.

  UPDATE liststore.snapshots SET action = 'save' WHERE key = 'snapshots'

Examples:
  liststore snapshot
)";

}  // namespace

void AddSnapshotCommand(const Subcommand& program) {
  const Subcommand command = program.Add("snapshot", "Let a server take a snapshot");
  command.Footer(std::string(kSnapshotHelp) + kConnectionHelp);
  const auto options = std::make_shared<InstrumentOptions>();
  AddInstrumentArguments(command, options.get());
  command.Runs([options] {
    return RunInstrument("snapshot", *options, {kSnapshot, kShowSnapshot});
  });
}

}  // namespace liststore
