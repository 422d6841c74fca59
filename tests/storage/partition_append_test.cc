// Rows that come together beside the same rows one by one: partitions of random lists, filled both
// ways, are the same, byte by byte where they are small; and go on alike when they are written to.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/random.h"
#include "engine/base/strings.h"
#include "engine/storage/partition/partition.h"
#include "engine/storage/partition/rows_in_order.h"
#include "engine/storage/partition/upsert_load.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/hash_address.h"
#include "tests/storage/test_arena.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace partition_append_test {

using storage::Leaf;
using storage::Partition;
using storage::RowsInOrder;

constexpr int64_t kNow = 1'700'000'000;

TableSchema Schema(bool indexed) {
  TableSchema schema;
  schema.partition_key = {{"p", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kText}};
  schema.regular = {{"v", CqlType::kText}};
  if (indexed) schema.indexes = {{"by_v", 0}};
  return schema;
}

// The rows of one write, with all that they point to.
struct Write {
  struct Item {
    PackedItemKey key;
    std::string value;
    int64_t ttl_seconds;
    int64_t expiry_seconds;
  };
  std::vector<Item> items;
  std::vector<CellUpdate> cells;
  std::vector<RowUpdate> rows;
  WriteContext context{{kNow * 1'000'000}, kNow, false};

  void Add(uint64_t nanos, uint64_t digest, std::string value, int64_t left_seconds) {
    Item& item = items.emplace_back();
    uint8_t bytes[16] = {};
    std::memcpy(bytes, &digest, sizeof(digest));
    PackItemKeyFromDigest(nanos, bytes, item.key.data());
    item.value = std::move(value);
    item.ttl_seconds = left_seconds == 0 ? 0 : std::max<int64_t>(left_seconds, 1);
    item.expiry_seconds = left_seconds == 0 ? kNoExpiry : kNow + left_seconds;
  }
  // Nothing moves any more.
  void End() {
    cells.clear();
    rows.clear();
    for (const Item& item : items) {
      cells.push_back({.value = item.value});
      rows.push_back({.key = {{item.key.data(), item.key.size()}, true},
                      .ttl_seconds = item.ttl_seconds,
                      .expiry_seconds = item.expiry_seconds});
    }
    for (size_t i = 0; i < rows.size(); ++i) rows[i].cells = {&cells[i], 1};
  }
};

// One partition, and all that it lives in.
class Home {
 public:
  Home(const TableSchema& schema, std::string key)
      : schema_(schema), context_(schema_, arena_.arena()), key_(std::move(key)) {}
  ~Home() {
    if (reference_ == 0) return;
    Partition partition(context_, reference_);
    while (!partition.Destroy(64)) {
    }
    EXPECT_EQ(arena_.arena().live_bytes(), 0u);
    EXPECT_EQ(context_.rows, 0u);
  }

  Partition Begin(const Write& write) {
    const Partition::Load load = LoadOf(write);
    reference_ = Partition::Create(context_, key_, 7, load.bytes);
    Partition partition(context_, reference_);
    partition.Expect(load);
    return partition;
  }
  Partition::Load LoadOf(const Write& write) {
    return storage::LoadOf(schema_, write.rows, write.context);
  }
  Partition partition() { return Partition(context_, reference_); }
  uint64_t reference() const { return reference_; }
  uint64_t rows() const { return context_.rows; }
  void KeepTombstones() { context_.grace = {.grace_seconds = 100, .start_seconds = kNow}; }
  uint64_t live_bytes() { return arena_.arena().live_bytes(); }
  void Verify() {
    EXPECT_EQ(partition().Verify(), context_.rows);
    arena_.arena().Verify();
  }
  std::string Rows() {
    std::string text;
    partition().ForEachRow([&](const StoredRow& row) {
      absl::StrAppend(&text, absl::CHexEscape(ToAbsl(row.key.bytes)), " ",
                      row.marker.timestamp.micros, " ", row.marker.expiry_seconds, " ",
                      row.marker.ttl_seconds);
      for (const StoredCell& cell : row.cells) {
        EXPECT_EQ(cell.view.liveness, row.marker);
        absl::StrAppend(&text, " ", ToAbsl(cell.view.value));
      }
      text += "\n";
    });
    return text;
  }

