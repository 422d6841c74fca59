// A WriteLog that keeps its records in memory, and refuses where a test says so.
#ifndef LISTSTORE_TESTS_SUPPORT_MEMORY_LOG_H_
#define LISTSTORE_TESTS_SUPPORT_MEMORY_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/write_log.h"

namespace liststore::testing {

class MemoryLog final : public commitlog::WriteLog {
 public:
  using Records = std::vector<std::pair<commitlog::RecordKind, std::string>>;

  bool Reserve(size_t bytes) override {
    MutexLock lock(mutex_);
    if (refusing_) return false;
    reserved_ += bytes;
    return true;
  }
  void Unreserve(size_t bytes) override {
    MutexLock lock(mutex_);
    GiveBack(bytes);
  }
  uint64_t Append(commitlog::RecordKind kind, std::string_view record, size_t reserved) override {
    MutexLock lock(mutex_);
    LS_CHECK(record.size() <= reserved, "a record is no longer than what was set aside");
    GiveBack(reserved);
    records_.emplace_back(kind, record);
    return appended_ += record.size() + 5;
  }
  uint64_t AppendEncoded(commitlog::RecordKind kind, size_t reserved,
                         absl::FunctionRef<size_t(char*)> encode) override {
    LS_CHECK(reserved <= commitlog::kEncodedBytesMax, "longer ones are appended");
    std::string record(reserved, '\0');
    record.resize(encode(record.data()));
    return Append(kind, record, reserved);
  }
  uint64_t appended() const override {
    MutexLock lock(mutex_);
    return appended_;
  }
  absl::Status refusal() const override {
    MutexLock lock(mutex_);
    return refusing_ ? absl::ResourceExhaustedError("the log is full") : absl::OkStatus();
  }

  void Refuse(bool refuse) {
    MutexLock lock(mutex_);
    refusing_ = refuse;
  }
  Records records() const {
    MutexLock lock(mutex_);
    return records_;
  }
  // What was set aside and not yet used or given back.
  size_t reserved() const {
    MutexLock lock(mutex_);
    return reserved_;
  }

 private:
  void GiveBack(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    LS_CHECK(bytes <= reserved_, "no more is given back than was set aside");
    reserved_ -= bytes;
  }

  mutable Mutex mutex_;
  Records records_ ABSL_GUARDED_BY(mutex_);
  size_t reserved_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t appended_ ABSL_GUARDED_BY(mutex_) = 0;
  bool refusing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_MEMORY_LOG_H_
