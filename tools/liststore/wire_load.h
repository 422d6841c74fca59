// Keeps a number of requests under way on several connections.
#ifndef LISTSTORE_TOOLS_LISTSTORE_WIRE_LOAD_H_
#define LISTSTORE_TOOLS_LISTSTORE_WIRE_LOAD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "engine/base/histogram.h"
#include "tools/liststore/cql_client.h"

namespace liststore {

// Where requests come from and replies go. `slot` is one of connections * in_flight places, each
// with at most one request under way.
class WireSource {
 public:
  virtual ~WireSource() = default;
  // Appends the next request, on `stream`; false: there are no more.
  virtual bool Next(size_t slot, int16_t stream, CqlRequests& requests) = 0;
  // An error ends the load.
  virtual absl::Status OnReply(size_t slot, const CqlReply& reply) = 0;
};

struct WireRun {
  uint64_t replies = 0;  // within `seconds`
  double seconds = 0;
};

// One thread.
class WireLoad {
 public:
  using Clients = std::vector<std::unique_ptr<CqlClient>>;

  // `clients` outlive it.
  WireLoad(const Clients& clients, size_t in_flight);
  ~WireLoad();
  WireLoad(const WireLoad&) = delete;
  WireLoad& operator=(const WireLoad&) = delete;

  // Until `source` has no more, or `seconds` have passed (0: as long as it takes); then waits for
  // what is under way. `latency` (nullptr: not wanted) gets the time from the write of a request to
  // the read that brought its reply, in nanoseconds.
  absl::Status Run(WireSource& source, double seconds, Histogram* latency, WireRun* run);

 private:
  using Steady = std::chrono::steady_clock;

  absl::Status Serve(size_t connection, WireSource& source, Histogram* latency);
  absl::Status Send(size_t connection);

  const Clients& clients_;
  const size_t in_flight_;
  int epoll_ = -1;
  std::vector<Steady::time_point> sent_at_;  // by slot
  std::vector<int16_t> sending_;             // streams of the requests to be sent
  size_t under_way_ = 0;
  uint64_t replies_ = 0;
  bool ends_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_WIRE_LOAD_H_
