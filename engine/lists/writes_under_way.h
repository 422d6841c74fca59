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

#include "absl/container/flat_hash_map.h"
#include "engine/base/mutex.h"

namespace liststore {

// Any thread.
class WritesUnderWay {
 private:
  struct Entry {
    size_t writes = 0;
    bool overlapped = false;  // two ran at once, and one of them still runs
    std::thread::id applying;
  };
  struct Part {
    Mutex mutex;
    std::condition_variable_any applied;
    absl::flat_hash_map<std::string, Entry> entries ABSL_GUARDED_BY(mutex);
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
    Part& part_;
    const std::string partition_key_;
  };

 private:
  static constexpr size_t kParts = 16;
  std::array<Part, kParts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_WRITES_UNDER_WAY_H_
