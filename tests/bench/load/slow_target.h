// A server for the loads that is none: it answers one request at each read, in order.
#ifndef LISTSTORE_TESTS_BENCH_LOAD_SLOW_TARGET_H_
#define LISTSTORE_TESTS_BENCH_LOAD_SLOW_TARGET_H_

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "bench/load/load_target.h"
#include "gtest/gtest.h"

namespace liststore::testing {

// Its descriptors can always be read. Sources are 0 and 1.
class SlowTarget final : public LoadTarget {
 public:
  using Steady = std::chrono::steady_clock;

  SlowTarget(size_t connections, size_t places)
      : places_(places), waiting_(connections), unsent_(connections) {
    for (size_t i = 0; i < connections; ++i) {
      fds_.push_back(eventfd(1, EFD_CLOEXEC));
      next_slot_.push_back(0);
    }
  }
  ~SlowTarget() override {
    for (const int fd : fds_) close(fd);
  }

  size_t connections() const override { return fds_.size(); }
  size_t places() const override { return places_; }
  int fd(size_t connection) const override { return fds_[connection]; }
  bool HasPlace(size_t connection) const override { return waiting_[connection].size() < places_; }
  std::optional<size_t> Append(size_t connection, size_t source) override {
    EXPECT_TRUE(HasPlace(connection));
    if (appended[0] + appended[1] == requests_max) return std::nullopt;
    if (!first_append.has_value()) first_append = Steady::now();
    const size_t slot = connection * places_ + next_slot_[connection]++ % places_;
    waiting_[connection].push_back(slot);
    ++appended[source];
    unsent_[connection] = true;
    return slot;
  }
  absl::Status Send(size_t connection) override {
    EXPECT_TRUE(unsent_[connection]) << "nothing is sent for nothing";
    unsent_[connection] = false;
    ++sends;
    return fails ? absl::UnavailableError("gone") : absl::OkStatus();
  }
  absl::Status Receive(size_t /*connection*/) override {
    last_receive = Steady::now();
    return absl::OkStatus();
  }
  absl::Status Take(size_t connection, std::vector<size_t>* answered) override {
    std::deque<size_t>& waiting = waiting_[connection];
    if (waiting.empty()) return absl::OkStatus();
    answered->push_back(waiting.front());
    waiting.pop_front();
    return absl::OkStatus();
  }
  size_t UnderWay() const {
    size_t count = 0;
    for (const std::deque<size_t>& waiting : waiting_) count += waiting.size();
    return count;
  }

  uint64_t requests_max = UINT64_MAX;  // what the sources have
  bool fails = false;
  uint64_t appended[2] = {0, 0};  // by source
  uint64_t sends = 0;
  std::optional<Steady::time_point> first_append;
  Steady::time_point last_receive;

 private:
  const size_t places_;
  std::vector<int> fds_;
  std::vector<std::deque<size_t>> waiting_;
  std::vector<size_t> next_slot_;
  std::vector<bool> unsent_;  // by connection
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_BENCH_LOAD_SLOW_TARGET_H_
