// How long a thread that was ready has waited for its core, as the kernel counts it.
#ifndef LISTSTORE_ENGINE_BASE_RUN_DELAY_H_
#define LISTSTORE_ENGINE_BASE_RUN_DELAY_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace liststore {

// Of one thread, which may be another process'. What a host takes from a virtual machine is not
// seen. Thread-compatible. Reading costs two system calls' worth, 1 to 2 us.
class RunDelay {
 public:
  // nullopt: the kernel does not tell (schedstat), or there is no such process.
  static std::optional<RunDelay> OfThisThread();
  // The thread of a process that has had a core for the longest time: the loop of a server.
  static std::optional<RunDelay> OfBusiestThread(pid_t pid);

  ~RunDelay();
  RunDelay(RunDelay&& other) noexcept;
  RunDelay& operator=(RunDelay&&) = delete;
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  // Nanoseconds since the thread began; those of a wait are added when it ends. As the last time
  // when the thread has ended.
  int64_t Nanos();

 private:
  explicit RunDelay(int file) : file_(file) {}
  static std::optional<RunDelay> Open(const std::string& path);

  int file_;
  int64_t last_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_RUN_DELAY_H_
