#include "programs/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/strings.h"
#include "engine/base/worker_thread.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

constexpr size_t kColumnsMin = 40;
constexpr size_t kColumnsMax = 160;
constexpr std::chrono::milliseconds kTurn(200);

bool IsSet(const char* variable) { return variable != nullptr && *variable != '\0'; }

// The first that is set says it.
bool IsUtf8(const TerminalFacts& facts) {
  for (const char* const locale : {facts.lc_all, facts.lc_ctype, facts.lang}) {
    if (!IsSet(locale)) continue;
    const std::string lower = absl::AsciiStrToLower(locale);
    return absl::StrContains(lower, "utf-8") || absl::StrContains(lower, "utf8");
  }
  return false;
}

// Terminals whose fonts have no eighths of a block.
bool LacksBlocks(std::string_view term) {
  return term.empty() || term == "dumb" || term == "linux" || term == "ansi" ||
         term.starts_with("vt");
}

}  // namespace

TerminalLook LookOf(const TerminalFacts& facts) {
  const std::string_view term = facts.term == nullptr ? "" : facts.term;
  TerminalLook look;
  look.has_blocks = IsUtf8(facts) && !(facts.is_terminal && LacksBlocks(term));
  size_t columns = facts.columns;
  if (columns == 0 && IsSet(facts.columns_variable)) {
    columns = std::strtoul(facts.columns_variable, nullptr, 10);
  }
  if (columns != 0) look.columns = std::clamp(columns, kColumnsMin, kColumnsMax);
  return look;
}

TerminalLook LookOf(std::FILE* stream) {
  TerminalFacts facts;
  const int file = ::fileno(stream);
  facts.is_terminal = ::isatty(file) != 0;
  winsize size = {};
  if (facts.is_terminal && ::ioctl(file, TIOCGWINSZ, &size) == 0) facts.columns = size.ws_col;
  facts.lc_all = std::getenv("LC_ALL");
  facts.lc_ctype = std::getenv("LC_CTYPE");
  facts.lang = std::getenv("LANG");
  facts.term = std::getenv("TERM");
  facts.columns_variable = std::getenv("COLUMNS");
  return LookOf(facts);
}

std::string Fitted(std::string_view text, size_t columns, const TerminalLook& look) {
  std::string fitted = Printable(text, columns);
  constexpr std::string_view kEllipsis = "…";
  if (!look.has_blocks && fitted.ends_with(kEllipsis) && !text.ends_with(kEllipsis)) {
    fitted.replace(fitted.size() - kEllipsis.size(), kEllipsis.size(), ".");
  }
  return fitted;
}

Style::Style(std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  coloured_ = ::isatty(::fileno(stream)) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::string Style::Wrap(std::string_view code, std::string_view text) const {
  if (!coloured_) return std::string(text);
  return std::string(code) + std::string(text) + "\x1b[0m";
}

ProgressBar::ProgressBar(std::string_view unit)
    : unit_(unit), visible_(::isatty(STDERR_FILENO) != 0), look_(LookOf(stderr)) {}

std::string ProgressBar::BarText(double share) const {
  constexpr int kCells = 30;
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * kCells);
  std::string bar;
  for (int cell = 0; cell < kCells; ++cell) {
    bar += look_.has_blocks ? (cell < full ? "━" : "╌") : (cell < full ? "#" : "-");
  }
  return absl::StrCat(bar, " ", static_cast<int>(std::clamp(share, 0.0, 1.0) * 100), "%  ");
}

void ProgressBar::Update(double share, uint64_t count) {
  if (!visible_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  std::fprintf(stderr, "\r%s%s %s ", share >= 0 ? BarText(share).c_str() : "",
               Grouped(count).c_str(), unit_.c_str());
  drawn_ = true;
}

void ProgressBar::Stage(double share, std::string_view what) {
  if (!visible_) return;
  const std::string bar = BarText(share);
  const size_t columns = look_.columns - std::min(look_.columns - 1, Columns(bar) + 1);
  std::fprintf(stderr, "\r\x1b[K%s%s", bar.c_str(), Fitted(what, columns, look_).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

WaitingLine::Settings WaitingLine::OfTerminal() {
  return {.is_visible = ::isatty(STDERR_FILENO) != 0, .look = LookOf(stderr)};
}

WaitingLine::WaitingLine(std::string what, std::function<std::string()> more, Settings settings)
    : what_(std::move(what)), more_(std::move(more)), settings_(settings) {
  if (!settings_.is_visible) return;
  // Without a thread there is no line, and nothing else is missing.
  absl::StatusOr<std::thread> thread = StartThread("waiting-line", [this] { Run(); });
  if (thread.ok()) thread_ = *std::move(thread);
}

WaitingLine::~WaitingLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    Clear();
  }
  ends_.notify_all();
  thread_.join();
}

void WaitingLine::Say(const std::function<void()>& say) {
  const std::lock_guard lock(mutex_);
  Clear();
  say();
}

void WaitingLine::Run() {
  std::unique_lock lock(mutex_);
  if (ends_.wait_for(lock, settings_.after, [this] { return is_over_; })) return;
  do {
    Draw();
  } while (!ends_.wait_for(lock, kTurn, [this] { return is_over_; }));
}

void WaitingLine::Draw() {
  static constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄",
                                                              "▅", "▆", "▇", "█"};
  static constexpr std::array<std::string_view, 4> kAscii = {"|", "/", "-", "\\"};
  const size_t turn = turn_++;
  const std::string_view sign =
      settings_.look.has_blocks ? kBlocks[turn % kBlocks.size()] : kAscii[turn % kAscii.size()];
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_);
  std::string text =
      absl::StrCat(what_, ", ", DurationText(static_cast<uint64_t>(seconds.count())));
  if (const std::string more = more_ ? more_() : ""; !more.empty())
    absl::StrAppend(&text, ", ", more);
  std::fprintf(settings_.stream, "\r\x1b[K%s %s", std::string(sign).c_str(),
               Fitted(text, settings_.look.columns - 3, settings_.look).c_str());
  std::fflush(settings_.stream);
  is_drawn_ = true;
}

void WaitingLine::Clear() {
  if (!is_drawn_) return;
  std::fputs("\r\x1b[K", settings_.stream);
  std::fflush(settings_.stream);
  is_drawn_ = false;
}

}  // namespace liststore
