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
  // The same where it says something: a sanitizer keeps what was freed, and more than there was
  // beside it, so that 0 is all that can be said.
  size_t judged_bytes() const { return kIsSanitized ? 0 : grown_bytes(); }
  static constexpr bool Judges() { return !kIsSanitized; }
  // What is resident now, of all; 0 under a sanitizer.
  static size_t judged_now_bytes() { return kIsSanitized ? 0 : Read("VmRSS:"); }

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
  static constexpr bool kIsSanitized =
      __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  static constexpr bool kIsSanitized = false;
#endif

  static size_t Peak() { return Read("VmHWM:"); }
  static size_t Read(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      size_t kibibytes = 0;
      if (word == name && status >> kibibytes) return kibibytes << 10;
    }
    return 0;
  }

  size_t begin_ = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_RESIDENT_MEMORY_H_
