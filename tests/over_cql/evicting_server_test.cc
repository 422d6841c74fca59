// A server that is a cache: what goes of its tables when memory is short, and what stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace evicting_server_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr size_t kBytes = 4'000;  // of a partition

class EvictingServer : public CqlSessionTest {
 protected:
  void SetUp() override { Start({}); }

  void Start(CqlServerOptions options) {
    options.memory_policy = MemoryPolicy::kEvict;
    options.shards = 2;
    StartServer(std::move(options), "k");
  }
  void MakeTable(const std::string& table) {
    Must("CREATE TABLE k." + table +
         " (p int, c int, w int, v blob, s int static, PRIMARY KEY (p, c))");
  }
  std::string Insert(const std::string& table, int p, size_t bytes = kBytes) {
    return Refusal({"INSERT INTO k." + table + " (p, c, w, v) VALUES (?, 1, 1, ?)",
                    {{cql::EncodeInt(p)}, {std::string(bytes, 'x')}},
                    true});
  }
  void Fill(const std::string& table, int first, int last, size_t bytes = kBytes) {
    for (int p = first; p < last; ++p) ASSERT_EQ(Insert(table, p, bytes), "") << p;
  }
  CqlAnswer Read(const std::string& table, int p) {
    return Must({"SELECT c, v, s FROM k." + table + " WHERE p = ?", {{cql::EncodeInt(p)}}, true});
  }
  int64_t Number(const std::string& select) { return cql::DecodeInteger(Cell(select)); }
  // By reading every partition.
  std::set<int> In(const std::string& table) {
    std::set<int> partitions;
    CqlParameters page;
    page.page_size = 1'000;
    do {
      const CqlAnswer answer = Must(CqlStatement{"SELECT DISTINCT p FROM k." + table, {}}, page);
      for (const ResultRow& row : answer.rows) {
        partitions.insert(static_cast<int>(cql::DecodeInteger(*row[0])));
      }
      page.paging_state = answer.paging_state;
    } while (!page.paging_state.empty());
    return partitions;
  }
  int64_t Counter(const std::string& name) {
    return Number("SELECT value FROM liststore.counters WHERE name = '" + name + "'");
  }
  uint64_t Held() {
    return static_cast<uint64_t>(Number("SELECT bytes FROM liststore.memory WHERE kind = 'rows'"));
  }
  void SetLimit(uint64_t bytes) {
    Must("UPDATE liststore.memory SET limit_bytes = " + std::to_string(bytes) +
         " WHERE kind = 'rows' AND name = 'all'");
  }
};

