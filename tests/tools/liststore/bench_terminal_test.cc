// `liststore bench` as somebody at a terminal sees it: what is being measured, and charts that fit.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "programs/console/text.h"
#include "tests/tools/console/terminal_program.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace bench_terminal_test {

const std::vector<std::string> kTiny = {"bench",   "embedded",     "--lists",   "1000",
                                        "--quick", "--lines-only", "--seconds", "0.01"};

bool HasPart(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Behind the last heading of a chart.
std::string ChartsOf(const std::string& text) {
  const size_t at = text.find("  operations a second");
  return at == std::string::npos ? "" : text.substr(at, text.find("  memory", at) - at);
}

TEST(BenchAtATerminal, SaysWhatItMeasuresAndDrawsBlocks) {
  TerminalProgram program(kTiny, {"LC_ALL=C.UTF-8", "COLUMNS=200"});
  const std::string shown = program.UntilTheEnd();
  ASSERT_EQ(program.exit_status(), 0) << shown;
  for (const char* part :
       {"━", "get 10, uniform, round 1 of 1", "get 10, uniform, round 1 of 1, plain",
        "remove by value, uniform, round 1 of 1"}) {
    EXPECT_TRUE(HasPart(shown, part)) << part << shown;
  }
  const std::string charts = ChartsOf(shown);
  EXPECT_TRUE(HasPart(charts, "█")) << shown;
  EXPECT_TRUE(HasPart(charts, "latency by percentile, ")) << shown;
  EXPECT_TRUE(HasPart(charts, "99.99")) << shown;
  // The terminal's own width counts.
  std::istringstream lines(charts);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(Columns(line), 80u + 1) << line;
}

TEST(BenchAtATerminal, WithoutUtf8ItIsAsciiAlone) {
  TerminalProgram program(kTiny, {"LC_ALL=C"});
  const std::string shown = program.UntilTheEnd();
  ASSERT_EQ(program.exit_status(), 0) << shown;
  EXPECT_EQ(Columns(shown), shown.size()) << shown;
  EXPECT_TRUE(HasPart(ChartsOf(shown), "####")) << shown;
}

TEST(BenchAtATerminal, AFileHasChartsAndNeitherColoursNorProgress) {
  const ProgramResult result = RunProgram(kTiny);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(HasPart(result.out, "latency by percentile, "));
  EXPECT_FALSE(HasPart(result.out + result.err, "\x1b"));
  EXPECT_FALSE(HasPart(result.err, "round 1 of 1")) << result.err;
}

}  // namespace bench_terminal_test
}  // namespace liststore::testing
