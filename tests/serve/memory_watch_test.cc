// When it is said that memory runs short: once for each crossing.
#include "engine/serve/memory_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace liststore::testing {
namespace memory_watch_test {

constexpr uint64_t kLimit = 1'000'000;

// A letter a look: n nearly full, F full, . nothing.
std::string Said(const std::vector<MemoryWatch::Figures>& looks) {
  MemoryWatch watch;
  std::string said;
  for (const MemoryWatch::Figures& look : looks) {
    const auto kind = watch.Look(look);
    said += !kind ? '.' : *kind == CqlMemoryNotice::Kind::kFull ? 'F' : 'n';
  }
  return said;
}

MemoryWatch::Figures PerCent(uint64_t held, uint64_t short_of_memory = 0) {
  return {kLimit / 100 * held, kLimit, short_of_memory};
}

TEST(MemoryWatch, SaysNothingBelowFourFifths) {
  EXPECT_EQ(Said({PerCent(0), PerCent(50), PerCent(79), PerCent(75), PerCent(79)}), ".....");
}

TEST(MemoryWatch, SaysOnceThatItIsNearlyFull) {
  EXPECT_EQ(Said({PerCent(80), PerCent(85), PerCent(79), PerCent(81), PerCent(71), PerCent(95)}),
            "n.....");
}

TEST(MemoryWatch, SaysItAgainBehindSevenTenths) {
  EXPECT_EQ(Said({PerCent(80), PerCent(70), PerCent(80), PerCent(69), PerCent(79), PerCent(80)}),
            "n....n");
}

TEST(MemoryWatch, SaysThatItIsFullWithTheFirstRefusalAlone) {
  EXPECT_EQ(Said({PerCent(85), PerCent(97), PerCent(97, 1), PerCent(97, 200), PerCent(96, 201)}),
            "n.F..");
}

TEST(MemoryWatch, BothAreSaidAgainAfterItWasQuiet) {
  EXPECT_EQ(Said({PerCent(97, 3), PerCent(60, 9), PerCent(90, 9), PerCent(97, 10)}), "F.nF");
}

TEST(MemoryWatch, WhatIsFullAtTheFirstLookIsNotNearlyFullToo) {
  EXPECT_EQ(Said({PerCent(97, 5), PerCent(97, 5)}), "F.");
}

// The limit allows much more than is held.
TEST(MemoryWatch, AWriteThatIsTooLargeSaysNothing) {
  EXPECT_EQ(Said({PerCent(20, 1), PerCent(20, 2), PerCent(80, 2), PerCent(80, 3)}), "..nF");
}

TEST(MemoryWatch, ALowerLimitIsACrossingToo) {
  MemoryWatch watch;
  EXPECT_FALSE(watch.Look({500'000, kLimit, 0}));
  EXPECT_EQ(watch.Look({500'000, 500'000, 0}), CqlMemoryNotice::Kind::kNearlyFull);
  EXPECT_FALSE(watch.Look({500'000, kLimit, 0}));
  EXPECT_EQ(watch.Look({500'000, 600'000, 0}), CqlMemoryNotice::Kind::kNearlyFull);
}

TEST(MemoryWatch, UnderAnotherLimitItIsSaidAgain) {
  MemoryWatch watch;
  EXPECT_EQ(watch.Look({kLimit, kLimit, 1}), CqlMemoryNotice::Kind::kFull);
  watch.LimitHasChanged();
  EXPECT_EQ(watch.Look({kLimit, kLimit / 2, 1}), CqlMemoryNotice::Kind::kNearlyFull);
  EXPECT_EQ(watch.Look({kLimit, kLimit / 2, 2}), CqlMemoryNotice::Kind::kFull);
}

}  // namespace memory_watch_test
}  // namespace liststore::testing
