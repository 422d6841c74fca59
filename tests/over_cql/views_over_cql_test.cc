// Materialized views over the wire: what statements on them answer, and that they follow their
// tables whatever is written there.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace views_over_cql_test {

class Views : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, c int, v int, w int, PRIMARY KEY (p, c))");
  }

  // One by a cell and one by the same keys in another order, of all columns and of few.
  void MakeViews() {
    Say("CREATE MATERIALIZED VIEW by_v AS SELECT * FROM t WHERE v IS NOT NULL AND p IS NOT NULL "
        "AND "
        "c IS NOT NULL PRIMARY KEY (v, p, c)");
    Say("CREATE MATERIALIZED VIEW by_c AS SELECT v FROM t WHERE c IS NOT NULL AND p IS NOT NULL "
        "PRIMARY KEY (c, p) WITH CLUSTERING ORDER BY (p DESC)");
  }
  void Advance(int64_t seconds) { clock_.AdvanceSeconds(static_cast<uint64_t>(seconds)); }
};

TEST_F(Views, TablesOfTheSystemSayThatTheyAreBuilt) {
  Say("CREATE TYPE pair (a int, b int)");
  Say("CREATE TABLE parts (p int, c int, l list<int>, m map<text, int>, e set<int>, u pair, x int, "
      "f frozen<list<int>>, PRIMARY KEY (p, c))");
  Say("CREATE MATERIALIZED VIEW by_c AS SELECT x FROM parts WHERE c IS NOT NULL AND p IS NOT NULL "
      "PRIMARY KEY (c, p)");
  Say("CREATE MATERIALIZED VIEW by_x AS SELECT f FROM parts WHERE x IS NOT NULL AND c IS NOT NULL "
      "AND p IS NOT NULL PRIMARY KEY (x, c, p)");
  for (const std::string table : {"system.view_build_status_v2",
                                  "system_distributed."
                                  "view_build_status"}) {
    EXPECT_EQ(Say("SELECT status FROM " + table +
                  " WHERE keyspace_name = 'k' AND view_name = "
                  "'by_x'"),
              "SUCCESS");
  }
  EXPECT_EQ(Cell("SELECT host_id FROM system.view_build_status_v2 WHERE keyspace_name = 'k' AND "
                 "view_name = 'by_c'"),
            Cell("SELECT host_id FROM system.local"));
  EXPECT_EQ(Say("SELECT * FROM system.views_builds_in_progress"), "");
  // A view by a cell of the table lives by that cell; any other has something of all columns.
  const std::string hidden =
      "SELECT column_name, type FROM system_schema.view_virtual_columns WHERE keyspace_name = 'k' "
      "AND view_name = ";
  EXPECT_EQ(Must(hidden + "'by_c'").rows, (std::vector<ResultRow>{{"e", "set<int>"},
                                                                  {"f", "empty"},
                                                                  {"l", "map<timeuuid, empty>"},
                                                                  {"m", "map<text, empty>"},
                                                                  {"u", "map<smallint, empty>"}}));
  EXPECT_TRUE(Must(hidden + "'by_x'").rows.empty());
}

TEST_F(Views, PruningLeavesThemAsTheyAre) {
  MakeViews();
  Say("INSERT INTO t (p, c, v) VALUES (1, 2, 10)");
  EXPECT_EQ(Say("PRUNE MATERIALIZED VIEW by_v"), "");
  EXPECT_EQ(Say("PRUNE MATERIALIZED VIEW k.by_v WHERE v = 10 USING TIMEOUT 5s"), "");
  EXPECT_EQ(Say("PRUNE MATERIALIZED VIEW by_v WHERE token(v) > ? AND token(v) < 100",
                {{cql::EncodeBigint(0)}}),
            "");
  EXPECT_EQ(Say("PRUNE MATERIALIZED VIEW by_v WHERE v = 10 AND p = ?", {{cql::EncodeInt(1)}}), "");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "10 1 2 null");
}

