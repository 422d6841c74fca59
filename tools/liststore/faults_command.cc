#include "tools/liststore/faults_command.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/instruments/statements.h"
#include "tools/liststore/instrument_command.h"

namespace liststore {
namespace {

constexpr char kFaultsHelp[] =
    R"(What is to go wrong: the table liststore.faults, whose columns docs/cql_support.md describes. Alone it lists
them, with how often each has happened.

  list                         SELECT ... FROM liststore.faults
  add NAME COLUMN=VALUE ...    INSERT INTO liststore.faults (name, COLUMN, ...) VALUES ('NAME', VALUE, ...)
  remove NAME                  DELETE FROM liststore.faults WHERE name = 'NAME'
  clear                        TRUNCATE liststore.faults

Columns: action (read_timeout, write_timeout, unavailable, overloaded, server_error, rate_limit, unprepared,
close_connection, no_answer, 'delay 20ms'), op, tbl, statement, consistency, key, connection, times,
probability, seed, applies.

Examples:
  liststore faults add slow op=SELECT tbl=feat.clicks 'action=delay 5ms..20ms'
  liststore faults add lost op=INSERT times=3 action=write_timeout applies=true
  liststore faults clear
)";

struct FaultsOptions {
  std::string name = {};
  std::vector<std::string> settings = {};
};

using Statements = std::vector<std::string>;

absl::StatusOr<Statements> Armed(const FaultsOptions& options) {
  const absl::StatusOr<std::string> statement = AddFault(options.name, options.settings);
  if (!statement.ok()) return statement.status();
  return Statements{*statement};
}

}  // namespace

void AddFaultsCommand(const Subcommand& program) {
  const InstrumentCommand faults(program, "faults", "List, add and remove what is to go wrong",
                                 kFaultsHelp);
  const auto options = std::make_shared<FaultsOptions>();
  const auto list = [] { return Statements{kListFaults}; };
  faults.Sends(list);
  faults.Add("list", "List them, and how often each has happened", list);
  const Subcommand added = faults.Add("add", "Arm one, in place of one of that name",
                                      [options] { return Armed(*options); });
  added.Option("NAME", &options->name, "What it is called").Value("").Required();
  added.Option("COLUMN=VALUE", &options->settings, "What it matches, and what happens then")
      .Value("")
      .Required();
  faults.Add("remove", "Remove one", [options] { return Statements{RemoveFault(options->name)}; })
      .Option("NAME", &options->name, "Which")
      .Value("")
      .Required();
  faults.Add("clear", "Remove all", [] { return Statements{kClearFaults}; });
}

}  // namespace liststore
