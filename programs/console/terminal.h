// What a terminal can show, colours, and lines that say how far something is.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_TERMINAL_H_
#define LISTSTORE_PROGRAMS_CONSOLE_TERMINAL_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace liststore {

// What is drawn with, and on how much room.
struct TerminalLook {
  bool has_blocks = false;  // block characters, of UTF-8; else ASCII alone
  size_t columns = 80;
};

// What a look depends on. Texts are those of the environment; nullptr: not set.
struct TerminalFacts {
  bool is_terminal = false;
  size_t columns = 0;  // of the terminal; 0: it does not say
  const char* lc_all = nullptr;
  const char* lc_ctype = nullptr;
  const char* lang = nullptr;
  const char* term = nullptr;
  const char* columns_variable = nullptr;
};

// Blocks where the locale is one of UTF-8 and the terminal, if it is one, has them: the Linux console, a dumb one and
// those of DEC have not. 40 columns at least, 160 at most.
TerminalLook LookOf(const TerminalFacts& facts);
TerminalLook LookOf(std::FILE* stream);

// As Printable; what was cut off is a point where there is no ellipsis.
std::string Fitted(std::string_view text, size_t columns, const TerminalLook& look);

// Marks up text for `stream`: plain unless it is a terminal and NO_COLOR is empty or not set.
class Style {
 public:
  explicit Style(std::FILE* stream);
  std::string Bold(std::string_view text) const { return Wrap("\x1b[1m", text); }
  std::string Dim(std::string_view text) const { return Wrap("\x1b[2m", text); }
  std::string Good(std::string_view text) const { return Wrap("\x1b[32m", text); }
  std::string Bad(std::string_view text) const { return Wrap("\x1b[31m", text); }
  std::string Bar(std::string_view text) const { return Wrap("\x1b[36m", text); }

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
  // Draws at once what is being done, and which share of all was done before. For what must not be disturbed until
  // the next call.
  void Stage(double share, std::string_view what);
  // Takes the line away, so that other text can follow.
  void Clear();

 private:
  std::string BarText(double share) const;

  const std::string unit_;
  const bool visible_;
  const TerminalLook look_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

// The same for what does not tell how far it is: from the third second on a thread says five times a second for how
// long it has been at it, until the object goes. Where standard error is no terminal there is no thread.
class WaitingLine {
 public:
  struct Settings {
    std::FILE* stream = stderr;
    bool is_visible = false;
    std::chrono::nanoseconds after = std::chrono::seconds(2);
    TerminalLook look;
  };
  static Settings OfTerminal();

  // "WHAT, 12s" and what `more` returns, which is called by the thread: "1.2 GiB of 3.4 GiB read"; empty: nothing.
  explicit WaitingLine(std::string what, std::function<std::string()> more = {},
                       Settings settings = OfTerminal());
  ~WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  // Calls `say`, which writes lines to the terminal, without the line in their way.
  void Say(const std::function<void()>& say);

 private:
  void Run();
  void Draw();   // with the mutex held
  void Clear();  // the same

  const std::string what_;
  const std::function<std::string()> more_;
  const Settings settings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;
  bool is_drawn_ = false;
  size_t turn_ = 0;
  std::thread thread_;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_TERMINAL_H_
