#include "engine/base/prometheus_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/prometheus_parser.h"

namespace liststore::testing {
namespace prometheus_text_test {

TEST(PrometheusTextTest, WhatIsWrittenIsReadAgain) {
  PrometheusText text;
  text.Begin("liststore_a_total", PrometheusText::Type::kCounter, "Two\nlines and a \\.");
  text.Add({{"name", "quote \" backslash \\ end\n"}, {"b", ""}}, uint64_t{1} << 60);
  text.Gauge("liststore_b", "B.", 7);
  text.Begin("liststore_c", PrometheusText::Type::kHistogram, "C.");
  const std::vector<double> bounds = {0.5, 1};
  const std::vector<uint64_t> counts = {1, 0, 4};
  text.AddHistogram({{"kind", "x"}}, bounds, counts, 123456789.125);
  PrometheusPage page = ParsePrometheus(text.text());
  EXPECT_EQ(page.problems, std::vector<std::string>());
  EXPECT_EQ(page.Sample("liststore_a_total{b=\"\",name=\"quote \" backslash \\ end\n\"}"), 0x1p60);
  EXPECT_EQ(page.Sample("liststore_b"), 7);
  EXPECT_EQ(page.Sample(R"(liststore_c_bucket{kind="x",le="0.5"})"), 1);
  EXPECT_EQ(page.Sample(R"(liststore_c_bucket{kind="x",le="1"})"), 1);
  EXPECT_EQ(page.Sample(R"(liststore_c_bucket{kind="x",le="+Inf"})"), 5);
  EXPECT_EQ(page.Sample(R"(liststore_c_count{kind="x"})"), 5);
  EXPECT_EQ(page.Sample(R"(liststore_c_sum{kind="x"})"), 123456789.125);
  EXPECT_EQ(page.problems, std::vector<std::string>());
}

// The reader sees what is wrong: else it would prove nothing.
TEST(PrometheusTextTest, WhatIsWrongIsSeen) {
  const char* const kWrong[] = {
      "a 1\n",                                              // of no family
      "# TYPE a gauge\na 1\n",                              // no HELP
      "# HELP a x\n# TYPE a gauge\na 1\na 2\n",             // twice
      "# HELP a x\n# TYPE a gauge\n# TYPE a gauge\na 1\n",  // two types
      "# HELP a x\n# TYPE a counter\na 1\n",                // not _total
      "# HELP a x\n# TYPE a gauge\na{b=\"c} 1\n",           // no end
      "# HELP a x\n# TYPE a gauge\na{b=\"\\x\"} 1\n",       // no escape
      "# HELP a x\n# TYPE a gauge\na one\n",                // no value
      "# HELP a x\n# TYPE a gauge\na 1",                    // no end of the line
      "# HELP a x\n# TYPE a gauge\nb 1\n",                  // another's
      "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",  // no +Inf
      ("# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\n"
       "a_count 1\n"),
      "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n"};
  for (const char* text : kWrong) EXPECT_NE(ParsePrometheus(text).problems.size(), 0u) << text;
}

}  // namespace prometheus_text_test
}  // namespace liststore::testing
