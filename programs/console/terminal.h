// Colours and a progress bar, where there is a terminal to show them.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_TERMINAL_H_
#define LISTSTORE_PROGRAMS_CONSOLE_TERMINAL_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace liststore {

// Marks up text for `stream`: plain unless it is a terminal and NO_COLOR is empty or not set.
class Style {
 public:
  explicit Style(std::FILE* stream);
  std::string Bold(std::string_view text) const { return Wrap("\x1b[1m", text); }
  std::string Dim(std::string_view text) const { return Wrap("\x1b[2m", text); }
  std::string Good(std::string_view text) const { return Wrap("\x1b[32m", text); }
  std::string Bad(std::string_view text) const { return Wrap("\x1b[31m", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;
  bool coloured_;
};

// A line on standard error that is drawn over and over; nothing at all when that is no terminal.
class ProgressBar {
 public:
  // `unit`: of what is counted, in the plural.
  explicit ProgressBar(std::string_view unit = "operations");
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `share` from 0 to 1, negative when not known. Cheap: draws ten times a second at most.
  void Update(double share, uint64_t count);
  // Takes the line away, so that other text can follow.
  void Clear();

 private:
  const std::string unit_;
  const bool visible_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_TERMINAL_H_
