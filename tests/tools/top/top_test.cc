// `liststore top`: what is made of two samples, and the program beside a server.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"
#include "tools/top/top_frame.h"

namespace liststore::testing {
namespace top_test {

TopSample SampleBefore() {
  TopSample sample;
  sample.at_seconds = 10;
  sample.clock_mode = "real";
  sample.has_journal = true;
  sample.newest_request = 100;
  sample.counters = {{"connections", 2}, {"logins_refused", 1}, {"slow_turns", 4}};
  return sample;
}

// 400 requests in two seconds, of which four were looked at.
TopSample SampleAfter() {
  TopSample sample = SampleBefore();
  sample.at_seconds = 12;
  sample.newest_request = 500;
  sample.requests = {{"SELECT", "feat.clicks", "ok", 10},
                     {"SELECT", "feat.clicks", "read_timeout", 2500},
                     {"SELECT", "feat.views", "ok", 20},
                     {"INSERT", "feat.clicks", "ok", 30}};
  sample.counters = {{"connections", 3}, {"logins_refused", 1}, {"slow_turns", 6}};
  sample.memory = {{"rows", 1024, 4096}, {"journal", 2048, 0}};
  sample.data = {.keyspaces = 1, .tables = 2, .rows = 12345, .bytes = 1024};
  sample.slow_turns = {{6, 1500, 200, "1 SELECT of feat.clicks"}};
  sample.hot_partitions = {{"feat.clicks", "u1:feed", 9'000, 3'000, 240},
                           {"feat.views", "u2", 12, 0, 240}};
  return sample;
}

TEST(TopFrame, RatesAreOfAllRequestsByThoseLookedAt) {
  const TopFrame frame = MakeTopFrame("h:1", SampleBefore(), SampleAfter());
  EXPECT_EQ(frame.requests_per_s, 200);
  EXPECT_EQ(frame.by_op, (TopFrame::Rates{{"SELECT", 150}, {"INSERT", 50}}));
  EXPECT_EQ(frame.by_table, (TopFrame::Rates{{"feat.clicks", 150}, {"feat.views", 50}}));
  EXPECT_EQ(frame.failed_by_outcome, (TopFrame::Rates{{"read_timeout", 50}}));
  EXPECT_EQ(frame.p50_us, 30);
  EXPECT_EQ(frame.p99_us, 2500);
  EXPECT_EQ(frame.max_us, 2500);
  EXPECT_EQ(frame.grown, (std::map<std::string, int64_t>{{"slow_turns", 2}}));
}

TEST(TopFrame, IsReadByPeople) {
  const std::string text = TopText(MakeTopFrame("h:1", SampleBefore(), SampleAfter()), 200);
  EXPECT_EQ(text,
            "liststore    h:1   clock real   connections 3\n"
            "requests     200 a second   SELECT 150   INSERT 50\n"
            "latency      p50 30 us   p99 2.5 ms   max 2.5 ms\n"
            "failed       read_timeout 50\n"
            "data         12,345 rows in 2 tables, 1.0 KiB\n"
            "counters     slow_turns +2\n"
            "\n"
            "memory\n"
            "  rows            1.0 KiB  ━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  25 % of 4.0 KiB\n"
            "  journal         2.0 KiB\n"
            "\n"
            "hottest tables, requests a second\n"
            "         150  feat.clicks\n"
            "          50  feat.views\n"
            "\n"
            "hottest partitions of the last 240 s: requests a second, of these writes\n"
            "          50   25 %  feat.clicks  u1:feed\n"
            "         0.1    0 %  feat.views  u2\n"
            "\n"
            "slow turns, 6 since the start: took, of it waited for the core, at what\n"
            "      1.5 ms     200 us  1 SELECT of feat.clicks\n");
  const std::string narrow = TopText(MakeTopFrame("h:1", SampleBefore(), SampleAfter()), 20);
  EXPECT_TRUE(narrow.starts_with("liststore    h:1   …\n")) << narrow;
}

TEST(TopFrame, WhatTheServerDoesNotTellIsSaid) {
  TopSample before, now;
  now.at_seconds = 1;
  EXPECT_TRUE(Has(TopText(MakeTopFrame("h:1", before, now), 200), "has no instruments"));
  now.clock_mode = "real";
  EXPECT_TRUE(Has(TopText(MakeTopFrame("h:1", before, now), 200), "keeps no journal"));
  now.has_journal = true;
  EXPECT_TRUE(Has(TopText(MakeTopFrame("h:1", before, now), 200), "requests     0.0 a second"));
}

TEST(Top, OneFrameOfAServer) {
  CopyServer server;
  MakeKeyspace(server);
  server.Run("CREATE TABLE feat.clicks (user text PRIMARY KEY, item int)");
  server.Run("INSERT INTO feat.clicks (user, item) VALUES ('u1', 1)");
  const std::vector<std::string> once = {"top",    "--via",      server.address(),
                                         "--once", "--interval", "0.05"};
  const ProgramResult text = RunProgram(once);
  EXPECT_EQ(text.exit_status, 0) << text.err;
  for (const std::string& part :
       {"liststore    " + server.address() + "   clock manual   connections 2\n",
        std::string("requests     0.0 a second"), std::string("data         1 rows in 1 tables"),
        std::string("  process  "), std::string(" % of ")}) {
    EXPECT_TRUE(Has(text.out, part)) << part << "\n" << text.out;
  }
  EXPECT_FALSE(Has(text.out, "\x1b")) << "this is no terminal";
  std::vector<std::string> as_json = once;
  as_json.push_back("--json");
  const ProgramResult line = RunProgram(as_json);
  EXPECT_EQ(line.exit_status, 0) << line.err;
  const boost::json::object frame = boost::json::parse(line.out).as_object();
  EXPECT_EQ(frame.at("rows").to_number<int>(), 1);
  EXPECT_EQ(frame.at("connections").to_number<int>(), 2);
  EXPECT_EQ(frame.at("hottest_partitions"), (boost::json::array{"feat.clicks u1"}));
  EXPECT_GT(frame.at("process_bytes").to_number<int64_t>(), 0);
  EXPECT_GT(frame.at("process_limit_bytes").to_number<int64_t>(), 0);
}

// More than one frame; the requests between two are counted.
TEST(Top, FramesFollowEachOther) {
  CopyServer server;
  MakeKeyspace(server);
  RunningProgram program({"top", "--via", server.address(), "--json", "--interval", "0.05"});
  ASSERT_FALSE(program.ReadLine().empty());
  bool seen = false;
  for (int i = 0; i < 1'000 && !seen; ++i) {
    server.Run("CREATE TABLE IF NOT EXISTS feat.clicks (user text PRIMARY KEY)");
    seen = Has(program.ReadLine(), "\"requests_per_s_CREATE\":");
  }
  EXPECT_TRUE(seen);
}

TEST(Top, AServerWithoutInstrumentsIsShownAllTheSame) {
  CopyServer server(std::vector<std::string>{"--instruments", "off"});
  const ProgramResult result =
      RunProgram({"top", "--via", server.address(), "--once", "--interval", "0.05"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "has no instruments")) << result.out;
  EXPECT_TRUE(Has(result.out, "  process  ")) << result.out;
}

}  // namespace top_test
}  // namespace liststore::testing