TEST_F(Views, AreFilledAndFollow) {
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 1, 10, 100)");
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 2, 20, 200)");
  Say("INSERT INTO t (p, c, w) VALUES (2, 1, 300)");
  MakeViews();
  EXPECT_EQ(Say("SELECT v, p, c, w FROM by_v WHERE v = 10"), "10 1 1 100");
  EXPECT_EQ(Say("SELECT * FROM by_v WHERE v IN (10, 20)"), "10 1 1 100; 20 1 2 200");
  EXPECT_EQ(Say("SELECT * FROM by_c WHERE c = 1"), "1 2 null; 1 1 10") << "p descends";
  EXPECT_EQ(Say("INSERT INTO t (p, c, v, w) VALUES (3, 1, 10, 1)"), "");
  EXPECT_EQ(Say("SELECT p, c, w FROM by_v WHERE v = 10"), "1 1 100; 3 1 1");
  EXPECT_EQ(Say("UPDATE t SET v = 11 WHERE p = 3 AND c = 1"), "");
  EXPECT_EQ(Say("SELECT p, c FROM by_v WHERE v = 10"), "1 1");
  EXPECT_EQ(Say("SELECT p, c, w FROM by_v WHERE v = 11"), "3 1 1");
  EXPECT_EQ(Say("SELECT p, v FROM by_c WHERE c = 1 AND p > 1"), "3 11; 2 null");
  EXPECT_EQ(Say("DELETE v FROM t WHERE p = 3 AND c = 1"), "");
  EXPECT_EQ(Say("SELECT * FROM by_v WHERE v = 11"), "");
  EXPECT_EQ(Say("SELECT p, v FROM by_c WHERE c = 1 AND p = 3"), "3 null");
  EXPECT_EQ(Say("UPDATE t SET w = 7 WHERE p = 1 AND c = 1"), "");
  EXPECT_EQ(Say("SELECT w FROM by_v WHERE v = 10"), "7");
  EXPECT_EQ(Say("DELETE FROM t WHERE p = 1 AND c > 1"), "");
  EXPECT_EQ(Say("SELECT count(*) FROM by_v"), "1");
  EXPECT_EQ(Say("DELETE FROM t WHERE p = 1"), "");
  EXPECT_EQ(Say("SELECT count(*) FROM by_v"), "0");
  EXPECT_EQ(Say("SELECT c, p FROM by_c"), "1 3; 1 2");
  EXPECT_EQ(Say("TRUNCATE t"), "");
  EXPECT_EQ(Say("SELECT count(*) FROM by_c"), "0");
  EXPECT_EQ(Say("INSERT INTO t (p, c, v) VALUES (1, 1, 1)"), "");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "1 1 1 null");
}

