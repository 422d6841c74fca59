// `liststore clock`, `faults`, `journal`, `mark`, `reset` and `snapshot`: statements on `liststore.*`.
#ifndef LISTSTORE_TOOLS_INSTRUMENTS_INSTRUMENTS_H_
#define LISTSTORE_TOOLS_INSTRUMENTS_INSTRUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "programs/client/server_connection.h"

namespace liststore {

// What they have in common.
struct InstrumentOptions {
  ServerConnection server = {};
  std::string format = "table";
};

// Sends the statements in turn and prints the answers of those that have rows. Returns the exit status.
int RunInstrument(const std::string& command, const InstrumentOptions& options,
                  const std::vector<std::string>& statements);

struct JournalOptions {
  uint32_t last = 20;
  // Goes on with those that come, until it is ended or the server is.
  bool follow = false;
};
// Returns the exit status.
int RunJournal(const InstrumentOptions& instrument, const JournalOptions& options);

struct ResetOptions {
  // "mark": it is an error when nothing is marked.
  std::string to = {};
  // To an empty server: a mark is taken away first.
  bool everything = false;
};
// Where nothing is marked and `everything` is not set, says what would go, and asks for a y where standard
// input is a terminal; what is not asked or not answered so does nothing. Returns the exit status.
int RunReset(const InstrumentOptions& instrument, const ResetOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_INSTRUMENTS_INSTRUMENTS_H_
