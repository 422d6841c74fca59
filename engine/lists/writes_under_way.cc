#include "engine/lists/writes_under_way.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"

namespace liststore {

WritesUnderWay::Write::Write(WritesUnderWay& writes, std::string_view partition_key)
    : part_(writes.parts_[Hash64(partition_key) % kParts]), partition_key_(partition_key) {
  const MutexLock lock(part_.mutex);
  Entry& entry = part_.entries[partition_key_];
  entry.overlapped |= ++entry.writes > 1;
}

WritesUnderWay::Write::~Write() {
  const MutexLock lock(part_.mutex);
  const auto at = part_.entries.find(partition_key_);
  LS_CHECK(at != part_.entries.end(), "a change under way has an entry");
  if (--at->second.writes == 0) part_.entries.erase(at);
}

bool WritesUnderWay::Write::BeginApply() {
  const MutexLock lock(part_.mutex);
  Entry& entry = part_.entries[partition_key_];
  if (entry.overlapped) return false;
  entry.applying = std::this_thread::get_id();
  return true;
}

void WritesUnderWay::Write::EndApply() {
  const MutexLock lock(part_.mutex);
  part_.entries[partition_key_].applying = {};
  part_.applied.notify_all();
}

void WritesUnderWay::Write::WaitForOthers() {
  const MutexLock lock(part_.mutex);
  for (;;) {
    const std::thread::id applying = part_.entries[partition_key_].applying;
    if (applying == std::thread::id() || applying == std::this_thread::get_id()) return;
    part_.applied.wait(part_.mutex);
  }
}

}  // namespace liststore
