#include "tools/liststore/faults_command.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/instruments/statements.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/instrument_arguments.h"

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
  InstrumentOptions instrument = {};
  std::string name = {};
  std::vector<std::string> settings = {};
};

int Add(const FaultsOptions& options) {
  const absl::StatusOr<std::string> statement = AddFault(options.name, options.settings);
  if (!statement.ok()) return ReportInstrument("faults", statement.status());
  return RunInstrument("faults", options.instrument, {*statement});
}

}  // namespace

void AddFaultsCommand(const Subcommand& program) {
  const Subcommand command = program.Add("faults", "List, add and remove what is to go wrong");
  command.Footer(std::string(kFaultsHelp) + kConnectionHelp);
  const auto options = std::make_shared<FaultsOptions>();
  AddInstrumentArguments(command, &options->instrument);
  const auto list = [options] {
    return RunInstrument("faults", options->instrument, {kListFaults});
  };
  command.Runs(list);
  const auto add = [&command](const std::string& name, const std::string& text,
                              const std::function<int()>& run) {
    const Subcommand subcommand = command.Add(name, text);
    subcommand.TakesOptionsOfParent();
    subcommand.Runs(run);
    return subcommand;
  };
  add("list", "List them, and how often each has happened", list);
  const Subcommand added =
      add("add", "Arm one, in place of one of that name", [options] { return Add(*options); });
  added.Option("NAME", &options->name, "What it is called").Value("").Required();
  added.Option("COLUMN=VALUE", &options->settings, "What it matches, and what happens then")
      .Value("")
      .Required();
  add("remove", "Remove one",
      [options] {
        return RunInstrument("faults", options->instrument, {RemoveFault(options->name)});
      })
      .Option("NAME", &options->name, "Which")
      .Value("")
      .Required();
  add("clear", "Remove all",
      [options] { return RunInstrument("faults", options->instrument, {kClearFaults}); });
}

}  // namespace liststore
