#include "bench/peers/redis_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "bench/load/server_process.h"
#include "bench/peers/redis_client.h"

extern char** environ;

namespace liststore {
namespace {

// 0: there is none.
uint16_t FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return 0;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool is_bound = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(probe);
  return is_bound ? ntohs(address.sin_port) : uint16_t{0};
}

// It stays to be waited for.
bool HasEnded(pid_t pid) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid != 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RedisProcess>> RedisProcess::Start(int core,
                                                                  const std::string& program) {
  const uint16_t port = FreePort();
  if (port == 0) return absl::UnavailableError("127.0.0.1 has no free port");
  const std::string port_text = absl::StrCat(port);
  const char* const arguments[] = {
      program.c_str(), "--port", port_text.c_str(), "--bind", "127.0.0.1", "--save", "",
      "--appendonly",  "no",     "--daemonize",     "no",     "--dir",     "/tmp",   nullptr};
  // What is started has the affinity of the thread that starts it.
  cpu_set_t before;
  CPU_ZERO(&before);
  sched_getaffinity(0, sizeof(before), &before);
  PinToCore(core);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr,
                                 const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  sched_setaffinity(0, sizeof(before), &before);
  if (error == ENOENT) return absl::NotFoundError(absl::StrCat("there is no ", program));
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot start ", program, ": ", strerror(error)));
  }
  std::unique_ptr<RedisProcess> process(new RedisProcess(pid, port));
  constexpr int kTriesMax = 1'000;
  for (int tries = 0; tries < kTriesMax && !HasEnded(pid); ++tries) {
    if (RedisClient::Connect(port).ok()) return process;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return absl::UnavailableError(absl::StrCat(program, " does not answer on port ", port));
}

RedisProcess::~RedisProcess() {
  kill(pid_, SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace liststore
