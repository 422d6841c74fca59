// How much memory this process has in use.
#ifndef LISTSTORE_TESTS_SUPPORT_RESIDENT_MEMORY_H_
#define LISTSTORE_TESTS_SUPPORT_RESIDENT_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

namespace liststore::testing {

// The most that was resident since it was made, beyond what was resident then. Linux only; one at a
// time.
class PeakMemory {
 public:
  PeakMemory() {
    // Forgets the peak so far: man proc_pid_clear_refs.
    std::ofstream("/proc/self/clear_refs") << "5";
    begin_ = Peak();
  }
  size_t grown_bytes() const { return Peak() - std::min(begin_, Peak()); }

 private:
  static size_t Peak() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      size_t kibibytes = 0;
      if (word == "VmHWM:" && status >> kibibytes) return kibibytes << 10;
    }
    return 0;
  }

  size_t begin_ = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_RESIDENT_MEMORY_H_
