// What the tests of logs share.
#ifndef LISTSTORE_TESTS_COMMITLOG_LOG_HARNESS_H_
#define LISTSTORE_TESTS_COMMITLOG_LOG_HARNESS_H_

#include <errno.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/commitlog/log_reader.h"
#include "engine/commitlog/shard_log.h"
#include "liststore/clock.h"
#include "tests/support/simulated_disk.h"

namespace liststore::testing {

inline constexpr uint64_t kTestNanos = 1'700'000'000'000'000'000;

// Small ones, so that segments and chunks change often; no thread.
inline commitlog::ShardLogOptions SmallLog(disk::FileCalls& calls, const Clock& clock,
                                           commitlog::LogMode mode) {
  commitlog::ShardLogOptions options;
  options.calls = &calls;
  options.directory = "data";
  options.mode = mode;
  options.segment_bytes = size_t{128} << 10;
  options.chunk_bytes = size_t{32} << 10;
  options.buffer_bytes = size_t{512} << 10;
  options.clock = &clock;
  options.thread = false;
  return options;
}

struct ReadLog {
  absl::Status status;
  std::vector<std::string> records;
  std::vector<uint64_t> ends;
  uint64_t end = 0;
  commitlog::LogVerdict verdict;
};

inline ReadLog ReadAll(disk::FileCalls& calls, uint64_t from = 0, bool go_on = false,
                       const std::string& directory = "data") {
  ReadLog result;
  commitlog::LogReaderOptions options;
  options.calls = &calls;
  options.directory = directory;
  options.from = from;
  options.go_on_behind_damage = go_on;
  commitlog::LogReader reader(options);
  result.status = reader.Open();
  commitlog::LogRecord record;
  while (result.status.ok()) {
    const absl::StatusOr<bool> more = reader.Next(record);
    result.status = more.status();
    if (!more.ok() || !*more) break;
    EXPECT_EQ(record.end - record.begin, record.bytes.size() + 5);
    result.records.emplace_back(record.bytes);
    result.ends.push_back(record.end);
  }
  result.end = reader.end();
  result.verdict = reader.verdict();
  return result;
}

// Reserves and appends; 0 when it is refused.
inline uint64_t Put(commitlog::WriteLog& log, std::string_view record) {
  if (!log.Reserve(record.size())) return 0;
  return log.Append(commitlog::RecordKind::kWrite, record, record.size());
}

// The log's process is killed: nothing of what it would do at its end is done.
inline void Kill(SimulatedDisk& disk, std::unique_ptr<commitlog::ShardLog> log) {
  disk.fault = [](SimulatedDisk::Call, int64_t) { return -EBADF; };
  log.reset();
  disk.fault = nullptr;
  disk.EndProcess();
}

// A record that says which it is, `bytes` long.
inline std::string NumberedRecord(uint64_t number, size_t bytes) {
  std::string record = std::to_string(number) + ":";
  while (record.size() < bytes) record.push_back(static_cast<char>('a' + record.size() % 26));
  return record;
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_COMMITLOG_LOG_HARNESS_H_
