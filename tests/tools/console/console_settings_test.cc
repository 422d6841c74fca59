#include "tools/console/console_settings.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore::testing {
namespace console_settings_test {

// What is said to the line.
std::string Said(const std::string& line, ConsoleSettings* settings) {
  const auto command = ParseConsoleCommand(line);
  if (!command.ok()) return std::string(command.status().message());
  const auto said = ChangeSetting(*command, settings);
  return said.ok() ? *said : "! " + std::string(said.status().message());
}

TEST(ConsoleSettings, LinesForTheConsole) {
  for (const char* line : {"\\d", "\\nothing", " \\q;", "help", "EXIT", "quit;"}) {
    EXPECT_TRUE(IsForConsole(line)) << line;
  }
  for (const char* line : {"", ";", "SELECT 1;", "helper", "quit now", "d"}) {
    EXPECT_FALSE(IsForConsole(line)) << line;
  }
}

TEST(ConsoleSettings, CommandsHaveAnArgument) {
  const auto described = ParseConsoleCommand(" \\d  feat.clicks ; ");
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->name, "\\d");
  EXPECT_EQ(described->argument, "feat.clicks");
  EXPECT_EQ(ParseConsoleCommand("quit")->name, "\\q");
  EXPECT_EQ(ParseConsoleCommand("\\timng").status().message(),
            "no command \\timng; did you mean \\timing?");
  EXPECT_EQ(ParseConsoleCommand("\\xylophone").status().message(),
            "no command \\xylophone; \\help lists them");
}

TEST(ConsoleSettings, AreSetAndTurnedOver) {
  ConsoleSettings settings;
  EXPECT_EQ(Said("\\timing", &settings), "timing is on");
  EXPECT_EQ(Said("\\timing", &settings), "timing is off");
  EXPECT_EQ(Said("\\timing on", &settings), "timing is on");
  EXPECT_TRUE(settings.timing);
  EXPECT_EQ(Said("\\timing yes", &settings), "! 'yes' is not on or off");
  EXPECT_EQ(Said("\\format", &settings), "format is table");
  EXPECT_EQ(Said("\\format csv", &settings), "format is csv");
  EXPECT_EQ(settings.format, ResultFormat::kCsv);
  EXPECT_EQ(Said("\\format xml", &settings),
            "! 'xml' is not a format; use one of table, json, csv");
  EXPECT_EQ(Said("\\paging off", &settings), "paging is off");
  EXPECT_EQ(Said("\\paging", &settings), "paging is on: 100 rows a page");
  EXPECT_EQ(Said("\\paging 1", &settings), "paging is on: 1 row a page");
  EXPECT_EQ(settings.page_rows, 1);
  EXPECT_EQ(Said("\\paging 0", &settings), "! a page has 1 to 1,000,000 rows, not 0");
  EXPECT_EQ(Said("\\paging 1000000", &settings), "paging is on: 1,000,000 rows a page");
  EXPECT_EQ(Said("\\paging many", &settings),
            "! 'many' is not on, off or how many rows a page has");
}

}  // namespace console_settings_test
}  // namespace liststore::testing
