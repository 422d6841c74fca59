// Lane ownership under schedules that race: every operation is counted in plain memory behind its
// lane, so a lost, doubled or overlapping one shows in the totals, and a data race shows to
// ThreadSanitizer.
//
// LISTSTORE_STEPS is the number of operations over all schedules. A watchdog ends the process with
// a message if no thread makes progress for two minutes: an operation is stuck.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>
#include <vector>

#include "absl/base/config.h"
#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/runtime/lane_ownership.h"
#include "tests/support/seed.h"

namespace liststore {
namespace {

constexpr uint32_t kThreadsMax = 8;

#if defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr uint64_t kStepsDefault = 2'000'000;
#elif defined(ABSL_HAVE_ADDRESS_SANITIZER)
constexpr uint64_t kStepsDefault = 5'000'000;
#else
constexpr uint64_t kStepsDefault = 20'000'000;
#endif

// What a lane protects: plain memory.
struct alignas(kCacheLineBytes) Protected {
  runtime::LaneOwnership ownership;
  uint64_t applied = 0;
  uint64_t applied_to_all = 0;         // by operations that held all lanes
  uint64_t last_of[kThreadsMax] = {};  // number of the newest operation of each thread
  bool inside = false;                 // an operation is running
};

// How often each kind is drawn, out of the sum; yields are 1 in n operations, 0 for never.
struct Schedule {
  const char* name;
  uint32_t threads;
  uint32_t lanes;
  uint32_t run, try_acquire, acquire, acquire_all, post;
  uint32_t yield_inside;   // while holding: a holder that loses its core
  uint32_t yield_outside;  // between operations
};

void PrintTo(const Schedule& schedule, std::ostream* out) { *out << schedule.name; }

class Worker;
thread_local Worker* current_worker = nullptr;  // whose thread runs this work

struct Post : runtime::LaneOwnership::Node {
  Post() : Node(&Post::Apply) {}
  static void Apply(Node* node);
  Worker* worker = nullptr;
  Protected* lane = nullptr;
  uint64_t number = 0;
};

class Worker {
 public:
  Worker(uint32_t id, const Schedule& schedule, std::vector<Protected>& lanes, Random random)
      : id_(id),
        schedule_(schedule),
        lanes_(lanes),
        random_(random),
        sent_(lanes.size()),
        posts_(lanes.size()) {}

  void Go(uint64_t operations) {
    current_worker = this;
    for (uint64_t i = 0; i < operations; ++i) {
      OneOperation();
      progress_.store(i + 1, std::memory_order_relaxed);
    }
    for (size_t lane = 0; lane < lanes_.size(); ++lane) Settle(lane);
  }

  // The work itself; the lane is held by the thread it runs on, which may be another one's.
  void Apply(Protected& lane, uint64_t number) {
    lane.ownership.AssertHeld();
    LS_CHECK(!lane.inside, "one operation at a time");
    lane.inside = true;
    LS_CHECK(lane.last_of[id_] + 1 == number, "a thread's operations on a lane keep their order");
    lane.last_of[id_] = number;
    ++lane.applied;
    Worker* const here = current_worker;
    if (here != this) ++here->served_now_;
    if (here == this && awaiting_) ++inherited_;
    if (schedule_.yield_inside != 0 && here->random_.OneIn(schedule_.yield_inside)) sched_yield();
    lane.inside = false;
  }

  uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }
  uint64_t sent() const { return sent_total_; }
  uint64_t sent_to_all() const { return sent_to_all_; }
  uint64_t served_max() const { return served_max_; }
  uint64_t inherited() const { return inherited_; }

 private:
  struct Posts {
    runtime::PostBudget budget;
    std::array<Post, runtime::PostBudget::kPostsMax> nodes;
  };

  uint64_t Number(size_t lane) {
    ++sent_total_;
    return ++sent_[lane];
  }

