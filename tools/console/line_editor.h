// Lines that are typed at a terminal, edited as they are typed.
#ifndef LISTSTORE_TOOLS_CONSOLE_LINE_EDITOR_H_
#define LISTSTORE_TOOLS_CONSOLE_LINE_EDITOR_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/console/completion.h"

namespace liststore {

// libedit on standard input and output, which are a terminal: keys as in a shell, those of ~/.editrc, the tab
// key for completion, history. One of them at a time, for it owns the terminal's settings while it reads; one
// thread.
class LineEditor {
 public:
  // Of the line up to the cursor, and what is behind it.
  using Completer = std::function<Completion(std::string_view before, std::string_view behind)>;
  enum class Outcome {
    kLine,
    kCancelled,  // Ctrl-C
    kEnd,        // Ctrl-D on an empty line, or nobody is at the terminal any more
  };

  explicit LineEditor(Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Waits for a line and takes it without its end.
  Outcome Read(const std::string& prompt, std::string* line);
  // Read reads these first, as if they were typed.
  void Push(const std::string& keys);
  // What the arrow keys and Ctrl-R bring back.
  void AddToHistory(const std::string& entry);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_LINE_EDITOR_H_
