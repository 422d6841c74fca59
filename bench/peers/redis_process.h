// A Redis server of a benchmark's own, as a process beside it: on a free port of 127.0.0.1, on one
// core, without persistence.
#ifndef LISTSTORE_BENCH_PEERS_REDIS_PROCESS_H_
#define LISTSTORE_BENCH_PEERS_REDIS_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace liststore {

// Ends with this object: by a signal to its process, which is waited for.
class RedisProcess {
 public:
  // `program` is looked for in PATH. Returns when clients can connect. NotFound: there is no such
  // program. Unavailable: it does not start.
  static absl::StatusOr<std::unique_ptr<RedisProcess>> Start(int core, const std::string& program);
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  pid_t pid() const { return pid_; }
  uint16_t port() const { return port_; }

 private:
  RedisProcess(pid_t pid, uint16_t port) : pid_(pid), port_(port) {}

  const pid_t pid_;
  const uint16_t port_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_REDIS_PROCESS_H_