  void OneOperation() {
    const Schedule& s = schedule_;
    if (s.yield_outside != 0 && random_.OneIn(s.yield_outside)) sched_yield();
    const size_t lane = random_.Below(lanes_.size());
    uint64_t draw = random_.Below(s.run + s.try_acquire + s.acquire + s.acquire_all + s.post);
    served_now_ = 0;
    if (draw < s.run) {
      Run(lane);
    } else if ((draw -= s.run) < s.try_acquire) {
      TryAcquire(lane);
    } else if ((draw -= s.try_acquire) < s.acquire) {
      AcquireOne(lane);
    } else if ((draw -= s.acquire) < s.acquire_all) {
      AcquireAll();
    } else {
      PostOne(lane);
    }
    served_max_ = std::max(served_max_, served_now_);
  }

  void Run(size_t lane) {
    const uint64_t number = Number(lane);
    lanes_[lane].ownership.Run([this, lane, number] { Apply(lanes_[lane], number); });
    // Done means done: no other thread writes this thread's slot.
    LS_DCHECK(number == sent_[lane], "Run returns after its work");
  }

  void TryAcquire(size_t lane) {
    if (!lanes_[lane].ownership.TryAcquire()) return Run(lane);
    Apply(lanes_[lane], Number(lane));
    lanes_[lane].ownership.Release();
  }

  void AcquireOne(size_t lane) {
    lanes_[lane].ownership.Acquire();
    Apply(lanes_[lane], Number(lane));
    lanes_[lane].ownership.Release();
  }

  void AcquireAll() {
    for (Protected& lane : lanes_) lane.ownership.Acquire();
    const uint64_t before = lanes_[0].applied_to_all;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      LS_CHECK(lanes_[i].applied_to_all == before, "who holds all lanes sees no half of another");
      ++lanes_[i].applied_to_all;
      Apply(lanes_[i], Number(i));
    }
    ++sent_to_all_;
    for (Protected& lane : lanes_) lane.ownership.Release();
  }

  void PostOne(size_t lane) {
    Posts& posts = posts_[lane];
    if (posts.budget.Exhausted() || random_.OneIn(256)) Settle(lane);
    Post& post = posts.nodes[posts.budget.unawaited()];
    post.worker = this;
    post.lane = &lanes_[lane];
    post.number = Number(lane);
    lanes_[lane].ownership.TryRunOrPost(post, posts.budget);
  }

  void Settle(size_t lane) {
    Posts& posts = posts_[lane];
    if (posts.budget.unawaited() == 0) return;
    served_now_ = 0;
    awaiting_ = true;
    lanes_[lane].ownership.Await(posts.nodes[posts.budget.unawaited() - 1]);
    awaiting_ = false;
    served_max_ = std::max(served_max_, served_now_);
    for (const Post& post : posts.nodes) {
      LS_CHECK(post.IsDone(), "the newest post is done, so all are");
    }
    posts.budget.Renew();
  }

  const uint32_t id_;
  const Schedule& schedule_;
  std::vector<Protected>& lanes_;
  Random random_;
  std::vector<uint64_t> sent_;
  std::vector<Posts> posts_;
  uint64_t sent_total_ = 0;
  uint64_t sent_to_all_ = 0;
  uint64_t served_now_ = 0;  // others' work run inside this operation
  uint64_t served_max_ = 0;
  bool awaiting_ = false;
  uint64_t inherited_ = 0;  // lanes handed to this thread while it awaited a post
  alignas(kCacheLineBytes) std::atomic<uint64_t> progress_{0};
};

void Post::Apply(Node* node) {
  Post* const post = static_cast<Post*>(node);
  post->worker->Apply(*post->lane, post->number);
}

// Ends the process when the workers stand still. Wall time decides only that, never a result.
class Watchdog {
 public:
  explicit Watchdog(const std::vector<std::unique_ptr<Worker>>& workers)
      : workers_(workers), thread_([this] { Watch(); }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      finished_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  static constexpr int kStandstillSecondsMax = 120;

  void Watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    uint64_t last = 0;
    int still_seconds = 0;
    while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return finished_; })) {
      uint64_t sum = 0;
      for (const auto& worker : workers_) sum += worker->progress();
      still_seconds = sum == last ? still_seconds + 1 : 0;
      last = sum;
      LS_CHECK(still_seconds < kStandstillSecondsMax, "an operation is stuck in a lane");
    }
  }

  const std::vector<std::unique_ptr<Worker>>& workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool finished_ = false;
  std::thread thread_;
};

