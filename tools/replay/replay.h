// `liststore replay`: a log of list operations through the embedded store, or a server.
#ifndef LISTSTORE_TOOLS_REPLAY_REPLAY_H_
#define LISTSTORE_TOOLS_REPLAY_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "programs/client/client_tls.h"

namespace liststore {

struct ReplayOptions {
  std::string log_path;       // "-": standard input
  std::string expected_path;  // empty: nothing to compare with
  bool json = false;          // one line of JSON instead of the report
  std::string show_entity;    // empty: the list with the most live items
  size_t show_rows = 10;
  uint32_t shards = 0;              // 0: one for each core
  uint64_t memory_limit_bytes = 0;  // 0: the store's own choice
  std::string via;                  // HOST:PORT of a server; empty: a store in this process
  ClientTlsOptions tls;             // to that server
  uint64_t rounds = 1;              // each into a fresh store
};

// Replays the log and prints the report to standard output; faults and the progress go to standard
// error. Returns the exit status, see exit_codes.h.
int RunReplay(const ReplayOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_REPLAY_H_
