// ALTER TABLE ... DROP as of a time: what of the column comes back with one of its name.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace dropped_columns_test {

// Source of the rules: ScyllaDB cql3/statements/alter_table_statement.cc, drop_column;
// mutation/converting_mutation_partition_applier.cc.
class DroppedColumns : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE d (p int, c int, v int, w text, m map<text, int>, s int STATIC, "
        "PRIMARY KEY (p, c))");
  }

  void ExpectDone(const std::string& statement) { EXPECT_EQ(Say(statement), "") << statement; }
};

TEST_F(DroppedColumns, HaveWhatIsNewerThanTheirDropWhenTheyAreThereAgain) {
  const std::string insert = "INSERT INTO d (p, c, v, w, m, s) VALUES ";
  ExpectDone(insert + "(1, 1, 10, 'aa', {'x': 1}, 1) USING TIMESTAMP 100");
  ExpectDone(insert + "(1, 2, 20, 'bb', {'x': 2}, 2) USING TIMESTAMP 200");
  ExpectDone("UPDATE d USING TIMESTAMP 300 SET m['y'] = 3 WHERE p = 1 AND c = 1");
  ExpectDone("ALTER TABLE d DROP (v, m, s) USING TIMESTAMP 150");
  EXPECT_EQ(Say("SELECT * FROM d"), "1 1 aa; 1 2 bb");
  EXPECT_EQ(Say("SELECT toUnixTimestamp(dropped_time) FROM system_schema.dropped_columns WHERE "
                "keyspace_name = 'k' AND table_name = 'd' AND column_name = 'v'"),
            "0");
  ExpectDone("ALTER TABLE d ADD (v int, m map<text, int>)");
  ExpectDone("ALTER TABLE d ADD s int STATIC");
  EXPECT_EQ(Say("SELECT JSON c, v, w, m, s FROM d"),
            R"({"c": 1, "v": null, "w": "aa", "m": {"y": 3}, "s": 2}; )"
            R"({"c": 2, "v": 20, "w": "bb", "m": {"x": 2}, "s": 2})");
  EXPECT_EQ(Say("SELECT writetime(v) FROM d WHERE p = 1 AND c = 2"), "200");
  ExpectDone("UPDATE d USING TIMESTAMP 150 SET v = 1 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT v FROM d WHERE p = 1 AND c = 1"), "null");
  ExpectDone("UPDATE d USING TIMESTAMP 151 SET v = 2 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT v FROM d WHERE p = 1 AND c = 1"), "2");
  const std::string described = *Must("DESCRIBE TABLE d WITH INTERNALS").rows[0][3];
  EXPECT_NE(described.find("ALTER TABLE k.d DROP s USING TIMESTAMP 150;\n"
                           "ALTER TABLE k.d ADD s int STATIC;"),
            std::string::npos)
      << described;
}

TEST_F(DroppedColumns, KeepNoRowAliveWhileTheyAreGone) {
  ExpectDone("UPDATE d USING TIMESTAMP 200 SET v = 5 WHERE p = 1 AND c = 1");
  ExpectDone("ALTER TABLE d DROP v USING TIMESTAMP 100");
  EXPECT_EQ(Say("SELECT c FROM d"), "");
  ExpectDone("ALTER TABLE d ADD v int");
  EXPECT_EQ(Say("SELECT c, v FROM d"), "1 5");
}

TEST_F(DroppedColumns, AreDeletedWithTheirRowsWhileTheyAreGone) {
  for (int c = 1; c <= 3; ++c) {
    ExpectDone("INSERT INTO d (p, c, v) VALUES (1, " + std::to_string(c) + ", 7)");
  }
  ExpectDone("ALTER TABLE d DROP v USING TIMESTAMP 1");
  ExpectDone("DELETE FROM d WHERE p = 1 AND c = 1");
  ExpectDone("DELETE FROM d WHERE p = 1 AND c > 2");
  ExpectDone("ALTER TABLE d ADD v int");
  EXPECT_EQ(Say("SELECT c, v FROM d"), "2 7");
  ExpectDone("ALTER TABLE d DROP v USING TIMESTAMP 1");
  ExpectDone("TRUNCATE d");
  ExpectDone("INSERT INTO d (p, c) VALUES (1, 2)");
  ExpectDone("ALTER TABLE d ADD v int");
  EXPECT_EQ(Say("SELECT c, v FROM d"), "2 null");
}

