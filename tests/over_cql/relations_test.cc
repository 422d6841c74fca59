// WHERE with several relations on a column, tuples and lists of one over the wire: what is read and
// what is written. Source, where no other is named: ScyllaDB
// cql3/restrictions/statement_restrictions.cc.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace relations_test {

class Relations : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, b int, c int, v int, s int STATIC, m map<int, int>, "
        "PRIMARY KEY (p, b, c)) WITH CLUSTERING ORDER BY (b ASC, c DESC)");
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 3; ++c) {
        const std::string key = std::to_string(b) + ", " + std::to_string(c);
        Say("INSERT INTO t (p, b, c, v) VALUES (1, " + key + ", " + std::to_string(10 * b + c) +
            ")");
      }
    }
    Say("INSERT INTO t (p, b, c, v) VALUES (2, 0, 0, 99)");
  }
  std::string Read(const std::string& where) { return Say("SELECT v FROM t WHERE " + where); }
};

// possible_lhs_values.
TEST_F(Relations, AllOfAColumnHold) {
  EXPECT_EQ(Read("p = 1 AND p = 2"), "");
  EXPECT_EQ(Read("p = 2 AND p = 2"), "99");
  EXPECT_EQ(Read("p IN (1, 2, 3) AND p IN (2, 3)"), "99");
  EXPECT_EQ(Read("p = 2 AND p = null"), "");
  EXPECT_EQ(Read("p = 1 AND b = 1 AND b = 2"), "");
  EXPECT_EQ(Read("p = 1 AND b = 1 AND b > 0"), "12; 11; 10");
  EXPECT_EQ(Read("p = 1 AND b > 1 AND b = 1"), "");
  EXPECT_EQ(Read("p = 1 AND b IN (0, 1, 2) AND b > 0 AND b IN (1, 5)"), "12; 11; 10");
  EXPECT_EQ(Read("p = 1 AND b = 1 AND c > 0 AND c > 1"), "12");
  EXPECT_EQ(Read("p = 1 AND b = 1 AND c IN (0, 1) AND b = 1 AND c <= 0"), "10");
  EXPECT_EQ(
      Say("SELECT v FROM t WHERE p = ? AND p = ? AND b = ? AND b >= ?",
          {{cql::EncodeInt(1)}, {cql::EncodeInt(1)}, {cql::EncodeInt(2)}, {cql::EncodeInt(2)}}),
      "22; 21; 20");
  EXPECT_EQ(Read("p = 1 AND b = 2 AND b > 0 ORDER BY b DESC, c ASC"), "20; 21; 22");
  EXPECT_EQ(Read("p = 1 AND b = 2 AND b > 0 AND b = 2 ORDER BY c ASC"), "20; 21; 22");
  EXPECT_EQ(Say("SELECT count(*) FROM t WHERE p = 1 AND b = 1 AND b = 1"), "3");
}

TEST_F(Relations, WritesGoWhereTheyMeet) {
  Say("UPDATE t SET v = 5 WHERE p = 1 AND p = 1 AND b = 0 AND c = 0 AND c = 0");
  EXPECT_EQ(Read("p = 1 AND b = 0 AND c = 0"), "5");
  EXPECT_EQ(Say("UPDATE t SET v = 6 WHERE p = 1 AND p = 2 AND b = 0 AND c = 0"), "");
  EXPECT_EQ(Say("UPDATE t SET v = 6 WHERE p = 1 AND b = 0 AND b = 1 AND c = 0"), "");
  EXPECT_EQ(Say("DELETE FROM t WHERE p = 1 AND b = 1 AND b = 2"), "");
  EXPECT_EQ(Say("DELETE FROM t WHERE p = 1 AND b > null"), "");
  EXPECT_EQ(Read("p = 1"), "2; 1; 5; 12; 11; 10; 22; 21; 20");
  Say("DELETE FROM t WHERE p = 1 AND b > 0 AND b > 1");
  EXPECT_EQ(Read("p = 1"), "2; 1; 5; 12; 11; 10");
  Say("DELETE FROM t WHERE p = 1 AND p IN (1, 2) AND b = 1 AND c IN (0, 1) AND c > 0");
  EXPECT_EQ(Read("p = 1"), "2; 1; 5; 12; 10");
  Say("UPDATE t SET s = 7 WHERE p = 2 AND p = 2");
  EXPECT_EQ(Say("SELECT s FROM t WHERE p = 2"), "7");
}

