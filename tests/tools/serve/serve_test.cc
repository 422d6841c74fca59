// `liststore serve` as its users run it: free ports, real signals.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/check.h"
#include "engine/cql/values/encode_value.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace serve_test {

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

TEST(Serve, SpeaksHttpWhereItIsAskedFor) {
  RunningProgram without({"serve", "--cql-port", "0"});
  EXPECT_FALSE(boost::json::parse(without.ReadLine()).as_object().contains("http_port"));
  without.Signal(SIGTERM);
  RunningProgram program({"serve", "--cql-port", "0", "--http-port", "0"});
  const boost::json::object ready = boost::json::parse(program.ReadLine()).as_object();
  RawCqlClient client(boost::json::value_to<uint16_t>(ready.at("http_port")));
  client.Send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.ReadBytes(15), "HTTP/1.1 200 OK");
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  EXPECT_NE(err.find("; HTTP on port "), std::string::npos) << err;
}

TEST(Serve, SpeaksDynamodbWhereItIsAskedFor) {
  RunningProgram program({"serve", "--cql-port", "0", "--dynamodb-port", "0"});
  const boost::json::object ready = boost::json::parse(program.ReadLine()).as_object();
  RawCqlClient client(boost::json::value_to<uint16_t>(ready.at("dynamodb_port")));
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.ReadBytes(15), "HTTP/1.1 200 OK");
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  EXPECT_NE(err.find("; DynamoDB on port "), std::string::npos) << err;
}

TEST(Serve, SaysWhichClockItHas) {
  const struct {
    const char* option;
    const char* said;
  } kClocks[] = {{"real", "real"},
                 {"manual", "manual"},
                 {"manual:1700000000", "manual"},
                 {"scaled:60.50", "scaled:60.5"}};
  for (const auto& clock : kClocks) {
    RunningProgram program({"serve", "--cql-port", "0", "--clock", clock.option});
    const boost::json::object ready = boost::json::parse(program.ReadLine()).as_object();
    EXPECT_EQ(ready.at("clock").as_string(), clock.said);
    program.Signal(SIGTERM);
    const std::string err = program.Wait().err;
    EXPECT_NE(err.find(std::string("; clock ") + clock.said + "\n"), std::string::npos) << err;
  }
}

TEST(Serve, WithShardsOffItLooksLikeTheCassandraThatIsNamed) {
  RunningProgram program({"serve", "--cql-port", "0", "--shards", "off", "--release-version", "5.0",
                          "--log-level", "info"});
  RawCqlClient client(ParseReady(program.ReadLine()).cql_port);
  const auto supported = client.Ask({.opcode = 0x05});
  ASSERT_TRUE(supported);
  EXPECT_EQ(supported->body.find("SCYLLA"), std::string::npos);
  EXPECT_NE(supported->body.find("3.4.7"), std::string::npos) << "CQL of Cassandra 5.0";
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait();
  EXPECT_NE(result.err.find("; 1 shard;"), std::string::npos) << result.err;
}

TEST(Serve, SaysThatNotAllIsKept) {
  for (const bool is_there : {true, false}) {
    const TempFolder folder;
    const std::string directory = folder / "kept";
    RunningProgram program({"serve", "--cql-port", "0", "--data-dir", directory, "--commit-log",
                            "off", "--save-at-end", "--log-level", "error"});
    ASSERT_NE(program.ReadLine(), "");
    if (!is_there) std::filesystem::remove_all(directory);
    program.Signal(SIGTERM);
    const ProgramResult result = program.Wait();
    EXPECT_EQ(result.exit_status, is_there ? 0 : 2) << result.err;
    const bool says_so = result.err.find("no snapshot was taken: ") != std::string::npos;
    EXPECT_EQ(says_so, !is_there) << result.err;
  }
}