TEST_F(Views, CellsKeepTheirTimes) {
  MakeViews();
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 1, 10, 100) USING TIMESTAMP 1000 AND TTL 100");
  Say("UPDATE t USING TIMESTAMP 2000 SET w = 200 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT w, WRITETIME(w) FROM by_v WHERE v = 10"), "200 2000");
  EXPECT_EQ(Say("SELECT WRITETIME(v), TTL(v) FROM by_c WHERE c = 1"), "1000 100");
  EXPECT_EQ(Say("SELECT TTL(w) FROM by_v WHERE v = 10"), "100") << "it goes with the row";
  // Writes of before what is there.
  Say("UPDATE t USING TIMESTAMP 999 SET v = 99 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT v FROM by_v"), "10");
  Say("UPDATE t USING TIMESTAMP 1001 SET v = 11 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT v, w, TTL(w) FROM by_v"), "11 200 null");
  Say("DELETE FROM t USING TIMESTAMP 1500 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "") << "w alone is left";
  EXPECT_EQ(Say("SELECT * FROM by_c"), "1 1 null");
  Say("UPDATE t USING TIMESTAMP 1600 SET v = 5 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "5 1 1 200");
}

TEST_F(Views, RowsEndByThemselves) {
  MakeViews();
  // The cell of the key ends first, then the rest of the row.
  Say("INSERT INTO t (p, c, w) VALUES (1, 1, 100)");
  Say("UPDATE t USING TTL 10 SET v = 10 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "10 1 1 100");
  Advance(10);
  EXPECT_EQ(Say("SELECT * FROM by_v"), "");
  EXPECT_EQ(Say("SELECT * FROM by_c"), "1 1 null");
  // No marker, and what keeps the row is not in the view.
  Say("UPDATE t USING TTL 20 SET w = 1 WHERE p = 2 AND c = 2");
  Say("UPDATE t USING TTL 5 SET v = 2 WHERE p = 2 AND c = 2");
  EXPECT_EQ(Say("SELECT * FROM by_c WHERE c = 2"), "2 2 2");
  Advance(6);
  EXPECT_EQ(Say("SELECT * FROM by_c WHERE c = 2"), "2 2 null");
  Advance(14);
  EXPECT_EQ(Say("SELECT * FROM by_c WHERE c = 2"), "");
  // The key's cell lasts longer than all else.
  Say("INSERT INTO t (p, c, v, w) VALUES (3, 3, 3, 3) USING TTL 5");
  Say("UPDATE t SET v = 4 WHERE p = 3 AND c = 3");
  Advance(5);
  EXPECT_EQ(Say("SELECT * FROM by_v"), "4 3 3 null");
  EXPECT_EQ(Say("SELECT * FROM by_c WHERE c = 3"), "3 3 4");
}

TEST_F(Views, BatchesAndConditionsAreOneStep) {
  MakeViews();
  EXPECT_EQ(Say("BEGIN BATCH INSERT INTO t (p, c, v) VALUES (1, 1, 1); INSERT INTO t (p, c, v) "
                "VALUES (2, 1, 1); UPDATE t SET v = 2 WHERE p = 2 AND c = 1; APPLY BATCH"),
            "");
  EXPECT_EQ(Say("SELECT v, p FROM by_v"), "1 1; 2 2");
  EXPECT_EQ(Say("UPDATE t SET v = 3 WHERE p = 1 AND c = 1 IF v = 2"), "false 1");
  EXPECT_EQ(Say("UPDATE t SET v = 3 WHERE p = 1 AND c = 1 IF v = 1"), "true 1");
  EXPECT_EQ(Say("SELECT p FROM by_v WHERE v = 3"), "1");
  EXPECT_EQ(Say("SELECT p FROM by_v WHERE v = 1"), "");
  EXPECT_EQ(Say("INSERT INTO t (p, c, v) VALUES (1, 1, 9) IF NOT EXISTS"), "false 1 1 3 null");
  EXPECT_EQ(Say("SELECT count(*) FROM by_v"), "2");
  EXPECT_EQ(Say("BEGIN BATCH DELETE FROM t WHERE p = 1; INSERT INTO t (p, c, v) VALUES (2, 2, 7); "
                "APPLY BATCH"),
            "");
  EXPECT_EQ(Say("SELECT v, p, c FROM by_v WHERE v IN (2, 3, 7)"), "2 2 1; 7 2 2");
}

TEST_F(Views, FiltersDecideByKeys) {
  Say("CREATE MATERIALIZED VIEW some AS SELECT w FROM t WHERE v > 10 AND v < 20 AND p = 1 AND c IN "
      "(1, 2) PRIMARY KEY (v, c, p)");
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 1, 15, 1)");
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 3, 15, 2)");
  Say("INSERT INTO t (p, c, v, w) VALUES (2, 1, 15, 3)");
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 2, 20, 4)");
  EXPECT_EQ(Say("SELECT * FROM some"), "15 1 1 1");
  Say("UPDATE t SET v = 19 WHERE p = 1 AND c = 2");
  Say("UPDATE t SET v = 9 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT * FROM some"), "19 2 1 4");
  Say("CREATE MATERIALIZED VIEW half AS SELECT * FROM t WHERE token(p) >= 0 AND c IS NOT NULL "
      "PRIMARY KEY (c, p)");
  const std::string of_table = Say("SELECT count(*) FROM t WHERE token(p) >= 0");
  EXPECT_EQ(Say("SELECT count(*) FROM half"), of_table);
}