 private:
  TestArena arena_;
  const TableSchema schema_;
  storage::PartitionContext context_;
  const std::string key_;
  uint64_t reference_ = 0;
};

void UpsertEach(Partition partition, const Write& write) {
  for (const RowUpdate& row : write.rows) partition.Upsert(row, write.context);
}

// Header, key and metas in front, rows at the end; the gap between is nobody's.
std::pair<std::string_view, std::string_view> BytesOf(uint64_t reference) {
  const Leaf leaf(Partition::BlockOf(reference));
  const size_t front = leaf.front_bytes() + leaf.size() * sizeof(storage::RowMeta);
  const size_t rows = leaf.RowsBytes();
  return {{leaf.block(), front}, {leaf.block() + leaf.block_bytes() - rows, rows}};
}

void ExpectSame(Home& one_by_one, Home& together, bool ascending) {
  one_by_one.Verify();
  together.Verify();
  ASSERT_EQ(together.rows(), one_by_one.rows());
  ASSERT_EQ(together.Rows(), one_by_one.Rows());
  EXPECT_EQ(together.partition().NextEvent(), one_by_one.partition().NextEvent());
  ASSERT_EQ(together.partition().large(), one_by_one.partition().large());
  if (!together.partition().large()) {
    ASSERT_EQ(BytesOf(together.reference()), BytesOf(one_by_one.reference()));
    EXPECT_EQ(together.reference() >> 48, one_by_one.reference() >> 48);
    EXPECT_EQ(together.live_bytes(), one_by_one.live_bytes());
    return;
  }
  EXPECT_EQ(Partition::LargeOf(together.reference()).max_timestamp,
            Partition::LargeOf(one_by_one.reference()).max_timestamp);
  // Full leaves take no more than those that rows in order leave, nor does the index but a few bytes.
  if (!ascending) return;
  EXPECT_LE(together.live_bytes(), one_by_one.live_bytes() * 101 / 100 + 1024);
}

class Workload {
 public:
  explicit Workload(uint64_t seed) : random_(seed) {}

