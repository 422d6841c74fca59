// TruncationLog: tells a copy of all lists, made in slices, which features were deleted in between.
#ifndef LISTSTORE_ENGINE_LISTS_TRUNCATION_LOG_H_
#define LISTSTORE_ENGINE_LISTS_TRUNCATION_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/mutex.h"

namespace liststore {

// A copy that takes some seconds may contain lists of a feature that is deleted meanwhile, and of a
// new feature of the same name. The order tells them apart: a deletion happens wholly between two
// slices, and the copy records it there.
//
// Any thread. A mutex excludes truncations and slices from each other; its holder takes lanes, and
// no lane's holder takes it. Slices follow each other without a pause, so a truncation announces
// itself, and the next slice waits for it.
class TruncationLog {
 public:
  // As long as a Reader exists, truncations are recorded for it. Used by one thread.
  class Reader {
   public:
    explicit Reader(TruncationLog& log) : log_(log) {
      const MutexLock lock(log_.mutex_);
      ++log_.readers_;
      next_ = log_.components_.size();
    }
    ~Reader() {
      const MutexLock lock(log_.mutex_);
      LS_DCHECK(log_.readers_ > 0, "a reader counts until it ends");
      if (--log_.readers_ == 0) log_.components_.clear();
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Appends the components that were truncated since the last call to `components`, then runs
    // `work`. No truncation begins or ends meanwhile.
    template <typename Work>
    void Between(std::vector<std::string>& components, Work&& work) {
      while (log_.waiting_.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
      const MutexLock lock(log_.mutex_);
      for (; next_ < log_.components_.size(); ++next_) {
        components.push_back(log_.components_[next_]);
      }
      work();
    }

   private:
    TruncationLog& log_;
    size_t next_ = 0;
  };

  TruncationLog() = default;
  TruncationLog(const TruncationLog&) = delete;
  TruncationLog& operator=(const TruncationLog&) = delete;

  // Runs `truncate`, which hides the lists of `component`.
  template <typename Truncation>
  void Truncate(std::string_view component, Truncation&& truncate) {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (readers_ > 0) components_.emplace_back(component);
    truncate();
  }

 private:
  std::atomic<uint32_t> waiting_{0};
  Mutex mutex_;
  size_t readers_ ABSL_GUARDED_BY(mutex_) = 0;
  // Since the first of the present readers was made.
  std::vector<std::string> components_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_TRUNCATION_LOG_H_
