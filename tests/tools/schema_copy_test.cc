// What becomes of a schema that another kind of server does not have just so.
#include "tools/liststore/schema_copy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/liststore/remote_schema.h"

namespace liststore::testing {
namespace {

using Kind = RemoteColumn::Kind;

RemoteKeyspace Keyspace(const std::string& type, std::vector<RemoteIndex> indexes = {}) {
  RemoteTable table;
  table.keyspace = "ks";
  table.name = "t";
  table.gc_grace_seconds = 10;
  table.columns = {{.name = "p", .kind = Kind::kPartitionKey, .type = "int"},
                   {.name = "q", .kind = Kind::kPartitionKey, .position = 1, .type = "int"},
                   {.name = "v", .type = type}};
  table.indexes = std::move(indexes);
  RemoteKeyspace keyspace;
  keyspace.name = "ks";
  keyspace.replication = {{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                          {"replication_factor", "1"}};
  keyspace.tables = {table};
  return keyspace;
}

TEST(NormalType, FrozenWithinIsAWayOfWriting) {
  const struct {
    const char *type, *normal;
  } cases[] = {
      {"text", "text"},
      {"list<int>", "list<int>"},
      {"frozen<list<int>>", "frozen<list<int>>"},
      {"frozen<map<int, frozen<set<text>>>>", "frozen<map<int,set<text>>>"},
      {"frozen<map<int, set<text>>>", "frozen<map<int,set<text>>>"},
      {"map<int, frozen<set<text>>>", "map<int,set<text>>"},
      {"frozen<tuple<int, frozen<address>>>", "tuple<int,address>"},
      {"tuple<int, address>", "tuple<int,address>"},
  };
  for (const auto& one : cases) EXPECT_EQ(NormalType(one.type), one.normal) << one.type;
}

TEST(PlanSchemaCopy, MakesWhatIsMissing) {
  const SchemaCopy copy = PlanSchemaCopy({Keyspace("text")}, RemoteSchema(), "");
  EXPECT_EQ(copy.statements,
            (std::vector<std::string>{
                "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', "
                "'replication_factor': '1'}",
                "CREATE TABLE ks.t (p int, q int, v text, PRIMARY KEY ((p, q))) WITH "
                "gc_grace_seconds = 10"}));
  EXPECT_TRUE(copy.differences.empty());
  RemoteSchema target;
  target.keyspaces = {Keyspace("text")};
  EXPECT_TRUE(PlanSchemaCopy({Keyspace("text")}, target, "").statements.empty());
}

TEST(PlanSchemaCopy, IndexesBecomeWhatTheTargetHas) {
  const std::string local = R"({"pk":["p","q"],"ck":["v"]})";
  const struct {
    const char* what;
    RemoteIndex index;
    bool has_local_indexes;
    const char* statement;  // empty: left out
    bool noted;
    const char* type = "text";
  } cases[] = {
      {"local at ScyllaDB",
       {"i", "COMPOSITES", local, ""},
       true,
       "CREATE INDEX i ON ks.t ((p, q), v)",
       false},
      {"local at Cassandra",
       {"i", "COMPOSITES", local, ""},
       false,
       "CREATE INDEX i ON ks.t (v)",
       true},
      {"of all partitions",
       {"i", "COMPOSITES", "v", ""},
       true,
       "CREATE INDEX i ON ks.t (v)",
       false},
      {"of a set at ScyllaDB",
       {"i", "COMPOSITES", "keys(v)", ""},
       true,
       "CREATE INDEX i ON ks.t (values(v))",
       false,
       "set<int>"},
      {"of keys",
       {"i", "COMPOSITES", "keys(v)", ""},
       true,
       "CREATE INDEX i ON ks.t (keys(v))",
       false,
       "map<int, int>"},
      {"storage-attached",
       {"i", "CUSTOM", "v", "StorageAttachedIndex"},
       true,
       "CREATE INDEX i ON ks.t (v)",
       true},
      {"another custom one", {"i", "CUSTOM", "v", "com.example.Index"}, true, "", true},
  };
  for (const auto& one : cases) {
    RemoteSchema target;
    target.has_local_indexes = one.has_local_indexes;
    const SchemaCopy copy = PlanSchemaCopy({Keyspace(one.type, {one.index})}, target, "");
    EXPECT_EQ(copy.index_statements.empty() ? "" : copy.index_statements.front(), one.statement)
        << one.what;
    EXPECT_EQ(!copy.notes.empty(), one.noted) << one.what;
  }
}

TEST(PlanSchemaCopy, ValuesWithPartsOfTheirOwnAreRefused) {
  for (const char* type : {"list<int>", "map<int, text>", "set<int>", "address"}) {
    RemoteKeyspace keyspace = Keyspace(type);
    keyspace.types = {{"address", {{"street", "text"}}}};
    const SchemaCopy copy = PlanSchemaCopy({keyspace}, RemoteSchema(), "");
    ASSERT_EQ(copy.differences.size(), 1u) << type;
    EXPECT_EQ(copy.differences.front(), "table ks.t: column v is " + std::string(type) +
                                            ", not frozen<" + type +
                                            ">: times of its parts cannot be copied");
  }
}

TEST(PlanSchemaCopy, TypesAreCompared) {
  RemoteKeyspace here = Keyspace("text"), there = Keyspace("text");
  here.types = {{"a", {{"x", "frozen<list<frozen<set<int>>>>"}, {"y", "int"}}}};
  there.types = {{"a", {{"x", "frozen<list<set<int>>>"}, {"y", "int"}}}};
  RemoteSchema target;
  target.keyspaces = {there};
  EXPECT_TRUE(PlanSchemaCopy({here}, target, "").differences.empty());
  target.keyspaces.front().types.front().fields.pop_back();
  EXPECT_EQ(PlanSchemaCopy({here}, target, "").differences,
            std::vector<std::string>{"type ks.a: (x frozen<list<set<int>>>, y int) here, (x "
                                     "frozen<list<set<int>>>) there"});
}

}  // namespace
}  // namespace liststore::testing
