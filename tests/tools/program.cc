#include "tests/tools/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/check.h"

extern char** environ;

namespace liststore::testing {

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
  pid_t child = -1;
  const int spawned = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  LS_CHECK(spawned == 0, "the program under test was built");
  int status = 0;
  LS_CHECK(waitpid(child, &status, 0) == child, "a child can be waited for");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(out), ReadFile(err)};
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

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace liststore::testing
