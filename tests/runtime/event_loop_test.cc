#include "engine/runtime/event_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace liststore {
namespace event_loop_test {

std::unique_ptr<runtime::EventLoop> MakeLoop(runtime::EventLoop::Background background = {}) {
  auto loop = runtime::EventLoop::Create(0, std::move(background));
  EXPECT_TRUE(loop.ok());
  return *std::move(loop);
}

TEST(EventLoop, RunsWhatIsPostedOnItsThreadInOrder) {
  auto loop = MakeLoop();
  std::vector<int> seen;
  std::promise<void> done;
  loop->Post([&] { seen.push_back(-1); });  // before the start
  ASSERT_TRUE(loop->Start().ok());
  for (int i = 0; i < 1000; ++i) {
    loop->Post([&, i] {
      EXPECT_TRUE(loop->IsCurrent());
      seen.push_back(i);
    });
  }
  loop->Post([&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_FALSE(loop->IsCurrent());
  ASSERT_EQ(seen.size(), 1001u);
  for (int i = 0; i < 1001; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i - 1);
}

TEST(EventLoop, ManyThreadsMayPost) {
  auto loop = MakeLoop();
  ASSERT_TRUE(loop->Start().ok());
  int count = 0;  // of the loop's thread
  std::atomic<int> finished{0};
  std::promise<void> done;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) loop->Post([&] { ++count; });
      loop->Post([&] {
        if (++finished == 4) done.set_value();
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  done.get_future().wait();
  EXPECT_EQ(count, 4000);
}

TEST(EventLoop, StopsAfterTheFunctionItIsIn) {
  auto loop = MakeLoop();
  std::atomic<bool> ran_behind{false};
  loop->Post([&] {
    loop->Stop();
    loop->Stop();
    loop->Post([&] { ran_behind = true; });
  });
  ASSERT_TRUE(loop->Start().ok());
  loop->Join();
  loop.reset();
  EXPECT_FALSE(ran_behind);
}

TEST(EventLoop, RunsAMarkBehindWhatIsReady) {
  auto loop = MakeLoop();
  std::vector<int> seen;
  std::promise<void> done;
  loop->Post([&] {
    loop->RunBehindReady([&] {
      seen.push_back(-1);
      done.set_value();
    });
    for (int i = 0; i < 10; ++i) loop->Post([&, i] { seen.push_back(i); });
  });
  ASSERT_TRUE(loop->Start().ok());
  done.get_future().wait();
  ASSERT_EQ(seen.size(), 11u);
  EXPECT_EQ(seen.back(), -1);
}

TEST(EventLoop, CountsWhenNothingIsReady) {
  auto loop = MakeLoop();
  std::promise<uint64_t> idles;
  // Something is ready each time, until a mark has come through twice.
  int marks = 0;
  std::function<void()> next = [&] {
    if (marks < 2) return loop->Post(next);
    idles.set_value(loop->idles());
  };
  std::function<void()> mark = [&] {
    if (++marks < 2) loop->RunBehindReady(mark);
  };
  loop->Post([&] { loop->RunBehindReady(mark); });
  loop->Post(next);
  ASSERT_TRUE(loop->Start().ok());
  EXPECT_EQ(idles.get_future().get(), 0u);
  for (uint64_t before = 0, count = 0; count < 2;) {
    std::promise<uint64_t> now;
    loop->Post([&] { now.set_value(loop->idles()); });
    const uint64_t after = now.get_future().get();
    if (after > before) ++count;
    before = after;
  }
}

TEST(EventLoop, MayNeverBeStarted) {
  auto loop = MakeLoop();
  bool ran = false;
  loop->Post([&] { ran = true; });
  loop.reset();
  EXPECT_FALSE(ran);
}

TEST(EventLoop, BackgroundWorkGoesOnWhileMoreWaitsAndLetsOthersIn) {
  std::atomic<int> slices{0};
  std::atomic<bool> posted_ran{false};
  std::promise<void> done;
  auto loop = MakeLoop([&] {
    // More waits until a posted function has had its turn.
    if (++slices == 1) return true;
    if (!posted_ran) return true;
    done.set_value();
    return false;
  });
  ASSERT_TRUE(loop->Start().ok());
  while (slices < 1) std::this_thread::yield();  // the first comes within a second
  loop->Post([&] { posted_ran = true; });
  done.get_future().wait();
  EXPECT_GE(slices, 2);
}

}  // namespace event_loop_test
}  // namespace liststore
