// What the loads drive: connections to a server, whatever it speaks.
#ifndef LISTSTORE_BENCH_LOAD_LOAD_TARGET_H_
#define LISTSTORE_BENCH_LOAD_LOAD_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"

struct epoll_event;

namespace liststore {

// Of a measurement's time, before it: what runs for it is not counted.
inline constexpr double kLoadWarmUpShare = 0.1;

// Connections with places, each for one request under way. A slot is a place of a connection: one
// of connections() * places(). Requests come from sources, which have numbers. One thread.
class LoadTarget {
 public:
  virtual ~LoadTarget() = default;
  virtual size_t connections() const = 0;
  virtual size_t places() const = 0;
  virtual int fd(size_t connection) const = 0;

  virtual bool HasPlace(size_t connection) const = 0;
  // Takes down the next request of `source`, to be sent on `connection`, which has a place. The
  // slot that it takes; nullopt: the source has no more.
  virtual std::optional<size_t> Append(size_t connection, size_t source) = 0;
  // Sends what was taken down.
  virtual absl::Status Send(size_t connection) = 0;
  // Reads what has arrived, at least something.
  virtual absl::Status Receive(size_t connection) = 0;
  // Checks the whole replies among what was read, and appends their slots, which are free then. An
  // error ends the load.
  virtual absl::Status Take(size_t connection, std::vector<size_t>* answered) = 0;
};

// Which connections of a target have something to read. Who waits looks again and again for some
// milliseconds before he sleeps: to wake a sleeper costs the one who sends to him (in a virtual
// machine a fifth of the server's time), and what is measured is the server.
class LoadPoll {
 public:
  explicit LoadPoll(const LoadTarget& target);
  ~LoadPoll();
  LoadPoll(const LoadPoll&) = delete;
  LoadPoll& operator=(const LoadPoll&) = delete;

  // Calls `receive` for each that has, up to 64 of them, after waiting at most `millis` for the
  // first; stops at the first error. DeadlineExceeded: `millis` is above 0, and none had.
  absl::Status Wait(int millis, const std::function<absl::Status(size_t connection)>& receive);

  // Time spent looking in vain so far; sleep not included.
  uint64_t idle_nanos() const { return idle_nanos_; }

 private:
  // Up to 64 events, of which the number is returned; see epoll_wait.
  int Look(int millis, epoll_event* events) const;

  const int epoll_;
  uint64_t idle_nanos_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_LOAD_TARGET_H_
