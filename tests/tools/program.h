// Runs the liststore program as a user does, and takes down what it says.
#ifndef LISTSTORE_TESTS_TOOLS_PROGRAM_H_
#define LISTSTORE_TESTS_TOOLS_PROGRAM_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace liststore::testing {

struct ProgramResult {
  int exit_status = -1;  // -1: it ended by a signal
  std::string out;
  std::string err;
};

// `input` is the file that becomes standard input.
ProgramResult RunProgram(const std::vector<std::string>& arguments,
                         const std::string& input = "/dev/null");

// The variables of this process, NAME=value, but those that are for the tests themselves; `more` in place of those of
// their names.
std::vector<std::string> ProgramEnvironment(const std::vector<std::string>& more = {});

class ScratchFiles;

// The program while it runs; killed when the object goes. Its standard input is a pipe that stays
// open.
class RunningProgram {
 public:
  // `environment`: NAME=value, beside what this process has.
  explicit RunningProgram(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // The next line of its standard output; empty: it has ended.
  std::string ReadLine();
  // What it has said on standard error so far.
  std::string Errors() const;
  void Signal(int signal) const;
  void CloseInput();
  // Until it ends.
  ProgramResult Wait();
  int pid() const { return pid_; }

 private:
  const std::unique_ptr<ScratchFiles> files_;
  int pid_ = -1;
  int input_ = -1;   // of the pipe to it
  int output_ = -1;  // of the pipe from it
  std::string out_;  // all that was read
};

// Files of one test, in a directory that goes away with it.
class ScratchFiles {
 public:
  ScratchFiles();
  ~ScratchFiles();
  ScratchFiles(const ScratchFiles&) = delete;
  ScratchFiles& operator=(const ScratchFiles&) = delete;

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  // Both return the path.
  std::string Write(const std::string& name, std::string_view text) const;
  std::string WriteGzip(const std::string& name, std::string_view text) const;

 private:
  std::string directory_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_TOOLS_PROGRAM_H_