TEST_F(Views, AreReadLikeTables) {
  MakeViews();
  for (int i = 0; i < 50; ++i) {
    const std::string number = std::to_string(i);
    Say("INSERT INTO t (p, c, v, w) VALUES (" + number + ", 0, " + std::to_string(i % 3) + ", " +
        number + ")");
  }
  EXPECT_EQ(Say("SELECT p FROM by_v WHERE v = 1 AND p > 40"), "43; 46; 49");
  EXPECT_EQ(Say("SELECT p FROM by_v WHERE v = 1 ORDER BY p DESC LIMIT 2"), "49; 46");
  EXPECT_EQ(Say("SELECT v, count(*), max(w) FROM by_v WHERE v IN (0, 1, 2) GROUP BY v"),
            "0 17 48; 1 17 49; 2 16 47");
  EXPECT_EQ(Say("SELECT p FROM by_v WHERE w = 7 ALLOW FILTERING"), "7");
  EXPECT_EQ(Say("SELECT DISTINCT v FROM by_v WHERE token(v) > -9000000000000000000"), "1; 0; 2");
  CqlParameters pages;
  pages.page_size = 7;
  size_t rows = 0;
  do {
    const CqlAnswer answer = session_->Run({"SELECT * FROM by_v", {}, false}, pages);
    ASSERT_EQ(answer.error, "");
    rows += answer.rows.size();
    pages.paging_state = answer.paging_state;
  } while (!pages.paging_state.empty());
  EXPECT_EQ(rows, 50u);
}

