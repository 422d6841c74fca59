// A log as it is written: what was appended is read again; room, refusals, and what comes after them.
#include "engine/commitlog/shard_log.h"

#include <errno.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/commitlog/log_directory.h"
#include "tests/commitlog/log_harness.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace shard_log_test {

using commitlog::LogMode;
using commitlog::RecordKind;
using commitlog::ShardLog;
using commitlog::ShardLogOptions;
using Call = SimulatedDisk::Call;

class Told final : public commitlog::LogListener {
 public:
  void OnSynced(uint64_t position) override { synced.push_back(position); }
  void OnRefusal(const absl::Status& refusal) override { refusals.push_back(refusal); }
  std::vector<uint64_t> synced;
  std::vector<absl::Status> refusals;
};

class ShardLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<ShardLog> Open(LogMode mode = LogMode::kSync) {
    ShardLogOptions options = SmallLog(disk, clock, mode);
    options.position = position;
    options.listener = &told;
    auto log = ShardLog::Open(options);
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? *std::move(log) : nullptr;
  }
  void FailAll(Call call, int error) {
    disk.fault = [=](Call made, int64_t) { return made == call ? error : 0; };
  }
  size_t Segments() {
    const auto logs = commitlog::ListLogs(disk, "data");
    return logs.ok() && !logs->empty() ? logs->front().segments.size() : 0;
  }

  SimulatedDisk disk;
  ManualClock clock{kTestNanos};
  Told told;
  uint64_t position = 0;
};

TEST_F(ShardLogTest, WhatIsWrittenIsRead) {
  for (const LogMode mode : {LogMode::kOs, LogMode::kPeriodic, LogMode::kSync}) {
    for (const std::string& path : disk.Paths()) disk.Remove(path);
    auto log = Open(mode);
    EXPECT_EQ(Put(*log, "one"), 8u);
    ASSERT_TRUE(log->Reserve(100));
    EXPECT_EQ(log->AppendEncoded(RecordKind::kEvent, 100,
                                 [](char* to) {
                                   std::copy_n("two", 3, to);
                                   return size_t{3};
                                 }),
              16u);
    EXPECT_EQ(log->written(), 0u);
    ASSERT_TRUE(log->Write().ok());
    EXPECT_EQ(log->written(), 16u);
    EXPECT_EQ(Put(*log, ""), 21u);
    ASSERT_TRUE(log->Write().ok());
    const ReadLog read = ReadAll(disk);
    EXPECT_TRUE(read.status.ok()) << read.status;
    EXPECT_EQ(read.records, (std::vector<std::string>{"one", "two", ""}));
    EXPECT_EQ(read.end, 21u);
    EXPECT_FALSE(read.verdict.closed);
    EXPECT_EQ(read.verdict.torn_bytes, 0u);
    ASSERT_TRUE(log->Close().ok());
    EXPECT_EQ(log->synced(), 21u);
    EXPECT_TRUE(ReadAll(disk).verdict.closed);
    EXPECT_EQ(Segments(), 1u);
    EXPECT_EQ(disk.open_files(), 0u);
    EXPECT_EQ(log->counts().buffered_bytes, 0u);
  }
}

TEST_F(ShardLogTest, RandomRecordsOverManySegmentsAndRuns) {
  Random random(TestSeed());
  const uint64_t steps = TestSteps(300);
  std::vector<std::string> expected;
  std::vector<uint64_t> ends;
  for (int run = 0; run < 6; ++run) {
    auto log = Open(static_cast<LogMode>(run % 3));
    for (uint64_t step = 0; step < steps; ++step) {
      const size_t bytes = random.OneIn(20) ? random.Below(200'000) : random.Below(2'000);
      expected.push_back(NumberedRecord(expected.size(), bytes));
      const std::string& record = expected.back();
      if (record.size() < 10'000 && random.OneIn(2)) {
        ASSERT_TRUE(log->Reserve(record.size() + 100));
        ends.push_back(log->AppendEncoded(RecordKind::kWrite, record.size() + 100, [&](char* to) {
          return record.copy(to, record.size());
        }));
      } else {
        ends.push_back(Put(*log, record));
        ASSERT_GT(ends.back(), 0u);
      }
      if (random.OneIn(3)) {
        ASSERT_TRUE(log->Write().ok());
      }
      if (random.OneIn(5)) {
        ASSERT_TRUE(log->Sync().ok());
      }
      if (random.OneIn(7)) {
        clock.AdvanceNanos(300'000'000);
        log->Tick();
      }
    }
    position = log->appended();
    if (run % 2 == 0) {
      ASSERT_TRUE(log->Close().ok());
    } else {
      ASSERT_TRUE(log->Write().ok());
      Kill(disk, std::move(log));
    }
  }
  const ReadLog read = ReadAll(disk);
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records.size(), expected.size());
  EXPECT_TRUE(read.records == expected);
  EXPECT_EQ(read.ends, ends);
  const size_t half = ends.size() / 2;
  const ReadLog later = ReadAll(disk, ends[half]);
  EXPECT_TRUE(later.status.ok()) << later.status;
  EXPECT_EQ(later.records.size(), expected.size() - half - 1);
  EXPECT_EQ(later.records.front(), expected[half + 1]);
}

