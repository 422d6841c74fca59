// Running writes of a cache, by list: decides whether a write may change the copy too.
//
// Two writes of a list that overlap reach the source in an unknown order, and might reach the copy
// in another. So neither is applied to the copy, and each drops the copy at its end. Only a write
// that was alone from its beginning until it is applied may change the copy.
#ifndef LISTSTORE_ENGINE_LISTS_WRITES_UNDER_WAY_H_
#define LISTSTORE_ENGINE_LISTS_WRITES_UNDER_WAY_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "engine/base/mutex.h"

namespace liststore {

// Any thread. Takes no memory but the writes' own, which are as many as threads that write.
class WritesUnderWay {
 public:
  class Write;

 private:
  struct Part {
    Mutex mutex;
    std::condition_variable_any applied;
    Write* first ABSL_GUARDED_BY(mutex) = nullptr;  // of those that run
  };

 public:
  // One write, from before the source is changed until the copy has been changed or dropped. Used
  // by one thread.
  class Write {
   public:
    Write(WritesUnderWay& writes, std::string_view partition_key);
    ~Write();
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;

    // Whether it was alone so far. If so, the caller changes the copy and then calls EndApply;
    // writes that begin meanwhile wait before they touch the copy.
    bool BeginApply();
    void EndApply();
    // Waits until no other write is being applied; none will be as long as this one runs. Does not
    // wait for a write that the calling thread itself applies, whose eviction listener calls this:
    // its change is done.
    void WaitForOthers();

   private:
    // Another thread applies a write of this list.
    bool IsAppliedElsewhere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(part_.mutex);

    Part& part_;
    const std::string partition_key_;
    // Under the mutex of the part.
    Write* next_ = nullptr;
    Write* previous_ = nullptr;
    bool overlapped_ = false;  // another of the list ran while this one did
    std::thread::id applying_;
  };

 private:
  static constexpr size_t kParts = 16;
  std::array<Part, kParts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_WRITES_UNDER_WAY_H_