TEST_F(DroppedColumns, ComeBackAsLongAsTheyWouldHaveLasted) {
  ExpectDone("INSERT INTO d (p, c, v) VALUES (1, 1, 7) USING TTL 100");
  ExpectDone("INSERT INTO d (p, c) VALUES (1, 1)");
  ExpectDone("ALTER TABLE d DROP v USING TIMESTAMP 1");
  clock_.AdvanceSeconds(60);
  ExpectDone("ALTER TABLE d ADD v int");
  EXPECT_EQ(Say("SELECT v FROM d"), "7");
  clock_.AdvanceSeconds(41);
  EXPECT_EQ(Say("SELECT c, v FROM d"), "1 null");
}

TEST_F(DroppedColumns, ComeBackWhereTheirValuesAreValuesOfTheNewType) {
  ExpectDone("INSERT INTO d (p, c, v, w) VALUES (1, 1, 7, 'x')");
  ExpectDone("ALTER TABLE d DROP (v, w) USING TIMESTAMP 1");
  ExpectDone("ALTER TABLE d ADD (v text, w blob)");
  EXPECT_EQ(Say("SELECT JSON v, w FROM d"), R"({"v": null, "w": "0x78"})");
  ExpectDone("ALTER TABLE d DROP w USING TIMESTAMP 1");
  ExpectDone("ALTER TABLE d ADD w blob STATIC");
  EXPECT_EQ(Say("SELECT JSON w FROM d"), R"({"w": null})") << "a static column is another";
}

TEST_F(DroppedColumns, HaveATimeThatIsBound) {
  ExpectDone("INSERT INTO d (p, c, v) VALUES (1, 1, 7) USING TIMESTAMP 5000000");
  const std::string drop = "ALTER TABLE d DROP v USING TIMESTAMP ?";
  EXPECT_EQ(Say(drop, {{std::nullopt}}), "Invalid null value of timestamp");
  // Prepared, and not.
  for (const int64_t micros : {4'000'000, 5'000'000}) {
    EXPECT_EQ(Say(drop, {{cql::EncodeBigint(micros)}}), "");
    ExpectDone("ALTER TABLE d ADD v int");
    ExpectDone("UPDATE d SET w = 'there' WHERE p = 1 AND c = 1");
    EXPECT_EQ(Say("SELECT v FROM d"), micros < 5'000'000 ? "7" : "null");
  }
  EXPECT_EQ(Say(drop, {{std::nullopt, true}}), "") << "unset: now";
  const std::string now_millis = std::to_string(clock_.NowNanos() / 1'000'000);
  EXPECT_EQ(Say("SELECT toUnixTimestamp(dropped_time) FROM system_schema.dropped_columns WHERE "
                "keyspace_name = 'k' AND table_name = 'd' AND column_name = 'v'"),
            now_millis);
}

TEST_F(DroppedColumns, HideWhatIsWrittenBeforeATimeToCome) {
  const uint64_t hour_micros = 3'600'000'000;
  const std::string later = std::to_string(clock_.NowNanos() / 1000 + hour_micros);
  ExpectDone("ALTER TABLE d DROP v USING TIMESTAMP " + later);
  ExpectDone("ALTER TABLE d ADD v int");
  ExpectDone("INSERT INTO d (p, c, v) VALUES (1, 1, 7)");
  EXPECT_EQ(Say("SELECT c, v FROM d"), "1 null");
  clock_.AdvanceSeconds(3601);
  ExpectDone("INSERT INTO d (p, c, v) VALUES (1, 1, 8)");
  EXPECT_EQ(Say("SELECT c, v FROM d"), "1 8");
}

}  // namespace dropped_columns_test
}  // namespace liststore::testing
