// The format of a saved store: what is written is what is read, and what no writer wrote is refused
// with its place.
#include "engine/snapshot/saved_store_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/snapshot/encoding.h"
#include "engine/snapshot/saved_store_writer.h"
#include "tests/support/memory_stream.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace saved_store_reader_test {

using snapshot::BlockKind;

std::string Show(const Liveness& liveness) {
  return std::to_string(liveness.timestamp.micros) + "/" + std::to_string(liveness.expiry_seconds) +
         "/" + std::to_string(liveness.ttl_seconds);
}
std::string Show(const Tombstone& tombstone) {
  return std::to_string(tombstone.timestamp.micros) + "@" +
         std::to_string(tombstone.deletion_seconds);
}
std::string Show(const StoredPartition& list) {
  std::string text = "list " + std::string(list.key);
  if (list.foreign_timestamps) text += " since " + std::to_string(list.grace_start_seconds);
  if (list.tombstone.present()) text += " deleted " + Show(list.tombstone);
  if (list.partial) text += " partial";
  if (list.kept_empty) text += " kept";
  if (list.fresh_until_seconds != 0) text += " fresh " + std::to_string(list.fresh_until_seconds);
  return text + "\n";
}
std::string Show(const StoredRange& range) {
  return "range " + std::string(range.range.lower.bytes) + ".." +
         (range.range.upper.at_end ? "end" : std::string(range.range.upper.bytes)) + " " +
         Show(range.tombstone) + "\n";
}
std::string Show(const StoredRow& row) {
  char text[kItemKeyTextBytes];
  std::string shown = "row " + std::string(PlainKey(row.key, text)) + (row.key.packed ? "*" : "");
  if (row.marker.present()) shown += " marker " + Show(row.marker);
  if (row.tombstone.present()) shown += " deleted " + Show(row.tombstone);
  for (const StoredCell& cell : row.cells) {
    if (cell.view.live) {
      shown += " cell " + Show(cell.view.liveness) + "=" + std::string(cell.view.value);
    } else {
      shown += " null " + std::to_string(cell.view.liveness.timestamp.micros) + "@" +
               std::to_string(cell.view.deletion_seconds);
    }
  }
  return shown + "\n";
}

// Everything as text; pieces of one list under one head.
class TextSink final : public snapshot::ContentSink {
 public:
  void OnOrigin(snapshot::Origin) override {}
  absl::Status OnList(const StoredPartition& list, std::span<const StoredRow> rows) override {
    if (list.key != last_key_) text += Show(list);
    last_key_ = list.key;
    for (const StoredRange& range : list.ranges) text += Show(range);
    for (const StoredRow& row : rows) text += Show(row);
    ++pieces;
    return absl::OkStatus();
  }
  absl::Status OnTruncation(std::string_view component) override {
    text += "truncation " + std::string(component) + "\n";
    last_key_.clear();
    return absl::OkStatus();
  }
  absl::Status OnFeature(const snapshot::Feature& feature) override {
    text += "feature " + feature.entity_type + " " + feature.feature + " " +
            std::to_string(feature.ttl_seconds) + "\n";
    for (const snapshot::FeatureVersion& version : feature.versions) {
      text += "version " + version.version + " " + std::to_string(version.ttl_seconds) +
              (version.own_ttl ? " own\n" : "\n");
    }
    return absl::OkStatus();
  }
  std::string text;
  int pieces = 0;

 private:
  std::string last_key_;
};

// Writes a file and keeps what it holds as text.
class FileBuilder {
 public:
  explicit FileBuilder(SnapshotCompression compression = SnapshotCompression::kNone)
      : writer(sink, compression) {
    EXPECT_TRUE(writer.Begin(1'700'000'000'000'000'000, snapshot::Origin::kCopies).ok());
  }

