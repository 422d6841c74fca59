// Charts as text, with blocks and without.
#include "programs/console/chart.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "programs/console/text.h"

namespace liststore::testing {
namespace chart_test {

constexpr TerminalLook kBlocks{.has_blocks = true, .columns = 60};
constexpr TerminalLook kAscii{.has_blocks = false, .columns = 60};

// No terminal: nothing is coloured.
Style Plain() {
  static std::FILE* const file = std::tmpfile();
  return Style(file);
}

TEST(Bar, IsAsLongAsItsShare) {
  struct Row {
    double share;
    const char* blocks;
    const char* ascii;
  };
  const Row rows[] = {
      {0, "", ""},         {1e-9, "▏", "#"},    {1.0 / 32, "▏", "#"},
      {0.25, "█", "#"},    {0.375, "█▌", "##"}, {0.5, "██", "##"},
      {1, "████", "####"}, {7, "████", "####"}, {-1, "", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(BarOf(row.share, 4, kBlocks), row.blocks) << row.share;
    EXPECT_EQ(BarOf(row.share, 4, kAscii), row.ascii) << row.share;
  }
}

TEST(Sparkline, ASignIsAsHighAsItsShareOfTheLargest) {
  const std::vector<double> values = {0, 1, 4, 8};
  EXPECT_EQ(Sparkline(values, kBlocks), "▁▂▅█");
  EXPECT_EQ(Sparkline(values, kAscii), ".:+@");
  EXPECT_EQ(Sparkline(std::vector<double>{99, 100, 99.5}, kBlocks), "███");
  EXPECT_EQ(Sparkline(std::vector<double>{0, 0}, kBlocks), "▁▁");
  EXPECT_EQ(Sparkline({}, kBlocks), "");
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(BarChart, HasALineForEachBarThatFits) {
  const std::vector<ChartBar> bars = {
      {"get 10", 2'000'000, "2,000,000", {0, 4, 8}},
      {"  plain", 500'000, "500,000", {8, 4, 0}, true},
      {"none", 0, "0", {}},
  };
  // 60 columns, less the name's 7 and the figure's 9, the rounds' 3 and what is between them.
  const std::vector<std::string> lines = LinesOf(BarChart("a second", bars, kAscii, Plain()));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "  a second");
  EXPECT_EQ(lines[1], "  get 10   " + std::string(33, '#') + " 2,000,000  .+@");
  EXPECT_EQ(lines[2], "    plain  " + std::string(8, '#') + " 500,000  @+.");
  EXPECT_EQ(lines[3], "  none      0");
  for (const TerminalLook& look : {kBlocks, TerminalLook{true, 40}, TerminalLook{true, 160}}) {
    for (const std::string& line : LinesOf(BarChart("a second", bars, look, Plain()))) {
      EXPECT_LT(Columns(line), look.columns) << line;
    }
  }
  EXPECT_EQ(BarChart("a second", {}, kBlocks, Plain()), "");
}

// Which is `nanos` for the first 99 of 100 and `slow` for the others.
Histogram LatencyOf(uint64_t nanos, uint64_t slow) {
  Histogram latency;
  latency.Record(nanos, 9'900);
  latency.Record(slow, 100);
  return latency;
}

TEST(PercentileChart, AllCurvesHaveOneScale) {
  const Histogram fast = LatencyOf(1'000, 10'000), slow = LatencyOf(10'000, 1'000'000), empty;
  const std::vector<ChartCurve> curves = {{"fast", &fast}, {"none", &empty}, {"slow", &slow}};
  const std::string chart = PercentileChart("latency", curves, kBlocks, Plain());
  const std::vector<std::string> lines = LinesOf(chart);
  ASSERT_EQ(lines.size(), 6u) << chart;
  EXPECT_EQ(lines[0], "  latency, 1.0us to 1.0ms, logarithmic");
  EXPECT_TRUE(lines[1].find("50 %") < lines[1].find("90")) << lines[1];
  EXPECT_TRUE(lines[1].ends_with("99.99")) << lines[1];
  // The fast one is at the bottom, and its last ones where the slow one begins: a third of three decades up.
  EXPECT_TRUE(lines[3].starts_with("  fast  ▁▁▁")) << lines[3];
  EXPECT_TRUE(lines[3].ends_with("▆  1.0us to 10us")) << lines[3];
  EXPECT_TRUE(lines[5].starts_with("  slow  ▆▆▆")) << lines[5];
  EXPECT_TRUE(lines[5].ends_with("█  10us to 1.0ms")) << lines[5];
  EXPECT_TRUE(lines[4].ends_with("█")) << lines[4];
  for (const TerminalLook& look :
       {kBlocks, kAscii, TerminalLook{true, 40}, TerminalLook{true, 160}}) {
    for (const std::string& line : LinesOf(PercentileChart("latency", curves, look, Plain()))) {
      EXPECT_LT(Columns(line), look.columns) << line;
    }
  }
  const std::string ascii = PercentileChart("latency", curves, kAscii, Plain());
  EXPECT_EQ(Columns(ascii), ascii.size()) << "nothing but ASCII";
  EXPECT_EQ(PercentileChart("latency", std::vector<ChartCurve>{{"none", &empty}}, kBlocks, Plain()),
            "");
}

}  // namespace chart_test
}  // namespace liststore::testing
