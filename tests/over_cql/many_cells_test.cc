// Rows of so many cells that they are decoded beside their lane: they are read as others are.
#include <gtest/gtest.h>

#include <string>

#include "engine/cql/values/encode_value.h"
#include "engine/model/mutation.h"
#include "engine/model/row_view.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace many_cells_test {

constexpr int kMany = static_cast<int>(kEncodedRowCells) + 900;

class ManyCells : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, c int, m map<int, int>, v int, s int STATIC, PRIMARY KEY (p, c))");
  }

  // {first: first, ...}, `count` elements.
  static std::string Map(int first, int count) {
    std::string map = "{";
    for (int i = first; i < first + count; ++i) {
      map += (i == first ? "" : ", ") + std::to_string(i) + ": " + std::to_string(i);
    }
    return map + "}";
  }
  // Rows 1 to 5 of partition 1, of which 2 and 4 have many cells.
  void FillPartition() {
    for (int c = 1; c <= 5; ++c) {
      const std::string at = std::to_string(c);
      Must("INSERT INTO t (p, c, v) VALUES (1, " + at + ", 1" + at + ")");
      if (c % 2 == 0) Must("UPDATE t SET m = m + " + Map(c, kMany) + " WHERE p = 1 AND c = " + at);
    }
  }
};

TEST_F(ManyCells, AreReadInTheirPlace) {
  FillPartition();
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1"), "1; 2; 3; 4; 5");
  EXPECT_EQ(Say("SELECT c, v FROM t WHERE p = 1 ORDER BY c DESC"), "5 15; 4 14; 3 13; 2 12; 1 11");
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1 LIMIT 2"), "1; 2");
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1 AND c >= 2 LIMIT 1"), "2");
  EXPECT_EQ(Say("SELECT c FROM t PER PARTITION LIMIT 4"), "1; 2; 3; 4");
  EXPECT_EQ(Say("SELECT c, v, m[4], m[2], m[1] FROM t WHERE p = 1 AND c IN (2, 3, 4)"),
            "2 12 4 2 null; 3 13 null null null; 4 14 4 null null");
  EXPECT_EQ(Cell("SELECT toJson(m) FROM t WHERE p = 1 AND c = 2").substr(0, 16),
            R"({"2": 2, "3": 3,)");
  EXPECT_EQ(Say("SELECT count(*), count(m), count(v), sum(v) FROM t WHERE p = 1"), "5 2 5 65");
  EXPECT_EQ(Say("SELECT c, count(m) FROM t WHERE p = 1 GROUP BY p, c"), "1 0; 2 1; 3 0; 4 1; 5 0");
  // Those that follow it in a page, and the page that begins with it.
  for (const int page_size : {1, 2, 3}) {
    CqlParameters parameters;
    parameters.page_size = page_size;
    CqlAnswer all;
    do {
      CqlAnswer page = Must({"SELECT c FROM t WHERE p = 1", {}, true}, parameters);
      parameters.paging_state = page.paging_state;
      all.rows.insert(all.rows.end(), page.rows.begin(), page.rows.end());
    } while (!parameters.paging_state.empty());
    EXPECT_EQ(ToText(all), "1; 2; 3; 4; 5") << page_size;
  }
}

TEST_F(ManyCells, AreFilteredAsOthersAre) {
  FillPartition();
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1 AND m CONTAINS KEY 3 ALLOW FILTERING"), "2");
  EXPECT_EQ(Say("SELECT c FROM t WHERE m CONTAINS 900 ALLOW FILTERING"), "2; 4");
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1 AND v > 12 ALLOW FILTERING"), "3; 4; 5");
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1 AND v > 13 LIMIT 1 ALLOW FILTERING"), "4");
  EXPECT_EQ(Say("SELECT c FROM t WHERE p = 1 AND v = 99 ALLOW FILTERING"), "");
}

TEST_F(ManyCells, OfWhichNoneLivesAreNoRow) {
  Must("INSERT INTO t (p, s) VALUES (1, 7)");
  Must("UPDATE t USING TTL 10 SET m = m + " + Map(0, kMany) + " WHERE p = 1 AND c = 2");
  Must("UPDATE t SET m = m + " + Map(0, kMany) + " WHERE p = 2 AND c = 2");
  EXPECT_EQ(Say("SELECT p, c, s FROM t WHERE p = 1"), "1 2 7");
  clock_.AdvanceSeconds(11);
  EXPECT_EQ(Say("SELECT p, c, s FROM t WHERE p = 1"), "1 null 7") << "the static row alone";
  // What is deleted under a timestamp of its own leaves tombstones.
  Must("UPDATE t USING TIMESTAMP 1700000100000000 SET m = m - " + [] {
    std::string set = "{0";
    for (int i = 1; i < kMany; ++i) set += ", " + std::to_string(i);
    return set + "}";
  }() + " WHERE p = 2 AND c = 2");
  EXPECT_EQ(Say("SELECT p, c FROM t WHERE p = 2"), "");
  Must("UPDATE t SET v = 1 WHERE p = 2 AND c = 2");
  EXPECT_EQ(Say("SELECT p, c, v, m[5] FROM t WHERE p = 2"), "2 2 1 null");
}

TEST_F(ManyCells, ThatARowMayHaveAreNamed) {
  const int most = static_cast<int>(kRowCellsMax);
  const std::string where = " WHERE p = 1 AND c = 1";
  const std::string kTooMany =
      "The write was refused and nothing of it applied: a row of 65537 values and elements exceeds "
      "the 65536 that a row may have: keep a part of it in other rows, or a collection that is "
      "written whole in a frozen one";
  for (int first = 0; first < most; first += 8192) {
    Must("UPDATE t SET m = m + " + Map(first, 8192) + where);
  }
  const CqlAnswer refused = session_->Run({"UPDATE t SET v = 1" + where, {}, false});
  EXPECT_EQ(refused.error, kTooMany);
  EXPECT_EQ(refused.code, 0x2200);
  EXPECT_EQ(Refusal("UPDATE t SET m[-1] = 1" + where), kTooMany);
  EXPECT_EQ(Refusal("UPDATE t SET v = 1" + where + " IF m[5] = 5"), kTooMany);
  EXPECT_EQ(Refusal("BEGIN BATCH UPDATE t SET v = 1 WHERE p = 2 AND c = 1 UPDATE t SET v = 1" +
                    where + " APPLY BATCH"),
            kTooMany);
  EXPECT_EQ(Say("SELECT p FROM t WHERE p = 2"), "");
  EXPECT_EQ(Say("UPDATE t SET m[5] = 6" + where), "") << "it makes the row no larger";
  EXPECT_EQ(Say("DELETE m[7] FROM t" + where), "");
  EXPECT_EQ(Say("SELECT m[5], m[7], v FROM t" + where), "6 null null");
  EXPECT_EQ(Say("DELETE m FROM t" + where), "");
  EXPECT_EQ(Say("UPDATE t SET v = 1" + where), "");
  EXPECT_EQ(Say("SELECT p, v FROM t"), "1 1");
}

}  // namespace many_cells_test
}  // namespace liststore::testing
