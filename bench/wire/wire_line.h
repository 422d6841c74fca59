// A line of a benchmark over the wire: one kind of request, how many a second, how long each, and
// what the two sides had of their cores. The same for every server that is measured.
#ifndef LISTSTORE_BENCH_WIRE_WIRE_LINE_H_
#define LISTSTORE_BENCH_WIRE_WIRE_LINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/load_target.h"
#include "engine/base/histogram.h"
#include "programs/console/json_line.h"

namespace liststore {

struct WireKind {
  const char* key;   // in keys of the JSON output
  const char* name;  // as people read it
  bool is_insert;
  size_t in_flight;          // on each connection
  uint32_t connections = 0;  // 0: as many as the measurement was asked for
};
inline constexpr WireKind kWireKinds[] = {
    {"select10_64", "SELECT 10, 64 each", false, 64},
    {"select10_16", "SELECT 10, 16 each", false, 16},
    {"insert1_64", "INSERT 1, 64 each", true, 64},
    {"insert1_16", "INSERT 1, 16 each", true, 16},
    // As clients without a driver that pipelines: each waits for its answer.
    {"select10_1x64", "SELECT 10, 1 on 64", false, 1, 64},
};

// Beside them, where the others are over TLS: the same without.
inline constexpr WireKind kPlainWireKinds[] = {
    {"plain_select10_64", "  the same, plain", false, 64},
    {"plain_select10_16", "  the same, plain", false, 16},
};

inline constexpr size_t kWireRowsRead = 10;
// Of so many replies to reads one is read in full.
inline constexpr uint64_t kWireOfWhichVerified = 64;
inline constexpr uint64_t kWireListsReadBack = 1'000;

struct WireLine {
  WireKind kind = {};
  std::vector<double> rates;       // replies a second, one for each round
  std::vector<double> core_rates;  // by the server's time on its core; none when it is not known
  std::vector<double> server_shares;
  std::vector<double> client_shares;
  Histogram latency;       // of all rounds
  size_t reply_bytes = 0;  // of the body of each; 0: not known
};

// Connections made and closed one after the other, hands shaken in full.
struct HandshakeLine {
  std::vector<double> rates;       // a second, one for each round
  std::vector<double> core_rates;  // by the server's time on its core; none when it is not known
  std::vector<double> server_shares;
  Histogram latency;  // from connecting until hands are shaken
};

// The server's time on its core until now, in nanoseconds; 0: it is not known.
using ServerNanos = std::function<uint64_t()>;

// Adds a round to `line`: of requests of the target's source 0, for `seconds` after a short run
// that is not counted.
absl::Status MeasureWireLine(LoadTarget& target, double seconds, const ServerNanos& server_nanos,
                             WireLine* line);

// KEY, KEY_rounds, latencies, shares, KEY_per_core_second and KEY_reply_bytes.
void AddWireLine(const WireLine& line, JsonLine* json);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_WIRE_LINE_H_