// The password that lets `root` in, if any of them does.
std::string PasswordOf(const std::string& ready) {
  const uint16_t port = ParseReady(ready).cql_port;
  for (const std::string password : {"secret", "from file", "cassandra"}) {
    if (CqlSession(port, CqlLogin{"root", password}).login_error().empty()) return password;
  }
  return "";
}

TEST(Serve, TakesThePasswordFromWhereOthersDoNotSeeIt) {
  const ScratchFiles files;
  const std::string file = files.Write("password", "from file\r\nsecond line\n");
  {
    RunningProgram program({"serve", "--cql-port", "0"}, {"LISTSTORE_AUTH=root:secret"});
    EXPECT_EQ(PasswordOf(program.ReadLine()), "secret");
  }
  {
    RunningProgram program(
        {"serve", "--cql-port", "0", "--auth", "root", "--auth-password-file", file});
    EXPECT_EQ(PasswordOf(program.ReadLine()), "from file");
  }
  {
    RunningProgram program({"serve", "--cql-port", "0", "--scylla-option",
                            "authenticator=PasswordAuthenticator", "--scylla-option",
                            "auth_superuser_name=root"});
    EXPECT_EQ(PasswordOf(program.ReadLine()), "cassandra");
  }
  const std::string empty = files.Write("empty", "\nsecond\n");
  const std::string none = files.Write("none", "");
  struct Case {
    std::vector<std::string> options;
    std::string said;
  };
  const Case cases[] = {
      {{"--auth", "root:x", "--auth-password-file", file},
       "--auth has a password, and so has --auth-password-file"},
      {{"--auth-password-file", file}, "--auth-password-file is for the user that --auth names"},
      {{"--auth", "root", "--auth-password-file", empty}, empty + ": its first line is empty"},
      {{"--auth", "root", "--auth-password-file", none}, none + ": has no line with a password"},
      {{"--auth", "root", "--auth-password-file", "/nowhere/file"},
       "--auth-password-file /nowhere/file: No such file or directory"},
      {{"--auth", ":x"}, "--auth is not USER:PASSWORD, nor USER with --auth-password-file"},
      {{"--scylla-option", "authorizer=Nobody"},
       "authorizer is 'Nobody', not AllowAllAuthorizer or CassandraAuthorizer"},
  };
  for (const Case& one : cases) {
    std::vector<std::string> arguments = {"serve", "--cql-port", "0"};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    RunningProgram program(arguments);
    const ProgramResult result = program.Wait();
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_NE(result.err.find(one.said), std::string::npos) << result.err;
  }
}

