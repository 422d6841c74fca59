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

}  // namespace worker_pool_test
}  // namespace liststore::testing
