// A commit log as it comes from somewhere: the reader answers, what it hands on is in order, and told
// to go on it comes to the end. The first byte says what the rest is: 0, a segment; 1, the bytes of the
// log, in a segment with sound checksums, which a fuzzer cannot find by itself; 2, the same in blocks
// and segments of sizes and positions that the rest says; 3, a segment behind a sound one.
#include <errno.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/commitlog/log_format.h"
#include "engine/commitlog/log_reader.h"
#include "engine/disk/file_calls.h"

namespace liststore {
namespace {

// Files in memory that can be read and listed.
class Files final : public disk::FileCalls {
 public:
  int Open(const std::string& path, OpenFor purpose) override {
    const auto found = files.find(path.substr(path.rfind('/') + 1));
    if (purpose != OpenFor::kReading || found == files.end()) return -ENOENT;
    open_[++descriptors_] = &found->second;
    return descriptors_;
  }
  int Close(int file) override { return open_.erase(file) == 1 ? 0 : -EBADF; }
  int64_t ReadAt(int file, char* to, size_t bytes, uint64_t offset) override {
    const std::string& content = *open_.at(file);
    if (offset >= content.size()) return 0;
    return static_cast<int64_t>(content.copy(to, bytes, offset));
  }
  int64_t Size(int file) override { return static_cast<int64_t>(open_.at(file)->size()); }
  int List(const std::string&, std::vector<std::string>& names) override {
    for (const auto& [name, content] : files) names.push_back(name);
    return 0;
  }
  int64_t Read(int, char*, size_t) override { return -EROFS; }
  int64_t Write(int, const char*, size_t) override { return -EROFS; }
  int64_t WriteAt(int, const char*, size_t, uint64_t) override { return -EROFS; }
  int Empty(int) override { return -EROFS; }
  int Cut(int, uint64_t) override { return -EROFS; }
  int Allocate(int, uint64_t) override { return -EROFS; }
  int Sync(int) override { return -EROFS; }
  int SyncData(int) override { return -EROFS; }
  int Lock(int) override { return -EROFS; }
  int IsAt(int, const std::string&) override { return -EROFS; }
  int Rename(const std::string&, const std::string&) override { return -EROFS; }
  int Remove(const std::string&) override { return -EROFS; }

  std::map<std::string, std::string> files;

 private:
  std::map<int, const std::string*> open_;
  int descriptors_ = 0;
};

constexpr uint64_t kSalt = 99;

// A segment with sound checksums, block by block.
class SegmentBuilder {
 public:
  SegmentBuilder(uint64_t number, uint64_t position, uint64_t first_of_run)
      : name_{0, number}, content_(commitlog::kSegmentHeaderBytes, '\0') {
    commitlog::EncodeSegmentHeader({name_, 1, position, 0, first_of_run, kSalt}, content_.data());
  }
  void Add(uint64_t position, std::string_view payload, uint64_t synced, bool begins) {
    commitlog::BlockHeader header;
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    header.position = position;
    header.synced = synced;
    header.records = begins && !payload.empty() ? 1 : 0;
    header.first_record = header.records == 1 ? 0 : commitlog::kNoRecord;
    header.payload_checksum = commitlog::PayloadChecksum(payload, position);
    content_.resize(content_.size() + commitlog::kBlockHeaderBytes);
    commitlog::EncodeBlockHeader(header, commitlog::BlockSeed(name_, kSalt),
                                 content_.data() + content_.size() - commitlog::kBlockHeaderBytes);
    content_.append(payload);
  }
  void AddTo(Files& files) { files.files[commitlog::SegmentFileName(name_)] = content_; }

 private:
  commitlog::SegmentName name_;
  std::string content_;
};

void Read(Files& files, bool go_on) {
  commitlog::LogReaderOptions options;
  options.calls = &files;
  options.directory = "d";
  options.go_on_behind_damage = go_on;
  commitlog::LogReader reader(options);
  absl::Status status = reader.Open();
  commitlog::LogRecord record;
  uint64_t last = 0;
  while (status.ok()) {
    const absl::StatusOr<bool> more = reader.Next(record);
    status = more.status();
    if (!status.ok() || !*more) break;
    LS_CHECK(record.begin >= last && record.end == record.begin + 5 + record.bytes.size(),
             "records are in order, and none comes twice");
    LS_CHECK(record.kind >= commitlog::RecordKind::kWrite &&
                 static_cast<uint8_t>(record.kind) <= commitlog::kRecordKindMax,
             "a kind is known");
    last = record.end;
  }
  LS_CHECK(reader.end() >= last, "a log ends behind its records");
  LS_CHECK(!go_on || status.code() != absl::StatusCode::kDataLoss, "it goes on behind damage");
  LS_CHECK(status.ok() || !status.message().empty(), "a refusal says why");
}

// Four bytes for each piece: its length, how far back it begins, a new segment or run, what it says.
void BuildPieces(std::string_view rest, Files& files) {
  uint64_t number = 1;
  uint64_t first_of_run = 1;
  uint64_t position = 0;
  SegmentBuilder segment(number, position, first_of_run);
  while (rest.size() >= 4) {
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(rest[at]); };
    const size_t length = std::min<size_t>(byte(0), rest.size() - 4);
    position -= std::min<uint64_t>(position, byte(1) % 32);
    if (byte(2) % 4 == 0) {
      segment.AddTo(files);
      ++number;
      if (byte(2) % 8 == 0) first_of_run = number;
      segment = SegmentBuilder(number, position, first_of_run);
    }
    const std::string_view payload = rest.substr(4, length);
    segment.Add(position + byte(3) / 250, payload, byte(3) % 4 == 0 ? position : 0,
                byte(3) % 2 == 0);
    position += length;
    rest.remove_prefix(4 + length);
  }
  segment.AddTo(files);
}

}  // namespace
}  // namespace liststore

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  Files files;
  if (data[0] % 4 == 0) {
    files.files["log-0000-0000000000000001.log"] = std::string(rest);
  } else if (data[0] % 4 == 2) {
    BuildPieces(rest, files);
  } else {
    const bool all = data[0] % 4 == 1;
    SegmentBuilder segment(1, 0, 1);
    segment.Add(
        0, all ? rest.substr(0, commitlog::kBlockPayloadMax) : std::string_view("\3\0\0\0\1abc", 8),
        0, true);
    segment.AddTo(files);
    if (!all) files.files["log-0000-0000000000000002.log"] = std::string(rest);
  }
  Read(files, false);
  Read(files, true);
  return 0;
}