TEST_F(Views, ElementsOfCollectionsAndLongKeys) {
  Say("CREATE TABLE e (p text PRIMARY KEY, k text, m map<text, int>, l list<int>)");
  Say("CREATE MATERIALIZED VIEW by_k AS SELECT * FROM e WHERE k IS NOT NULL PRIMARY KEY (k, p)");
  Say("INSERT INTO e (p, k, m) VALUES ('a', 'x', {'one': 1})");
  Say("UPDATE e SET m['two'] = 2, l = l + [3, 4] WHERE p = 'a'");
  EXPECT_EQ(Cell("SELECT toJson(m) FROM by_k WHERE k = 'x'"), R"({"one": 1, "two": 2})");
  Say("UPDATE e SET l[0] = 5 WHERE p = 'a'");
  EXPECT_EQ(Cell("SELECT toJson(l) FROM by_k WHERE k = 'x'"), "[5, 4]");
  Say("DELETE m['one'] FROM e WHERE p = 'a'");
  EXPECT_EQ(Cell("SELECT toJson(m) FROM by_k WHERE k = 'x'"), R"({"two": 2})");
  EXPECT_EQ(Say("INSERT INTO e (p, k) VALUES ('a', '" + std::string(65'535, 'k') + "')"),
            "Key length of 65537 is longer than maximum of 65535");
  EXPECT_EQ(Cell("SELECT p FROM by_k WHERE k = 'x'"), "a");
  Say("INSERT INTO e (p, k) VALUES ('empty', '')");
  EXPECT_EQ(Cell("SELECT p FROM by_k WHERE k = ''"), "empty");
  EXPECT_EQ(Say("SELECT count(*) FROM by_k"), "2");
}

TEST_F(Views, EachKeyHasALimitOfItsOwn) {
  Say("CREATE TABLE o (a text, b text, w text, PRIMARY KEY (a, b))");
  Say("CREATE MATERIALIZED VIEW ov AS SELECT w FROM o WHERE a IS NOT NULL AND b IS NOT NULL "
      "PRIMARY KEY (b, a)");
  const std::string a(40'000, 'a');
  const std::string b(40'000, 'b');
  EXPECT_EQ(Say("INSERT INTO o (a, b, w) VALUES ('" + a + "', '" + b + "', 'w')"), "");
  EXPECT_EQ(Cell("SELECT w FROM ov WHERE b = '" + b + "'"), "w");
  Say("CREATE MATERIALIZED VIEW wide AS SELECT w FROM o WHERE a IS NOT NULL AND b IS NOT NULL "
      "PRIMARY KEY ((a, b))");
  EXPECT_EQ(Say("INSERT INTO o (a, b, w) VALUES ('" + a + "', '" + b + "', 'x')"),
            "Key length of 80004 is longer than maximum of 65535");
  EXPECT_EQ(Cell("SELECT w FROM ov WHERE b = '" + b + "'"), "w") << "nothing of it was applied";
}

TEST_F(Views, NoRowHasATokenThatComparesWithNull) {
  const std::string select = "CREATE MATERIALIZED VIEW x AS SELECT * FROM t WHERE v IS NOT NULL ";
  const std::string keys = " AND p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)";
  for (const char* relation : {"token(p) > null", "token(p) = null", "token(p) >= token(null)"}) {
    EXPECT_EQ(Say(select + "AND " + relation + keys), "") << relation;
    EXPECT_EQ(Say("INSERT INTO t (p, c, v) VALUES (1, 1, 1)"), "") << relation;
    EXPECT_EQ(Say("SELECT count(*) FROM x"), "0") << relation;
    EXPECT_EQ(Say("DROP MATERIALIZED VIEW x"), "") << relation;
  }
}

TEST_F(Views, TheDescriptionOfATableHasThem) {
  MakeViews();
  Say("CREATE INDEX by_w ON t (w)");
  for (const char* describe : {"DESCRIBE TABLE t", "DESCRIBE t"}) {
    const CqlAnswer answer = Must(describe);
    std::vector<std::string> names;
    for (const auto& row : answer.rows) names.push_back(*row[2]);
    EXPECT_EQ(names, (std::vector<std::string>{"t", "by_w_index", "by_c", "by_v"})) << describe;
  }
  EXPECT_EQ(Must("DESCRIBE by_c").rows.size(), 1u);
  EXPECT_EQ(Must("DESCRIBE MATERIALIZED VIEW by_c").rows.size(), 1u);
  EXPECT_EQ(Say("DESCRIBE TABLE by_c"), "Cannot use DESC TABLE on materialized View");
}

// Source: ScyllaDB cql3/statements/describe_statement.cc, describe_all_keyspace_elements.
TEST_F(Views, TheDescriptionOfAKeyspaceHasThemBehindTheirTables) {
  MakeViews();
  Say("CREATE TABLE u (p int PRIMARY KEY)");
  Say("CREATE TYPE d (a int)");
  Say("CREATE TYPE a (d frozen<list<frozen<d>>>)");
  Say("CREATE TYPE e (b int)");
  std::vector<std::string> names;
  for (const auto& row : Must("DESCRIBE KEYSPACE").rows) names.push_back(*row[2]);
  EXPECT_EQ(names,
            (std::vector<std::string>{names.at(0), "d", "e", "a", "t", "by_c", "by_v", "u"}));
}

TEST_F(Views, StaticWritesDoNotConcernThem) {
  Say("CREATE TABLE s (p int, c int, st int STATIC, v int, PRIMARY KEY (p, c))");
  Say("CREATE MATERIALIZED VIEW sv AS SELECT v FROM s WHERE c IS NOT NULL PRIMARY KEY (c, p)");
  Say("UPDATE s SET st = 1 WHERE p = 1");
  EXPECT_EQ(Say("SELECT * FROM sv"), "");
  Say("INSERT INTO s (p, c, st, v) VALUES (1, 2, 3, 4)");
  EXPECT_EQ(Say("SELECT * FROM sv"), "2 1 4");
  Say("DELETE FROM s WHERE p = 1");
  EXPECT_EQ(Say("SELECT * FROM sv"), "");
}

TEST_F(Views, AtTheMemoryLimitTheTableIsRefusedWhole) {
  Say("CREATE TABLE big (p int PRIMARY KEY, v int, b blob)");
  Say("CREATE MATERIALIZED VIEW by_size AS SELECT * FROM big WHERE v IS NOT NULL PRIMARY KEY (v, "
      "p)");
  const std::string blob(100'000, 'x');
  const auto insert = [&](int p) {
    return Refusal(CqlStatement{"INSERT INTO big (p, v, b) VALUES (?, ?, ?)",
                                {{cql::EncodeInt(p)}, {cql::EncodeInt(p % 3)}, {blob}},
                                true});
  };
  int written = 0;
  std::string refusal;
  while (refusal.empty() && written < 2000) {
    refusal = insert(written);
    if (refusal.empty()) ++written;
  }
  EXPECT_NE(refusal.find("memory limit"), std::string::npos) << refusal;
  EXPECT_GT(written, 100);
  EXPECT_EQ(Say("SELECT count(*) FROM big"), std::to_string(written));
  EXPECT_EQ(Say("SELECT count(*) FROM by_size"), std::to_string(written));
  EXPECT_EQ(Say("TRUNCATE big"), "");
  EXPECT_EQ(insert(1), "");
  EXPECT_EQ(Say("SELECT v, p FROM by_size"), "1 1");
}

TEST_F(Views, CannotBeWritten) {
  MakeViews();
  const std::string refused = "Cannot directly modify a materialized view";
  EXPECT_EQ(Say("INSERT INTO by_v (v, p, c) VALUES (1, 1, 1)"), refused);
  EXPECT_EQ(Say("UPDATE by_v SET w = 1 WHERE v = 1 AND p = 1 AND c = 1"), refused);
  EXPECT_EQ(Say("DELETE FROM by_v WHERE v = 1"), refused);
  EXPECT_EQ(Say("INSERT INTO by_v JSON '{}'"), refused);
  EXPECT_EQ(Say("BEGIN BATCH DELETE FROM by_v WHERE v = 1; APPLY BATCH"), refused);
  EXPECT_EQ(Say("TRUNCATE by_v"),
            "Cannot TRUNCATE materialized view directly; must truncate base table instead");
}

TEST_F(Views, TheTableChanges) {
  MakeViews();
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 2, 3, 4)");
  EXPECT_EQ(Say("ALTER TABLE t ADD a int"), "");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "3 1 2 null 4") << "a was added";
  EXPECT_EQ(Say("SELECT * FROM by_c"), "2 1 3") << "v alone was asked for";
  Say("UPDATE t SET a = 5 WHERE p = 1 AND c = 2");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "3 1 2 5 4");
  EXPECT_EQ(Say("ALTER TABLE t DROP a"),
            "Cannot drop column a from base table k.t: materialized view by_c needs this column");
  EXPECT_EQ(Say("ALTER TABLE t RENAME c TO d"), "");
  EXPECT_EQ(Say("SELECT d FROM by_v WHERE v = 3"), "2");
  EXPECT_EQ(Cell("SELECT where_clause FROM system_schema.views WHERE keyspace_name = 'k' AND "
                 "view_name = 'by_c'"),
            "d IS NOT null AND p IS NOT null");
  Say("UPDATE t SET v = 6 WHERE p = 1 AND d = 2");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "6 1 2 5 4");
  EXPECT_EQ(Say("DROP MATERIALIZED VIEW by_c"), "");
  EXPECT_EQ(Say("DROP TABLE t"),
            "Cannot drop table when materialized views still depend on it (k.{by_v})");
  EXPECT_EQ(Say("DROP MATERIALIZED VIEW by_v"), "");
  EXPECT_EQ(Say("UPDATE t SET v = 7 WHERE p = 1 AND d = 2"), "");
  EXPECT_EQ(Say("ALTER TABLE t DROP a"), "");
  EXPECT_EQ(Say("DROP TABLE t"), "");
}

