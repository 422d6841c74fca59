#include "tools/console/error_place.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore::testing {
namespace error_place_test {

TEST(ErrorPlace, IsBelowTheByte) {
  EXPECT_EQ(ErrorPlace("SELECT * FORM t", "error 0x2000: line 1:9 : Missing FROM"),
            "SELECT * FORM t\n"
            "         ^\n");
  EXPECT_EQ(ErrorPlace("SELECT *\nFORM t\nWHERE", "line 2:0 : Missing FROM"), "FORM t\n^\n");
  EXPECT_EQ(ErrorPlace("SELECT", "line 1:6 no viable alternative"), "SELECT\n      ^\n");
}

TEST(ErrorPlace, CharactersOfSeveralBytesTakeAColumn) {
  EXPECT_EQ(ErrorPlace("'\xc3\xa9' x", "line 1:5 "), "'\xc3\xa9' x\n    ^\n");
  EXPECT_EQ(ErrorPlace("a\tb x", "line 1:4 "), "a\\x09b x\n       ^\n");
}

TEST(ErrorPlace, OfALongLineIsWhatIsAround) {
  const std::string before(200, 'a'), behind(200, 'b');
  EXPECT_EQ(ErrorPlace(before + "X" + behind, "line 1:200 "), "..." + std::string(50, 'a') + "X" +
                                                                  std::string(24, 'b') + "...\n" +
                                                                  std::string(53, ' ') + "^\n");
}

TEST(ErrorPlace, IsNothingWhereNoneIsNamed) {
  for (const char* words : {"", "line", "line 1", "line 1:", "line x:1", "line 0:1", "line 1:99",
                            "line 3:0", "line 99999999999999999999:1", "deadline 1"}) {
    EXPECT_EQ(ErrorPlace("SELECT\n1", words), "") << words;
  }
  EXPECT_EQ(ErrorPlace("", "line 1:0 "), "\n^\n");
}

}  // namespace error_place_test
}  // namespace liststore::testing
