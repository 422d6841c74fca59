#include "programs/console/terminal.h"

#include <unistd.h>

#include <cstdlib>

#include "programs/console/text.h"

namespace liststore {

Style::Style(std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  coloured_ = ::isatty(::fileno(stream)) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::string Style::Wrap(std::string_view code, std::string_view text) const {
  if (!coloured_) return std::string(text);
  return std::string(code) + std::string(text) + "\x1b[0m";
}

ProgressBar::ProgressBar(std::string_view unit)
    : unit_(unit), visible_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::Update(double share, uint64_t count) {
  if (!visible_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  constexpr int kCells = 30;
  std::string bar;
  if (share >= 0) {
    const int full = static_cast<int>(share * kCells);
    for (int cell = 0; cell < kCells; ++cell) bar += cell < full ? "━" : "╌";
    std::fprintf(stderr, "\r%s %3d%%  ", bar.c_str(), static_cast<int>(share * 100));
  } else {
    std::fputc('\r', stderr);
  }
  std::fprintf(stderr, "%s %s ", Grouped(count).c_str(), unit_.c_str());
  drawn_ = true;
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

}  // namespace liststore
