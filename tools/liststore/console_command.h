// `liststore console` on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_CONSOLE_COMMAND_H_
#define LISTSTORE_TOOLS_LISTSTORE_CONSOLE_COMMAND_H_

#include "programs/console/command_line.h"
#include "tools/query/query.h"

namespace liststore {

void AddConsoleCommand(const Subcommand& program);

// --format, --timing and --page-size. Parsing writes into `options`, which outlives it.
void AddAnswerArguments(const Subcommand& command, QueryOptions* options);
// The console with what was said to `command`, which has these options and those of a connection. Returns the
// exit status.
int RunConsoleOf(const Subcommand& command, const QueryOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_CONSOLE_COMMAND_H_
