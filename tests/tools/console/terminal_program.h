// The program at a terminal, as somebody who types sees it.
#ifndef LISTSTORE_TESTS_TOOLS_CONSOLE_TERMINAL_PROGRAM_H_
#define LISTSTORE_TESTS_TOOLS_CONSOLE_TERMINAL_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

namespace liststore::testing {

// A pseudo-terminal with 24 lines of 80 columns, of type xterm, without colours. Killed when the object goes.
class TerminalProgram {
 public:
  // `environment`: NAME=value, beside what this process has; a later one counts.
  explicit TerminalProgram(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment = {});
  ~TerminalProgram();
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;

  // As keys: "\n" is Enter, "\x03" Ctrl-C, "\t" the tab key.
  void Type(std::string_view keys) const;
  // What was shown since the last call up to `text` and with it, without what moves the cursor; a failure of the
  // test when it does not come within half a minute.
  std::string Until(std::string_view text);
  // What was still shown until it ended; a failure of the test when it does not end.
  std::string UntilTheEnd();
  // Behind UntilTheEnd; -1: it ended by a signal.
  int exit_status() const { return exit_status_; }

 private:
  // Reads what comes; false: nothing more does, in time or at all.
  bool ReadMore();

  int terminal_ = -1;
  int pid_ = -1;
  int exit_status_ = -1;
  std::string shown_;  // not yet asked for
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_TOOLS_CONSOLE_TERMINAL_PROGRAM_H_
