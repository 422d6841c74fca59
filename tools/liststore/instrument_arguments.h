// What the commands that are statements on `liststore.*` have in common.
#ifndef LISTSTORE_TOOLS_LISTSTORE_INSTRUMENT_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_INSTRUMENT_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "programs/client/server_connection.h"
#include "programs/console/command_line.h"

namespace liststore {

struct InstrumentOptions {
  ServerConnection server = {};
  std::string format = "table";
};

// --format.
void AddFormatArgument(const Subcommand& command, std::string* format);
// The same, and the server. Parsing writes into `options`, which outlives it.
void AddInstrumentArguments(const Subcommand& command, InstrumentOptions* options);

// Sends the statements in turn and prints the answers of those that have rows. Returns the exit status.
int RunInstrument(const std::string& command, const InstrumentOptions& options,
                  const std::vector<std::string>& statements);
// Says why nothing was sent. Returns the exit status.
int ReportInstrument(const std::string& command, const absl::Status& status);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_INSTRUMENT_ARGUMENTS_H_
