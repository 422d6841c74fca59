#include "engine/storage/partition/leaf.h"

#include <algorithm>
#include <cstring>

namespace liststore::storage {
namespace {

constexpr size_t kPlainLengthBytes = 2;
constexpr size_t kExternalPlainBytes = 16;                         // pointer 8, lengths 4 + 4
constexpr size_t kExternalPackedBytes = kPackedItemKeyBytes + 12;  // key 24, pointer 8, length 4

// A new leaf leaves this much room below its first timestamp for late writes (about 200 days), and
// the rest of the 814 days that a delta spans for later ones.
constexpr int64_t kBaseSlackMicros = int64_t{1} << 44;

}  // namespace

char* Leaf::Create(memory::Arena& arena, size_t bytes, memory::Arena::Mobility mobility,
                   std::string_view partition_key, bool packed, uint8_t bits) {
  LS_CHECK(partition_key.size() <= kInlinePartitionKeyMax, "long partition keys live elsewhere");
  const size_t front = FrontBytes(partition_key.size()) + (bits & cache_bits::kFreshness);
  const size_t block_bytes = memory::Arena::BlockBytes(std::max(bytes, front));
  char* block = static_cast<char*>(arena.Allocate(block_bytes, mobility));
  auto& header = *new (block) LeafHeader{};
  header.earliest_expiry = kNeverExpires;
  header.key_bytes = static_cast<uint16_t>(partition_key.size());
  header.block_units = static_cast<uint16_t>(block_bytes / 16);
  header.packed = packed ? 1 : 0;
  header.cache_bits = bits;
  if (!partition_key.empty()) {
    std::memcpy(block + sizeof(LeafHeader), partition_key.data(), partition_key.size());
  }
  if ((bits & cache_bits::kFreshness) != 0) Leaf(block).set_fresh_until_seconds(0);
  return block;
}

char* Leaf::Resize(memory::Arena& arena, char* block, size_t bytes,
                   memory::Arena::Mobility mobility) {
  Leaf old(block);
  const size_t block_bytes = memory::Arena::BlockBytes(bytes);
  LS_CHECK(block_bytes >= old.used_bytes(), "a leaf is moved to a block that holds it");
  LS_CHECK(!old.pinned(), "the block of a pinned leaf stays");
  if (block_bytes == old.block_bytes()) return block;
  char* target = static_cast<char*>(arena.Allocate(block_bytes, mobility));
  const size_t front = old.front_bytes() + old.size() * sizeof(RowMeta);
  std::memcpy(target, block, front);
  const size_t rows = old.RowsBytes();
  std::memcpy(target + block_bytes - rows, block + old.block_bytes() - rows, rows);
  Leaf(target).header().block_units = static_cast<uint16_t>(block_bytes / 16);
  arena.Free(block, old.block_bytes());
  return target;
}

ClusteringKeyView Leaf::key(size_t index) const {
  const char* bytes = row(index);
  if (packed()) return {{bytes, kPackedItemKeyBytes}, true};
  if (meta(index).external()) {
    return {{LoadNative<const char*>(bytes), LoadNative<uint32_t>(bytes + 8)}, false};
  }
  return {{bytes + kPlainLengthBytes, LoadNative<uint16_t>(bytes)}, false};
}

std::string_view Leaf::payload(size_t index) const {
  const char* bytes = row(index);
  const bool external = meta(index).external();
  if (packed()) {
    if (external) {
      const char* descriptor = bytes + kPackedItemKeyBytes;
      return {LoadNative<const char*>(descriptor), LoadNative<uint32_t>(descriptor + 8)};
    }
    return {bytes + kPackedItemKeyBytes, row_bytes(index) - kPackedItemKeyBytes};
  }
  if (external) {
    const uint32_t key_bytes = LoadNative<uint32_t>(bytes + 8);
    return {LoadNative<const char*>(bytes) + key_bytes, LoadNative<uint32_t>(bytes + 12)};
  }
  const size_t front = kPlainLengthBytes + LoadNative<uint16_t>(bytes);
  return {bytes + front, row_bytes(index) - front};
}

Liveness Leaf::liveness(size_t index) const {
  const RowMeta row_meta = meta(index);
  LS_DCHECK(!row_meta.complex(), "a complex row keeps its times in its payload");
  Liveness liveness;
  liveness.timestamp = timestamp(index);
  if (row_meta.expiry != kNeverExpires) {
    liveness.expiry_seconds = row_meta.expiry;
    liveness.ttl_seconds =
        row_meta.expiry - (FloorSeconds(liveness.timestamp) + int64_t{row_meta.ttl_skew});
  }
  return liveness;
}

RowImage Leaf::image(size_t index) const {
  const RowMeta row_meta = meta(index);
  RowImage image;
  image.key = key(index);
  image.payload = payload(index);
  image.complex = row_meta.complex();
  if (!image.complex) image.timestamp = timestamp(index);
  image.expiry = row_meta.expiry;
  image.ttl_skew = row_meta.ttl_skew;
  image.fingerprint = row_meta.fingerprint;
  image.stays_external = row_meta.external();
  return image;
}

size_t Leaf::LowerBound(ClusteringKeyView key) const {
  // The newest end first: that is where most writes go.
  const size_t count = size();
  if (count == 0 || CompareKeys(this->key(count - 1), key) < 0) return count;
  size_t low = 0;
  size_t high = count - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (CompareKeys(this->key(middle), key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t Leaf::LowerBound(const ClusteringBound& bound) const {
  if (bound.at_end) return size();
  size_t low = 0;
  size_t high = size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (CompareKeyToBound(key(middle), bound) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool Leaf::AdmitTimestamp(WriteTimestamp timestamp) {
  LS_DCHECK(!timestamp.is_none(), "a row is written at some time");
  if (!empty() && SpansTimestamp(timestamp)) return true;
  const int64_t base = header().base_micros;
  // Find the span of what must be kept, and put the base below it.
  int64_t low = timestamp.micros;
  int64_t high = timestamp.micros;
  for (size_t i = 0; i < size(); ++i) {
    if (meta(i).complex()) continue;
    low = std::min(low, this->timestamp(i).micros);
    high = std::max(high, this->timestamp(i).micros);
  }
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (span > RowMeta::kDeltaMax) return false;
  const int64_t slack = std::min(kBaseSlackMicros, static_cast<int64_t>(RowMeta::kDeltaMax - span));
  const int64_t new_base = low < INT64_MIN + slack ? low : low - slack;
  for (size_t i = 0; i < size(); ++i) {
    RowMeta& row_meta = metas()[i];
    if (row_meta.complex()) continue;
    const uint64_t delta =
        static_cast<uint64_t>(base) + row_meta.delta() - static_cast<uint64_t>(new_base);
    LS_CHECK(delta <= RowMeta::kDeltaMax, "a moved base still spans every row");
    row_meta.bits = (row_meta.bits & ~RowMeta::kDeltaMax) | delta;
  }
  header().base_micros = new_base;
  return true;
}

bool Leaf::IsExternal(const RowImage& row, bool packed_leaf) {
  if (row.stays_external && !row.payload.empty()) return true;
  if (packed_leaf) return kPackedItemKeyBytes + row.payload.size() > kInlineRowBytesMax;
  const size_t key_bytes = row.key.packed ? kItemKeyTextBytes : row.key.bytes.size();
  return kPlainLengthBytes + key_bytes + row.payload.size() > kInlineRowBytesMax;
}

size_t Leaf::InlineBytes(const RowImage& row, bool packed_leaf) {
  if (IsExternal(row, packed_leaf)) {
    return packed_leaf ? kExternalPackedBytes : kExternalPlainBytes;
  }
  if (packed_leaf) return kPackedItemKeyBytes + row.payload.size();
  return kPlainLengthBytes + (row.key.packed ? kItemKeyTextBytes : row.key.bytes.size()) +
         row.payload.size();
}

void Leaf::ShiftOffsets(size_t from, int64_t by) {
  RowMeta* const all = metas();
  const uint64_t change = static_cast<uint64_t>(by) << 48;
  for (size_t i = from; i < size(); ++i) all[i].bits += change;
}

void Leaf::WriteRow(memory::Arena& arena, size_t index, const RowImage& image, size_t end_offset,
                    bool external) {
  LS_DCHECK(!packed() || image.key.packed, "a packed leaf takes packed keys");
  char* out = block_end() - end_offset;
  char text[kItemKeyTextBytes];
  const std::string_view key = packed() ? image.key.bytes : PlainKey(image.key, text);
  if (external) {
    const size_t key_bytes = packed() ? 0 : key.size();
    LS_CHECK(image.payload.size() <= UINT32_MAX, "a row is not larger than kRowBytesMax");
    char* bytes = static_cast<char*>(
        arena.Allocate(key_bytes + image.payload.size(), memory::Arena::Mobility::kFixed));
    if (!key.empty()) std::memcpy(bytes, key.data(), key_bytes);
    if (!image.payload.empty()) {
      std::memcpy(bytes + key_bytes, image.payload.data(), image.payload.size());
    }
    if (packed()) {
      std::memcpy(out, key.data(), kPackedItemKeyBytes);
      out += kPackedItemKeyBytes;
      StoreNative(out, bytes);
    } else {
      StoreNative(out, bytes);
      StoreNative(out + 8, static_cast<uint32_t>(key_bytes));
      out += 4;
    }
    StoreNative(out + 8, static_cast<uint32_t>(image.payload.size()));
  } else {
    if (!packed()) {
      StoreNative(out, static_cast<uint16_t>(key.size()));
      out += kPlainLengthBytes;
    }
    // A table without clustering columns has one row a partition, whose key may be no address at
    // all.
    if (!key.empty()) std::memcpy(out, key.data(), key.size());
    if (!image.payload.empty()) {
      std::memcpy(out + key.size(), image.payload.data(), image.payload.size());
    }
  }
  uint64_t delta = 0;
  if (!image.complex) {
    delta =
        static_cast<uint64_t>(image.timestamp.micros) - static_cast<uint64_t>(header().base_micros);
    LS_CHECK(delta <= RowMeta::kDeltaMax, "the timestamp of a simple row was admitted");
  }
  RowMeta& row_meta = metas()[index];
  row_meta.bits = delta | (image.complex ? RowMeta::kComplexBit : 0) |
                  (external ? RowMeta::kExternalBit : 0) |
                  (static_cast<uint64_t>(end_offset) << 48);
  row_meta.expiry = image.expiry;
  row_meta.fingerprint = image.fingerprint;
  row_meta.ttl_skew = image.ttl_skew;
  if (row_meta.special()) CountSpecial(1);
}

void Leaf::CountSpecial(int by) {
  header().special_rows = static_cast<uint16_t>(header().special_rows + by);
}

void Leaf::Insert(memory::Arena& arena, size_t index, const RowImage& image) {
  const size_t bytes = InlineBytes(image, packed());
  const size_t count = size();
  LS_CHECK(index <= count && free_bytes() >= bytes + sizeof(RowMeta), "room was made for the row");
  LS_DCHECK(!pinned(), "a pinned leaf stays as it is");
  const size_t below = EndOffset(index - 1);
  const size_t moved = RowsBytes() - below;
  if (index < count) {
    char* start = block_end() - below - moved;
    std::memmove(start - bytes, start, moved);
    RowMeta* at = metas() + index;
    std::memmove(at + 1, at, (count - index) * sizeof(RowMeta));
  }
  ++header().row_count;
  if (index < count) ShiftOffsets(index + 1, static_cast<int64_t>(bytes));
  WriteRow(arena, index, image, below + bytes, IsExternal(image, packed()));
  header().stride = count == 0 || header().stride == bytes ? static_cast<uint16_t>(bytes) : 0;
  header().earliest_expiry = std::min(header().earliest_expiry, image.expiry);
}

void Leaf::Replace(memory::Arena& arena, size_t index, const RowImage& image) {
  LS_CHECK(index < size(), "the row to replace exists");
  LS_DCHECK(!pinned(), "a pinned leaf stays as it is");
  const RowMeta old = meta(index);
  const size_t old_bytes = row_bytes(index);
  const size_t bytes = InlineBytes(image, packed());
  LS_CHECK(free_bytes() + old_bytes >= bytes, "room was made for the row");
  if (old.external()) FreeExternal(arena, index);
  if (old.special()) CountSpecial(-1);
  const size_t below = EndOffset(index - 1);
  if (bytes != old_bytes) {
    const size_t moved = RowsBytes() - below - old_bytes;
    const int64_t change = static_cast<int64_t>(bytes) - static_cast<int64_t>(old_bytes);
    char* start = block_end() - below - old_bytes - moved;
    std::memmove(start - change, start, moved);
    ShiftOffsets(index + 1, change);
    header().stride = size() == 1 ? static_cast<uint16_t>(bytes) : 0;
  }
  WriteRow(arena, index, image, below + bytes, IsExternal(image, packed()));
  if (old.expiry == header().earliest_expiry && image.expiry > old.expiry) {
    RecomputeEarliestExpiry();
  } else {
    header().earliest_expiry = std::min(header().earliest_expiry, image.expiry);
  }
}

void Leaf::Erase(memory::Arena& arena, size_t first, size_t last) {
  LS_CHECK(first <= last && last <= size(), "the rows to erase exist");
  LS_DCHECK(!pinned(), "a pinned leaf stays as it is");
  if (first == last) return;
  bool lost_earliest = false;
  for (size_t i = first; i < last; ++i) {
    const RowMeta row_meta = meta(i);
    lost_earliest |= row_meta.expiry == header().earliest_expiry;
    if (row_meta.external()) FreeExternal(arena, i);
    if (row_meta.special()) CountSpecial(-1);
  }
  const size_t below = EndOffset(first - 1);
  const size_t gap = EndOffset(last - 1) - below;
  const size_t moved = RowsBytes() - below - gap;
  char* start = block_end() - below - gap - moved;
  std::memmove(start + gap, start, moved);
  RowMeta* at = metas();
  std::memmove(at + first, at + last, (size() - last) * sizeof(RowMeta));
  header().row_count = static_cast<uint16_t>(size() - (last - first));
  ShiftOffsets(first, -static_cast<int64_t>(gap));
  if (empty()) header().stride = 0;
  if (lost_earliest) RecomputeEarliestExpiry();
}

void Leaf::MoveTailTo(size_t from, Leaf target) {
  LS_CHECK(from <= size() && target.empty() && target.packed() == packed(),
           "a tail moves to its like");
  LS_DCHECK(!pinned(), "a pinned leaf stays as it is");
  const size_t count = size() - from;
  const size_t below = EndOffset(from - 1);
  const size_t bytes = RowsBytes() - below;
  LS_CHECK(target.free_bytes() >= bytes + count * sizeof(RowMeta), "the target has room");
  std::memcpy(target.block_end() - bytes, block_end() - RowsBytes(), bytes);
  std::memcpy(target.metas(), metas() + from, count * sizeof(RowMeta));
  target.header().base_micros = header().base_micros;
  target.header().row_count = static_cast<uint16_t>(count);
  target.header().stride = count == 0 ? uint16_t{0} : header().stride;
  target.ShiftOffsets(0, -static_cast<int64_t>(below));
  for (size_t i = 0; i < count; ++i) {
    if (target.meta(i).special()) {
      target.CountSpecial(1);
      CountSpecial(-1);
    }
  }
  header().row_count = static_cast<uint16_t>(from);
  if (empty()) header().stride = 0;
  RecomputeEarliestExpiry();
  target.RecomputeEarliestExpiry();
}

Leaf::External Leaf::ExternalOf(size_t index) const {
  char* const bytes = block_ + (row(index) - block_);
  if (packed()) {
    char* const descriptor = bytes + kPackedItemKeyBytes;
    return {descriptor, LoadNative<uint32_t>(descriptor + 8)};
  }
  return {bytes, size_t{LoadNative<uint32_t>(bytes + 8)} + LoadNative<uint32_t>(bytes + 12)};
}

void Leaf::FreeExternal(memory::Arena& arena, size_t index) {
  const External external = ExternalOf(index);
  arena.Free(LoadNative<char*>(external.where), external.bytes);
}

char* Leaf::Copy(memory::Arena& arena, const char* block, memory::Arena::Mobility mobility) {
  const size_t block_bytes = size_t{reinterpret_cast<const LeafHeader*>(block)->block_units} * 16;
  char* const copy = static_cast<char*>(arena.Allocate(block_bytes, mobility));
  std::memcpy(copy, block, block_bytes);
  Leaf leaf(copy);
  leaf.set_pinned(false);
  if (leaf.all_simple()) return copy;
  for (size_t i = 0; i < leaf.size(); ++i) {
    if (!leaf.meta(i).external()) continue;
    const External external = leaf.ExternalOf(i);
    char* const own =
        static_cast<char*>(arena.Allocate(external.bytes, memory::Arena::Mobility::kFixed));
    std::memcpy(own, LoadNative<const char*>(external.where), external.bytes);
    StoreNative(external.where, own);
  }
  return copy;
}

size_t Leaf::CopyBytes() const {
  size_t bytes = block_bytes();
  if (all_simple()) return bytes;
  for (size_t i = 0; i < size(); ++i) {
    if (meta(i).external()) bytes += memory::Arena::BlockBytes(ExternalOf(i).bytes);
  }
  return bytes;
}

void Leaf::FreeExternals(memory::Arena& arena) {
  if (all_simple()) return;
  for (size_t i = 0; i < size(); ++i) {
    if (meta(i).external()) FreeExternal(arena, i);
  }
}

void Leaf::RecomputeEarliestExpiry() {
  uint32_t earliest = kNeverExpires;
  const RowMeta* const all = metas();
  for (size_t i = 0; i < size(); ++i) earliest = std::min(earliest, all[i].expiry);
  header().earliest_expiry = earliest;
}

void Leaf::Verify() const {
  LS_CHECK(used_bytes() <= block_bytes(), "(5) metas and rows do not overlap");
  uint32_t earliest = kNeverExpires;
  size_t special = 0;
  for (size_t i = 0; i < size(); ++i) {
    const size_t below = i == 0 ? 0 : meta(i - 1).end_offset();
    LS_CHECK(meta(i).end_offset() > below, "(2) offsets ascend");
    if (header().stride != 0) {
      LS_CHECK(meta(i).end_offset() - below == header().stride, "(3) one length");
    }
    if (packed()) LS_CHECK(row_bytes(i) >= kPackedItemKeyBytes, "(1) a packed key is there");
    if (i > 0) LS_CHECK(CompareKeys(key(i - 1), key(i)) < 0, "(1) keys ascend");
    earliest = std::min(earliest, meta(i).expiry);
    if (meta(i).special()) ++special;
  }
  LS_CHECK(earliest == header().earliest_expiry, "(4) the earliest expiry is known");
  LS_CHECK(special == header().special_rows, "(4) special rows are counted");
}

}  // namespace liststore::storage
