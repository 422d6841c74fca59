// `liststore console` as somebody who types sees it.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "programs/client/cql_client.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/console/terminal_program.h"
#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace console_test {

constexpr char kPrompt[] = "liststore> ";
constexpr char kInFeat[] = "liststore:feat> ";

class Console : public ::testing::Test {
 protected:
  Console() {
    MakeKeyspace(server_);
    server_.Run("CREATE TABLE feat.clicks (user text, ts int, PRIMARY KEY (user, ts))");
    for (int i = 1; i <= 5; ++i) {
      server_.Run("INSERT INTO feat.clicks (user, ts) VALUES ('u1', " + std::to_string(i) + ")");
    }
  }
  std::vector<std::string> Arguments(const char* command) const {
    return {command, "--via", server_.address()};
  }
  std::vector<std::string> Environment() const { return {"XDG_STATE_HOME=" + folder_.path()}; }
  std::string HistoryPath() const { return folder_.path() + "/liststore/history"; }

  const TempFolder folder_;
  CopyServer server_;
};

TEST_F(Console, StatementsAreAnswered) {
  TerminalProgram console(Arguments("console"), Environment());
  EXPECT_TRUE(Has(console.Until(kPrompt), " at " + server_.address()));
  console.Type("USE feat;\n");
  console.Until(kInFeat);
  console.Type("SELECT ts FROM clicks\n");
  console.Until("-> ");
  console.Type("WHERE user = 'u1' AND ts < 3;\n");
  EXPECT_TRUE(Has(console.Until(kInFeat), " ts\n----\n  1\n  2\n\n(2 rows)\n"));
  console.Type("SELECT 'a\n");
  console.Until("'> ");
  console.Type("\x03");
  console.Until(kInFeat);
  console.Type("\x04");
  console.UntilTheEnd();
  EXPECT_EQ(console.exit_status(), 0);
}

TEST_F(Console, QueryWithoutStatementsIsOne) {
  TerminalProgram console(Arguments("query"), Environment());
  console.Until(kPrompt);
  console.Type("quit\n");
  console.UntilTheEnd();
  EXPECT_EQ(console.exit_status(), 0);
}

TEST_F(Console, StandardInputThatIsNoTerminalIsRead) {
  const std::string input = folder_.path() + "/statements.cql";
  WriteFile(input, "USE feat; SELECT ts FROM clicks LIMIT 1;");
  const ProgramResult result = RunProgram(Arguments("console"), input);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, " ts\n----\n  1\n\n(1 row)\n");
  EXPECT_EQ(RunProgram(Arguments("console"), "/dev/null").err,
            "liststore console: the text has no statement in it\n");
}

