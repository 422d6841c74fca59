#include "bench/overload/overload_report.h"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace liststore::testing {
namespace overload_report_test {

// A server that can do a million a second, and refuses the rest.
OverloadSide GoodSide() {
  constexpr double kMost = 1e6;
  OverloadSide side;
  side.name = "liststore";
  side.sustained = kMost;
  for (const double share : kOverloadShares) {
    OfferedRun& run = side.runs.emplace_back();
    run.rate = share * kMost;
    run.seconds = 1;
    run.sent = static_cast<uint64_t>(run.rate);
    run.answered = static_cast<uint64_t>(std::min(share, 0.95) * kMost);
    run.refused = run.sent - run.answered;
    run.latency.Record(3'000'000, run.answered);
    run.refusal_latency.Record(4'000'000, run.refused);
    run.longest_nanos = 50'000'000;
  }
  side.after = side.runs.front();
  side.after.last_refusal_seconds = 0.25;
  return side;
}

std::string Shorts(const OverloadSide& side) {
  std::string shorts;
  for (const Verdict& verdict : Judge(side)) {
    if (!verdict.is_reached) shorts += verdict.text + "\n";
  }
  return shorts;
}

TEST(OverloadReport, JudgesTwiceTheLoadAndWhatComesAfter) {
  EXPECT_EQ(Shorts(GoodSide()), "");
  EXPECT_EQ(Judge(GoodSide()).size(), 4u);
  constexpr size_t kTwice = 5;
  ASSERT_EQ(kOverloadShares[kTwice], 2);
  struct Case {
    const char* text;  // of what is short
    std::function<void(OverloadSide&)> change;
  };
  const Case cases[] = {
      {"at 2 times the load: 94 % of it could be offered (95 % at least)\n",
       [](OverloadSide& side) { side.runs[kTwice].sent = 1'880'000; }},
      {"at 2 times the load: 890,000 a second answered, 89.0 % of the best (bar: 90 %)\n",
       [](OverloadSide& side) { side.runs[kTwice].answered = 890'000; }},
      // The best is what was ever answered.
      {"at 2 times the load: 950,000 a second answered, 79.2 % of the best (bar: 90 %)\n",
       [](OverloadSide& side) { side.runs[3].answered = 1'200'000; }},
      {"at 2 times the load: 99 of 100 answers within 12ms (bar: 10ms)\n",
       [](OverloadSide& side) { side.runs[kTwice].latency.Record(12'000'000, 30'000); }},
      {"the load goes from 3 times to 0.5: the last refusal after 1.200 s (bar: 1 s)\n",
       [](OverloadSide& side) { side.after.last_refusal_seconds = 1.2; }},
  };
  for (const Case& row : cases) {
    OverloadSide side = GoodSide();
    row.change(side);
    EXPECT_EQ(Shorts(side), row.text);
  }
  OverloadSide never = GoodSide();
  never.after.last_refusal_seconds.reset();
  EXPECT_EQ(Shorts(never), "");
}

TEST(OverloadReport, JsonHasANumberForEachLoad) {
  OverloadReport report;
  report.sides = {GoodSide(), GoodSide()};
  report.sides[1].key = "redis_";
  const auto json = boost::json::parse(OverloadJson(report)).as_object();
  for (const std::string side : {"", "redis_"}) {
    for (const char* const key :
         {"due_per_s", "sent_per_s", "sent_late_share", "answered_per_s", "refused_per_s", "p50_ns",
          "p99_ns", "longest_ns", "refusal_p99_ns"}) {
      EXPECT_EQ(json.at(side + key).as_array().size(), std::size(kOverloadShares)) << side << key;
    }
    EXPECT_EQ(json.at(side + "sustained_per_s").to_number<double>(), 1e6);
    EXPECT_EQ(json.at(side + "after_last_refusal_s").to_number<double>(), 0.25);
  }
  EXPECT_EQ(json.at("loads").as_array().size(), std::size(kOverloadShares));
  EXPECT_EQ(json.at("verdict").as_string(), "reached");
  report.sides[0].after.last_refusal_seconds = 2;
  EXPECT_EQ(boost::json::parse(OverloadJson(report)).as_object().at("verdict").as_string(),
            "short");
}

TEST(OverloadReport, ChartHasACurveOfAnswersRefusalsAndTimes) {
  OverloadReport report;
  report.sides = {GoodSide()};
  const auto curves = [&] {
    const std::string svg = OverloadSvg(report);
    size_t count = 0;
    for (size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(curves(), 3u);
  report.sides.push_back(GoodSide());
  EXPECT_EQ(curves(), 5u);
}

}  // namespace overload_report_test
}  // namespace liststore::testing
