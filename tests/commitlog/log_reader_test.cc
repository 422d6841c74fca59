// What a reader says of logs that are not as they were written: cut off, damaged, of another version.
#include "engine/commitlog/log_reader.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/commitlog/log_format.h"
#include "tests/commitlog/log_harness.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace log_reader_test {

using commitlog::LogMode;
using commitlog::ShardLog;

constexpr char kFirst[] = "data/log-0000-0000000000000001.log";

class LogReaderTest : public ::testing::Test {
 protected:
  // Three records a segment, two runs; every block but the last one of a run is known to be
  // synchronised by those behind it. The first run is killed, the second closed.
  void Write(LogMode mode = LogMode::kSync) {
    for (uint64_t run = 0; run < 2; ++run) {
      commitlog::ShardLogOptions options = SmallLog(disk, clock, mode);
      options.position = ends.empty() ? 0 : ends.back();
      options.run = static_cast<uint32_t>(run);
      auto log = *ShardLog::Open(options);
      for (int i = 0; i < 4; ++i) {
        clock.AdvanceSeconds(1);
        records.push_back(NumberedRecord(records.size(), i == 1 ? 60'000 : 30'000));
        ends.push_back(Put(*log, records.back()));
        ASSERT_TRUE((mode == LogMode::kSync ? log->Sync() : log->Write()).ok());
      }
      if (run == 0) {
        Kill(disk, std::move(log));
      } else {
        ASSERT_TRUE(log->Close().ok());
      }
    }
  }
  // A log of a few small records in one segment.
  void WriteSmall() {
    auto log = *ShardLog::Open(SmallLog(disk, clock, LogMode::kSync));
    for (int i = 0; i < 8; ++i) {
      clock.AdvanceSeconds(1);
      records.push_back(NumberedRecord(records.size(), 10 + i));
      ends.push_back(Put(*log, records.back()));
      if (i % 2 == 1) {
        ASSERT_TRUE(log->Sync().ok());
      }
    }
    ASSERT_TRUE(log->Close().ok());
  }
  std::string Changed(const std::string& path, size_t at, uint8_t by) {
    std::string content = disk.Content(path);
    content[at] = static_cast<char>(content[at] ^ by);
    return content;
  }
  // Each of `found` was written, and in that order.
  static bool AreSome(const std::vector<std::string>& found, const std::vector<std::string>& of) {
    size_t next = 0;
    for (const std::string& record : found) {
      while (next < of.size() && of[next] != record) ++next;
      if (next++ == of.size()) return false;
    }
    return true;
  }

  SimulatedDisk disk;
  ManualClock clock{kTestNanos};
  std::vector<std::string> records;
  std::vector<uint64_t> ends;
};

TEST_F(LogReaderTest, NoLogIsALogOfNothing) {
  const ReadLog read = ReadAll(disk);
  EXPECT_TRUE(read.status.ok());
  EXPECT_EQ(read.end, 0u);
  EXPECT_EQ(ReadAll(disk, 77).end, 77u);
}

TEST_F(LogReaderTest, TwoRunsAreOneLog) {
  Write();
  const ReadLog read = ReadAll(disk);
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records, records);
  EXPECT_EQ(read.ends, ends);
  EXPECT_TRUE(read.verdict.closed);
  EXPECT_EQ(read.verdict.records, records.size());
  EXPECT_EQ(read.end, ends.back());
  commitlog::LogReaderOptions options;
  options.calls = &disk;
  options.directory = "data";
  commitlog::LogReader reader(options);
  ASSERT_TRUE(reader.Open().ok());
  EXPECT_EQ(reader.last_run(), 1u);
  EXPECT_EQ(reader.last_shards(), 1u);
  EXPECT_GT(reader.bytes_total(), 300'000u);
}

