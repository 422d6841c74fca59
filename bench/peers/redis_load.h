// Keeps a number of commands under way on several connections to a Redis server: the counterpart of
// tools/liststore/wire_load.h, whose servers answer in any order.
#ifndef LISTSTORE_BENCH_PEERS_REDIS_LOAD_H_
#define LISTSTORE_BENCH_PEERS_REDIS_LOAD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "bench/peers/redis_client.h"
#include "engine/base/histogram.h"
#include "tools/liststore/wire_load.h"

namespace liststore {

// Where commands come from and replies go. `slot` is one of connections * in_flight places, each
// with at most one command under way.
class RedisSource {
 public:
  virtual ~RedisSource() = default;
  // Appends the next command; false: there are no more.
  virtual bool Next(size_t slot, RedisRequests& requests) = 0;
  // An error ends the load.
  virtual absl::Status OnReply(size_t slot, const RedisReply& reply) = 0;
};

// One thread.
class RedisLoad {
 public:
  using Clients = std::vector<std::unique_ptr<RedisClient>>;

  // `clients` outlive it.
  RedisLoad(const Clients& clients, size_t in_flight);
  ~RedisLoad();
  RedisLoad(const RedisLoad&) = delete;
  RedisLoad& operator=(const RedisLoad&) = delete;

  // Until `source` has no more, or `seconds` have passed (0: as long as it takes); then waits for
  // what is under way. `latency` (nullptr: not wanted) gets the time from the write of a command to
  // the read that brought its reply, in nanoseconds.
  absl::Status Run(RedisSource& source, double seconds, Histogram* latency, WireRun* run);

 private:
  using Steady = std::chrono::steady_clock;
  // Commands of a connection are answered in their order: they take its places in turn.
  struct Turn {
    size_t next_sent = 0;
    size_t next_answered = 0;
    size_t unsent = 0;  // in the client's buffer
  };

  bool Append(size_t connection, RedisSource& source);
  absl::Status Send(size_t connection);
  absl::Status Serve(size_t connection, RedisSource& source, Histogram* latency);
  size_t SlotOf(size_t connection, size_t turn) const {
    return connection * in_flight_ + turn % in_flight_;
  }

  const Clients& clients_;
  const size_t in_flight_;
  int epoll_ = -1;
  std::vector<Turn> turns_;                  // by connection
  std::vector<Steady::time_point> sent_at_;  // by slot
  size_t under_way_ = 0;
  uint64_t replies_ = 0;
  bool ends_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_REDIS_LOAD_H_
