#include "engine/model/cell.h"

#include <gtest/gtest.h>

namespace liststore {
namespace cell_test {

CellView Live(std::string_view value, int64_t micros) {
  CellView cell;
  cell.liveness.timestamp = {micros};
  cell.value = value;
  return cell;
}

CellView Expiring(std::string_view value, int64_t micros, int64_t expiry_seconds,
                  int64_t ttl_seconds) {
  CellView cell = Live(value, micros);
  cell.liveness.expiry_seconds = expiry_seconds;
  cell.liveness.ttl_seconds = ttl_seconds;
  return cell;
}

CellView Dead(int64_t micros, int64_t deletion_seconds = 5) {
  CellView cell;
  cell.live = false;
  cell.liveness.timestamp = {micros};
  cell.deletion_seconds = deletion_seconds;
  return cell;
}

enum Winner {
  kSecond = -1,
  kNeither = 0,
  kFirst = 1
};

struct Example {
  std::string_view rule;
  CellView first;
  CellView second;
  Winner winner;
};

int Sign(int order) { return (order > 0) - (order < 0); }

const Example kExamples[] = {
    {"the later timestamp wins", Live("x", 2), Live("y", 1), kFirst},
    {"the later timestamp wins below zero", Live("x", -2), Live("y", -1), kSecond},
    {"the later timestamp wins over a deletion", Live("x", 2), Dead(1), kFirst},
    {"on a tie the deletion wins", Live("x", 1), Dead(1), kSecond},
    {"on a tie the deletion wins over an expiring cell", Expiring("x", 1, 90, 10), Dead(1),
     kSecond},
    {"of two deletions the later one", Dead(1, 7), Dead(1, 6), kFirst},
    {"equal deletions", Dead(1, 7), Dead(1, 7), kNeither},
    {"on a tie expiring beats lasting", Expiring("a", 1, 90, 10), Live("z", 1), kFirst},
    {"of two expiring the later expiry", Expiring("a", 1, 91, 50), Expiring("z", 1, 90, 10),
     kFirst},
    {"on equal expiries the smaller ttl", Expiring("a", 1, 90, 10), Expiring("z", 1, 90, 50),
     kFirst},
    {"on a full tie the larger value", Live("b", 1), Live("a", 1), kFirst},
    {"on a full tie the longer value", Live("ab", 1), Live("a", 1), kFirst},
    {"values compare as unsigned bytes", Live("\x80", 1), Live("\x7f", 1), kFirst},
    {"equal cells", Expiring("a", 1, 90, 10), Expiring("a", 1, 90, 10), kNeither},
};

TEST(CellTest, WhichOfTwoWins) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(Sign(CompareCells(example.first, example.second)), example.winner) << example.rule;
    EXPECT_EQ(Sign(CompareCells(example.second, example.first)), -example.winner) << example.rule;
  }
}

TEST(CellTest, MarkersFollowTheRulesOfCellsWithoutValues) {
  for (const Example& example : kExamples) {
    if (!example.first.live || !example.second.live) continue;
    CellView first = example.first;
    CellView second = example.second;
    first.value = second.value = {};
    EXPECT_EQ(Sign(CompareMarkers(first.liveness, second.liveness)),
              Sign(CompareCells(first, second)))
        << example.rule;
  }
}

TEST(LivenessTest, DeadFromItsExpiryOn) {
  const Liveness expiring{{1}, 100, 10};
  EXPECT_TRUE(expiring.LiveAt(99));
  EXPECT_FALSE(expiring.LiveAt(100));
  EXPECT_TRUE((Liveness{{1}, kNoExpiry, 0}.LiveAt(1'000'000)));
  EXPECT_FALSE(Liveness{}.LiveAt(0));
  EXPECT_EQ(expiring.written_seconds(), 90);
}

TEST(LivenessTest, ShadowLastsGcGraceFromTheWriteAndNeverEndsBeforeTheExpiry) {
  const Liveness expiring{{1}, 100, 10};
  EXPECT_EQ(expiring.PurgeSeconds(5), 100);
  EXPECT_EQ(expiring.PurgeSeconds(50), 140);
  EXPECT_EQ((Liveness{{1}, kNoExpiry, 0}.PurgeSeconds(50)), kNoExpiry);
}

TEST(TombstoneTest, CoversWhatIsNotNewer) {
  const Tombstone tombstone{{10}, 3};
  EXPECT_TRUE(tombstone.Covers({10}));
  EXPECT_TRUE(tombstone.Covers({9}));
  EXPECT_FALSE(tombstone.Covers({11}));
  EXPECT_FALSE(Tombstone{}.Covers(WriteTimestamp::None()));
  EXPECT_FALSE(tombstone.PurgeableAt(12, 10));
  EXPECT_TRUE(tombstone.PurgeableAt(13, 10));
}

TEST(TombstoneTest, StrongerIsTheLaterTimestampThenTheLaterDeletion) {
  const Tombstone old{{9}, 8}, early{{10}, 3}, late{{10}, 4};
  EXPECT_EQ(Tombstone::Stronger(old, early), early);
  EXPECT_EQ(Tombstone::Stronger(late, early), late);
  EXPECT_EQ(Tombstone::Stronger(early, late), late);
  EXPECT_EQ(Tombstone::Stronger(Tombstone{}, old), old);
}

TEST(WriteTimestampTest, FloorsToSecondsBelowZeroToo) {
  EXPECT_EQ(FloorSeconds({1'999'999}), 1);
  EXPECT_EQ(FloorSeconds({-1}), -1);
  EXPECT_EQ(FloorSeconds({-1'000'000}), -1);
  EXPECT_EQ(FloorSeconds({-1'000'001}), -2);
}

}  // namespace cell_test
}  // namespace liststore
