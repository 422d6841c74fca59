// What a CqlServer tells the program that runs it, for a log: requests that took long, clients that come and
// go, changes of the schema, and what is counted. See CqlServerOptions and CqlServer.
#ifndef LISTSTORE_SERVER_NOTICES_H_
#define LISTSTORE_SERVER_NOTICES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore {

// A request that took long. Valid during the call.
struct CqlSlowRequest {
  std::string_view operation;  // "SELECT", "INSERT", "BATCH", "PREPARE", ...
  std::string_view request;    // how it came: "QUERY", "PREPARE", "EXECUTE" or "BATCH"
  // "keyspace.table", of each name kNameBytesMax at most; empty: of none, or not known. A batch's first one.
  std::string_view table;
  // Its beginning, kStatementBytesMax at most, as it was sent or prepared: bound values are not in it, and
  // it ends with the word PASSWORD. Of a batch the first statements, kStatementsMax at most. Empty: a
  // prepared one that is not known.
  std::string_view statement;
  bool is_statement_cut = false;
  std::string_view client;   // "127.0.0.1:40112"
  std::string_view user;     // the role as which it has logged in, kNameBytesMax at most
  std::string_view outcome;  // "ok", "no_answer", "read_timeout", "invalid", ...
  // How many requests were dealt with together. The times are those of all of them, and the rest is of the
  // last one.
  size_t together = 1;
  std::chrono::nanoseconds waited{0};    // from when its bytes were read until it was begun
  std::chrono::nanoseconds executed{0};  // until its answer was ready to be written
  std::chrono::nanoseconds delayed{0};   // what a fault keeps it back for, from then on
  // Of a SELECT that was run alone. Rows that it has looked at, those of the answer, and, among the former,
  // those that are deleted or over.
  std::optional<uint64_t> rows_read;
  std::optional<uint64_t> rows_returned;
  uint64_t dead_rows = 0;

  static constexpr size_t kStatementBytesMax = 1024;
  static constexpr size_t kStatementsMax = 32;
  static constexpr size_t kNameBytesMax = 192;
};

// A client has come or gone. Valid during the call.
struct CqlConnectionNotice {
  bool is_open = true;             // false: it has gone
  std::string_view protocol = {};  // "CQL" or "HTTP"
  std::string_view client = {};    // "127.0.0.1:40112"
  // Of one that has gone: as whom it had logged in, and what it said of itself; empty: nothing.
  std::string_view user = {};
  std::string_view driver = {};
};

// Something that a server counts.
struct CqlCounter {
  std::string name;  // as in the table liststore.counters
  uint64_t value = 0;
};

// The schema has changed. Valid during the call.
struct CqlSchemaNotice {
  std::string_view change = {};  // "CREATED", "UPDATED" or "DROPPED"
  std::string_view target = {};  // "KEYSPACE", "TABLE", "TYPE", "FUNCTION" or "AGGREGATE"
  std::string_view keyspace = {};
  std::string_view name = {};  // empty of a keyspace
};

}  // namespace liststore

#endif  // LISTSTORE_SERVER_NOTICES_H_
