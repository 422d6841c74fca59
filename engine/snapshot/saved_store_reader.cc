#include "engine/snapshot/saved_store_reader.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/model/packed_item_key.h"
#include "engine/snapshot/block_reader.h"
#include "engine/snapshot/content_reader.h"
#include "engine/snapshot/sound_times.h"

namespace liststore::snapshot {
namespace {

// The bytes of one block.
class Cursor final : public ContentReader {
 public:
  explicit Cursor(const Block& block) : ContentReader(block.payload), block_(block) {}

  // What is bad is at its end as well.
  bool AtEnd() const { return left() == 0; }
  uint64_t offset() const { return block_.payload_at + taken(); }

  absl::Status DamagedHere(std::string_view text) const {
    return Damaged(offset(), block_.number, text);
  }
  // Of a record that began at `at` and did not fit its block.
  absl::Status CutOff(uint64_t at, const char* what) const {
    return Damaged(at, block_.number, absl::StrCat("a ", what, " passes the end of its block"));
  }

 private:
  const Block& block_;
};

// Records of lists, with buffers for the rows of one.
class ListsDecoder {
 public:
  ListsDecoder(ContentSink& sink, Totals& totals) : sink_(sink), totals_(totals) {}

  absl::Status Decode(const Block& block) {
    Cursor cursor(block);
    while (!cursor.AtEnd()) LS_RETURN_IF_ERROR(DecodeList(cursor));
    return absl::OkStatus();
  }

 private:
  absl::Status DecodeList(Cursor& cursor) {
    const uint64_t at = cursor.offset();
    const auto key_bytes = cursor.Take<uint32_t>();
    const auto flags = cursor.Take<uint16_t>();
    const auto extension_bytes = cursor.Take<uint16_t>();
    const auto range_count = cursor.Take<uint32_t>();
    const auto row_count = cursor.Take<uint32_t>();
    StoredPartition list;
    list.key = cursor.TakeBytes(key_bytes);
    const std::string_view extensions = cursor.TakeBytes(extension_bytes);
    if (cursor.bad()) return cursor.CutOff(at, "list");
    if (!TakeExtensions(extensions, list)) {
      return cursor.DamagedHere("the extensions of a list are none");
    }
    if ((flags & ~kListFlags) != 0) {
      return cursor.DamagedHere(absl::StrCat("a list has unknown flags ", flags));
    }
    if ((flags & kListContinues) == 0) {
      ++totals_.lists;
      last_key_.assign(list.key);
    } else if (list.key != last_key_) {
      return cursor.DamagedHere("a list continues one that is not before it");
    }
    if ((flags & kListForeignTimestamps) != 0) {
      list.foreign_timestamps = true;
      list.grace_start_seconds = cursor.Take<int64_t>();
    }
    if ((flags & kListTombstone) != 0) {
      list.tombstone = cursor.TakeTombstone();
      if (!cursor.bad() && !IsSound(list.tombstone)) {
        return cursor.DamagedHere("a deletion of a list has impossible times");
      }
    }
    LS_RETURN_IF_ERROR(DecodeRanges(cursor, range_count));
    list.ranges = ranges_;
    LS_RETURN_IF_ERROR(DecodeRows(cursor, row_count));
    if (cursor.bad()) return cursor.CutOff(at, "list");
    totals_.rows += hot_.size() + rows_.size();
    const absl::Status status =
        rows_.empty() ? sink_.OnHotList(list, hot_) : sink_.OnList(list, rows_);
    if (status.ok()) return status;
    return {status.code(),
            absl::StrCat("list ", totals_.lists, ", at offset ", at, ": ", status.message())};
  }

