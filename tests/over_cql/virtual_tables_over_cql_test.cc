// SELECTs of tables whose rows are computed: what orders, limits and tokens make of them.
#include <gtest/gtest.h>

#include <string>

#include "engine/model/token.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace virtual_tables_over_cql_test {

class VirtualTablesOverCql : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE KEYSPACE l WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "1}");
    for (const char* table : {"k.aa", "k.cc", "k.ee", "l.bb", "l.dd"}) {
      Say(std::string("CREATE TABLE ") + table + " (p int PRIMARY KEY)");
    }
  }
  std::string Tables(const std::string& rest) {
    return Say("SELECT table_name FROM system_schema.tables WHERE " + rest);
  }
};

TEST_F(VirtualTablesOverCql, ComeInTheOrderThatIsAskedFor) {
  const std::string of_one = "keyspace_name = 'k'";
  EXPECT_EQ(Tables(of_one), "aa; cc; ee");
  EXPECT_EQ(Tables(of_one + " ORDER BY table_name"), "aa; cc; ee");
  EXPECT_EQ(Tables(of_one + " ORDER BY table_name DESC"), "ee; cc; aa");
  EXPECT_EQ(Tables(of_one + " ORDER BY table_name DESC LIMIT 1"), "ee");
  EXPECT_EQ(Tables(of_one + " AND table_name < 'ee' ORDER BY table_name DESC"), "cc; aa");
  // Partitions come as IN has them, or merged.
  const std::string of_both = "keyspace_name IN ('l', 'k')";
  EXPECT_EQ(Tables(of_both), "aa; cc; ee; bb; dd");
  EXPECT_EQ(Tables(of_both + " PER PARTITION LIMIT 2 LIMIT 3"), "aa; cc; bb");
  EXPECT_EQ(Tables(of_both + " ORDER BY table_name"), "aa; bb; cc; dd; ee");
  EXPECT_EQ(Tables(of_both + " ORDER BY table_name DESC LIMIT 4"), "ee; dd; cc; bb");
  EXPECT_EQ(Tables(of_both + " ORDER BY table_name DESC PER PARTITION LIMIT 2"), "ee; dd; cc; bb");
}

TEST_F(VirtualTablesOverCql, GroupsAreNotMerged) {
  const std::string select =
      "SELECT max(table_name), count(*) FROM system_schema.tables WHERE keyspace_name IN ('k', "
      "'l') GROUP BY keyspace_name ORDER BY table_name DESC";
  EXPECT_EQ(Say(select), "ee 3; dd 2");
  EXPECT_EQ(Say("SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'k' GROUP BY "
                "keyspace_name ORDER BY table_name DESC"),
            "ee");
}

// Source: ScyllaDB service/client_state.cc, has_access: only definitions are kept from the system's
// keyspaces. Nothing but a read sees the write, and the next ALTER TABLE takes it away.
TEST_F(VirtualTablesOverCql, ExtensionsOfTablesCanBeWritten) {
  const std::string where = " WHERE keyspace_name = 'k' AND table_name = 'aa'";
  const auto shown = [&] {
    return Say("SELECT JSON extensions FROM system_schema.tables" + where);
  };
  const std::string of_options = shown();
  EXPECT_EQ(of_options.find(R"({"extensions": {"tombstone_gc": "0x02000000)"), 0u) << of_options;
  EXPECT_EQ(Say("UPDATE system_schema.tables SET extensions = {'some': 0x0102}" + where), "");
  EXPECT_EQ(shown(), R"({"extensions": {"some": "0x0102"}})");
  EXPECT_EQ(Say("INSERT INTO system_schema.tables (keyspace_name, table_name, extensions) VALUES "
                "('k', 'aa', {'other': 0x})"),
            "");
  EXPECT_EQ(shown(), R"({"extensions": {"other": "0x"}})");
  EXPECT_EQ(Say("INSERT INTO k.aa (p) VALUES (1)"), "") << "the table is what it was";
  EXPECT_EQ(Say("ALTER TABLE k.aa WITH comment = 'x'"), "");
  EXPECT_EQ(shown(), of_options);
  const std::string refused = "this virtual table doesn't allow updates";
  EXPECT_EQ(Say("UPDATE system_schema.tables SET comment = 'x'" + where), refused);
  EXPECT_EQ(Say("UPDATE system_schema.tables SET extensions = {} WHERE keyspace_name = 'k' AND "
                "table_name = 'nope'"),
            refused);
}

TEST_F(VirtualTablesOverCql, HaveTokens) {
  const std::string token = std::to_string(TokenOf("k").value);
  EXPECT_EQ(Say("SELECT token(keyspace_name) FROM system_schema.keyspaces WHERE keyspace_name = "
                "'k'"),
            token);
  EXPECT_EQ(Tables("token(keyspace_name) = " + token), "aa; cc; ee");
  EXPECT_EQ(Tables("token(keyspace_name) = token('l')"), "bb; dd");
  EXPECT_EQ(Tables("token(keyspace_name) > " + token + " AND token(keyspace_name) < " + token), "");
}

}  // namespace virtual_tables_over_cql_test
}  // namespace liststore::testing