// An error that says where, or the end: never a crash, never a record that nobody wrote.
TEST_F(LogReaderTest, EveryByteFlippedIsRefusedOrTold) {
  WriteSmall();
  const std::string whole = disk.Content(kFirst);
  ASSERT_LT(whole.size(), 1000u);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const uint8_t by : {uint8_t{1}, uint8_t{128}, uint8_t{255}}) {
      disk.SetContent(kFirst, whole);
      disk.SetContent(kFirst, Changed(kFirst, at, by));
      const ReadLog read = ReadAll(disk);
      ASSERT_TRUE(AreSome(read.records, records)) << at;
      if (read.status.ok()) {
        // The last block alone, which says that the log was closed, is not known to be synchronised.
        EXPECT_GE(at, whole.size() - commitlog::kBlockHeaderBytes) << at;
        EXPECT_GT(read.verdict.torn_bytes, 0u) << at;
        EXPECT_EQ(read.records, records) << at;
      } else if (read.status.code() == absl::StatusCode::kFailedPrecondition) {
        EXPECT_TRUE(at >= 8 && at < 12) << at;
        EXPECT_NE(read.status.message().find("of version "), std::string::npos);
      } else {
        EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss) << at << " " << read.status;
        EXPECT_NE(read.status.message().find(std::string(kFirst) + " at offset "),
                  std::string::npos)
            << read.status;
        EXPECT_EQ(read.verdict.damages_total, 1u);
        EXPECT_LE(read.verdict.damages[0].offset, at);
      }
      // Told to go on, it loses the records of one block at most.
      const ReadLog rest = ReadAll(disk, 0, true);
      if (rest.status.code() == absl::StatusCode::kFailedPrecondition) continue;
      ASSERT_TRUE(rest.status.ok()) << at << " " << rest.status;
      ASSERT_TRUE(AreSome(rest.records, records)) << at;
      if (at >= commitlog::kSegmentHeaderBytes) {
        EXPECT_GE(rest.records.size(), records.size() - 2) << at;
        EXPECT_EQ(rest.end, ends.back());
      }
    }
  }
}

TEST_F(LogReaderTest, EveryLengthCutIsRefusedOrTold) {
  WriteSmall();
  const std::string whole = disk.Content(kFirst);
  for (size_t length = 0; length < whole.size(); ++length) {
    disk.SetContent(kFirst, whole.substr(0, length));
    const ReadLog read = ReadAll(disk);
    ASSERT_TRUE(AreSome(read.records, records));
    if (read.status.ok()) {
      EXPECT_FALSE(read.verdict.closed);
      // Where blocks end nothing is seen but that it was not closed; elsewhere, what was cut off.
      EXPECT_TRUE(std::equal(read.records.begin(), read.records.end(), records.begin()));
      EXPECT_EQ(read.end, read.ends.empty() ? 0 : read.ends.back());
    } else {
      EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss);
      EXPECT_LT(length, commitlog::kSegmentHeaderBytes);
    }
  }
}