  // False: no writer wrote them.
  static bool TakeExtensions(std::string_view bytes, StoredPartition& list) {
    while (!bytes.empty()) {
      if (bytes.size() < 2) return false;
      const auto kind = LoadNative<uint8_t>(bytes.data());
      const size_t field_bytes = LoadNative<uint8_t>(bytes.data() + 1);
      if (bytes.size() < 2 + field_bytes) return false;
      const std::string_view field = bytes.substr(2, field_bytes);
      bytes.remove_prefix(2 + field_bytes);
      if (kind != kPresenceField) continue;  // what later versions say of a list
      if (field.size() != kPresenceFieldBytes) return false;
      const auto flags = LoadNative<uint8_t>(field.data());
      list.partial = flags == kPresencePartial;
      list.kept_empty = flags == kPresenceKeptEmpty;
      list.fresh_until_seconds = LoadNative<int64_t>(field.data() + 1);
      if (flags > kPresenceKeptEmpty || list.fresh_until_seconds < 0 ||
          (list.partial && list.fresh_until_seconds != 0)) {
        return false;
      }
    }
    return true;
  }

  absl::Status DecodeRanges(Cursor& cursor, uint32_t count) {
    ranges_.clear();
    for (uint32_t i = 0; i < count && !cursor.bad(); ++i) {
      const auto lower_bytes = cursor.Take<uint32_t>();
      const auto upper_bytes = cursor.Take<uint32_t>();
      const auto to_end = cursor.Take<uint8_t>();
      StoredRange range;
      range.tombstone = cursor.TakeTombstone();
      range.range.lower.bytes = cursor.TakeBytes(lower_bytes);
      range.range.upper.bytes = cursor.TakeBytes(upper_bytes);
      range.range.upper.at_end = to_end != 0;
      if (!cursor.bad() && (to_end > 1 || !IsSound(range.tombstone))) {
        return cursor.DamagedHere("a deletion of a range has impossible times or bounds");
      }
      ranges_.push_back(range);
    }
    return absl::OkStatus();
  }

  // Into hot_ while there are no others, else into rows_.
  absl::Status DecodeRows(Cursor& cursor, uint32_t count) {
    hot_.clear();
    rows_.clear();
    cells_.clear();
    packed_.clear();
    cell_counts_.clear();
    bool all_hot = true;
    for (uint32_t i = 0; i < count && !cursor.bad(); ++i) {
      const char kind = cursor.Take<char>();
      if (kind == kHotRow) {
        LS_RETURN_IF_ERROR(DecodeHotRow(cursor));
        if (!all_hot) MoveHotRows();
      } else if (kind == kOtherRow) {
        all_hot = false;
        MoveHotRows();
        LS_RETURN_IF_ERROR(DecodeOtherRow(cursor));
      } else if (!cursor.bad()) {
        return cursor.DamagedHere(absl::StrCat("a row of kind ", int{kind}));
      }
    }
    // The buffers have stopped moving.
    size_t cell = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].cells = std::span(cells_).subspan(cell, cell_counts_[i]);
      cell += cell_counts_[i];
    }
    for (const auto& [row, packed] : packed_)
      rows_[row].key = {{packed.data(), packed.size()}, true};
    return absl::OkStatus();
  }

  void MoveHotRows() {
    for (const HotRow& row : hot_) {
      rows_.push_back({row.key, row.liveness, {}, {}});
      cells_.push_back({0, {true, row.liveness, 0, row.value}});
      cell_counts_.push_back(1);
    }
    hot_.clear();
  }

  absl::Status DecodeHotRow(Cursor& cursor) {
    const std::string_view head = cursor.TakeBytes(kHotRowBytes - 1);
    if (cursor.bad()) return absl::OkStatus();
    Liveness liveness;
    liveness.expiry_seconds = LoadNative<uint32_t>(head.data() + 4);
    liveness.ttl_seconds = LoadNative<uint32_t>(head.data() + 8);
    liveness.timestamp.micros = LoadNative<int64_t>(head.data() + 12);
    const std::string_view key = head.substr(20);
    const std::string_view value = cursor.TakeBytes(LoadNative<uint32_t>(head.data()));
    if (cursor.bad()) return absl::OkStatus();
    if (!IsSound(liveness)) return cursor.DamagedHere("a row has impossible times");
    if (LoadBigEndian64(key.data()) > kItemKeyNanosMax) {
      return cursor.DamagedHere(
          absl::StrCat("a packed key of ", LoadBigEndian64(key.data()), " ns"));
    }
    hot_.push_back({{key, true}, value, liveness});
    return absl::OkStatus();
  }

