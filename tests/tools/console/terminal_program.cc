#include "tests/tools/console/terminal_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace {

constexpr int kPatienceMs = 30'000;

// Without the sequences that move the cursor and set modes, and without carriage returns. What is cut in the middle of
// one stays.
std::string Plain(std::string_view shown) {
  std::string text;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '\x1b' && i + 1 < shown.size() && shown[i + 1] == '[') {
      i += 2;
      while (i < shown.size() && (shown[i] < 0x40 || shown[i] > 0x7e)) ++i;
    } else if (shown[i] != '\r') {
      text += shown[i];
    }
  }
  return text;
}

}  // namespace

TerminalProgram::TerminalProgram(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment) {
  terminal_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  LS_CHECK(terminal_ >= 0 && ::grantpt(terminal_) == 0 && ::unlockpt(terminal_) == 0,
           "a pseudo-terminal can be made");
  const std::string name = ::ptsname(terminal_);
  // All that allocates is done before the fork.
  std::string program = LISTSTORE_PROGRAM;
  std::vector<char*> argv = {program.data()};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> given = {"TERM=xterm", "NO_COLOR=1", "LC_ALL=C.UTF-8"};
  for (const std::string& variable : environment) {
    const std::string begin = variable.substr(0, variable.find('=') + 1);
    std::erase_if(given, [&](const std::string& other) { return other.starts_with(begin); });
    given.push_back(variable);
  }
  std::vector<std::string> variables = ProgramEnvironment(given);
  std::vector<char*> env;
  for (std::string& variable : variables) env.push_back(variable.data());
  env.push_back(nullptr);
  pid_ = ::fork();
  LS_CHECK(pid_ >= 0, "a process can be made");
  if (pid_ == 0) {
    ::setsid();
    const int side = ::open(name.c_str(), O_RDWR);
    winsize size = {};
    size.ws_row = 24;
    size.ws_col = 80;
    ::ioctl(side, TIOCSCTTY, 0);
    ::ioctl(side, TIOCSWINSZ, &size);
    for (int fd = 0; fd <= 2; ++fd) ::dup2(side, fd);
    if (side > 2) ::close(side);
    ::execve(argv[0], argv.data(), env.data());
    ::_exit(127);
  }
}

TerminalProgram::~TerminalProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(terminal_);
}

void TerminalProgram::Type(std::string_view keys) const {
  EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

bool TerminalProgram::ReadMore() {
  pollfd ready = {terminal_, POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMs) != 1) return false;
  char bytes[4096];
  // At the end of the other side's last process it is EIO.
  const ssize_t count = ::read(terminal_, bytes, sizeof(bytes));
  if (count <= 0) return false;
  shown_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::string TerminalProgram::Until(std::string_view text) {
  while (true) {
    const std::string plain = Plain(shown_);
    if (const size_t at = plain.find(text); at != std::string::npos) {
      shown_ = plain.substr(at + text.size());
      return plain.substr(0, at + text.size());
    }
    if (!ReadMore()) {
      ADD_FAILURE() << "'" << text << "' is not shown, but:\n" << plain;
      return plain;
    }
  }
}

std::string TerminalProgram::UntilTheEnd() {
  while (ReadMore()) {
  }
  int status = 0;
  for (int waited_ms = 0; ::waitpid(pid_, &status, WNOHANG) == 0; waited_ms += 10) {
    if (waited_ms > kPatienceMs) {
      ADD_FAILURE() << "it does not end, and shows:\n" << Plain(shown_);
      return Plain(shown_);
    }
    ::usleep(10'000);
  }
  pid_ = -1;
  exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return Plain(shown_);
}

}  // namespace liststore::testing
