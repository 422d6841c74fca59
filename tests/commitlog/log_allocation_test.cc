// A warm log takes records, writes and synchronises them without the heap.
#include <gtest/gtest.h>

#include "engine/base/check.h"
#include "tests/commitlog/log_harness.h"
#include "tests/support/counting_new.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace log_allocation_test {

using commitlog::LogMode;
using commitlog::RecordKind;

TEST(LogAllocationTest, TheSteadyStateNeedsNoHeap) {
  for (const LogMode mode : {LogMode::kOs, LogMode::kPeriodic, LogMode::kSync}) {
    const TempFolder folder;
    ManualClock clock(kTestNanos);
    commitlog::ShardLogOptions options;
    options.directory = folder.path();
    options.mode = mode;
    options.clock = &clock;
    options.thread = false;
    const auto log = *commitlog::ShardLog::Open(options);
    const std::string record(100, 'r');
    const auto turn = [&] {
      for (int i = 0; i < 100; ++i) {
        LS_CHECK(log->Reserve(record.size()), "a disk has room");
        if (i % 2 == 0) {
          log->Append(RecordKind::kWrite, record, record.size());
        } else {
          log->AppendEncoded(RecordKind::kWrite, record.size(),
                             [&](char* to) { return record.copy(to, record.size()); });
        }
      }
      LS_CHECK(log->Write().ok(), "a disk takes what is written");
      clock.AdvanceNanos(2'000'000);
      if (mode == LogMode::kSync) log->RequestSync();
      log->Tick();
    };
    for (int i = 0; i < 10; ++i) turn();
    const uint64_t before = CountOfNew();
    for (int i = 0; i < 100; ++i) turn();
    EXPECT_EQ(CountOfNew() - before, 0u) << static_cast<int>(mode);
    EXPECT_TRUE(log->Close().ok());
  }
}

}  // namespace log_allocation_test
}  // namespace liststore::testing
