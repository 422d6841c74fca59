// Runs the liststore program as a user does, and takes down what it says.
#ifndef LISTSTORE_TESTS_TOOLS_PROGRAM_H_
#define LISTSTORE_TESTS_TOOLS_PROGRAM_H_

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

std::string ReadFile(const std::string& path);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_TOOLS_PROGRAM_H_
