#include "programs/console/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/strings.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

// From the left, and from below.
constexpr std::array<std::string_view, 9> kLeft = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 9> kBelow = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
// The same of ASCII, by how dark they are.
constexpr std::array<std::string_view, 9> kDark = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
constexpr size_t kEighths = 8;

constexpr size_t kNameColumnsMax = 28;
constexpr size_t kBarColumnsMin = 10;
constexpr size_t kBarColumnsMax = 70;  // more says no more
constexpr size_t kCurveRows = 2;

struct Tick {
  double percent;
  std::string_view text;
};
constexpr Tick kTicks[] = {{50, "50 %"}, {90, "90"}, {99, "99"}, {99.9, "99.9"}, {99.99, "99.99"}};

double NinesOf(double percent) { return -std::log10(1 - percent / 100); }
const double kNinesMin = NinesOf(kTicks[0].percent);
const double kNinesMax = NinesOf(std::end(kTicks)[-1].percent);

std::string_view LevelSign(size_t eighths, const TerminalLook& look) {
  return look.has_blocks ? kBelow[eighths] : kDark[eighths];
}

// Names in one column; `names`: of all rows.
size_t NameColumns(size_t longest) { return std::min(longest, kNameColumnsMax); }
std::string NameCell(std::string_view name, size_t columns, const TerminalLook& look) {
  return Padded(Fitted(name, columns, look), columns);
}

size_t ColumnsLeft(const TerminalLook& look, size_t taken) {
  return std::clamp(look.columns - std::min(look.columns, taken), kBarColumnsMin, kBarColumnsMax);
}

// How far a value is from the lowest to the highest, 0 to 1.
double ShareOf(double value, double lowest, double highest) {
  return highest <= lowest ? 0.5 : (value - lowest) / (highest - lowest);
}

std::vector<double> TimesOf(const Histogram& latency, size_t columns) {
  std::vector<double> times;
  for (size_t column = 0; column < columns; ++column) {
    const double at = static_cast<double>(column) / static_cast<double>(columns - 1);
    const double nines = kNinesMin + (kNinesMax - kNinesMin) * at;
    const double percent = 100 * (1 - std::pow(10, -nines));
    times.push_back(
        std::log(std::max<double>(static_cast<double>(latency.Percentile(percent)), 1)));
  }
  return times;
}

std::string TickLine(size_t columns) {
  std::string line;
  for (const Tick& tick : kTicks) {
    const double share = (NinesOf(tick.percent) - kNinesMin) / (kNinesMax - kNinesMin);
    size_t at = static_cast<size_t>(std::lround(share * static_cast<double>(columns - 1)));
    // The last one ends where the curves do.
    at = std::min(at, columns - tick.text.size());
    if (at < line.size() + (line.empty() ? 0 : 1)) continue;
    line.resize(at, ' ');
    line += tick.text;
  }
  return line;
}

// Rows from the top; each cell is filled from below.
std::vector<std::string> CurveRows(const std::vector<double>& shares, const TerminalLook& look) {
  std::vector<std::string> rows(kCurveRows);
  for (const double share : shares) {
    const double all = static_cast<double>(kCurveRows * kEighths - 1);
    const size_t filled = 1 + static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * all));
    for (size_t row = 0; row < kCurveRows; ++row) {
      const size_t below = (kCurveRows - 1 - row) * kEighths;
      const size_t here = filled <= below ? 0 : std::min(filled - below, kEighths);
      rows[row] += LevelSign(here, look);
    }
  }
  return rows;
}

}  // namespace

std::string BarOf(double share, size_t cells, const TerminalLook& look) {
  const double clamped = std::clamp(share, 0.0, 1.0);
  std::string bar;
  if (!look.has_blocks) {
    const auto full = static_cast<size_t>(std::lround(clamped * static_cast<double>(cells)));
    bar.assign(clamped > 0 ? std::max<size_t>(full, 1) : 0, '#');
    return bar;
  }
  size_t eighths =
      static_cast<size_t>(std::lround(clamped * static_cast<double>(cells * kEighths)));
  if (clamped > 0) eighths = std::max<size_t>(eighths, 1);
  for (; eighths >= kEighths; eighths -= kEighths) bar += kLeft[kEighths];
  if (eighths > 0) bar += kLeft[eighths];
  return bar;
}

