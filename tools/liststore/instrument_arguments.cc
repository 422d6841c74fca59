#include "tools/liststore/instrument_arguments.h"

#include <cstdio>

#include "absl/strings/str_format.h"
#include "programs/console/exit_codes.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/query/query.h"

namespace liststore {

void AddFormatArgument(const Subcommand& command, std::string* format) {
  command.Option("--format", format, "How rows are printed").OneOf(kResultFormats).ShowDefault();
}

void AddInstrumentArguments(const Subcommand& command, InstrumentOptions* options) {
  AddFormatArgument(command, &options->format);
  AddConnectionArguments(command, &options->server);
}

int RunInstrument(const std::string& command, const InstrumentOptions& options,
                  const std::vector<std::string>& statements) {
  return RunStatements(command, options.server, statements,
                       {.format = ParseResultFormat(options.format)});
}

int ReportInstrument(const std::string& command, const absl::Status& status) {
  absl::FPrintF(stderr, "liststore %s: %s\n", command, status.message());
  return kExitFailed;
}

}  // namespace liststore
