// Sends requests at a rate, each at its instant, whether or not the ones before it are answered.
// What a service meets: its users do not wait for each other.
#ifndef LISTSTORE_BENCH_LOAD_OPEN_LOAD_H_
#define LISTSTORE_BENCH_LOAD_OPEN_LOAD_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/core_watch.h"
#include "bench/load/load_target.h"
#include "bench/load/server_process.h"
#include "engine/base/histogram.h"
#include "programs/console/json_line.h"

namespace liststore {

// 95 of 100 requests are reads.
inline constexpr uint64_t kOpenInsertEvery = 20;
// Requests a second, where a server can do twice as many.
inline constexpr double kOpenRateMax = 500'000;
// Places on a connection of such a load. Requests that find none wait, and their time runs. As many
// replies of 10 rows fit into the buffers of a socket: neither side waits for the other to read.
inline constexpr size_t kOpenInFlight = 256;

// Latency counts from the instant at which a request was due, so that what waits for a slow one is
// charged with its wait.
struct OpenRun {
  double rate = 0;      // offered, a second
  double achieved = 0;  // answered, a second, the last ones included
  Histogram select_latency;
  Histogram insert_latency;
  Histogram quiet_latency;  // of both, while nobody else had one of the cores; quiet_latency.h
  Histogram machine_waits;  // of the same rate, for the cores alone; core_gaps.h

  // Which part of the requests `quiet_latency` has.
  double QuietShare() const;
};

// One thread, which does not sleep: it has a core to itself.
class OpenLoad {
 public:
  // `target` outlives it. Its source 0 reads, its source 1 inserts; neither ends. `server`: the
  // process that answers; 0: not known, and OpenRun::quiet_latency stays empty, as it does where
  // the kernel keeps no account.
  explicit OpenLoad(LoadTarget& target, pid_t server = 0);

  // `rate` * `seconds` requests; returns when all are answered. DeadlineExceeded: the server has
  // said nothing for a minute. Histograms are added to.
  absl::Status Run(double rate, double seconds, OpenRun* run);

 private:
  absl::Status SendDue(double elapsed);
  absl::Status ReceiveReady(OpenRun* run);

  LoadTarget& target_;
  LoadPoll poll_;
  int64_t begin_nanos_ = 0;
  double nanos_apart_ = 0;  // of requests due one after the other
  uint64_t wanted_ = 0;
  uint64_t sent_ = 0;
  uint64_t answered_ = 0;
  size_t next_connection_ = 0;
  struct Request {
    double due = 0;  // nanoseconds since the beginning
    bool insert = false;
  };
  std::vector<Request> requests_;  // by slot
  std::vector<bool> unsent_;       // by connection
  std::vector<size_t> answers_;    // slots, of one read
  CoreWatch cores_;                // of this thread and the server's, or nobody
};

// The rate for a server that was seen to do `most` a second.
double OpenRateFor(double most);

// A short run that is not counted, then `rounds` of `seconds`, whose latencies are added up. After
// each, for as long, what the machine alone makes requests wait.
absl::Status MeasureOpenLoop(LoadTarget& target, pid_t server, double rate, double seconds,
                             int rounds, const WireCores& cores, OpenRun* run);

// open_loop_per_s, open_loop_achieved_per_s, and latencies of open_loop, open_loop_select,
// open_loop_insert and open_loop_machine; where it is known, of open_loop_quiet, and
// open_loop_quiet_share: which part of the requests that was.
void AddOpenRun(const OpenRun& run, JsonLine* json);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_OPEN_LOAD_H_
