// What became of a server's clients that should not: its counters, slow turns, and what it does not do.
#ifndef LISTSTORE_TOOLS_REPORT_SERVER_NOTES_H_
#define LISTSTORE_TOOLS_REPORT_SERVER_NOTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"

namespace liststore {

struct ServerNote {
  std::string name;  // of the counter, or the code of what is not supported
  uint64_t count = 0;
  std::string means;
  std::string remedy;
  std::string detail = {};  // of one of them; maybe empty
};

// Of liststore.counters those that should be 0 and are not, with the longest turn that
// liststore.slow_turns has; and what liststore.unsupported has that was refused. Statuses are the client's.
absl::StatusOr<std::vector<ServerNote>> ReadServerNotes(CqlClient& client);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPORT_SERVER_NOTES_H_
