#include "engine/durable/log_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "engine/commitlog/log_reader.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace log_set_test {

using commitlog::LogMode;
using commitlog::RecordKind;

std::unique_ptr<durable::LogSet> Open(const std::string& directory, LogMode mode, uint32_t shards) {
  durable::LogSetOptions options;
  options.log.directory = directory;
  options.log.mode = mode;
  options.log.run = 1;
  options.log.segment_bytes = size_t{2} << 20;
  options.log.period_nanos = uint64_t{3600} * 1'000'000'000;
  options.positions.assign(shards, 0);
  options.loops = 2;
  auto set = durable::LogSet::Open(options);
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? *std::move(set) : nullptr;
}

void Append(durable::LogSet& set, uint32_t shard, const std::string& record) {
  ASSERT_TRUE(set.log(shard).Reserve(record.size()));
  set.log(shard).Append(RecordKind::kEvent, record, record.size());
}

TEST(LogSet, WritesBeforeAnswersLeave) {
  for (const LogMode mode : {LogMode::kOs, LogMode::kPeriodic}) {
    const TempFolder folder;
    const auto set = Open(folder.path(), mode, 2);
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(set->Enter(0), 0u) << "nothing was written";
    Append(*set, 1, "a record");
    EXPECT_EQ(set->Enter(0), 1u);
    EXPECT_LT(set->log(1).written(), set->log(1).appended()) << "others may come";
    Append(*set, 0, "another");
    EXPECT_EQ(set->Enter(0), 1u) << "one round";
    EXPECT_EQ(set->Passed(0), 0u);
    set->CloseRound(0);
    EXPECT_EQ(set->Passed(0), 1u);
    for (uint32_t shard = 0; shard < 2; ++shard) {
      EXPECT_EQ(set->log(shard).written(), set->log(shard).appended());
      EXPECT_EQ(set->log(shard).counts().writes, 1u);
    }
    EXPECT_EQ(set->Enter(0), 0u) << "it is kept";
    set->CloseRound(0);
    EXPECT_EQ(set->Passed(0), 1u) << "nobody has entered";
    EXPECT_TRUE(set->Close().ok());
  }
}

TEST(LogSet, AnswersWaitUntilTheyAreSynchronised) {
  const TempFolder folder;
  const auto set = Open(folder.path(), LogMode::kSync, 2);
  ASSERT_NE(set, nullptr);
  std::atomic<int> told{0};
  set->TellOfPassing(0, [&] { ++told; });
  EXPECT_EQ(set->Enter(0), 0u);
  for (int i = 0; i < 50; ++i) {
    Append(*set, static_cast<uint32_t>(i % 2), "a record");
    const uint64_t number = set->Enter(0);
    ASSERT_NE(number, 0u);
    set->CloseRound(0);
    while (set->Passed(0) < number) std::this_thread::yield();
    for (uint32_t shard = 0; shard < 2; ++shard) {
      EXPECT_EQ(set->log(shard).synced(), set->log(shard).appended());
    }
  }
  EXPECT_GT(told, 0);
  EXPECT_TRUE(set->Close().ok());
}

TEST(LogSet, NumbersOfALoopPassInOrder) {
  const TempFolder folder;
  const auto set = Open(folder.path(), LogMode::kSync, 1);
  ASSERT_NE(set, nullptr);
  uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    Append(*set, 0, "a record");
    const uint64_t number = set->Enter(1);
    if (number == 0) continue;  // the log was quicker, for those before
    ASSERT_GE(number, last);
    last = number;
    if (i % 3 == 0) set->CloseRound(1);
  }
  set->CloseRound(1);
  while (set->Passed(1) < last) std::this_thread::yield();
  EXPECT_EQ(set->Passed(0), 0u) << "the other loop has no numbers";
  EXPECT_TRUE(set->Close().ok());
}

}  // namespace log_set_test
}  // namespace liststore::testing
