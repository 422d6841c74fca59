#include "engine/runtime/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>

#include "engine/base/mutex.h"

namespace liststore::testing {
namespace worker_pool_test {

// What the pieces of work have done, in their order.
class Record {
 public:
  void Add(const std::string& what) {
    const MutexLock lock(mutex_);
    text_ += what;
    changed_.notify_all();
  }
  // Until it has so many letters.
  std::string Await(size_t size) {
    MutexLock lock(mutex_);
    while (text_.size() < size) changed_.wait(mutex_);
    return text_;
  }
  std::string text() {
    const MutexLock lock(mutex_);
    return text_;
  }

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
};

// Work that ends when it is let go.
class Gate {
 public:
  void Pass() {
    const MutexLock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    while (!open_) changed_.wait(mutex_);
  }
  void AwaitInside(int count) {
    const MutexLock lock(mutex_);
    while (inside_ < count) changed_.wait(mutex_);
  }
  void Open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

// What the threads of a pool use outlives it, in each test.
TEST(WorkerPool, ClientsHaveItInTurn) {
  Record record;
  Gate gate;
  runtime::WorkerPool pool(1, 100);
  ASSERT_TRUE(pool.Post(1, [&] { gate.Pass(); }));
  gate.AwaitInside(1);
  const auto post = [&](uint64_t client, const char* what) {
    ASSERT_TRUE(pool.Post(client, [&record, what] { record.Add(what); }));
  };
  for (const char* what : {"a", "b", "c"}) post(1, what);
  for (const char* what : {"A", "B"}) post(2, what);
  post(3, "x");
  EXPECT_EQ(pool.queued(), 6u);
  gate.Open();
  EXPECT_EQ(record.Await(6), "AxaBbc");
}

TEST(WorkerPool, AClientHasHalfOfTheThreads) {
  Record record;
  Gate gate;
  runtime::WorkerPool pool(4, 100);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool.Post(7, [&] { gate.Pass(); }));
  gate.AwaitInside(2);
  ASSERT_TRUE(pool.Post(8, [&] { record.Add("other"); }));
  EXPECT_EQ(record.Await(5), "other");
  EXPECT_EQ(pool.queued(), 8u) << "no more than two of them run";
  EXPECT_GE(pool.running(), 2u);
  gate.Open();
  gate.AwaitInside(10);
}

TEST(WorkerPool, WhatIsTooMuchIsRefused) {
  Gate gate;
  runtime::WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.Post(1, [&] { gate.Pass(); }));
  gate.AwaitInside(1);
  EXPECT_TRUE(pool.Post(1, [] {}));
  EXPECT_TRUE(pool.Post(2, [] {}));
  EXPECT_FALSE(pool.Post(3, [] {}));
  gate.Open();
}

TEST(WorkerPool, StopWaitsForWhatRunsAndDropsTheRest) {
  Record record;
  Gate gate;
  runtime::WorkerPool pool(1, 100);
  ASSERT_TRUE(pool.Post(1, [&] {
    gate.Pass();
    record.Add("ran");
  }));
  gate.AwaitInside(1);
  ASSERT_TRUE(pool.Post(1, [&] { record.Add("dropped"); }));
  std::thread stopper([&] { pool.Stop(); });
  while (pool.queued() > 0) std::this_thread::yield();
  gate.Open();
  stopper.join();
  EXPECT_EQ(record.text(), "ran");
  EXPECT_FALSE(pool.Post(1, [] {}));
  pool.Stop();
}

TEST(WorkerPool, DropsWhatAClientWaitsFor) {
  Record record;
  Gate gate;
  runtime::WorkerPool pool(1, 100);
  ASSERT_TRUE(pool.Post(1, [&] {
    gate.Pass();
    record.Add("a");
  }));
  gate.AwaitInside(1);
  const auto held = std::make_shared<int>(0);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(pool.Post(1, [&record, held] { record.Add("b"); }));
  }
  ASSERT_TRUE(pool.Post(2, [&record] { record.Add("x"); }));
  pool.Drop(3);
  EXPECT_EQ(pool.queued(), 6u);
  pool.Drop(1);
  EXPECT_EQ(pool.queued(), 1u);
  EXPECT_EQ(held.use_count(), 1);
  ASSERT_TRUE(pool.Post(1, [&record] { record.Add("c"); }));
  gate.Open();
  const std::string text = record.Await(3);
  EXPECT_EQ(text.substr(0, 1), "a");
  EXPECT_EQ(text.find('b'), std::string::npos);
}