TEST(Serve, SaysWhatIsOpenToEverybody) {
  const struct {
    std::vector<std::string> options;
    const char* said;
    bool has_instruments;
  } kCases[] = {
      {{}, "", true},
      {{"--address", "127.0.0.2"}, "", true},
      {{"--instruments", "off"}, "", false},
      {{"--address", "0.0.0.0"},
       "without a password (--auth): all data; liststore.data, clock, faults, requests, journal "
       "and lint are off (--instruments on)",
       false},
      {{"--address", "0.0.0.0", "--instruments", "on"},
       "without a password (--auth): all data, resets, the clock, faults and others' requests "
       "(--instruments on)",
       true},
  };
  for (const auto& one : kCases) {
    std::vector<std::string> arguments = {"serve", "--cql-port", "0"};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    RunningProgram program(arguments);
    const bool is_other = one.options.size() > 1 && one.options[1] == "127.0.0.2";
    RawCqlClient client(ParseReady(program.ReadLine()).cql_port,
                        is_other ? "127.0.0.2" : "127.0.0.1");
    ASSERT_TRUE(client.StartUp());
    const auto clock = client.Query("SELECT * FROM liststore.clock");
    ASSERT_TRUE(clock);
    EXPECT_EQ(clock->opcode == 0x08, one.has_instruments) << one.said;
    program.Signal(SIGTERM);
    const std::string err = program.Wait().err;
    EXPECT_EQ(err.find("open to everybody who reaches 0.0.0.0, port ") != std::string::npos,
              one.said[0] != '\0')
        << err;
    EXPECT_NE(err.find(one.said), std::string::npos) << err;
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

// Starts `liststore serve --until-eof` from a process of its own, which holds its standard input,
// and returns that process.
pid_t StartBelowAParent(int output) {
  const pid_t parent = fork();
  LS_CHECK(parent >= 0, "a process can be made");
  if (parent > 0) return parent;
  int in[2];
  std::string program = LISTSTORE_PROGRAM;
  char* const argv[] = {
      program.data(),         const_cast<char*>("serve"),       const_cast<char*>("--cql-port"),
      const_cast<char*>("0"), const_cast<char*>("--until-eof"), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (pipe2(in, O_CLOEXEC) != 0) _exit(1);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  if (posix_spawn(&child, program.c_str(), &actions, nullptr, argv, environ) != 0) _exit(1);
  while (true) pause();
}

bool Connects(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int status = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  close(fd);
  return status == 0;
}

TEST(Serve, EndsWhenTheProcessThatStartedItIsKilled) {
  int out[2];
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  const pid_t parent = StartBelowAParent(out[1]);
  close(out[1]);
  std::string line;
  for (char c; read(out[0], &c, 1) == 1 && c != '\n';) line += c;
  const Ready ready = ParseReady(line);
  RawCqlClient client(ready.cql_port);
  EXPECT_TRUE(client.StartUp());
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_FALSE(client.Read()) << "the connection is closed";
  char c;
  EXPECT_EQ(read(out[0], &c, 1), 0) << "nobody writes there any more: the server has ended";
  EXPECT_FALSE(Connects(ready.cql_port));
  close(out[0]);
}

// Of liststore.memory and liststore.counters.
int64_t NumberOf(CqlSession& session, const std::string& select) {
  const CqlAnswer answer = session.Run({select, {}});
  EXPECT_EQ(answer.rows.size(), 1u) << select << ": " << answer.error;
  return answer.rows.empty() ? -1 : cql::DecodeInteger(answer.rows[0][0].value_or(""));
}

// Until the loop has done its work of now and then at least once: a client that says nothing ends.
// For a server with --idle-timeout 2, twice what the loop looks by, and one shard.
void AwaitBackground(CqlSession& session, uint16_t port) {
  const std::string ended =
      "SELECT value FROM liststore.counters WHERE name = 'connections_ended_idle'";
  const int64_t before = NumberOf(session, ended);
  RawCqlClient idle(port);
  EXPECT_TRUE(idle.StartUp());
  while (NumberOf(session, ended) == before) {
  }
}

size_t Times(const std::string& text, const std::string& said) {
  size_t times = 0;
  for (size_t at = text.find(said); at != std::string::npos; at = text.find(said, at + 1)) ++times;
  return times;
}

TEST(Serve, SaysThatMemoryIsFullAndTakesAnotherLimit) {
  RunningProgram program({"serve", "--cql-port", "0", "--memory-limit", "64M", "--idle-timeout",
                          "2", "--journal", "0"});
  const uint16_t port = ParseReady(program.ReadLine()).cql_port;
  CqlSession session(port);
  for (const char* statement :
       {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (p int PRIMARY KEY, v blob)"}) {
    ASSERT_EQ(session.Run({statement, {}}).error, "");
  }
  const std::string limits = "SELECT limit_bytes FROM liststore.memory WHERE kind = ";
  EXPECT_EQ(NumberOf(session, limits + "'process'"), 64 << 20);
  // Less 28 MiB and a 32nd for the program, and an eighth, 16 MiB at least, for clients.
  EXPECT_EQ(NumberOf(session, limits + "'rows'"), 18 << 20);
  int rows = 0;
  const auto insert = [&] {
    const std::string text = "INSERT INTO k.t (p, v) VALUES (?, ?)";
    return session.Run({text, {{cql::EncodeInt(rows)}, {std::string(50'000, 'x')}}, true}).error;
  };
  while (insert().empty()) ++rows;
  AwaitBackground(session, port);
  const std::string change = "UPDATE liststore.memory SET limit_bytes = ";
  const std::string of_process = " WHERE kind = 'process' AND name = 'all'";
  EXPECT_EQ(session.Run({change + "67108863" + of_process, {}}).error,
            "liststore.memory: limit_bytes is 67108863 bytes, less than 67108864: it is for the "
            "whole process");
  EXPECT_EQ(session.Run({change + "268435456" + of_process, {}}).error, "");
  EXPECT_EQ(NumberOf(session, limits + "'process'"), 256 << 20);
  EXPECT_EQ(NumberOf(session, limits + "'rows'"), (256 - 28 - 8 - 32) << 20);
  EXPECT_EQ(insert(), "");
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  EXPECT_EQ(Times(err, "memory is full: rows hold "), 1u) << err;
  EXPECT_EQ(
      Times(err,
            " writes were refused; more room: UPDATE liststore.memory SET limit_bytes = "
            "BYTES WHERE kind = 'process' AND name = 'all', now 67108864, and --memory-limit "
            "for the next start; rows with a TTL go by themselves; with --memory-policy evict "
            "the server is a cache\n"),
      1u)
      << err;
  EXPECT_EQ(Times(err, "the memory limit was changed: 268435456 bytes for the process; rows hold "),
            1u)
      << err;
}

TEST(Serve, IsACacheThatSaysWhenItEvicts) {
  RunningProgram program({"serve", "--cql-port", "0", "--memory-limit", "64M", "--idle-timeout",
                          "2", "--journal", "0"},
                         {"LISTSTORE_MEMORY_POLICY=evict"});
  const uint16_t port = ParseReady(program.ReadLine()).cql_port;
  CqlSession session(port);
  for (const char* statement :
       {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (p int PRIMARY KEY, v blob)"}) {
    ASSERT_EQ(session.Run({statement, {}}).error, "");
  }
  const std::string text = "INSERT INTO k.t (p, v) VALUES (?, ?)";
  for (int p = 0; p < 2'000; ++p) {
    ASSERT_EQ(session.Run({text, {{cql::EncodeInt(p)}, {std::string(50'000, 'x')}}, true}).error,
              "");
  }
  AwaitBackground(session, port);
  const std::string evicted =
      "SELECT value FROM liststore.counters WHERE name = 'partitions_evicted'";
  EXPECT_GT(NumberOf(session, evicted), 1'000);
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  EXPECT_EQ(Times(err, "memory is full: rows hold "), 1u) << err;
  EXPECT_EQ(Times(err, " partitions were evicted and 0 writes were refused; more room: UPDATE "),
            1u)
      << err;
  EXPECT_EQ(Times(err, "--memory-policy"), 0u) << "it has it already: " << err;
}

TEST(Serve, ManySideBySide) {
  std::vector<std::unique_ptr<RunningProgram>> programs;
  for (int i = 0; i < 8; ++i) {
    programs.push_back(std::make_unique<RunningProgram>(
        std::vector<std::string>{"serve", "--cql-port", "0", "--memory-limit", "64M"}));
  }
  std::set<int> ports;
  for (const auto& program : programs) {
    const Ready ready = ParseReady(program->ReadLine());
    ports.insert({ready.cql_port, ready.shard_aware_port});
    RawCqlClient client(ready.cql_port);
    EXPECT_TRUE(client.StartUp());
    const auto made = client.Query(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "1}");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->opcode, 0x08) << "each has a schema of its own";
  }
  EXPECT_EQ(ports.size(), 16u);
  for (const auto& program : programs) {
    program->Signal(SIGTERM);
    EXPECT_EQ(program->Wait().exit_status, 0);
  }
}

TEST(Serve, APortInUseIsOneLineAndNoStart) {
  RunningProgram first({"serve", "--cql-port", "0"});
  const std::string port = std::to_string(ParseReady(first.ReadLine()).cql_port);
  const ScratchFiles files;
  const ProgramResult second =
      RunProgram({"serve", "--cql-port", port, "--ready-file", files.Path("ready")});
  EXPECT_EQ(second.exit_status, 98);
  EXPECT_EQ(second.out, "");
  const std::string by =
      " is already in use by liststore, process " + std::to_string(first.pid()) + "\n";
  EXPECT_EQ(second.err, "liststore: 127.0.0.1:" + port + by);
  EXPECT_FALSE(Exists(files.Path("ready")));
  const ProgramResult third = RunProgram({"serve", "--cql-port", "0", "--shard-aware-port", port});
  EXPECT_EQ(third.exit_status, 98);
  EXPECT_EQ(third.err, "liststore: 127.0.0.1:" + port + by);
}

TEST(Serve, OptionsComeFromTheLineThenTheEnvironmentThenAFile) {
  const ScratchFiles files;
  const std::string config = files.Write(
      "config",
      "cql-port = 0\nshards = 5\naddress = \"example.org\"\nscylla = \"off\"\nuntil-eof=true\n");
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
    "CREATE SERVICE LEVEL s WITH shares = 1",
    "DROP SERVICE LEVEL s",
    "CREATE TRIGGER v\nON t USING 'org.example.Trigger'",
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
      CountOf("liststore: LS-0006: does not support service levels; instead: leaving them out: "
              "requests are served alike; first asked for by: CREATE SERVICE LEVEL s WITH shares "
              "= 1\n",
              result.err),
      1u)
      << result.err;
  EXPECT_EQ(CountOf("first asked for by: CREATE TRIGGER v ON t USING", result.err), 1u)
      << "one line: " << result.err;
  EXPECT_EQ(CountOf("liststore: LS-0101: accepted without effect: replication_factor (one node has "
                    "the one copy)\n",
                    result.err),
            1u)
      << result.err;
}

// A table of so many rows in one partition, each of 100 bytes.
void FillTable(RawCqlClient& client, int rows) {
  ASSERT_EQ(client
                .Query("CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', "
                       "'replication_factor': 1}")
                ->opcode,
            0x08);
  ASSERT_EQ(
      client.Query("CREATE TABLE feat.clicks (k int, c int, v text, PRIMARY KEY (k, c))")->opcode,
      0x08);
  const std::string value(100, 'v');
  for (int row = 0; row < rows;) {
    std::string batch = "BEGIN UNLOGGED BATCH ";
    for (const int end = std::min(rows, row + 500); row < end; ++row) {
      batch += "INSERT INTO feat.clicks (k, c, v) VALUES (1, " + std::to_string(row) + ", '" +
               value + "'); ";
    }
    ASSERT_EQ(client.Query(batch + "APPLY BATCH")->opcode, 0x08);
  }
}

TEST(Serve, LogsLinesOfJsonWithSlowRequests) {
  RunningProgram program({"serve", "--cql-port", "0", "--log-format", "json", "--log-level",
                          "debug", "--log-slow-requests", "1ms"});
  {
    RawCqlClient client(ParseReady(program.ReadLine()).cql_port);
    ASSERT_TRUE(client.StartUp());
    FillTable(client, 50'000);
    // The filling may have said one: another is said in the next second.
    while (program.Errors().find(R"("operation":"SELECT")") == std::string::npos) {
      ASSERT_EQ(client.Query("SELECT * FROM feat.clicks WHERE v = 'none' ALLOW FILTERING")->opcode,
                0x08);
    }
    client.Close();
  }
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  std::set<std::string> events;
  bool has_select = false;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    const boost::json::object entry = boost::json::parse(line).as_object();
    const std::string event(entry.at("event").as_string());
    events.insert(event);
    if (event != "slow_request" || entry.at("operation").as_string() != "SELECT") continue;
    has_select = true;
    EXPECT_EQ(entry.at("table").as_string(), "feat.clicks");
    EXPECT_EQ(entry.at("rows_read").as_int64(), 50'000);
    EXPECT_EQ(entry.at("rows_returned").as_int64(), 0);
    EXPECT_GE(entry.at("executed_us").as_int64() + entry.at("waited_us").as_int64(), 1000);
    EXPECT_EQ(entry.at("statement").as_string(),
              "SELECT * FROM feat.clicks WHERE v = 'none' ALLOW FILTERING");
  }
  EXPECT_TRUE(has_select) << err;
  for (const char* event : {"connection_opened", "connection_closed", "schema_change"}) {
    EXPECT_TRUE(events.contains(event)) << event << err;
  }
}

TEST(Serve, SlowRequestsAreTimes) {
  for (const char* wrong : {"soon", "-1", "1h", "3601s", "ms", ""}) {
    const ProgramResult result =
        RunProgram({"serve", "--cql-port", "0", "--log-slow-requests", wrong});
    EXPECT_EQ(result.exit_status, 2) << wrong;
    EXPECT_NE(result.err.find("--log-slow-requests"), std::string::npos) << result.err;
  }
}

// Until the program has said so; a test that waits in vain is ended by its time limit.
void AwaitSaid(const RunningProgram& program, const std::string& part) {
  while (program.Errors().find(part) == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST(Serve, OnHangupTheLogsLevelIsReadAgain) {
  const ScratchFiles files;
  const auto configure = [&](const std::string& level) {
    return files.Write("config", "cql-port = 0\nlog-level = " + level + "\n");
  };
  RunningProgram program({"serve", "--config", configure("\"error\"")});
  const uint16_t port = ParseReady(program.ReadLine()).cql_port;
  EXPECT_EQ(program.Errors(), "");
  configure("\"debug\"");
  program.Signal(SIGHUP);
  AwaitSaid(program, "SIGHUP: the log's level is debug now\n");
  EXPECT_TRUE(RawCqlClient(port).StartUp());
  AwaitSaid(program, " has ended");
  const std::string config = configure("\"loud\"");
  program.Signal(SIGHUP);
  AwaitSaid(program, "SIGHUP: the configuration is not taken, and what was stays: " + config +
                         ":2: log-level: 'loud' is not a value of it; use one of error, warning, "
                         "info, debug\n");
  configure("\"debug\"\nshards = 3");
  program.Signal(SIGHUP);
  AwaitSaid(program, "SIGHUP: these have changed, and take a restart: shards (" + config + ":3)\n");
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait().exit_status, 0);
}

TEST(Serve, OnHangupAFlagStillComesBeforeTheFile) {
  const ScratchFiles files;
  const std::string config = files.Write("config", "log-level = \"error\"\nrack = \"a\"\n");
  RunningProgram program(
      {"serve", "--config", config, "--cql-port", "0", "--log-level", "info", "--rack", "b"});
  program.ReadLine();
  files.Write("config", "log-level = \"error\"\nrack = \"c\"\ncluster-name = \"c\"\n");
  program.Signal(SIGHUP);
  AwaitSaid(program,
            "SIGHUP: these have changed, and take a restart: cluster-name (" + config + ":3)\n");
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  EXPECT_EQ(err.find("the log's level"), std::string::npos) << err;
}

TEST(Serve, TellsTheServiceManager) {
  const TempFolder folder;
  const std::string name = folder / "socket";
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const auto next = [file] {
    std::string text(4096, '\0');
    const ssize_t count = recv(file, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return text;
  };
  RunningProgram program({"serve", "--cql-port", "0"},
                         {"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=2000000"});
  const std::string port = std::to_string(ParseReady(program.ReadLine()).cql_port);
  EXPECT_EQ(next(), "READY=1\nSTATUS=serves CQL on 127.0.0.1, port " + port + "; 0 connections");
  EXPECT_EQ(next(), "WATCHDOG=1") << "twice in the time that it is given, or more often";
  EXPECT_EQ(next(), "WATCHDOG=1");
  program.Signal(SIGHUP);
  std::string text;
  while ((text = next()) == "WATCHDOG=1") {
  }
  EXPECT_TRUE(text.starts_with("RELOADING=1\nMONOTONIC_USEC=")) << text;
  EXPECT_TRUE(next().starts_with("READY=1\n"));
  program.Signal(SIGTERM);
  while ((text = next()) == "WATCHDOG=1") {
  }
  EXPECT_EQ(text, "STOPPING=1\nSTATUS=SIGTERM: stops with 0 connections open");
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("liststore: has ended, after "), std::string::npos) << result.err;
  std::string behind(4096, '\0');
  EXPECT_LT(recv(file, behind.data(), behind.size(), MSG_DONTWAIT), 0) << behind;
  close(file);
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
            "liststore:   LS-0004 triggers: 1\n"
            "liststore:   LS-0006 service levels: 2\n");
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

TEST(Serve, MemoryThatTheMachineDoesNotHaveIsSaid) {
  const std::vector<std::string> arguments = {"serve", "--cql-port", "0", "--until-eof"};
  const std::string said = "--memory-limit is 97.7 TiB, and this machine has ";
  std::vector<std::string> too_much = arguments;
  too_much.insert(too_much.end(), {"--memory-limit", "99999G"});
  EXPECT_EQ(Times(RunProgram(too_much).err, said), 1u);
  EXPECT_EQ(Times(RunProgram(arguments).err, "--memory-limit is "), 0u);
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
      {{"--shards", "on"}, "--shards: 'on' is not 1 to 256, or off"},
      {{"--scylla", "maybe"}, "--scylla"},
      {{"--rack", ""}, "rack has 0 bytes, not 1 to 128"},
      {{"--release-version", "new"}, "release_version is 'new', not a version like"},
      {{"--client-timestamps", "never"}, "--client-timestamps"},
      {{"--clock", "sun"}, "--clock 'sun' is not real, manual or scaled:FACTOR"},
      {{"--clock", "manual:noon"}, "--clock 'manual:noon': START is in seconds since 1970"},
      {{"--clock", "scaled:0"}, "the factor is a decimal number from 0.000001 to 1000000"},
      {{"--auth", "nobody"}, "--auth is not USER:PASSWORD, nor USER with --auth-password-file"},
      {{"--address", "example.org"}, "'example.org' is no IPv4 or IPv6 address to listen on"},
      {{"--memory-limit", "1"},
       "--memory-limit is 1 bytes, less than 67108864: it is for the whole process"},
      {{"--memory-limit", "-5"}, "--memory-limit: '-5' is not a size; use a number of bytes"},
      {{"--memory-limit=-5G"}, "--memory-limit: '-5G' is not a size; use a number of bytes"},
      {{"--memory-limit", "64M", "--populate", "64M"},
       "--populate is 67108864, more than the memory limit of 18874368"},
      {{"--memory-limit", "64M", "--client-memory", "40M"},
       "--client-memory of 41943040 bytes leaves no memory for rows: --memory-limit is 67108864, "
       "and the program takes 31457280"},
      {{"--client-memory", "1000"}, "--client-memory is 1000, less than 1048576"},
      {{"--memory-policy", "lru"}, "--memory-policy"},
      {{"--queue-time-max", "3600001"}, "--queue-time-max is 3600001, more than 3600000"},
      {{"--ready-file", "/nowhere/ready"}, "cannot write the ready file /nowhere/ready"},
      {{"--config", files.Write("bad", "moon = 1\n")}, "no option moon"},
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

}  // namespace serve_test
}  // namespace liststore::testing
