// A configuration file as names, values and lines; tests/tools/serve/config_test.cc has what a server makes of it.
#include "programs/console/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace config_file_test {

using Kind = ConfigEntry::Kind;

TEST(ConfigFile, ItsEntriesAreInOrderWithTheirLines) {
  const auto entries = ParseConfig(
      "# a comment\nz = \"text\"\nb = 7\n\na = [\"x\", \"y z\"]\nc = 1.5\nd = false\ne = [1, 2]\n"
      "[table]\nq = [\"a\", \"b c\"]\nm = { k = true, l = \"v\" }\n[other]\n",
      "c.toml");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  struct Row {
    const char* table;
    const char* name;
    Kind kind;
    std::vector<std::string> texts;
    size_t line;
  };
  const std::vector<Row> rows = {
      {"", "z", Kind::kText, {"text"}, 2},
      {"", "b", Kind::kNumber, {"7"}, 3},
      {"", "a", Kind::kTexts, {"x", "y z"}, 5},
      {"", "c", Kind::kDecimal, {"1.5"}, 6},
      {"", "d", Kind::kBoolean, {"false"}, 7},
      {"", "e", Kind::kOther, {"[1,2]"}, 8},
      {"table", "q", Kind::kOther, {"[a,\"b c\"]"}, 10},
      {"table", "m", Kind::kOther, {"{k:true,l:v}"}, 11},
      {"other", "", Kind::kText, {""}, 12},
  };
  ASSERT_EQ(entries->size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const ConfigEntry& entry = (*entries)[i];
    EXPECT_EQ(entry.table, rows[i].table);
    EXPECT_EQ(entry.name, rows[i].name);
    EXPECT_EQ(entry.kind, rows[i].kind) << entry.name;
    EXPECT_EQ(entry.texts, rows[i].texts) << entry.name;
    EXPECT_EQ(entry.line, rows[i].line) << entry.name;
  }
  EXPECT_EQ((*entries)[2].Shown(), "[x, y z]");
}

TEST(ConfigFile, WhatIsNoneSaysWhere) {
  const std::string deep = "a = " + std::string(10, '[') + std::string(10, ']') + "\n";
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"a = 1\nb = c\n", "c.toml:2: "},
           {"a = 1\na = 2\n", "c.toml:2: "},
           {"a = \"x\n", "c.toml:1: "},
           {"a\n", "c.toml:1: "},
           {"a = \"\xff\"\n", "c.toml:1: "},
           {deep, "c.toml:1: nested too deep"},
       }) {
    const auto entries = ParseConfig(text, "c.toml");
    ASSERT_FALSE(entries.ok()) << text;
    EXPECT_TRUE(std::string(entries.status().message()).starts_with(said))
        << entries.status().message();
  }
}

TEST(ConfigFile, WhatCannotBeReadIsNamed) {
  const TempFolder folder;
  EXPECT_EQ(ReadConfigFile("/nowhere/c.toml").status().message(),
            "cannot read /nowhere/c.toml: No such file or directory");
  EXPECT_EQ(ReadConfigFile(folder.path()).status().message(),
            "cannot read " + folder.path() + ": Is a directory");
  // Nobody writes into it: whoever opens it as a file waits for good.
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadConfigFile(folder / "pipe").status().message(),
            "cannot read " + (folder / "pipe") + ": it is a pipe or a device, and no regular file");
  WriteFile(folder / "large", std::string(kConfigBytesMax + 1, '\n'));
  EXPECT_EQ(ReadConfigFile(folder / "large").status().message(),
            (folder / "large") + " is larger than 262144 bytes, and no configuration");
  WriteFile(folder / "most", std::string(kConfigBytesMax, '\n'));
  EXPECT_TRUE(ReadConfigFile(folder / "most").ok());
}

TEST(ConfigFile, TextsAreQuotedSoThatTheyComeBack) {
  for (const std::string text :
       {"", "plain", "a \"b\" \\ c", "line\nnext\ttab", "\x01\x7f", "é 日本"}) {
    const auto entries = ParseConfig("a = " + TomlText(text) + "\n", "c.toml");
    ASSERT_TRUE(entries.ok()) << entries.status().message();
    EXPECT_EQ(entries->front().texts.front(), text);
  }
}

}  // namespace config_file_test
}  // namespace liststore::testing