// As much as there is begins; what is let in by turn is not passed by.
TEST(WorkerPool, LetsInAsMuchAsThereIsMemoryFor) {
  Record record;
  Gate gate;
  std::atomic<uint64_t> given = 0;
  std::atomic<uint64_t> taken_when_last_given = 0;
  runtime::WorkerPool* told = nullptr;
  runtime::WorkerPool pool(4, 100, 100, [&](uint64_t bytes) {
    given += bytes;
    taken_when_last_given = told->memory_taken();
  });
  told = &pool;
  const auto post = [&](uint64_t client, uint64_t bytes, const char* what) {
    ASSERT_TRUE(pool.Post(client, [&record, what] { record.Add(what); }, {.memory_bytes = bytes}));
  };
  ASSERT_TRUE(pool.Post(1, [&] { gate.Pass(); }, {.memory_bytes = 60}));
  gate.AwaitInside(1);
  post(2, 40, "a");
  EXPECT_EQ(record.Await(1), "a");
  post(3, 1'000, "L");  // all of it
  post(4, 10, "b");     // there would be room
  post(5, 0, "c");
  EXPECT_EQ(record.Await(2), "ac");
  EXPECT_EQ(pool.queued(), 2u);
  gate.Open();
  EXPECT_EQ(record.Await(4), "acLb");
  pool.Stop();
  EXPECT_EQ(given, 60u + 40u + 100u + 10u);
  EXPECT_EQ(pool.memory_taken(), 0u);
  EXPECT_GE(taken_when_last_given, 10u) << "it is told before others have it";
}

// What waits for memory has no thread: those that need none have them.
TEST(WorkerPool, WhatWaitsForMemoryHoldsNoThread) {
  Record record;
  Gate gate;
  runtime::WorkerPool pool(4, 100, 100);
  ASSERT_TRUE(pool.Post(1, [&] { gate.Pass(); }, {.memory_bytes = 100}));
  gate.AwaitInside(1);
  for (const uint64_t client : {1, 2, 2, 3, 3}) {
    ASSERT_TRUE(pool.Post(client, [&] { record.Add("L"); }, {.memory_bytes = 100}));
  }
  ASSERT_TRUE(pool.Post(4, [&] { record.Add("other"); }));
  EXPECT_EQ(record.Await(5), "other");
  EXPECT_EQ(pool.queued(), 5u);
  gate.Open();
  EXPECT_EQ(record.Await(10), "otherLLLLL");
}

// Who goes takes with him what waits for memory, and others are let in; and what has the turns of
// another.
TEST(WorkerPool, DropsWhatWaitsForMemoryOrInTheTurnsOfAnother) {
  constexpr uint64_t kShared = 1000;
  Record record;
  Gate gate;
  runtime::WorkerPool pool(4, 100, 100);
  ASSERT_TRUE(pool.Post(1, [&] { gate.Pass(); }, {.memory_bytes = 60}));
  gate.AwaitInside(1);
  ASSERT_TRUE(pool.Post(2, [&] { record.Add("never"); }, {.memory_bytes = 50}));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Post(3, [&] { gate.Pass(); }, {.turns_of = kShared}));
  }
  gate.AwaitInside(3);
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(pool.Post(2, [&record, held] { record.Add("never"); }, {.turns_of = kShared}));
  ASSERT_TRUE(pool.Post(3, [&record, held] { record.Add("b"); }, {.turns_of = kShared}));
  ASSERT_TRUE(pool.Post(4, [&] { record.Add("a"); }, {.memory_bytes = 40}));
  EXPECT_EQ(pool.queued(), 4u);
  pool.Drop(2);
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_EQ(record.Await(1), "a");
  gate.Open();
  EXPECT_EQ(record.Await(2), "ab");
}

}  // namespace worker_pool_test
}  // namespace liststore::testing
