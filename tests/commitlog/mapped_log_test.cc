// A log on real files, whose blocks are stored to the memory of its segments.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/commitlog/shard_log.h"
#include "tests/commitlog/log_harness.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace mapped_log_test {

using commitlog::LogMode;
using commitlog::ShardLog;
using commitlog::ShardLogOptions;

class MappedLogTest : public ::testing::TestWithParam<LogMode> {
 protected:
  std::unique_ptr<ShardLog> Open() {
    ShardLogOptions options = SmallLog(disk::KernelFileCalls(), clock, GetParam());
    options.directory = folder.path();
    // Several windows of what is mapped at a time.
    options.segment_bytes = size_t{600} << 10;
    auto log = ShardLog::Open(options);
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? *std::move(log) : nullptr;
  }
  // What another process finds, now.
  ReadLog Read(uint64_t from = 0) {
    return ReadAll(disk::KernelFileCalls(), from, /*go_on=*/false, folder.path());
  }

  const TempFolder folder;
  ManualClock clock{kTestNanos};
};

TEST_P(MappedLogTest, WhatIsWrittenIsThereWhileTheLogIsOpen) {
  auto log = Open();
  std::vector<std::string> records;
  for (int i = 0; i < 300; ++i) {
    records.push_back(std::to_string(i) + std::string(1 + i * 97 % 12'000, 'r'));
    ASSERT_NE(Put(*log, records.back()), 0u);
    ASSERT_TRUE(log->Write().ok());
    if (i % 50 == 49) {
      EXPECT_EQ(Read().records, records);
      EXPECT_TRUE(log->Sync().ok());
    }
  }
  // Calls of the kernel are for windows.
  EXPECT_LT(log->counts().writes, 30u);
  EXPECT_GT(log->counts().segments, 3u);
  ASSERT_TRUE(log->Close().ok());
  const ReadLog read = Read();
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records, records);
}

// The disk has gone, or somebody has cut the file: a store to it would end the process.
TEST_P(MappedLogTest, AFileThatIsGoneIsAFailedWrite) {
  auto log = Open();
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Write().ok());
  const std::string first = *folder.Names().begin();
  std::filesystem::resize_file(folder / first, 0);
  ASSERT_NE(Put(*log, "two"), 0u);
  EXPECT_FALSE(log->Write().ok());
  EXPECT_FALSE(log->refusal().ok());
  EXPECT_EQ(Put(*log, "refused"), 0u);
  EXPECT_EQ(log->counts().failures, 1u);
  // Tried again in another segment: what had room before is kept.
  clock.AdvanceSeconds(1);
  log->Tick();
  EXPECT_TRUE(log->refusal().ok()) << log->refusal();
  ASSERT_NE(Put(*log, "three"), 0u);
  ASSERT_TRUE(log->Write().ok());
  std::filesystem::remove(folder / first);
  EXPECT_EQ(Read(/*from=*/8).records, (std::vector<std::string>{"two", "three"}));
}

INSTANTIATE_TEST_SUITE_P(Modes, MappedLogTest,
                         ::testing::Values(LogMode::kOs, LogMode::kPeriodic, LogMode::kSync));

}  // namespace mapped_log_test
}  // namespace liststore::testing
