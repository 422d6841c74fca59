// The exit statuses of all programs and subcommands.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_EXIT_CODES_H_
#define LISTSTORE_PROGRAMS_CONSOLE_EXIT_CODES_H_

#include <string>

#include "absl/status/status.h"

namespace liststore {

inline constexpr int kExitSame = 0;       // done; answers and rows, where compared, as expected
inline constexpr int kExitDifferent = 1;  // one differs; of report: something was found
inline constexpr int kExitFailed = 2;     // could not be done; also wrong usage
inline constexpr int kExitRefused = 3;    // of serve --strict: statements were refused
// Somebody listens on a port that serve was told to take. The number of the error (EADDRINUSE),
// which no other outcome has.
inline constexpr int kExitPortTaken = 98;

// An answer that differs. DataLoss stands for that alone: every other fault of a replay is reported
// with its place in a file, as InvalidArgument, or as it comes from opening files and the store.
inline absl::Status DifferenceError(const std::string& message) {
  return absl::DataLossError(message);
}

inline int ExitStatus(const absl::Status& status) {
  if (status.ok()) return kExitSame;
  return absl::IsDataLoss(status) ? kExitDifferent : kExitFailed;
}

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_EXIT_CODES_H_
