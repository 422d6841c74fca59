// Charts of figures as text: bars, small lines of blocks, curves of percentiles.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_CHART_H_
#define LISTSTORE_PROGRAMS_CONSOLE_CHART_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/histogram.h"
#include "programs/console/terminal.h"

namespace liststore {

// `cells` times `share`, 0 to 1, in eighths of a block; of '#' where there are none. What is more than nothing has an
// eighth, or a '#'.
std::string BarOf(double share, size_t cells, const TerminalLook& look);

// A sign for each value, as high as its share of the largest: what differs little looks alike.
std::string Sparkline(std::span<const double> values, const TerminalLook& look);

struct ChartBar {
  std::string name;
  double value = 0;
  std::string figure = {};          // behind the bar
  std::vector<double> rounds = {};  // shown as a sparkline when there are several
  bool is_other = false;            // beside what the chart is about: dim
};
// A line for each bar below a line with the title; bars begin at 0 and are as long as there is room.
std::string BarChart(std::string_view title, std::span<const ChartBar> bars,
                     const TerminalLook& look, const Style& style);

struct ChartCurve {
  std::string name;
  const Histogram* latency = nullptr;
};
// Two lines for each curve that has observations: times at the percentiles 50 to 99.99, where each further nine takes
// as much room as the one before, by one logarithmic scale for all of them. Empty without curves.
std::string PercentileChart(std::string_view title, std::span<const ChartCurve> curves,
                            const TerminalLook& look, const Style& style);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_CHART_H_
