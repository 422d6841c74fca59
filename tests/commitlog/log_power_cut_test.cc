// Power cuts, by seed: a log on a disk that loses and reorders what was not synchronised, over several
// runs. Nothing that was said to be synchronised is missing, and what is there is a beginning of what
// was appended. Calls fail on the way.
#include <errno.h>

#include <string>
#include <vector>

#include "engine/base/random.h"
#include "tests/commitlog/log_harness.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace log_power_cut_test {

using commitlog::LogMode;
using commitlog::ShardLog;
using commitlog::ShardLogOptions;
using Call = SimulatedDisk::Call;

class PowerCuts {
 public:
  PowerCuts(uint64_t seed, LogMode mode, bool with_faults)
      : random_(seed), mode_(mode), with_faults_(with_faults) {}

  void Run() {
    const int64_t runs = random_.Between(1, 4);
    for (int64_t run = 0; run < runs && !::testing::Test::HasFailure(); ++run) {
      OneRun(static_cast<uint32_t>(run));
      Check();
    }
  }

 private:
  struct Appended {
    std::string record;
    uint64_t end;
  };

  int Fault(Call call) {
    if (!faults_on_ || !random_.OneIn(40)) return 0;
    switch (call) {
      case Call::kWrite:
      case Call::kAllocate:
        return random_.OneIn(2) ? -ENOSPC : -EIO;
      case Call::kOpen:
      case Call::kSync:
      case Call::kSyncDirectory:
        return -EIO;
      default:
        return 0;
    }
  }

  void OneRun(uint32_t run) {
    ShardLogOptions options = SmallLog(disk_, clock_, mode_);
    options.position = position_;
    options.run = run;
    faults_on_ = false;
    disk_.fault = [this](Call call, int64_t) { return Fault(call); };
    disk_.write_bytes_max = random_.OneIn(3) ? 1 + random_.Below(10'000) : SIZE_MAX;
    auto opened = ShardLog::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    auto log = *std::move(opened);
    faults_on_ = with_faults_;
    const uint64_t steps = random_.Below(60);
    for (uint64_t step = 0; step < steps; ++step) Step(*log);
    synced_ = log->synced();
    written_ = log->written();
    faults_on_ = false;
    cleanly_ = random_.OneIn(4);
    if (cleanly_) {
      const absl::Status status = log->Close();
      synced_ = log->synced();
      ASSERT_TRUE(status.ok()) << status;
    }
    Kill(disk_, std::move(log));
    killed_ = random_.OneIn(3);  // the process alone, not the machine
    if (!killed_) disk_.LosePower(random_.Next());
    disk_.write_bytes_max = SIZE_MAX;
  }

  void Step(ShardLog& log) {
    switch (random_.Below(8)) {
      case 0:
        log.Sync().IgnoreError();
        break;
      case 1:
        log.RequestSync();
        break;
      case 2:
        clock_.AdvanceNanos(random_.OneIn(5) ? 1'000'000'000 : 4'000'000);
        log.Tick();
        break;
      case 3:
        log.Write().IgnoreError();
        break;
      default: {
        const size_t bytes = random_.OneIn(6) ? random_.Below(80'000) : random_.Below(3'000);
        const std::string record = NumberedRecord(number_++, bytes);
        const uint64_t end = Put(log, record);
        if (end != 0) appended_.push_back({record, end});
      }
    }
  }

  void Check() {
    const ReadLog read = ReadAll(disk_);
    ASSERT_TRUE(read.status.ok()) << read.status;
    ASSERT_LE(read.records.size(), appended_.size());
    for (size_t i = 0; i < read.records.size(); ++i) {
      ASSERT_TRUE(read.records[i] == appended_[i].record) << i;
      ASSERT_EQ(read.ends[i], appended_[i].end) << i;
    }
    // What was promised: the bytes up to a position, and so the records that end before.
    // A call that failed to synchronise loses what was written even without a loss of power.
    const uint64_t promised = killed_ && !with_faults_ ? written_ : synced_;
    if (read.records.size() < appended_.size()) {
      ASSERT_GT(appended_[read.records.size()].end, promised)
          << "of " << appended_.size() << " records " << read.records.size();
    }
    ASSERT_GE(read.end, promised);
    if (cleanly_) {
      ASSERT_EQ(read.records.size(), appended_.size());
    }
    appended_.resize(read.records.size());
    position_ = read.end;
  }

  Random random_;
  const LogMode mode_;
  const bool with_faults_;
  bool faults_on_ = false;
  SimulatedDisk disk_;
  ManualClock clock_{kTestNanos};
  std::vector<Appended> appended_;
  uint64_t number_ = 0;
  uint64_t position_ = 0;
  uint64_t synced_ = 0;
  uint64_t written_ = 0;
  bool killed_ = false;
  bool cleanly_ = false;
};

void RunSeeds(LogMode mode, bool with_faults, uint64_t seeds) {
  RunEachSeed(seeds, [&](uint64_t seed) { PowerCuts(seed, mode, with_faults).Run(); });
}

TEST(LogPowerCutTest, SyncKeepsWhatItSaid) { RunSeeds(LogMode::kSync, false, 2'000); }
TEST(LogPowerCutTest, PeriodicKeepsWhatItSaid) { RunSeeds(LogMode::kPeriodic, false, 2'000); }
TEST(LogPowerCutTest, OsKeepsWhatItSaid) { RunSeeds(LogMode::kOs, false, 1'000); }
TEST(LogPowerCutTest, SyncKeepsItOnADiskThatFails) { RunSeeds(LogMode::kSync, true, 2'000); }
TEST(LogPowerCutTest, PeriodicKeepsItOnADiskThatFails) {
  RunSeeds(LogMode::kPeriodic, true, 2'000);
}

}  // namespace log_power_cut_test
}  // namespace liststore::testing
