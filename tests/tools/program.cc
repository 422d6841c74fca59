#include "tests/tools/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/check.h"
#include "tests/support/temp_folder.h"

extern char** environ;

namespace liststore::testing {

std::vector<std::string> ProgramEnvironment(const std::vector<std::string>& more) {
  std::vector<std::string> left_out = {"LISTSTORE_STEPS=", "LISTSTORE_SEED="};
  for (const std::string& variable : more) {
    left_out.push_back(variable.substr(0, variable.find('=') + 1));
  }
  std::vector<std::string> environment = more;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view whole(*variable);
    if (std::ranges::none_of(left_out,
                             [&](const std::string& name) { return whole.starts_with(name); })) {
      environment.emplace_back(whole);
    }
  }
  return environment;
}

ProgramResult RunProgram(const std::vector<std::string>& arguments, const std::string& input) {
  const ScratchFiles files;
  const std::string out = files.Path("out"), err = files.Path("err");
  std::string program = LISTSTORE_PROGRAM;
  std::vector<char*> argv = {program.data()};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kCreate, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kCreate, 0600);
  std::vector<std::string> variables = ProgramEnvironment();
  std::vector<char*> env;
  for (std::string& variable : variables) env.push_back(variable.data());
  env.push_back(nullptr);
  pid_t child = -1;
  const int spawned =
      posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  LS_CHECK(spawned == 0, "the program under test was built");
  int status = 0;
  LS_CHECK(waitpid(child, &status, 0) == child, "a child can be waited for");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(out), ReadFile(err)};
}

RunningProgram::RunningProgram(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment)
    : files_(std::make_unique<ScratchFiles>()) {
  int in[2], out[2];
  LS_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipes can be made");
  const std::string err = files_->Path("err");
  std::string program = LISTSTORE_PROGRAM;
  std::vector<char*> argv = {program.data()};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> variables = ProgramEnvironment(environment);
  std::vector<char*> env;
  for (std::string& variable : variables) env.push_back(variable.data());
  env.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int spawned =
      posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  LS_CHECK(spawned == 0, "the program under test was built");
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

RunningProgram::~RunningProgram() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

std::string RunningProgram::ReadLine() {
  std::string line;
  char c;
  while (read(output_, &c, 1) == 1) {
    out_ += c;
    if (c == '\n') break;
    line += c;
  }
  return line;
}

void RunningProgram::Signal(int signal) const { kill(pid_, signal); }

void RunningProgram::CloseInput() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

std::string RunningProgram::Errors() const { return ReadFile(files_->Path("err")); }

ProgramResult RunningProgram::Wait() {
  char bytes[4096];
  ssize_t count;
  while ((count = read(output_, bytes, sizeof(bytes))) > 0) out_.append(bytes, count);
  int status = 0;
  LS_CHECK(waitpid(pid_, &status, 0) == pid_, "a child can be waited for");
  pid_ = -1;
  CloseInput();
  close(output_);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out_, ReadFile(files_->Path("err"))};
}

ScratchFiles::ScratchFiles() {
  std::string name = (std::filesystem::temp_directory_path() / "liststore_test_XXXXXX").string();
  LS_CHECK(mkdtemp(name.data()) != nullptr, "temporary files can be made");
  directory_ = name;
}

ScratchFiles::~ScratchFiles() { std::filesystem::remove_all(directory_); }

std::string ScratchFiles::Write(const std::string& name, std::string_view text) const {
  const std::string path = Path(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string ScratchFiles::WriteGzip(const std::string& name, std::string_view text) const {
  const std::string path = Path(name);
  const gzFile file = gzopen(path.c_str(), "wb");
  LS_CHECK(file != nullptr, "temporary files can be written");
  LS_CHECK(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
               static_cast<int>(text.size()),
           "temporary files can be written");
  LS_CHECK(gzclose(file) == Z_OK, "temporary files can be written");
  return path;
}

}  // namespace liststore::testing
