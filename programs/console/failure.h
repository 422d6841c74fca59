// How a subcommand says that it could not be done.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_FAILURE_H_
#define LISTSTORE_PROGRAMS_CONSOLE_FAILURE_H_

#include <string_view>

#include "absl/status/status.h"

namespace liststore {

// "liststore COMMAND: MESSAGE" on standard error, behind what was printed on standard output so far;
// control characters of the message as \xNN.
// Returns kExitFailed. `status` is an error.
int ReportFailure(std::string_view command, const absl::Status& status);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_FAILURE_H_
