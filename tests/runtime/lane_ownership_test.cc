// The rules of lane ownership, one at a time. Schedules that race are in lane_ownership_stress.cc.
#include "engine/runtime/lane_ownership.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace liststore {
namespace lane_ownership_test {

// Mail that writes down when it ran.
struct Note : runtime::LaneOwnership::Node {
  Note(std::string* to, char what) : Node(&Note::Write), log(to), letter(what) {}
  static void Write(Node* node) {
    Note* const self = static_cast<Note*>(node);
    self->log->push_back(self->letter);
  }
  std::string* const log;
  const char letter;
};

// A thread that holds nothing, to look at the lane from outside.
bool IsFreeForOthers(runtime::LaneOwnership& lane) {
  bool taken = false;
  std::thread([&] {
    taken = lane.TryAcquire();
    if (taken) lane.Release();
  }).join();
  return taken;
}

TEST(LaneOwnershipTest, FillsItsLineAlone) {
  runtime::LaneOwnership lanes[2];
  EXPECT_EQ(sizeof(lanes), 128u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&lanes[1]) % 64, 0u);
}

TEST(LaneOwnershipTest, AFreeLaneIsTakenOnce) {
  runtime::LaneOwnership lane;
  ASSERT_TRUE(lane.TryAcquire());
  lane.AssertHeld();
  EXPECT_FALSE(lane.TryAcquire());
  EXPECT_FALSE(IsFreeForOthers(lane));
  lane.Release();
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, AcquireTakesAFreeLaneAtOnce) {
  runtime::LaneOwnership lane;
  lane.Acquire();
  EXPECT_FALSE(IsFreeForOthers(lane));
  lane.Release();
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, RunOnAFreeLaneRunsHereAndLetsGo) {
  runtime::LaneOwnership lane;
  std::thread::id ran_on;
  lane.Run([&] {
    lane.AssertHeld();
    ran_on = std::this_thread::get_id();
    EXPECT_FALSE(IsFreeForOthers(lane));
  });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, APostRunsAtOnceOnAFreeLane) {
  runtime::LaneOwnership lane;
  runtime::PostBudget budget;
  std::string log;
  Note note(&log, 'a');
  EXPECT_TRUE(lane.TryRunOrPost(note, budget));
  EXPECT_TRUE(note.IsDone());
  EXPECT_EQ(log, "a");
  EXPECT_EQ(budget.unawaited(), 0u) << "what ran at once costs no budget";
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, MailIsServedInArrivalOrderBeforeTheLaneIsFree) {
  runtime::LaneOwnership lane;
  runtime::PostBudget budget;
  std::string log;
  Note a(&log, 'a'), b(&log, 'b'), c(&log, 'c');
  ASSERT_TRUE(lane.TryAcquire());
  EXPECT_FALSE(lane.TryRunOrPost(a, budget));
  EXPECT_FALSE(lane.TryRunOrPost(b, budget));
  EXPECT_FALSE(lane.TryRunOrPost(c, budget));
  EXPECT_EQ(log, "");
  EXPECT_FALSE(a.IsDone());
  lane.Release();
  EXPECT_EQ(log, "abc");
  EXPECT_TRUE(a.IsDone() && b.IsDone() && c.IsDone());
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, ANodeMayBePostedAgainOnceItIsDone) {
  runtime::LaneOwnership lane;
  runtime::PostBudget budget;
  std::string log;
  Note note(&log, 'x');
  for (int round = 0; round < 3; ++round) {
    lane.Acquire();
    EXPECT_FALSE(lane.TryRunOrPost(note, budget));
    lane.Release();
    lane.Await(note);
    budget.Renew();
  }
  EXPECT_EQ(log, "xxx");
}

// Mail that posts more mail to the lane it is served in.
struct Chain : runtime::LaneOwnership::Node {
  Chain(runtime::LaneOwnership* where, runtime::PostBudget* from, Note* next_note)
      : Node(&Chain::Go), lane(where), budget(from), then(next_note) {}
  static void Go(Node* node) {
    Chain* const self = static_cast<Chain*>(node);
    self->lane->AssertHeld();
    EXPECT_FALSE(self->lane->TryRunOrPost(*self->then, *self->budget));
  }
  runtime::LaneOwnership* const lane;
  runtime::PostBudget* const budget;
  Note* const then;
};

