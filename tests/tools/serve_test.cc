// `liststore serve` as its users run it: free ports, real signals.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/raw_cql_client.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace {

struct Ready {
  uint16_t cql_port = 0;
  uint16_t shard_aware_port = 0;
  int pid = 0;
};

Ready ParseReady(const std::string& line) {
  const boost::json::object json = boost::json::parse(line).as_object();
  return {boost::json::value_to<uint16_t>(json.at("cql_port")),
          boost::json::value_to<uint16_t>(json.at("shard_aware_port")),
          boost::json::value_to<int>(json.at("pid"))};
}

bool Exists(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0;
}

TEST(Serve, SaysWhereItListensAndStopsWhenTold) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const ScratchFiles files;
    const std::string ready_file = files.Path("ready.json");
    RunningProgram program({"serve", "--cql-port", "0", "--ready-file", ready_file});
    const std::string line = program.ReadLine();
    EXPECT_EQ(ReadFile(ready_file), line + "\n");
    const Ready ready = ParseReady(line);
    EXPECT_EQ(ready.pid, program.pid());
    EXPECT_NE(ready.cql_port, ready.shard_aware_port);
    RawCqlClient client(ready.cql_port);
    EXPECT_TRUE(client.StartUp());
    EXPECT_TRUE(RawCqlClient(ready.shard_aware_port).StartUp());
    program.Signal(signal);
    EXPECT_FALSE(client.Read()) << "the connection is closed";
    const ProgramResult result = program.Wait();
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_NE(result.err.find(signal == SIGINT ? "SIGINT" : "SIGTERM"), std::string::npos);
    EXPECT_FALSE(Exists(ready_file));
  }
}

TEST(Serve, EndsWithStandardInputWhenAsked) {
  RunningProgram program({"serve", "--cql-port", "0", "--until-eof", "--log-level", "error"});
  RawCqlClient client(ParseReady(program.ReadLine()).cql_port);
  EXPECT_TRUE(client.StartUp());
  program.CloseInput();
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "");
}

TEST(Serve, APortInUseIsOneLineAndNoStart) {
  RunningProgram first({"serve", "--cql-port", "0"});
  const std::string port = std::to_string(ParseReady(first.ReadLine()).cql_port);
  const ScratchFiles files;
  const ProgramResult second =
      RunProgram({"serve", "--cql-port", port, "--ready-file", files.Path("ready")});
  EXPECT_EQ(second.exit_status, 2);
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(second.err, "liststore: 127.0.0.1:" + port + " is already in use\n");
  EXPECT_FALSE(Exists(files.Path("ready")));
}

TEST(Serve, OptionsComeFromTheLineThenTheEnvironmentThenAFile) {
  const ScratchFiles files;
  const std::string config = files.Write(
      "config", "cql-port = 0\nshards = 5\naddress = example.org\nscylla = off\nuntil-eof=true\n");
  RunningProgram program(
      {"serve", "--config", config, "--shards", "2"},
      {"LISTSTORE_ADDRESS=127.0.0.1", "LISTSTORE_SHARDS=9", "LISTSTORE_AUTH=cassandra:secret"});
  const Ready ready = ParseReady(program.ReadLine());
  RawCqlClient client(ready.cql_port);
  const auto supported = client.Ask({.opcode = 0x05});
  ASSERT_TRUE(supported);
  EXPECT_EQ(supported->body.find("SCYLLA"), std::string::npos);
  EXPECT_EQ(client.Ask({.opcode = 0x01, .body = StartupBody()})->opcode, 0x03) << "AUTHENTICATE";
  program.CloseInput();
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("2 shards"), std::string::npos) << result.err;
}

