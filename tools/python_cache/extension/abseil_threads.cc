// Two small parts of Abseil again. Distributions compile its static libraries for programs: variables of
// threads in them, and their references to variables of libc, cannot be linked into a module that is
// loaded. Those that the store pulls in are defined here: the linker takes no second definition out of
// the libraries then, and with --wrap=stderr every reference to that is one to ours.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <limits>

#include "absl/base/config.h"
#include "absl/base/internal/sysinfo.h"
#include "absl/strings/internal/cordz_functions.h"

extern "C" {
extern FILE* __real_stderr;
FILE* __wrap_stderr = nullptr;
}

namespace {

[[gnu::constructor]] void TakeStderr() { __wrap_stderr = __real_stderr; }

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

// Samples of Cords for profiles: none is ever taken.
namespace cord_internal {

ABSL_CONST_INIT thread_local int64_t cordz_next_sample = std::numeric_limits<int64_t>::max();

int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(int32_t) {}
void cordz_set_next_sample_for_testing(int64_t next_sample) { cordz_next_sample = next_sample; }
bool cordz_should_profile_slow() {
  cordz_next_sample = std::numeric_limits<int64_t>::max();
  return false;
}

}  // namespace cord_internal

namespace base_internal {

int NumCPUs() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}
// Of cycle clocks, which nothing here reads.
double NominalCPUFrequency() { return 1.0; }
pid_t GetTID() { return static_cast<pid_t>(syscall(SYS_gettid)); }
pid_t GetCachedTID() {
  static thread_local const pid_t thread_id = GetTID();
  return thread_id;
}

}  // namespace base_internal

ABSL_NAMESPACE_END
}  // namespace absl
