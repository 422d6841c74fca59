#include "engine/durable/schema_records.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/byte_coding.h"
#include "engine/durable/clock_record.h"
#include "engine/durable/definitions.h"
#include "engine/durable/table_numbers.h"
#include "engine/execute/schema_journal.h"

namespace liststore::testing {
namespace schema_records_test {

using durable::DecodeBarrierPayload;
using durable::Definitions;

SchemaChangeRecord Change(std::string statement, std::string keyspace, std::string table,
                          bool drops = false) {
  SchemaChangeRecord record;
  record.statement = std::move(statement);
  record.keyspace = std::move(keyspace);
  record.table = std::move(table);
  record.drops = drops;
  return record;
}

SchemaChangeRecord Full() {
  SchemaChangeRecord record = Change("CREATE TABLE t (p int PRIMARY KEY)", "k", "t");
  record.current_keyspace = "k";
  record.now_micros = 1;
  record.now_nanos = 2;
  record.drop_micros = -3;
  record.uuids = {Uuid::FromRandomBits(4, 5), Uuid::FromRandomBits(6, 7)};
  record.datacenter = "dc1";
  record.dialect = "cassandra:4.1";
  record.other_datacenters = {"dc2", ""};
  record.knows_datacenters = false;
  record.enable_tablets = true;
  record.type = "of no table";
  record.numbered = {{TableId{8, 9}, "k", "t"}, {TableId{10, 11}, "k", "u"}};
  return record;
}

TEST(SchemaRecords, ComeBackAsTheyWere) {
  for (const SchemaChangeRecord& record : {Full(), SchemaChangeRecord()}) {
    std::string payload;
    durable::AppendChangeBarrier(record, payload);
    const auto barrier = DecodeBarrierPayload(payload);
    ASSERT_TRUE(barrier);
    EXPECT_FALSE(barrier->numbers);
    EXPECT_EQ(barrier->change, record);
  }
  std::string payload;
  durable::AppendStart(Full().numbered, payload);
  const auto barrier = DecodeBarrierPayload(payload);
  ASSERT_TRUE(barrier && barrier->numbers);
  EXPECT_EQ(*barrier->numbers, Full().numbered);
}

TEST(SchemaRecords, MarksAndReturnsComeBackAsTheyWere) {
  std::string payload;
  durable::AppendMark(payload);
  const auto mark = DecodeBarrierPayload(payload);
  ASSERT_TRUE(mark && mark->is_mark);
  EXPECT_FALSE(mark->numbers || mark->back);
  const durable::ReturnRecord record{
      .mark = 7, .base_snapshot = 3, .numbers = Full().numbered, .events = {"roles", ""}};
  payload.clear();
  durable::AppendReturn(record, payload);
  const auto back = DecodeBarrierPayload(payload);
  ASSERT_TRUE(back && back->back);
  EXPECT_EQ(*back->back, record);
  for (size_t bytes = 0; bytes < payload.size(); ++bytes) {
    EXPECT_FALSE(DecodeBarrierPayload(std::string_view(payload).substr(0, bytes))) << bytes;
  }
}

// So that what was written before there was a dialect is read.
TEST(SchemaRecords, WithoutADialectTheyHaveTheFormOfBefore) {
  SchemaChangeRecord record = Full();
  std::string with;
  durable::AppendChangeBarrier(record, with);
  const std::string dialect = std::exchange(record.dialect, "");
  std::string without;
  durable::AppendChangeBarrier(record, without);
  EXPECT_EQ(with.size(), without.size() + sizeof(uint32_t) + dialect.size());
  EXPECT_EQ(static_cast<uint8_t>(with[1]) & ~static_cast<uint8_t>(without[1]), 16);
}

TEST(SchemaRecords, TakeNoMoreThanIsSetAsideForThem) {
  SchemaChangeRecord record = Full();
  Schema schema;
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  for (const std::string name : {"t", "u"}) {
    auto table = std::make_shared<TableDefinition>();
    table->keyspace = "k";
    table->name = name;
    keyspace->tables[name] = table;
  }
  schema.keyspaces["k"] = keyspace;
  std::string payload;
  durable::AppendChangeBarrier(record, payload);
  EXPECT_LE(payload.size(), durable::kBarrierBytes + execute::RecordBytesMax(record, schema));
}

TEST(SchemaRecords, WhatIsCutOrLongerIsRefused) {
  std::string payload;
  durable::AppendChangeBarrier(Full(), payload);
  for (size_t bytes = 0; bytes < payload.size(); ++bytes) {
    EXPECT_FALSE(DecodeBarrierPayload(payload.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(DecodeBarrierPayload(payload + "x"));
  // Any byte may be any other: no crash.
  for (size_t at = 0; at < payload.size(); ++at) {
    for (const char other : {'\0', '\x7f', '\xff'}) {
      std::string damaged = payload;
      damaged[at] = other;
      static_cast<void>(DecodeBarrierPayload(damaged));
    }
  }
}

std::vector<std::string> StatementsOf(const durable::SchemaHistory& history) {
  std::vector<std::string> statements;
  for (const SchemaChangeRecord& change : history.changes()) statements.push_back(change.statement);
  return statements;
}

TEST(SchemaHistory, ForgetsWhatIsGone) {
  durable::SchemaHistory history;
  history.Add(Change("create k", "k", ""));
  history.Add(Change("create other", "other", ""));
  history.Add(Change("create k.t", "k", "t"));
  history.Add(Change("create other.t", "other", "t"));
  history.Add(Change("alter k.t", "k", "t"));
  history.Add(Change("create k.u", "k", "u"));
  history.Add(Change("", "k", "u"));
  history.Add(Change("drop k.t", "k", "t", /*drops=*/true));
  EXPECT_EQ(StatementsOf(history),
            (std::vector<std::string>{"create k", "create other", "create other.t", "create k.u"}));
  // A column of long ago may have had the type.
  SchemaChangeRecord type = Change("create type", "k", "");
  type.type = "ty";
  history.Add(type);
  type.drops = true;
  history.Add(type);
  EXPECT_EQ(StatementsOf(history).back(), "create type");
  history.Add(Change("drop k", "k", "", /*drops=*/true));
  EXPECT_EQ(StatementsOf(history), (std::vector<std::string>{"create other", "create other.t"}));
}

TEST(TableNumbers, FollowChangesByName) {
  Schema schema;
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  for (const auto& [name, number] : {std::pair<std::string, uint16_t>{"t", 5}, {"u", 6}}) {
    auto table = std::make_shared<TableDefinition>();
    table->storage.id = TableId{number, 0};
    keyspace->tables[name] = table;
  }
  schema.keyspaces["k"] = keyspace;
  durable::TableNumbers numbers;
  const NumberedTable tables[] = {{TableId{0, 1}, "k", "t"}, {TableId{1, 1}, "k", "u"}};
  numbers.Begin(tables);
  EXPECT_EQ(numbers.In(schema).Find(TableId{0, 1}), (TableId{5, 0}));
  EXPECT_EQ(numbers.In(schema).Find(TableId{0, 2}), std::nullopt);
  // Rebuilt: the number of before is of no table.
  SchemaChangeRecord alter = Change("alter", "k", "t");
  alter.numbered = {{TableId{2, 1}, "k", "t"}};
  numbers.Add(alter);
  EXPECT_EQ(numbers.In(schema).Find(TableId{0, 1}), std::nullopt);
  EXPECT_EQ(numbers.In(schema).Find(TableId{2, 1}), (TableId{5, 0}));
  numbers.Add(Change("drop", "k", "u", /*drops=*/true));
  EXPECT_EQ(numbers.In(schema).Find(TableId{1, 1}), std::nullopt);
  // Another start: nothing of before counts.
  numbers.Begin({});
  EXPECT_EQ(numbers.In(schema).Find(TableId{2, 1}), std::nullopt);
}

TEST(Definitions, ComeBackAsTheyWere) {
  Definitions definitions;
  definitions.changes = {Full(), Change("create", "k", "")};
  definitions.numbers = Full().numbered;
  durable::AppendClockEvent({{ServerClock::Mode::kManual, 1'000'000}, 17},
                            definitions.events.emplace_back());
  definitions.events.emplace_back("of another kind");
  definitions.last_run = 12;
  definitions.old_logs = {{3, 4096}, {7, 0}};
  const std::string bytes = durable::BytesOf(definitions);
  const auto read = durable::DefinitionsIn(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->changes, definitions.changes);
  EXPECT_EQ(read->numbers, definitions.numbers);
  EXPECT_EQ(read->events, definitions.events);
  EXPECT_EQ(read->last_run, definitions.last_run);
  EXPECT_EQ(read->old_logs, definitions.old_logs);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(durable::DefinitionsIn(bytes.substr(0, cut))) << cut;
  }
}

// Two events, either of which may be missing.
TEST(Definitions, OfTheFirstVersionAreRead) {
  std::string bytes(1, '\1');
  Put<uint32_t>(bytes, 0);  // changes
  Put<uint32_t>(bytes, 0);  // numbers
  PutText(bytes, "");
  PutText(bytes, "a clock");
  Put<uint32_t>(bytes, 3);  // the last run
  Put<uint32_t>(bytes, 0);  // old logs
  const auto read = durable::DefinitionsIn(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->events, std::vector<std::string>{"a clock"});
  EXPECT_EQ(read->last_run, 3u);
}

}  // namespace schema_records_test
}  // namespace liststore::testing
