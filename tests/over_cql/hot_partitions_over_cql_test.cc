// liststore.hot_partitions of a server, by what clients send to it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace hot_partitions_over_cql_test {

class HotPartitionsOverCqlTest : public CqlSessionTest {
 protected:
  void Start(bool has_instruments = true, size_t journal_entries = 0) {
    CqlServerOptions options;
    options.shards = 1;
    options.instruments = has_instruments;
    options.journal_entries = journal_entries;
    StartServer(options, "k");
    Must("CREATE TABLE k.t (a int, b text, c int, v int, PRIMARY KEY ((a, b), c))");
  }
  CqlStatement Prepared(const std::string& text, std::vector<BoundParameter> parameters) {
    return {.text = text, .parameters = std::move(parameters), .prepared = true};
  }
  void Read(int a, const std::string& b) {
    Must(Prepared("SELECT * FROM k.t WHERE a = ? AND b = ?",
                  {{.bytes = cql::EncodeInt(a)}, {.bytes = b}}));
  }
  void Write(int a, const std::string& b) {
    Must(Prepared("INSERT INTO k.t (a, b, c, v) VALUES (?, ?, 1, 1)",
                  {{.bytes = cql::EncodeInt(a)}, {.bytes = b}}));
  }
  // "k.t 1:x 3 0"
  std::vector<std::string> Hottest() {
    std::vector<std::string> lines;
    for (const ResultRow& row :
         Must("SELECT tbl, key, reads, writes FROM liststore.hot_partitions").rows) {
      lines.push_back(*row[0] + " " + *row[1] + " " + std::to_string(cql::DecodeInteger(*row[2])) +
                      " " + std::to_string(cql::DecodeInteger(*row[3])));
    }
    return lines;
  }
};

using Lines = std::vector<std::string>;

TEST_F(HotPartitionsOverCqlTest, EveryWayOfAskingIsSeen) {
  Start();
  for (int i = 0; i < 3; ++i) Read(1, "x");
  Write(1, "x");
  Write(2, "y z");
  Must("SELECT * FROM k.t WHERE a = 2 AND b = 'y z'");
  Must("INSERT INTO k.t (a, b, c, v) VALUES (2, 'y z', 7, 7)");
  Must("DELETE FROM k.t WHERE a = 4 AND b = ''");
  Must(
      "BEGIN BATCH INSERT INTO k.t (a, b, c) VALUES (1, 'x', 2); "
      "INSERT INTO k.t (a, b, c) VALUES (1, 'x', 3); "
      "INSERT INTO k.t (a, b, c) VALUES (3, 'w', 3) APPLY BATCH");
  Must("SELECT * FROM k.t WHERE a IN (1, 3) AND b = 'x'");
  // Of no partition.
  Must("SELECT count(*) FROM k.t");
  Must("SELECT * FROM system.local");
  EXPECT_EQ(Hottest(),
            (Lines{"k.t 1:x 4 2", "k.t 2:y z 1 2", "k.t 3:w 0 1", "k.t 3:x 1 0", "k.t 4: 0 1"}));
  const CqlAnswer sums = Must(
      "SELECT of_requests, looked_at, more_max, rank, seconds, longest_us FROM "
      "liststore.hot_partitions LIMIT 1");
  ASSERT_EQ(sums.rows.size(), 1u);
  const auto number = [&](size_t i) { return cql::DecodeInteger(*sums.rows[0][i]); };
  // Two of them were made before: the keyspace and the table.
  EXPECT_EQ(number(0), 13);
  EXPECT_EQ(number(1), 13);
  EXPECT_EQ(number(2), 0);
  EXPECT_EQ(number(3), 1);
  EXPECT_LE(number(4), 300);
  EXPECT_GE(number(5), 0);
}

// The table, or the type of its key, may be another one by now.
TEST_F(HotPartitionsOverCqlTest, KeysOfTablesThatHaveGoneAreBytes) {
  Start();
  Must("CREATE TABLE k.u (a int PRIMARY KEY)");
  Must("INSERT INTO k.u (a) VALUES (7)");
  EXPECT_EQ(Hottest(), Lines{"k.u 7 0 1"});
  Must("DROP TABLE k.u");
  EXPECT_EQ(Hottest(), Lines{"k.u 0x00000007 0 1"});
  Must("CREATE TABLE k.u (a uuid PRIMARY KEY)");
  EXPECT_EQ(Hottest(), Lines{"k.u 0x00000007 0 1"});
}

TEST_F(HotPartitionsOverCqlTest, ItNeedsNeitherInstrumentsNorAJournal) {
  Start(/*has_instruments=*/false);
  Read(1, "x");
  EXPECT_EQ(Hottest(), Lines{"k.t 1:x 1 0"});
  EXPECT_NE(Refusal("SELECT * FROM liststore.requests"), "");
  EXPECT_GT(cql::DecodeInteger(Cell("SELECT bytes FROM liststore.memory WHERE kind = 'sketches'")),
            20'000);
}

TEST_F(HotPartitionsOverCqlTest, AResetForgetsIt) {
  Start();
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Read(1, "x");
  EXPECT_EQ(Hottest().size(), 1u);
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Hottest(), Lines());
  EXPECT_NE(Refusal("INSERT INTO liststore.hot_partitions (top, rank) VALUES ('partitions', 1)"),
            "");
}

}  // namespace hot_partitions_over_cql_test
}  // namespace liststore::testing
