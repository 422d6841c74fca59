#include "tests/shard/item_commands.h"

#include <array>

#include "engine/base/check.h"
#include "engine/model/partition_key.h"

namespace liststore::testing {
namespace {

// Items by number, whichever form they come in.
class ItemSink : public RowSink {
 public:
  void OnRows(std::span<const RowView> rows) override {
    for (const RowView& row : rows) {
      LS_CHECK(row.key.packed && row.cells.size() == 1, "items have the hot shape");
      Add(row.key.bytes.data(), row.cells[0].value);
    }
  }
  void OnPackedRun(const PackedRun& run) override {
    for (size_t i = 0; i < run.count; ++i) {
      const char* row = run.rows + i * run.stride;
      Add(row, std::string_view(row + kPackedItemKeyBytes, run.stride - kPackedItemKeyBytes));
    }
  }
  bool AcceptsPackedRuns() const override { return true; }

  Items items;

 private:
  void Add(const char* key, std::string_view value) {
    const bool added = items.emplace(PackedItemKeyNanos(key), value).second;
    LS_CHECK(added, "an item comes once");
  }
};

}  // namespace

std::string ListKey(std::string_view feature_key, std::string_view entity_id) {
  std::string key;
  AppendPartitionKey(std::array{feature_key, entity_id}, key);
  return key;
}

PackedItemKey ItemNumber(uint64_t number) {
  uint8_t digest[16] = {};
  for (size_t i = 0; i < 8; ++i) digest[i] = static_cast<uint8_t>(number >> (8 * i));
  PackedItemKey packed;
  PackItemKeyFromDigest(number, digest, packed.data());
  return packed;
}

// --- Upserts ---

void ItemUpserts::Add(std::string_view partition_key, const Items& items, uint64_t now_nanos,
                      int64_t ttl_seconds) {
  Borrowed& borrowed = borrowed_.emplace_back();
  borrowed.partition_key = partition_key;
  for (const auto& [number, value] : items) {
    const PackedItemKey& key = borrowed.keys.emplace_back(ItemNumber(number));
    const std::string& kept = borrowed.values.emplace_back(value);
    const CellUpdate& cell = borrowed.cells.emplace_back(CellUpdate{.value = kept});
    RowUpdate& row = borrowed.rows.emplace_back();
    row.key = {std::string_view(key.data(), key.size()), true};
    row.ttl_seconds = ttl_seconds;
    if (ttl_seconds != 0) {
      row.expiry_seconds = static_cast<int64_t>(now_nanos / kNanosPerSecond) + ttl_seconds;
    }
    row.cells = {&cell, 1};
  }
  commands_.push_back({table_, borrowed.partition_key, UpsertCommand{borrowed.rows}});
}

Reply AddItem(shard::Engine& engine, TableId table, std::string_view partition_key, uint64_t number,
              std::string_view value, uint64_t now_nanos, int64_t ttl_seconds,
              WriteTimestamp timestamp) {
  ItemUpserts upserts(table);
  upserts.Add(partition_key, {{number, std::string(value)}}, now_nanos, ttl_seconds);
  upserts.commands()[0].timestamp = timestamp;
  return engine.Execute(upserts.commands()[0], now_nanos);
}

Reply AddItems(shard::Engine& engine, TableId table, std::string_view partition_key,
               const Items& items, uint64_t now_nanos) {
  ItemUpserts upserts(table);
  upserts.Add(partition_key, items);
  return engine.Execute(upserts.commands()[0], now_nanos);
}

// --- Other commands ---

Reply RemoveItem(shard::Engine& engine, TableId table, std::string_view partition_key,
                 uint64_t number, uint64_t now_nanos, WriteTimestamp timestamp) {
  const PackedItemKey key = ItemNumber(number);
  const ClusteringKeyView view = {std::string_view(key.data(), key.size()), true};
  return engine.Execute({table, partition_key, DeleteRowsCommand{{&view, 1}}, timestamp},
                        now_nanos);
}

Reply RemoveList(shard::Engine& engine, TableId table, std::string_view partition_key,
                 uint64_t now_nanos) {
  return engine.Execute({table, partition_key, DeletePartitionCommand{}}, now_nanos);
}

Items ReadItems(shard::Engine& engine, TableId table, std::string_view partition_key,
                uint64_t now_nanos) {
  ItemSink sink;
  const ReadSpec everything = {};
  const ReadCommand read = {&everything, &sink};
  const Reply reply = engine.Execute({table, partition_key, read}, now_nanos);
  LS_CHECK(reply.rows == sink.items.size(), "a read returns how many rows it sent");
  return std::move(sink.items);
}

uint64_t CountItems(shard::Engine& engine, TableId table, std::string_view partition_key,
                    uint64_t now_nanos) {
  return engine.Execute({table, partition_key, CountCommand{}}, now_nanos).rows;
}

// --- Tables as a whole ---

std::vector<std::string> ScanAll(shard::Engine& engine, TableId table, uint64_t now_nanos,
                                 size_t limit) {
  std::vector<std::string> keys;
  shard::ScanPosition position;
  while (!position.done) {
    std::vector<std::string> page;
    engine.ScanPartitions(table, std::nullopt, limit, now_nanos, position, page);
    LS_CHECK(page.size() <= limit, "a page is no larger than asked");
    keys.insert(keys.end(), page.begin(), page.end());
  }
  return keys;
}

std::map<std::string, Items> Contents(shard::Engine& engine, TableId table, uint64_t now_nanos) {
  std::map<std::string, Items> contents;
  for (const std::string& key : ScanAll(engine, table, now_nanos)) {
    contents.emplace(key, ReadItems(engine, table, key, now_nanos));
  }
  return contents;
}

void ReclaimAll(shard::Engine& engine, uint64_t now_nanos) {
  constexpr int kTurnsMax = 1'000'000;
  int turns = 0;
  while (engine.Reclaim(now_nanos, 10'000) > 0) {
    LS_CHECK(++turns < kTurnsMax, "reclamation comes to an end");
  }
}

}  // namespace liststore::testing