TEST_F(EvictingServer, RefusesNothingAndKeepsItsLimit) {
  MakeTable("t");
  MakeTable("u");
  Fill("t", 0, 20'000);
  EXPECT_GT(Counter("partitions_evicted"), 0);
  Fill("u", 0, 10'000);
  EXPECT_LE(Held(), 64 * kMiB);
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
  const size_t of_t = In("t").size();
  const size_t of_u = In("u").size();
  EXPECT_EQ(static_cast<int64_t>(of_t + of_u) + Counter("partitions_evicted"), 30'000);
  EXPECT_GT(of_u, 9'000u);
  EXPECT_GT((of_t + of_u) * kBytes, 48 * kMiB) << "most of the limit is made use of";
}

TEST_F(EvictingServer, AViewOfAFullTableMakesRoomForItself) {
  MakeTable("t");
  Fill("t", 0, 20'000);
  const int64_t before = Number("SELECT count(*) FROM k.t");
  Must(
      "CREATE MATERIALIZED VIEW k.by_w AS SELECT p, c, w, v FROM k.t WHERE p IS NOT NULL AND c IS "
      "NOT "
      "NULL AND w IS NOT NULL PRIMARY KEY (p, w, c)");
  const int64_t left = Number("SELECT count(*) FROM k.t");
  // They were all read, so that they go in no order of their coming, and share pages with those that stay.
  EXPECT_GT(left, before / 4);
  EXPECT_LT(left, before);
  EXPECT_EQ(Number("SELECT count(*) FROM k.by_w"), left);
  EXPECT_LE(Held(), 64 * kMiB);
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
}

TEST_F(EvictingServer, AnIndexOfAFullTableMakesRoomForItself) {
  MakeTable("t");
  Fill("t", 0, 20'000);
  const int64_t before = Number("SELECT count(*) FROM k.t");
  Must("CREATE INDEX ON k.t (w)");
  const int64_t left = Number("SELECT count(*) FROM k.t");
  EXPECT_GT(left, before / 4) << "no more went than had to";
  EXPECT_EQ(Number("SELECT count(*) FROM k.t WHERE w = 1"), left);
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
}

TEST_F(EvictingServer, TheOldestGoFirstAndWhatIsReadStays) {
  MakeTable("old");
  MakeTable("young");
  Fill("old", 0, 5'000);
  for (int p = 0; p < 500; ++p) Read("old", p);
  Fill("young", 0, 16'000);
  const std::set<int> left = In("old");
  size_t read = 0;
  for (const int p : left) read += p < 500 ? 1 : 0;
  EXPECT_EQ(read, 500u);
  EXPECT_LT(left.size(), 1'000u) << "few that nobody read are left";
}

TEST_F(EvictingServer, APartitionGoesWithAllOfItsRows) {
  MakeTable("t");
  for (int p = 0; p < 3'000; ++p) {
    for (const std::string row :
         {"c, w) VALUES (?, 1, 1)", "c, w) VALUES (?, 2, 1)", "s) VALUES (?, 7)"}) {
      Must({"INSERT INTO k.t (p, " + row, {{cql::EncodeInt(p)}}, true});
    }
    ASSERT_EQ(Refusal({"INSERT INTO k.t (p, c, v) VALUES (?, 3, ?)",
                       {{cql::EncodeInt(p)}, {std::string(30'000, 'x')}},
                       true}),
              "");
  }
  EXPECT_GT(Counter("partitions_evicted"), 0);
  size_t there = 0;
  for (int p = 0; p < 3'000; ++p) {
    const CqlAnswer answer = Read("t", p);
    ASSERT_TRUE(answer.rows.empty() || answer.rows.size() == 3u) << p;
    if (answer.rows.empty()) continue;
    ++there;
    EXPECT_EQ(cql::DecodeInteger(answer.rows[0][2].value_or("")), 7);
  }
  EXPECT_GT(there, 500u);
}

TEST_F(EvictingServer, BatchesAndConditionsKeepWhatTheyWrite) {
  MakeTable("t");
  MakeTable("u");
  Fill("t", 0, 16'000);
  const std::string blob(100'000, 'x');
  for (int round = 0; round < 100; ++round) {
    const int p = 100'000 + 10 * round;
    std::vector<CqlStatement> batch;
    for (int i = 0; i < 8; ++i) {
      batch.push_back(
          {std::string("INSERT INTO k.") + (i % 2 == 0 ? "t" : "u") + " (p, c, v) VALUES (?, 1, ?)",
           {{cql::EncodeInt(p + i)}, {blob}},
           true});
    }
    ASSERT_EQ(session_->RunBatch(true, batch, std::nullopt).error, "");
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(Read(i % 2 == 0 ? "t" : "u", p + i).rows.size(), 1u) << p + i;
    }
    const int q = 200'000 + round;
    const CqlAnswer made = Must({"INSERT INTO k.t (p, c, v) VALUES (?, 1, ?) IF NOT EXISTS",
                                 {{cql::EncodeInt(q)}, {blob}},
                                 true});
    ASSERT_EQ(made.rows.at(0).at(0).value_or(""), std::string(1, '\1'));
    const CqlAnswer changed = Must({"UPDATE k.t SET v = ?, w = 2 WHERE p = ? AND c = 1 IF w = null",
                                    {{blob}, {cql::EncodeInt(q)}},
                                    true});
    ASSERT_EQ(changed.rows.at(0).at(0).value_or(""), std::string(1, '\1')) << "it is there";
    ASSERT_EQ(Read("t", q).rows.size(), 1u);
  }
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
}

TEST_F(EvictingServer, TablesWithIndexesAndViewsStay) {
  MakeTable("indexed");
  MakeTable("viewed");
  MakeTable("plain");
  Must("CREATE INDEX ON k.indexed (w)");
  Must(
      "CREATE MATERIALIZED VIEW k.m AS SELECT p, c, w FROM k.viewed WHERE w IS NOT NULL AND p IS "
      "NOT "
      "NULL AND c IS NOT NULL PRIMARY KEY (w, p, c)");
  Fill("indexed", 0, 3'000);
  Fill("viewed", 0, 3'000);
  Fill("plain", 0, 20'000);
  EXPECT_EQ(In("indexed").size(), 3'000u);
  EXPECT_EQ(In("viewed").size(), 3'000u);
  EXPECT_EQ(Number("SELECT count(*) FROM k.m WHERE w = 1"), 3'000);
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
  // What they take goes at the cost of the others, until there are none.
  int more = 3'000;
  while (Insert("indexed", more).empty()) ASSERT_LT(++more, 100'000);
  EXPECT_EQ(In("indexed").size(), static_cast<size_t>(more));
  EXPECT_EQ(In("plain").size(), 0u);
  EXPECT_GT(Counter("writes_refused_for_memory"), 0);
  // Without their index or view they are as the others. It takes a copy of the table to drop an
  // index, for which nothing else can go here.
  Must("DROP MATERIALIZED VIEW k.m");
  EXPECT_NE(Refusal("DROP INDEX k.indexed_w_idx").find("memory limit"), std::string::npos);
  SetLimit(160 * kMiB);
  Must("DROP INDEX k.indexed_w_idx");
  SetLimit(64 * kMiB);
  Fill("plain", 0, 16'000);
  EXPECT_LT(In("viewed").size(), 3'000u);
  EXPECT_LT(In("indexed").size(), static_cast<size_t>(more));
  // And with another one they stay again.
  Must("CREATE INDEX ON k.indexed (w)");
  const std::set<int> kept = In("indexed");
  Fill("plain", 20'000, 40'000);
  EXPECT_EQ(In("indexed"), kept);
}

TEST_F(EvictingServer, ATableIsAlteredWhileTheServerIsFull) {
  MakeTable("t");
  MakeTable("u");
  Fill("u", 0, 2'000);
  Fill("t", 0, 16'000);
  const int64_t before = 18'000 - Counter("partitions_evicted");
  Must("ALTER TABLE k.t ADD another int");
  const int64_t after = 18'000 - Counter("partitions_evicted");
  EXPECT_LT(after, before);
  EXPECT_GT(after, before / 4) << "it is copied, at the cost of what is not read";
  EXPECT_LE(Held(), 64 * kMiB);
  // Its partitions go as before.
  Fill("t", 20'000, 40'000);
  const std::set<int> later = In("t");
  EXPECT_EQ(*later.rbegin(), 39'999) << "the youngest stays";
  // One whose turn comes while the copy stands in it is a main one from then on. Slices end where
  // time has it: there may be a few such.
  const auto old = std::ranges::distance(later.begin(), later.lower_bound(16'000));
  EXPECT_LT(old, 16'000 / 100) << "next to none of the old ones is left";
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
}

TEST_F(EvictingServer, ALowerLimitEvictsNoMoreThanIsNeeded) {
  MakeTable("t");
  MakeTable("u");
  for (int p = 0; p < 6'000; ++p) {
    ASSERT_EQ(Insert("t", p), "");
    ASSERT_EQ(Insert("u", p), "");
  }
  for (int p = 0; p < 200; ++p) Read("u", 5'000 + p);
  for (const uint64_t limit : {40 * kMiB, 16 * kMiB}) {
    SetLimit(limit);
    const uint64_t room = limit - limit / 32;
    EXPECT_LE(Held(), room);
    EXPECT_GE(Held() + kMiB, room);
  }
  for (int p = 0; p < 200; ++p) EXPECT_EQ(Read("u", 5'000 + p).rows.size(), 1u) << p;
  SetLimit(64 * kMiB);
  const int64_t evicted = Counter("partitions_evicted");
  Fill("t", 10'000, 18'000);
  EXPECT_EQ(Counter("partitions_evicted"), evicted) << "there is room again";
}

TEST_F(EvictingServer, AResetBringsBackWhatWasEvicted) {
  MakeTable("t");
  MakeTable("u");
  Fill("t", 0, 3'000);
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Must("CREATE INDEX ON k.u (w)");
  // What was written since goes, what is as it was does not.
  Fill("t", 0, 100);
  Fill("u", 0, 100);
  MakeTable("other");
  Fill("other", 0, 14'000);
  EXPECT_LT(In("t").size(), 3'000u);
  EXPECT_GE(In("t").size(), 2'900u);
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(In("t").size(), 3'000u);
  EXPECT_EQ(In("u").size(), 0u);
  // And from here on it takes part, without the index that it had.
  for (int p = 0; p < 20'000; ++p) {
    ASSERT_EQ(Insert("u", p), "") << p << ": there are " << In("t").size() << " of t and "
                                  << In("u").size() << " of u, in " << Held() << " bytes";
  }
  EXPECT_LT(In("u").size(), 20'000u);
  EXPECT_EQ(Counter("writes_refused_for_memory"), 0);
}

TEST_F(EvictingServer, ARowThatFitsNowhereEvictsNothing) {
  MakeTable("t");
  Fill("t", 0, 1'000);
  Must("CREATE INDEX ON k.t (w)");
  MakeTable("u");
  Fill("u", 0, 1'000);
  // A request may have half of what rows had at the start.
  SetLimit(16 * kMiB);
  ASSERT_EQ(Counter("partitions_evicted"), 0);
  for (const std::string table : {"t", "u"}) {
    EXPECT_NE(Insert(table, 5'000, 20 * kMiB).find("memory limit"), std::string::npos) << table;
  }
  EXPECT_EQ(In("u").size(), 1'000u);
  EXPECT_EQ(Counter("partitions_evicted"), 0);
}

// Tables come and go, get indexes and views and lose them, at random and at the limit.
TEST_F(EvictingServer, AnythingMayHappenToItsTables) {
  Random random(TestSeed());
  SetLimit(16 * kMiB);
  const std::vector<std::string> tables = {"a", "b", "d", "e"};
  std::vector<int> added(tables.size(), 0);
  for (const std::string& table : tables) MakeTable(table);
  for (uint64_t step = 0; step < TestSteps(6'000); ++step) {
    const size_t at = random.Below(tables.size());
    const std::string& table = tables[at];
    const uint64_t drawn = random.Below(1'000);
    if (drawn < 900) {
      ASSERT_EQ(Insert(table, static_cast<int>(random.Below(5'000)), random.Below(8'000)), "");
    } else if (drawn < 980) {
      Read(table, static_cast<int>(random.Below(5'000)));
    } else if (drawn < 984) {
      Must("ALTER TABLE k." + table + " ADD n" + std::to_string(added[at]++) + " int");
    } else if (drawn < 988) {
      Must("TRUNCATE k." + table);
    } else if (drawn < 992) {
      Must("CREATE INDEX IF NOT EXISTS i" + table + " ON k." + table + " (w)");
      ASSERT_EQ(Insert(table, 1, 1'000), "");
      EXPECT_EQ(Must("SELECT p FROM k." + table + " WHERE w = 1").rows.empty(), false);
      Must("DROP INDEX k.i" + table);
    } else if (drawn < 996) {
      Must("CREATE MATERIALIZED VIEW k.m" + table + " AS SELECT p, c, w FROM k." + table +
           " WHERE w IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (w, p, c)");
      for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(Insert(table, static_cast<int>(random.Below(5'000)), 2'000), "");
      }
      EXPECT_EQ(Number("SELECT count(*) FROM k.m" + table + " WHERE w = 1"),
                static_cast<int64_t>(In(table).size()));
      Must("DROP MATERIALIZED VIEW k.m" + table);
    } else {
      Must("DROP TABLE k." + table);
      MakeTable(table);
      added[at] = 0;
    }
  }
  EXPECT_LE(Held(), 16 * kMiB);
}

}  // namespace evicting_server_test
}  // namespace liststore::testing
