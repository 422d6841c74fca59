#include "tools/console/terminal_input.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace liststore {
namespace {

// What a terminal takes of a line. Source: termios(3).
constexpr size_t kTypedLineMax = 4096;

volatile sig_atomic_t was_interrupted = 0;

}  // namespace

InterruptWatch::InterruptWatch() {
  was_interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { was_interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigaction(SIGINT, &action, &before_);
}

InterruptWatch::~InterruptWatch() { ::sigaction(SIGINT, &before_, nullptr); }

bool InterruptWatch::interrupted() { return was_interrupted != 0; }

size_t PendingBytes() {
  int bytes = 0;
  return ::ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

std::optional<std::string> AwaitTypedLine() {
  // The signal is let in while it waits alone, so that none comes between the look at the flag and the wait.
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  pollfd typed = {STDIN_FILENO, POLLIN, 0};
  while (was_interrupted == 0 && ::ppoll(&typed, 1, nullptr, &before) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (was_interrupted != 0) return std::nullopt;
  std::string line(kTypedLineMax, '\0');
  const ssize_t count = ::read(STDIN_FILENO, line.data(), line.size());
  if (count <= 0) return std::nullopt;
  line.resize(static_cast<size_t>(count));
  if (line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace liststore