std::string Sparkline(std::span<const double> values, const TerminalLook& look) {
  if (values.empty()) return "";
  const double highest = std::ranges::max(values);
  std::string line;
  for (const double value : values) {
    const double share = highest > 0 ? std::clamp(value / highest, 0.0, 1.0) : 0;
    line += LevelSign(1 + static_cast<size_t>(std::lround(share * (kEighths - 1))), look);
  }
  return line;
}

std::string BarChart(std::string_view title, std::span<const ChartBar> bars,
                     const TerminalLook& look, const Style& style) {
  if (bars.empty()) return "";
  size_t name_columns = 0;
  size_t figure_columns = 0;
  size_t rounds = 0;
  double highest = 0;
  for (const ChartBar& bar : bars) {
    name_columns = std::max(name_columns, Columns(bar.name));
    figure_columns = std::max(figure_columns, Columns(bar.figure));
    rounds = std::max(rounds, bar.rounds.size());
    highest = std::max(highest, bar.value);
  }
  name_columns = NameColumns(name_columns);
  const size_t round_columns = rounds > 1 ? rounds + 2 : 0;
  const size_t cells =
      ColumnsLeft(look, 2 + name_columns + 2 + 1 + figure_columns + round_columns + 1);
  std::string text = absl::StrCat("  ", style.Dim(title), "\n");
  for (const ChartBar& bar : bars) {
    const std::string drawn = BarOf(highest > 0 ? bar.value / highest : 0, cells, look);
    absl::StrAppend(&text, "  ", NameCell(bar.name, name_columns, look), "  ",
                    bar.is_other ? style.Dim(drawn) : style.Bar(drawn), " ", bar.figure);
    if (bar.rounds.size() > 1) absl::StrAppend(&text, "  ", Sparkline(bar.rounds, look));
    text += '\n';
  }
  return text;
}

std::string PercentileChart(std::string_view title, std::span<const ChartCurve> curves,
                            const TerminalLook& look, const Style& style) {
  size_t name_columns = 0;
  size_t figure_columns = 0;
  uint64_t shortest = UINT64_MAX;
  uint64_t longest = 0;
  const auto figure_of = [](const Histogram& latency) {
    return absl::StrCat(FormatNanos(latency.Percentile(50)), " to ",
                        FormatNanos(latency.Percentile(99.99)));
  };
  for (const ChartCurve& curve : curves) {
    if (curve.latency->Count() == 0) continue;
    name_columns = std::max(name_columns, Columns(curve.name));
    figure_columns = std::max(figure_columns, figure_of(*curve.latency).size());
    shortest = std::min(shortest, curve.latency->Percentile(50));
    longest = std::max(longest, curve.latency->Percentile(99.99));
  }
  if (longest == 0) return "";
  name_columns = NameColumns(name_columns);
  const size_t cells = ColumnsLeft(look, 2 + name_columns + 2 + 2 + figure_columns + 1);
  std::string text =
      absl::StrCat("  ",
                   style.Dim(absl::StrCat(ToAbsl(title), ", ", FormatNanos(shortest), " to ",
                                          FormatNanos(longest), ", logarithmic")),
                   "\n  ", std::string(name_columns + 2, ' '), style.Dim(TickLine(cells)), "\n");
  const double low = std::log(std::max<double>(static_cast<double>(shortest), 1));
  const double high = std::log(std::max<double>(static_cast<double>(longest), 1));
  for (const ChartCurve& curve : curves) {
    if (curve.latency->Count() == 0) continue;
    std::vector<double> shares = TimesOf(*curve.latency, cells);
    for (double& share : shares) share = ShareOf(share, low, high);
    const std::vector<std::string> rows = CurveRows(shares, look);
    for (size_t row = 0; row < rows.size(); ++row) {
      const bool is_last = row + 1 == rows.size();
      absl::StrAppend(&text, "  ", NameCell(is_last ? curve.name : "", name_columns, look), "  ",
                      style.Bar(rows[row]), is_last ? "  " : "",
                      is_last ? figure_of(*curve.latency) : "", "\n");
    }
  }
  return text;
}

}  // namespace liststore
