// LIKE and NOT IN over the wire: in WHERE, beside ALLOW FILTERING, and in IF.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/cql/values/encode_value.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/data_type.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace filters_over_cql_test {

constexpr char kFiltering[] =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

constexpr char kOnlyEqual[] =
    "Only EQ and IN relation are supported on the partition key (unless you use the token() "
    "function or ALLOW FILTERING)";

class Filters : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p text, c ascii, d int, s varchar STATIC, x text, v int, "
        "m map<text, text>, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)");
    Say("INSERT INTO t (p, s) VALUES ('one', 'static')");
    Say("INSERT INTO t (p, c, d, x, v) VALUES ('one', 'ab', 1, 'ten %', 10)");
    Say("INSERT INTO t (p, c, d, x, v) VALUES ('one', 'ac', 2, 'twenty', 20)");
    Say("INSERT INTO t (p, c, d, v, m) VALUES ('two', 'bc', 3, 30, {'k': 'map'})");
  }
};

TEST_F(Filters, LikeIsAskedOfColumnsOfAllKinds) {
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE 't%' ALLOW FILTERING"), "20; 10");
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE '%\\%' ALLOW FILTERING"), "10");
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE '______' ALLOW FILTERING"), "20");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p LIKE '%w%' ALLOW FILTERING"), "30");
  EXPECT_EQ(Say("SELECT v FROM t WHERE c LIKE '_c' ALLOW FILTERING"), "20; 30");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 'one' AND c LIKE '_c' ALLOW FILTERING"), "20");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 'one' AND p LIKE 'x%' ALLOW FILTERING"), "");
  EXPECT_EQ(Say("SELECT v FROM t WHERE s LIKE 'st%' AND x LIKE 'tw%' ALLOW FILTERING"), "20");
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE 't%' AND c = 'ab' AND d = 1 ALLOW FILTERING"), "10");
}

TEST_F(Filters, NullsAreLikeNothingAndEmptyPatternsLikeTheEmptyText) {
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE '%' ALLOW FILTERING"), "20; 10") << "one has no x";
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE '' ALLOW FILTERING"), "");
  Say("UPDATE t SET x = '' WHERE p = 'two' AND c = 'bc' AND d = 3");
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE '' ALLOW FILTERING"), "30");
  const std::string bound = "SELECT v FROM t WHERE x LIKE ? ALLOW FILTERING";
  EXPECT_EQ(Say(bound, {{"%y"}}), "20");
  EXPECT_EQ(Say(bound, {{"%%"}}), "20; 10; 30");
  EXPECT_EQ(Say(bound, {{std::nullopt}}), "");
}

TEST_F(Filters, LikeNeedsAllowFilteringInScyllaWords) {
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE 't%'"), kFiltering);
  EXPECT_EQ(Say("SELECT v FROM t WHERE c LIKE 'a%'"), kFiltering);
  EXPECT_EQ(
      Say("SELECT v FROM t WHERE p LIKE 'o%'"),
      "Only EQ and IN relation are supported on the partition key (unless you use the token() "
      "function or ALLOW FILTERING)");
  Say("CREATE TABLE w (p int, c text, d int, e text, PRIMARY KEY (p, c, d, e))");
  EXPECT_EQ(Say("SELECT * FROM w WHERE p = 1 AND e LIKE 'a' AND c LIKE 'b'"),
            "PRIMARY KEY column \"e\" cannot be restricted as preceding column \"d\" is not "
            "restricted");
  Say("CREATE INDEX ON t (x)");
  EXPECT_EQ(Say("SELECT v FROM t WHERE x LIKE 't%'"), kFiltering) << "an index is of equal values";
}

TEST_F(Filters, LikeInConditions) {
  const std::string row = " WHERE p = 'one' AND c = 'ab' AND d = 1 IF ";
  EXPECT_EQ(Say("UPDATE t SET v = 11" + row + "x LIKE 'twe%'"), "false ten %");
  EXPECT_EQ(Say("UPDATE t SET v = 11" + row + "x LIKE '%\\%'"), "true ten %");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 'one' AND c = 'ab' AND d = 1"), "11");
  EXPECT_EQ(Say("UPDATE t SET v = 12" + row + "x LIKE ?", {{std::nullopt}}), "false ten %");
  EXPECT_EQ(Say("UPDATE t SET v = 12" + row + "m['k'] LIKE 'm%'"), "false null");
  const std::string other = " WHERE p = 'two' AND c = 'bc' AND d = 3 IF ";
  EXPECT_EQ(Say("UPDATE t SET v = 31" + other + "m['k'] LIKE 'm%' AND x LIKE '%'").substr(0, 5),
            "false")
      << "a null is like nothing";
  EXPECT_EQ(Say("UPDATE t SET v = 31" + other + "m['k'] LIKE '_ap'").substr(0, 4), "true");
  EXPECT_EQ(Say("UPDATE t SET v = 31" + other + "v LIKE 'a'"),
            "LIKE is allowed only on string types, which v is not");
}

