// Many threads append, write and ask for synchronisation; one thread of the log does it. On the
// kernel's files.
#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/commitlog/log_harness.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace shard_log_threads_test {

using commitlog::LogMode;
using commitlog::RecordKind;
using commitlog::ShardLog;
using commitlog::ShardLogOptions;

class Waiter final : public commitlog::LogListener {
 public:
  void OnSynced(uint64_t position) override {
    std::lock_guard lock(mutex_);
    synced_ = std::max(synced_, position);
    changed_.notify_all();
  }
  void OnRefusal(const absl::Status&) override {}
  void WaitFor(uint64_t position) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return synced_ >= position; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t synced_ = 0;
};

class ShardLogThreadsTest : public ::testing::TestWithParam<LogMode> {};

TEST_P(ShardLogThreadsTest, EveryRecordIsThereOnceAndInItsThreadsOrder) {
  const TempFolder folder;
  Waiter waiter;
  ShardLogOptions options;
  options.directory = folder.path();
  options.mode = GetParam();
  options.segment_bytes = size_t{256} << 10;
  options.chunk_bytes = size_t{32} << 10;
  options.buffer_bytes = size_t{256} << 10;
  options.period_nanos = 1'000'000;
  options.listener = &waiter;
  auto opened = ShardLog::Open(options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::unique_ptr<ShardLog> log = *std::move(opened);

  constexpr uint64_t kThreads = 4;
  const uint64_t steps = TestSteps(1'500);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < steps; ++i) {
        const std::string record = std::to_string(thread) + "/" + NumberedRecord(i, i % 300);
        while (!log->Reserve(record.size() + 10)) {
          // The disk is slower than four threads without pause.
          EXPECT_TRUE(log->Sync().ok());
        }
        uint64_t end = 0;
        if (i % 2 == 0) {
          end = log->Append(RecordKind::kWrite, record, record.size() + 10);
        } else {
          end = log->AppendEncoded(RecordKind::kWrite, record.size() + 10,
                                   [&](char* to) { return record.copy(to, record.size()); });
        }
        if (i % 3 == 0) {
          EXPECT_TRUE(log->Write().ok());
        }
        if (i % 64 == 0 && GetParam() != LogMode::kOs) {
          EXPECT_TRUE(log->Write().ok());
          log->RequestSync();
          waiter.WaitFor(end);
          EXPECT_GE(log->synced(), end);
        }
        if (i % 200 == 77) {
          EXPECT_TRUE(log->Sync().ok());
        }
        if (i % 100 == 50) {
          EXPECT_GE(log->counts().segments, 1u);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(log->Close().ok());
  EXPECT_EQ(log->synced(), log->appended());

  const ReadLog read = ReadAll(disk::KernelFileCalls(), 0, false, folder.path());
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_TRUE(read.verdict.closed);
  ASSERT_EQ(read.records.size(), kThreads * steps);
  std::map<std::string, uint64_t> next;
  for (const std::string& record : read.records) {
    const size_t slash = record.find('/');
    EXPECT_EQ(std::stoull(record.substr(slash + 1)), next[record.substr(0, slash)]++);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ShardLogThreadsTest,
                         ::testing::Values(LogMode::kOs, LogMode::kPeriodic, LogMode::kSync));

// The thread finds the period by itself, and ends when it is told.
TEST(ShardLogThreadTest, PeriodicNeedsNobodyToAsk) {
  const TempFolder folder;
  Waiter waiter;
  ShardLogOptions options;
  options.directory = folder.path();
  options.mode = LogMode::kPeriodic;
  options.period_nanos = 1'000'000;
  options.listener = &waiter;
  auto log = *ShardLog::Open(options);
  for (int i = 0; i < 5; ++i) {
    const uint64_t end = Put(*log, "record");
    ASSERT_TRUE(log->Write().ok());
    waiter.WaitFor(end);
  }
  EXPECT_TRUE(log->Close().ok());
  EXPECT_EQ(folder.Names(), std::set<std::string>{"log-0000-0000000000000001.log"});
}

}  // namespace shard_log_threads_test
}  // namespace liststore::testing
