// What a terminal can show, and the line of what does not tell how far it is.
#include "programs/console/terminal.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <future>
#include <string>

namespace liststore::testing {
namespace terminal_test {

TEST(TerminalLook, BlocksAreWhereLocaleAndTerminalHaveThem) {
  struct Row {
    const char* about;
    TerminalFacts facts;
    bool has_blocks;
  };
  const Row rows[] = {
      {"nothing is set", {}, false},
      {"a file, by the locale alone", {.lang = "C.UTF-8"}, true},
      {"a file, whatever the terminal", {.lang = "en_US.utf8", .term = "dumb"}, true},
      {"a terminal", {.is_terminal = true, .lang = "C.UTF-8", .term = "xterm-256color"}, true},
      {"tmux", {.is_terminal = true, .lang = "C.UTF-8", .term = "tmux"}, true},
      {"a dumb one", {.is_terminal = true, .lang = "C.UTF-8", .term = "dumb"}, false},
      {"one that has no name", {.is_terminal = true, .lang = "C.UTF-8"}, false},
      {"the console", {.is_terminal = true, .lang = "C.UTF-8", .term = "linux"}, false},
      {"an old one", {.is_terminal = true, .lang = "C.UTF-8", .term = "vt220"}, false},
      {"another locale", {.is_terminal = true, .lang = "de_DE", .term = "xterm"}, false},
      {"LC_ALL first", {.lc_all = "C", .lc_ctype = "C.UTF-8", .lang = "C.UTF-8"}, false},
      {"then LC_CTYPE", {.lc_ctype = "C.UTF-8", .lang = "C"}, true},
      {"an empty one is none", {.lc_all = "", .lang = "C.UTF-8"}, true},
  };
  for (const Row& row : rows) EXPECT_EQ(LookOf(row.facts).has_blocks, row.has_blocks) << row.about;
}

TEST(TerminalLook, TheWidthIsTheTerminalsWithinBounds) {
  EXPECT_EQ(LookOf(TerminalFacts{}).columns, 80u);
  EXPECT_EQ(LookOf(TerminalFacts{.columns = 100, .columns_variable = "50"}).columns, 100u);
  EXPECT_EQ(LookOf(TerminalFacts{.columns_variable = "50"}).columns, 50u);
  EXPECT_EQ(LookOf(TerminalFacts{.columns_variable = "many"}).columns, 80u);
  EXPECT_EQ(LookOf(TerminalFacts{.columns = 7}).columns, 40u);
  EXPECT_EQ(LookOf(TerminalFacts{.columns = 900}).columns, 160u);
}

TEST(TerminalLook, WhatIsCutOffIsSaidInItsSigns) {
  EXPECT_EQ(Fitted("abcdef", 4, {.has_blocks = true}), "abc…");
  EXPECT_EQ(Fitted("abcdef", 4, {.has_blocks = false}), "abc.");
  EXPECT_EQ(Fitted("abcd", 4, {.has_blocks = false}), "abcd");
}

std::string All(std::FILE* file) {
  std::fflush(file);
  std::rewind(file);
  std::string text;
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  return text;
}

WaitingLine::Settings At(std::FILE* file, bool is_visible) {
  return {
      .stream = file, .is_visible = is_visible, .after = std::chrono::nanoseconds(0), .look = {}};
}

TEST(WaitingLine, SaysForHowLongAndMakesRoomForOthers) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::promise<void> drawn;
  bool is_first = true;
  {
    WaitingLine line(
        "checking /data",
        [&]() -> std::string {
          if (is_first) drawn.set_value();
          is_first = false;
          return "1 of 2 read";
        },
        At(file, true));
    drawn.get_future().wait();
    line.Say([&] { std::fputs("a line\n", file); });
  }
  const std::string text = All(file);
  EXPECT_TRUE(text.starts_with("\r\x1b[K| checking /data, 0s, 1 of 2 read\r\x1b[Ka line\n"))
      << text;
  // Where it was drawn last it is gone.
  EXPECT_TRUE(text.ends_with("\r\x1b[K") || text.ends_with("a line\n")) << text;
  std::fclose(file);
}

TEST(WaitingLine, NothingIsSaidWhereNobodyLooks) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    WaitingLine line("checking", {}, At(file, false));
    line.Say([&] { std::fputs("a line\n", file); });
  }
  EXPECT_EQ(All(file), "a line\n");
  std::fclose(file);
}

}  // namespace terminal_test
}  // namespace liststore::testing
