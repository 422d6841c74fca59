#include "bench/overload/offered_load.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace liststore::testing {
namespace offered_load_test {

// A server that is none. Each call takes some requests off a connection; its sockets take what they
// are sent at the second attempt.
class PoorTarget final : public OfferedTarget {
 public:
  PoorTarget(size_t connections, size_t places)
      : places_(places),
        waiting_(connections),
        unsent_(connections),
        free_(connections),
        is_full_(connections) {
    for (size_t i = 0; i < connections; ++i) {
      fds_.push_back(eventfd(1, EFD_CLOEXEC));
      for (size_t place = 0; place < places; ++place) free_[i].push_back(i * places + place);
    }
  }
  ~PoorTarget() override {
    for (const int fd : fds_) close(fd);
  }

  size_t connections() const override { return fds_.size(); }
  size_t places() const override { return places_; }
  int fd(size_t connection) const override { return fds_[connection]; }
  bool HasPlace(size_t connection) const override { return !free_[connection].empty(); }
  std::optional<size_t> Append(size_t connection, size_t source) override {
    EXPECT_EQ(source, 0u);
    EXPECT_FALSE(is_full_[connection]) << "its socket takes nothing";
    const size_t slot = free_[connection].front();
    free_[connection].pop_front();
    unsent_[connection].push_back(slot);
    ++appended;
    return slot;
  }
  absl::Status Send(size_t connection) override {
    if (fails) return absl::UnavailableError("gone");
    is_full_[connection] = !is_full_[connection];
    if (is_full_[connection]) return absl::OkStatus();
    std::deque<size_t>& unsent = unsent_[connection];
    waiting_[connection].insert(waiting_[connection].end(), unsent.begin(), unsent.end());
    unsent.clear();
    return absl::OkStatus();
  }
  bool HasUnsent(size_t connection) const override { return !unsent_[connection].empty(); }
  absl::Status Receive(size_t /*connection*/) override { return absl::OkStatus(); }
  absl::Status Take(size_t connection, std::vector<size_t>* answered) override {
    std::deque<size_t>& waiting = waiting_[connection];
    for (size_t i = 0; i < taken_max && !waiting.empty(); ++i) {
      const size_t slot = waiting.front();
      waiting.pop_front();
      free_[connection].push_back(slot);
      answered->push_back(slot);
      ++taken;
      if (WasRefused(slot)) ++refused;
    }
    return absl::OkStatus();
  }
  // Those of every fourth place are.
  bool WasRefused(size_t slot) const override { return slot % 4 == 3; }

  size_t taken_max = 8;  // at once
  bool fails = false;
  uint64_t appended = 0;
  uint64_t taken = 0;
  uint64_t refused = 0;

 private:
  const size_t places_;
  std::vector<int> fds_;
  std::vector<std::deque<size_t>> waiting_;
  std::vector<std::deque<size_t>> unsent_;
  std::vector<std::deque<size_t>> free_;
  std::vector<bool> is_full_;
};

TEST(OfferedLoad, TellsWhatBecameOfAll) {
  PoorTarget target(3, 64);
  OfferedLoad load(target);
  OfferedRun run;
  ASSERT_TRUE(load.Run(1e6, 0, 0.01, &run).ok());
  EXPECT_EQ(run.rate, 1e6);
  EXPECT_GE(run.seconds, 0.01);
  EXPECT_EQ(run.sent, target.appended);
  EXPECT_EQ(run.answered + run.refused, target.taken);
  EXPECT_EQ(run.refused, target.refused);
  EXPECT_EQ(run.latency.Count(), run.answered);
  EXPECT_EQ(run.refusal_latency.Count(), run.refused);
  EXPECT_GT(run.refused, 0u);
  EXPECT_TRUE(run.last_refusal_seconds.has_value());
  EXPECT_GE(run.longest_nanos, run.latency.Max());
  ASSERT_TRUE(load.Drain().ok());
  EXPECT_EQ(target.taken, target.appended);
}

TEST(OfferedLoad, TheFirstMomentsAreNotCounted) {
  PoorTarget target(1, 64);
  OfferedLoad load(target);
  OfferedRun run;
  ASSERT_TRUE(load.Run(1e6, 0.01, 1e-9, &run).ok());
  EXPECT_LT(run.sent, target.appended);
  EXPECT_LT(run.answered + run.refused, target.taken);
  EXPECT_TRUE(run.last_refusal_seconds.has_value()) << "but when the last refusal came is told";
  EXPECT_GT(run.longest_nanos, 0u);
}

// What a server does not take in time is told; nobody waits for it.
TEST(OfferedLoad, EndsInTimeWhenNothingIsAnswered) {
  PoorTarget target(2, 16);
  target.taken_max = 0;
  OfferedLoad load(target);
  OfferedRun run;
  ASSERT_TRUE(load.Run(1e6, 0, 0.01, &run).ok());
  EXPECT_EQ(run.sent, 32u);
  EXPECT_GE(run.unsent, 1e6 * 0.01 - 33);
  EXPECT_EQ(run.answered + run.refused, 0u);
  EXPECT_FALSE(run.last_refusal_seconds.has_value());
}

// What is under way when a load ends is answered in the next one, with its own time.
TEST(OfferedLoad, GoesOnWithWhatIsUnderWay) {
  PoorTarget target(1, 1000);
  target.taken_max = 0;
  OfferedLoad load(target);
  OfferedRun before, after;
  ASSERT_TRUE(load.Run(1e5, 0, 0.005, &before).ok());
  target.taken_max = 1000;
  ASSERT_TRUE(load.Run(1e3, 0, 0.005, &after).ok());
  EXPECT_GE(after.answered + after.refused, before.sent);
  EXPECT_GE(after.latency.Max(), 1'000'000u);
}

TEST(OfferedLoad, AServerThatGoesEndsIt) {
  PoorTarget target(1, 16);
  target.fails = true;
  OfferedRun run;
  EXPECT_EQ(OfferedLoad(target).Run(1e6, 0, 1, &run), absl::UnavailableError("gone"));
}

}  // namespace offered_load_test
}  // namespace liststore::testing
