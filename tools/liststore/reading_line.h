// The line of `liststore check` and `recover` while they read a data directory.
#ifndef LISTSTORE_TOOLS_LISTSTORE_READING_LINE_H_
#define LISTSTORE_TOOLS_LISTSTORE_READING_LINE_H_

#include <string>

#include "programs/console/terminal.h"

namespace liststore {

// "WHAT DIRECTORY, 12s, 1.2 GiB of 3.4 GiB read": of the files below it, by what this process has read since. Where the
// system does not tell that, it says the time alone.
class ReadingLine {
 public:
  ReadingLine(const std::string& what, const std::string& directory);

  WaitingLine& line() { return line_; }

 private:
  WaitingLine line_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_READING_LINE_H_
