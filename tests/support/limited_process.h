// A part of a test in a process of its own to which the machine refuses something.
#ifndef LISTSTORE_TESTS_SUPPORT_LIMITED_PROCESS_H_
#define LISTSTORE_TESTS_SUPPORT_LIMITED_PROCESS_H_

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "absl/base/config.h"
#include "absl/functional/function_ref.h"

namespace liststore::testing {

// Sanitizers need address space of their own, and more of it than can be foretold.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
inline constexpr bool kAddressSpaceCanBeLimited = false;
#else
inline constexpr bool kAddressSpaceCanBeLimited = true;
#endif

// UBSan finds out by a pipe whether an object may be looked at, and takes one for wrong where there is no
// descriptor for that.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
inline constexpr bool kAllDescriptorsCanBeRefused = false;
#else
inline constexpr bool kAllDescriptorsCanBeRefused = true;
#endif

// Of a thread in RunWithAddressSpace: above what the C library keeps of threads that have ended.
inline constexpr size_t kLimitedStackBytes = size_t{64} << 20;

// Lets this process have `bytes` of address space more than it has.
inline bool LimitAddressSpace(uint64_t bytes) {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return false;
  unsigned long pages = 0;
  const bool read = std::fscanf(file, "%lu", &pages) == 1;
  std::fclose(file);
  const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  rlimit limits{};
  if (!read || getrlimit(RLIMIT_AS, &limits) != 0) return false;
  limits.rlim_cur = limit;
  return setrlimit(RLIMIT_AS, &limits) == 0;
}

// Runs `part` in a child. What it returns, below 100; 100: the child could not be made so; 128 and
// more: it ended by that signal. Called where there are no other threads.
inline int RunInProcess(absl::FunctionRef<int()> part) {
  const pid_t child = fork();
  if (child == 0) _exit(part());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 100;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The same with `bytes` of address space to spare.
inline int RunWithAddressSpace(uint64_t bytes, absl::FunctionRef<int()> part) {
  return RunInProcess([&] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kLimitedStackBytes);
    const bool made = pthread_setattr_default_np(&attributes) == 0 && LimitAddressSpace(bytes);
    return made ? part() : 100;
  });
}

// Sets this process a limit of its own, up to the one it cannot pass.
inline bool SetLimit(int which, rlim_t value) {
  rlimit limits{};
  if (getrlimit(static_cast<__rlimit_resource_t>(which), &limits) != 0) return false;
  limits.rlim_cur = value;
  return setrlimit(static_cast<__rlimit_resource_t>(which), &limits) == 0;
}

// Lets this process have `count` descriptors more than it has.
inline bool LimitDescriptors(int count) {
  const int next = dup(STDERR_FILENO);
  if (next < 0) return false;
  close(next);
  return SetLimit(RLIMIT_NOFILE, static_cast<rlim_t>(next + count));
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_LIMITED_PROCESS_H_
