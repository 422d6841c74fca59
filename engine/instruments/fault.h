// Fault: what shall go wrong, for which statements, and how often. How a service behaves then is
// what a test wants to know.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_FAULT_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_FAULT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement_outline.h"

namespace liststore::instruments {

// How long answers wait: evenly between two times, or by percentiles.
struct DelayDistribution {
  using Nanos = std::chrono::nanoseconds;
  bool by_percentiles = false;
  Nanos least{0};  // not by percentiles
  Nanos p50{0};    // by percentiles
  Nanos p99{0};    // by percentiles
  Nanos most{0};   // by percentiles: p999

  bool operator==(const DelayDistribution&) const = default;
  // For `fraction` in [0, 1). Between two percentiles the times grow with each part of the rest
  // that is left behind, as those of servers do.
  Nanos At(double fraction) const;
};

struct FaultAction {
  enum class Kind : uint8_t {
    kReadTimeout,
    kWriteTimeout,
    kUnavailable,
    kOverloaded,
    kServerError,
    kUnprepared,  // of prepared statements alone: others do not meet it
    kRateLimit,
    kCloseConnection,
    kNoAnswer,
    kDelay,  // the statement runs at once, its answer waits
  };
  Kind kind = Kind::kServerError;
  DelayDistribution delay;  // of kDelay

  bool operator==(const FaultAction&) const = default;
};

// The longest delay.
inline constexpr std::chrono::hours kFaultDelayMax{1};

// 'read_timeout', ..., 'delay 200ms', 'delay 5ms..20ms', 'delay p50=1ms p99=20ms p999=200ms'; times
// in us, ms, s, with decimals; in any case. Invalid names the text and what it may be.
cql::CqlOr<FaultAction> ParseFaultAction(std::string_view text);
// 'read_timeout', ..., 'delay'.
std::string_view ToString(FaultAction::Kind kind);

// A request, as far as faults look at it.
struct FaultRequest {
  cql::StatementOp op = cql::StatementOp::kOther;
  // Of its statements, "keyspace.table"; of the keyspaces of the system too, but not of those of
  // the server's own tables: such requests meet no fault.
  std::vector<std::string> tables;
  bool of_system = false;        // all of them are the system's
  std::string text;              // of a batch all of them
  std::string_view consistency;  // "LOCAL_QUORUM"
  std::string address;           // "127.0.0.1:54321"
  std::string_view driver;       // the name that it gave; maybe none
  bool is_prepared = false;      // EXECUTE, or a batch with prepared statements
  // Of its partitions; there only when they are asked for (FaultPlan::AsksForKeys).
  std::vector<std::string> keys;
};

// What requests have to be like. Absent: anything.
struct FaultCondition {
  std::optional<cql::StatementOp> op;  // absent: all but PREPARE
  std::optional<std::string> table;
  std::optional<std::string> statement;  // a part of the text
  std::optional<std::string> consistency;
  std::optional<std::string> key;
  std::optional<std::string> connection;  // address or driver

  bool Holds(const FaultRequest& request) const {
    return HoldsButForKey(request) && HoldsKey(request);
  }
  bool HoldsButForKey(const FaultRequest& request) const;

 private:
  bool HoldsKey(const FaultRequest& request) const;
};

// One that is armed, with what has come of it.
struct Fault {
  std::string name;
  FaultCondition condition;
  std::optional<uint32_t> times;      // absent: until it is removed
  std::optional<double> probability;  // absent: each time
  uint64_t seed = 0;
  std::string action_text;
  FaultAction action;
  // The statement runs all the same, and its answer is lost.
  bool applies = false;

  uint64_t hits = 0;
  Random random{0};  // from the seed
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_FAULT_H_
