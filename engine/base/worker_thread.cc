#include "engine/base/worker_thread.h"

#include <pthread.h>
#include <signal.h>

#include <new>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace liststore {
namespace {

// With the terminating zero.
constexpr size_t kThreadNameBytesMax = 16;

absl::Status Refused(const std::string& name, const char* reason) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the system refuses the thread '", name, "': ", reason,
                   "; it limits threads, processes or address space (ulimit -u, ulimit -v, "
                   "pids.max of the control group)"));
}

}  // namespace

absl::StatusOr<std::thread> StartThread(const std::string& name, std::function<void()> work) {
  std::string shown = name.substr(0, kThreadNameBytesMax - 1);
  // A thread begins with the mask of the one that starts it.
  sigset_t all, before;
  sigfillset(&all);
  // What a thread does itself is told to it, and blocked it would end the process unheard.
  for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::StatusOr<std::thread> thread = std::thread();
  // The standard library says by an exception that the system refuses.
  try {
    thread = std::thread([shown = std::move(shown), work = std::move(work)] {
      pthread_setname_np(pthread_self(), shown.c_str());
      work();
    });
  } catch (const std::system_error& error) {
    thread = Refused(name, error.what());
  } catch (const std::bad_alloc& error) {
    thread = Refused(name, error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace liststore