  absl::Status DecodeOtherRow(Cursor& cursor) {
    const auto flags = cursor.Take<uint8_t>();
    const auto cell_count = cursor.Take<uint16_t>();
    StoredRow row;
    row.key = {cursor.TakeText(), false};
    if ((flags & kRowMarker) != 0) row.marker = cursor.TakeLiveness();
    if ((flags & kRowTombstone) != 0) row.tombstone = cursor.TakeTombstone();
    if (cursor.bad()) return absl::OkStatus();
    if ((flags & ~(kRowMarker | kRowTombstone)) != 0 ||
        ((flags & kRowMarker) != 0 && !IsSound(row.marker)) ||
        ((flags & kRowTombstone) != 0 && !IsSound(row.tombstone))) {
      return cursor.DamagedHere("a row has impossible times or unknown flags");
    }
    // One column, so one cell at most.
    if (cell_count > 1 || (flags == 0 && cell_count == 0)) {
      return cursor.DamagedHere(absl::StrCat("a row of ", cell_count, " cells"));
    }
    for (uint16_t i = 0; i < cell_count; ++i) LS_RETURN_IF_ERROR(DecodeCell(cursor));
    if (cursor.bad()) return absl::OkStatus();
    PackedItemKey packed;
    if (PackItemKey(row.key.bytes, packed.data())) packed_.emplace_back(rows_.size(), packed);
    rows_.push_back(row);
    cell_counts_.push_back(cell_count);
    return absl::OkStatus();
  }

  absl::Status DecodeCell(Cursor& cursor) {
    StoredCell cell;
    cell.column = cursor.Take<uint16_t>();
    const auto live = cursor.Take<uint8_t>();
    bool sound = cell.column == 0 && live <= 1;
    cell.view.live = live == 1;
    if (cell.view.live) {
      cell.view.liveness = cursor.TakeLiveness();
      cell.view.value = cursor.TakeText();
      sound &= IsSound(cell.view.liveness);
    } else {
      const Tombstone dead = cursor.TakeTombstone();
      cell.view.liveness.timestamp = dead.timestamp;
      cell.view.deletion_seconds = dead.deletion_seconds;
      sound &= IsSound(dead);
    }
    if (!cursor.bad() && !sound) return cursor.DamagedHere("a cell is none of a list's");
    cells_.push_back(cell);
    return absl::OkStatus();
  }

  ContentSink& sink_;
  Totals& totals_;
  std::string last_key_;
  std::vector<StoredRange> ranges_;
  std::vector<HotRow> hot_;
  std::vector<StoredRow> rows_;
  std::vector<StoredCell> cells_;
  std::vector<uint16_t> cell_counts_;                     // by row
  std::vector<std::pair<size_t, PackedItemKey>> packed_;  // keys that came as text, by row
};

// Records of features: the versions of one may go on in the next block.
class FeaturesDecoder {
 public:
  FeaturesDecoder(ContentSink& sink, Totals& totals) : sink_(sink), totals_(totals) {}

  absl::Status Decode(const Block& block) {
    Cursor cursor(block);
    while (!cursor.AtEnd()) LS_RETURN_IF_ERROR(DecodeRecord(cursor));
    return absl::OkStatus();
  }

  // Hands over the last feature.
  absl::Status Finish() {
    if (!open_) return absl::OkStatus();
    open_ = false;
    ++totals_.features;
    totals_.feature_versions += feature_.versions.size();
    return sink_.OnFeature(feature_);
  }

