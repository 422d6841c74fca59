// `liststore console`: statements typed at a terminal, and what the server says to them.
#ifndef LISTSTORE_TOOLS_CONSOLE_CONSOLE_H_
#define LISTSTORE_TOOLS_CONSOLE_CONSOLE_H_

#include <cstdint>

#include "programs/client/server_connection.h"
#include "tools/query/result_printer.h"

namespace liststore {

// Whether somebody sits at standard input and sees standard output.
bool IsAtTerminal();

// Rows of a page where nothing else is said.
inline constexpr int32_t kConsolePageRows = 100;

struct ConsoleOptions {
  ServerConnection server = {};
  ResultFormat format = ResultFormat::kTable;
  int32_t page_rows = kConsolePageRows;
  bool timing = false;
};

// Until Ctrl-D or \q. Holds one page of an answer at a time. A connection that broke is made again for the next
// statement. Needs a terminal. Returns the exit status: kExitFailed when nobody can be asked at the begin.
int RunConsole(const ConsoleOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_CONSOLE_H_