  void List(const StoredPartition& list, const std::vector<StoredRow>& rows) {
    expected += Show(list);
    for (const StoredRange& range : list.ranges) expected += Show(range);
    encoder.OnPartition(list);
    for (const StoredRow& row : rows) {
      expected += Show(row);
      encoder.OnRow(row);
    }
    encoder.OnPartitionEnd();
    EXPECT_TRUE(writer.WriteLists(encoder).ok());
  }
  void Truncation(const std::string& component) {
    EndLists();
    expected += "truncation " + component + "\n";
    EXPECT_TRUE(writer.WriteTruncation(component).ok());
  }
  void Features(const std::vector<snapshot::Feature>& features) {
    EndLists();
    TextSink shown;
    for (const snapshot::Feature& feature : features) {
      EXPECT_TRUE(shown.OnFeature(feature).ok());
      totals.feature_versions += feature.versions.size();
    }
    totals.features += features.size();
    expected += shown.text;
    EXPECT_TRUE(writer.WriteFeatures(features).ok());
  }
  // A block of lists of this payload.
  void Raw(const std::string& payload) {
    std::string block(snapshot::kBlockHeaderBytes, '\0');
    block += payload;
    EXPECT_TRUE(writer.WriteBlock(BlockKind::kLists, block).ok());
  }
  const std::string& End() {
    EndLists();
    totals.lists = encoder.lists();
    totals.rows = encoder.rows();
    EXPECT_TRUE(writer.End(totals).ok());
    return sink.bytes;
  }
  void EndLists() {
    encoder.Finish();
    EXPECT_TRUE(writer.WriteLists(encoder).ok());
  }

  MemorySink sink;
  snapshot::SavedStoreWriter writer;
  snapshot::ListsEncoder encoder;
  snapshot::Totals totals;
  std::string expected;
};

