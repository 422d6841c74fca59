// How the memory of a server is divided before it starts: rows, what is held for clients, and what large
// requests work in.
#ifndef LISTSTORE_ENGINE_SERVE_MEMORY_SHARES_H_
#define LISTSTORE_ENGINE_SERVE_MEMORY_SHARES_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/execute/write/write_set.h"
#include "engine/protocol/request.h"
#include "liststore/cql_server.h"

namespace liststore {

// For rows, by the rule of Options::memory_limit_bytes. FailedPrecondition: nobody says how much.
absl::StatusOr<uint64_t> RowsLimit(const CqlServerOptions& options);

// How the memory for clients is divided.
struct ClientShares {
  explicit ClientShares(const CqlServerOptions& options);
  // `logs_count`: of commit logs, which keep what clients wrote until the disk has it; 0: there are none.
  ClientShares(uint64_t bytes, uint32_t logs_count);

  uint64_t statements;
  uint64_t journal;
  uint64_t logs;  // all of them together
  uint64_t connections;
};

// What large requests may take together, and what one may bring: all of it.
struct WorkShares {
  WorkShares(const CqlServerOptions& options, const ClientShares& clients);

  uint64_t bytes;
  size_t tokens_max;
  size_t cells_max = execute::WriteSet::kCellsMax;
  size_t statements_max = SIZE_MAX;
  size_t values_max = protocol::RequestScratch::kValuesMax;
  size_t json_values_max = SIZE_MAX;
  size_t plan_bytes_max = cql::ScyllaDialect().plan_bytes_max;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_MEMORY_SHARES_H_
