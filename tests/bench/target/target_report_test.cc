#include "bench/target/target_report.h"

#include <boost/json.hpp>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace liststore::testing {
namespace target_report_test {

// A million a second for a second, most of them in 10 us.
TargetSide GoodSide() {
  TargetSide side;
  side.key = "embedded";
  side.name = "embedded, 2 threads";
  side.run.rate = 1e6;
  side.run.achieved = 1e6;
  side.run.select_latency.Record(10'000, 950'000);
  side.run.insert_latency.Record(12'000, 50'000);
  side.run.quiet_latency.Record(10'000, 900'000);
  side.verified = 5;
  return side;
}

std::string Shorts(const TargetSide& side) {
  std::string shorts;
  for (const TargetVerdict& verdict : JudgeTarget(side, {})) {
    if (!verdict.is_reached) shorts += verdict.text + "\n";
  }
  return shorts;
}

TEST(TargetReport, JudgesWhatWasDoneOfTheRateAndHowLate) {
  EXPECT_EQ(Shorts(GoodSide()), "");
  struct Case {
    const char* text;  // of what is short
    std::function<void(TargetSide&)> change;
  };
  const Case cases[] = {
      {"embedded, 2 threads: 994,000 of 1,000,000 operations a second (99.5 % of them at least)\n",
       [](TargetSide& side) { side.run.achieved = 994'000; }},
      // Late, and nobody else had the cores.
      {"embedded, 2 threads: 99 of 100 within 2.0ms of their instant while both cores were ours "
       "(1.0ms at most)\n",
       [](TargetSide& side) { side.run.quiet_latency.Record(2'000'000, 20'000); }},
      // Late because others had the cores: what is undisturbed is judged.
      {"", [](TargetSide& side) { side.run.select_latency.Record(2'000'000, 40'000); }},
      // Too little is undisturbed: all is judged.
      {"embedded, 2 threads: 99 of 100 within 2.0ms of their instant (1.0ms at most)\n",
       [](TargetSide& side) {
         side.run.quiet_latency.Clear();
         side.run.quiet_latency.Record(10'000, 1'000);
         side.run.select_latency.Record(2'000'000, 40'000);
       }},
  };
  for (const Case& c : cases) {
    TargetSide side = GoodSide();
    c.change(side);
    EXPECT_EQ(Shorts(side), c.text);
  }
}

TEST(TargetReport, OneSideThatIsShortMakesTheVerdictShort) {
  TargetReport report;
  report.sides = {GoodSide(), GoodSide()};
  EXPECT_TRUE(report.IsReached());
  report.sides[1].run.achieved = 1;
  EXPECT_FALSE(report.IsReached());
}

TEST(TargetReport, JsonHasItemsASecond) {
  TargetReport report;
  report.sides = {GoodSide()};
  const boost::json::object json = boost::json::parse(TargetJson(report)).as_object();
  EXPECT_EQ(json.at("embedded_items_fetched_per_s").to_number<double>(), 9'500'000);
  EXPECT_EQ(json.at("embedded_items_stored_per_s").to_number<double>(), 50'000);
  EXPECT_EQ(json.at("embedded_verified").to_number<double>(), 5);
  EXPECT_EQ(json.at("verdict").as_string(), "reached");
}

}  // namespace target_report_test
}  // namespace liststore::testing
