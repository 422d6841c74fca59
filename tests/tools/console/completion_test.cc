#include "tools/console/completion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"

namespace liststore::testing {
namespace completion_test {

const SchemaNames kNames = {
    {{"feat", {{"clicks", {"user", "ts", "item"}}, {"Caps", {"Key", "value"}}, {"clip", {"p"}}}},
     {"other", {}}}};

struct Case {
  std::string what;
  std::string before;
  std::string keyspace;
  std::string words;  // with commas
  std::string behind = {};
};

TEST(Completion, IsWhatMayFollow) {
  const Case cases[] = {
      {"statements", "", "",
       "ALTER,APPLY,BEGIN,CREATE,DELETE,DESCRIBE,DROP,GRANT,INSERT,LIST,REVOKE,SELECT,TRUNCATE,"
       "UPDATE,USE"},
      {"statements in small letters", "se", "", "select"},
      {"behind another one", "USE feat; SE", "", "SELECT"},
      {"keyspaces", "USE ", "", "feat,other"},
      {"keyspaces without one in use", "SELECT * FROM ", "", "feat.,other."},
      {"tables of the one in use", "SELECT * FROM cli", "feat", "clicks,clip"},
      {"tables of the one that is named", "SELECT * FROM feat.", "", "\"Caps\",clicks,clip"},
      {"quoted tables", "SELECT * FROM feat.\"C", "", "\"Caps\""},
      {"tables to describe", "DESCRIBE cli", "feat", "clicks,clip"},
      {"columns", "SELECT * FROM feat.clicks WHERE u", "",
       "unlogged,unset,update,use,user,users,using,uuid"},
      {"columns of a table behind", "SELECT it", "", "item", " FROM feat.clicks"},
      {"columns of the keyspace in use", "UPDATE clicks SET ite", "feat", "item"},
      {"quoted columns", "INSERT INTO feat.\"Caps\" (\"", "", "\"Key\""},
      {"no columns of tables that are not there", "SELECT * FROM feat.nothing WHERE it", "", ""},
      {"nothing in a string", "SELECT * FROM feat.clicks WHERE user = 'u", "", ""},
      {"nothing in a comment", "SELECT /* FR", "", ""},
      {"nothing in a comment to the end of the line", "SELECT -- FR", "", ""},
      {"nothing in the other one", "SELECT 1 // a /* FR", "", ""},
      {"behind such a comment", "SELECT * -- all\nFR", "", "FROM,FROZEN"},
      {"keywords", "SELECT * FR", "", "FROM,FROZEN"},
  };
  for (const Case& c : cases) {
    const Completion completion =
        Complete(c.before, c.behind, c.keyspace, []() -> const SchemaNames& { return kNames; });
    EXPECT_EQ(absl::StrJoin(completion.words, ","), c.words) << c.what;
    for (const std::string& word : completion.words) {
      EXPECT_EQ(word.substr(0, c.before.size() - completion.begin),
                c.before.substr(completion.begin))
          << c.what;
    }
  }
}

TEST(Completion, TheSchemaIsAskedWhereNamesAreWantedAlone) {
  int asked = 0;
  const auto schema = [&]() -> const SchemaNames& {
    ++asked;
    return kNames;
  };
  Complete("SEL", "", "", schema);
  Complete("SELECT cou", "", "", schema);
  EXPECT_EQ(asked, 0);
  Complete("SELECT cou", " FROM feat.clicks", "", schema);
  EXPECT_EQ(asked, 1);
}

TEST(Completion, CommonBeginnings) {
  EXPECT_EQ(CommonBeginning({"clicks", "clip"}), "cli");
  EXPECT_EQ(CommonBeginning({"clicks"}), "clicks");
  EXPECT_EQ(CommonBeginning({"a", "b"}), "");
  EXPECT_EQ(CommonBeginning({"\"caf\u00e9\"", "\"caf\u00e8\""}), "\"caf") << "whole characters";
  EXPECT_EQ(CommonBeginning({}), "");
}

}  // namespace completion_test
}  // namespace liststore::testing