 private:
  absl::Status DecodeRecord(Cursor& cursor) {
    const uint64_t at = cursor.offset();
    const char kind = cursor.Take<char>();
    if (kind == kFeature) {
      LS_RETURN_IF_ERROR(Finish());
      feature_.entity_type = cursor.TakeText();
      feature_.feature = cursor.TakeText();
      feature_.ttl_seconds = cursor.Take<int64_t>();
      feature_.versions.clear();
      open_ = true;
    } else if (kind == kFeatureVersion && open_) {
      FeatureVersion& version = feature_.versions.emplace_back();
      version.own_ttl = cursor.Take<uint8_t>() != 0;
      version.version = cursor.TakeText();
      version.ttl_seconds = cursor.Take<int64_t>();
    } else {
      return cursor.DamagedHere(absl::StrCat("a feature record of kind ", int{kind}));
    }
    return cursor.bad() ? cursor.CutOff(at, "feature record") : absl::OkStatus();
  }

  ContentSink& sink_;
  Totals& totals_;
  Feature feature_;
  bool open_ = false;
};

absl::Status CheckEnd(const Block& block, const Totals& counted, Totals& totals) {
  Cursor cursor(block);
  if (block.payload.size() != kEndBytes) {
    return cursor.DamagedHere(
        absl::StrCat("an end record of ", block.payload.size(), " bytes, expected ", kEndBytes));
  }
  totals.lists = cursor.Take<uint64_t>();
  totals.rows = cursor.Take<uint64_t>();
  totals.features = cursor.Take<uint64_t>();
  totals.feature_versions = cursor.Take<uint64_t>();
  totals.last_timestamp_micros = cursor.Take<int64_t>();
  if (totals.lists != counted.lists || totals.rows != counted.rows ||
      totals.features != counted.features || totals.feature_versions != counted.feature_versions) {
    return Damaged(
        block.payload_at, block.number,
        absl::StrCat("the end record counts ", totals.lists, " lists, ", totals.rows, " rows, ",
                     totals.features, " features and ", totals.feature_versions,
                     " versions, found ", counted.lists, ", ", counted.rows, ", ", counted.features,
                     " and ", counted.feature_versions));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ContentSink::OnHotList(const StoredPartition& list, std::span<const HotRow> rows) {
  std::vector<StoredCell> cells;
  std::vector<StoredRow> stored;
  cells.reserve(rows.size());
  stored.reserve(rows.size());
  for (const HotRow& row : rows) {
    cells.push_back({0, {true, row.liveness, 0, row.value}});
    stored.push_back({row.key, row.liveness, {}, {&cells.back(), 1}});
  }
  return OnList(list, stored);
}

absl::StatusOr<ReadResult> ReadSavedStore(disk::ByteSource& source, ContentSink& sink) {
  BlockReader blocks(source);
  LS_RETURN_IF_ERROR(blocks.ReadFileHeader());
  return ReadContent(blocks, sink);
}

absl::StatusOr<ReadResult> ReadContent(BlockReader& blocks, ContentSink& sink) {
  ReadResult result;
  result.saved_at_nanos = blocks.saved_at_nanos();
  sink.OnOrigin(blocks.origin());
  Totals counted;
  ListsDecoder lists(sink, counted);
  FeaturesDecoder features(sink, counted);
  for (;;) {
    Block block;
    LS_RETURN_IF_ERROR(blocks.ReadBlock(block));
    switch (block.kind) {
      case BlockKind::kLists:
        LS_RETURN_IF_ERROR(lists.Decode(block));
        break;
      case BlockKind::kTruncation:
        LS_RETURN_IF_ERROR(sink.OnTruncation(block.payload));
        break;
      case BlockKind::kFeatures:
        LS_RETURN_IF_ERROR(features.Decode(block));
        break;
      case BlockKind::kDefinitions:
      case BlockKind::kRows:
      case BlockKind::kParts:
        return Damaged(block.payload_at, block.number, "a block of another kind of file");
      case BlockKind::kEnd:
        LS_RETURN_IF_ERROR(features.Finish());
        LS_RETURN_IF_ERROR(CheckEnd(block, counted, result.totals));
        LS_RETURN_IF_ERROR(blocks.ReadEnd());
        result.bytes = blocks.offset();
        return result;
    }
  }
}

}  // namespace liststore::snapshot
