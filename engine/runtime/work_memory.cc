#include "engine/runtime/work_memory.h"

#include <algorithm>

#include "engine/base/check.h"

namespace liststore::runtime {

uint64_t WorkMemory::Take(uint64_t bytes) {
  const uint64_t wanted = std::min(bytes, bytes_);
  const MutexLock lock(mutex_);
  const uint64_t place = came_++;
  while (place != let_in_ || wanted > bytes_ - taken_) changed_.wait(mutex_);
  ++let_in_;
  taken_ += wanted;
  changed_.notify_all();  // the next one may fit as well
  return wanted;
}

void WorkMemory::Give(uint64_t bytes) {
  if (on_given_) on_given_(bytes);
  const MutexLock lock(mutex_);
  LS_CHECK(bytes <= taken_, "what is given was taken");
  taken_ -= bytes;
  changed_.notify_all();
}

}  // namespace liststore::runtime