TEST_F(Filters, NotInIsAskedOfColumnsOfAllKinds) {
  EXPECT_EQ(Say("SELECT v FROM t WHERE v NOT IN (10, 30) ALLOW FILTERING"), "20");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p NOT IN ('one') ALLOW FILTERING"), "30");
  EXPECT_EQ(Say("SELECT v FROM t WHERE c NOT IN ('ab', 'bc') AND p = 'one' ALLOW FILTERING"), "20");
  EXPECT_EQ(Say("SELECT v FROM t WHERE (c, d) NOT IN (('ab', 1), ('ac', 1)) AND p = 'one' "
                "ALLOW FILTERING"),
            "20");
  EXPECT_EQ(Say("SELECT v FROM t WHERE s NOT IN ('static', 'x') ALLOW FILTERING"), "")
      << "two has no s";
  EXPECT_EQ(Say("SELECT v FROM t WHERE v NOT IN () ALLOW FILTERING"), "20; 10; 30");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 'one' AND c NOT IN ('ab')"), kFiltering);
  EXPECT_EQ(
      Say("SELECT v FROM t WHERE p NOT IN ('one')"),
      "Only EQ and IN relation are supported on the partition key (unless you use the token() "
      "function or ALLOW FILTERING)");
}

TEST_F(Filters, NothingIsKnownToBeNotInAListWithANull) {
  const std::string bound = "SELECT v FROM t WHERE v NOT IN ? ALLOW FILTERING";
  EXPECT_EQ(Say(bound, {{EncodeCollection(DataType::List(CqlType::kInt), {cql::EncodeInt(10)})}}),
            "20; 30");
  EXPECT_EQ(Say(bound, {{std::nullopt}}), "");
  const std::string one = "SELECT v FROM t WHERE v NOT IN (?, 10) ALLOW FILTERING";
  EXPECT_EQ(Say(one, {{cql::EncodeInt(20)}}), "30");
  EXPECT_EQ(Say(one, {{std::nullopt}}), "");
  EXPECT_EQ(Say("SELECT v FROM t WHERE x NOT IN ('twenty') ALLOW FILTERING"), "10");
}

TEST_F(Filters, NotInInConditionsTakesNullsForValues) {
  const std::string update = "UPDATE t SET v = 21 WHERE p = 'one' AND c = 'ac' AND d = 2 IF ";
  EXPECT_EQ(Say(update + "x NOT IN ('ten', 'twenty')"), "false twenty");
  EXPECT_EQ(Say(update + "x NOT IN ('ten', null)"), "true twenty");
  EXPECT_EQ(Say(update + "x NOT IN ?", {{std::nullopt}}), "true twenty");
  const std::string of_two = "UPDATE t SET v = 31 WHERE p = 'two' AND c = 'bc' AND d = 3 IF ";
  EXPECT_EQ(Say(of_two + "x NOT IN ('ten', null)"), "false null") << "a null is a null";
  EXPECT_EQ(Say(of_two + "x NOT IN ('ten')"), "true null");
  EXPECT_EQ(Say(of_two + "m['k'] NOT IN ('map')").substr(0, 5), "false");
}

TEST_F(Filters, KeysOfWritesAreNamedNotFiltered) {
  EXPECT_EQ(Say("DELETE FROM t WHERE p LIKE 'o%'"), kOnlyEqual);
  EXPECT_EQ(Say("UPDATE t SET v = 1 WHERE p = 'one' AND c LIKE 'a%' AND d = 1"),
            "Invalid operator in where clause (c LIKE 'a%') AND (d = 1)");
  EXPECT_EQ(Say("DELETE FROM t WHERE p NOT IN ('one')"), kOnlyEqual);
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 'one' AND c = 'ab'"), "10") << "nothing was deleted";
}

TEST_F(Filters, AViewMayHaveLikeInItsWhere) {
  Say("CREATE MATERIALIZED VIEW w AS SELECT p, c, d, x FROM t WHERE x LIKE 'tw%' AND p IS NOT NULL "
      "AND c IS NOT NULL AND d IS NOT NULL PRIMARY KEY (x, p, c, d)");
  EXPECT_EQ(Say("SELECT x FROM w"), "twenty");
  Say("UPDATE t SET x = 'twelve' WHERE p = 'two' AND c = 'bc' AND d = 3");
  EXPECT_EQ(Say("SELECT x FROM w WHERE x = 'twelve'"), "twelve");
  Say("UPDATE t SET x = 'other' WHERE p = 'one' AND c = 'ac' AND d = 2");
  EXPECT_EQ(Say("SELECT x FROM w"), "twelve");
}

}  // namespace filters_over_cql_test
}  // namespace liststore::testing
