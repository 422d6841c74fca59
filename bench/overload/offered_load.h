// Offers a server requests at a rate that it may not be able to serve, and tells what became of
// them: answered, refused, or nothing.
#ifndef LISTSTORE_BENCH_OVERLOAD_OFFERED_LOAD_H_
#define LISTSTORE_BENCH_OVERLOAD_OFFERED_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/load_target.h"
#include "engine/base/histogram.h"

namespace liststore {

// A target whose Send takes what the socket takes and never waits: a server that is behind does not
// keep its clients from sending to it on other connections, nor from reading what it answers.
class OfferedTarget : public LoadTarget {
 public:
  // The socket has not taken all that was taken down; Send goes on with it.
  virtual bool HasUnsent(size_t connection) const = 0;
  // The last reply of a slot said that the server has too much to do.
  virtual bool WasRefused(size_t slot) const = 0;
};

// Of one rate. What is counted falls into the time after the first moments, by when it was due,
// sent or answered.
struct OfferedRun {
  double rate = 0;     // requests a second that were due
  double seconds = 0;  // that are counted
  uint64_t answered = 0;
  uint64_t refused = 0;
  uint64_t sent = 0;
  uint64_t sent_late = 0;      // of them, more than a millisecond after they were due
  Histogram latency;           // of the answered ones, since they were due
  Histogram refusal_latency;   // the same of the refused ones
  uint64_t longest_nanos = 0;  // of the answered ones, the first moments included
  // Since the beginning; absent: nothing was refused.
  std::optional<double> last_refusal_seconds;
  uint64_t unsent = 0;  // when the time was over; they are not sent any more

  double AnsweredPerSecond() const { return static_cast<double>(answered) / seconds; }
  double RefusedPerSecond() const { return static_cast<double>(refused) / seconds; }
  double SentPerSecond() const { return static_cast<double>(sent) / seconds; }
};

// One thread, which does not sleep: it has a core to itself. Requests that are due at the same
// moment go on one connection, the next ones on the next.
class OfferedLoad {
 public:
  // `target` outlives it; requests come from its source 0, which does not end.
  explicit OfferedLoad(OfferedTarget& target);

  // Requests at `rate` for `seconds`, after `first_seconds` of the same that are not counted.
  // Returns at once then: what is under way counts for the next run, since it was due.
  absl::Status Run(double rate, double first_seconds, double seconds, OfferedRun* run);
  // Waits for what is under way. DeadlineExceeded: nothing has come for a minute.
  absl::Status Drain();

 private:
  static constexpr size_t kBurst = 256;  // requests of one write

  absl::Status SendDue(int64_t now, uint64_t due, OfferedRun* run);
  absl::Status SendUnsent();
  absl::Status ReceiveReady(OfferedRun* run);

  OfferedTarget& target_;
  LoadPoll poll_;
  std::vector<int64_t> due_at_;   // by slot, on the steady clock
  std::vector<size_t> unsent_;    // connections that have some
  std::vector<uint8_t> is_full_;  // by connection: it is in `unsent_`
  std::vector<size_t> answers_;   // slots, of one read
  size_t next_connection_ = 0;
  uint64_t under_way_ = 0;
  // Of the run.
  int64_t begin_ = 0;
  int64_t counted_from_ = 0;
  double nanos_apart_ = 0;
  uint64_t sent_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_OVERLOAD_OFFERED_LOAD_H_
