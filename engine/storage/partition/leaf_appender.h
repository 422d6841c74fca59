// LeafAppender: puts rows behind all others of a leaf, where many come. What Leaf::Insert of each would
// make, without a look at the header and the row before for each: 48 bytes of key and value and 16
// of meta are written, one after the other, and nothing is read.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_APPENDER_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_APPENDER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/base/check.h"
#include "engine/base/short_copy.h"
#include "engine/model/hot_row.h"
#include "engine/storage/partition/leaf.h"

namespace liststore::storage {

// The leaf is packed and not pinned. Rows come in ascending order of their keys, behind those that
// are there; they are short, and their metas can hold their times (Partition::FitsMeta). What
// was appended is part of the leaf from Finish() on; until then nobody else looks at it.
class LeafAppender {
 public:
  explicit LeafAppender(Leaf leaf)
      : leaf_(leaf),
        base_micros_(leaf.header().base_micros),
        count_(leaf.header().row_count),
        rows_bytes_(leaf.RowsBytes()),
        stride_(leaf.header().stride),
        earliest_expiry_(leaf.header().earliest_expiry),
        rows_at_(leaf.block() + leaf.block_bytes() - rows_bytes_),
        meta_at_(leaf.metas() + count_) {
    LS_DCHECK(leaf.IsUnpinned(/*packed=*/true), "the leaf takes packed rows");
  }

  // What a row takes, its meta included.
  static size_t RowBytes(const HotRow& row) {
    return sizeof(RowMeta) + kPackedItemKeyBytes + row.value.size();
  }

  // Room has been made, and the row's timestamp is no further from any other than a leaf can span.
  void Append(const HotRow& row, uint16_t fingerprint) {
    const size_t bytes = kPackedItemKeyBytes + row.value.size();
    char* const to = rows_at_ - bytes;
    LS_CHECK(to >= reinterpret_cast<char*>(meta_at_ + 1), "room was made for the row");
    std::memcpy(to, row.key.bytes.data(), kPackedItemKeyBytes);
    CopyShort(row.value, to + kPackedItemKeyBytes);
    rows_at_ = to;
    const Liveness& liveness = row.liveness;
    uint64_t delta = DeltaOf(liveness.timestamp);
    if (count_ == 0 || delta > RowMeta::kDeltaMax) [[unlikely]] {
      Admit(liveness.timestamp);
      delta = DeltaOf(liveness.timestamp);
    }
    rows_bytes_ += bytes;
    meta_at_->bits = delta | static_cast<uint64_t>(rows_bytes_) << 48;
    meta_at_->expiry = kNeverExpires;
    meta_at_->fingerprint = fingerprint;
    meta_at_->ttl_skew = 0;
    if (liveness.expiring()) {
      meta_at_->expiry = static_cast<uint32_t>(liveness.expiry_seconds);
      meta_at_->ttl_skew =
          static_cast<int16_t>(liveness.written_seconds() - FloorSecondsOf(liveness.timestamp));
    }
    earliest_expiry_ = std::min(earliest_expiry_, meta_at_->expiry);
    stride_ = count_ == 0 || stride_ == bytes ? bytes : 0;
    ++meta_at_;
    ++count_;
  }
  void Finish() {
    LeafHeader& header = leaf_.header();
    header.row_count = static_cast<uint16_t>(count_);
    header.stride = static_cast<uint16_t>(stride_);
    header.earliest_expiry = earliest_expiry_;
  }

 private:
  uint64_t DeltaOf(WriteTimestamp timestamp) const {
    return static_cast<uint64_t>(timestamp.micros) - static_cast<uint64_t>(base_micros_);
  }
  [[gnu::noinline]] void Admit(WriteTimestamp timestamp) {
    Finish();
    LS_CHECK(leaf_.AdmitTimestamp(timestamp), "the leaf spans the rows that come together");
    base_micros_ = leaf_.header().base_micros;
  }
  // Most rows that come together were written together.
  int64_t FloorSecondsOf(WriteTimestamp timestamp) {
    if (timestamp != second_of_) {
      second_of_ = timestamp;
      second_ = FloorSeconds(timestamp);
    }
    return second_;
  }

  Leaf leaf_;
  int64_t base_micros_;
  size_t count_;
  size_t rows_bytes_;
  size_t stride_;
  uint32_t earliest_expiry_;
  WriteTimestamp second_of_ = WriteTimestamp::None();
  int64_t second_ = 0;
  char* rows_at_;
  RowMeta* meta_at_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_APPENDER_H_
