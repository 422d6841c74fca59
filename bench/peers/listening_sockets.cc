#include "bench/peers/listening_sockets.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "engine/base/loopback_congestion.h"

namespace liststore {
namespace {

bool IsListening(int fd) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

}  // namespace

int UseLoopbackCongestionIn(pid_t server) {
  // glibc has no functions for the two before 2.36.
  const int process = static_cast<int>(syscall(SYS_pidfd_open, server, 0));
  if (process < 0) return 0;
  int done = 0;
  std::error_code error;
  const std::string folder = absl::StrCat("/proc/", server, "/fd");
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    const int copy = static_cast<int>(syscall(SYS_pidfd_getfd, process, number, 0));
    if (copy < 0) continue;
    if (IsListening(copy) && UseLoopbackCongestionOfAccepted(copy)) ++done;
    close(copy);
  }
  close(process);
  return done;
}

}  // namespace liststore