StoredRow HotRow(const PackedItemKey& key, int64_t micros, StoredCell& cell,
                 std::string_view value) {
  const Liveness liveness{{micros}, 1'700'000'100, 200};
  cell = {0, {true, liveness, 0, value}};
  return {{{key.data(), key.size()}, true}, liveness, {}, {&cell, 1}};
}

StoredRange Range(std::string_view lower, std::optional<std::string_view> upper,
                  const Tombstone& tombstone) {
  StoredRange range;
  range.range.lower = ClusteringBound::At(lower, false);
  if (upper) range.range.upper = ClusteringBound::At(*upper, false);
  range.tombstone = tombstone;
  return range;
}

std::string Read(std::string_view bytes) {
  MemorySource source(bytes);
  TextSink sink;
  const auto result = snapshot::ReadSavedStore(source, sink);
  return result.ok() ? sink.text : result.status().ToString();
}

PackedItemKey KeyOf(uint64_t nanos) {
  PackedItemKey key{};
  const uint8_t digest[16] = {1, 2, 3};
  PackItemKeyFromDigest(nanos, digest, key.data());
  return key;
}

TEST(SavedStoreReaderTest, AnEmptyStoreIsAHeaderAndAnEndRecord) {
  FileBuilder file;
  EXPECT_EQ(file.End().size(), 64u + 32 + 40);
  EXPECT_EQ(Read(file.sink.bytes), "");
}

TEST(SavedStoreReaderTest, EveryKindOfRowComesBack) {
  FileBuilder file;
  const PackedItemKey key = KeyOf(1'724'949'845'000'000'000);
  StoredCell cell;
  const StoredRow hot = HotRow(key, 1'700'000'000'000'000, cell, "value");
  const Liveness lasting{{5}, kNoExpiry, 0};
  const Liveness expiring{{-7}, 1'800'000'000'000 % (int64_t{1} << 39), 630'720'000};
  const StoredCell marked{0, {true, lasting, 0, ""}};
  const StoredCell other{0, {true, expiring, 0, std::string_view("\0x", 2)}};
  const StoredCell dead{0, {false, {{9}, kNoExpiry, 0}, 1'700'000'000, {}}};
  const StoredRow rows[] = {
      hot,
      {{"plain", false}, lasting, {}, {&marked, 1}},
      {{"", false}, expiring, {{3}, 1'700'000'000}, {&other, 1}},
      {{"no marker", false}, {}, {}, {&other, 1}},
      {{"dead", false}, {}, {}, {&dead, 1}},
      {{"deleted", false}, {}, {{1}, 17}, {}},
      {{"marker alone", false}, lasting, {}, {}},
      {hot.key, lasting, {{3}, 1'700'000'000}, {&marked, 1}},
  };
  const StoredRange ranges[] = {Range("a", "b", {{11}, 1'700'000'000}),
                                Range("c", std::nullopt, {{12}, 1'700'000'001})};
  file.List({.key = "hot"}, {hot});
  file.List({.key = "empty and gone"}, {});
  file.expected.erase(file.expected.rfind("list "));  // nothing to be kept of it
  StoredPartition mixed{.key = "mixed", .tombstone = {{77}, 1'700'000'000}};
  mixed.ranges = ranges;
  mixed.foreign_timestamps = true;
  mixed.grace_start_seconds = 1'600'000'000;
  file.List(mixed, {std::begin(rows), std::end(rows)});
  file.List({.key = "only deleted", .tombstone = {{77}, 1'700'000'000}}, {});
  file.List({.key = "a part", .partial = true}, {hot});
  file.List({.key = "fresh", .fresh_until_seconds = 1'700'000'060}, {hot});
  file.List({.key = "kept", .kept_empty = true}, {});
  file.List({.key = "kept a while", .kept_empty = true, .fresh_until_seconds = INT64_MAX}, {});
  file.Truncation("user#history|");
  file.List({.key = "hot"}, {hot});
  file.Features(
      {{"user", "history", 5, {{"", 5, false}, {"v2", 7, true}}}, {"user", "none", 1, {}}});
  EXPECT_EQ(Read(file.End()), file.expected);
}

// Lists longer than a block, values longer than one, many features: blocks end within them.
TEST(SavedStoreReaderTest, LongContentIsCutIntoBlocks) {
  FileBuilder file;
  Random random(TestSeed());
  std::vector<PackedItemKey> keys(20'000);
  std::vector<StoredCell> cells(keys.size());
  std::vector<StoredRow> rows;
  const std::string long_value(600'000, 'v');
  const std::string some_bytes(300, 'x');
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = KeyOf(1'000'000'000 + i);
    const bool is_long = i % 7'000 == 6'999;
    rows.push_back(
        HotRow(keys[i], static_cast<int64_t>(i + 1), cells[i],
               is_long ? long_value : std::string_view(some_bytes).substr(0, random.Below(300))));
  }
  const std::vector<StoredRange> ranges(5'000, Range("aaaaaaaaaa", "b", {{11}, 1'700'000'000}));
  StoredPartition list{.key = "long", .tombstone = {{77}, 1'700'000'000}};
  list.ranges = ranges;
  list.fresh_until_seconds = 1'700'000'060;
  file.List({.key = "first"}, {rows[0]});
  file.List(list, rows);
  file.List({.key = "last"}, {rows[0]});
  std::vector<snapshot::Feature> features(3);
  for (size_t i = 0; i < features.size(); ++i) {
    features[i] = {"user", "f" + std::to_string(i), 10, {}};
    for (int v = 0; v < 20'000; ++v) features[i].versions.push_back({std::to_string(v), 10, false});
  }
  file.Features(features);
  const std::string bytes = file.End();
  MemorySource source(bytes);
  TextSink sink;
  const auto result = snapshot::ReadSavedStore(source, sink);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(sink.text == file.expected);
  EXPECT_GT(sink.pieces, 15);
  EXPECT_EQ(result->totals.lists, 3u);
  EXPECT_EQ(result->totals.rows, 20'002u);
  EXPECT_EQ(result->bytes, bytes.size());
  EXPECT_EQ(result->saved_at_nanos, 1'700'000'000'000'000'000u);
}

std::string ListHead(std::string_view key, uint16_t flags, uint32_t ranges, uint32_t rows) {
  std::string head;
  Put(head, static_cast<uint32_t>(key.size()));
  Put(head, flags);
  Put(head, uint16_t{0});
  Put(head, ranges);
  Put(head, rows);
  head += key;
  return head;
}
// A list without rows, with extensions of these bytes.
std::string Extended(const std::string& extensions) {
  std::string record = ListHead("k", 0, 0, 0);
  StoreNative(record.data() + 6, static_cast<uint16_t>(extensions.size()));
  return record + extensions;
}
std::string PresenceField(uint8_t flags, int64_t fresh_until_seconds) {
  std::string field("\x01\x09", 2);
  Put(field, flags);
  Put(field, fresh_until_seconds);
  return field;
}
std::string OtherRow(uint8_t flags, uint16_t cells, const std::string& rest) {
  std::string row;
  Put(row, snapshot::kOtherRow);
  Put(row, flags);
  Put(row, cells);
  PutText(row, "key");
  return row + rest;
}
std::string Times(int64_t micros, int64_t expiry, int64_t ttl) {
  std::string times;
  snapshot::PutLiveness(times, {{micros}, expiry, ttl});
  return times;
}
std::string Deletion(int64_t micros, int64_t seconds) {
  std::string bytes;
  snapshot::PutTombstone(bytes, {{micros}, seconds});
  return bytes;
}
std::string Cell(uint16_t column, uint8_t live, const std::string& rest) {
  std::string cell;
  Put(cell, column);
  Put(cell, live);
  return cell + rest;
}

// Sound checksums over what no writer writes: whoever made such a file had another program.
TEST(SavedStoreReaderTest, ContentThatNoStoreHasIsRefused) {
  constexpr int64_t kNone = INT64_MIN;
  std::string packed_late(45, '\0');
  packed_late[0] = snapshot::kHotRow;
  StoreNative(packed_late.data() + 13, int64_t{1});
  StoreBigEndian64(packed_late.data() + 21, kItemKeyNanosMax + 1);
  const struct {
    const char* rule;
    std::string payload;
    const char* complaint;
  } kCases[] = {
      {"a head is whole", "abc", "a list passes the end"},
      {"a key is within its block", ListHead("k", 0, 0, 0).substr(0, 16), "passes the end"},
      {"flags are known", ListHead("k", 8, 0, 0), "unknown flags 8"},
      {"a list continues its own", ListHead("k", 4, 0, 0), "is not before it"},
      {"an extension has a head", Extended("\x09"), "extensions of a list"},
      {"an extension is whole", Extended("\x09\x02x"), "extensions of a list"},
      {"a presence has its bytes", Extended(std::string("\x01\x01\0", 3)), "extensions of a list"},
      {"a part is not kept empty", Extended(PresenceField(3, 0)), "extensions of a list"},
      {"flags of presence are known", Extended(PresenceField(4, 0)), "extensions of a list"},
      {"a part is not fresh", Extended(PresenceField(1, 5)), "extensions of a list"},
      {"a freshness is an instant", Extended(PresenceField(0, -1)), "extensions of a list"},
      {"rows are there", ListHead("k", 0, 0, 1), "passes the end"},
      {"no rows without end", ListHead("k", 0, 0, UINT32_MAX), "passes the end"},
      {"ranges are there", ListHead("k", 0, 1, 0), "passes the end"},
      {"a row is of a known kind", ListHead("k", 0, 0, 1) + "\x03", "a row of kind 3"},
      {"a packed key has 19 digits", ListHead("k", 0, 0, 1) + packed_late, "10000000000000000000"},
      {"a hot row is written at some time",
       ListHead("k", 0, 0, 1) + std::string(1, snapshot::kHotRow) + std::string(12, '\0') +
           std::string("\0\0\0\0\0\0\0\x80", 8) + std::string(24, '\0'),
       "impossible times"},
      {"a value is within its block",
       ListHead("k", 0, 0, 1) + std::string("\1\1", 2) + std::string(43, '\0'), "passes the end"},
      {"a marker has a timestamp", ListHead("k", 0, 0, 1) + OtherRow(1, 0, Times(kNone, 0, 0)),
       "impossible times"},
      {"a TTL has an end", ListHead("k", 0, 0, 1) + OtherRow(1, 0, Times(1, 0, 5)),
       "impossible times"},
      {"an end has a TTL", ListHead("k", 0, 0, 1) + OtherRow(1, 0, Times(1, 5, 0)),
       "impossible times"},
      {"a TTL is not negative", ListHead("k", 0, 0, 1) + OtherRow(1, 0, Times(1, 5, -1)),
       "impossible times"},
      {"a TTL has its bound", ListHead("k", 0, 0, 1) + OtherRow(1, 0, Times(1, 5, 630'720'001)),
       "impossible times"},
      {"row flags are known", ListHead("k", 0, 0, 1) + OtherRow(4, 0, ""), "unknown flags"},
      {"a row is something", ListHead("k", 0, 0, 1) + OtherRow(0, 0, ""), "a row of 0 cells"},
      {"there is one column", ListHead("k", 0, 0, 1) + OtherRow(0, 2, ""), "a row of 2 cells"},
      {"its number is 0", ListHead("k", 0, 0, 1) + OtherRow(0, 1, Cell(1, 0, Deletion(1, 1))),
       "none of a list's"},
      {"a cell lives or not", ListHead("k", 0, 0, 1) + OtherRow(0, 1, Cell(0, 2, Deletion(1, 1))),
       "none of a list's"},
      {"a deletion has a timestamp", ListHead("k", 0, 0, 1) + OtherRow(2, 0, Deletion(kNone, 1)),
       "impossible times"},
      {"a deletion was made at some time", ListHead("k", 2, 0, 0) + Deletion(1, INT64_MAX),
       "impossible times"},
  };
  for (const auto& bad : kCases) {
    SCOPED_TRACE(bad.rule);
    FileBuilder file;
    file.Raw(bad.payload);
    const std::string answer = Read(file.End());
    EXPECT_EQ(answer.substr(0, 48),
              "DATA_LOSS: saved store damaged at offset " +
                  answer.substr(41, answer.find(',') - 41) +
                  std::string(", block 0: ").substr(0, 48 - answer.find(',')));
    EXPECT_NE(answer.find(bad.complaint), std::string::npos) << answer;
  }
}

TEST(SavedStoreReaderTest, ExtensionsOfALaterVersionArePassedOver) {
  FileBuilder file;
  const std::string later("\xfe\x00\xff\x03\x65xt", 7);
  std::string record = Extended(later + PresenceField(0, 9) + later);
  StoreNative(record.data() + 12, uint32_t{1});
  file.Raw(record + OtherRow(1, 0, Times(1, 0, 0)));
  file.totals.lists = 1;
  std::string end(snapshot::kBlockHeaderBytes, '\0');
  for (const uint64_t count : {1u, 1u, 0u, 0u, 0u}) Put<uint64_t>(end, count);
  ASSERT_TRUE(file.writer.WriteBlock(BlockKind::kEnd, end).ok());
  EXPECT_EQ(Read(file.sink.bytes), "list k fresh 9\nrow key marker 1/0/0\n");
}

TEST(SavedStoreReaderTest, BlocksThatChangedPlacesAreRefused) {
  FileBuilder file;
  file.Truncation("a");
  file.Truncation("b");
  const std::string bytes = file.End();
  const std::string swapped =
      bytes.substr(0, 64) + bytes.substr(97, 33) + bytes.substr(64, 33) + bytes.substr(130);
  EXPECT_EQ(Read(swapped).substr(0, 74),
            "DATA_LOSS: saved store damaged at offset 64, block 0: the checksum of the ");
  // One left out.
  EXPECT_NE(Read(bytes.substr(0, 64) + bytes.substr(97)).find("offset 64, block 0"),
            std::string::npos);
}

TEST(SavedStoreReaderTest, CountsOfTheEndRecordAreCompared) {
  FileBuilder file;
  file.totals.features = 1;
  EXPECT_EQ(
      Read(file.End()),
      "DATA_LOSS: saved store damaged at offset 96, block 0: the end record counts 0 lists, 0 "
      "rows, 1 features and 0 versions, found 0, 0, 0 and 0");
}

TEST(SavedStoreReaderTest, ACompressedFileHoldsTheSame) {
  const auto fill = [](FileBuilder& file) -> const std::string& {
    for (int list = 0; list < 20; ++list) {
      const std::string key = "list " + std::to_string(list);
      std::vector<PackedItemKey> keys(500);
      std::vector<StoredCell> cells(keys.size());
      std::vector<StoredRow> rows;
      for (size_t i = 0; i < keys.size(); ++i) {
        keys[i] = KeyOf(1'000'000 - i);
        rows.push_back(HotRow(keys[i], 5, cells[i], "https://example.org/articles/"));
      }
      StoredPartition head;
      head.key = key;
      file.List(head, rows);
    }
    file.Features({{"user", "clicks", 100, {}}});
    return file.End();
  };
  FileBuilder plain;
  FileBuilder compressed(SnapshotCompression::kZstd);
  const std::string& plain_bytes = fill(plain);
  const std::string& bytes = fill(compressed);
  EXPECT_EQ(compressed.expected, plain.expected);
  EXPECT_EQ(Read(bytes), plain.expected);
  EXPECT_LT(bytes.size(), plain_bytes.size() / 4);
  // It says so, to who reads no compressed ones.
  EXPECT_EQ(bytes[snapshot::kVersionAt], 2);
  EXPECT_EQ(plain_bytes[snapshot::kVersionAt], 1);
  const std::string sound = compressed.expected;
  for (size_t at = 0; at < bytes.size(); at += at < 500 ? 1 : 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    if (at < snapshot::kOriginAt || at >= snapshot::kFileChecksumAt) {
      EXPECT_NE(Read(damaged), sound) << "byte " << at;
    }
    EXPECT_NE(Read(std::string_view(bytes).substr(0, at)), sound) << "cut at " << at;
  }
}

TEST(SavedStoreReaderTest, BlocksThatDoNotDecompress) {
  const auto kind = static_cast<BlockKind>(snapshot::kCompressedBlock | 1);
  std::string block(snapshot::kBlockHeaderBytes, '\0');
  block += std::string("\x10\0\0\0 no frame", 13);
  const auto file_of = [&](SnapshotCompression compression) {
    FileBuilder file(compression);
    std::string copy = block;
    EXPECT_TRUE(file.writer.WriteBlock(kind, copy).ok());
    return file.End();
  };
  EXPECT_EQ(
      Read(file_of(SnapshotCompression::kZstd)),
      "DATA_LOSS: saved store damaged at offset 96, block 0: a block that does not decompress: "
      "Unknown frame descriptor");
  EXPECT_EQ(Read(file_of(SnapshotCompression::kNone)),
            "DATA_LOSS: saved store damaged at offset 64, block 0: a block of kind 2147483649");
}

TEST(SavedStoreReaderTest, ForeignFilesAndLaterVersions) {
  FileBuilder file;
  std::string bytes = file.End();
  EXPECT_EQ(Read(""),
            "INVALID_ARGUMENT: not a saved store: it begins with \"\", expected "
            "\"\\x89LSS\\r\\n\\x1a\\n\"");
  EXPECT_EQ(Read("#!/bin/sh\n"),
            "INVALID_ARGUMENT: not a saved store: it begins with \"#!/bin/s\", expected "
            "\"\\x89LSS\\r\\n\\x1a\\n\"");
  std::string later = bytes;
  later[snapshot::kVersionAt] = 3;
  EXPECT_EQ(Read(later),
            "FAILED_PRECONDITION: saved store of version 3, this library reads up to 2");
  EXPECT_EQ(Read(bytes + "x"),
            "DATA_LOSS: saved store damaged at offset 136, block 1: something follows the end "
            "record");
}

}  // namespace saved_store_reader_test
}  // namespace liststore::testing
