// Types that are named by a class: those that CQL has too, and those that it has not, which clients
// see as blobs with a class.
#include <gtest/gtest.h>

#include <string>

#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace custom_types_test {

class CustomTypesTest : public CqlDialogueTest {
 protected:
  void SetUp() override { StartDialogue(); }
};

// Source: Cassandra cql3/CQL3Type.java, Custom: what has a type in CQL is shown as that.
TEST_F(CustomTypesTest, AClassOfATypeOfCqlIsThatType) {
  Must(
      "CREATE TABLE t (p 'org.apache.cassandra.db.marshal.Int32Type' PRIMARY KEY, "
      "l 'ListType(UTF8Type)', d 'DateType')");
  Must("INSERT INTO t (p, l, d) VALUES (1, ['a'], 0)");
  EXPECT_EQ(Say("SELECT p, d FROM t WHERE p = 1"), "1 0");
  EXPECT_EQ(Say("SELECT JSON type FROM system_schema.columns WHERE keyspace_name = 'k' AND "
                "table_name = 't'"),
            R"({"type": "timestamp"}; {"type": "list<text>"}; {"type": "int"})");
  EXPECT_EQ(Say("CREATE TABLE u (p int PRIMARY KEY, v 'Foo')"),
            "Error setting type Foo: Unable to find abstract-type class "
            "'org.apache.cassandra.db.marshal.Foo'");
}

// Source: Cassandra cql3/CQL3Type.java, Custom.toCQLLiteral.
TEST_F(CustomTypesTest, OthersAreBlobs) {
  Must(
      "CREATE TABLE t (p int, c 'CompositeType(Int32Type, UTF8Type)', "
      "v 'DynamicCompositeType(s=>UTF8Type, i=>Int32Type)', PRIMARY KEY (p, c))");
  Must("INSERT INTO t (p, c, v) VALUES (1, 0x0001, 0x616263)");
  Must("INSERT INTO t (p, c, v) VALUES (1, ?, ?)", {{std::string("\0\0", 2)}, {"de"}});
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 1"), "de; abc");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 1 AND c > 0x0000"), "abc");
  EXPECT_EQ(Say("SELECT JSON type FROM system_schema.columns WHERE keyspace_name = 'k' AND "
                "table_name = 't' AND column_name = 'v'"),
            R"({"type": "'org.apache.cassandra.db.marshal.DynamicCompositeType()"
            R"(s=>org.apache.cassandra.db.marshal.UTF8Type,)"
            R"(i=>org.apache.cassandra.db.marshal.Int32Type)'"})");
  EXPECT_NE(Must("DESCRIBE TABLE t")
                .rows.at(0)
                .back()
                .value_or("")
                .find("v 'org.apache.cassandra.db.marshal.DynamicCompositeType("),
            std::string::npos);
}

}  // namespace custom_types_test
}  // namespace liststore::testing
