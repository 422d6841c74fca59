#include "bench/measure/machine.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "absl/base/config.h"
#include "liststore/version.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

// What stands behind the colon of the first line that begins with `key`.
std::string Field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
    if (at != std::string::npos) return line.substr(at);
  }
  return "unknown";
}

std::string HugePages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string word; file >> word;) {
    if (word.size() > 2 && word.front() == '[') return word.substr(1, word.size() - 2);
  }
  return "unknown";
}

std::string Compiler() {
#if defined(__clang__)
  std::string text = "clang " __clang_version__;
#else
  std::string text = "g++ " __VERSION__;
#endif
#ifdef __OPTIMIZE__
  text += " optimised";
#else
  text += " not optimised";
#endif
#ifdef NDEBUG
  text += " -DNDEBUG";
#else
  text += ", assertions on";
#endif
#if defined(__AVX2__)
  text += " with AVX2";
#elif defined(__SSE4_1__)
  text += " with SSE4.1";
#endif
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  text += " under sanitizers";
#endif
  return text;
}

}  // namespace

MachineFacts ReadMachineFacts() {
  MachineFacts facts;
  facts.cpu = Field("/proc/cpuinfo", "model name");
  facts.cores = std::thread::hardware_concurrency();
  facts.memory_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  utsname system = {};
  if (::uname(&system) == 0) {
    facts.kernel = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  facts.huge_pages = HugePages();
  facts.compiler = Compiler();
  facts.version = kVersion;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  facts.date = UtcTime(static_cast<uint64_t>(seconds) * 1'000'000'000);
  return facts;
}

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

RunQueueWait::RunQueueWait() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

RunQueueWait::~RunQueueWait() {
  if (file_ >= 0) ::close(file_);
}

uint64_t RunQueueWait::Nanos() const {
  // "<ns on a core> <ns ready without one> <time slices>"
  char text[96];
  const ssize_t length = file_ < 0 ? 0 : ::pread(file_, text, sizeof(text) - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  char* end = nullptr;
  std::strtoull(text, &end, 10);
  return std::strtoull(end, nullptr, 10);
}

}  // namespace liststore