TEST(LaneOwnershipTest, MailLeftWhileServingIsServedToo) {
  runtime::LaneOwnership lane;
  runtime::PostBudget budget;
  std::string log;
  Note after(&log, 'z'), before(&log, 'a');
  Chain chain(&lane, &budget, &after);
  lane.Acquire();
  EXPECT_FALSE(lane.TryRunOrPost(chain, budget));
  EXPECT_FALSE(lane.TryRunOrPost(before, budget));
  lane.Release();
  EXPECT_EQ(log, "az");
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, TheBudgetIsSixtyFourPostsUntilTheNewestIsAwaited) {
  runtime::LaneOwnership lane;
  runtime::PostBudget budget;
  std::string log;
  std::vector<std::unique_ptr<Note>> notes;
  lane.Acquire();
  while (!budget.Exhausted()) {
    notes.push_back(std::make_unique<Note>(&log, 'n'));
    ASSERT_FALSE(lane.TryRunOrPost(*notes.back(), budget));
  }
  EXPECT_EQ(notes.size(), 64u);
  lane.Release();
  lane.Await(*notes.back());
  for (const auto& note : notes) EXPECT_TRUE(note->IsDone());
  EXPECT_TRUE(budget.Exhausted()) << "done is not settled";
  budget.Renew();
  EXPECT_EQ(budget.unawaited(), 0u);
}

TEST(LaneOwnershipDeathTest, PostingBeyondTheBudgetEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        runtime::LaneOwnership lane;
        runtime::PostBudget budget;
        std::string log;
        std::vector<std::unique_ptr<Note>> notes;
        lane.Acquire();
        for (int i = 0; i < 65; ++i) {
          notes.push_back(std::make_unique<Note>(&log, 'n'));
          (void)lane.TryRunOrPost(*notes.back(), budget);
        }
      },
      "at most kPostsMax posts un-awaited");
}

