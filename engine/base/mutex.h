// std::mutex with the annotations of Clang's thread-safety analysis. Debian's absl::Mutex is built
// without sanitizer hooks, so that ThreadSanitizer reports races around it that are none; this
// wrapper is seen correctly. Outside the data path only (start, stop, catalog changes, page pool).
#ifndef LISTSTORE_ENGINE_BASE_MUTEX_H_
#define LISTSTORE_ENGINE_BASE_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace liststore {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mutex_.try_lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // For std::condition_variable_any, which wants a BasicLockable.
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_MUTEX_H_
