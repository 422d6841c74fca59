// What is typed wrong is answered with what was meant.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/program.h"

namespace liststore::testing {
namespace command_line_test {

void ExpectSaid(const std::vector<std::string>& arguments, const std::string& said) {
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_status, 2) << said;
  EXPECT_EQ(result.out, "") << said;
  EXPECT_EQ(result.err, said);
}

TEST(CommandLine, ASubcommandIsForgiven) {
  ExpectSaid({"srve"},
             "liststore: no subcommand 'srve'; did you mean 'serve'?\n"
             "'liststore --help' lists them\n");
  ExpectSaid({"xylophone"},
             "liststore: no subcommand 'xylophone'\n'liststore --help' lists them\n");
  ExpectSaid({"bench", "wier"},
             "liststore bench: no subcommand 'wier'; did you mean 'wire'?\n"
             "'liststore bench --help' lists them\n");
  ExpectSaid({"clock", "advence", "1h"},
             "liststore clock: no subcommand 'advence'; did you mean 'advance'?\n"
             "'liststore clock --help' lists them\n");
}

TEST(CommandLine, AFlagIsForgiven) {
  ExpectSaid({"serve", "--cql-prt", "1"},
             "liststore serve: no flag '--cql-prt'; did you mean '--cql-port'?\n"
             "'liststore serve --help' tells more\n");
  ExpectSaid({"serve", "--cql-prt=1"},
             "liststore serve: no flag '--cql-prt'; did you mean '--cql-port'?\n"
             "'liststore serve --help' tells more\n");
  ExpectSaid({"clock", "show", "--vai", "h"},
             "liststore clock show: no flag '--vai'; did you mean '--via'?\n"
             "'liststore clock show --help' tells more\n");
  ExpectSaid({"--verzion"},
             "liststore: no flag '--verzion'; did you mean '--version'?\n"
             "'liststore --help' lists them\n");
  ExpectSaid({"serve", "-x"},
             "liststore serve: no flag '-x'\n'liststore serve --help' tells more\n");
}

TEST(CommandLine, WhatIsMissingOrTooMuchIsNamed) {
  ExpectSaid({}, "liststore: a subcommand is wanted\n'liststore --help' lists them\n");
  ExpectSaid({"bench"},
             "liststore bench: a subcommand is wanted\n'liststore bench --help' lists "
             "them\n");
  ExpectSaid(
      {"query", "SELECT", "1"},
      "liststore query: '1' is one argument too many\n'liststore query --help' tells more\n");
  ExpectSaid({"serve", "--cql-port"},
             "liststore serve: --cql-port needs a value\n"
             "'liststore serve --help' tells more\n");
}

TEST(CommandLine, AValueThatIsNoneIsAnsweredWithThoseThereAre) {
  struct Case {
    std::vector<std::string> arguments;
    std::string said;
  };
  const Case cases[] = {
      {{"--commit-log", "ful"},
       "--commit-log: 'ful' is not a value of it; use one of off, os, periodic, sync"},
      {{"--instruments", "yes"}, "--instruments: 'yes' is not a value of it; use one of on, off"},
      {{"--cql-port", "99999"}, "--cql-port: '99999' is not a number from 0 to 65535"},
      {{"--journal", "-1"}, "--journal: '-1' is not a number from 0 to 100000"},
      {{"--idle-timeout", "5m"},
       "--idle-timeout: '5m' is not a number of seconds from 0 to 4294967295"},
      {{"--commit-log-period", "10ms"},
       "--commit-log-period: '10ms' is not a number of milliseconds from 0 to 4294967295"},
      {{"--memory-limit", "lots"},
       "--memory-limit: 'lots' is not a size; use a number of bytes, or one with K, M or G behind "
       "it, as 512M"},
      {{"--shards", "0"}, "--shards: '0' is not 1 to 256, or off"},
      {{"--config", "/nonexistent"}, "cannot read /nonexistent: No such file or directory"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = c.arguments;
    arguments.insert(arguments.begin(), "serve");
    ExpectSaid(arguments, "liststore serve: " + c.said + "\n'liststore serve --help' tells more\n");
  }
  ExpectSaid({"bench", "wire", "--seconds", "x"},
             "liststore bench wire: --seconds: 'x' is not a number\n"
             "'liststore bench wire --help' tells more\n");
  ExpectSaid({"top", "--interval", "0"},
             "liststore top: --interval: '0' is not a number from 0.05 to 3600\n"
             "'liststore top --help' tells more\n");
}

// Subcommands are the indented words below the heading.
std::vector<std::string> SubcommandsOf(std::vector<std::string> command) {
  command.emplace_back("--help");
  const std::string help = RunProgram(command).out;
  std::vector<std::string> names;
  size_t at = help.find("\nSubcommands:\n");
  if (at == std::string::npos) return names;
  for (at = help.find('\n', at + 1) + 1; help.compare(at, 2, "  ") == 0;
       at = help.find('\n', at) + 1) {
    const size_t end = help.find(' ', at + 2);
    if (end != at + 2) names.push_back(help.substr(at + 2, end - at - 2));
  }
  return names;
}

TEST(CommandLine, HelpNamesTheValuesOfAChoice) {
  const std::string query = RunProgram({"query", "--help"}).out;
  EXPECT_NE(query.find("--format table|json|csv=table\n"), std::string::npos) << query;
  const std::string serve = RunProgram({"serve", "--help"}).out;
  EXPECT_NE(serve.find("--memory-policy reject|evict=reject "), std::string::npos) << serve;
  EXPECT_NE(serve.find("--instruments on|off "), std::string::npos) << serve;
}

TEST(CommandLine, EverySubcommandHasExamplesOfItsOwn) {
  const std::vector<std::string> commands = SubcommandsOf({});
  EXPECT_GE(commands.size(), 18u);
  for (const std::string& command : commands) {
    const std::string help = RunProgram({command, "--help"}).out;
    const size_t examples = help.find("\nExamples:\n");
    ASSERT_NE(examples, std::string::npos) << command;
    EXPECT_NE(help.find("liststore " + command, examples), std::string::npos) << command;
    for (const std::string& subcommand : SubcommandsOf({command})) {
      const std::string inner = RunProgram({command, subcommand, "--help"}).out;
      EXPECT_NE(inner.find("liststore " + command, inner.find("\nExamples:\n")), std::string::npos)
          << command << " " << subcommand;
    }
  }
}

TEST(CommandLine, TheOptionsOfServeAreInGroups) {
  const std::string help = RunProgram({"serve", "--help"}).out;
  size_t before = 0;
  for (const char* group :
       {"\nWhere clients connect:\n", "\nCores and memory:\n", "\nWhat clients may take:\n",
        "\nWhat clients see:\n", "\nPasswords:\n", "\nTLS:\n", "\nTime and tests:\n",
        "\nWhat is kept:\n", "\nThe program:\n"}) {
    const size_t at = help.find(group);
    ASSERT_NE(at, std::string::npos) << group;
    EXPECT_GT(at, before) << group;
    before = at;
  }
}

TEST(CommandLine, AVariableThatNobodyTakesIsSaid) {
  RunningProgram program({"serve", "--cql-port", "0", "--until-eof"},
                         {"LISTSTORE_CQL_PRT=9042", "LISTSTORE_PORT_9042_TCP=tcp://10.0.0.1:9042"});
  program.ReadLine();
  program.CloseInput();
  const std::string err = program.Wait().err;
  EXPECT_NE(err.find("liststore: no option takes the variable LISTSTORE_CQL_PRT; did you "
                     "mean LISTSTORE_CQL_PORT?\n"),
            std::string::npos)
      << err;
  EXPECT_EQ(err.find("TCP"), std::string::npos) << err;
}

TEST(CommandLine, AStartThatFailsSaysThatAlone) {
  RunningProgram first({"serve", "--cql-port", "0", "--until-eof"}, {});
  const std::string ready = first.ReadLine();
  constexpr std::string_view kPort = "\"cql_port\":";
  const size_t at = ready.find(kPort);
  ASSERT_NE(at, std::string::npos) << ready;
  const std::string port =
      std::to_string(std::strtoul(ready.c_str() + at + kPort.size(), nullptr, 10));
  RunningProgram second({"serve", "--cql-port", port}, {"LISTSTORE_CQL_PRT=9042"});
  const std::string err = second.Wait().err;
  EXPECT_NE(err.find(port), std::string::npos) << err;
  EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
  first.CloseInput();
  first.Wait();
}

}  // namespace command_line_test
}  // namespace liststore::testing