// A thread that does `call` in a lane held by the creator; constructed once its node waits there.
class Waiter {
 public:
  template <typename F>
  Waiter(runtime::LaneOwnership& lane, F call)
      : thread_([this, call] {
          call();
          returned_.store(true, std::memory_order_release);
        }) {
    while (!lane.MailWaits()) std::this_thread::yield();
  }
  ~Waiter() { thread_.join(); }
  bool returned() const { return returned_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> returned_{false};
  std::thread thread_;
};

// Enough for a waiting thread to pass through all its ways of waiting, where the scheduler is fair;
// no test depends on it.
void LetOthersRun() {
  for (int i = 0; i < 2000; ++i) std::this_thread::yield();
}

TEST(LaneOwnershipTest, RunOnATakenLaneReturnsAfterItsWorkRan) {
  runtime::LaneOwnership lane;
  int value = 0;  // plain: the lane orders all uses
  lane.Acquire();
  {
    Waiter waiter(lane, [&] {
      lane.Run([&] { value *= 10; });
      EXPECT_EQ(value, 10);
    });
    LetOthersRun();
    EXPECT_FALSE(waiter.returned());
    ++value;
    lane.Release();
  }
  EXPECT_EQ(value, 10);
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, WorkLeftInALaneRunsOnTheHoldersThread) {
  runtime::LaneOwnership lane;
  std::thread::id ran_on;
  lane.Acquire();
  {
    Waiter waiter(lane, [&] { lane.Run([&] { ran_on = std::this_thread::get_id(); }); });
    lane.Release();
  }
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(LaneOwnershipTest, AcquireOnATakenLaneIsHandedTheLane) {
  runtime::LaneOwnership lane;
  std::string log;
  lane.Acquire();
  {
    Waiter waiter(lane, [&] {
      lane.Acquire();
      lane.AssertHeld();
      log.push_back('w');
      lane.Release();
    });
    LetOthersRun();
    EXPECT_FALSE(waiter.returned());
    log.push_back('h');
    lane.Release();
  }
  EXPECT_EQ(log, "hw");
  EXPECT_TRUE(IsFreeForOthers(lane));
}

TEST(LaneOwnershipTest, MailBehindARequestIsServedByTheNextHolder) {
  runtime::LaneOwnership lane;
  runtime::PostBudget budget;
  std::string log;
  Note after(&log, 'a');
  std::atomic<bool> go{false};
  lane.Acquire();
  {
    Waiter waiter(lane, [&] {
      lane.Acquire();
      while (!go.load()) std::this_thread::yield();
      log.push_back('w');
      lane.Release();
    });
    EXPECT_FALSE(lane.TryRunOrPost(after, budget));
    lane.Release();  // hands the lane over and returns: `after` is not ours to serve any more
    EXPECT_FALSE(after.IsDone());
    EXPECT_FALSE(lane.TryAcquire());
    EXPECT_EQ(log, "");
    go.store(true);
    lane.Await(after);
    EXPECT_EQ(log, "wa");
  }
  EXPECT_TRUE(IsFreeForOthers(lane));
}

// kServedMax posts, behind them a caller that waits, behind it one more post. The holder hands the
// lane to the caller if it finds it awake, else it serves the caller and the last post as well;
// order and totals stand either way. Repeated until a hand-over was seen.
TEST(LaneOwnershipTest, ALongBacklogIsHandedToACallerThatWaitsInIt) {
  runtime::LaneOwnership lane;
  runtime::PostBudget long_budget, last_budget;
  std::string log;
  std::vector<std::unique_ptr<Note>> notes;
  for (uint32_t i = 0; i < runtime::LaneOwnership::kServedMax; ++i) {
    notes.push_back(std::make_unique<Note>(&log, 'n'));
  }
  Note last(&log, 'z');
  const std::string backlog(runtime::LaneOwnership::kServedMax, 'n');

  bool handed_over = false;
  for (int round = 0; round < 10'000 && !handed_over; ++round) {
    log.clear();
    lane.Acquire();
    for (auto& note : notes) ASSERT_FALSE(lane.TryRunOrPost(*note, long_budget));
    std::atomic<bool> arriving{false};
    bool ran_at_home = false;
    std::thread caller([&] {
      const std::thread::id home = std::this_thread::get_id();
      arriving.store(true);
      lane.Run([&] {
        log.push_back('w');
        ran_at_home = std::this_thread::get_id() == home;
      });
    });
    while (!arriving.load()) std::this_thread::yield();
    for (int i = 0; i < round % 8; ++i) std::this_thread::yield();
    ASSERT_FALSE(lane.TryRunOrPost(last, last_budget));
    lane.Release();
    caller.join();
    lane.Await(last);
    long_budget.Renew();
    last_budget.Renew();
    // In front of the last post and on its own thread: it was waiting in the lane and inherited it.
    handed_over = log == backlog + "wz" && ran_at_home;
    ASSERT_TRUE(log == backlog + "wz" || log == backlog + "zw") << log;
    ASSERT_TRUE(IsFreeForOthers(lane));
  }
  EXPECT_TRUE(handed_over);
}

#ifndef NDEBUG
TEST(LaneOwnershipDeathTest, MisuseEndsADebugBuild) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  struct Case {
    const char* name;
    void (*misuse)();
    const char* message;
  };
  const Case cases[] = {
      {"Run inside Run on one lane",
       [] {
         runtime::LaneOwnership lane;
         lane.Run([&] { lane.Run([] {}); });
       },
       "no thread enters a lane it holds"},
      {"Acquire of a held lane",
       [] {
         runtime::LaneOwnership lane;
         lane.Acquire();
         lane.Acquire();
       },
       "no thread enters a lane it holds"},
      {"Run while holding another lane",
       [] {
         runtime::LaneOwnership a, b;
         a.Run([&] { b.Run([] {}); });
       },
       "waits for none"},
      {"Release of a free lane",
       [] {
         runtime::LaneOwnership lane;
         lane.Release();
       },
       "holder only"},
      {"Release by a thread that is not the holder",
       [] {
         runtime::LaneOwnership lane;
         lane.Acquire();
         std::thread([&] { lane.Release(); }).join();
       },
       "holder only"},
      {"a lane that ends while it is held",
       [] {
         runtime::LaneOwnership lane;
         lane.Acquire();
       },
       "ends free"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_DEATH(c.misuse(), c.message);
  }
}
#endif

}  // namespace lane_ownership_test
}  // namespace liststore
