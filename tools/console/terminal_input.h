// What is typed at the terminal while no line is edited: lines, and Ctrl-C.
#ifndef LISTSTORE_TOOLS_CONSOLE_TERMINAL_INPUT_H_
#define LISTSTORE_TOOLS_CONSOLE_TERMINAL_INPUT_H_

#include <signal.h>

#include <cstddef>
#include <optional>
#include <string>

namespace liststore {

// While it lives the first Ctrl-C is noted; the second one ends the program, where the server does not answer. One at a
// time; the thread that reads the terminal.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Since the last of them began.
  static bool interrupted();

 private:
  struct sigaction before_ = {};
};

// Of standard input: typed or pasted, and not read yet.
size_t PendingBytes();

// Waits for a line of standard input and takes it without its end. nullopt: Ctrl-C, or nobody is there any more. Needs an
// InterruptWatch.
std::optional<std::string> AwaitTypedLine();

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_TERMINAL_INPUT_H_
