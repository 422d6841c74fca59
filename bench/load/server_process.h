// A `liststore serve` of this program's own, as a process beside it.
#ifndef LISTSTORE_BENCH_LOAD_SERVER_PROCESS_H_
#define LISTSTORE_BENCH_LOAD_SERVER_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace liststore {

// The two cores of a measurement over the wire. Equal when the process may use only one.
struct WireCores {
  int server = 0;
  int client = 0;
};
// The first and the last that this process may use.
WireCores ChooseWireCores();
// The calling thread, and what it starts from here on. False: the kernel refuses.
bool PinToCore(int core);

// Of any process: its time on a core since it began, and its resident memory. 0: not known.
uint64_t ProcessCpuNanos(pid_t pid);
uint64_t ProcessResidentBytes(pid_t pid);

// Ends with this object: its standard input is closed, and it is waited for.
class ServerProcess {
 public:
  // One shard, on `core`, with memory ready for `populate_bytes` of data. `program` is a liststore.
  // `more`: further arguments of `serve`. Returns when clients can connect.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(
      int core, uint64_t populate_bytes = 0, const std::string& program = "/proc/self/exe",
      const std::vector<std::string>& more = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // HOST:PORT.
  const std::string& address() const { return address_; }
  // The same with TLS; empty: there is none.
  const std::string& tls_address() const { return tls_address_; }
  // Time on a core since it began.
  uint64_t CpuNanos() const { return ProcessCpuNanos(pid_); }
  uint64_t ResidentBytes() const { return ProcessResidentBytes(pid_); }

 private:
  ServerProcess(pid_t pid, int input) : pid_(pid), input_(input) {}

  const pid_t pid_;
  const int input_;
  std::string address_;
  std::string tls_address_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_SERVER_PROCESS_H_
