#include "tools/liststore/snapshot_command.h"

#include <string>
#include <vector>

#include "tools/instruments/statements.h"
#include "tools/liststore/instrument_command.h"

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
  const InstrumentCommand snapshot(program, "snapshot", "Let a server take a snapshot",
                                   kSnapshotHelp);
  snapshot.Sends([] { return std::vector<std::string>{kSnapshot, kShowSnapshot}; });
}

}  // namespace liststore
