#include "engine/instruments/data_table.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/model/schema.h"
#include "gtest/gtest.h"

namespace liststore {
namespace data_table_test {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'700'000'000 * kSecond;

// What is reset with the data, and when.
struct CountedPart final : instruments::Resettable {
  explicit CountedPart(std::string& order, char name) : order_of_calls(order), name_of_part(name) {}
  void Reset() override { order_of_calls += name_of_part; }
  std::string& order_of_calls;
  char name_of_part;
};

class DataTableTest : public ::testing::Test {
 protected:
  void MakeTable(const std::string& name) {
    TableSchema storage;
    storage.keyspace = "app";
    storage.name = name;
    storage.partition_key = {{"k", CqlType::kText}};
    storage.regular = {{"v", CqlType::kText}};
    storage.id = engine_.CreateTable(storage);
    TableDefinition table = DefinitionOf(storage);
    table.id = engine_.catalog().NewUuid();
    engine_.catalog().Change([&](Schema& schema) {
      shard::Catalog::PutTable(schema, std::make_shared<TableDefinition>(table));
      return true;
    });
  }
  TableId IdOf(const std::string& name) {
    return engine_.catalog().snapshot()->FindTable("app", name)->storage.id;
  }
  void Insert(const std::string& name, std::string_view key) {
    const CellUpdate cell{.value = "value"};
    RowUpdate row;
    row.marker = true;
    row.cells = std::span(&cell, 1);
    const Command command{IdOf(name), key, UpsertCommand{std::span(&row, 1)}};
    ASSERT_EQ(engine_.Execute(command, clock_.NowNanos()).status, OpStatus::kOk);
  }

  std::optional<std::string> Cell(std::string_view column) {
    const cql::NodeFacts node;
    const auto rows = table_.Rows({*engine_.catalog().snapshot(), node, {}, 0});
    EXPECT_EQ(rows.size(), 1u);
    const ColumnDefinition* found = table_.definition()->FindColumn(column);
    EXPECT_NE(found, nullptr) << column;
    return rows.at(0).at(static_cast<size_t>(found - table_.definition()->columns.data()));
  }
  std::string Act(std::string_view action) {
    const auto error = table_.Write({{"key", "data"}, {"action", std::string(action)}});
    return error ? error->message : "";
  }

