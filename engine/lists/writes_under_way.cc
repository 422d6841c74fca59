#include "engine/lists/writes_under_way.h"

#include "engine/base/hash.h"

namespace liststore {

WritesUnderWay::Write::Write(WritesUnderWay& writes, std::string_view partition_key)
    : part_(writes.parts_[Hash64(partition_key) % kParts]), partition_key_(partition_key) {
  const MutexLock lock(part_.mutex);
  for (Write* other = part_.first; other != nullptr; other = other->next_) {
    if (other->partition_key_ == partition_key_) overlapped_ = other->overlapped_ = true;
  }
  next_ = part_.first;
  if (next_ != nullptr) next_->previous_ = this;
  part_.first = this;
}

WritesUnderWay::Write::~Write() {
  const MutexLock lock(part_.mutex);
  (previous_ != nullptr ? previous_->next_ : part_.first) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

bool WritesUnderWay::Write::BeginApply() {
  const MutexLock lock(part_.mutex);
  if (overlapped_) return false;
  applying_ = std::this_thread::get_id();
  return true;
}

void WritesUnderWay::Write::EndApply() {
  const MutexLock lock(part_.mutex);
  applying_ = {};
  part_.applied.notify_all();
}

void WritesUnderWay::Write::WaitForOthers() {
  const MutexLock lock(part_.mutex);
  while (IsAppliedElsewhere()) part_.applied.wait(part_.mutex);
}

bool WritesUnderWay::Write::IsAppliedElsewhere() const {
  for (const Write* write = part_.first; write != nullptr; write = write->next_) {
    if (write->partition_key_ == partition_key_ && write->applying_ != std::thread::id() &&
        write->applying_ != std::this_thread::get_id()) {
      return true;
    }
  }
  return false;
}

}  // namespace liststore