// The same for logs of several segments and runs, at places by a seed.
TEST_F(LogReaderTest, DamageInAnySegmentIsFound) {
  Write();
  Random random(TestSeed());
  std::map<std::string, std::string> whole;
  for (const std::string& path : disk.Paths()) whole[path] = disk.Content(path);
  ASSERT_GE(whole.size(), 4u);
  const std::string last = whole.rbegin()->first;
  const uint64_t steps = TestSteps(1'500);
  for (uint64_t step = 0; step < steps; ++step) {
    auto damaged = whole.begin();
    std::advance(damaged, random.Below(whole.size()));
    std::string content = damaged->second;
    const size_t end = content.find_last_not_of('\0') + 1;
    const size_t at = random.Below(end);
    if (random.OneIn(3)) {
      content.resize(at);
    } else {
      content[at] = static_cast<char>(content[at] ^ (1 + random.Below(255)));
    }
    for (const auto& [path, bytes] : whole) disk.SetContent(path, bytes);
    disk.SetContent(damaged->first, content);
    const ReadLog read = ReadAll(disk);
    ASSERT_TRUE(AreSome(read.records, records)) << damaged->first << " " << at;
    if (read.status.ok()) {
      // At most the end of the last segment, or of the first run, which a later run stands behind.
      EXPECT_TRUE(damaged->first == last || read.records == records) << damaged->first << " " << at;
    } else {
      EXPECT_NE(read.status.message().find("data/log-0000-"), std::string::npos) << read.status;
    }
    const ReadLog rest = ReadAll(disk, 0, true);
    ASSERT_TRUE(AreSome(rest.records, records)) << damaged->first << " " << at;
    if (rest.status.ok() && damaged->first != last) {
      EXPECT_GE(rest.records.size(), records.size() - 4) << damaged->first << " " << at;
    }
  }
}

TEST_F(LogReaderTest, DamageNamesWhereAndWhen) {
  Write();
  disk.SetContent(kFirst, Changed(kFirst, 40'000, 1));  // in the second record
  const ReadLog read = ReadAll(disk);
  EXPECT_EQ(
      read.status.message(),
      "commit log damaged: data/log-0000-0000000000000001.log at offset 30125: the checksum "
      "of a block's content is another; positions 30005 to 62717 are missing, written between "
      "2023-11-14T22:13:21+00:00 and 2023-11-14T22:13:22+00:00");
  ASSERT_EQ(read.verdict.damages.size(), 1u);
  EXPECT_EQ(read.verdict.damages[0].from_position, 30'005u);
  EXPECT_EQ(read.records, std::vector<std::string>{records[0]});
  const ReadLog rest = ReadAll(disk, 0, true);
  ASSERT_TRUE(rest.status.ok()) << rest.status;
  std::vector<std::string> expected = records;
  expected.erase(expected.begin() + 1);
  EXPECT_EQ(rest.records, expected);
}

TEST_F(LogReaderTest, AMissingSegmentIsDamage) {
  Write();
  disk.Remove(kFirst);
  EXPECT_EQ(ReadAll(disk).status.code(), absl::StatusCode::kDataLoss);
  const ReadLog rest = ReadAll(disk, 0, true);
  EXPECT_TRUE(rest.status.ok());
  EXPECT_GE(rest.records.size(), 5u);
  EXPECT_TRUE(AreSome(rest.records, records));
}

// The disk failed in the middle of a header, and the process was killed.
TEST_F(LogReaderTest, AHeaderThatWasHalfWrittenIsNone) {
  WriteSmall();
  const std::string header = disk.Content(kFirst).substr(0, 64);
  for (size_t bytes = 0; bytes < header.size(); ++bytes) {
    std::string content(1'000, '\0');
    content.replace(0, bytes, header.substr(0, bytes));
    disk.SetContent("data/log-0000-0000000000000002.log", content);
    const ReadLog read = ReadAll(disk);
    ASSERT_TRUE(read.status.ok()) << bytes << " " << read.status;
    EXPECT_EQ(read.records, records);
    EXPECT_TRUE(read.verdict.closed);
  }
}

// What a snapshot has is not missed.
TEST_F(LogReaderTest, DamageBeforeWhatIsAskedForIsNone) {
  WriteSmall();
  const std::string whole = disk.Content(kFirst);
  const ReadLog expected = ReadAll(disk, ends[3]);
  ASSERT_EQ(expected.records.size(), 4u);
  const size_t third_block = 64 + 2 * 56 + ends[3];
  for (size_t at = 64; at < third_block; ++at) {
    disk.SetContent(kFirst, whole);
    disk.SetContent(kFirst, Changed(kFirst, at, 1));
    const ReadLog read = ReadAll(disk, ends[3]);
    ASSERT_TRUE(read.status.ok()) << at << " " << read.status;
    EXPECT_EQ(read.records, expected.records) << at;
    EXPECT_EQ(read.verdict.torn_bytes, 0u);
  }
}

TEST_F(LogReaderTest, AFileInAnothersPlaceIsDamage) {
  WriteSmall();
  disk.SetContent("data/log-0000-0000000000000009.log", disk.Content(kFirst));
  const ReadLog read = ReadAll(disk);
  EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(read.status.message().find("log-0000-0000000000000009.log at offset 0: the file says "
                                       "that it is log-0000-0000000000000001.log"),
            std::string::npos)
      << read.status;
  EXPECT_EQ(ReadAll(disk, 0, true).records, records);
}

// A client's value that is a block, word for word but for the salt, where damage makes a reader look
// for whole blocks.
TEST_F(LogReaderTest, AValueIsNotTakenForABlock) {
  std::string forged(commitlog::kBlockHeaderBytes, '\0');
  std::string payload(14, 'f');
  StoreNative<uint32_t>(payload.data(), 9);
  payload[4] = 1;
  commitlog::BlockHeader header{.payload_bytes = 14, .position = 100, .synced = 100};
  header.first_record = 0;
  header.records = 1;
  header.payload_checksum = commitlog::PayloadChecksum(payload, 100);
  commitlog::EncodeBlockHeader(header, commitlog::BlockSeed({0, 1}, 0), forged.data());
  auto log = *ShardLog::Open(SmallLog(disk, clock, LogMode::kSync));
  Put(*log, "one");
  ASSERT_TRUE(log->Sync().ok());
  Put(*log, forged + payload);
  ASSERT_TRUE(log->Sync().ok());
  Put(*log, "three");
  ASSERT_TRUE(log->Close().ok());
  disk.SetContent(kFirst, Changed(kFirst, 64 + 56 + 8 + 20, 1));
  EXPECT_EQ(ReadAll(disk, 0, true).records, (std::vector<std::string>{"one", "three"}));
}

TEST_F(LogReaderTest, LaterVersionsAreRefusedByName) {
  WriteSmall();
  std::string content = disk.Content(kFirst);
  StoreNative<uint32_t>(content.data() + commitlog::kVersionAt, 7);
  disk.SetContent(kFirst, content);
  for (const bool go_on : {false, true}) {
    const ReadLog read = ReadAll(disk, 0, go_on);
    EXPECT_EQ(read.status.ToString(),
              "FAILED_PRECONDITION: data/log-0000-0000000000000001.log: a segment of version 7, "
              "this program reads up to 1");
  }
}

TEST_F(LogReaderTest, AnEndThatWasNotSynchronisedIsCutOff) {
  auto log = *ShardLog::Open(SmallLog(disk, clock, LogMode::kSync));
  Put(*log, "one");
  ASSERT_TRUE(log->Sync().ok());
  Put(*log, "two");
  ASSERT_TRUE(log->Write().ok());
  Put(*log, "three");
  ASSERT_TRUE(log->Write().ok());
  Kill(disk, std::move(log));
  // The second block is lost, the third is not.
  disk.SetContent(kFirst, Changed(kFirst, 64 + 56 + 8 + 56 + 6, 1));
  const ReadLog read = ReadAll(disk);
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records, std::vector<std::string>{"one"});
  EXPECT_EQ(read.end, 8u);
  EXPECT_EQ(read.verdict.torn_bytes, 56u + 8 + 56 + 10);
  EXPECT_NE(read.verdict.torn_text.find("log-0000-0000000000000001.log at offset 128, position 8"),
            std::string::npos)
      << read.verdict.torn_text;
  // The next run goes on there. What was cut off does not come again, whatever is still there.
  commitlog::ShardLogOptions options = SmallLog(disk, clock, LogMode::kSync);
  options.position = read.end;
  log = *ShardLog::Open(options);
  Put(*log, "2");
  Put(*log, "3");
  ASSERT_TRUE(log->Close().ok());
  for (const bool go_on : {false, true}) {
    const ReadLog again = ReadAll(disk, 0, go_on);
    ASSERT_TRUE(again.status.ok()) << again.status;
    EXPECT_EQ(again.records, (std::vector<std::string>{"one", "2", "3"}));
    EXPECT_EQ(again.verdict.torn_bytes, 0u);
  }
  disk.SetContent(kFirst, Changed(kFirst, 64 + 56 + 8 + 56 + 6, 1));  // as it was
  EXPECT_EQ(ReadAll(disk).records, (std::vector<std::string>{"one", "2", "3"}));
}

// A record that was begun when the process was killed, and a later run.
TEST_F(LogReaderTest, ARecordThatWasCutOffIsLeftOut) {
  auto log = *ShardLog::Open(SmallLog(disk, clock, LogMode::kSync));
  Put(*log, "one");
  ASSERT_TRUE(log->Sync().ok());
  int writes = 0;
  disk.fault = [&](SimulatedDisk::Call call, int64_t) {
    return call == SimulatedDisk::Call::kWrite && ++writes > 2 ? -EIO : 0;
  };
  const std::string large(100'000, 'l');
  ASSERT_NE(Put(*log, large), 0u);
  EXPECT_FALSE(log->Write().ok());
  Kill(disk, std::move(log));
  const ReadLog read = ReadAll(disk);
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.records, std::vector<std::string>{"one"});
  EXPECT_GT(read.end, 30'000u);
  commitlog::ShardLogOptions options = SmallLog(disk, clock, LogMode::kSync);
  options.position = read.end;
  log = *ShardLog::Open(options);
  Put(*log, "later");
  ASSERT_TRUE(log->Close().ok());
  const ReadLog again = ReadAll(disk);
  EXPECT_TRUE(again.status.ok()) << again.status;
  EXPECT_EQ(again.records, (std::vector<std::string>{"one", "later"}));
}

// Segment by segment, as a writer makes them that is not ours.
TEST_F(LogReaderTest, RecordsThatNobodyWritesAreDamage) {
  for (const auto& [length, kind] : std::vector<std::pair<uint32_t, char>>{
           {5, 0}, {5, 6}, {0xffffffff, 1}, {(512u << 20) + 1, 1}}) {
    std::string payload(10, 'x');
    StoreNative<uint32_t>(payload.data(), length);
    payload[4] = kind;
    std::string file(commitlog::kSegmentHeaderBytes + commitlog::kBlockHeaderBytes, '\0');
    const commitlog::SegmentName name{0, 1};
    commitlog::EncodeSegmentHeader({name, 1, 0, 0, 1, 99}, file.data());
    commitlog::BlockHeader header{.payload_bytes = 10, .position = 0};
    header.first_record = 0;
    header.records = 1;
    header.payload_checksum = commitlog::PayloadChecksum(payload, 0);
    commitlog::EncodeBlockHeader(header, commitlog::BlockSeed(name, 99),
                                 file.data() + commitlog::kSegmentHeaderBytes);
    disk.SetContent(kFirst, file + payload);
    const ReadLog read = ReadAll(disk);
    EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss) << read.status;
    EXPECT_NE(read.status.message().find(": a record of "), std::string::npos);
    EXPECT_TRUE(ReadAll(disk, 0, true).status.ok());
  }
}

TEST_F(LogReaderTest, EveryCallThatFailsIsAnError) {
  Write();
  const int64_t before = disk.calls();
  ASSERT_TRUE(ReadAll(disk).status.ok());
  const int64_t calls = disk.calls() - before;
  for (int64_t at = 0; at < calls; ++at) {
    const int64_t first = disk.calls();
    disk.fault = [=](SimulatedDisk::Call call, int64_t number) {
      return number == first + at && call != SimulatedDisk::Call::kClose ? -EIO : 0;
    };
    const ReadLog read = ReadAll(disk);
    EXPECT_TRUE(AreSome(read.records, records));
    if (!read.status.ok()) {
      EXPECT_NE(read.status.message().find("Input/output error"), std::string::npos);
    }
    disk.fault = nullptr;
    EXPECT_EQ(disk.open_files(), 0u);
  }
}

}  // namespace log_reader_test
}  // namespace liststore::testing