const Schedule kSchedules[] = {
    // name, threads, lanes, run, try, acquire, all, post, yields inside / outside
    {"RunOnManyLanes", 4, 32, 1, 0, 0, 0, 0, 0, 0},
    {"RunOnTwoLanes", 4, 2, 1, 0, 0, 0, 0, 0, 0},
    {"RunOnOneHotLane", 4, 1, 1, 0, 0, 0, 0, 0, 0},
    {"TwoCallersOnOneHotLane", 2, 1, 1, 0, 0, 0, 0, 0, 0},
    {"PostsOnTwoLanes", 4, 2, 1, 0, 0, 0, 4, 0, 0},
    {"RequestsOnTwoLanes", 4, 2, 2, 2, 1, 0, 0, 0, 0},
    {"PostsPileUp", 4, 1, 1, 0, 0, 0, 30, 32, 0},
    {"EveryKind", 4, 4, 8, 4, 2, 1, 8, 0, 0},
    {"EveryKindHoldersLoseTheirCore", 6, 3, 8, 4, 2, 1, 8, 64, 64},
    {"EveryKindEightThreads", 8, 2, 8, 4, 2, 1, 8, 256, 0},
};

class LaneOwnershipStress : public ::testing::TestWithParam<Schedule> {
 protected:
  static void SetUpTestSuite() {
    seed_ = testing::TestSeed();
    steps_ = testing::TestSteps(kStepsDefault);
  }
  static uint64_t seed_;
  static uint64_t steps_;
};

uint64_t LaneOwnershipStress::seed_ = 0;
uint64_t LaneOwnershipStress::steps_ = 0;

TEST_P(LaneOwnershipStress, NothingIsLostAndNothingIsStuck) {
  const Schedule& schedule = GetParam();
  const uint64_t per_thread = steps_ / std::size(kSchedules) / schedule.threads + 1;
  std::vector<Protected> lanes(schedule.lanes);
  std::vector<std::unique_ptr<Worker>> workers;
  Random random(seed_);
  for (uint32_t id = 0; id < schedule.threads; ++id) {
    workers.push_back(std::make_unique<Worker>(id, schedule, lanes, random.Stream(id)));
  }
  const auto start = std::chrono::steady_clock::now();
  {
    Watchdog watchdog(workers);
    std::latch start_together(schedule.threads);
    std::vector<std::thread> threads;
    for (auto& worker : workers) {
      threads.emplace_back([&start_together, &worker, per_thread] {
        start_together.arrive_and_wait();
        worker->Go(per_thread);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  uint64_t sent = 0, sent_to_all = 0, served_max = 0, inherited = 0, applied = 0;
  for (const auto& worker : workers) {
    sent += worker->sent();
    sent_to_all += worker->sent_to_all();
    served_max = std::max(served_max, worker->served_max());
    inherited += worker->inherited();
  }
  for (const Protected& lane : lanes) {
    applied += lane.applied;
    EXPECT_EQ(lane.applied_to_all, sent_to_all);
  }
  EXPECT_EQ(applied, sent);
  // Beyond kServedMax a holder serves only mail whose thread does not look: sleepers, one each, and
  // posts. Twice that, for threads that return while it is at it.
  const uint64_t unlooked = schedule.post != 0 ? runtime::PostBudget::kPostsMax : 1;
  const uint64_t lanes_released = schedule.acquire_all != 0 ? schedule.lanes : 1;
  EXPECT_LE(served_max, lanes_released *
                            (runtime::LaneOwnership::kServedMax + 2 * schedule.threads * unlooked));
  std::printf("%s: threads=%u lanes=%u operations=%" PRIu64 " lost=%" PRId64
              " longest_borrow=%" PRIu64 " inherited=%" PRIu64 " seconds=%.2f\n",
              schedule.name, schedule.threads, schedule.lanes, applied,
              static_cast<int64_t>(sent - applied), served_max, inherited, seconds.count());
}

INSTANTIATE_TEST_SUITE_P(Schedules, LaneOwnershipStress, ::testing::ValuesIn(kSchedules),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace liststore