  bool Chance(uint64_t percent) { return random_.Below(100) < percent; }
  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  std::string Value() {
    if (few_values_) return absl::StrCat("value ", Below(4));
    return std::string(Length(), static_cast<char>('a' + Below(26)));
  }
  // A list of some length; how its rows come is in `ascending`.
  Write List(bool& ascending) {
    constexpr size_t kSizes[] = {1, 2, 5, 20, 40, 200, 350, 900, 2'500};
    const size_t count = 1 + Below(kSizes[Below(std::size(kSizes))]);
    one_length_ = Chance(50) ? 24 : 0;
    long_values_ = Chance(10);
    few_values_ = Chance(20);
    const bool expires = Chance(70);
    const bool over = Chance(20);  // some of them
    const bool same_nanos = Chance(10);
    Write write;
    const uint64_t first = Below(1'000'000'000);
    for (size_t i = 0; i < count; ++i) {
      int64_t left = 0;
      if (expires && !Chance(10)) left = static_cast<int64_t>(1 + Below(100'000));
      if (over && Chance(30)) left = -static_cast<int64_t>(Below(1'000)) - 1;
      write.Add(same_nanos ? first : first + i * 7, Below(UINT64_MAX), Value(), left);
    }
    std::ranges::sort(write.items, {}, KeyOf);
    ascending = true;
    if (Chance(30)) {
      std::ranges::reverse(write.items);
      ascending = count == 1;
    } else if (Chance(50)) {
      Shuffle(write.items);
      ascending = false;
    }
    if (Chance(20)) {  // the same again, or another of the same key
      for (size_t i = 0, doubled = 1 + Below(3); i < doubled; ++i) {
        Write::Item item = write.items[Below(write.items.size())];
        if (Chance(30)) item.value = Value();
        write.items.insert(write.items.begin() + static_cast<ptrdiff_t>(Below(count)), item);
      }
      ascending = false;
    }
    write.End();
    return write;
  }
  static std::string KeyOf(const Write::Item& item) {
    return std::string(item.key.data(), item.key.size());  // orders by unsigned bytes
  }

 private:
  size_t Length() {
    if (one_length_ != 0) return one_length_;
    return long_values_ ? Below(1'700) : Below(60);
  }
  void Shuffle(std::vector<Write::Item>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

  Random random_;
  size_t one_length_ = 0;
  bool long_values_ = false;
  bool few_values_ = false;
};

// The same later writes to both.
void GoOn(Workload& work, const Write& began, Home& one_by_one, Home& together) {
  Write later;
  later.context.timestamp.micros += 1;
  const size_t count = 1 + work.Below(30);
  for (size_t i = 0; i < count; ++i) {
    const Write::Item& at = began.items[work.Below(began.items.size())];
    later.Add(PackedItemKeyNanos(at.key.data()) + work.Below(3), work.Below(UINT64_MAX),
              work.Value(), 0);
  }
  later.End();
  WriteContext deletes = later.context;
  for (Home* home : {&one_by_one, &together}) {
    home->partition().Expect(home->LoadOf(later));
    UpsertEach(home->partition(), later);
  }
  for (int i = 0; i < 5; ++i) {
    if (one_by_one.partition().empty()) return;
    ++deletes.timestamp.micros;
    const Write::Item& item = began.items[work.Below(began.items.size())];
    uint64_t removed[2];
    size_t k = 0;
    for (Home* home : {&one_by_one, &together}) {
      if (i % 2 == 0) {
        removed[k++] =
            home->partition().DeleteSimpleRowsWithValue(0, item.value, deletes).value_or(999);
      } else {
        removed[k++] =
            home->partition().DeleteRow({{item.key.data(), item.key.size()}, true}, deletes);
      }
    }
    ASSERT_EQ(removed[0], removed[1]);
  }
}

TEST(PartitionAppendTest, RowsTogetherAreAsOneByOne) {
  Workload work(TestSeed());
  const uint64_t steps = TestSteps(200'000) / 200;
  size_t small = 0, large = 0, refused = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    const TableSchema schema = Schema(work.Chance(80));
    const std::string key(work.Chance(95) ? 40 : 1'500, 'k');
    bool ascending = false;
    const Write write = work.List(ascending);
    Home one_by_one(schema, key);
    UpsertEach(one_by_one.Begin(write), write);
    Home together(schema, key);
    Partition partition = together.Begin(write);
    const Partition::Load load = together.LoadOf(write);
    RowsInOrder in_order;
    if (!load.hot || !load.all_short || !in_order.Take(write.rows, write.context)) {
      ++refused;
      UpsertEach(partition, write);
    } else {
      ASSERT_TRUE(partition.TakesBehind(in_order.rows()));
      partition.Append(in_order.rows());
      ++(partition.large() ? large : small);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(one_by_one, together, ascending));
    if (!schema.indexes.empty()) {
      for (int i = 0; i < 3; ++i) {
        const std::string& value = write.items[work.Below(write.items.size())].value;
        EXPECT_EQ(together.partition().KeysWithValue(0, value, kNow),
                  one_by_one.partition().KeysWithValue(0, value, kNow));
      }
    }
    ASSERT_NO_FATAL_FAILURE(GoOn(work, write, one_by_one, together));
    if (one_by_one.partition().empty()) continue;
    one_by_one.Verify();
    together.Verify();
    ASSERT_EQ(together.Rows(), one_by_one.Rows());
  }
  EXPECT_GT(small, steps / 4);
  EXPECT_GT(large, steps / 20);
  EXPECT_GT(refused, 0u);
}

// Pieces of a list under different timestamps, as a restored list comes.
TEST(PartitionAppendTest, PiecesBehindOneAnotherAreAsOneByOne) {
  Workload work(TestSeed());
  const uint64_t steps = TestSteps(200'000) / 400;
  for (uint64_t step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    const TableSchema schema = Schema(work.Chance(80));
    bool ascending = false;
    Write write = work.List(ascending);
    std::ranges::sort(write.items, {}, Workload::KeyOf);
    const auto same = [](const Write::Item& a, const Write::Item& b) { return a.key == b.key; };
    write.items.erase(std::unique(write.items.begin(), write.items.end(), same), write.items.end());
    write.End();
    std::vector<HotRow> rows;
    for (const RowUpdate& row : write.rows) {
      WriteTimestamp at = write.context.timestamp;
      at.micros -= static_cast<int64_t>(work.Below(1'000'000'000'000));
      rows.push_back({row.key, row.cells[0].value, {at, row.expiry_seconds, row.ttl_seconds}});
      // TTLs that the distance of a meta does not hold are not for it.
      if (!Partition::FitsMeta(rows.back().liveness)) rows.back().liveness.expiry_seconds = 0;
      if (rows.back().liveness.expiry_seconds == 0) rows.back().liveness.ttl_seconds = 0;
    }
    const auto load = storage::LoadOf(schema, rows);
    if (!load) continue;
    Home one_by_one(schema, "key");
    Home together(schema, "key");
    Partition expected = one_by_one.Begin(write);
    Partition partition = together.Begin(write);
    for (const HotRow& row : rows) {
      const CellUpdate cell{.value = row.value};
      const RowUpdate update{.key = row.key,
                             .ttl_seconds = row.liveness.ttl_seconds,
                             .expiry_seconds = row.liveness.expiry_seconds,
                             .cells = {&cell, 1}};
      expected.Upsert(update, {row.liveness.timestamp, kNow, false});
    }
    for (std::span<const HotRow> rest = rows; !rest.empty();) {
      const auto piece = rest.first(1 + work.Below(rest.size()));
      ASSERT_TRUE(partition.TakesBehind(piece) || !partition.large());
      if (partition.TakesBehind(piece)) {
        partition.Append(piece);
      } else {  // too far apart for one leaf as it is
        for (const HotRow& row : piece) {
          const CellUpdate cell{.value = row.value};
          const RowUpdate update{.key = row.key,
                                 .ttl_seconds = row.liveness.ttl_seconds,
                                 .expiry_seconds = row.liveness.expiry_seconds,
                                 .cells = {&cell, 1}};
          partition.Upsert(update, {row.liveness.timestamp, kNow, false});
        }
      }
      rest = rest.subspan(piece.size());
      together.Verify();
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(one_by_one, together, /*ascending=*/false));
  }
}

TEST(PartitionAppendTest, RowsThatAreNotAllBehindAreNotTaken) {
  const TableSchema schema = Schema(true);
  Write first, middle, behind;
  for (uint64_t i = 0; i < 3; ++i) first.Add(100 + i, i, "value", 0);
  middle.Add(101, 77, "value", 0);
  behind.Add(103, 0, "value", 0);
  for (Write* write : {&first, &middle, &behind}) write->End();
  Home home(schema, "key");
  RowsInOrder rows;
  ASSERT_TRUE(rows.Take(first.rows, first.context));
  Partition partition = home.Begin(first);
  ASSERT_TRUE(partition.TakesBehind(rows.rows()));
  partition.Append(rows.rows());
  RowsInOrder more;
  ASSERT_TRUE(more.Take(middle.rows, middle.context));
  EXPECT_FALSE(partition.TakesBehind(more.rows()));
  RowsInOrder last;
  ASSERT_TRUE(last.Take(behind.rows, behind.context));
  EXPECT_TRUE(partition.TakesBehind(last.rows()));
  // A deletion that is kept may lie over what comes.
  Home deleted(schema, "key");
  deleted.KeepTombstones();
  WriteContext deletes = first.context;
  deletes.foreign_timestamp = true;
  --deletes.timestamp.micros;
  Partition covered = deleted.Begin(first);
  covered.DeleteAll(deletes);
  EXPECT_FALSE(covered.TakesBehind(rows.rows()));
}

TEST(PartitionAppendTest, OfTwoThatDifferOneByOneDecides) {
  Write write;
  write.Add(100, 1, "one", 0);
  write.Add(100, 1, "two", 0);
  write.End();
  RowsInOrder rows;
  EXPECT_FALSE(rows.Take(write.rows, write.context));
  Write same;
  same.Add(100, 1, "one", 10);
  same.Add(100, 1, "one", 10);
  same.End();
  RowsInOrder one;
  ASSERT_TRUE(one.Take(same.rows, same.context));
  EXPECT_EQ(one.rows().size(), 1u);
  // Who is over may have to be told of.
  Write over;
  over.Add(100, 1, "one", -1);
  over.Add(100, 1, "one", -1);
  over.End();
  RowsInOrder none;
  EXPECT_FALSE(none.Take(over.rows, over.context));
}

// What is stored of a partition, as text.
class StoredText final : public StoredRowSink {
 public:
  void OnPartition(const StoredPartition&) override {}
  void OnRow(const StoredRow& row) override {
    absl::StrAppend(&text, absl::CHexEscape(ToAbsl(row.key.bytes)), " ", row.marker.expiry_seconds,
                    " ", ToAbsl(row.cells[0].view.value), "\n");
  }
  void OnPartitionEnd() override {}
  bool Full() const override { return false; }

  std::string text;
};

std::string TextOf(storage::Table& table, const storage::PartitionRef& partition, int64_t now) {
  StoredText sink;
  table.ScanPartitions(partition.address, std::nullopt, [&](uint64_t, const Partition& found) {
    if (found.key() == partition.key) table.SendStored(found, now, sink);
    return false;
  });
  return sink.text;
}

// Beside a table without a limit, into which each row comes alone.
TEST(PartitionAppendTest, APutThatTheLimitRefusesLeavesTheListAsItWas) {
  Workload work(TestSeed());
  HashAddress address_of;
  memory::MemoryBudget budget(uint64_t{2} << 20);
  memory::PagePool pool{budget};
  storage::Table table(Schema(true), pool, budget, address_of);
  memory::MemoryBudget no_limit(memory::MemoryBudget::kUnlimited);
  memory::PagePool plenty{no_limit};
  storage::Table model(Schema(true), plenty, no_limit, address_of);
  const uint64_t steps = TestSteps(200'000) / 200;
  size_t refused = 0;
  WriteContext context{{kNow * 1'000'000}, kNow, false};
  for (uint64_t step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    const std::string key = absl::StrCat("list ", work.Below(60));
    const storage::PartitionRef partition{key, address_of(key)};
    bool ascending = false;
    const Write write = work.List(ascending);
    ++context.timestamp.micros;
    const bool puts = work.Chance(70);
    bool mark_passed = false;
    OpStatus status = OpStatus::kOk;
    if (puts) {
      status = table.Put(partition, write.rows, {}, context, mark_passed);
    } else {
      status = table.Upsert(partition, write.rows, context);
    }
    if (status == OpStatus::kOk) {
      if (puts) model.Forget(partition);
      for (const RowUpdate& row : write.rows) {
        ASSERT_EQ(model.Upsert(partition, {&row, 1}, context), OpStatus::kOk);
      }
    } else {
      ++refused;
      if (work.Chance(50)) {  // room for others
        table.Forget(partition);
        model.Forget(partition);
      }
    }
    ASSERT_EQ(TextOf(table, partition, kNow), TextOf(model, partition, kNow));
    if (step % 64 == 0) table.Verify();
    for (storage::Table* each : {&table, &model}) {
      while (each->Reclaim(kNow, 1'000) != 0) {
      }
    }
    ASSERT_EQ(table.stats().rows, model.stats().rows);
  }
  table.Verify();
  EXPECT_GT(refused, 0u);
}

}  // namespace partition_append_test
}  // namespace liststore::testing
