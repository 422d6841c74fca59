// Changes under way through a cache, by list: whether one may be made to the copy as well.
//
// Two changes of a list that overlap reach the source in an order that nobody here knows, and would
// reach the copy in another. So none of them is applied to the copy, and each, at its end, lets the
// copy go. Only a change that was alone from its beginning until it is applied is applied.
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
    bool overlapped = false;  // there were two at once, and one of them is still under way
    std::thread::id applying;
  };
  struct Part {
    Mutex mutex;
    std::condition_variable_any applied;
    absl::flat_hash_map<std::string, Entry> entries ABSL_GUARDED_BY(mutex);
  };

 public:
  // One change, from before the source is asked until the copy has been seen to. Used by one
  // thread.
  class Write {
   public:
    Write(WritesUnderWay& writes, std::string_view partition_key);
    ~Write();
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;

    // Whether it has been alone so far. If so the copy is changed now, and then EndApply called;
    // others that begin meanwhile wait with what they do to the copy.
    bool BeginApply();
    void EndApply();
    // Until no other change is being applied: none will be while this one is under way. One that
    // the calling thread itself applies, by whose eviction listener it was called, has done its
    // work.
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
