// `liststore report` as its users run it, beside a server with planted sins, and one without.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "programs/client/cql_client.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/program.h"
#include "tools/report/advice.h"

namespace liststore::testing {
namespace report_test {

constexpr uint8_t kError = 0x00;

class Report : public ::testing::Test {
 protected:
  void Start(const std::string& journal) {
    program_ = std::make_unique<RunningProgram>(
        std::vector<std::string>{"serve", "--cql-port", "0", "--journal", journal});
    port_ = boost::json::value_to<uint16_t>(
        boost::json::parse(program_->ReadLine()).as_object().at("cql_port"));
    client_ = std::make_unique<RawCqlClient>(port_);
    ASSERT_TRUE(client_->StartUp());
  }
  void Run(std::string_view statement) {
    const auto frame = client_->Query(statement);
    ASSERT_TRUE(frame);
    ASSERT_NE(frame->opcode, kError) << statement << ": " << ErrorMessageOf(*frame);
  }
  void MakeTable() {
    Run("CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', "
        "'replication_factor': 1}");
    Run("CREATE TABLE feat.clicks (user text, seq int, item text, PRIMARY KEY (user, seq)) "
        "WITH default_time_to_live = 3600");
    Run("CREATE TABLE feat.kept (user text PRIMARY KEY, item text)");
  }
  ProgramResult Ask(const std::string& junit = "") {
    std::vector<std::string> arguments = {"report", "--via", "127.0.0.1:" + std::to_string(port_)};
    if (!junit.empty()) arguments.insert(arguments.end(), {"--junit", junit});
    return RunProgram(arguments);
  }

  uint16_t port_ = 0;
  std::unique_ptr<RunningProgram> program_;
  std::unique_ptr<RawCqlClient> client_;
};

TEST_F(Report, FindsThreePlantedSins) {
  Start("1000");
  MakeTable();
  for (const char* user : {"a", "b", "c"}) {
    Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('" + std::string(user) + "', 1, 'x')");
  }
  Run("SELECT * FROM feat.clicks WHERE item = '<&\"' ALLOW FILTERING");
  Run("INSERT INTO feat.kept (user) VALUES ('a')");
  const ScratchFiles files;
  const ProgramResult result = Ask(files.Path("lint.xml"));
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_NE(result.out.find("3 findings"), std::string::npos) << result.out;
  const std::string xml = ReadFile(files.Path("lint.xml"));
  EXPECT_TRUE(xml.starts_with("<?xml version=\"1.0\""));
  EXPECT_NE(xml.find("tests=\"9\" failures=\"3\""), std::string::npos) << xml;
  for (const char* rule : {"unprepared", "allow_filtering", "no_ttl"}) {
    EXPECT_NE(result.out.find(rule), std::string::npos) << result.out;
    EXPECT_NE(xml.find("name=\"" + std::string(rule) + "\">\n      <failure"), std::string::npos)
        << xml;
  }
  EXPECT_NE(xml.find("name=\"in_keys\"/>"), std::string::npos) << xml;
  EXPECT_EQ(xml.find("&\""), std::string::npos) << "what XML means otherwise is escaped";
}

TEST_F(Report, EachFindingHasAdvice) {
  for (const char* rule : {"unprepared", "allow_filtering", "batch_partitions", "in_keys", "no_ttl",
                           "tombstones", "large_partition", "future_timestamp", "timestamp_unit"}) {
    const Advice* const advice = FindAdvice(LintAdvice(), rule);
    ASSERT_NE(advice, nullptr) << rule;
    EXPECT_FALSE(advice->means.empty() || advice->remedy.empty()) << rule;
  }
  Start("1000");
  MakeTable();
  Run("SELECT * FROM feat.clicks WHERE item = 'x' ALLOW FILTERING");
  const ProgramResult result = Ask();
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_NE(result.out.find("reads more than it returns\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("instead: a table whose key is what is asked for"), std::string::npos)
      << result.out;
}

TEST_F(Report, EachCounterHasAdviceOrCountsWhatIsWell) {
  Start("1000");
  const auto client = CqlClient::Connect("127.0.0.1:" + std::to_string(port_));
  ASSERT_TRUE(client.ok()) << client.status();
  const auto counters = (*client)->Query("SELECT name FROM liststore.counters");
  ASSERT_TRUE(counters.ok()) << counters.status();
  const std::set<std::string> well = {"connections", "dynamodb_requests", "http_requests",
                                      "statements_long", "tls_handshakes"};
  EXPECT_GT(counters->size(), well.size());
  for (size_t row = 0; row < counters->size(); ++row) {
    const std::string name(counters->at(row, 0));
    EXPECT_NE(FindAdvice(CounterAdvice(), name) != nullptr, well.contains(name)) << name;
  }
}

TEST_F(Report, SaysWhatTheServerDidNotDo) {
  Start("1000");
  MakeTable();
  const auto frame = client_->Query("CREATE TRIGGER v ON feat.clicks USING 'x'");
  ASSERT_TRUE(frame);
  const ProgramResult result = Ask();
  EXPECT_EQ(result.exit_status, 0) << "it is no habit of the statements: " << result.out;
  EXPECT_NE(result.out.find("of the server, since it started:\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("LS-"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("instead: "), std::string::npos) << result.out;
}

TEST_F(Report, ACleanRunHasNone) {
  Start("1000");
  MakeTable();
  Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('a', 1, 'x')");
  Run("SELECT item FROM feat.clicks WHERE user = 'a'");
  const ScratchFiles files;
  const ProgramResult result = Ask(files.Path("lint.xml"));
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("nothing found; "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" requests looked at"), std::string::npos) << result.out;
  EXPECT_NE(ReadFile(files.Path("lint.xml")).find("failures=\"0\""), std::string::npos);
}

TEST_F(Report, SaysWhyItCannot) {
  Start("0");
  ProgramResult result = Ask();
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("--journal"), std::string::npos) << result.err;

  Run("UPDATE liststore.journal SET capacity = 10 WHERE key = 'journal'");
  result = Ask("/nonexistent/lint.xml");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("/nonexistent/lint.xml"), std::string::npos) << result.err;

  setenv("LISTSTORE_ADDRESS", ("127.0.0.1:" + std::to_string(port_)).c_str(), 1);
  result = RunProgram({"report"});
  unsetenv("LISTSTORE_ADDRESS");
  EXPECT_EQ(result.exit_status, 0) << "the server may be named in the environment: " << result.err;

  program_.reset();
  result = Ask();
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("127.0.0.1"), std::string::npos) << result.err;
}

}  // namespace report_test
}  // namespace liststore::testing