TEST_F(Views, PreparedWritesMeetNewViews) {
  const CqlStatement insert{
      "INSERT INTO t (p, c, v) VALUES (?, 1, 5)", {{cql::EncodeInt(1)}}, true};
  EXPECT_EQ(session_->Run(insert).error, "");
  MakeViews();
  CqlAnswer answer = session_->Run({insert.text, {{cql::EncodeInt(2)}}, true});
  if (answer.error.starts_with("No prepared statement")) {
    answer = session_->Run({insert.text, {{cql::EncodeInt(2)}}, true});
  }
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(Say("SELECT p FROM by_v WHERE v = 5"), "1; 2");
}

TEST_F(Views, GoBackWithTheirTables) {
  MakeViews();
  Say("INSERT INTO t (p, c, v, w) VALUES (1, 1, 1, 1)");
  Say("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Say("INSERT INTO t (p, c, v, w) VALUES (2, 2, 2, 2)");
  EXPECT_EQ(Say("SELECT v FROM by_v"), "1; 2");
  Say("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Say("SELECT * FROM by_v"), "1 1 1 1");
  Say("INSERT INTO t (p, c, v, w) VALUES (3, 3, 3, 3)");
  EXPECT_EQ(Say("SELECT v FROM by_v WHERE v = 3"), "3");
  // A statement that was planned while there was no view does not write past the one that is back.
  Say("DROP MATERIALIZED VIEW by_v");
  const CqlStatement insert{"INSERT INTO t (p, c, v) VALUES (7, 7, 7)", {}, true};
  EXPECT_EQ(session_->Run(insert).error, "");
  Say("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Say("SELECT v FROM by_v"), "1");
  CqlAnswer answer = session_->Run(insert);
  if (answer.error.starts_with("No prepared statement")) answer = session_->Run(insert);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(Say("SELECT v FROM by_v WHERE v = 7"), "7");
}

}  // namespace views_over_cql_test
}  // namespace liststore::testing