TEST_F(Console, ErrorsHaveTheirPlace) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("SELECT * FORM t;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt),
                  "\nSELECT * FORM t\n         ^\nerror 0x2000: line 1:9 : Missing FROM\n"));
  console.Type("SELECT nothing FROM feat.clicks;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "\nerror 0x2200: Unrecognized name nothing\n"));
  console.Type("\\tming\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "\nno command \\tming; did you mean \\timing?\n"));
}

TEST_F(Console, PagesAreAskedFor) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("\\paging 2\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "paging is on: 2 rows a page"));
  console.Type("SELECT ts FROM feat.clicks;\n");
  EXPECT_TRUE(Has(console.Until("stop -- "), "  1\n  2\n"));
  console.Type("\n");
  EXPECT_TRUE(Has(console.Until("stop -- "), "  3\n  4\n"));
  console.Type("q\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "(4 rows, and more)"));
  console.Type("SELECT ts FROM feat.clicks;\n");
  console.Until("stop -- ");
  console.Type("\x03");
  EXPECT_TRUE(Has(console.Until(kPrompt), "(2 rows, and more)"));
  console.Type("\\paging off\n");
  console.Until(kPrompt);
  console.Type("\\format json\n");
  console.Until(kPrompt);
  console.Type("SELECT ts FROM feat.clicks;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "{\"ts\": 4}\n{\"ts\": 5}\n"));
}

TEST_F(Console, NamesAreCompleted) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("SEL\t");
  console.Until("SELECT ");
  console.Type("ts FROM fe\t");
  console.Until("feat.");
  console.Type("cl\t");
  console.Until("clicks ");
  console.Type("WHERE us\t");
  console.Until("users  using");
  console.Until(kPrompt);  // the line again, below them
  console.Type("er = 'u1' LIMIT 1;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "(1 row)"));
}

TEST_F(Console, WhatIsPastedBehindAPagedAnswerIsNotLost) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("\\paging 2\n");
  console.Until(kPrompt);
  console.Type(
      "SELECT ts FROM feat.clicks;\nINSERT INTO feat.clicks (user, ts)\n\tVALUES ('a\tb', 7);\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "(2 rows, and more)\nstopped behind the page: "));
  console.Type("SELECT ts FROM feat.clicks;\n");
  console.Until("stop -- ");
  // In the place of an answer.
  console.Type("INSERT INTO feat.clicks (user, ts) VALUES ('u3', 8);\n");
  console.Until("(2 rows, and more)");
  console.Until(kPrompt);
  console.Type("\\q\n");
  console.UntilTheEnd();
  EXPECT_EQ(server_.Number("SELECT COUNT(*) FROM feat.clicks WHERE user = 'a\tb' AND ts = 7"), 1);
  EXPECT_EQ(server_.Number("SELECT COUNT(*) FROM feat.clicks WHERE user = 'u3' AND ts = 8"), 1);
}

TEST_F(Console, WhatStandsBehindAnErrorIsNotSent) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("SELECT nothing FROM feat.clicks; TRUNCATE feat.clicks; USE feat;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "2 statements behind it: not sent\n"));
  EXPECT_EQ(server_.Number("SELECT COUNT(*) FROM feat.clicks"), 5);
}

TEST_F(Console, ALateAnswerIsNotTakenForThatOfTheNextStatement) {
  server_.Run(
      "INSERT INTO liststore.faults (name, op, tbl, times, action) VALUES "
      "('slow', 'SELECT', 'system_schema.keyspaces', 1, 'delay 3s')");
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("USE feat;\n");
  console.Until(kInFeat);
  console.Type("SELECT ts FROM cl\t");
  console.Until("\a");
  console.Type("\x03");
  console.Until(kInFeat);
  console.Type("SELECT COUNT(*) FROM clicks;\n");
  EXPECT_TRUE(Has(console.Until(kInFeat), " count\n-------\n     5\n"));
}

TEST_F(Console, AKeyspaceThatIsGoneIsNotInUseAnyMore) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("USE feat;\n");
  console.Until(kInFeat);
  server_.Run("DROP KEYSPACE feat");
  server_.Run(
      "INSERT INTO liststore.faults (name, op, tbl, times, action) VALUES "
      "('cut', 'SELECT', 'system.local', 1, 'close_connection')");
  console.Type("SELECT key FROM system.local;\n");
  console.Until(kInFeat);
  console.Type("SELECT key FROM system.local;\n");
  const std::string said = console.Until(kPrompt);
  EXPECT_TRUE(Has(said, "keyspace feat is not in use any more: error 0x2200: ")) << said;
  EXPECT_TRUE(Has(said, "(1 row)")) << said;
}

TEST_F(Console, ControlCharactersOfTheServerAreNotTheTerminals) {
  server_.Run("CREATE TABLE feat.t (k int PRIMARY KEY) WITH comment = 'a\x1b]0;owned\x07'");
  server_.Run("CREATE TABLE feat.with_column (create_statement int PRIMARY KEY, other int)");
  server_.Run("INSERT INTO feat.with_column (create_statement, other) VALUES (1, 2)");
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("DESCRIBE TABLE feat.t;\n");
  const std::string described = console.Until(kPrompt);
  EXPECT_TRUE(Has(described, "a\\x1b]0;owned\\x07")) << described;
  EXPECT_TRUE(Has(described, "(\n    k int")) << "its lines stay: " << described;
  console.Type("SELECT * FROM feat.with_column;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), " create_statement | other\n"));
  const ProgramResult refused =
      RunProgram({"query", "--via", server_.address(), "SELECT \"\x1b[31m\" FROM feat.t"});
  EXPECT_TRUE(Has(refused.err, "\\x1b[31m")) << refused.err;
  EXPECT_FALSE(Has(refused.err, "\x1b")) << refused.err;
}

TEST_F(Console, ViKeysCompleteToo) {
  const std::string settings = folder_.path() + "/.editrc";
  WriteFile(settings, "bind -v\n");
  std::vector<std::string> environment = Environment();
  environment.push_back("EDITRC=" + settings);
  TerminalProgram console(Arguments("console"), environment);
  console.Until(kPrompt);
  console.Type("SEL\t");
  console.Until("SELECT ");
  console.Type("\x1b");
  console.Type("\x03");  // in vi's command mode
  console.Until("^C");
  console.Until(kPrompt);
}

// As in a container with nothing but the program: there is no terminfo.
TEST_F(Console, ATerminalThatTheMachineDoesNotKnowIsTakenForAnXterm) {
  std::vector<std::string> environment = Environment();
  environment.insert(environment.end(), {"TERM=terminal-of-the-year-2099", "LC_ALL=xx_YY.UTF-8"});
  TerminalProgram console(Arguments("console"), environment);
  const std::string begin = console.Until(kPrompt);
  EXPECT_FALSE(Has(begin, "dumb")) << begin;
  // A key that moves the cursor, in a line with a character of two bytes.
  console.Type("SELECT ts FROM feat.clicks WHERE user = 'u1\u00fc'\x1b[D\x7f\x1b[C LIMIT 1;\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "(1 row)"));
}

TEST_F(Console, TablesAreDescribed) {
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("\\d\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "\nfeat.clicks\n"));
  console.Type("\\d feat.clicks\n");
  EXPECT_TRUE(
      Has(console.Until(kPrompt), "\nCREATE TABLE feat.clicks (\n    user text,\n    ts int,\n"));
}

TEST_F(Console, HistoryIsKeptButForPasswords) {
  {
    TerminalProgram console(Arguments("console"), Environment());
    console.Until(kPrompt);
    console.Type("SELECT ts\n");
    console.Until("-> ");
    console.Type("FROM feat.clicks LIMIT 2;\n");
    console.Until(kPrompt);
    console.Type("ALTER ROLE r WITH PASSWORD = 'secret';\n");
    console.Until(kPrompt);
    console.Type("\x04");
    console.UntilTheEnd();
  }
  EXPECT_EQ(ReadFile(HistoryPath()), "SELECT ts\\nFROM feat.clicks LIMIT 2;\n");
  TerminalProgram console(Arguments("console"), Environment());
  console.Until(kPrompt);
  console.Type("\x1b[A\n");
  EXPECT_TRUE(Has(console.Until(kPrompt), "(2 rows)")) << "arrow up brings the statement back";
}

TEST_F(Console, AClientThatHasNotBeenAnsweredRefusesAllUse) {
  server_.Run(
      "INSERT INTO liststore.faults (name, op, tbl, times, action) VALUES "
      "('slow', 'SELECT', 'feat.clicks', 1, 'delay 2s')");
  auto client = CqlClient::Connect(server_.address());
  ASSERT_TRUE(client.ok()) << client.status();
  (*client)->SetTimeout(std::chrono::seconds(1));
  EXPECT_TRUE(absl::IsInvalidArgument((*client)->Query("SELECT").status()));
  EXPECT_TRUE((*client)->can_go_on()) << "an error is an answer";
  EXPECT_TRUE(absl::IsDeadlineExceeded((*client)->Query("SELECT ts FROM feat.clicks").status()));
  EXPECT_FALSE((*client)->can_go_on());
  EXPECT_TRUE(absl::IsDeadlineExceeded((*client)->Query("USE feat").status()));
}

TEST_F(Console, AServerThatIsNotThereIsSaid) {
  TerminalProgram console({"console", "--via", "127.0.0.1:1"}, Environment());
  EXPECT_TRUE(Has(console.UntilTheEnd(), "liststore console: cannot connect to 127.0.0.1:1: "));
  EXPECT_EQ(console.exit_status(), 2);
}

}  // namespace console_test
}  // namespace liststore::testing
