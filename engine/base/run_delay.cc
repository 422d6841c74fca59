#include "engine/base/run_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace liststore {

std::optional<RunDelay> RunDelay::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  return RunDelay(file);
}

std::optional<RunDelay> RunDelay::OfThisThread() { return Open("/proc/thread-self/schedstat"); }

std::optional<RunDelay> RunDelay::OfBusiestThread(pid_t pid) {
  std::string busiest;
  uint64_t most = 0;
  std::error_code error;
  const std::filesystem::directory_iterator threads(absl::StrCat("/proc/", pid, "/task"), error);
  if (error) return std::nullopt;
  for (const auto& thread : threads) {
    const std::string path = thread.path().string() + "/schedstat";
    uint64_t on_core = 0;
    if (std::ifstream(path) >> on_core && (busiest.empty() || on_core > most)) {
      most = on_core;
      busiest = path;
    }
  }
  return busiest.empty() ? std::nullopt : Open(busiest);
}

RunDelay::~RunDelay() {
  if (file_ >= 0) close(file_);
}

RunDelay::RunDelay(RunDelay&& other) noexcept
    : file_(std::exchange(other.file_, -1)), last_(other.last_) {}

int64_t RunDelay::Nanos() {
  // "nanoseconds on a core, nanoseconds of waiting for one, how often it got one"
  char text[96];
  const ssize_t size = pread(file_, text, sizeof(text) - 1, 0);
  if (size <= 0) return last_;
  text[size] = '\0';
  char* behind = nullptr;
  std::strtoll(text, &behind, 10);
  last_ = std::strtoll(behind, nullptr, 10);
  return last_;
}

}  // namespace liststore
