// How tables of an engine end, are used again and are replaced; batches by rule; schema actions.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/shard/engine.h"
#include "engine/shard/engine_groups.h"
#include "engine/shard/run_schema_actions.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/collecting_sink.h"

namespace liststore::testing {
namespace engine_tables_test {

shard::EngineOptions SmallOptions() {
  shard::EngineOptions options;
  options.lanes_per_shard_log2 = 2;
  return options;
}

ClusteringKeyView ViewOf(const PackedItemKey& key) { return {{key.data(), key.size()}, true}; }

void Fill(shard::Engine& engine, TableId table, int lists, int items = 5) {
  for (int i = 0; i < lists; ++i) {
    Items content;
    for (int n = 0; n < items; ++n) content[static_cast<uint64_t>(n)] = std::string(20, 'v');
    ASSERT_EQ(
        AddItems(engine, table, ListKey("feature", std::to_string(i)), content, kNoonNanos).status,
        OpStatus::kOk);
  }
}

// Sorted.
std::vector<std::string> ValuesOf(const KeptCells& kept) {
  std::vector<std::string> values;
  for (const auto& part : kept.parts) {
    for (const KeptCell& cell : part->cells) values.push_back(cell.value);
  }
  std::ranges::sort(values);
  return values;
}

// --- DropTable

TEST(EngineDropTest, AnIdOfThePastIsGoneForEveryOperation) {
  shard::Engine engine(SmallOptions());
  const TableId table = engine.CreateTable(ListItemsSchema());
  Fill(engine, table, 10);
  ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  const std::string key = ListKey("feature", "1");
  EXPECT_EQ(AddItem(engine, table, key, 1, "v", kNoonNanos).status, OpStatus::kTableGone);
  EXPECT_EQ(RemoveList(engine, table, key, kNoonNanos).status, OpStatus::kTableGone);
  EXPECT_EQ(engine.DropTable(table), OpStatus::kTableGone);
  EXPECT_EQ(engine.TruncateTable(table), OpStatus::kTableGone);
  EXPECT_EQ(engine.TruncateFirstComponent(table, "feature"), OpStatus::kTableGone);
  EXPECT_EQ(engine.SetGrace(table, 1), OpStatus::kTableGone);
  TableId id;
  EXPECT_EQ(engine.RebuildTable(table, ListItemsSchema(), ColumnMap::Same(ListItemsSchema()),
                                kNoonNanos, id),
            OpStatus::kTableGone);
  EXPECT_EQ(engine.StatsOf(table).rows, 0u);
  shard::ScanPosition position;
  std::vector<std::string> keys;
  EXPECT_EQ(engine.ScanPartitions(table, std::nullopt, 10, kNoonNanos, position, keys),
            OpStatus::kTableGone);
  ItemUpserts upserts(table);
  upserts.Add(key, {{1, "v"}}, kNoonNanos);
  std::vector<Reply> replies(1);
  EXPECT_EQ(engine.ExecuteBatch(upserts.commands(), kNoonNanos, replies), OpStatus::kTableGone);
  engine.ExecuteGroup(upserts.commands(), kNoonNanos, replies);
  EXPECT_EQ(replies[0].status, OpStatus::kTableGone);
  CollectingSink sink(true, true, true);
  GroupOfReads reads{{{key, &sink}}};
  EXPECT_FALSE(engine.ReadGroup(table, {}, kNoonNanos, reads));
}

// What was found out about a command beforehand holds for its table alone.
TEST(EngineDropTest, ACommandWhosePlaceWasForeseenFindsItsTableGone) {
  shard::Engine engine(SmallOptions());
  const TableId table = engine.CreateTable(ListItemsSchema());
  Fill(engine, table, 10);
  const std::string key = ListKey("feature", "1");
  ItemUpserts upserts(table);
  upserts.Add(key, {{7, "foreseen"}}, kNoonNanos);
  const Command& command = upserts.commands()[0];
  const shard::Engine::Destination to = engine.Foresee(table, key);
  engine.FetchForWrite(table, to);
  const uint64_t before = CountItems(engine, table, key, kNoonNanos);
  EXPECT_EQ(engine.Execute(command, to, kNoonNanos).status, OpStatus::kOk);
  EXPECT_EQ(CountItems(engine, table, key, kNoonNanos), before + 1);

  ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  engine.FetchForWrite(table, to);
  EXPECT_EQ(engine.Execute(command, to, kNoonNanos).status, OpStatus::kTableGone);
  const TableId next = engine.CreateTable(ListItemsSchema());
  ASSERT_EQ(next.value, table.value) << "the shell is used again";
  engine.FetchForWrite(table, to);
  EXPECT_EQ(engine.Execute(command, to, kNoonNanos).status, OpStatus::kTableGone);
  EXPECT_EQ(CountItems(engine, next, key, kNoonNanos), 0u);
  EXPECT_EQ(engine.Foresee(next, key).address, to.address) << "a place is of the key alone";
}

TEST(EngineDropTest, TheNextTableUsesTheShellUnderAnotherId) {
  shard::Engine engine(SmallOptions());
  const TableId table = engine.CreateTable(ListItemsSchema());
  Fill(engine, table, 10);
  ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  const TableId next = engine.CreateTable(ListItemsSchema());
  EXPECT_EQ(next.value, table.value);
  EXPECT_NE(next, table);
  EXPECT_EQ(CountItems(engine, next, ListKey("feature", "1"), kNoonNanos), 0u);
  EXPECT_EQ(AddItem(engine, table, ListKey("feature", "1"), 1, "v", kNoonNanos).status,
            OpStatus::kTableGone);
  Fill(engine, next, 10);
  EXPECT_EQ(ScanAll(engine, next, kNoonNanos).size(), 10u);
  engine.Verify();
}

TEST(EngineDropTest, TheMemoryOfALargeTableComesBackInSlices) {
  shard::Engine engine(SmallOptions());
  const TableId table = engine.CreateTable(ListItemsSchema());
  Fill(engine, table, 20'000, 3);
  const uint64_t held = engine.held_bytes();
  ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  EXPECT_GT(engine.held_bytes(), held / 2) << "only a slice of it was done";
  ReclaimAll(engine, kNoonNanos);
  EXPECT_EQ(engine.held_bytes(), 0u);
  EXPECT_EQ(engine.CreateTable(ListItemsSchema()).value, table.value);
}

TEST(EngineDropTest, TenThousandTablesInALifeStayBounded) {
  shard::Engine engine(SmallOptions());
  uint16_t highest = 0;
  for (int i = 0; i < 10'000; ++i) {
    const TableId table = engine.CreateTable(ListItemsSchema());
    highest = std::max(highest, table.value);
    AddItem(engine, table, ListKey("feature", "1"), 1, "v", kNoonNanos, i % 3 * 100);
    if (i % 5 == 0) Fill(engine, table, 4, 200);
    ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  }
  EXPECT_LT(highest, 10u);
  ReclaimAll(engine, kNoonNanos);
  EXPECT_EQ(engine.held_bytes(), 0u);
}

// Nobody reclaims, and every table leaves more than a drop does at once.
TEST(EngineDropTest, WhoCreatesTablesHelpsToEmptyThoseThatWait) {
  shard::Engine engine(SmallOptions());
  uint16_t highest = 0;
  for (int i = 0; i < 150; ++i) {
    const TableId table = engine.CreateTable(ListItemsSchema());
    highest = std::max(highest, table.value);
    Fill(engine, table, 1'500, 1);
    ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  }
  EXPECT_LT(highest, 70u);
  engine.Verify();
}

// --- RebuildTable

TEST(EngineRebuildTest, CopiesMarkersAndCellsUnderTheirOwnTimesAndRenumbersColumns) {
  shard::Engine engine(SmallOptions());
  TableSchema schema = ListItemsSchema();
  schema.regular = {{"a", CqlType::kText}, {"b", CqlType::kText}, {"c", CqlType::kText}};
  schema.indexes.clear();
  const TableId table = engine.CreateTable(schema);
  const std::string partition = ListKey("f", "e");
  const auto write = [&](uint64_t number, bool marker, std::vector<CellUpdate> cells,
                         int64_t micros, int64_t ttl) {
    const PackedItemKey packed = ItemNumber(number);
    RowUpdate row;
    row.key = ViewOf(packed);
    row.marker = marker;
    row.ttl_seconds = ttl;
    row.expiry_seconds = ttl == 0 ? kNoExpiry : 1'700'000'000 + ttl;
    row.cells = cells;
    Command command{table, partition, UpsertCommand{std::span(&row, 1)}, {micros}};
    ASSERT_EQ(engine.Execute(command, kNoonNanos).status, OpStatus::kOk);
  };
  write(1, true, {{.column = 0, .value = "a1"}, {.column = 2, .value = "c1"}}, 100, 0);
  write(1, false, {{.column = 1, .value = "b1"}}, 200, 50);
  write(2, false, {{.column = 1, .value = "only b"}}, 300, 0);
  write(3, true, {}, 400, 0);

  schema.regular = {{"aa", CqlType::kText}, {"c", CqlType::kText}};  // a and b go, aa comes
  schema.indexes = {{"by_c", 1}};
  TableId rebuilt;
  ASSERT_EQ(engine.RebuildTable(table, schema, {{std::nullopt, std::nullopt, ColumnId{1}}, {}},
                                kNoonNanos, rebuilt),
            OpStatus::kOk);
  CollectingSink sink(true, true, false);
  const ReadSpec everything = {};
  const ReadCommand read = {&everything, &sink};
  engine.Execute({rebuilt, partition, read, WriteTimestamp::None()}, kNoonNanos);
  ASSERT_EQ(sink.rows().size(), 2u) << "a row of dropped cells alone is no row";
  EXPECT_EQ(sink.rows()[0].marker, (Liveness{{400}, kNoExpiry, 0}));
  EXPECT_TRUE(sink.rows()[0].cells.empty());
  EXPECT_EQ(sink.rows()[1].marker, (Liveness{{100}, kNoExpiry, 0}));
  ASSERT_EQ(sink.rows()[1].cells.size(), 1u);
  EXPECT_EQ(sink.rows()[1].cells[0], (CollectedCell{1, {{100}, kNoExpiry, 0}, "c1"}));
  engine.Verify();
}

TEST(EngineRebuildTest, ADeletionStillHidesOlderWritesAfterwards) {
  shard::Engine engine(SmallOptions());
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string key = ListKey("f", "e");
  AddItem(engine, table, key, 1, "v", kNoonNanos, 0, {1'000});
  RemoveItem(engine, table, key, 1, kNoonNanos, {2'000});
  TableId rebuilt;
  ASSERT_EQ(engine.RebuildTable(table, ListItemsSchema(), ColumnMap::Same(ListItemsSchema()),
                                kNoonNanos, rebuilt),
            OpStatus::kOk);
  AddItem(engine, rebuilt, key, 1, "late", kNoonNanos, 0, {1'500});
  EXPECT_EQ(CountItems(engine, rebuilt, key, kNoonNanos), 0u);
  AddItem(engine, rebuilt, key, 1, "new", kNoonNanos, 0, {2'500});
  EXPECT_EQ(CountItems(engine, rebuilt, key, kNoonNanos), 1u);
}

// One partition of many rows, which is copied in slices, too.
TEST(EngineRebuildTest, OthersReadAndWriteBetweenItsSlices) {
  constexpr uint64_t kRows = 3000;
  shard::EngineOptions options = SmallOptions();
  options.copied_rows_per_hold = 64;
  shard::Engine engine(options);
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string key = ListKey("f", "e");
  for (uint64_t i = 0; i < kRows; ++i) AddItem(engine, table, key, i, "v", kNoonNanos);
  shard::TableRebuild rebuild{table, ListItemsSchema(), ColumnMap::Same(ListItemsSchema())};
  uint64_t slices = 0;
  ASSERT_EQ(engine.RebuildTables(
                {&rebuild, 1}, kNoonNanos,
                [&] {
                  // Of rows that were copied and of others, there before and not.
                  EXPECT_EQ(AddItem(engine, table, key, kRows + slices, "new", kNoonNanos).status,
                            OpStatus::kOk);
                  EXPECT_EQ(RemoveItem(engine, table, key, slices * 31, kNoonNanos).status,
                            OpStatus::kOk);
                  EXPECT_EQ(
                      AddItem(engine, table, key, slices * 37 + 1, "other", kNoonNanos).status,
                      OpStatus::kOk);
                  ++slices;
                }),
            OpStatus::kOk);
  EXPECT_GE(slices, kRows / 64);
  EXPECT_EQ(AddItem(engine, table, key, 1, "v", kNoonNanos).status, OpStatus::kTableGone);
  const TableId after = rebuild.schema.id;
  std::map<uint64_t, std::string> expected;
  for (uint64_t i = 0; i < kRows; ++i) expected[i] = "v";
  for (uint64_t i = 0; i < slices; ++i) {
    expected[kRows + i] = "new";
    expected.erase(i * 31);
    expected[i * 37 + 1] = "other";
  }
  EXPECT_EQ(CountItems(engine, after, key, kNoonNanos), expected.size());
  engine.Verify();
}

TEST(EngineRebuildTest, IsRefusedForWhatIsWrittenMeanwhileAndTheWriteStands) {
  shard::EngineOptions options = SmallOptions();
  options.memory_limit_bytes = 6 << 20;
  options.copied_rows_per_hold = 16;
  shard::Engine engine(options);
  const TableId table = engine.CreateTable(ListItemsSchema());
  Fill(engine, table, 500);
  shard::TableRebuild rebuild{table, ListItemsSchema(), ColumnMap::Same(ListItemsSchema())};
  uint64_t written = 0;
  EXPECT_EQ(engine.RebuildTables({&rebuild, 1}, kNoonNanos,
                                 [&] {
                                   for (int i = 0; i < 100; ++i) {
                                     const Reply reply = AddItem(
                                         engine, table, ListKey("new", std::to_string(written)), 1,
                                         std::string(1000, 'n'), kNoonNanos);
                                     if (reply.status == OpStatus::kOk) ++written;
                                   }
                                 }),
            OpStatus::kOutOfMemory);
  uint64_t found = 0;
  for (uint64_t i = 0; i < written; ++i) {
    found += CountItems(engine, table, ListKey("new", std::to_string(i)), kNoonNanos);
  }
  EXPECT_GT(written, 0u);
  EXPECT_EQ(found, written);
  ReclaimAll(engine, kNoonNanos);
  engine.Verify();
}

// A cell of a column that goes, written meanwhile with a later timestamp than that of the drop.
TEST(EngineRebuildTest, KeepsCellsThatAreWrittenMeanwhile) {
  shard::EngineOptions options;
  options.lanes_per_shard_log2 = 0;
  options.copied_rows_per_hold = 1;
  shard::Engine engine(options);
  TableSchema schema = ListItemsSchema();
  schema.regular = {{"a", CqlType::kText}, {"b", CqlType::kText}};
  schema.indexes.clear();
  const TableId table = engine.CreateTable(schema);
  const std::string partition = ListKey("f", "e");
  const auto write = [&](uint64_t number, std::string_view a, int64_t micros) {
    const PackedItemKey packed = ItemNumber(number);
    const std::vector<CellUpdate> cells = {{.column = 0, .value = a}, {.column = 1, .value = "b"}};
    RowUpdate row;
    row.key = ViewOf(packed);
    row.cells = cells;
    const Command command{table, partition, UpsertCommand{std::span(&row, 1)}, {micros}};
    ASSERT_EQ(engine.Execute(command, kNoonNanos).status, OpStatus::kOk);
  };
  for (uint64_t i = 0; i < 5; ++i) write(i, "before", 100);
  write(3, "copied", 1500);
  TableSchema after = schema;
  after.regular = {{"b", CqlType::kText}};
  const std::vector<ColumnToKeep> keeps = {{.name = "a", .column = 0, .after_micros = 1000}};
  shard::TableRebuild rebuild{table, after, {{std::nullopt, ColumnId{0}}, {}}, keeps};
  int slices = 0;
  ASSERT_EQ(engine.RebuildTables({&rebuild, 1}, kNoonNanos,
                                 [&] {
                                   if (++slices != 4) return;
                                   for (uint64_t i = 0; i < 3; ++i) write(i, "late", 2000);
                                   write(4, "early", 900);
                                 }),
            OpStatus::kOk);
  EXPECT_GT(slices, 4) << "some are copied by then, some later";
  ASSERT_EQ(rebuild.kept.size(), 1u);
  EXPECT_EQ(ValuesOf(rebuild.kept[0]),
            (std::vector<std::string>{"copied", "late", "late", "late"}));
}

// A table of two columns, of which `a` goes as of a time before all writes.
class KeptCellsTest : public ::testing::Test {
 protected:
  void Start(uint64_t memory_limit_bytes = uint64_t{1} << 30) {
    shard::EngineOptions options;
    options.lanes_per_shard_log2 = 1;
    options.copied_rows_per_hold = 16;
    options.memory_limit_bytes = memory_limit_bytes;
    engine_ = std::make_unique<shard::Engine>(options);
    schema_ = ListItemsSchema();
    schema_.regular = {{"a", CqlType::kText}, {"b", CqlType::kText}};
    schema_.indexes.clear();
    table_ = engine_->CreateTable(schema_);
  }
  OpStatus Write(int partition, uint64_t number, std::string_view a) {
    const std::string key = ListKey("f", std::to_string(partition));
    const PackedItemKey packed = ItemNumber(number);
    const std::vector<CellUpdate> cells = {{.column = 0, .value = a}, {.column = 1, .value = "b"}};
    RowUpdate row;
    row.key = ViewOf(packed);
    row.cells = cells;
    return engine_
        ->Execute({table_, key, UpsertCommand{std::span(&row, 1)}, {++micros_}}, kNoonNanos)
        .status;
  }
  OpStatus DropA(absl::FunctionRef<void()> between_slices = [] {}) {
    TableSchema after = schema_;
    after.regular = {{"b", CqlType::kText}};
    rebuild_ = {table_, after, {{std::nullopt, ColumnId{0}}, {}}, keeps_};
    const OpStatus status = engine_->RebuildTables({&rebuild_, 1}, kNoonNanos, between_slices);
    if (status == OpStatus::kOk) table_ = rebuild_.schema.id;
    return status;
  }

  std::unique_ptr<shard::Engine> engine_;
  TableSchema schema_;
  TableId table_;
  int64_t micros_ = 1000;
  const std::vector<ColumnToKeep> keeps_ = {{.name = "a", .column = 0, .after_micros = 1}};
  shard::TableRebuild rebuild_;
};

TEST_F(KeptCellsTest, AreOfEachPlaceTheOneThatWins) {
  Start();
  constexpr uint64_t kRows = 200;
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_EQ(Write(1, i, "before"), OpStatus::kOk);
  int writes = 0;
  ASSERT_EQ(DropA([&] {
              for (uint64_t i = 0; i < kRows; ++i, ++writes) {
                ASSERT_EQ(Write(1, i, "write " + std::to_string(writes)), OpStatus::kOk);
              }
            }),
            OpStatus::kOk);
  const std::vector<std::string> values = ValuesOf(rebuild_.kept[0]);
  EXPECT_GT(writes, 5 * static_cast<int>(kRows));
  EXPECT_EQ(values.size(), kRows);
  const auto last = std::ranges::count_if(values, [&](const std::string& value) {
    return std::stoi(value.substr(value.find(' '))) >= writes - static_cast<int>(kRows);
  });
  EXPECT_EQ(static_cast<uint64_t>(last), kRows);
}

TEST_F(KeptCellsTest, CountAgainstTheLimitAsLongAsTheyAre) {
  Start();
  constexpr uint64_t kRows = 500;
  const std::string value(1000, 'v');
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_EQ(Write(1, i, value), OpStatus::kOk);
  ASSERT_EQ(DropA(), OpStatus::kOk);
  ReclaimAll(*engine_, kNoonNanos);
  EXPECT_GT(engine_->held_bytes(), kRows * value.size());
  // A snapshot of the schema may have them longer than anybody else.
  std::vector<KeptCells> elsewhere = std::move(rebuild_.kept);
  ASSERT_EQ(elsewhere.size(), 1u);
  const uint64_t held = engine_->held_bytes();
  elsewhere.clear();
  EXPECT_LT(engine_->held_bytes(), held - kRows * value.size());
  ASSERT_EQ(engine_->DropTable(table_), OpStatus::kOk);
  ReclaimAll(*engine_, kNoonNanos);
  EXPECT_EQ(engine_->held_bytes(), 0u);
}

TEST_F(KeptCellsTest, MayOutliveTheEngine) {
  Start();
  ASSERT_EQ(Write(1, 1, std::string(1000, 'v')), OpStatus::kOk);
  ASSERT_EQ(DropA(), OpStatus::kOk);
  engine_.reset();
  EXPECT_EQ(ValuesOf(rebuild_.kept[0]).size(), 1u);
}

TEST_F(KeptCellsTest, ThatDoNotFitRefuseTheChangeAndTheWritesStand) {
  constexpr uint64_t kLimitBytes = 6 << 20;
  Start(kLimitBytes);
  for (uint64_t i = 0; i < 300; ++i) ASSERT_EQ(Write(1, i, "before"), OpStatus::kOk);
  uint64_t written = 0;
  EXPECT_EQ(DropA([&] {
              // Both the row and what is kept of it take memory.
              for (int i = 0; i < 200; ++i) {
                if (Write(2, written, std::string(1000, 'v')) == OpStatus::kOk) ++written;
              }
              EXPECT_LE(engine_->held_bytes(), kLimitBytes);
            }),
            OpStatus::kOutOfMemory);
  EXPECT_GT(written, 0u);
  EXPECT_EQ(CountItems(*engine_, table_, ListKey("f", "2"), kNoonNanos), written);
  ReclaimAll(*engine_, kNoonNanos);
  ASSERT_EQ(engine_->DropTable(table_), OpStatus::kOk);
  ReclaimAll(*engine_, kNoonNanos);
  EXPECT_EQ(engine_->held_bytes(), 0u) << "nothing is left of what was kept";
}

TEST(EngineRebuildTest, WithoutMemoryForBothTablesNothingHasChanged) {
  shard::EngineOptions options = SmallOptions();
  options.memory_limit_bytes = 4 << 20;
  shard::Engine engine(options);
  const TableId table = engine.CreateTable(ListItemsSchema());
  for (int i = 0;; ++i) {
    const Reply reply = AddItem(engine, table, ListKey("f", std::to_string(i % 500)),
                                static_cast<uint64_t>(i), std::string(100, 'v'), kNoonNanos);
    if (reply.status != OpStatus::kOk || engine.held_bytes() > (3 << 20)) break;
  }
  const auto before = Contents(engine, table, kNoonNanos);
  TableId rebuilt;
  EXPECT_EQ(engine.RebuildTable(table, ListItemsSchema(), ColumnMap::Same(ListItemsSchema()),
                                kNoonNanos, rebuilt),
            OpStatus::kOutOfMemory);
  EXPECT_EQ(Contents(engine, table, kNoonNanos), before);
  EXPECT_LE(engine.held_bytes(), options.memory_limit_bytes);
  ReclaimAll(engine, kNoonNanos);
  engine.Verify();
  EXPECT_EQ(AddItem(engine, table, ListKey("f", "1"), 1, "v", kNoonNanos).status, OpStatus::kOk);
}

// --- ExecuteBatch

// The one row of partition "f", "e" after a batch of one upsert and what `others` adds.
class BatchRules : public ::testing::Test {
 protected:
  BatchRules() : engine_(SmallOptions()), table_(engine_.CreateTable(ListItemsSchema())) {}

  Command Upsert(CellUpdate cell, WriteTimestamp timestamp = WriteTimestamp::None()) {
    cells_.push_back(std::make_unique<CellUpdate>(cell));
    auto row = std::make_unique<RowUpdate>();
    row->key = ViewOf(item_);
    row->cells = std::span(cells_.back().get(), 1);
    rows_.push_back(std::move(row));
    return {table_, key_, UpsertCommand{std::span(rows_.back().get(), 1)}, timestamp};
  }
  Command DeletePartition(WriteTimestamp timestamp = WriteTimestamp::None()) {
    return {table_, key_, DeletePartitionCommand{}, timestamp};
  }
  Command DeleteRow(WriteTimestamp timestamp = WriteTimestamp::None()) {
    return {table_, key_, DeleteRowsCommand{std::span(&item_key_, 1)}, timestamp};
  }
  std::vector<Reply> Run(const std::vector<Command>& commands) {
    std::vector<Reply> replies(commands.size());
    EXPECT_EQ(engine_.ExecuteBatch(commands, kNoonNanos, replies), OpStatus::kOk);
    engine_.Verify();
    return replies;
  }
  std::vector<CollectedRow> Rows() {
    CollectingSink sink(true, true, false);
    const ReadSpec everything = {};
    const ReadCommand read = {&everything, &sink};
    engine_.Execute({table_, key_, read, WriteTimestamp::None()}, kNoonNanos);
    return sink.rows();
  }

  shard::Engine engine_;
  TableId table_;
  const std::string key_ = ListKey("f", "e");
  const PackedItemKey item_ = ItemNumber(1);
  const ClusteringKeyView item_key_ = ViewOf(item_);
  std::vector<std::unique_ptr<CellUpdate>> cells_;
  std::vector<std::unique_ptr<RowUpdate>> rows_;
};

TEST_F(BatchRules, ADeletionWinsOverAnUpsertOfTheSameTimestampWhateverTheirOrder) {
  for (const WriteTimestamp timestamp : {WriteTimestamp::None(), WriteTimestamp{5'000}}) {
    Run({DeletePartition(timestamp), Upsert({.value = "v"}, timestamp)});
    EXPECT_TRUE(Rows().empty());
    Run({Upsert({.value = "v"}, timestamp), DeleteRow(timestamp)});
    EXPECT_TRUE(Rows().empty());
  }
}

TEST_F(BatchRules, AnOlderDeletionLeavesTheUpsert) {
  Run({Upsert({.value = "v"}, {6'000}), DeletePartition({5'000}), DeleteRow({5'999})});
  EXPECT_EQ(Rows().size(), 1u);
}

TEST_F(BatchRules, NullWinsOverAValueOfTheSameTimestampWhateverTheirOrder) {
  Run({Upsert({.live = false}), Upsert({.value = "v"})});
  ASSERT_EQ(Rows().size(), 1u);
  EXPECT_TRUE(Rows()[0].cells.empty());
  Run({Upsert({.value = "v"}), Upsert({.live = false})});
  EXPECT_TRUE(Rows()[0].cells.empty());
}

TEST_F(BatchRules, CommandsWithoutATimestampShareOneAndOthersKeepTheirs) {
  const auto replies =
      Run({Upsert({.value = "v"}), Upsert({.value = "w"}, {7}), DeleteRow({6}), DeletePartition()});
  EXPECT_EQ(replies[0].timestamp, replies[3].timestamp);
  EXPECT_EQ(replies[1].timestamp.micros, 7);
  EXPECT_EQ(replies[2].timestamp.micros, 6);
}

// --- Schema actions

std::shared_ptr<const TableDefinition> ItemsDefinition(const char* name) {
  TableSchema schema = ListItemsSchema();
  schema.keyspace = "ks";
  schema.name = name;
  schema.indexes.clear();
  return std::make_shared<TableDefinition>(DefinitionOf(schema));
}

TEST(SchemaActionsTest, CreateRebuildAndDropNumberTheTablesOfTheNextSchema) {
  shard::Engine engine(SmallOptions());
  Schema before;
  Schema after;
  shard::Catalog::PutTable(after, ItemsDefinition("t"));
  using Kind = SchemaAction::Kind;
  const SchemaAction create{Kind::kCreateTable, "ks", "t", {}};
  ASSERT_EQ(shard::RunSchemaActions(engine, before, {&create, 1}, kNoonNanos, after),
            OpStatus::kOk);
  const TableId first = after.FindTable("ks", "t")->storage.id;
  Fill(engine, first, 10);

  before = after;
  TableDefinition indexed = *before.FindTable("ks", "t");
  indexed.indexes.push_back({"by_value", indexed.storage.regular[0].name, true});
  CompleteTable(indexed);
  shard::Catalog::PutTable(after, std::make_shared<TableDefinition>(indexed));
  const SchemaAction rebuild{Kind::kRebuildTable, "ks", "t", {{ColumnId{0}}, {}}};
  ASSERT_EQ(shard::RunSchemaActions(engine, before, {&rebuild, 1}, kNoonNanos, after),
            OpStatus::kOk);
  const TableId second = after.FindTable("ks", "t")->storage.id;
  EXPECT_NE(second, first);
  EXPECT_EQ(before.FindTable("ks", "t")->storage.id, first) << "snapshots do not change";
  EXPECT_EQ(ScanAll(engine, second, kNoonNanos).size(), 10u);

  const SchemaAction truncate{Kind::kTruncateTable, "ks", "t", {}};
  ASSERT_EQ(shard::RunSchemaActions(engine, after, {&truncate, 1}, kNoonNanos, after),
            OpStatus::kOk);
  EXPECT_TRUE(ScanAll(engine, second, kNoonNanos).empty());

  before = after;
  const SchemaAction drop{Kind::kDropTable, "ks", "t", {}};
  ASSERT_EQ(shard::RunSchemaActions(engine, before, {&drop, 1}, kNoonNanos, after), OpStatus::kOk);
  EXPECT_EQ(engine.DropTable(second), OpStatus::kTableGone);
}

TEST(SchemaActionsTest, WhatWasCreatedGoesAgainWhenALaterActionFails) {
  shard::Engine engine(SmallOptions());
  Schema before;
  Schema after;
  shard::Catalog::PutTable(before, ItemsDefinition("gone"));
  const TableId gone = engine.CreateTable(ItemsDefinition("gone")->storage);
  ASSERT_EQ(engine.DropTable(gone), OpStatus::kOk);
  shard::Catalog::PutTable(after, ItemsDefinition("t"));
  using Kind = SchemaAction::Kind;
  const SchemaAction actions[] = {{Kind::kCreateTable, "ks", "t", {}},
                                  {Kind::kDropTable, "ks", "gone", {}}};
  EXPECT_EQ(shard::RunSchemaActions(engine, before, actions, kNoonNanos, after),
            OpStatus::kTableGone);
  EXPECT_EQ(engine.DropTable(after.FindTable("ks", "t")->storage.id), OpStatus::kTableGone);
}

}  // namespace engine_tables_test
}  // namespace liststore::testing