// cql3/statements/modification_statement.cc, execute_with_condition; batch_statement.cc,
// execute_with_conditions; cas_request.cc, find_old_row.
TEST_F(Relations, ConditionsWantARow) {
  EXPECT_EQ(Say("UPDATE t SET v = 3 WHERE p = 1 AND p = 1 AND b = 0 AND b = 0 AND c = 0 IF v = 0"),
            "true 0");
  EXPECT_EQ(Read("p = 1 AND b = 0 AND c = 0"), "3");
  EXPECT_EQ(Say("UPDATE t SET v = 4 WHERE p = 1 AND p = 2 AND b = 0 AND c = 0 IF v = 3"),
            "Unrestricted partition key in a conditional update");
  EXPECT_EQ(Say("UPDATE t SET v = 4 WHERE p = 1 AND b = 0 AND b = 1 AND c = 0 IF v = 3"),
            "Unrestricted clustering key in a conditional update");
  EXPECT_EQ(Say("DELETE FROM t WHERE p = 1 AND b = 0 AND c = 0 AND c = 1 IF EXISTS"),
            "Unrestricted clustering key in a conditional deletion");
  EXPECT_EQ(Say("BEGIN BATCH UPDATE t SET v = 4 WHERE p = 1 AND b = 0 AND c = 0 IF v = 3; UPDATE t "
                "SET v = 5 WHERE p = 1 AND p = 2 AND b = 0 AND c = 0 APPLY BATCH"),
            "true 1 0 0 3");
  EXPECT_EQ(Say("BEGIN BATCH UPDATE t SET v = 4 WHERE p = 1 AND p = 2 AND b = 0 AND c = 0 IF v = 3 "
                "APPLY BATCH"),
            "Unrestricted partition key in a conditional BATCH");
  EXPECT_EQ(Say("BEGIN BATCH UPDATE t SET v = 4 WHERE p = 1 AND b = 0 AND b = 1 AND c = 0 IF v = 3 "
                "APPLY BATCH"),
            "Empty clustering range");
  EXPECT_EQ(Read("p = 1 AND b = 0 AND c = 0"), "4");
}

// get_equivalent_ranges: the columns run in both directions.
TEST_F(Relations, TuplesAreComparedByTheirValues) {
  EXPECT_EQ(Read("p = 1 AND (b, c) > (1, 1)"), "12; 22; 21; 20");
  EXPECT_EQ(Read("p = 1 AND (b, c) >= (0, 2) AND (b, c) < (2, 1)"), "2; 12; 11; 10; 20");
  EXPECT_EQ(Read("p = 1 AND (b, c) > (1, 0) AND (b) < (2) ORDER BY b DESC"), "11; 12");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 1 AND (b, c) > (1, 1) LIMIT 2"), "12; 22");
  Say("DELETE FROM t WHERE p = 1 AND (b, c) > (0, 1) AND (b, c) <= (2, 0)");
  EXPECT_EQ(Read("p = 1"), "1; 0; 22; 21");
}

// multi_column_range_accumulator.
TEST_F(Relations, TuplesHaveNoNulls) {
  const std::string null = "Invalid null value in condition for column c";
  EXPECT_EQ(Read("p = 1 AND (b, c) = (1, null)"), null);
  EXPECT_EQ(Read("p = 1 AND (b, c) > (1, null)"), null);
  EXPECT_EQ(Read("p = 1 AND (b, c) IN ((1, 1), (1, null))"), null);
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 1 AND (b, c) <= (?, ?)",
                {{cql::EncodeInt(1)}, {std::nullopt}}),
            null);
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 1 AND (b, c) = ?", {{std::nullopt}}),
            "Invalid null value in condition for column b");
}

// cql3/expr/restrictions.cc, validate_and_prepare_new_restriction.
TEST_F(Relations, AListOfOneIsAnEquality) {
  EXPECT_EQ(Read("p IN (1) AND b IN (1) ORDER BY c ASC"), "10; 11; 12");
  EXPECT_EQ(Say("UPDATE t SET v = 8 WHERE p IN (1) AND b IN (0) AND c IN (0) IF v = 0"), "true 0");
  EXPECT_EQ(Read("p IN (null)"), "");
  EXPECT_EQ(Say("DELETE FROM t WHERE p IN (null)"), "Invalid null value in condition for column p");
  EXPECT_EQ(Say("DELETE FROM t WHERE p IN (null, 3)"), "");
}

// is_supported_by_helper: an index of parts answers one relation.
TEST_F(Relations, IndexesOfCollections) {
  Say("CREATE INDEX ON t (ENTRIES(m))");
  Say("UPDATE t SET m = {1: 1, 2: 2} WHERE p = 1 AND b = 0 AND c = 0");
  Say("UPDATE t SET m = {1: 1} WHERE p = 1 AND b = 0 AND c = 1");
  EXPECT_EQ(Read("m[1] = 1"), "1; 0");
  EXPECT_TRUE(Read("m[1] = 1 AND m[2] = 2").starts_with("Cannot execute this query"));
  EXPECT_EQ(Read("m[1] = 1 AND m[2] = 2 ALLOW FILTERING"), "0");
}

TEST_F(Relations, NoTokenIsAboveNull) {
  EXPECT_EQ(Read("token(p) > null"), "");
  EXPECT_EQ(Say("SELECT v FROM t WHERE token(p) <= ?", {{std::nullopt}}), "");
}

// cql3/statements/select_statement.cc, check_needs_filtering.
TEST_F(Relations, LikeOnTheNextClusteringColumnFilters) {
  Say("CREATE TABLE w (p int, c text, d text, v int, PRIMARY KEY (p, c, d))");
  Say("INSERT INTO w (p, c, d, v) VALUES (1, 'ab', 'x', 1)");
  Say("INSERT INTO w (p, c, d, v) VALUES (1, 'bb', 'x', 2)");
  EXPECT_EQ(Say("SELECT v FROM w WHERE p = 1 AND c LIKE 'a%'"), "1");
  EXPECT_EQ(Say("SELECT v FROM w WHERE p = 1 AND c LIKE '%b' AND d = 'x'"), "1; 2");
}

}  // namespace relations_test
}  // namespace liststore::testing
