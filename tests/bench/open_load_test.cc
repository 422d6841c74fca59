#include "tools/liststore/open_load.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace liststore::testing {
namespace {

using Steady = std::chrono::steady_clock;

// Answers one request at each read, in order; its descriptors can always be read.
class SlowTarget final : public OpenTarget {
 public:
  SlowTarget(size_t connections, size_t places) : places_(places), waiting_(connections) {
    for (size_t i = 0; i < connections; ++i) {
      fds_.push_back(eventfd(1, EFD_CLOEXEC));
      next_slot_.push_back(0);
    }
  }
  ~SlowTarget() override {
    for (const int fd : fds_) close(fd);
  }

  size_t connections() const override { return fds_.size(); }
  int fd(size_t connection) const override { return fds_[connection]; }
  std::optional<size_t> Append(size_t connection, bool insert) override {
    if (waiting_[connection].size() == places_) return std::nullopt;
    if (!first_append.has_value()) first_append = Steady::now();
    const size_t slot = connection * kOpenInFlight + next_slot_[connection]++ % places_;
    waiting_[connection].push_back(slot);
    ++appended[insert];
    unsent_ = true;
    return slot;
  }
  absl::Status Send(size_t /*connection*/) override {
    EXPECT_TRUE(unsent_) << "nothing is sent for nothing";
    ++sends;
    return fails_ ? absl::UnavailableError("gone") : absl::OkStatus();
  }
  absl::Status Receive(size_t connection, std::vector<size_t>* answered) override {
    std::deque<size_t>& waiting = waiting_[connection];
    if (waiting.empty()) return absl::OkStatus();
    answered->push_back(waiting.front());
    waiting.pop_front();
    last_receive = Steady::now();
    return absl::OkStatus();
  }
  void Fail() { fails_ = true; }

  uint64_t appended[2] = {0, 0};  // reads, insertions
  uint64_t sends = 0;
  std::optional<Steady::time_point> first_append;
  Steady::time_point last_receive;

 private:
  const size_t places_;
  std::vector<int> fds_;
  std::vector<std::deque<size_t>> waiting_;
  std::vector<size_t> next_slot_;
  bool unsent_ = false;
  bool fails_ = false;
};

TEST(OpenLoad, NinetyFiveOfAHundredAreReads) {
  SlowTarget target(3, 16);
  OpenLoad load(target);
  OpenRun run;
  ASSERT_TRUE(load.Run(1e9, 2e-6, &run).ok());
  EXPECT_EQ(target.appended[0], 1'900u);
  EXPECT_EQ(target.appended[1], 100u);
  EXPECT_EQ(run.select_latency.Count(), 1'900u);
  EXPECT_EQ(run.insert_latency.Count(), 100u);
  EXPECT_EQ(run.rate, 1e9);
  EXPECT_GT(run.achieved, 0);
  EXPECT_LT(run.achieved, 1e9);
}

// A thousand requests are due within a microsecond, and one after the other is answered: the last
// one has waited for all others, although it was sent last.
TEST(OpenLoad, TimeCountsFromWhenARequestWasDue) {
  SlowTarget target(1, 1);
  OpenLoad load(target);
  OpenRun run;
  ASSERT_TRUE(load.Run(1e9, 1e-6, &run).ok());
  EXPECT_EQ(target.sends, 1'000u);
  Histogram all = run.select_latency;
  all.Merge(run.insert_latency);
  const auto whole = static_cast<uint64_t>(
      std::chrono::nanoseconds(target.last_receive - *target.first_append).count());
  EXPECT_GE(all.Max() + 1'000, whole);
  EXPECT_LT(all.Min(), all.Max());
}

TEST(OpenLoad, RunsAddUp) {
  SlowTarget target(2, 4);
  OpenLoad load(target);
  OpenRun run;
  ASSERT_TRUE(load.Run(1e8, 1e-6, &run).ok());
  ASSERT_TRUE(load.Run(1e8, 1e-6, &run).ok());
  EXPECT_EQ(run.select_latency.Count() + run.insert_latency.Count(), 200u);
}

TEST(OpenLoad, AServerThatGoesEndsIt) {
  SlowTarget target(1, 4);
  target.Fail();
  OpenLoad load(target);
  OpenRun run;
  EXPECT_EQ(load.Run(1e8, 1e-6, &run), absl::UnavailableError("gone"));
}

TEST(OpenLoad, TheRateIsHalfOfWhatAServerCanDoOrItsBound) {
  EXPECT_EQ(OpenRateFor(300'000), 150'000);
  EXPECT_EQ(OpenRateFor(4'000'000), kOpenRateMax);
}

}  // namespace
}  // namespace liststore::testing