// How often `part` is in `text`.
size_t CountOf(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr const char* kAskedInVain[] = {
    "CREATE ROLE r WITH PASSWORD = 'secret'",
    "LIST ROLES",
    "CREATE MATERIALIZED VIEW v\nAS SELECT * FROM t PRIMARY KEY (a)",
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
    "ALTER KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}",
    "SELEC",
};

TEST(Serve, SaysOnceWhatWasAskedForInVain) {
  RunningProgram program({"serve", "--cql-port", "0"});
  RawCqlClient client(ParseReady(program.ReadLine()).cql_port);
  ASSERT_TRUE(client.StartUp());
  for (const char* statement : kAskedInVain) ASSERT_TRUE(client.Query(statement)) << statement;
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0) << "not strict";
  EXPECT_EQ(CountOf("LS-", result.err), 3u) << result.err;
  EXPECT_EQ(
      CountOf("liststore: LS-0005: does not support roles and permissions; instead: one user "
              "for all, given to the server when it starts; first asked for by: CREATE ROLE r "
              "WITH PASSWORD...\n",
              result.err),
      1u)
      << result.err;
  EXPECT_EQ(CountOf("first asked for by: CREATE MATERIALIZED VIEW v AS SELECT", result.err), 1u)
      << "one line: " << result.err;
  EXPECT_EQ(CountOf("liststore: LS-0101: accepted without effect: replication_factor (one node has "
                    "the one copy)\n",
                    result.err),
            1u)
      << result.err;
}

TEST(Serve, StrictFailsWhenSomethingWasRefused) {
  RunningProgram program({"serve", "--cql-port", "0", "--strict", "--log-level", "error"});
  RawCqlClient client(ParseReady(program.ReadLine()).cql_port);
  ASSERT_TRUE(client.StartUp());
  for (const char* statement : kAskedInVain) ASSERT_TRUE(client.Query(statement)) << statement;
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.err,
            "liststore: --strict: 3 requests were refused\n"
            "liststore:   LS-0001 materialized views: 1\n"
            "liststore:   LS-0005 roles and permissions: 2\n");
}

TEST(Serve, StrictIsContentWithErrorsOfScyllaDbAndWithoutEffect) {
  RunningProgram program({"serve", "--cql-port", "0", "--until-eof", "--log-level", "error"},
                         {"LISTSTORE_STRICT=true"});
  RawCqlClient client(ParseReady(program.ReadLine()).cql_port);
  ASSERT_TRUE(client.StartUp());
  for (const char* statement :
       {"SELEC", "SELECT * FROM nothing.here",
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "3}"}) {
    ASSERT_TRUE(client.Query(statement)) << statement;
  }
  program.CloseInput();
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "");
}

TEST(Serve, WrongOptionsAreNamed) {
  const ScratchFiles files;
  struct Case {
    std::vector<std::string> arguments;
    std::string said;
  };
  const std::vector<Case> cases = {
      {{"--cql-port", "70000"}, "--cql-port"},
      {{"--shards", "0"}, "--shards"},
      {{"--scylla", "maybe"}, "--scylla"},
      {{"--client-timestamps", "never"}, "--client-timestamps"},
      {{"--clock", "sun"}, "--clock is 'sun', not real, manual or manual:SECONDS"},
      {{"--auth", "nobody"}, "--auth is not USER:PASSWORD"},
      {{"--address", "example.org"}, "'example.org' is no IPv4 or IPv6 address to listen on"},
      {{"--memory-limit", "1"}, "memory_limit_bytes is 1, less than 1048576"},
      {{"--ready-file", "/nowhere/ready"}, "cannot write the ready file /nowhere/ready"},
      {{"--config", files.Write("bad", "moon = full\n")}, "no option moon"},
      {{"--config", "/nowhere/config"}, "/nowhere/config"},
  };
  for (const Case& wrong : cases) {
    std::vector<std::string> arguments = {"serve", "--cql-port", "0"};
    if (wrong.arguments[0] == "--cql-port") arguments = {"serve"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_status, 2) << wrong.said;
    EXPECT_EQ(result.out, "") << wrong.said;
    EXPECT_NE(result.err.find(wrong.said), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace liststore::testing
