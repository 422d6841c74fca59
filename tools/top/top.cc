#include "tools/top/top.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "programs/console/exit_codes.h"
#include "tools/top/top_frame.h"
#include "tools/top/top_sample.h"

namespace liststore {
namespace {

// Where the output is no terminal, lines are as long as they are.
size_t TerminalColumns() {
  constexpr size_t kLong = 1'000;
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kLong;
  return size.ws_col;
}

// In place of the frame before, without a moment in which the screen is empty: each line clears what
// is behind it, the last what is below.
std::string OnScreen(const std::string& text) {
  std::string drawn = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') drawn += "\x1b[K";
    drawn += c;
  }
  return drawn + "\x1b[J";
}

absl::Status Show(const TopOptions& options, const TopFrame& frame) {
  const bool is_live = !options.once && !options.json && ::isatty(STDOUT_FILENO) != 0;
  std::string text = options.json ? TopJson(frame) + '\n' : TopText(frame, TerminalColumns());
  if (is_live) text = OnScreen(text);
  if (!is_live && !options.once && !options.json) text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError("the output cannot be written");
}

absl::Status Top(const TopOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto client, ConnectTo(options.server));
  if (!options.once && !options.json && ::isatty(STDOUT_FILENO) != 0) {
    std::fputs("\x1b[2J", stdout);
  }
  LS_ASSIGN_OR_RETURN(TopSample before, ReadTopSample(*client, std::nullopt));
  do {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_seconds));
    LS_ASSIGN_OR_RETURN(TopSample now, ReadTopSample(*client, before.newest_request));
    LS_RETURN_IF_ERROR(Show(options, MakeTopFrame(client->server(), before, now)));
    before = std::move(now);
  } while (!options.once);
  return absl::OkStatus();
}

}  // namespace

int RunTop(const TopOptions& options) {
  const absl::Status status = Top(options);
  if (status.ok()) return kExitSame;
  absl::FPrintF(stderr, "liststore top: %s\n", status.message());
  return kExitFailed;
}

}  // namespace liststore
