// `liststore clock`, `faults`, `journal`, `mark`, `reset` and `snapshot` as their users run them.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"
#include "tools/instruments/statements.h"

namespace liststore::testing {
namespace instruments_test {

// In the order of the words; CSV, unless they say another format.
ProgramResult Run(const CopyServer& server, std::vector<std::string> words) {
  words.insert(words.end(), {"--via", server.address(), "--format", "csv"});
  return RunProgram(words);
}

// What it printed; a failure of the test when it could not be done.
std::string Out(const CopyServer& server, const std::vector<std::string>& words) {
  const ProgramResult result = Run(server, words);
  EXPECT_EQ(result.exit_status, 0) << words[0] << ": " << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

// What it said instead.
std::string Refusal(const CopyServer& server, const std::vector<std::string>& words) {
  const ProgramResult result = Run(server, words);
  EXPECT_EQ(result.exit_status, 2) << words[0] << ": " << result.out;
  EXPECT_EQ(result.out, "");
  return result.err;
}

void MakeTable(CopyServer& server) {
  MakeKeyspace(server);
  server.Run("CREATE TABLE feat.clicks (user text PRIMARY KEY, item int)");
}

TEST(Clock, IsShownSetMovedStoppedAndRun) {
  const CopyServer server;  // at 1700000000 s
  const std::string start = "mode,now\nmanual,2023-11-14 22:13:20.000000+0000\n";
  EXPECT_EQ(Out(server, {"clock"}), start);
  EXPECT_EQ(Out(server, {"clock", "show"}), start);
  EXPECT_EQ(Out(server, {"clock", "advance", "1h30m"}),
            "mode,now\nmanual,2023-11-14 23:43:20.000000+0000\n");
  EXPECT_EQ(Out(server, {"clock", "set", "2026-01-01"}),
            "mode,now\nmanual,2026-01-01 00:00:00.000000+0000\n");
  EXPECT_EQ(Out(server, {"clock", "set", "1767225601000"}),
            "mode,now\nmanual,2026-01-01 00:00:01.000000+0000\n");
  EXPECT_TRUE(
      Out(server, {"clock", "run", "--factor", "0.5"}).starts_with("mode,now\nscaled:0.5,"));
  EXPECT_TRUE(Out(server, {"clock", "stop"}).starts_with("mode,now\nmanual,"));
  EXPECT_TRUE(Out(server, {"clock", "run"}).starts_with("mode,now\nreal,"));
}

TEST(Clock, JumpsToTheNextExpiry) {
  CopyServer server;
  MakeTable(server);
  server.Run("INSERT INTO feat.clicks (user, item) VALUES ('u1', 1) USING TTL 60");
  EXPECT_EQ(Out(server, {"clock", "jump"}), "mode,now\nmanual,2023-11-14 22:14:20.000000+0000\n");
  EXPECT_EQ(server.Number("SELECT COUNT(*) FROM feat.clicks"), 0);
}

TEST(Clock, SaysWhatIsWrong) {
  const CopyServer server;
  EXPECT_EQ(Refusal(server, {"clock", "advance", "1s WHERE key = 'x'; DROP"}),
            "liststore clock: '1s WHERE key = 'x'; DROP' is not a duration; use one like 500ms, "
            "90s, 1h30m or 30d\n");
  EXPECT_TRUE(Has(Refusal(server, {"clock", "set", "2001-01-01"}),
                  "error 0x2200: liststore.clock: the clock cannot go backwards"));
  EXPECT_TRUE(Has(Refusal(server, {"clock", "set"}), "TIME is required"));
}

// Which is no failure: the table may be made later.
TEST(Faults, ATableThatIsNotThereIsWarnedOf) {
  CopyServer server;
  MakeTable(server);
  const ProgramResult result = instruments_test::Run(
      server, {"faults", "add", "f", "op=select", "tbl=feat.click", "action=Read_Timeout"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(
      result.err,
      "liststore faults: warning: liststore.faults: tbl 'feat.click': there is no such table, and "
      "nothing meets the fault until there is; did you mean feat.clicks?\n");
}

TEST(Faults, AreAddedListedRemovedAndCleared) {
  CopyServer server;
  MakeTable(server);
  EXPECT_EQ(Out(server, {"faults", "add", "f'1", "op=SELECT", "tbl=feat.clicks", "times=1",
                         "action=read_timeout", "applies=true"}),
            "");
  EXPECT_EQ(Out(server, {"faults", "add", "slow", "op=BATCH", "action=delay 5ms..20ms",
                         "probability=0.5", "seed=7"}),
            "");
  EXPECT_FALSE(server.client().Query("SELECT item FROM feat.clicks").ok());
  const std::string header =
      "name,action,applies,op,tbl,statement,consistency,key,connection,times,probability,seed,"
      "hits,remaining,warning\n";
  const std::string first = "f'1,read_timeout,True,SELECT,feat.clicks,,,,,1,,";
  const std::string listed = Out(server, {"faults"});
  EXPECT_TRUE(listed.starts_with(header)) << listed;
  EXPECT_TRUE(Has(listed, "\n" + first)) << listed;
  EXPECT_TRUE(Has(listed, ",1,0,\n")) << "it has happened once: " << listed;
  EXPECT_TRUE(Has(listed, "slow,delay 5ms..20ms,")) << listed;
  EXPECT_TRUE(Has(listed, ",0.5,7,0,")) << listed;
  EXPECT_EQ(Out(server, {"faults", "list"}), listed);
  EXPECT_EQ(Out(server, {"faults", "remove", "f'1"}), "");
  EXPECT_EQ(server.Number("SELECT COUNT(*) FROM liststore.faults"), 1);
  EXPECT_EQ(Out(server, {"faults", "clear"}), "");
  EXPECT_EQ(Out(server, {"faults"}), header);
}

TEST(Faults, SaysWhatIsWrong) {
  const CopyServer server;
  EXPECT_TRUE(
      Refusal(server, {"faults", "add", "f", "tabl=x"})
          .starts_with("liststore faults: a fault has no 'tabl'; did you mean tbl? (there are "
                       "action, applies, "));
  EXPECT_EQ(Refusal(server, {"faults", "add", "f", "times=often"}),
            "liststore faults: times=often: 'often' is not an integer\n");
  EXPECT_EQ(Refusal(server, {"faults", "add", "f", "applies=yes"}),
            "liststore faults: applies=yes: 'yes' is not true or false\n");
  EXPECT_EQ(Refusal(server, {"faults", "add", "f", "SELECT"}),
            "liststore faults: 'SELECT' is not COLUMN=VALUE, like op=SELECT\n");
  EXPECT_TRUE(Has(Refusal(server, {"faults", "add", "f", "action=explode"}), "error 0x2200: "));
}

TEST(Journal, HasTheLastOnes) {
  CopyServer server;
  MakeTable(server);
  EXPECT_EQ(Out(server, {"journal", "--last", "0"}).find('\n'),
            Out(server, {"journal", "--last", "0"}).size() - 1)
      << "the header alone";
  for (int i = 1; i <= 3; ++i) {
    server.Run("INSERT INTO feat.clicks (user, item) VALUES ('u" + std::to_string(i) + "', 1)");
  }
  const std::string two = Out(server, {"journal", "--last", "2"});
  EXPECT_FALSE(Has(two, "'u1'")) << two;
  EXPECT_TRUE(Has(two, "'u2'")) << two;
  EXPECT_LT(two.find("'u2'"), two.find("'u3'")) << two;
  EXPECT_TRUE(Has(two, "consistency")) << "all columns";
  const ProgramResult table = RunProgram({"journal", "--via", server.address(), "--last", "1"});
  EXPECT_TRUE(table.out.starts_with(" seq | at ")) << table.out;
  EXPECT_FALSE(Has(table.out, "consistency"));
  EXPECT_TRUE(Has(table.out, "(1 row)\n")) << table.out;
  server.Run("TRUNCATE liststore.requests");
  EXPECT_FALSE(Has(Out(server, {"journal"}), "INSERT"));
}

TEST(Journal, IsFollowedUntilTheEnd) {
  CopyServer server;
  MakeTable(server);
  RunningProgram program(
      {"journal", "--via", server.address(), "--follow", "--last", "1", "--format", "json"});
  EXPECT_TRUE(Has(program.ReadLine(), "CREATE TABLE feat.clicks"));
  server.Run("INSERT INTO feat.clicks (user, item) VALUES ('u1', 1)");
  EXPECT_TRUE(Has(program.ReadLine(), "VALUES ('u1', 1)"));
  server.Run("TRUNCATE liststore.requests");
  server.Run("INSERT INTO feat.clicks (user, item) VALUES ('u2', 1)");
  EXPECT_TRUE(Has(program.ReadLine(), "VALUES ('u2', 1)"));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait().exit_status, -1);
}

TEST(Data, GoesBackToTheMark) {
  CopyServer server;
  MakeTable(server);
  EXPECT_TRUE(
      Has(Refusal(server, {"reset", "--to", "mark"}), "nothing is marked: 'liststore mark'"));
  EXPECT_EQ(server.Number("SELECT tables FROM liststore.data"), 1);
  EXPECT_TRUE(Has(Out(server, {"mark"}), "2023-11-14 22:13:20.000000+0000,1,1,"));
  server.Run("INSERT INTO feat.clicks (user, item) VALUES ('u1', 1)");
  EXPECT_TRUE(Has(Out(server, {"reset", "--to", "mark"}), ",1,1,0,"));
  EXPECT_EQ(server.Number("SELECT COUNT(*) FROM feat.clicks"), 0);
  EXPECT_TRUE(Has(Out(server, {"mark", "--forget"}), "\n,1,1,"));
  const std::string refusal = Refusal(server, {"reset"});
  EXPECT_TRUE(Has(refusal,
                  ": nothing is marked, and a reset would take away everything: 1 keyspace, 1 "
                  "table, 0 rows ("))
      << refusal;
  EXPECT_TRUE(Has(refusal, "), roles and faults; 'liststore reset --everything' does that"))
      << refusal;
  EXPECT_EQ(server.Number("SELECT tables FROM liststore.data"), 1);
  EXPECT_TRUE(Has(Out(server, {"reset", "--everything"}), "\n,0,0,0,"));
}

TEST(Data, EverythingIsTheMarkToo) {
  CopyServer server;
  MakeTable(server);
  Out(server, {"mark"});
  EXPECT_TRUE(Has(Out(server, {"reset"}), ",1,1,0,")) << "with a mark it goes back there";
  EXPECT_TRUE(Has(Out(server, {"reset", "--everything"}), "\n,0,0,0,"));
  EXPECT_TRUE(Has(Refusal(server, {"reset", "--to", "mark", "--everything"}), "excludes"));
}

TEST(Snapshot, IsTakenWhereThereIsADirectory) {
  const TempFolder folder;
  const CopyServer server({"--data-dir", folder.path() + "/data"});
  EXPECT_TRUE(Has(Out(server, {"snapshot"}), "last_number,last_rows,last_bytes,last_taken,"));
  const CopyServer without;
  EXPECT_TRUE(Has(Refusal(without, {"snapshot"}), "error 0x"));
}

TEST(Statements, QuoteWhatTheyAreGiven) {
  EXPECT_EQ(SetClock("x'y"), "UPDATE liststore.clock SET now = 'x''y' WHERE key = 'clock'");
  EXPECT_EQ(RemoveFault("x'y"), "DELETE FROM liststore.faults WHERE name = 'x''y'");
  EXPECT_EQ(*AddFault("x'y", {"statement=a = 'b'", "probability=0.25"}),
            "INSERT INTO liststore.faults (name, statement, probability) VALUES ('x''y', 'a = "
            "''b''', 0.25)");
  EXPECT_FALSE(AddFault("x", {"probability=1); DROP"}).ok());
}

}  // namespace instruments_test
}  // namespace liststore::testing
