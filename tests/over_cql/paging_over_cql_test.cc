// Paging states: the position counts, whoever brings it back and with whatever statement. Source:
// ScyllaDB service/pager/query_pagers.cc, do_fetch_page; cql3/statements/select_statement.cc,
// do_execute.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "engine/protocol/paging_state.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace paging_over_cql_test {

constexpr int32_t kInvalid = 0x2200;

class PagingOverCql : public CqlDialogueTest {
 protected:
  void SetUp() override { StartTables(); }
  void StartTables() {
    StartDialogue();
    Must("CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
    for (int p = 1; p <= 3; ++p) {
      for (int c = 1; c <= 4; ++c) {
        Must("INSERT INTO k.t (p, c, v) VALUES (" + std::to_string(p) + ", " + std::to_string(c) +
             ", " + std::to_string(10 * p + c) + ")");
      }
    }
  }

  CqlAnswer Page(const std::string& text, const std::string& state, int32_t size) {
    return session_->Run({text, {}},
                         {.page_size = size, .paging_state = state, .default_timestamp = {}});
  }
  // The state of the first page, of so many rows.
  std::string StateOf(const std::string& text, int32_t size) {
    const CqlAnswer first = Page(text, "", size);
    EXPECT_EQ(first.error, "");
    EXPECT_EQ(first.rows.size(), static_cast<size_t>(size));
    EXPECT_NE(first.paging_state, "") << text;
    return first.paging_state;
  }
  // What is behind it, in pages of so many rows.
  std::string Rest(const std::string& text, std::string state, int32_t size) {
    CqlAnswer all;
    do {
      CqlAnswer page = Page(text, state, size);
      if (!page.error.empty()) return page.error;
      EXPECT_LE(page.rows.size(), static_cast<size_t>(size));
      all.rows.insert(all.rows.end(), page.rows.begin(), page.rows.end());
      state = page.paging_state;
    } while (!state.empty());
    return ToText(all);
  }
};

TEST_F(PagingOverCql, ThePositionCountsForOtherStatements) {
  const struct {
    const char* name;
    const char* first;
    int32_t size;
    const char* second;
    const char* rest;
  } kRows[] = {
      {"one more relation", "SELECT c FROM k.t WHERE p = 1", 1,
       "SELECT c FROM k.t WHERE p = 1 AND c >= 1", "2; 3; 4"},
      {"a narrower slice", "SELECT c FROM k.t WHERE p = 1", 2,
       "SELECT c FROM k.t WHERE p = 1 AND c > 3", "4"},
      {"a slice that ends before", "SELECT c FROM k.t WHERE p = 1", 2,
       "SELECT c FROM k.t WHERE p = 1 AND c < 2", ""},
      {"other columns", "SELECT c FROM k.t WHERE p = 1", 2, "SELECT v, c FROM k.t WHERE p = 1",
       "13 3; 14 4"},
      {"other words", "SELECT c FROM k.t WHERE p = 1", 2, "select c from k.t where p=1", "3; 4"},
      {"a filter", "SELECT c FROM k.t WHERE p = 1", 2,
       "SELECT c FROM k.t WHERE p = 1 AND v > 13 ALLOW FILTERING", "4"},
      {"backwards", "SELECT c FROM k.t WHERE p = 1", 3,
       "SELECT c FROM k.t WHERE p = 1 ORDER BY c DESC", "2; 1"},
      {"a partition of a scan", "SELECT c FROM k.t WHERE p = 1", 3, "SELECT c FROM k.t", nullptr},
      {"of another partition", "SELECT c FROM k.t WHERE p = 1", 3, "SELECT c FROM k.t WHERE p = 2",
       ""},
      {"among several", "SELECT c FROM k.t WHERE p = 2", 3,
       "SELECT p, c FROM k.t WHERE p IN (3, 2, 1)", "2 4; 3 1; 3 2; 3 3; 3 4"},
      {"of none of several", "SELECT c FROM k.t WHERE p = 2", 3,
       "SELECT p, c FROM k.t WHERE p IN (3, 1)", ""},
      {"DISTINCT goes on behind the partition", "SELECT c FROM k.t WHERE p = 2", 1,
       "SELECT DISTINCT p FROM k.t WHERE p IN (1, 2, 3)", "3"},
      {"behind a partition of DISTINCT", "SELECT DISTINCT p FROM k.t WHERE p IN (1, 2, 3)", 2,
       "SELECT p, c FROM k.t WHERE p IN (1, 2, 3)", "3 1; 3 2; 3 3; 3 4"},
      {"an aggregate", "SELECT c FROM k.t WHERE p = 1", 1, "SELECT count(*) FROM k.t WHERE p = 1",
       "3"},
      {"a sum of several", "SELECT c FROM k.t WHERE p = 2", 3,
       "SELECT sum(c) FROM k.t WHERE p IN (1, 2, 3)", "14"},
      {"groups", "SELECT c FROM k.t WHERE p = 2", 3,
       "SELECT p, count(*) FROM k.t WHERE p IN (1, 2, 3) GROUP BY p", "2 1; 3 4"},
      {"LIMIT is what the state has left of it", "SELECT c FROM k.t WHERE p = 1 LIMIT 3", 1,
       "SELECT c FROM k.t WHERE p = 1", "2; 3"},
      {"and not that of the statement", "SELECT c FROM k.t WHERE p = 1", 1,
       "SELECT c FROM k.t WHERE p = 1 LIMIT 2", "2; 3; 4"},
      {"PER PARTITION LIMIT is the statement's",
       "SELECT c FROM k.t WHERE p IN (1, 2) PER PARTITION LIMIT 3", 1,
       "SELECT c FROM k.t WHERE p IN (1, 2) PER PARTITION LIMIT 2", "2; 1; 2"},
      {"of which the state has some of a partition",
       "SELECT c FROM k.t WHERE p IN (1, 2) PER PARTITION LIMIT 2", 2,
       "SELECT c FROM k.t WHERE p IN (1, 2) PER PARTITION LIMIT 3", "3; 1; 2; 3"},
      {"a LIMIT of one has no pages", "SELECT c FROM k.t WHERE p = 1", 2,
       "SELECT c FROM k.t WHERE p = 1 LIMIT 1", "1"},
      {"nor has a single row", "SELECT c FROM k.t WHERE p = 1", 2,
       "SELECT c FROM k.t WHERE p = 1 AND c = 1", "1"},
  };
  for (const auto& row : kRows) {
    const std::string rest = Rest(row.second, StateOf(row.first, row.size), 2);
    if (row.rest != nullptr) {
      EXPECT_EQ(rest, row.rest) << row.name;
      continue;
    }
    // A scan goes on in its own order.
    const std::string all = Rest(row.second, "", 100);
    EXPECT_TRUE(rest == "4" || rest.starts_with("4; ")) << row.name << ": " << rest;
    EXPECT_TRUE(all.ends_with(rest)) << row.name << ": " << rest;
  }
}

TEST_F(PagingOverCql, BehindATokenRangeThereIsNothing) {
  const std::string state = StateOf("SELECT c FROM k.t WHERE p = 1", 1);
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE token(p) = token(1)", state, 2), "2; 3; 4");
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE token(p) > token(1)", state, 2), "");
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE token(p) < token(1)", state, 2), "");
}

TEST_F(PagingOverCql, ReadsWithoutPagesBeginAtTheBeginning) {
  const std::string state = StateOf("SELECT c FROM k.t WHERE p = 1", 2);
  const auto all = [&](const std::string& text, const std::string& from) {
    return ToText(session_->Run({text, {}},
                                {.page_size = {}, .paging_state = from, .default_timestamp = {}}));
  };
  EXPECT_EQ(all("SELECT c FROM k.t WHERE p = 1", state), "1; 2; 3; 4");
  EXPECT_EQ(all("SELECT c FROM k.t WHERE p = 1", "x"), protocol::kInvalidPagingState);
  // Those that ScyllaDB reads in pages unseen go on.
  EXPECT_EQ(all("SELECT count(*) FROM k.t WHERE p = 1", state), "2");
  EXPECT_EQ(all("SELECT c FROM k.t WHERE p = 1 AND v > 0 ALLOW FILTERING", state), "3; 4");
}

TEST_F(PagingOverCql, ThePositionCountsForOtherValuesOfAPreparedStatement) {
  const std::string text = "SELECT c FROM k.t WHERE p = 1 AND c > ?";
  const auto run = [&](const char* bound, const std::string& state) {
    return session_->Run({text, {{std::string(bound, 4), false}}, true},
                         {.page_size = 2, .paging_state = state, .default_timestamp = {}});
  };
  const CqlAnswer first = run("\0\0\0\0", "");
  EXPECT_EQ(ToText(first), "1; 2");
  EXPECT_EQ(ToText(run("\0\0\0\1", first.paging_state)), "3; 4");
  EXPECT_EQ(ToText(run("\0\0\0\3", first.paging_state)), "4");
}

TEST_F(PagingOverCql, AnotherConnectionGoesOn) {
  const std::string state = StateOf("SELECT c FROM k.t WHERE p = 1", 2);
  session_ = std::make_unique<CqlSession>(server_->cql_port());
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE p = 1", state, 2), "3; 4");
  // By a name without the keyspace as well.
  Must("USE k");
  EXPECT_EQ(Rest("SELECT c FROM t WHERE p = 1", state, 2), "3; 4");
}

TEST_F(PagingOverCql, AServerThatWasStartedAgainGoesOn) {
  const std::string state = StateOf("SELECT c FROM k.t WHERE p = 1", 2);
  StartTables();
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE p = 1", state, 2), "3; 4");
}

TEST_F(PagingOverCql, ATableThatWasMadeAgainGoesOn) {
  const std::string state = StateOf("SELECT c FROM k.t WHERE p = 1", 1);
  Must("ALTER TABLE k.t ADD w int");
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE p = 1", state, 2), "2; 3; 4");
  Must("DROP TABLE k.t");
  EXPECT_EQ(Page("SELECT c FROM k.t WHERE p = 1", state, 2).error, "unconfigured table t");
  Must("CREATE TABLE k.t (p int, c int, PRIMARY KEY (p, c))");
  Must("INSERT INTO k.t (p, c) VALUES (1, 0)");
  Must("INSERT INTO k.t (p, c) VALUES (1, 7)");
  EXPECT_EQ(Rest("SELECT c FROM k.t WHERE p = 1", state, 2), "7");
}

// A key of other types is refused; of the same ones the position is as good as any.
TEST_F(PagingOverCql, StatesOfOtherTables) {
  Must("CREATE TABLE k.texts (p text, q text, c int, PRIMARY KEY ((p, q), c))");
  Must("CREATE TABLE k.bigints (p bigint, c int, PRIMARY KEY (p, c))");
  Must("CREATE TABLE k.single (p int PRIMARY KEY, v int)");
  Must("CREATE TABLE k.items (p int, c text, PRIMARY KEY (p, c))");
  Must("INSERT INTO k.single (p, v) VALUES (1, 1)");
  Must("INSERT INTO k.items (p, c) VALUES (1, 'the first')");
  Must("INSERT INTO k.items (p, c) VALUES (1, 'é the last')");
  const std::string state = StateOf("SELECT c FROM k.t WHERE p = 1", 2);
  for (const char* table : {"texts", "bigints"}) {
    const CqlAnswer answer = Page(std::string("SELECT * FROM k.") + table, state, 2);
    EXPECT_EQ(answer.error, protocol::kInvalidPagingState) << table;
    EXPECT_EQ(answer.code, kInvalid) << table;
  }
  EXPECT_EQ(Rest("SELECT v FROM k.single WHERE p IN (1, 2)", state, 1), "");
  EXPECT_EQ(Rest("SELECT c FROM k.items WHERE p IN (1, 2)", state, 1), "é the last");
  EXPECT_EQ(Rest("SELECT v FROM k.single WHERE p IN (1, 2) AND v > 0 ALLOW FILTERING", state, 1),
            "");
  // A text is a keyspace's name for all that the state says.
  const std::string of_keyspaces = StateOf("SELECT * FROM system_schema.keyspaces", 1);
  EXPECT_EQ(Page("SELECT c FROM k.t", of_keyspaces, 2).error, protocol::kInvalidPagingState);
}

TEST_F(PagingOverCql, EachFlippedByteAndEachCutIsRefusedAndTheConnectionLives) {
  const std::string select = "SELECT c FROM k.t WHERE p = 1";
  const std::string state = StateOf(select, 2);
  std::vector<std::string> damaged = {state + "x", "x", std::string(100'000, '\0')};
  for (size_t i = 0; i < state.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      damaged.push_back(state);
      damaged.back()[i] = static_cast<char>(damaged.back()[i] ^ change);
    }
    if (i > 0) damaged.push_back(state.substr(0, i));  // none: there is no state
    damaged.push_back(state.substr(i + 1) + state[i]);
  }
  for (const std::string& bytes : damaged) {
    for (const bool prepared : {false, true}) {
      const CqlAnswer answer = session_->Run(
          {select, {}, prepared}, {.page_size = 2, .paging_state = bytes, .default_timestamp = {}});
      ASSERT_EQ(answer.error, protocol::kInvalidPagingState);
      ASSERT_EQ(answer.code, kInvalid);
    }
  }
  EXPECT_EQ(Rest(select, state, 2), "3; 4");
}

// Well made, of anything: an answer or an error, and the next statement is answered.
TEST_F(PagingOverCql, ForgedStatesDoNoHarm) {
  Must("CREATE TABLE k.two (p int, q int, PRIMARY KEY ((p, q)))");
  Must("CREATE TABLE k.lists (p frozen<list<int>> PRIMARY KEY, v int)");
  Must("CREATE TABLE k.items (p text, c text, PRIMARY KEY (p, c))");
  Must(
      "CREATE TABLE k.down (p int, c decimal, d text, s int STATIC, PRIMARY KEY (p, c, d)) WITH "
      "CLUSTERING ORDER BY (c DESC, d ASC)");
  Must("CREATE INDEX ON k.t (v)");
  Must("INSERT INTO k.two (p, q) VALUES (1, 1)");
  Must("INSERT INTO k.lists (p) VALUES ([1])");
  Must("INSERT INTO k.items (p, c) VALUES ('a', '1234567890123456789|12345678|12345678')");
  Must("INSERT INTO k.down (p, c, d, s) VALUES (1, 1.5, 'd', 1)");
  const std::vector<std::string> selects = {
      "SELECT * FROM k.t",
      "SELECT * FROM k.t WHERE p IN (1, 2, 3)",
      "SELECT * FROM k.t WHERE v = 12",
      "SELECT * FROM k.t WHERE p = 1 ORDER BY c DESC",
      "SELECT DISTINCT p FROM k.t",
      "SELECT count(*) FROM k.t",
      "SELECT p, max(c) FROM k.t GROUP BY p PER PARTITION LIMIT 1",
      "SELECT * FROM k.t PER PARTITION LIMIT 2",
      "SELECT * FROM k.two",
      "SELECT * FROM k.lists WHERE p CONTAINS 1 ALLOW FILTERING",
      "SELECT * FROM k.items WHERE p = 'a'",
      "SELECT * FROM k.items",
      "SELECT * FROM k.down",
      "SELECT * FROM k.down WHERE p = 1 ORDER BY c ASC",
      "SELECT * FROM system_schema.columns",
      "SELECT * FROM system_schema.columns WHERE keyspace_name IN ('k', 'system')",
      "SELECT * FROM system.local",
      "SELECT * FROM liststore.requests WHERE journal = 'requests' ORDER BY seq DESC",
  };
  const std::vector<std::string> keys = {"",
                                         std::string(4, '\0'),
                                         std::string("\0\0\0\1", 4),
                                         "1234",
                                         "k",
                                         "a",
                                         "requests",
                                         std::string("\0\4\0\0\0\1\0\0\4\0\0\0\1\0", 14),
                                         std::string("\0\0\0\1\0\0\0\4\0\0\0\1", 12),
                                         std::string(65'535, 'x')};
  Random random(TestSeed());
  size_t answered = 0;
  for (const std::string& select : selects) {
    for (int i = 0; i < 60; ++i) {
      std::string key = keys[random.Below(keys.size())];
      std::string row;
      for (uint64_t left = random.Below(30); left > 0; --left) {
        row.push_back(static_cast<char>(random.OneIn(3) ? 0xff : random.Below(256)));
      }
      protocol::PagingState state;
      state.partition_key = key;
      if (!random.OneIn(3)) state.clustering_key = row;
      if (random.OneIn(2)) state.rows_remaining = random.OneIn(3) ? 0 : random.Next();
      if (random.OneIn(2)) state.partition_rows = random.OneIn(3) ? 1 : random.Next();
      std::string bytes;
      protocol::AppendPagingState(state, bytes);
      const CqlAnswer answer = Page(select, bytes, 2);
      if (answer.error.empty()) {
        ++answered;
      } else {
        ASSERT_EQ(answer.error, protocol::kInvalidPagingState) << select;
        ASSERT_EQ(answer.code, kInvalid) << select;
      }
    }
  }
  EXPECT_GT(answered, selects.size());
  EXPECT_EQ(Say("SELECT c FROM k.t WHERE p = 1"), "1; 2; 3; 4");
}

// ---- Tables whose rows are computed

TEST_F(PagingOverCql, VirtualTablesComeInPages) {
  const std::vector<std::string> selects = {
      "SELECT keyspace_name, table_name, column_name FROM system_schema.columns",
      "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'system' LIMIT 17",
      "SELECT keyspace_name, table_name FROM system_schema.columns PER PARTITION LIMIT 3",
      "SELECT table_name FROM system_schema.tables WHERE keyspace_name IN ('system_schema', 'k', "
      "'system')",
      "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system' ORDER BY "
      "table_name DESC",
      "SELECT DISTINCT keyspace_name FROM system_schema.columns",
      "SELECT column_name FROM system_schema.columns WHERE kind = 'clustering' ALLOW FILTERING",
      "SELECT keyspace_name FROM system_schema.keyspaces WHERE token(keyspace_name) > 0",
      "SELECT table_name FROM system_schema.columns WHERE token(keyspace_name) < 0 PER PARTITION "
      "LIMIT 5 ALLOW FILTERING",
      "SELECT name, value FROM system.config",
      "SELECT * FROM system.local",
  };
  for (const std::string& select : selects) {
    const std::string all = ToText(Must(select));
    ASSERT_NE(all, "") << select;
    for (const int32_t size : {1, 2, 3, 7, 5000}) EXPECT_EQ(Rest(select, "", size), all) << select;
  }
  EXPECT_EQ(Page("SELECT * FROM system_schema.tables", "", 3).rows.size(), 3u);
  EXPECT_EQ(Page("SELECT count(*) FROM system_schema.tables", "", 1).paging_state, "");
  EXPECT_EQ(Page("SELECT table_name FROM system_schema.tables WHERE keyspace_name IN ('k', "
                 "'system') ORDER BY table_name",
                 "", 3)
                .error.substr(0, 56),
            "Cannot page queries with both ORDER BY and a IN restrict");
}

// What comes and goes meanwhile does not move the position.
TEST_F(PagingOverCql, VirtualTablesChangeBetweenTwoPages) {
  Must("DROP TABLE k.t");
  for (const char* table : {"bb", "dd", "ff", "zz"}) {
    Must(std::string("CREATE TABLE k.") + table + " (p int PRIMARY KEY)");
  }
  const std::string select =
      "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'k'";
  const std::string state = StateOf(select, 2);
  Must("CREATE TABLE k.aa (p int PRIMARY KEY)");
  Must("CREATE TABLE k.ee (p int PRIMARY KEY)");
  Must("DROP TABLE k.dd");
  EXPECT_EQ(Rest(select, state, 2), "ee; ff; zz");
}

}  // namespace paging_over_cql_test
}  // namespace liststore::testing
