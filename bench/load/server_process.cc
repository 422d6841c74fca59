#include "bench/load/server_process.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

extern char** environ;

namespace liststore {
namespace {

// What the server says when clients can connect; empty: it has ended before.
std::string ReadLine(int fd) {
  std::string line;
  char c;
  while (true) {
    const ssize_t count = read(fd, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    if (c == '\n') return line;
    line += c;
  }
}

// HOST:PORT of the port that is behind `name`; empty: there is none.
std::string AddressIn(const std::string& line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string::npos) return {};
  return absl::StrCat("127.0.0.1:", std::strtoul(line.c_str() + at + name.size(), nullptr, 10));
}

}  // namespace

WireCores ChooseWireCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  WireCores cores;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cores;
  bool found = false;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    if (!found) cores.server = core;
    found = true;
    cores.client = core;
  }
  return cores;
}

bool PinToCore(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    int core, uint64_t populate_bytes, const std::string& program,
    const std::vector<std::string>& more) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return absl::ResourceExhaustedError("no pipe can be made");
  if (pipe2(output, O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    return absl::ResourceExhaustedError("no pipe can be made");
  }
  // What is started has the affinity of the thread that starts it.
  cpu_set_t before;
  CPU_ZERO(&before);
  sched_getaffinity(0, sizeof(before), &before);
  PinToCore(core);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  const std::string populate = absl::StrCat(populate_bytes);
  std::vector<const char*> arguments = {"liststore",     "serve",       "--cql-port", "0",
                                        "--journal",     "0",           "--shards",   "1",
                                        "--until-eof",   "--log-level", "error",      "--populate",
                                        populate.c_str()};
  for (const std::string& argument : more) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr,
                                const_cast<char* const*>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  sched_setaffinity(0, sizeof(before), &before);
  close(input[0]);
  close(output[1]);
  if (error != 0) {
    close(input[1]);
    close(output[0]);
    return absl::UnavailableError(absl::StrCat("cannot start ", program, ": ", strerror(error)));
  }
  std::unique_ptr<ServerProcess> process(new ServerProcess(pid, input[1]));
  const std::string line = ReadLine(output[0]);
  close(output[0]);
  process->address_ = AddressIn(line, "\"cql_port\":");
  process->tls_address_ = AddressIn(line, "\"tls_port\":");
  if (process->address_.empty()) {
    return absl::UnavailableError("the server that was started ended before it could be used");
  }
  return process;
}

ServerProcess::~ServerProcess() {
  close(input_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

uint64_t ProcessCpuNanos(pid_t pid) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t ProcessResidentBytes(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/statm"));
  uint64_t total = 0, resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace liststore
