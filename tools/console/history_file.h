// What was typed at the console, kept for the next time.
#ifndef LISTSTORE_TOOLS_CONSOLE_HISTORY_FILE_H_
#define LISTSTORE_TOOLS_CONSOLE_HISTORY_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace liststore {

// liststore/history in $XDG_STATE_HOME, else in ~/.local/state; empty: the environment names neither.
std::string DefaultHistoryPath();

// A line for each entry, with `\n` and `\\` for what a line cannot hold. For its owner alone (0600), in a
// folder that is made when it is not there. Consoles that run at once append to the same file. One thread.
class HistoryFile {
 public:
  static constexpr size_t kEntriesMax = 1000;

  // Empty: nothing is kept.
  explicit HistoryFile(std::string path) : path_(std::move(path)) {}

  // The newest kEntriesMax, oldest first; none where there is no file. One that has grown to twice as many is
  // written anew with these alone.
  std::vector<std::string> Load() const;
  // Appends it, unless it may hold a password. Unavailable: it cannot be written.
  absl::Status Add(std::string_view entry) const;

  // Whether the word stands in it somewhere, in any case.
  static bool MayHoldPassword(std::string_view entry);

 private:
  const std::string path_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_HISTORY_FILE_H_
