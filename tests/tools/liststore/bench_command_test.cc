// `liststore bench` as a user runs it, on few lists and for moments: that it measures and
// says what it should. How fast anything is depends on the machine, and is not asked here.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace bench_command_test {

namespace json = boost::json;

const std::vector<std::string> kTiny = {"bench",   "embedded",  "--lists", "2000",
                                        "--quick", "--seconds", "0.01"};

ProgramResult RunTiny(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = kTiny;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProgram(arguments);
}

double Number(const json::object& report, const std::string& key) {
  const json::value* value = report.if_contains(key);
  EXPECT_NE(value, nullptr) << key;
  return value == nullptr ? -1 : value->to_number<double>();
}

void ExpectLine(const json::object& report, const std::string& key) {
  EXPECT_GT(Number(report, key), 0) << key;
  const double p50 = Number(report, key + "_p50_ns");
  const double p99 = Number(report, key + "_p99_ns");
  EXPECT_GT(p50, 0) << key;
  EXPECT_LE(p50, p99) << key;
  EXPECT_LE(p99, Number(report, key + "_p999_ns")) << key;
}

TEST(BenchEmbedded, OneLineOfJsonHoldsEveryFigure) {
  const ProgramResult result = RunTiny({"--json"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  ASSERT_EQ(result.out.find('\n'), result.out.size() - 1) << "not one line: " << result.out;
  const json::object report = json::parse(result.out).as_object();

  for (const std::string kind :
       {"get10", "get50", "multiget16", "add1", "add10", "mixed", "remove"}) {
    for (const std::string lists : {"", "_zipf"}) {
      ExpectLine(report, kind + lists);
      ExpectLine(report, "plain_" + kind + lists);
      EXPECT_GT(Number(report, kind + lists + "_vs_plain"), 0) << kind << lists;
    }
  }
  for (const std::string kind : {"get10", "add1", "mixed"}) {
    EXPECT_GT(Number(report, kind + "_threads_ratio"), 0) << kind;
  }
  EXPECT_GT(Number(report, "two_threads_ratio"), 0);

  EXPECT_EQ(Number(report, "items"), 40'000);
  // An item is 24 bytes of value and 24 of key at the least.
  EXPECT_GT(Number(report, "bytes_per_item_engine"), 48);
  EXPECT_GE(Number(report, "bytes_per_item_held"), Number(report, "bytes_per_item_engine"));
  EXPECT_GE(Number(report, "bytes_per_item"), 0);
  EXPECT_GE(Number(report, "bytes_per_item_plain"), 0);
  for (const char* fact : {"version", "date", "cpu", "kernel", "compiler"}) {
    EXPECT_NE(report.at(fact).as_string(), "") << fact;
  }
}

TEST(BenchEmbedded, ThePeerIsChosenAndTheLinesMayBeAll) {
  const ProgramResult result = RunTiny({"--json", "--peer", "bare", "--lines-only"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const json::object report = json::parse(result.out).as_object();
  EXPECT_EQ(report.at("peer").as_string(), "bare");
  for (const std::string kind :
       {"get10", "get50", "multiget16", "add1", "add10", "mixed", "remove"}) {
    ExpectLine(report, kind);
    ExpectLine(report, "bare_" + kind);
    const json::array& ratios = report.at(kind + "_vs_bare_rounds").as_array();
    ASSERT_EQ(ratios.size(), 1u) << kind;
    EXPECT_EQ(ratios[0].to_number<double>(), Number(report, kind + "_vs_bare")) << kind;
    const json::array& curve = report.at(kind + "_latency_ns").as_array();
    ASSERT_EQ(curve.size(), 14u) << kind;
    EXPECT_EQ(curve[4].to_number<double>(), Number(report, kind + "_p50_ns")) << kind;
    for (size_t i = 1; i < curve.size(); ++i) {
      EXPECT_LE(curve[i - 1].to_number<double>(), curve[i].to_number<double>()) << kind;
    }
  }
  EXPECT_GE(Number(report, "bytes_per_item_bare"), 0);
  for (const char* absent :
       {"plain_get10", "get10_zipf", "get10_threads", "expiry_rows", "limit_bytes"}) {
    EXPECT_FALSE(report.contains(absent)) << absent;
  }
}

TEST(BenchEmbedded, SituationsAreLookedAt) {
  const ProgramResult result = RunTiny({"--json", "--no-peer", "--threads", "1"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const json::object report = json::parse(result.out).as_object();
  EXPECT_EQ(Number(report, "expiry_rows"), 40'000);
  EXPECT_GT(Number(report, "expiry_reads"), 0);
  EXPECT_GT(Number(report, "expiry_read_max_ns"), 0);
  EXPECT_EQ(Number(report, "deletion_lists"), 2'000);
  EXPECT_GT(Number(report, "deletion_quiet_reads"), 0);
  EXPECT_GT(Number(report, "deletion_quiet_clock_gap_max_ns"), 0);
  EXPECT_GT(Number(report, "deletion_control_reads"), 0);
  EXPECT_GE(Number(report, "expiry_quiet_clock_gap_max_ns"),
            Number(report, "expiry_quiet_clock_gaps_above_2ms") > 0 ? 2e6 : 0);
  EXPECT_GT(Number(report, "limit_bytes"), 0);
  EXPECT_LE(Number(report, "limit_held_bytes"), Number(report, "limit_bytes"));
  EXPECT_EQ(Number(report, "limit_left_behind"), 0);
  EXPECT_GT(Number(report, "limit_lists_checked"), 0);
  EXPECT_FALSE(report.contains("get10_vs_plain"));
  EXPECT_FALSE(report.contains("two_threads_ratio"));
}

TEST(BenchEmbedded, PeopleGetATable) {
  const ProgramResult result = RunTiny({"--items", "4", "--value-bytes", "100"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  for (const char* text : {"2,000 lists of 4 items with values of 100 bytes", "multi-get of 16",
                           "Zipf 0.99", "bytes an item", "2 threads", "refused"}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  }
}

TEST(BenchEmbedded, OptionsOutOfBoundsAreNamed) {
  const auto expect_error = [](std::vector<std::string> options, const std::string& message) {
    options.insert(options.begin(), {"bench", "embedded"});
    const ProgramResult result = RunProgram(options);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.err, "liststore bench: " + message + "\n");
    EXPECT_EQ(result.out, "");
  };
  expect_error({"--lists", "1"}, "--lists is 1, must be from 16 to 1000000000");
  expect_error({"--lists", "16"}, "--lists times --items is 320, must be from 1000 to 10000000000");
  expect_error({"--peer", "none"}, "--peer is none, must be one of plain, bare");
}

TEST(BenchCache, OneLineOfJsonHoldsEveryFigure) {
  const TempFolder folder;
  const std::string chart = folder / "hit_rates.svg";
  const ProgramResult result =
      RunProgram({"bench", "cache", "--lists", "2000", "--accesses", "20000", "--history",
                  LISTSTORE_DATA_DIR "/touched_files.oplog.jsonl.gz", "--flood-lists", "20000",
                  "--flood-limit", "4M", "--hit-lists", "1000", "--seconds", "0.02", "--svg", chart,
                  "--json"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  ASSERT_EQ(result.out.find('\n'), result.out.size() - 1) << "not one line: " << result.out;
  const json::object report = json::parse(result.out).as_object();

  std::set<std::string> traces;
  for (const json::value& value : report.at("lines").as_array()) {
    const json::object& line = value.as_object();
    const std::string trace(line.at("trace").as_string());
    traces.insert(trace);
    for (const char* policy : {"fifo", "lru", "w_tinylfu", "s3_fifo", "s3_fifo_hand"}) {
      EXPECT_GT(Number(line, policy), 0) << trace << " " << policy;
      EXPECT_LT(Number(line, policy), 1) << trace << " " << policy;
    }
    // The traces are made from a seed: these do not depend on the machine.
    if (trace != "history") {
      EXPECT_GT(Number(line, "s3_fifo_hand"), Number(line, "lru")) << trace;
      EXPECT_GT(Number(line, "lru"), Number(line, "fifo")) << trace;
    }
  }
  EXPECT_EQ(traces, (std::set<std::string>{"Zipf 0.7", "Zipf 0.99", "Zipf 1.1",
                                           "Zipf 0.99 and scans", "history"}));

  EXPECT_EQ(Number(report, "flood_lists_held") + Number(report, "flood_evictions"), 20'000);
  EXPECT_GT(Number(report, "flood_evictions"), 0);
  EXPECT_LE(Number(report, "flood_held_bytes"), Number(report, "flood_limit_bytes"));
  for (const std::string kind : {"hits", "mixed"}) {
    for (const char* side :
         {"_store", "_evicting", "_without_features", "_lru", "_vs_lru", "_features_share"}) {
      EXPECT_GT(Number(report, kind + side), 0) << kind << side;
    }
  }
  std::ifstream svg(chart);
  std::string first_line;
  ASSERT_TRUE(std::getline(svg, first_line)) << "a chart was asked for";
  EXPECT_EQ(first_line.substr(0, 5), "<svg ");
}

TEST(BenchCache, AHistoryThatIsNotThereIsNamed) {
  const ProgramResult result =
      RunProgram({"bench", "cache", "--lists", "2000", "--accesses", "20000", "--flood-lists", "0",
                  "--hit-lists", "0", "--history", "/nonexistent", "--json"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("liststore bench: /nonexistent: No such file or directory\n"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(BenchWire, OneLineOfJsonHoldsEveryFigure) {
  const ProgramResult result = RunProgram({"bench", "wire", "--lists", "2000", "--quick",
                                           "--seconds", "0.05", "--connections", "2", "--json"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  ASSERT_EQ(result.out.find('\n'), result.out.size() - 1) << "not one line: " << result.out;
  const json::object report = json::parse(result.out).as_object();
  for (const char* kind :
       {"select10_64", "select10_16", "insert1_64", "insert1_16", "select10_1x64"}) {
    ExpectLine(report, kind);
    EXPECT_GT(Number(report, kind + std::string("_per_core_second")), 0) << kind;
  }
  EXPECT_EQ(Number(report, "select10_1x64_reply_bytes"), 16 + 10 * (4 + 24 + 4 + 44));
  for (const char* kind : {"open_loop", "open_loop_select", "open_loop_insert"}) {
    EXPECT_EQ(report.at(kind + std::string("_latency_ns")).as_array().size(), 14u) << kind;
    EXPECT_GT(Number(report, kind + std::string("_p50_ns")), 0) << kind;
  }
  EXPECT_GT(Number(report, "open_loop_per_s"), 0);
  EXPECT_LE(Number(report, "open_loop_per_s"), Number(report, "select10_64") / 2 + 1);
  EXPECT_GT(Number(report, "open_loop_achieved_per_s"), 0);
  EXPECT_GE(Number(report, "replies_verified"), 1'000);
}

TEST(BenchWire, OverTlsAndBesideItWithout) {
  const std::vector<std::string> tiny = {"bench",     "wire", "--lists",       "1000", "--quick",
                                         "--seconds", "0.05", "--connections", "2",    "--tls"};
  std::vector<std::string> arguments = tiny;
  arguments.push_back("--json");
  ProgramResult result = RunProgram(arguments);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const json::object report = json::parse(result.out).as_object();
  EXPECT_EQ(Number(report, "tls"), 1);
  for (const char* kind : {"select10_64", "select10_16", "insert1_64", "insert1_16",
                           "plain_select10_64", "plain_select10_16", "handshakes"}) {
    ExpectLine(report, kind);
    EXPECT_GT(Number(report, kind + std::string("_per_core_second")), 0) << kind;
  }
  for (const char* kind : {"select10_64_vs_plain", "select10_16_vs_plain"}) {
    EXPECT_GT(Number(report, kind), 0) << kind;
  }
  result = RunProgram(tiny);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  for (const char* text : {"  the same, plain ", "handshakes in turn ", "with a key on P-256"}) {
    EXPECT_TRUE(Has(result.out, text)) << result.out;
  }
  arguments = tiny;
  arguments.insert(arguments.end(), {"--tls-ca", "ca.crt"});
  result = RunProgram(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "are for a server that is there (--via)")) << result.err;
}

// Whether the machine reaches what is judged is not asked.
TEST(BenchOverload, OffersEveryLoadAndSaysWhatBecameOfIt) {
  const TempFolder files;
  const std::string file = files.path() + "/overload.json";
  const std::string chart = files.path() + "/overload.svg";
  const ProgramResult result =
      RunProgram({"bench", "overload", "--lists", "1000", "--quick", "--seconds", "0.05", "--rate",
                  "20000", "--connections", "2", "--no-redis", "--json", file, "--svg", chart});
  ASSERT_LE(result.exit_status, 1) << result.err;
  for (const char* text : {"1,000 lists of 20 items with values of 24 bytes", "2 connections",
                           "--queue-time-max 5", "0.75 x", "a second sustained by a closed load",
                           "at 2 times the load: ", "the last refusal after "}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  }
  std::ifstream stream(file);
  const std::string line(std::istreambuf_iterator<char>(stream), {});
  const json::object report = json::parse(line).as_object();
  EXPECT_EQ(report.at("verdict").as_string(), result.exit_status == 0 ? "reached" : "short");
  EXPECT_GT(Number(report, "sustained_per_s"), 0);
  const json::array& due = report.at("due_per_s").as_array();
  ASSERT_EQ(due.size(), 7u);
  EXPECT_EQ(due[0].to_number<double>(), 10'000);
  EXPECT_EQ(due[6].to_number<double>(), 60'000);
  for (const json::value& answered : report.at("answered_per_s").as_array()) {
    EXPECT_GT(answered.to_number<double>(), 0);
  }
  EXPECT_TRUE(std::ifstream(chart).good());
}

TEST(BenchOverload, OptionsAreChecked) {
  const ProgramResult result = RunProgram({"bench", "overload", "--connections", "20000"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "--connections is 20000, must be from 1 to 10000")) << result.err;
}

TEST(BenchWire, PeopleGetATable) {
  const ProgramResult result = RunProgram(
      {"bench", "wire", "--lists", "1000", "--quick", "--seconds", "0.02", "--rate", "5000"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  for (const char* text :
       {"1,000 lists of 20 items with values of 24 bytes", "8 connections", "SELECT 10, 64 each",
        "INSERT 1, 16 each", "SELECT 10, 1 on 64", "SELECT 10, 95 of 100",
        "5,000 requests a second, each sent at its instant", "all as expected"}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  }
}

ProgramResult WireAgainst(const CopyServer& server) {
  return RunProgram({"bench", "wire", "--via", server.address(), "--lists", "1000", "--seconds",
                     "0.02", "--connections", "2", "--quick", "--json"});
}

// The lists are read back whole at the end: none is missing.
TEST(BenchWire, BatchesThatAServerHadNoTimeForAreSentAgain) {
  CopyServer server(std::vector<std::string>{});
  server.Run(
      "INSERT INTO liststore.faults (name, op, times, action) "
      "VALUES ('slow', 'BATCH', 20, 'write_timeout')");
  const ProgramResult result = WireAgainst(server);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_GE(Number(json::parse(result.out).as_object(), "replies_verified"), 1'000);
  EXPECT_EQ(server.Number("SELECT hits FROM liststore.faults"), 20);
}

TEST(BenchWire, AnErrorIsToldInTheWordsOfTheServer) {
  CopyServer server(std::vector<std::string>{});
  server.Run(
      "INSERT INTO liststore.faults (name, op, times, action) "
      "VALUES ('full', 'BATCH', 1, 'server_error')");
  const ProgramResult result = WireAgainst(server);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "liststore bench: a BATCH was refused: error 0x0000: "))
      << result.err;
}

std::vector<std::string> TinyTarget(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"bench",   "target",    "--lists", "1000",
                                        "--quick", "--seconds", "0.05"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(BenchTarget, SaysWhatWasDoneOfTheRateAndWhetherItWasReached) {
  const ProgramResult result = RunProgram(TinyTarget({"--rate", "20000", "--json"}));
  ASSERT_TRUE(result.exit_status == 0 || result.exit_status == 1) << result.err;
  const json::object report = json::parse(result.out).as_object();
  for (const std::string side : {"embedded", "wire"}) {
    EXPECT_GT(Number(report, side + "_per_s"), 0) << side;
    // 95 reads of ten items to five additions of one.
    EXPECT_NEAR(Number(report, side + "_items_fetched_per_s"),
                190 * Number(report, side + "_items_stored_per_s"),
                0.05 * Number(report, side + "_items_fetched_per_s"))
        << side;
    EXPECT_GT(Number(report, side + "_verified"), 0) << side;
    EXPECT_LE(Number(report, side + "_read_p50_ns"), Number(report, side + "_read_p99_ns")) << side;
  }
  EXPECT_EQ(report.at("verdict").as_string(), result.exit_status == 0 ? "reached" : "short");
}

TEST(BenchTarget, ARateThatNoMachineReachesIsShort) {
  const ProgramResult result = RunProgram({"bench", "target", "--lists", "1000", "--seconds",
                                           "0.002", "--rate", "100000000", "--only", "embedded"});
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_TRUE(Has(result.out, "short:   embedded, 2 threads: ")) << result.out;
  EXPECT_FALSE(Has(result.out, "over the wire,")) << result.out;
}

TEST(BenchTarget, OptionsThatCannotBeUsedAreNamed) {
  ProgramResult result = RunProgram({"bench", "target", "--rate", "10"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err, "liststore bench: --rate is 10, must be from 1000 to 100000000\n");
  result = RunProgram({"bench", "target", "--lists", "100000000", "--items", "1000"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "bytes that the server may take")) << result.err;
}

TEST(BenchWire, MoreThanTheMachineHasIsRefusedBeforeAServerIsStarted) {
  const std::vector<std::string> large = {"bench",   "wire", "--lists",       "100000000",
                                          "--items", "1000", "--value-bytes", "65487"};
  ProgramResult result = RunProgram(large);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err,
                  "liststore bench: 100000000 lists of 1000 values of 65487 bytes want "
                  "13107440000000000 bytes populated, twice what they take: more than the "))
      << result.err;
  EXPECT_TRUE(Has(result.err,
                  ". Ask for less by --lists, --items or --value-bytes, or for fewer by "
                  "--populate\n"))
      << result.err;
  result = RunProgram({"bench", "wire", "--populate", "1000000G"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "liststore bench: --populate is 1073741824000000, more than the "))
      << result.err;
}

TEST(BenchWire, AServerThatIsNotThereIsNamed) {
  const ProgramResult result = RunProgram({"bench", "wire", "--via", "127.0.0.1:1"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err, "liststore bench: cannot connect to 127.0.0.1:1: Connection refused\n");
}

}  // namespace bench_command_test
}  // namespace liststore::testing