  shard::Engine engine_{shard::EngineOptions{}};
  ServerClock clock_{kStart};
  std::vector<SchemaDifference> told_;
  instruments::DataTable table_{
      engine_,
      clock_,
      {.serves_list_store = false,
       .on_schema_change = [this](std::span<const SchemaDifference> differences) {
         told_.assign(differences.begin(), differences.end());
       }}};
};

TEST_F(DataTableTest, CountsWhatUsersHave) {
  EXPECT_EQ(table_.definition()->keyspace, "liststore");
  EXPECT_EQ(table_.definition()->name, "data");
  EXPECT_EQ(Cell("key"), "data");
  EXPECT_EQ(Cell("keyspaces"), cql::EncodeInt(0));
  EXPECT_EQ(Cell("rows"), cql::EncodeBigint(0));
  MakeTable("a");
  MakeTable("b");
  Insert("a", "1");
  Insert("b", "1");
  Insert("b", "2");
  EXPECT_EQ(Cell("keyspaces"), cql::EncodeInt(1));
  EXPECT_EQ(Cell("tables"), cql::EncodeInt(2));
  EXPECT_EQ(Cell("rows"), cql::EncodeBigint(3));
  EXPECT_GT(*Cell("bytes"), cql::EncodeBigint(0));
  EXPECT_EQ(Cell("action"), std::nullopt);
  EXPECT_EQ(Cell("baseline"), std::nullopt);
}

TEST_F(DataTableTest, MarksAndGoesBack) {
  MakeTable("a");
  Insert("a", "1");
  ASSERT_EQ(clock_.Advance(5 * kSecond), ServerClock::Change::kDone);
  EXPECT_EQ(Act("mark"), "");
  EXPECT_EQ(Cell("baseline"), cql::EncodeTimestamp(kStart + 5 * kSecond));
  Insert("a", "2");
  MakeTable("b");
  EXPECT_EQ(Cell("rows"), cql::EncodeBigint(2));
  EXPECT_EQ(Act("reset"), "");
  EXPECT_EQ(Cell("rows"), cql::EncodeBigint(1)) << "the copy is not counted";
  EXPECT_EQ(Cell("tables"), cql::EncodeInt(1));
  EXPECT_EQ(told_, (std::vector<SchemaDifference>{{SchemaDifference::Kind::kDropped, "app", "b"}}));
  EXPECT_EQ(Act("forget"), "");
  EXPECT_EQ(Cell("baseline"), std::nullopt);
  EXPECT_EQ(Cell("rows"), cql::EncodeBigint(1)) << "what is stored stays";
  EXPECT_EQ(Act("reset"), "");
  EXPECT_EQ(Cell("keyspaces"), cql::EncodeInt(0));
  EXPECT_EQ(told_, (std::vector<SchemaDifference>{{SchemaDifference::Kind::kDropped, "app", ""}}));
}

TEST_F(DataTableTest, AManualClockGoesBackWithTheData) {
  MakeTable("a");
  ASSERT_EQ(clock_.Advance(10 * kSecond), ServerClock::Change::kDone);
  EXPECT_EQ(Act("mark"), "");
  ASSERT_EQ(clock_.Advance(30 * 86'400 * kSecond), ServerClock::Change::kDone);
  EXPECT_EQ(Act("reset"), "");
  EXPECT_EQ(clock_.NowNanos(), kStart + 10 * kSecond);
  EXPECT_EQ(Act("forget"), "");
  EXPECT_EQ(clock_.NowNanos(), kStart + 10 * kSecond);
  EXPECT_EQ(Act("reset"), "");
  EXPECT_EQ(clock_.NowNanos(), kStart);
}

TEST_F(DataTableTest, TheClocksModeGoesBackWithTheData) {
  using Mode = ServerClock::Mode;
  const ManualClock machine(kStart), steady(0);
  ServerClock clock(machine, steady);
  instruments::DataTable table(engine_, clock, {});
  const auto act = [&](const char* action) {
    EXPECT_EQ(table.Write({{"key", "data"}, {"action", action}}), std::nullopt);
  };
  ASSERT_EQ(clock.SetMode({.mode = Mode::kManual}), ServerClock::Change::kDone);
  ASSERT_EQ(clock.Advance(30 * 86'400 * kSecond), ServerClock::Change::kDone);
  act("mark");
  ASSERT_EQ(clock.SetMode({.mode = Mode::kScaled, .factor_millionths = 60'000'000}),
            ServerClock::Change::kDone);
  act("reset");
  EXPECT_EQ(clock.mode(), Mode::kManual) << "as at the mark";
  EXPECT_EQ(clock.NowNanos(), kStart + 30 * 86'400 * kSecond);
  act("forget");
  EXPECT_EQ(clock.mode(), Mode::kManual);
  act("reset");
  EXPECT_EQ(clock.mode(), Mode::kReal) << "as at the start, though it was ahead of the machine";
  EXPECT_EQ(clock.NowNanos(), kStart);
}

TEST_F(DataTableTest, ARealClockGoesOn) {
  ManualClock machine(kStart);
  ServerClock clock(machine);
  instruments::DataTable table(engine_, clock, {});
  EXPECT_EQ(table.Write({{"key", "data"}, {"action", "mark"}}), std::nullopt);
  machine.AdvanceSeconds(100);
  EXPECT_EQ(table.Write({{"key", "data"}, {"action", "reset"}}), std::nullopt);
  EXPECT_EQ(clock.NowNanos(), kStart + 100 * kSecond);
}

TEST_F(DataTableTest, OtherPartsAreResetInTheirOrder) {
  std::string order;
  CountedPart first(order, '1');
  CountedPart second(order, '2');
  table_.AddResettable(first);
  table_.AddResettable(second);
  EXPECT_EQ(Act("mark"), "");
  EXPECT_EQ(Act("forget"), "");
  EXPECT_EQ(Act("remember").empty(), false);
  EXPECT_EQ(order, "");
  EXPECT_EQ(Act("reset"), "");
  EXPECT_EQ(Act("reset"), "");
  EXPECT_EQ(order, "1212");
}

struct RefusedCase {
  const char* name;
  cql::VirtualTable::Values values;
  const char* error;
};

TEST_F(DataTableTest, RefusesByName) {
  const RefusedCase kCases[] = {
      {"an unknown action",
       {{"key", "data"}, {"action", "erase"}},
       "liststore.data: there is no action 'erase', only 'mark', 'reset' and 'forget'"},
      {"null",
       {{"key", "data"}, {"action", std::nullopt}},
       "liststore.data: action cannot be null"},
      {"nothing at all",
       {{"key", "data"}},
       "liststore.data: set the action: 'mark', 'reset' or 'forget'"},
      {"another key",
       {{"key", "other"}, {"action", "reset"}},
       "liststore.data: the only key is 'data'"},
      {"a figure",
       {{"key", "data"}, {"action", "reset"}, {"rows", cql::EncodeBigint(0)}},
       "liststore.data: rows is counted, and cannot be written"},
  };
  MakeTable("a");
  Insert("a", "1");
  for (const RefusedCase& refused : kCases) {
    SCOPED_TRACE(refused.name);
    EXPECT_EQ(table_.Write(refused.values), cql::CqlError::Invalid(refused.error));
    EXPECT_EQ(Cell("rows"), cql::EncodeBigint(1));
  }
}

// Who writes down what was done, or cannot.
struct FakeJournal final : shard::BaselineJournal {
  OpStatus Mark(Act mark) override { return Run("mark ", mark); }
  OpStatus Return(std::vector<NumberedTable> tables, Act go_back) override {
    names.clear();
    for (const NumberedTable& table : tables) names += table.keyspace + "." + table.table + " ";
    return Run("return ", go_back);
  }
  std::string Refusal() const override { return "nothing was changed: the disk is full"; }
  void Forget() override { calls += "forget "; }

  OpStatus Run(const std::string& name, Act act) {
    if (refuses) return OpStatus::kNotKept;
    return act([&](std::span<const TableId> tables) {
      ids.assign(tables.begin(), tables.end());
      calls += name;
    });
  }
  bool refuses = false;
  std::string calls;
  std::string names;
  std::vector<TableId> ids;
};

TEST_F(DataTableTest, WhatIsDoneIsWrittenDownAtItsInstant) {
  FakeJournal journal;
  {
    instruments::DataTable table(engine_, clock_, {.journal = &journal, .on_schema_change = {}});
    const auto act = [&](std::string_view action) {
      const auto error = table.Write({{"key", "data"}, {"action", std::string(action)}});
      return error ? error->message : "";
    };
    MakeTable("a");
    MakeTable("b");
    EXPECT_EQ(act("mark"), "");
    Insert("a", "1");
    journal.refuses = true;
    for (const std::string action : {"mark", "reset"}) {
      EXPECT_EQ(act(action), "liststore.data: '" + action +
                                 "' was refused, and nothing was changed: the disk is full");
    }
    EXPECT_EQ(Cell("rows"), cql::EncodeBigint(1));
    journal.refuses = false;
    EXPECT_EQ(act("reset"), "");
    EXPECT_EQ(Cell("rows"), cql::EncodeBigint(0));
    EXPECT_EQ(journal.names, "app.a app.b ");
    EXPECT_EQ(journal.ids, (std::vector<TableId>{IdOf("a"), IdOf("b")}));
    EXPECT_EQ(act("forget"), "");
    EXPECT_EQ(journal.calls, "mark return forget ");
  }
  instruments::DataTable table(
      engine_, clock_,
      {.journal = &journal, .keeps_what_it_began_with = true, .on_schema_change = {}});
  const auto refused = table.Write({{"key", "data"}, {"action", "reset"}});
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("no mark to go back to"), std::string::npos);
}

TEST_F(DataTableTest, ServersOfAListStoreAreLeftAlone) {
  instruments::DataTable table(engine_, clock_,
                               {.serves_list_store = true, .on_schema_change = {}});
  for (const std::string action : {"mark", "reset", "forget"}) {
    EXPECT_EQ(
        table.Write({{"key", "data"}, {"action", action}}),
        cql::CqlError::Invalid("liststore.data: '" + action +
                               "' is not for a server of a list store, whose data belongs to the "
                               "program"));
  }
}

// Neither takes memory, and what is written in between that finds none is refused.
TEST(DataTableMemoryTest, MarksAndResetsGoOnAtTheLimit) {
  shard::EngineOptions options;
  options.lanes_per_shard_log2 = 0;
  options.memory_limit_bytes = 4 << 20;
  shard::Engine engine(options);
  ServerClock clock(kStart);
  instruments::DataTable table(engine, clock, {});
  TableSchema storage;
  storage.keyspace = "app";
  storage.name = "a";
  storage.partition_key = {{"k", CqlType::kText}};
  storage.regular = {{"v", CqlType::kText}};
  storage.id = engine.CreateTable(storage);
  engine.catalog().Change([&](Schema& schema) {
    shard::Catalog::PutTable(schema, std::make_shared<TableDefinition>(DefinitionOf(storage)));
    return true;
  });
  const auto write = [&](int key_number, size_t bytes) {
    const std::string value(bytes, 'v');
    const CellUpdate cell{.value = value};
    RowUpdate row;
    row.marker = true;
    row.cells = std::span(&cell, 1);
    const std::string key = std::to_string(key_number);
    return engine.Execute({storage.id, key, UpsertCommand{std::span(&row, 1)}}, kStart).status;
  };
  const auto act = [&](const char* action) {
    EXPECT_EQ(table.Write({{"key", "data"}, {"action", action}}), std::nullopt);
  };
  int rows = 0;
  while (write(rows, 20'000) == OpStatus::kOk) ++rows;
  const auto count = [&] { return static_cast<int>(engine.StatsOf(storage.id).rows); };
  for (int round = 0; round < 3; ++round) {
    act("mark");
    int written = 0;
    while (written < rows && write(written, 10'000) == OpStatus::kOk) ++written;
    EXPECT_LT(written, rows) << "what is kept counts";
    EXPECT_TRUE(engine.memory_refusal().Text().find("the mark of liststore.data") !=
                std::string::npos);
    engine.Verify();
    act("reset");
    EXPECT_EQ(count(), rows);
    engine.Verify();
  }
  act("forget");
  EXPECT_EQ(count(), rows);
  EXPECT_EQ(engine.memory_refusal().Text(), "the memory limit of 4194304 bytes is reached");
}

}  // namespace data_table_test
}  // namespace liststore
