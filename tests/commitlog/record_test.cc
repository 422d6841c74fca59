// Records of every body, there and back; and what is no record: every cut, every flipped byte.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/commitlog/record_encoder.h"
#include "gtest/gtest.h"

namespace liststore::commitlog {
namespace record_test {

constexpr TableId kTable{7, 70'000};
constexpr std::string_view kKey("\0\3abc\0\0\1x\0", 10);
const WriteContext kOwn{{1'700'000'000'123'456}, 1'700'000'000, false};
const WriteContext kForeign{{-5}, 1'700'000'001, true};

PackedItemKey ItemKey() {
  PackedItemKey key;
  LS_CHECK(PackItemKey("1700000000000000001#AAAAAAAAAAAAAAAAAAAAAA==", key.data()), "an item key");
  return key;
}
const PackedItemKey kItem = ItemKey();
const ClusteringKeyView kPackedKey{{kItem.data(), kItem.size()}, true};

std::string Encode(const CommandBody& body, const WriteContext& write = kOwn,
                   const RecordedGrace& grace = {}) {
  std::string record;
  AppendWrite(kTable, kKey, body, write, grace, record);
  return record;
}

// One of each body, with what it borrows.
struct Bodies {
  Bodies() {
    hot.key = kPackedKey;
    hot.cells = {&hot_cell, 1};
    hot.ttl_seconds = 60;
    hot.expiry_seconds = 1'700'000'060;
    cells[0] = {.column = 0, .value = "a value"};
    cells[1] = {.column = 2, .live = false};
    cells[2] = {.column = 3, .live = false, .makes_way = true};
    cells[3] = {.column = 3, .value = "", .path = "\1path"};
    rows[0].key = {"plain", false};
    rows[0].cells = std::span(cells).first(2);
    rows[1].of_static_row = true;
    rows[1].marker = false;
    rows[1].cells = std::span(cells).subspan(2);
    rows[2].key = kPackedKey;
    rows[2].ttl_seconds = 5;
    rows[2].expiry_seconds = 1'700'000'005;
    keys[0] = {"", false};
    keys[1] = kPackedKey;
    keys[2] = {"a key", false};
    range.lower = ClusteringBound::At("begin", false);
    half.upper = ClusteringBound::At("end", false);
  }

  std::vector<CommandBody> All() const {
    return {UpsertCommand{{&hot, 1}},
            UpsertCommand{rows},
            DeleteRowsCommand{keys},
            DeleteRangeCommand{range},
            DeleteRangeCommand{half},
            DeletePartitionCommand{},
            PutCommand{rows, 1'800'000'000, 99},
            PutCommand{},
            ForgetCommand{},
            UpsertCommand{},
            DeleteRowsCommand{}};
  }

  CellUpdate hot_cell{.column = 0, .value = "42"};
  RowUpdate hot;
  CellUpdate cells[4];
  RowUpdate rows[3];
  ClusteringKeyView keys[3];
  ClusteringRange range;
  ClusteringRange half;
};

void ExpectRows(std::span<const RowUpdate> expected, std::span<const RowUpdate> found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const RowUpdate& want = expected[i];
    const RowUpdate& got = found[i];
    EXPECT_EQ(want.key.bytes, got.key.bytes);
    EXPECT_EQ(want.key.packed, got.key.packed);
    EXPECT_EQ(want.marker, got.marker);
    EXPECT_EQ(want.of_static_row, got.of_static_row);
    EXPECT_EQ(want.ttl_seconds, got.ttl_seconds);
    EXPECT_EQ(want.expiry_seconds, got.expiry_seconds);
    ASSERT_EQ(want.cells.size(), got.cells.size());
    for (size_t cell = 0; cell < want.cells.size(); ++cell) {
      EXPECT_EQ(want.cells[cell].column, got.cells[cell].column);
      EXPECT_EQ(want.cells[cell].live, got.cells[cell].live);
      EXPECT_EQ(want.cells[cell].makes_way, got.cells[cell].makes_way);
      EXPECT_EQ(want.cells[cell].value, got.cells[cell].value);
      EXPECT_EQ(want.cells[cell].path, got.cells[cell].path);
    }
  }
}

TEST(RecordTest, EveryBodyComesBack) {
  const Bodies bodies;
  WriteDecoder decoder;
  for (const WriteContext& context : {kOwn, kForeign}) {
    for (const RecordedGrace& grace : {RecordedGrace{}, RecordedGrace{true, 1'600'000'000}}) {
      for (const CommandBody& body : bodies.All()) {
        const std::string record = Encode(body, context, grace);
        RecordedWrite write;
        ASSERT_TRUE(decoder.Decode(record, write));
        EXPECT_EQ(write.table, kTable);
        EXPECT_EQ(write.partition_key, kKey);
        EXPECT_EQ(write.write.timestamp, context.timestamp);
        EXPECT_EQ(write.write.now_seconds, context.now_seconds);
        EXPECT_EQ(write.write.foreign_timestamp, context.foreign_timestamp);
        EXPECT_EQ(write.grace, grace);
        if (const auto* upsert = std::get_if<UpsertCommand>(&body)) {
          EXPECT_EQ(write.kind, BodyKind::kUpsert);
          ExpectRows(upsert->rows, write.rows);
        } else if (const auto* put = std::get_if<PutCommand>(&body)) {
          EXPECT_EQ(write.kind, BodyKind::kPut);
          EXPECT_EQ(write.fresh_until_seconds, put->fresh_until_seconds);
          ExpectRows(put->rows, write.rows);
        } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&body)) {
          EXPECT_EQ(write.kind, BodyKind::kDeleteRows);
          ASSERT_EQ(write.keys.size(), rows->keys.size());
          for (size_t i = 0; i < rows->keys.size(); ++i) {
            EXPECT_EQ(write.keys[i].bytes, rows->keys[i].bytes);
            EXPECT_EQ(write.keys[i].packed, rows->keys[i].packed);
          }
        } else if (const auto* range = std::get_if<DeleteRangeCommand>(&body)) {
          EXPECT_EQ(write.kind, BodyKind::kDeleteRange);
          EXPECT_EQ(write.range.lower.bytes, range->range.lower.bytes);
          EXPECT_EQ(write.range.upper.bytes, range->range.upper.bytes);
          EXPECT_EQ(write.range.upper.at_end, range->range.upper.at_end);
        } else if (std::holds_alternative<ForgetCommand>(body)) {
          EXPECT_EQ(write.kind, BodyKind::kForget);
        } else {
          EXPECT_EQ(write.kind, BodyKind::kDeletePartition);
        }
      }
    }
  }
}

TEST(RecordTest, AnItemOfAListIsShort) {
  const Bodies bodies;
  EXPECT_EQ(Encode(UpsertCommand{{&bodies.hot, 1}}).size(),
            kWriteHeadBytes + kKey.size() + kHotItemBytes + 2);
}

// On the heap of exactly its size, so that a checked build sees one byte too many.
bool Decodes(WriteDecoder& decoder, std::string_view record) {
  const std::vector<char> exact(record.begin(), record.end());
  RecordedWrite write;
  if (!decoder.Decode({exact.data(), exact.size()}, write)) return false;
  // All of it is there to be looked at.
  size_t sum = write.partition_key.size() + write.range.lower.bytes.size();
  for (const RowUpdate& row : write.rows) {
    for (const char byte : row.key.bytes) sum += static_cast<uint8_t>(byte);
    for (const CellUpdate& cell : row.cells) {
      for (const char byte : cell.value) sum += static_cast<uint8_t>(byte);
      for (const char byte : cell.path) sum += static_cast<uint8_t>(byte);
    }
  }
  for (const ClusteringKeyView& key : write.keys) {
    for (const char byte : key.bytes) sum += static_cast<uint8_t>(byte);
  }
  return sum != SIZE_MAX;
}

TEST(RecordTest, EveryCutIsNoRecord) {
  const Bodies bodies;
  WriteDecoder decoder;
  for (const CommandBody& body : bodies.All()) {
    const std::string record = Encode(body, kForeign, {true, 3});
    ASSERT_TRUE(Decodes(decoder, record));
    // Of a hot item's value, which is the rest, nobody knows how long it was.
    const bool is_hot = record[0] == static_cast<char>(BodyKind::kHotItem);
    const size_t least = is_hot ? record.size() - bodies.hot_cell.value.size() : record.size();
    for (size_t bytes = 0; bytes < least; ++bytes) {
      EXPECT_FALSE(Decodes(decoder, std::string_view(record).substr(0, bytes))) << bytes;
    }
    if (!is_hot) {
      EXPECT_FALSE(Decodes(decoder, record + '\0'));
    }
  }
}

TEST(RecordTest, EveryFlippedBitIsSafe) {
  const Bodies bodies;
  WriteDecoder decoder;
  for (const CommandBody& body : bodies.All()) {
    std::string record = Encode(body);
    for (size_t bit = 0; bit < record.size() * 8; ++bit) {
      record[bit / 8] = static_cast<char>(record[bit / 8] ^ (1 << bit % 8));
      Decodes(decoder, record);
      record[bit / 8] = static_cast<char>(record[bit / 8] ^ (1 << bit % 8));
    }
    EXPECT_TRUE(Decodes(decoder, record));
  }
}

TEST(RecordTest, PartsOfBatches) {
  const Bodies bodies;
  std::string part;
  BeginBatchPart(uint64_t{5} << 40 | 17, part);
  std::vector<std::string> writes;
  for (const CommandBody& body : bodies.All()) {
    const size_t begun = BeginBatchWrite(part);
    writes.push_back(Encode(body));
    part += writes.back();
    EndBatchWrite(begun, part);
  }
  EndBatchPart(3, part);
  EXPECT_EQ(WritesOfPart(part), writes.size());
  EXPECT_EQ(FirstWriteOfPart(part), writes.front());
  auto reader = BatchPartReader::Open(part);
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->batch(), uint64_t{5} << 40 | 17);
  EXPECT_EQ(reader->logs(), 3u);
  std::string_view write;
  for (const std::string& expected : writes) {
    ASSERT_TRUE(reader->Next(write));
    EXPECT_EQ(write, expected);
  }
  EXPECT_FALSE(reader->Next(write));
  for (size_t bytes = 0; bytes < part.size(); ++bytes) {
    EXPECT_FALSE(BatchPartReader::Open(std::string_view(part).substr(0, bytes)).has_value())
        << bytes;
  }
  EXPECT_FALSE(BatchPartReader::Open(part + "x").has_value());
}

TEST(RecordTest, Steps) {
  for (const std::optional<std::string_view> component :
       {std::optional<std::string_view>(), std::optional<std::string_view>(""),
        std::optional<std::string_view>("views")}) {
    std::string record;
    AppendTruncation(9, kTable, component, record);
    const auto truncation = DecodeTruncation(record);
    ASSERT_TRUE(truncation.has_value());
    EXPECT_EQ(truncation->step, 9u);
    EXPECT_EQ(truncation->table, kTable);
    EXPECT_EQ(truncation->component, component);
    for (size_t bytes = 0; bytes < kTruncationHeadBytes; ++bytes) {
      EXPECT_FALSE(DecodeTruncation(std::string_view(record).substr(0, bytes)).has_value());
    }
    if (!component) {
      EXPECT_FALSE(DecodeTruncation(record + "x").has_value());
    }
  }
  std::string record;
  AppendBarrier(10, "what changes", record);
  const auto barrier = DecodeBarrier(record);
  ASSERT_TRUE(barrier.has_value());
  EXPECT_EQ(barrier->step, 10u);
  EXPECT_EQ(barrier->payload, "what changes");
  EXPECT_FALSE(DecodeBarrier("1234567").has_value());
}

}  // namespace record_test
}  // namespace liststore::commitlog
