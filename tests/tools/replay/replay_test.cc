// `liststore replay` as a user runs it: the program itself, its output, its exit status.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/program.h"
#include "tests/tools/replay/history_model.h"

namespace liststore::testing {
namespace replay_test {

namespace json = boost::json;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'700'000'000 * kSecond;

std::string BundledFile(const std::string& kind) {
  return std::string(LISTSTORE_DATA_DIR) + "/touched_files." + kind + ".jsonl.gz";
}

// `text` with its first `from` replaced, which must be there.
std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Line `number`, from 1, newline included.
std::string Line(const std::string& text, uint64_t number) {
  size_t begin = 0;
  while (--number > 0) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) + 1 - begin);
}

std::string WithoutLine(const std::string& text, uint64_t number) {
  return Replaced(text, Line(text, number), "");
}

TEST(ReplayBundledHistory, AnswersAreAsExpectedHoweverManyShards) {
  for (const char* shards : {"1", "2", "4", "7"}) {
    SCOPED_TRACE(shards);
    const ProgramResult result =
        RunProgram({"replay", BundledFile("oplog"), "--expected", BundledFile("expected"), "--json",
                    "--shards", shards});
    ASSERT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    ASSERT_EQ(result.out.find('\n'), result.out.size() - 1) << "not one line: " << result.out;
    const json::object summary = json::parse(result.out).as_object();
    EXPECT_EQ(summary.at("reads").to_number<uint64_t>(), 17'733u);
    EXPECT_EQ(summary.at("returned").to_number<uint64_t>(), 313'780u);
    EXPECT_EQ(summary.at("stored").to_number<uint64_t>(), 137'727u);
    EXPECT_EQ(summary.at("skipped_expired").to_number<uint64_t>(), 5'485u);
    EXPECT_EQ(summary.at("removed_live").to_number<uint64_t>(), 16'986u);
    EXPECT_EQ(summary.at("live_at_end").to_number<uint64_t>(), 2'654u);
    EXPECT_EQ(summary.at("md5").as_string(), "e6a6aa1daae075db63b3fc78fac8825e");
    EXPECT_EQ(summary.at("shards").to_number<std::string::size_type>(), std::stoul(shards));
    EXPECT_TRUE(summary.at("compared").as_bool());
    for (const char* measured : {"seconds", "ops_per_s", "bytes_per_item", "p99_us", "expired"}) {
      EXPECT_GT(summary.at(measured).to_number<double>(), 0) << measured;
    }
  }
}

TEST(ReplayBundledHistory, ReportIsForPeople) {
  const ProgramResult result = RunProgram({"replay", BundledFile("oplog"), "--repeat", "2"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.err, "") << "no progress where there is no terminal";
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "no colours where there is no terminal";
  for (const char* part :
       {"17,733 returned 313,780 items", "2,654 live at the end", "5,485 had expired",
        "bytes an item", "operations a second", "p99.9", "remove_value", "2 rounds", "time left"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in\n" << result.out;
  }
}

TEST(ReplayRandomHistories, AnswersAreThoseOfTheModel) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(4000);
  // Soon after the epoch, today, behind the last second of signed nanoseconds.
  const uint64_t starts[] = {1000 * kSecond, kStart, 9'300'000'000 * kSecond};
  const ScratchFiles files;
  for (uint64_t i = 0; i < 6; ++i) {
    const HistoryModel history = RandomHistory(seed + i, starts[i % std::size(starts)], steps);
    const std::string log = files.WriteGzip("log", history.log());
    const std::string expected = files.Write("expected", history.expected());
    for (const char* shards : {"1", "3"}) {
      const ProgramResult result =
          RunProgram({"replay", log, "--expected", expected, "--shards", shards});
      ASSERT_EQ(result.exit_status, 0) << "history " << i << ", shards " << shards << "\n"
                                       << result.err;
    }
  }
}

// Line 1 creates, 2 adds three items, 3 and 4 read, 5 removes one, 6 reads.
HistoryModel SmallHistory() {
  const HistoryModel::List list = {"user", "seen", "", "17"};
  HistoryModel model;
  model.SetNow(kStart);
  model.CreateFeature(list, 86'400);
  model.Add(list, {{kStart - 3 * kSecond, "a"}, {kStart - 2 * kSecond, "b c"}, {kStart, "ü"}});
  model.Get(list, 0, 10);
  model.Get(list, kStart - 2 * kSecond, 2);
  model.RemoveValue(list, "b c");
  model.SetNow(kStart + 86'397 * kSecond);
  model.Get(list, 0, 10);
  model.Finish();
  return model;
}

TEST(ReplayExpected, NamesTheFirstDifference) {
  const HistoryModel history = SmallHistory();
  const std::string& good = history.expected();
  const std::string zeros(32, '0');
  const std::string md5_of_line_6 = Line(good, 3).substr(Line(good, 3).find("md5\":\"") + 6, 32);
  const struct {
    const char* name;
    std::string log;
    std::string expected;
    const char* message;
  } cases[] = {
      {"another count", history.log(), Replaced(good, "\"items\":3", "\"items\":4"),
       "LOG:3: get of user/seen entity 17: expected 4 items md5 "},
      {"another digest", history.log(), Replaced(good, md5_of_line_6, zeros),
       "LOG:6: get of user/seen entity 17: expected 1 item md5 00000000000000000000000000000000, "
       "got 1 item md5 "},
      {"what came is shown", history.log(), Replaced(good, "\"items\":3", "\"items\":4"),
       "  2. 1699999998000000000#"},
      {"a read that is not expected", history.log(), WithoutLine(good, 2),
       "LOG:4: get of user/seen entity 17: EXPECTED:2 expects the next read at line 6"},
      {"a read too many expected", WithoutLine(history.log(), 6), good,
       "EXPECTED:3: expects a read at line 6, but LOG has no more of them"},
      {"the summary too early", history.log(), WithoutLine(good, 3),
       "LOG:6: get of user/seen entity 17: expected no more reads, for EXPECTED:3 is the summary"},
      {"the end too early", history.log(), Line(good, 1),
       "LOG:4: get of user/seen entity 17: expected nothing, for EXPECTED ends before it"},
      {"no summary", history.log(), WithoutLine(good, 4),
       "EXPECTED: ends without a summary after 3 reads"},
      {"something behind the summary", history.log(), good + Line(good, 4),
       "EXPECTED:5: a line behind the summary"},
      {"reads", history.log(), Replaced(good, "\"reads\":3", "\"reads\":2"),
       "EXPECTED:4: summary: reads: expected 2, got 3"},
      {"returned", history.log(), Replaced(good, "\"returned\":6", "\"returned\":7"),
       "EXPECTED:4: summary: returned: expected 7, got 6"},
      {"stored", history.log(), Replaced(good, "\"stored\":3", "\"stored\":1"),
       "EXPECTED:4: summary: stored: expected 1, got 3"},
      {"skipped", history.log(), Replaced(good, "\"skipped_expired\":0", "\"skipped_expired\":1"),
       "EXPECTED:4: summary: skipped_expired: expected 1, got 0"},
      {"removed", history.log(), Replaced(good, "\"removed_live\":1", "\"removed_live\":2"),
       "EXPECTED:4: summary: removed_live: expected 2, got 1"},
      {"live", history.log(), Replaced(good, "\"live_at_end\":1", "\"live_at_end\":0"),
       "EXPECTED:4: summary: live_at_end: expected 0, got 1"},
      {"an operation is missing",
       Replaced(history.log(), "\"value\":\"b c\"}\n", "\"value\":\"b\"}\n"), good,
       "LOG:6: get of user/seen entity 17: expected 1 item md5 "},
      {"a difference in front of a malformed line", history.log() + "{\n",
       Replaced(good, "\"items\":3", "\"items\":4"), "LOG:3: get of "},
  };
  const ScratchFiles files;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string log = files.Write("log", c.log);
    const std::string expected = files.Write("expected", c.expected);
    const ProgramResult result = RunProgram({"replay", log, "--expected", expected, "--json"});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_EQ(result.out, "");
    std::string message = c.message;
    for (size_t at; (at = message.find("LOG")) != std::string::npos;) message.replace(at, 3, log);
    for (size_t at; (at = message.find("EXPECTED")) != std::string::npos;) {
      message.replace(at, 8, expected);
    }
    EXPECT_NE(result.err.find(message), std::string::npos) << message << " in\n" << result.err;
  }
}

TEST(ReplayExpected, IsReadAsStrictlyAsTheLog) {
  const ScratchFiles files;
  const HistoryModel history = SmallHistory();
  const std::string log = files.Write("log", history.log());
  const std::string expected =
      files.Write("expected", Replaced(history.expected(), "\"items\":3", "\"items\":\"3\""));
  const ProgramResult result = RunProgram({"replay", log, "--expected", expected});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err, expected + ":1: \"items\" is a string, not a number\n");
}

TEST(ReplayLog, MalformedLineStopsItWithFileLineAndReason) {
  const std::string list = R"("entity_type":"u","feature":"f","version":"","entity_id":"1")";
  const std::string add = R"({"op":"add","at":7,)" + list + R"(,"items":)";
  const std::string get = R"({"op":"get","at":7,)" + list;
  const struct {
    const char* name;
    std::string line;
    const char* reason;
  } cases[] = {
      {"cut off", R"({"op":"get","at":7,)", "the JSON text ends early"},
      {"empty", "", "the line is empty"},
      {"blank", "  \r", "the line is empty"},
      {"not JSON", "get u f 1", "not valid JSON: "},
      {"two values", "{} {}", "not valid JSON: "},
      {"not an object", "[1]", "not a JSON object but an array"},
      {"not UTF-8", add + "[{\"ts\":7,\"value\":\"\xff\"}]}", "not valid JSON: "},
      {"a control character", add + "[{\"ts\":7,\"value\":\"\x01\"}]}", "not valid JSON: "},
      {"half a surrogate pair", add + R"([{"ts":7,"value":"\ud800"}]})", "not valid JSON: "},
      {"no operation", "{}", "field \"op\" is missing"},
      {"operation is no text", R"({"op":1})", "\"op\" is a number, not a string"},
      {"unknown operation", R"({"op":"pop","at":7})", "unknown operation \"pop\""},
      {"no instant", R"({"op":"remove_all",)" + list + "}", "field \"at\" is missing"},
      {"instant goes back", R"({"op":"remove_all","at":5,)" + list + "}",
       "\"at\" goes back from 6 to 5"},
      {"instant is negative", R"({"op":"remove_all","at":-7,)" + list + "}",
       "\"at\" is negative: -7"},
      {"instant is no whole number", R"({"op":"remove_all","at":7.5,)" + list + "}",
       "\"at\" is not a whole number of 64 bits: 7.5"},
      {"instant is too large", R"({"op":"remove_all","at":18446744073709551616,)" + list + "}",
       "\"at\" is not a whole number of 64 bits"},
      {"instant is text", R"({"op":"remove_all","at":"7",)" + list + "}",
       "\"at\" is a string, not a number"},
      {"no entity", R"({"op":"remove_all","at":7,"entity_type":"u","feature":"f","version":""})",
       "field \"entity_id\" is missing"},
      {"version is null",
       R"({"op":"remove_all","at":7,"entity_type":"u","feature":"f","version":null,"entity_id":"1"})",
       "\"version\" is null, not a string"},
      {"no items", add.substr(0, add.rfind(',')) + "}", "field \"items\" is missing"},
      {"items are no array", add + "{}}", "\"items\" is an object, not an array"},
      {"item is no object", add + "[7]}", "\"items[0]\" is a number, not an object"},
      {"item without time", add + R"([{"ts":7,"value":"a"},{"value":"a"}]})",
       "field \"items[1].ts\" is missing"},
      {"item with a negative time", add + R"([{"ts":-1,"value":"a"}]})",
       "\"items[0].ts\" is negative: -1"},
      {"item without value", add + R"([{"ts":7}]})", "field \"items[0].value\" is missing"},
      {"item value is a number", add + R"([{"ts":7,"value":7}]})",
       "\"items[0].value\" is a number, not a string"},
      {"item time of 20 digits", add + R"([{"ts":10000000000000000000,"value":"a"}]})",
       "9999999999999999999"},
      {"item far in the future", add + R"([{"ts":9000000000000000000,"value":"a"}]})", "630720000"},
      {"no limit", get + R"(,"min_ts":0})", "field \"limit\" is missing"},
      {"limit of 0", get + R"(,"min_ts":0,"limit":0})", "\"limit\" is 0, outside 1 to "},
      {"negative limit", get + R"(,"min_ts":0,"limit":-1})", "\"limit\" is negative: -1"},
      {"no lower bound", get + R"(,"limit":1})", "field \"min_ts\" is missing"},
      {"no value", R"({"op":"remove_value","at":7,)" + list + "}", "field \"value\" is missing"},
      {"TTL of 0",
       R"({"op":"create_feature","at":7,"entity_type":"u","feature":"g","version":"","ttl_s":0})",
       "ttl"},
      {"TTL too long",
       R"({"op":"create_feature","at":7,"entity_type":"u","feature":"g","version":"","ttl_s":630720001})",
       "630720000"},
      {"bad name",
       R"({"op":"create_feature","at":7,"entity_type":"u#","feature":"g","version":"","ttl_s":1})",
       "#"},
      {"unknown feature", Replaced(add, "\"f\"", "\"nowhere\"") + R"([{"ts":7,"value":"a"}]})",
       "nowhere"},
  };
  const std::string before =
      R"({"op":"create_feature","at":5,"entity_type":"u","feature":"f","version":"","ttl_s":9})"
      "\n"
      R"({"op":"add","at":6,)" +
      list + R"(,"items":[{"ts":6,"value":"a"}]})" + "\n";
  const ScratchFiles files;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string log = files.Write("log", before + c.line + "\n");
    const ProgramResult result = RunProgram({"replay", log, "--json"});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.rfind(log + ":3: ", 0), 0u) << result.err;
    EXPECT_NE(result.err.find(c.reason), std::string::npos) << c.reason << " in\n" << result.err;
  }
}

TEST(ReplayLog, BrokenGzipStopsIt) {
  const ScratchFiles files;
  const std::string whole = ReadFile(files.WriteGzip("whole", SmallHistory().log()));
  const auto error_of = [&](std::string bytes) {
    const ProgramResult result = RunProgram({"replay", files.Write("log", bytes)});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.err.rfind(files.Path("log") + ":", 0), 0u) << result.err;
    return result.err;
  };
  for (const size_t missing : {size_t{1}, size_t{8}, whole.size() / 2, whole.size() - 3}) {
    EXPECT_NE(error_of(whole.substr(0, whole.size() - missing)).find("ends early"),
              std::string::npos)
        << missing;
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  EXPECT_NE(error_of(damaged).find("is damaged"), std::string::npos);
}

TEST(ReplayLog, WriteRefusedAtTheMemoryLimitNamesItsLine) {
  HistoryModel model;
  const HistoryModel::List list = {"user", "seen", "", "17"};
  model.SetNow(kStart);
  model.CreateFeature(list, 86'400);
  for (uint64_t i = 0; i < 200; ++i) {
    model.Add(list, {{kStart, std::string(30'000, 'x') + std::to_string(i)}});
  }
  const ScratchFiles files;
  const std::string log = files.Write("log", model.log());
  const ProgramResult result = RunProgram({"replay", log, "--memory-limit", "4M", "--shards", "1"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err.rfind(log + ":", 0), 0u) << result.err;
  EXPECT_EQ(RunProgram({"replay", log, "--memory-limit", "64M", "--shards", "1"}).exit_status, 0);
}

TEST(ReplayLog, FeatureCreatedAgainChangesWhatComesAfterwards) {
  const HistoryModel::List list = {"user", "seen", "", "17"};
  HistoryModel model;
  model.SetNow(kStart);
  model.CreateFeature(list, 10);
  model.Add(list, {{kStart, "short"}});
  model.CreateFeature(list, 100);
  model.Add(list, {{kStart, "long"}});
  model.SetNow(kStart + 50 * kSecond);
  model.Get(list, 0, 10);
  model.Finish();
  const ScratchFiles files;
  const ProgramResult result = RunProgram({"replay", files.Write("log", model.log()), "--expected",
                                           files.Write("expected", model.expected())});
  EXPECT_EQ(result.exit_status, 0) << result.err;
}

TEST(ReplayShow, PrintsAnEntitysListsNewestFirstWithTheTimeLeft) {
  const HistoryModel::List seen = {"user", "seen", "", "17"};
  const HistoryModel::List bought = {"user", "bought", "v2", "17"};
  HistoryModel model;
  model.SetNow(kStart);
  model.CreateFeature(seen, 30 * 86'400);
  model.CreateFeature(bought, 90);
  model.Add(seen,
            {{kStart - 3600 * kSecond, "old"}, {kStart + 1, "new\n\x1b[31m"}, {kStart, "größe"}});
  model.Add(bought, {{kStart, "shoes"}});
  const ScratchFiles files;
  const std::string log = files.Write("log", model.log());

  const std::string out = RunProgram({"replay", log, "--show", "17"}).out;
  const std::string lists = out.substr(out.find("\n\nuser/") + 2);
  EXPECT_EQ(lists,
            "user/bought@v2 entity 17, 1 item at 2023-11-14 22:13:20\n"
            "  time (UTC)           value  time left\n"
            "  2023-11-14 22:13:20  shoes  1m 30s\n"
            "\n"
            "user/seen entity 17, 3 items at 2023-11-14 22:13:20\n"
            "  time (UTC)                     value            time left\n"
            "  2023-11-14 22:13:20.000000001  new\\x0a\\x1b[31m  30d 0h\n"
            "  2023-11-14 22:13:20            größe            30d 0h\n"
            "  2023-11-14 21:13:20            old              29d 23h\n");

  EXPECT_NE(RunProgram({"replay", log, "--show", "17", "--show-rows", "2"}).out.find("and 1 more"),
            std::string::npos);
  EXPECT_NE(RunProgram({"replay", log, "--show", "18"}).out.find("entity 18: no live items"),
            std::string::npos);
  // Without --show: the list with most items.
  EXPECT_NE(RunProgram({"replay", log}).out.find("user/seen entity 17, 3 items"),
            std::string::npos);
}

TEST(ReplayUsage, StandardInputIsALogToo) {
  const ScratchFiles files;
  const std::string log = files.WriteGzip("log", SmallHistory().log());
  const std::string expected = files.WriteGzip("expected", SmallHistory().expected());
  const ProgramResult result = RunProgram({"replay", "-", "--expected", expected}, log);
  EXPECT_EQ(result.exit_status, 0) << result.err;
}

TEST(ReplayUsage, EmptyLogIsALog) {
  const ProgramResult result = RunProgram({"replay", "/dev/null", "--json"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("md5").as_string(), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST(ReplayUsage, ExitStatusTellsWrongUsageFromHelp) {
  const struct {
    std::vector<std::string> arguments;
    int exit_status;
    const char* text;
  } cases[] = {
      {{}, 2, "subcommand"},
      {{"--help"}, 0, "Exit status"},
      {{"--version"}, 0, "liststore "},
      {{"replay", "--help"}, 0, "bytes_per_item"},
      {{"replay"}, 2, "FILE is required"},
      {{"replay", "/nowhere/log.jsonl"}, 2, "/nowhere/log.jsonl: No such file or directory"},
      {{"replay", "/"}, 2, "/: Is a directory"},
      {{"replay", "/dev/null", "--expected", "/nowhere/e"}, 2, "/nowhere/e: No such file"},
      {{"replay", "/dev/null", "--shards", "300"}, 2, "--shards"},
      {{"replay", "/dev/null", "--color"}, 2, "--color"},
  };
  for (const auto& c : cases) {
    const ProgramResult result = RunProgram(c.arguments);
    EXPECT_EQ(result.exit_status, c.exit_status) << c.text << "\n" << result.err;
    EXPECT_NE((result.out + result.err).find(c.text), std::string::npos) << c.text;
  }
}

}  // namespace replay_test
}  // namespace liststore::testing
