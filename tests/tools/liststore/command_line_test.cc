// What is typed wrong is answered with what was meant.
#include <gtest/gtest.h>

#include <string>
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
             "liststore serve: --cql-port: 1 required UINT missing\n"
             "'liststore serve --help' tells more\n");
}

}  // namespace command_line_test
}  // namespace liststore::testing
