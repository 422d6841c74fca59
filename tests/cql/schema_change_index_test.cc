// CREATE INDEX and DROP INDEX: what they do and what they are refused with.
#include <string>

#include "gtest/gtest.h"
#include "tests/cql/schema_changes.h"

namespace liststore::testing {
namespace schema_change_index_test {

using ActionKind = SchemaAction::Kind;
using Kind = cql::SchemaChange::Kind;

class IndexTest : public SchemaChanges {
 protected:
  IndexTest() {
    Must(
        "CREATE TABLE t (p text, q text, c text, v blob, \"W w\" int, d duration, "
        "l list<duration>, u tuple<int, duration>, s int static, PRIMARY KEY ((p, q), c))");
  }
};

TEST_F(IndexTest, ALocalIndexRebuildsTheTable) {
  const cql::SchemaChange change = Must("CREATE INDEX by_v ON t((p, q), v)");
  EXPECT_EQ(change.kind, Kind::kUpdated);
  EXPECT_EQ(change.target, cql::SchemaChange::Target::kTable);
  EXPECT_EQ(change.keyspace + "." + change.table, "ks.t");
  EXPECT_EQ(change.actions.at(0),
            (SchemaAction{ActionKind::kRebuildTable,
                          "ks",
                          "t",
                          {{ColumnId{0}, ColumnId{1}, ColumnId{2}, ColumnId{3}, ColumnId{4}},
                           {ColumnId{0}}}}));
  ASSERT_EQ(Table("t").indexes.size(), 1u);
  EXPECT_TRUE(Table("t").indexes[0].local);
  EXPECT_EQ(Table("t").storage.indexes[0].column, Table("t").FindColumn("v")->position);
}

TEST_F(IndexTest, AGlobalIndexBesideALocalOneIsTheSameToStorage) {
  Must("CREATE INDEX by_v ON t((p, q), v)");
  const cql::SchemaChange change = Must("CREATE INDEX ON t(v)");
  EXPECT_EQ(change.kind, Kind::kUpdated);
  EXPECT_TRUE(change.actions.empty());
  EXPECT_EQ(Table("t").indexes.size(), 2u);
  EXPECT_EQ(Table("t").storage.indexes.size(), 1u);
  EXPECT_TRUE(Must("DROP INDEX by_v").actions.empty());
  EXPECT_EQ(Must("DROP INDEX t_v_idx").actions.at(0).kind, ActionKind::kRebuildTable);
}

TEST_F(IndexTest, NamesAreMadeFromTableAndColumnUntilOneIsFree) {
  Must("CREATE INDEX ON t(\"W w\")");
  EXPECT_EQ(Table("t").indexes[0].name, "t_Ww_idx");
  Must("CREATE INDEX ON t((p, q), \"W w\")");
  EXPECT_EQ(Table("t").indexes[1].name, "t_Ww_idx_1");
  Must("CREATE TABLE u (p text PRIMARY KEY, v int)");
  Must("CREATE INDEX t_v_idx ON u(v)");
  Must("CREATE INDEX ON t(v)");
  EXPECT_EQ(Table("t").indexes[2].name, "t_v_idx_1") << "names are of the keyspace";
  // Source: ScyllaDB index/secondary_index_manager.cc, get_available_index_name.
  Must("CREATE TABLE u_w_idx_index (p text PRIMARY KEY)");
  Must("ALTER TABLE u ADD w int");
  Must("CREATE INDEX ON u(w)");
  EXPECT_EQ(Table("u").indexes[1].name, "u_w_idx_1") << "its view would have the table's name";
}

TEST_F(IndexTest, WhatIsThereAlreadyIsNothingToDoIfNotExists) {
  Must("CREATE INDEX by_v ON t(v)");
  for (const char* text :
       {"CREATE INDEX IF NOT EXISTS by_v ON t(v)", "CREATE INDEX IF NOT EXISTS other ON t(v)",
        "CREATE INDEX IF NOT EXISTS ON t(v)"}) {
    const cql::SchemaChange change = Must(text);
    EXPECT_EQ(change.kind, Kind::kNothing) << text;
    EXPECT_FALSE(change.alters_schema) << text;
  }
}

TEST_F(IndexTest, Refusals) {
  Must("CREATE INDEX by_v ON t(v)");
  Must("CREATE TABLE taken_index (p text PRIMARY KEY)");
  Must("CREATE TABLE single (p text PRIMARY KEY)");
  const std::string full_key = "Local index definition must contain full partition key only. ";
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"CREATE INDEX ON no(v)", kInvalid, "unconfigured table no"},
           {"CREATE INDEX ON no.t(v)", kInvalid, "Keyspace no does not exist"},
           {"CREATE INDEX ON system.local(v)", kUnauthorized,
            "system keyspace is not user-modifiable."},
           {"CREATE INDEX ON liststore.list_items(value)", kInvalid,
            "Cannot change indexes of table liststore.list_items: it belongs to the list store"},
           {"CREATE INDEX ON by_v_index(v)", kInvalid,
            "Secondary indexes are not supported on materialized views"},
           {"CREATE INDEX ON t((p, c), v)", kInvalid, full_key + "Redundant column: c"},
           {"CREATE INDEX ON t((p), v)", kInvalid, full_key + "Missing column: q"},
           {"CREATE INDEX ON t((q, p), v)", kInvalid, full_key + "Missing column: p"},
           {"CREATE INDEX ON t((p, q, p), v)", kInvalid,
            "Duplicate column definition in local index: p"},
           {"CREATE INDEX ON t((p, q))", kInvalid,
            "Local index definition must provide an indexed column, not just partition key"},
           {"CREATE INDEX ON t((p, q), (v))", kInvalid,
            "Multi-column index targets are currently only supported for partition key"},
           {"CREATE INDEX ON t(v, c)", kInvalid, "Only CUSTOM indexes support multiple columns"},
           {"CREATE INDEX ON t((p, q), p)", kInvalid,
            "Local indexing based on partition key column is not allowed, since whole base "
            "partition key must be used in queries anyway. Use global indexing instead."},
           {"CREATE INDEX ON single(p)", kInvalid,
            "Cannot create secondary index on partition key column p"},
           {"CREATE INDEX ON t(x)", kInvalid, "No column definition found for column x"},
           {"CREATE INDEX ON t(d)", kInvalid,
            "Secondary indexes are not supported on duration columns"},
           {"CREATE INDEX ON t(l)", kInvalid,
            "Secondary indexes are not supported on collections containing durations"},
           {"CREATE INDEX ON t(u)", kInvalid,
            "Secondary indexes are not supported on tuples containing durations"},
           {"CREATE INDEX ON t((p, q), s)", kInvalid,
            "Local indexes containing static columns are not supported."},
           {"CREATE INDEX ON single((p), p)", kInvalid,
            "Cannot create secondary index on partition key column p"},
           {"CREATE INDEX ON t(keys(c))", kInvalid,
            "Cannot create index on keys() of column c; only non-frozen collections support "
            "keys() indexes"},
           {"CREATE INDEX ON t(keys(v))", kInvalid,
            "Cannot create index on keys() of column v; only non-frozen collections support "
            "keys() indexes"},
           {"CREATE INDEX ON t(full(v))", kInvalid,
            "full() indexes can only be created on frozen collections"},
           {"CREATE INDEX by_v ON t(\"W w\")", kInvalid, "Index already exists"},
           {"CREATE INDEX b ON t(v)", kInvalid, "Index b is a duplicate of existing index by_v"},
           {"CREATE INDEX taken ON t((p, q), v)", kInvalid,
            "Index taken cannot be created, because table taken_index already exists"},
           {"CREATE INDEX IF NOT EXISTS taken ON t((p, q), v)", kInvalid,
            "Index taken cannot be created, because table taken_index already exists"},
           {"CREATE CUSTOM INDEX ON t(v) USING 'x'", kInvalid,
            "Unsupported CUSTOM INDEX class x. Note that currently, Scylla does not support SASI "
            "or "
            "any other CUSTOM INDEX class."},
           {"CREATE INDEX " + std::string(65'001, 'x') + " ON t((p, q), v)", kInvalid,
            "Index name of 65001 bytes; liststore has at most 65000"},
           {"DROP INDEX no", kInvalid,
            "Index 'no' could not be found in any of the tables of keyspace 'ks'"},
           {"DROP INDEX no.i", kInvalid, "Keyspace no does not exist"},
           {"DROP INDEX liststore.list_items_by_value", kInvalid,
            "Cannot change indexes of table liststore.list_items: it belongs to the list store"},
           {"CREATE TABLE by_v_index (p int PRIMARY KEY)", kAlreadyExists,
            "Cannot add already existing table \"by_v_index\" to keyspace \"ks\""},
           {"DROP TABLE by_v_index", kInvalid, "Cannot use DROP TABLE on Materialized View"},
       }) {
    ExpectRefused(refusal);
  }
}

