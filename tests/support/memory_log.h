// MemoryLog: a commit log that keeps its records, for tests of who writes them and who reads them.
#ifndef LISTSTORE_TESTS_SUPPORT_MEMORY_LOG_H_
#define LISTSTORE_TESTS_SUPPORT_MEMORY_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/check.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/record_source.h"
#include "engine/commitlog/write_log.h"
#include "engine/shard/replay.h"

namespace liststore::testing {

class MemoryLog final : public commitlog::WriteLog {
 public:
  struct Kept {
    commitlog::RecordKind kind;
    std::string bytes;
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  ~MemoryLog() override { LS_CHECK(reserved_ == 0, "what was reserved was used, or given back"); }

  // From now on it refuses what would make it longer than so many bytes.
  void set_room(uint64_t bytes) {
    const MutexLock lock(mutex_);
    room_ = bytes;
  }
  uint64_t reserved() {
    const MutexLock lock(mutex_);
    return reserved_;
  }
  std::deque<Kept>& records() { return records_; }

  bool Reserve(size_t bytes) override {
    const MutexLock lock(mutex_);
    if (position_ + reserved_ + bytes > room_) return false;
    reserved_ += bytes;
    return true;
  }
  void Unreserve(size_t bytes) override {
    const MutexLock lock(mutex_);
    LS_CHECK(bytes <= reserved_, "nobody gives back what is not reserved");
    reserved_ -= bytes;
  }
  uint64_t Append(commitlog::RecordKind kind, std::string_view record, size_t reserved) override {
    LS_CHECK(record.size() <= reserved, "a record fits what was reserved");
    Unreserve(reserved);
    const MutexLock lock(mutex_);
    const uint64_t begin = position_;
    position_ += record.size() + 5;
    records_.push_back({kind, std::string(record), begin, position_});
    return position_;
  }
  uint64_t AppendEncoded(commitlog::RecordKind kind, size_t reserved,
                         absl::FunctionRef<size_t(char*)> encode) override {
    std::string record(reserved, '\0');
    record.resize(encode(record.data()));
    return Append(kind, record, reserved);
  }
  uint64_t appended() const override {
    const MutexLock lock(mutex_);
    return position_;
  }
  absl::Status refusal() const override {
    const MutexLock lock(mutex_);
    if (position_ + reserved_ < room_) return absl::OkStatus();
    return absl::ResourceExhaustedError("/data/log: the disk is full");
  }

  // Its records from `from` on, the first `count` of all. The log outlives the source.
  std::unique_ptr<commitlog::RecordSource> Read(uint64_t from = 0, size_t count = SIZE_MAX) {
    return std::make_unique<Source>(records_, from, count);
  }
  // As a log of this shard that is replayed.
  shard::ReplayedLog AsShard(uint32_t shard, uint64_t from = 0, size_t count = SIZE_MAX) {
    return {shard, [this, from, count] {
              return absl::StatusOr<std::unique_ptr<commitlog::RecordSource>>(Read(from, count));
            }};
  }

 private:
  class Source final : public commitlog::RecordSource {
   public:
    Source(const std::deque<Kept>& records, uint64_t from, size_t count)
        : records_(records), from_(from), count_(std::min(count, records.size())) {}
    absl::StatusOr<bool> Next(commitlog::LogRecord& record) override {
      while (at_ < count_ && records_[at_].begin < from_) ++at_;
      if (at_ == count_) return false;
      const Kept& kept = records_[at_++];
      bytes_ = kept.bytes;  // as others, it is gone with the next
      record = {kept.kind, bytes_, kept.begin, kept.end, 0};
      return true;
    }

   private:
    const std::deque<Kept>& records_;
    const uint64_t from_;
    const size_t count_;
    size_t at_ = 0;
    std::string bytes_;
  };

  mutable Mutex mutex_;
  uint64_t room_ = UINT64_MAX;
  uint64_t reserved_ = 0;
  uint64_t position_ = 0;
  std::deque<Kept> records_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_MEMORY_LOG_H_