TEST_F(ShardLogTest, WhatIsBehindASnapshotIsDropped) {
  auto log = Open();
  std::vector<uint64_t> ends;
  for (int i = 0; i < 100; ++i) {
    ends.push_back(Put(*log, NumberedRecord(i, 10'000)));
    ASSERT_TRUE(log->Sync().ok());
  }
  const size_t before = Segments();
  EXPECT_GT(before, 7u);
  ASSERT_TRUE(log->DropBefore(ends[49]).ok());
  EXPECT_LE(Segments(), before - 3);
  const ReadLog read = ReadAll(disk, ends[49]);
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records.size(), 50u);
  // What was dropped is missed by who wants it.
  EXPECT_EQ(ReadAll(disk, 0).status.code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(log->DropBefore(ends[99]).ok());
  EXPECT_LE(Segments(), 2u);
  ASSERT_TRUE(log->Close().ok());
  // Of an earlier run, too.
  position = log->appended();
  log = Open();
  Put(*log, "later");
  ASSERT_TRUE(log->Sync().ok());
  ASSERT_TRUE(log->DropBefore(position).ok());
  EXPECT_EQ(ReadAll(disk, position).records, std::vector<std::string>{"later"});
  EXPECT_EQ(Segments(), 2u);  // that of the record, and the next one
  ASSERT_TRUE(log->Close().ok());
  ASSERT_TRUE(commitlog::DropSegments(disk, "data", 0, position, log->appended()).ok());
  EXPECT_EQ(Segments(), 1u);
  ASSERT_TRUE(commitlog::DropSegments(disk, "data", 0, log->appended(), log->appended()).ok());
  EXPECT_EQ(Segments(), 0u);
}

TEST_F(ShardLogTest, ReserveRefusesBeyondTheBuffer) {
  auto log = Open(LogMode::kSync);
  const std::string record(10'000, 'r');
  int taken = 0;
  while (Put(*log, record) != 0) ASSERT_LT(++taken, 1000);
  EXPECT_NEAR(taken, (512 << 10) / 10'061, 2);
  EXPECT_EQ(log->refusal().code(), absl::StatusCode::kResourceExhausted) << log->refusal();
  EXPECT_NE(log->refusal().message().find("wait for the disk of the commit log in data"),
            std::string::npos);
  // Written is not enough in this mode.
  ASSERT_TRUE(log->Write().ok());
  EXPECT_EQ(Put(*log, record), 0u);
  ASSERT_TRUE(log->Sync().ok());
  EXPECT_TRUE(log->refusal().ok());
  EXPECT_NE(Put(*log, record), 0u);
  // A record longer than the buffer fits when that is not in use.
  const std::string large(3'000'000, 'l');
  EXPECT_NE(Put(*log, large), 0u);
  EXPECT_EQ(Put(*log, std::string(100'000, 'r')), 0u);
  ASSERT_TRUE(log->Sync().ok());
  EXPECT_NE(Put(*log, record), 0u);
  const ReadLog read = ReadAll(disk);
  EXPECT_EQ(read.records.size(), static_cast<size_t>(taken) + 2);
  EXPECT_TRUE(read.records.back() == large);
  // Given back room is there again, and memory is given back in time.
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(log->Reserve(100'000));
    log->Unreserve(100'000);
  }
  ASSERT_TRUE(log->Sync().ok());
  for (int i = 0; i < 20; ++i) {
    clock.AdvanceSeconds(1);
    log->Tick();
    ASSERT_NE(Put(*log, record), 0u);
    ASSERT_TRUE(log->Sync().ok());
  }
  EXPECT_EQ(log->counts().buffered_bytes, 0u);
}

TEST_F(ShardLogTest, AFullDiskIsMetBeforeAnythingIsPromised) {
  for (const LogMode mode : {LogMode::kOs, LogMode::kSync}) {
    for (const std::string& path : disk.Paths()) disk.Remove(path);
    told = Told();
    disk.capacity = 400 << 10;
    auto log = Open(mode);
    std::vector<std::string> expected;
    while (true) {
      const std::string record = NumberedRecord(expected.size(), 5'000);
      if (Put(*log, record) == 0) break;
      expected.push_back(record);
      ASSERT_TRUE(log->Write().ok()) << expected.size();
      if (expected.size() % 3 == 0) {
        ASSERT_TRUE(log->Sync().ok());
      }
      ASSERT_LT(expected.size(), 1000u);
    }
    EXPECT_GT(expected.size(), 40u);
    EXPECT_EQ(log->refusal().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(log->refusal().message().find("No space left on device; make room there"),
              std::string::npos)
        << log->refusal();
    EXPECT_EQ(log->refusal().message().substr(0, 51),
              "writes are refused, the commit log in data cannot k");
    log->Tick();
    EXPECT_EQ(told.refusals.size(), 1u);
    // Not sooner than after a second, and then again each second.
    disk.capacity = 1 << 20;
    EXPECT_EQ(Put(*log, "x"), 0u);
    clock.AdvanceNanos(999'999'999);
    log->Tick();
    EXPECT_EQ(Put(*log, "x"), 0u);
    clock.AdvanceNanos(1);
    log->Tick();
    EXPECT_TRUE(log->refusal().ok());
    ASSERT_EQ(told.refusals.size(), 2u);
    EXPECT_TRUE(told.refusals.back().ok());
    expected.push_back("back");
    ASSERT_NE(Put(*log, "back"), 0u);
    ASSERT_TRUE(log->Close().ok());
    const ReadLog read = ReadAll(disk);
    EXPECT_TRUE(read.status.ok()) << read.status;
    EXPECT_EQ(read.records, expected);
  }
}

TEST_F(ShardLogTest, AFailedWriteIsKeptAndWrittenLater) {
  for (const LogMode mode : {LogMode::kOs, LogMode::kPeriodic, LogMode::kSync}) {
    for (const std::string& path : disk.Paths()) disk.Remove(path);
    auto log = Open(mode);
    ASSERT_NE(Put(*log, "one"), 0u);
    ASSERT_TRUE(log->Write().ok());
    ASSERT_TRUE(log->Reserve(3));
    FailAll(Call::kWrite, -EROFS);
    ASSERT_NE(Put(*log, "two"), 0u);
    EXPECT_FALSE(log->Write().ok());
    EXPECT_EQ(log->written(), 8u);
    EXPECT_EQ(Put(*log, "refused"), 0u);
    EXPECT_NE(log->refusal().message().find("Read-only file system"), std::string::npos);
    // What was promised room is taken all the same.
    EXPECT_EQ(log->Append(RecordKind::kWrite, "3", 3), 22u);
    clock.AdvanceSeconds(1);
    log->Tick();
    EXPECT_FALSE(log->Write().ok());
    EXPECT_FALSE(log->Sync().ok());
    disk.fault = nullptr;
    clock.AdvanceSeconds(1);
    log->Tick();
    EXPECT_TRUE(log->refusal().ok()) << log->refusal();
    EXPECT_EQ(log->written(), 22u);
    ASSERT_NE(Put(*log, "four"), 0u);
    ASSERT_TRUE(log->Close().ok());
    const ReadLog read = ReadAll(disk);
    EXPECT_TRUE(read.status.ok()) << read.status;
    EXPECT_EQ(read.records, (std::vector<std::string>{"one", "two", "3", "four"}));
  }
}

TEST_F(ShardLogTest, ShortWritesAreGoneOnWith) {
  disk.write_bytes_max = 7;
  auto log = Open();
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    expected.push_back(NumberedRecord(i, 1'000));
    ASSERT_NE(Put(*log, expected.back()), 0u);
  }
  ASSERT_TRUE(log->Sync().ok());
  EXPECT_EQ(ReadAll(disk).records, expected);
}

// What the failed call was for is written again, to a new segment, before it is called synchronised.
TEST_F(ShardLogTest, AFailedSyncIsNeverTakenForDone) {
  int failures = 1;
  auto log = Open();
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Sync().ok());
  ASSERT_NE(Put(*log, "two"), 0u);
  disk.fault = [&](Call call, int64_t) {
    return call == Call::kSync && failures > 0 ? (--failures, -EIO) : 0;
  };
  // Once: tried again at once.
  EXPECT_TRUE(log->Sync().ok());
  EXPECT_EQ(log->synced(), 16u);
  EXPECT_TRUE(told.refusals.empty());
  ASSERT_NE(Put(*log, "three"), 0u);
  failures = 2;
  EXPECT_FALSE(log->Sync().ok());
  EXPECT_EQ(log->synced(), 16u);
  EXPECT_EQ(Put(*log, "refused"), 0u);
  EXPECT_NE(log->refusal().message().find("cannot sync data/log-0000-"), std::string::npos)
      << log->refusal();
  EXPECT_FALSE(log->Sync().ok());
  clock.AdvanceSeconds(1);
  log->Tick();
  EXPECT_EQ(log->synced(), 26u);
  EXPECT_EQ(told.synced.back(), 26u);
  EXPECT_EQ(told.refusals.size(), 2u);
  const ReadLog read = ReadAll(disk);
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(log->counts().failures, 3u);
}

TEST_F(ShardLogTest, ADiskThatFailsForLongIsNotFilled) {
  for (const LogMode mode : {LogMode::kPeriodic, LogMode::kSync, LogMode::kOs}) {
    for (const Call call : {Call::kSync, Call::kWrite}) {
      disk.fault = nullptr;
      for (const std::string& path : disk.Paths()) disk.Remove(path);
      auto log = Open(mode);
      std::vector<std::string> expected;
      for (int i = 0; i < 30; ++i) {
        expected.push_back(NumberedRecord(i, 10'000));
        ASSERT_NE(Put(*log, expected.back()), 0u);
      }
      FailAll(call, -EIO);
      log->Sync().IgnoreError();
      for (int i = 0; i < 50; ++i) {
        clock.AdvanceSeconds(1);
        log->Tick();
      }
      EXPECT_LT(Segments(), 14u);
      disk.fault = nullptr;
      clock.AdvanceSeconds(1);
      log->Tick();
      EXPECT_TRUE(log->refusal().ok());
      EXPECT_LT(Segments(), 9u);
      expected.push_back("back");
      ASSERT_NE(Put(*log, "back"), 0u);
      ASSERT_TRUE(log->Write().ok());
      const ReadLog read = ReadAll(disk);
      // What an os does not keep for itself is gone with the failed call.
      if (mode == LogMode::kOs && call == Call::kSync) continue;
      EXPECT_TRUE(read.status.ok()) << read.status;
      EXPECT_EQ(read.records, expected);
    }
  }
}

TEST_F(ShardLogTest, PeriodsAreKept) {
  auto log = Open(LogMode::kPeriodic);
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Write().ok());
  clock.AdvanceNanos(9'999'999);
  log->Tick();
  EXPECT_EQ(log->synced(), 0u);
  ASSERT_NE(Put(*log, "two"), 0u);
  ASSERT_TRUE(log->Write().ok());
  clock.AdvanceNanos(1);
  log->Tick();
  EXPECT_EQ(log->synced(), 16u);
  EXPECT_EQ(told.synced, std::vector<uint64_t>{16});
  clock.AdvanceSeconds(1);
  log->Tick();
  EXPECT_EQ(log->counts().syncs, 1u);
}

TEST_F(ShardLogTest, PeriodsEndThoughTheClockIsSetBack) {
  auto log = Open(LogMode::kPeriodic);
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Write().ok());
  clock.SetNanos(kTestNanos - 86'400'000'000'000);
  log->Tick();
  EXPECT_EQ(log->synced(), 8u);
  // Nor is what failed forgotten for a day.
  FailAll(Call::kSync, -EIO);
  ASSERT_NE(Put(*log, "two"), 0u);
  EXPECT_FALSE(log->Sync().ok());
  disk.fault = nullptr;
  clock.SetNanos(kTestNanos - 2 * 86'400'000'000'000);
  log->Tick();
  EXPECT_EQ(log->synced(), 16u);
}

TEST_F(ShardLogTest, NothingIsDoneAfterTheEnd) {
  auto log = Open();
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Close().ok());
  clock.AdvanceSeconds(10);
  log->Tick();
  EXPECT_EQ(Segments(), 1u);
  EXPECT_TRUE(log->Close().ok());
}

// Without a copy in memory nothing is claimed any more, and yet writes go on.
TEST_F(ShardLogTest, AFailedSyncOfTheOsModeIsSaid) {
  auto log = Open(LogMode::kOs);
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Sync().ok());
  ASSERT_NE(Put(*log, "two"), 0u);
  FailAll(Call::kSync, -EIO);
  EXPECT_FALSE(log->Sync().ok());
  EXPECT_EQ(Put(*log, "refused"), 0u);
  disk.fault = nullptr;
  clock.AdvanceSeconds(1);
  log->Tick();
  EXPECT_TRUE(log->refusal().ok());
  ASSERT_NE(Put(*log, "three"), 0u);
  EXPECT_TRUE(log->Write().ok());
  EXPECT_TRUE(log->Sync().ok());
  EXPECT_EQ(log->synced(), 8u);
  // Until it is in a snapshot.
  ASSERT_TRUE(log->DropBefore(15).ok());
  ASSERT_TRUE(log->Sync().ok());
  EXPECT_EQ(log->synced(), 8u);
  ASSERT_TRUE(log->DropBefore(16).ok());
  ASSERT_NE(Put(*log, "four"), 0u);
  ASSERT_TRUE(log->Sync().ok());
  EXPECT_EQ(log->synced(), log->appended());
  ASSERT_TRUE(log->Close().ok());
  EXPECT_EQ(ReadAll(disk, 16).records, (std::vector<std::string>{"three", "four"}));
}

TEST_F(ShardLogTest, SyncsAreDoneWhenTheyAreAskedFor) {
  auto log = Open(LogMode::kSync);
  ASSERT_NE(Put(*log, "one"), 0u);
  ASSERT_TRUE(log->Write().ok());
  clock.AdvanceSeconds(1);
  log->Tick();
  EXPECT_EQ(log->synced(), 0u);
  log->RequestSync();
  log->Tick();
  EXPECT_EQ(log->synced(), 8u);
}

// Of the mode that does not ask for it, full segments: what a loss of power can cost is bounded.
TEST_F(ShardLogTest, FullSegmentsAreSynchronisedInEveryMode) {
  auto log = Open(LogMode::kOs);
  for (int i = 0; i < 40; ++i) {
    ASSERT_NE(Put(*log, NumberedRecord(i, 10'000)), 0u);
    ASSERT_TRUE(log->Write().ok());
    log->Tick();
  }
  EXPECT_GT(log->synced(), log->written() - (128 << 10));
  EXPECT_LT(log->synced(), log->written());
}

TEST_F(ShardLogTest, ARunThatWritesNothingLeavesNothing) {
  { auto log = Open(); }
  EXPECT_EQ(Segments(), 0u);
  EXPECT_TRUE(ReadAll(disk).status.ok());
  // Nor does one that was killed, once another has begun.
  Kill(disk, Open());
  EXPECT_EQ(Segments(), 1u);
  auto log = Open();
  EXPECT_EQ(Segments(), 1u);
}

TEST_F(ShardLogTest, OptionsAreChecked) {
  ShardLogOptions options = SmallLog(disk, clock, LogMode::kSync);
  options.segment_bytes = 1;
  EXPECT_EQ(ShardLog::Open(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SegmentNamesTest, AreReadAsTheyAreWritten) {
  using commitlog::ParseSegmentFileName;
  EXPECT_EQ(commitlog::SegmentFileName({3, 17}), "log-0003-0000000000000017.log");
  const auto name = ParseSegmentFileName("log-0003-0000000000000017.log");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->shard, 3u);
  EXPECT_EQ(name->number, 17u);
  for (const char* other : {"", "LOCK", "log-0003-000000000000001.log",
                            "log-0003-000000000000001x.log", "log-0003_0000000000000017.log",
                            "log-0003-0000000000000017.lox", "log-0003-0000000000000017.log2"}) {
    EXPECT_FALSE(ParseSegmentFileName(other).has_value()) << other;
  }
}

}  // namespace shard_log_test
}  // namespace liststore::testing
