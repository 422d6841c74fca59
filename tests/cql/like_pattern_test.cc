#include "engine/cql/values/like_pattern.h"

#include <regex>
#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore {
namespace like_pattern_test {

TEST(LikePatternTest, WildcardsAndWhatTakesTheirMeaning) {
  EXPECT_TRUE(cql::MatchesLike("abc", "abc"));
  EXPECT_FALSE(cql::MatchesLike("abc", "ABC")) << "case counts";
  EXPECT_FALSE(cql::MatchesLike("ab", "abc")) << "the whole text, not a part of it";
  EXPECT_TRUE(cql::MatchesLike("a%", "a"));
  EXPECT_TRUE(cql::MatchesLike("%b%", "abc"));
  EXPECT_TRUE(cql::MatchesLike("%ab%ab%", "xabyab"));
  EXPECT_FALSE(cql::MatchesLike("%ab%ab%", "xab"));
  EXPECT_TRUE(cql::MatchesLike("_b_", "abc"));
  EXPECT_FALSE(cql::MatchesLike("_", ""));
  EXPECT_TRUE(cql::MatchesLike("", ""));
  EXPECT_FALSE(cql::MatchesLike("", "a"));
  EXPECT_TRUE(cql::MatchesLike("100\\%", "100%"));
  EXPECT_FALSE(cql::MatchesLike("100\\%", "1000"));
  EXPECT_TRUE(cql::MatchesLike("a\\_b", "a_b"));
  EXPECT_FALSE(cql::MatchesLike("a\\_b", "axb"));
  EXPECT_TRUE(cql::MatchesLike("\\\\%", "\\x")) << "a backslash takes the meaning from a backslash";
  EXPECT_TRUE(cql::MatchesLike("\\a", "a"));
  EXPECT_TRUE(cql::MatchesLike("a\\", "a\\")) << "the last one is itself";
  EXPECT_TRUE(cql::MatchesLike("[a.*]%", "[a.*]b")) << "nothing else has a meaning";
}

TEST(LikePatternTest, CharactersAreNotBytes) {
  constexpr std::string_view kEuro = "\xe2\x82\xac";
  EXPECT_TRUE(cql::MatchesLike("_", kEuro));
  EXPECT_FALSE(cql::MatchesLike("__", kEuro));
  EXPECT_FALSE(cql::MatchesLike("%__", kEuro));
  EXPECT_TRUE(cql::MatchesLike("%_5",
                               "\xe2\x82\xac"
                               "5"));
  EXPECT_TRUE(cql::MatchesLike("a\\\xe2\x82\xac", "a\xe2\x82\xac"));
}

TEST(LikePatternTest, LongPatternsOfLongTextsAreOneWalk) {
  // Each place where it nearly fits was looked at from its begin: 10^11 steps of some minutes.
  constexpr size_t kBytes = 1'000'000;
  const std::string text(kBytes, 'a');
  const std::string part(kBytes / 3, 'a');
  EXPECT_FALSE(cql::MatchesLike("%" + part + "b%", text));
  EXPECT_FALSE(cql::MatchesLike("%" + part + "b", text));
  EXPECT_FALSE(cql::MatchesLike("%" + part + "\\%", text));
  EXPECT_FALSE(cql::MatchesLike("%" + std::string(kBytes / 3, '_') + "b", text));
  EXPECT_TRUE(cql::MatchesLike("%" + part + "%" + part + "%" + part + "%", text));
  EXPECT_TRUE(cql::MatchesLike("a%_%" + part + "_", text));
}

TEST(LikePatternTest, PatternsOfTooMuchEffortAreRefused) {
  EXPECT_TRUE(cql::CheckLikePattern("%_" + std::string(255, 'a') + "%").ok());
  const cql::CqlStatus refused = cql::CheckLikePattern("%_" + std::string(256, 'a') + "%");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "A pattern of LIKE with 257 characters between two '%', '_' among them; liststore has "
            "at most 256");
}

TEST(LikePatternTest, EffortIsOfWhatIsTriedAgainAndAgain) {
  EXPECT_EQ(cql::LikeEffort(""), 1u);
  EXPECT_EQ(cql::LikeEffort("%abc%"), 1u);
  EXPECT_EQ(cql::LikeEffort("%a_c%"), 3u);
  EXPECT_EQ(cql::LikeEffort("%a\\_c%"), 1u);
  EXPECT_EQ(cql::LikeEffort("%_\xe2\x82\xac%a%b_cd%"), 4u);
  EXPECT_EQ(cql::LikeEffort("a_____%b____"), 1u) << "at the begin, and at the end";
}

// The same as a regular expression, as ScyllaDB has it.
std::string ToRegex(const std::string& pattern) {
  std::string regex;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%') {
      regex += ".*";
    } else if (pattern[i] == '_') {
      regex += '.';
    } else {
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      regex += pattern[i] == '\\' ? "\\\\" : std::string(1, pattern[i]);
    }
  }
  return regex;
}

TEST(LikePatternTest, AgreesWithRegularExpressions) {
  Random random(testing::TestSeed());
  const auto text = [&](std::string_view alphabet, uint64_t bound) {
    std::string made;
    for (uint64_t left = random.Below(bound); left > 0; --left) {
      made += alphabet[random.Below(alphabet.size())];
    }
    return made;
  };
  int matches = 0;
  for (uint64_t i = 0; i < testing::TestSteps(20'000); ++i) {
    const std::string pattern = text("aab%%_\\", 9);
    const std::string subject = text("aaab%_\\", 9);
    const bool expected = std::regex_match(subject, std::regex(ToRegex(pattern)));
    ASSERT_EQ(cql::MatchesLike(pattern, subject), expected) << pattern << " of " << subject;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 0);
}

}  // namespace like_pattern_test
}  // namespace liststore
