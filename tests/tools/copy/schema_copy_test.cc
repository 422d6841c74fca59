// What becomes of a schema that another kind of server does not have just so.
#include "tools/copy/schema_copy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/copy/remote_schema.h"

namespace liststore::testing {
namespace schema_copy_test {

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

// A server that tells when parts of values were written.
RemoteSchema Telling() {
  RemoteSchema schema;
  schema.part_times = PartTimes::kByFunction;
  return schema;
}

RemoteView View(const std::string& name) {
  RemoteView view;
  view.table.keyspace = "ks";
  view.table.name = name;
  view.table.columns = {{.name = "v", .kind = Kind::kPartitionKey, .type = "text"},
                        {.name = "p", .kind = Kind::kClustering, .descending = true, .type = "int"},
                        {.name = "Q", .kind = Kind::kClustering, .position = 1, .type = "int"}};
  view.base = "t";
  view.where = "v IS NOT NULL AND p IS NOT NULL AND \"Q\" IS NOT NULL";
  return view;
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
  const SchemaCopy copy = PlanSchemaCopy({Keyspace("text")}, Telling(), Telling(), "");
  EXPECT_EQ(copy.statements,
            (std::vector<std::string>{
                "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', "
                "'replication_factor': '1'}",
                "CREATE TABLE ks.t (p int, q int, v text, PRIMARY KEY ((p, q))) WITH "
                "gc_grace_seconds = 10"}));
  EXPECT_TRUE(copy.differences.empty());
  RemoteSchema target;
  target.keyspaces = {Keyspace("text")};
  EXPECT_TRUE(PlanSchemaCopy({Keyspace("text")}, Telling(), target, "").statements.empty());
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
      {"of a frozen collection at ScyllaDB",
       {"i", "COMPOSITES", "v", ""},
       true,
       "CREATE INDEX i ON ks.t (full(v))",
       false,
       "frozen<list<int>>"},
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
    const SchemaCopy copy =
        PlanSchemaCopy({Keyspace(one.type, {one.index})}, Telling(), target, "");
    EXPECT_EQ(copy.index_statements.empty() ? "" : copy.index_statements.front(), one.statement)
        << one.what;
    EXPECT_EQ(!copy.notes.empty(), one.noted) << one.what;
  }
}

TEST(PlanSchemaCopy, SaysWhatIsLostWhereTimesOfPartsAreNotTold) {
  for (const auto parts : {RemoteColumn::Parts::kNone, RemoteColumn::Parts::kList}) {
    RemoteKeyspace keyspace = Keyspace("list<int>");
    keyspace.tables.front().columns.back().parts = parts;
    const bool has_parts = parts != RemoteColumn::Parts::kNone;
    const auto notes = [&](const RemoteSchema& source, const RemoteSchema& target) {
      const SchemaCopy copy = PlanSchemaCopy({keyspace}, source, target, "");
      EXPECT_TRUE(copy.differences.empty());
      return copy.notes;
    };
    EXPECT_TRUE(notes(Telling(), Telling()).empty());
    const std::string begin = "column v of ks.t: the parts of a list<int> ";
    EXPECT_EQ(
        notes(RemoteSchema(), Telling()),
        std::vector<std::string>(
            has_parts, begin + "lose their timestamps and TTLs, which the source does not tell: "
                               "they are written as of now, with the TTL that the table gives"));
    EXPECT_EQ(notes(Telling(), RemoteSchema()),
              std::vector<std::string>(
                  has_parts, begin + "keep their timestamps and TTLs, but are compared by "
                                     "value alone: the target does not tell more"));
  }
}

TEST(PlanSchemaCopy, ViewsAreMadeBehindTheirTables) {
  RemoteKeyspace here = Keyspace("text");
  here.views = {View("by_v")};
  SchemaCopy copy = PlanSchemaCopy({here}, Telling(), Telling(), "");
  EXPECT_EQ(copy.view_statements,
            std::vector<std::string>{
                "CREATE MATERIALIZED VIEW ks.by_v AS SELECT v, p, \"Q\" FROM ks.t WHERE v IS NOT "
                "NULL AND p IS NOT NULL AND \"Q\" IS NOT NULL PRIMARY KEY ((v), p, \"Q\") WITH "
                "CLUSTERING ORDER BY (p DESC, \"Q\" ASC)"});
  RemoteSchema target = Telling();
  target.keyspaces = {here};
  copy = PlanSchemaCopy({here}, Telling(), target, "");
  EXPECT_TRUE(copy.view_statements.empty());
  EXPECT_TRUE(copy.differences.empty());

  here.views.front().selects_all = true;
  here.views.front().table.comment = "it's";
  here.views.front().table.columns.resize(1);
  copy = PlanSchemaCopy({here}, Telling(), Telling(), "");
  EXPECT_EQ(copy.view_statements.front().substr(0, 58),
            "CREATE MATERIALIZED VIEW ks.by_v AS SELECT * FROM ks.t WHE");
  EXPECT_TRUE(copy.view_statements.front().ends_with(" PRIMARY KEY ((v)) WITH comment = 'it''s'"));
  target.keyspaces.front().views.front().base = "u";
  copy = PlanSchemaCopy({here}, Telling(), target, "");
  EXPECT_EQ(copy.differences,
            (std::vector<std::string>{"view ks.by_v: of the table t here, of u there",
                                      "view ks.by_v: column p is there, and not here",
                                      "view ks.by_v: column Q is there, and not here"}));
}

TEST(SelectTables, ViewsComeWithTheirTables) {
  RemoteKeyspace keyspace = Keyspace("text");
  keyspace.tables.push_back(keyspace.tables.front());
  keyspace.tables.back().name = "u";
  keyspace.views = {View("by_v"), View("of_u")};
  keyspace.views.back().base = "u";
  RemoteSchema schema;
  schema.keyspaces = {keyspace};
  const auto selected = SelectTables(schema, {}, {"ks.u"});
  ASSERT_TRUE(selected.ok()) << selected.status();
  ASSERT_EQ(selected->front().views.size(), 1u);
  EXPECT_EQ(selected->front().views.front().table.name, "of_u");
  EXPECT_EQ(SelectTables(schema, {"ks"}, {})->front().views.size(), 2u);
  EXPECT_EQ(SelectTables(schema, {}, {"ks.by_v"}).status().message(),
            "'ks.by_v' is a view, and comes with its table, ks.t");
}

TEST(PlanSchemaCopy, TypesAreCompared) {
  RemoteKeyspace here = Keyspace("text"), there = Keyspace("text");
  here.types = {{"a", {{"x", "frozen<list<frozen<set<int>>>>"}, {"y", "int"}}}};
  there.types = {{"a", {{"x", "frozen<list<set<int>>>"}, {"y", "int"}}}};
  RemoteSchema target;
  target.keyspaces = {there};
  EXPECT_TRUE(PlanSchemaCopy({here}, Telling(), target, "").differences.empty());
  target.keyspaces.front().types.front().fields.pop_back();
  EXPECT_EQ(PlanSchemaCopy({here}, Telling(), target, "").differences,
            std::vector<std::string>{"type ks.a: (x frozen<list<set<int>>>, y int) here, (x "
                                     "frozen<list<set<int>>>) there"});
}

}  // namespace schema_copy_test
}  // namespace liststore::testing
