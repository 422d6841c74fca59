#include "engine/base/check.h"

#include <gtest/gtest.h>

namespace liststore {
namespace check_test {

TEST(CheckTest, PassesWhatHolds) {
  LS_CHECK(1 + 1 == 2, "arithmetic works");
  LS_DCHECK(1 + 1 == 2, "arithmetic works");
}

TEST(CheckTest, EvaluatesItsConditionOnce) {
  int evaluations = 0;
  LS_CHECK(++evaluations == 1, "the condition runs once");
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckTest, DcheckCostsNothingInRelease) {
  int evaluations = 0;
  LS_DCHECK(++evaluations > 0, "counts");
#ifdef NDEBUG
  EXPECT_EQ(evaluations, 0);
#else
  EXPECT_EQ(evaluations, 1);
#endif
}

TEST(CheckDeathTest, NamesFileConditionAndMessage) {
  EXPECT_DEATH(LS_CHECK(2 < 1, "order is strict"),
               "check_test.cc:[0-9]+: check failed: 2 < 1: order is strict");
}

TEST(CheckDeathTest, UnreachableEndsTheProcess) {
  EXPECT_DEATH(LS_UNREACHABLE("no such kind"), "unreachable: no such kind");
}

}  // namespace check_test
}  // namespace liststore
