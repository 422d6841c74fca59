// What `liststore serve` says once clients can connect: a line of JSON for programs, a line for the log, and
// on a terminal some lines for people instead of both.
#ifndef LISTSTORE_TOOLS_SERVE_START_LINES_H_
#define LISTSTORE_TOOLS_SERVE_START_LINES_H_

#include <cstdint>
#include <string>

#include "tools/serve/serve.h"

namespace liststore {

// What the options do not say.
struct StartFacts {
  uint16_t cql_port = 0;
  uint16_t shard_aware_port = 0;  // 0: there is none, as of the others
  uint16_t tls_port = 0;
  uint16_t tls_shard_aware_port = 0;
  uint16_t http_port = 0;
  uint16_t dynamodb_port = 0;
  int pid = 0;
  std::string clock;                // as --clock takes it
  uint64_t memory_limit_bytes = 0;  // of the process
};

// One object, without an end of line. `options`: as they are carried out.
std::string ReadyJson(const ServeOptions& options, const StartFacts& facts);
// One line.
std::string StartText(const ServeOptions& options, const StartFacts& facts);
// Lines, each with its end: where it listens, what it has, and how to connect.
std::string StartLines(const ServeOptions& options, const StartFacts& facts);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_START_LINES_H_
