// Outcome: what came of a request, for those who count, judge or write down. It stands beside the
// answer's bytes, which nobody has to read again.
#ifndef LISTSTORE_ENGINE_EXECUTE_OUTCOME_H_
#define LISTSTORE_ENGINE_EXECUTE_OUTCOME_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/cql/syntax/cql_error.h"

namespace liststore::execute {

// A request that takes too long for where it is: nothing was done, and it is to be handed over once
// more where it may take longer.
enum class Deferral : uint8_t {
  kNo,
  kOvertaken,  // it reads: those behind it need not wait
  kInOrder,    // those behind it wait for it
  kLarge,      // the same of what was seen by its bytes to be too long, before anything was done
  kSchema,     // the same of what changes the schema: changes wait for each other
};

struct Outcome {
  bool answered = false;   // else the client waits in vain
  bool postponed = false;  // nothing was done: others have to go first
  Deferral deferral = Deferral::kNo;
  bool has_row_counts = false;        // the two below are known: of a SELECT that was run alone
  std::optional<CqlErrorCode> error;  // as the client sees it; absent: a result
  uint64_t dead_rows = 0;             // deleted or over, that its reads passed over
  std::chrono::nanoseconds delay{0};  // that the answer waits for once it is there
  uint64_t rows_read = 0;             // that it has looked at, dead ones included
  uint64_t rows_returned = 0;
  std::string message;  // of the error

  // It was dealt with: it does not come again.
  bool IsOver() const { return !postponed && deferral == Deferral::kNo; }

  // "ok", "no_answer", or of the error: "read_timeout", "syntax". A literal.
  const char* Name() const;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_OUTCOME_H_
