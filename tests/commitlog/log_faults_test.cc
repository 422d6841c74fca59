// Every call of the disk fails once, and then for a while: a log says what it could not keep, keeps
// what it promised, and goes on when the disk is back.
#include <errno.h>

#include <string>
#include <vector>

#include "tests/commitlog/log_harness.h"

namespace liststore::testing {
namespace log_faults_test {

using commitlog::LogMode;
using commitlog::ShardLog;
using Call = SimulatedDisk::Call;

class LogFaults {
 public:
  LogFaults(LogMode mode, int64_t first, int64_t count, int error) : mode_(mode) {
    disk_.fault = [=, this](Call call, int64_t) {
      // A close that fails closed all the same, and is no failure of what was synchronised.
      const int64_t number = made_++;
      return number >= first && number < first + count && call != Call::kClose ? error : 0;
    };
  }

  // False: no call had that number any more.
  bool Run(int64_t first) {
    auto opened = ShardLog::Open(SmallLog(disk_, clock_, mode_));
    if (!opened.ok()) {
      EXPECT_FALSE(opened.status().message().empty());
      return true;
    }
    auto log = *std::move(opened);
    for (uint64_t i = 0; i < 25; ++i) {
      const std::string record = NumberedRecord(i, i % 5 == 0 ? 40'000 : 500);
      if (Put(*log, record) != 0) {
        records_.push_back(record);
      } else {
        EXPECT_FALSE(log->refusal().ok());
      }
      if (i % 2 == 0) log->Write().IgnoreError();
      if (i % 3 == 0) log->Sync().IgnoreError();
      if (i % 4 == 0) {
        clock_.AdvanceNanos(400'000'000);
        log->Tick();
      }
    }
    const bool reached = made_ > first;
    disk_.fault = nullptr;
    clock_.AdvanceSeconds(1);
    log->Tick();
    EXPECT_TRUE(log->refusal().ok()) << log->refusal();
    EXPECT_NE(Put(*log, "back"), 0u);
    records_.push_back("back");
    EXPECT_TRUE(log->Write().ok());
    const ReadLog before = ReadAll(disk_);
    const absl::Status closed = log->Close();
    const ReadLog read = ReadAll(disk_);
    if (mode_ != LogMode::kOs) {
      EXPECT_TRUE(closed.ok()) << closed;
      EXPECT_TRUE(before.status.ok()) << before.status;
      EXPECT_TRUE(before.records == records_);
      EXPECT_TRUE(read.status.ok()) << read.status;
      EXPECT_TRUE(read.records == records_) << read.records.size() << " " << records_.size();
    } else if (closed.ok() && log->synced() == log->appended()) {
      // Where a synchronisation failed, this mode has lost what the disk lost.
      EXPECT_TRUE(read.records == records_) << read.records.size() << " " << records_.size();
    }
    log.reset();
    EXPECT_EQ(disk_.open_files(), 0u);
    return reached;
  }

 private:
  const LogMode mode_;
  SimulatedDisk disk_;
  ManualClock clock_{kTestNanos};
  int64_t made_ = 0;
  std::vector<std::string> records_;
};

TEST(LogFaultsTest, EachCallFailsInTurn) {
  for (const LogMode mode : {LogMode::kSync, LogMode::kPeriodic, LogMode::kOs}) {
    for (const int64_t count : {1, 2, 7, 1'000'000}) {
      for (const int error : {-EIO, -ENOSPC}) {
        for (int64_t first = 0;; ++first) {
          SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + ", calls from " +
                       std::to_string(first) + ", " + std::to_string(count) + ", " +
                       std::to_string(error));
          const bool reached = LogFaults(mode, first, count, error).Run(first);
          if (::testing::Test::HasFailure()) return;
          if (!reached) break;
        }
      }
    }
  }
}

}  // namespace log_faults_test
}  // namespace liststore::testing