TEST_F(IndexTest, OfKeysAndStaticColumnsStorageKnowsNothing) {
  for (const char* target : {"p", "q", "c", "(p, q), c", "s"}) {
    const cql::SchemaChange change = Must("CREATE INDEX ON t(" + std::string(target) + ")");
    EXPECT_EQ(change.kind, Kind::kUpdated) << target;
    EXPECT_TRUE(change.actions.empty()) << target;
  }
  std::vector<std::string> names;
  for (const IndexDefinition& index : Table("t").indexes) names.push_back(index.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"t_p_idx", "t_q_idx", "t_c_idx", "t_c_idx_1", "t_s_idx"}));
  EXPECT_TRUE(Table("t").storage.indexes.empty());
  EXPECT_TRUE(Table("t").indexes[3].local);
  ExpectRefused({"ALTER TABLE t RENAME c TO cc", kInvalid,
                 "Cannot rename column c because it has dependent secondary indexes (t_c_idx, "
                 "t_c_idx_1)"});
  EXPECT_TRUE(Must("DROP INDEX t_c_idx").actions.empty());
  Must("DROP INDEX t_c_idx_1");
  Must("ALTER TABLE t RENAME c TO cc");
}

TEST_F(IndexTest, OnCollectionsByTheirParts) {
  Must(
      "CREATE TABLE parts (p int PRIMARY KEY, l list<int>, s set<text>, m map<text, int>, "
      "\"keys(m)\" map<int, int>)");
  using Part = IndexedPart;
  const struct {
    const char* target;
    Part part;
  } cases[] = {
      {"l", Part::kValues},     {"VALUES(s)", Part::kValues},   {"m", Part::kValues},
      {"KEYS(m)", Part::kKeys}, {"entries(m)", Part::kEntries}, {"keys(\"keys(m)\")", Part::kKeys},
  };
  for (const auto& one : cases) {
    const cql::SchemaChange change = Must("CREATE INDEX ON parts(" + std::string(one.target) + ")");
    EXPECT_TRUE(change.actions.empty()) << one.target;
    EXPECT_EQ(Table("parts").indexes.back().part, one.part) << one.target;
  }
  std::vector<std::string> names;
  for (const IndexDefinition& index : Table("parts").indexes) names.push_back(index.name);
  EXPECT_EQ(names, (std::vector<std::string>{"parts_l_idx", "parts_s_idx", "parts_m_idx",
                                             "parts_m_idx_1", "parts_m_idx_2", "parts_keysm_idx"}));
  EXPECT_TRUE(Table("parts").storage.indexes.empty());
  EXPECT_EQ(Must("CREATE INDEX IF NOT EXISTS ON parts(values(m))").kind, Kind::kNothing);
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"CREATE INDEX ON parts(values(l))", kInvalid,
            "Index parts_l_idx_1 is a duplicate of existing index parts_l_idx"},
           {"CREATE INDEX ON parts(keys(l))", kInvalid,
            "Cannot create secondary index on keys of column l with non-map type"},
           {"CREATE INDEX ON parts(entries(s))", kInvalid,
            "Cannot create secondary index on entries of column s with non-map type"},
           {"CREATE INDEX ON parts(full(m))", kInvalid,
            "full() indexes can only be created on frozen collections"},
           {"CREATE INDEX ON parts((p), l)", kInvalid,
            "Local secondary index on collection column l is not implemented yet."},
           {"ALTER TABLE parts DROP m", kInvalid,
            "Cannot drop column m from base table ks.parts: materialized view parts_m_idx_index "
            "needs this column"},
       }) {
    ExpectRefused(refusal);
  }
  Must("DROP INDEX parts_m_idx");
  Must("CREATE INDEX ON parts(values(m))");
}

TEST_F(IndexTest, DropIndex) {
  Must("CREATE INDEX by_v ON t(v)");
  const cql::SchemaChange change = Must("DROP INDEX ks.by_v");
  EXPECT_EQ(change.kind, Kind::kUpdated);
  EXPECT_EQ(change.table, "t");
  EXPECT_EQ(change.actions.at(0).kind, ActionKind::kRebuildTable);
  EXPECT_TRUE(Table("t").indexes.empty());
  EXPECT_EQ(Must("DROP INDEX IF EXISTS by_v").kind, Kind::kNothing);
}

}  // namespace schema_change_index_test
}  // namespace liststore::testing
