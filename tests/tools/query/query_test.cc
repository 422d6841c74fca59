// `liststore query` as its users run it, beside a server.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"
#include "tools/query/result_printer.h"
#include "tools/query/split_statements.h"

namespace liststore::testing {
namespace query_test {

ProgramResult Query(const CopyServer& server, std::vector<std::string> more,
                    const std::string& input = "/dev/null") {
  more.insert(more.begin(), {"query", "--via", server.address()});
  return RunProgram(more, input);
}

void MakeClicks(CopyServer& server, int rows) {
  MakeKeyspace(server);
  server.Run("CREATE TABLE feat.clicks (user text, ts int, item text, PRIMARY KEY (user, ts))");
  for (int i = 1; i <= rows; ++i) {
    server.Run("INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', " + std::to_string(i) +
               ", 'story-" + std::to_string(i) + "')");
  }
}

TEST(Query, ATableHasNumbersToTheRight) {
  CopyServer server;
  MakeClicks(server, 10);
  const ProgramResult result =
      Query(server, {"SELECT ts, item FROM feat.clicks WHERE user = 'u1' AND ts IN (9, 10)"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            " ts | item\n"
            "----+----------\n"
            "  9 | story-9\n"
            " 10 | story-10\n"
            "\n"
            "(2 rows)\n");
}

TEST(Query, AnAnswerWithoutRowsHasItsColumnsAndAStatementWithoutAnswerSaysNothing) {
  CopyServer server;
  MakeClicks(server, 0);
  EXPECT_EQ(Query(server, {"SELECT ts FROM feat.clicks"}).out, " ts\n----\n\n(0 rows)\n");
  EXPECT_EQ(Query(server, {"TRUNCATE feat.clicks"}).out, "");
}

// All types, in a cell and in a collection.
constexpr char kTypes[] =
    "CREATE TABLE feat.types (p int PRIMARY KEY, a ascii, b bigint, bl blob, bo boolean, d date, "
    "de decimal, "
    "db double, du duration, f float, i inet, l list<text>, m map<int, timestamp>, n text, s "
    "set<int>, sm smallint, t text, ti time, ts timestamp, tu frozen<tuple<int, text>>, ty "
    "tinyint, u uuid, ud frozen<pair>, v varint)";
constexpr char kTypesRow[] =
    "INSERT INTO feat.types (p, a, b, bl, bo, d, de, db, du, f, i, l, m, s, sm, t, ti, ts, tu, ty, "
    "u, ud, v) "
    "VALUES (1, 'a', -5, 0x00ff, true, '2026-01-31', 1.50, 0.25, 1h30m, 0.1, '::1', ['x', "
    "'it''s'], {7: '1969-12-31T23:59:59.999Z'}, {2, 1}, 3, 'two\nlines', '04:05:06.5', "
    "'2026-01-01T00:00:00.007Z', (1, null), -1, 123e4567-e89b-12d3-a456-426655440000, {x: 1, y: "
    "'z'}, 123456789012345678901234567890)";

TEST(Query, EveryTypeIsShownAsCqlshShowsIt) {
  CopyServer server;
  MakeKeyspace(server);
  server.Run("CREATE TYPE feat.pair (x int, y text)");
  server.Run(kTypes);
  server.Run(kTypesRow);
  const auto csv = [&](const std::string& column) {
    return Query(server, {"--format", "csv", "SELECT " + column + " FROM feat.types"}).out;
  };
  struct Case {
    std::string column, shown;
  };
  const std::vector<Case> cases = {
      {"a", "a"},
      {"b", "-5"},
      {"bl", "0x00ff"},
      {"bo", "True"},
      {"d", "2026-01-31"},
      {"de", "1.50"},
      {"db", "0.25"},
      {"du", "1h30m"},
      {"f", "0.1"},
      {"i", "::1"},
      {"l", "\"['x', 'it''s']\""},
      {"m", "{7: '1969-12-31 23:59:59.999000+0000'}"},
      {"n", ""},
      {"s", "\"{1, 2}\""},
      {"sm", "3"},
      {"t", "\"two\nlines\""},
      {"ti", "04:05:06.500000000"},
      {"ts", "2026-01-01 00:00:00.007000+0000"},
      {"tu", "\"(1, null)\""},
      {"ty", "-1"},
      {"u", "123e4567-e89b-12d3-a456-426655440000"},
      {"ud", "\"{x: 1, y: 'z'}\""},
      {"v", "123456789012345678901234567890"},
  };
  for (const Case& c : cases) EXPECT_EQ(csv(c.column), c.column + "\n" + c.shown + "\n");
  EXPECT_EQ(Query(server, {"SELECT t, n FROM feat.types"}).out,
            " t            | n\n"
            "--------------+------\n"
            " two\\x0alines | null\n"
            "\n"
            "(1 row)\n");
  EXPECT_EQ(
      Query(server, {"--format", "json", "SELECT t, n, s, ud, v, bo AS \"B\" FROM feat.types"}).out,
      "{\"t\": \"two\\nlines\", \"n\": null, \"s\": [1, 2], \"ud\": {\"x\": 1, \"y\": \"z\"}, "
      "\"v\": 123456789012345678901234567890, \"B\": true}\n");
}

TEST(Query, EmptyValuesOfNumbersAreEmptyTexts) {
  CopyServer server;
  MakeKeyspace(server);
  server.Run("CREATE TABLE feat.t (p int PRIMARY KEY, v int, t text)");
  server.Run("INSERT INTO feat.t (p, v, t) VALUES (1, blobAsInt(0x), '')");
  EXPECT_EQ(Query(server, {"--format", "csv", "SELECT v, t FROM feat.t"}).out, "v,t\n\"\",\"\"\n");
  EXPECT_EQ(Query(server, {"--format", "json", "SELECT v, t FROM feat.t"}).out,
            "{\"v\": \"\", \"t\": \"\"}\n");
}

TEST(Query, PagesFollowEachOtherUnderOneHeader) {
  CopyServer server;
  MakeClicks(server, 12);
  const ProgramResult result =
      Query(server, {"--page-size", "5", "--timing", "SELECT ts FROM feat.clicks"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  std::string expected = " ts\n----\n";
  for (int i = 1; i <= 12; ++i) expected += (i < 10 ? "  " : " ") + std::to_string(i) + "\n";
  EXPECT_EQ(result.out, expected + "\n(12 rows)\n");
  EXPECT_TRUE(Has(result.err, " ms, the first of 3 pages ")) << result.err;
  const ProgramResult csv =
      Query(server, {"--page-size", "7", "--format", "csv", "SELECT ts FROM feat.clicks LIMIT 8"});
  EXPECT_EQ(csv.out, "ts\n1\n2\n3\n4\n5\n6\n7\n8\n");
}

// Of a page that fits the stream's buffer, and of one that does not.
TEST(Query, ADiskThatIsFullIsAnError) {
  CopyServer server;
  MakeClicks(server, 600);
  for (const char* limit : {"1", "600"}) {
    const CqlRows page = server.Run(std::string("SELECT * FROM feat.clicks LIMIT ") + limit);
    std::FILE* const full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    EXPECT_FALSE(ResultPrinter(ResultFormat::kCsv, full).Print(page).ok()) << limit;
    std::fclose(full);
  }
}

TEST(Query, StatementsOfAFileGoOverOneConnectionUpToTheFirstThatFails) {
  CopyServer server;
  MakeClicks(server, 1);
  const ScratchFiles files;
  const std::string file =
      files.Write("statements.cql",
                  "-- what is there; and more\n"
                  "USE feat;\n"
                  "BEGIN UNLOGGED BATCH\n"
                  "  INSERT INTO clicks (user, ts, item) VALUES ('a;b', 1, 'x');\n"
                  "APPLY BATCH;\n"
                  "SELECT item FROM clicks WHERE user = 'a;b';\n"
                  "SELECT nothing FROM clicks;\n"
                  "TRUNCATE clicks;\n");
  const ProgramResult result = Query(server, {"--format", "csv"}, file);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "item\nx\n");
  EXPECT_TRUE(result.err.starts_with("liststore query: " + server.address() +
                                     ": SELECT nothing FROM clicks: error 0x2200: "))
      << result.err;
  EXPECT_EQ(server.Number("SELECT COUNT(*) FROM feat.clicks"), 2) << "what follows is not sent";
}

TEST(Query, NothingToSendIsSaid) {
  CopyServer server;
  const ProgramResult result = Query(server, {});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err, "liststore query: the text has no statement in it\n");
}

TEST(Query, ANameIsAskedForAndTaken) {
  CopyServer server({"--auth", "cassandra:secret"}, {"cassandra", "secret"});
  ProgramResult result = Query(server, {"LIST ROLES"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err,
                  "give --user NAME, and its password in the environment variable "
                  "LISTSTORE_PASSWORD"))
      << result.err;
  result = Query(server,
                 {"--user", "cassandra", "--password", "secret", "--format", "csv", "LIST ROLES"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "cassandra")) << result.out;
}

TEST(Query, TheAddressComesFromTheEnvironmentWithOrWithoutAPort) {
  CopyServer server;
  const std::string address = server.address();
  const std::string port = address.substr(address.find(':') + 1);
  const std::vector<std::vector<std::string>> environments = {
      {"LISTSTORE_ADDRESS=" + address},
      {"LISTSTORE_ADDRESS=127.0.0.1", "LISTSTORE_CQL_PORT=" + port},
      {"LISTSTORE_CQL_PORT=" + port},
  };
  for (const std::vector<std::string>& environment : environments) {
    RunningProgram program({"query", "--format", "csv", "SELECT key FROM system.local"},
                           environment);
    const ProgramResult result = program.Wait();
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.out, "key\nlocal\n");
  }
  RunningProgram other({"query", "--via", address, "SELECT key FROM system.local"},
                       {"LISTSTORE_ADDRESS=127.0.0.1:1"});
  EXPECT_EQ(other.Wait().exit_status, 0) << "--via comes before it";
}

TEST(Query, WhereNobodyListensItSaysWhatToDo) {
  const ProgramResult result = RunProgram({"query", "--via", "127.0.0.1:1", "SELECT 1"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(
      result.err,
      "liststore query: cannot connect to 127.0.0.1:1: Connection refused; start a server with "
      "'liststore serve', or name another with --via HOST:PORT or in the environment "
      "variable LISTSTORE_ADDRESS\n");
  EXPECT_TRUE(Has(RunProgram({"query", "--via", "host:port", "SELECT 1"}).err,
                  "'host:port' is not HOST:PORT"));
}

// One variable for both sides.
TEST(Query, AServerTakesThePortOfItsAddress) {
  std::string address;
  {
    const CopyServer once;
    address = once.address();
  }
  const auto port_of = [](RunningProgram& program) {
    const std::string line = program.ReadLine();
    const size_t at = line.find("\"cql_port\":");
    return at == std::string::npos ? -1 : std::stoi(line.substr(at + 11));
  };
  RunningProgram server({"serve", "--shard-aware-port", "0", "--until-eof"},
                        {"LISTSTORE_ADDRESS=" + address});
  EXPECT_EQ("127.0.0.1:" + std::to_string(port_of(server)), address);
  RunningProgram beside({"serve", "--cql-port", "0", "--until-eof"},
                        {"LISTSTORE_ADDRESS=" + address});
  EXPECT_GT(port_of(beside), 0) << "--cql-port comes before it";
}

TEST(Query, TextsAreSplitAsCqlHasStatements) {
  const auto split = [](const std::string& text) { return SplitStatements(text); };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split(""), Texts());
  EXPECT_EQ(split(" ; ;\n-- nothing\n"), Texts());
  EXPECT_EQ(split("a"), Texts{"a"});
  EXPECT_EQ(split("a 'x;y' \"p;q\" $$ r;s $$ /* ; */ b ; c;"),
            (Texts{"a 'x;y' \"p;q\" $$ r;s $$ /* ; */ b", "c"}));
  EXPECT_EQ(split("begin batch a; b; apply batch; c"),
            (Texts{"begin batch a; b; apply batch", "c"}));
  EXPECT_EQ(split("a; b 'no end; c"), (Texts{"a", "b 'no end; c"}));
}

TEST(TypedStatements, EndWithASemicolon) {
  struct TypedCase {
    std::string text;
    std::string ended;  // with bars
    std::string begun;
    char open;
  };
  const TypedCase cases[] = {
      {"", "", "", 0},
      {"-- nothing", "", "", 0},
      {"SELECT 1", "", "SELECT 1", 0},
      {"SELECT\n1;", "SELECT\n1", "", 0},
      {"USE a; SELECT", "USE a", "SELECT", 0},
      {"USE a; USE b;", "USE a|USE b", "", 0},
      {"SELECT 'a;", "", "SELECT 'a;", '\''},
      {"SELECT \"a;", "", "SELECT \"a;", '"'},
      {"SELECT $$a;", "", "SELECT $$a;", '$'},
      {"SELECT /* a;", "", "SELECT /* a;", '*'},
      {"BEGIN BATCH INSERT INTO t;", "", "BEGIN BATCH INSERT INTO t;", 0},
      {"BEGIN BATCH INSERT INTO t; APPLY BATCH;", "BEGIN BATCH INSERT INTO t; APPLY BATCH", "", 0},
      {"SELECT \\;", "SELECT \\", "", 0},
      {"SELECT \\", "", "SELECT \\", 0},
  };
  for (const TypedCase& c : cases) {
    const TypedStatements split = SplitTyped(c.text);
    EXPECT_EQ(absl::StrJoin(split.ended, "|"), c.ended) << c.text;
    EXPECT_EQ(split.begun, c.begun) << c.text;
    EXPECT_EQ(split.open, c.open) << c.text;
  }
}

}  // namespace query_test
}  // namespace liststore::testing
