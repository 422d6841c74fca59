// `liststore replay --via` against `liststore serve`, as a user runs the two.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/support/seed.h"
#include "tests/tools/program.h"
#include "tests/tools/replay/history_model.h"

namespace liststore::testing {
namespace replay_wire_test {

namespace json = boost::json;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

std::string BundledFile(const std::string& kind) {
  return std::string(LISTSTORE_DATA_DIR) + "/touched_files." + kind + ".jsonl.gz";
}

// A server with this clock, and where it listens.
class Server {
 public:
  explicit Server(const std::string& clock)
      : program_({"serve", "--cql-port", "0", "--clock", clock, "--until-eof"}) {
    const json::object ready = json::parse(program_.ReadLine()).as_object();
    address_ = "127.0.0.1:" + std::to_string(ready.at("cql_port").to_number<int>());
  }
  const std::string& address() const { return address_; }

 private:
  RunningProgram program_;
  std::string address_;
};

TEST(ReplayVia, BundledHistoryIsAnsweredAsExpected) {
  const Server server("manual:0");
  const ProgramResult result =
      RunProgram({"replay", BundledFile("oplog"), "--expected", BundledFile("expected"), "--json",
                  "--via", server.address()});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const json::object summary = json::parse(result.out).as_object();
  EXPECT_EQ(summary.at("reads").to_number<uint64_t>(), 17'733u);
  EXPECT_EQ(summary.at("returned").to_number<uint64_t>(), 313'780u);
  EXPECT_EQ(summary.at("live_at_end").to_number<uint64_t>(), 2'654u);
  EXPECT_EQ(summary.at("md5").as_string(), "e6a6aa1daae075db63b3fc78fac8825e");
  EXPECT_TRUE(summary.at("compared").as_bool());
  EXPECT_GT(summary.at("ops_per_s").to_number<double>(), 0);
  EXPECT_EQ(summary.at("bytes_per_item").to_number<double>(), 0) << "not known over the wire";

  const ProgramResult again =
      RunProgram({"replay", BundledFile("oplog"), "--via", server.address()});
  EXPECT_EQ(again.exit_status, 2) << "the clock has gone on, and does not go back";
  EXPECT_NE(again.err.find("start the server with --clock manual:1407650193"), std::string::npos)
      << again.err;
}

TEST(ReplayVia, RandomHistoriesAreAnsweredAsByTheModel) {
  const uint64_t seed = TestSeed();
  const ScratchFiles files;
  for (uint64_t i = 0; i < 2; ++i) {
    const HistoryModel history = RandomHistory(seed + i, kStart, TestSteps(2000));
    const std::string log = files.Write("log", history.log());
    const std::string expected = files.Write("expected", history.expected());
    const Server server("manual:0");
    const ProgramResult result =
        RunProgram({"replay", log, "--expected", expected, "--via", server.address()});
    ASSERT_EQ(result.exit_status, 0) << "history " << i << "\n" << result.err;
    EXPECT_NE(result.out.find("one connection to " + server.address()), std::string::npos);
  }
}

TEST(ReplayVia, AServerThatCannotBeUsedIsNamedWithTheReason) {
  const ScratchFiles files;
  HistoryModel history;
  history.SetNow(kStart);
  const HistoryModel::List list = {"user", "seen", "", "17"};
  history.CreateFeature(list, 60);
  history.Add(list, {{kStart, "a"}});
  history.Finish();
  const std::string log = files.Write("log", history.log());
  {
    const Server server("real");
    const ProgramResult result = RunProgram({"replay", log, "--via", server.address()});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.err, server.address() +
                              ": the server's clock is the machine's; a replay moves it: start "
                              "the server with --clock manual:0\n");
  }
  {
    const Server server("manual:1700000000");
    EXPECT_EQ(RunProgram({"replay", log, "--via", server.address()}).exit_status, 0);
    const ProgramResult again = RunProgram({"replay", log, "--via", server.address()});
    EXPECT_EQ(again.exit_status, 2);
    EXPECT_EQ(again.err, server.address() +
                             ": feature_store.list_items holds items; a replay needs it empty\n");
  }
  EXPECT_EQ(RunProgram({"replay", log, "--via", "nowhere"}).err, "'nowhere' is not HOST:PORT\n");
  const ProgramResult both = RunProgram({"replay", log, "--via", "127.0.0.1:1", "--shards", "2"});
  EXPECT_EQ(both.exit_status, 2);
  EXPECT_NE(both.err.find(" excludes --"), std::string::npos) << both.err;
}

}  // namespace replay_wire_test
}  // namespace liststore::testing
