// `liststore journal` and `reset`, which are more than a statement each.
#ifndef LISTSTORE_TOOLS_INSTRUMENTS_INSTRUMENTS_H_
#define LISTSTORE_TOOLS_INSTRUMENTS_INSTRUMENTS_H_

#include <cstdint>
#include <string>

#include "programs/client/server_connection.h"

namespace liststore {

struct JournalOptions {
  ServerConnection server = {};
  std::string format = "table";
  uint32_t last = 20;
  // Goes on with those that come, until it is ended or the server is.
  bool follow = false;
};
// Returns the exit status.
int RunJournal(const JournalOptions& options);

struct ResetOptions {
  ServerConnection server = {};
  std::string format = "table";
  // "mark": it is an error when nothing is marked. Empty: then everything goes.
  std::string to = {};
};
// Returns the exit status.
int RunReset(const ResetOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_INSTRUMENTS_INSTRUMENTS_H_
