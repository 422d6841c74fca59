// Rows that come together, behind all others of their partition: lists that are put whole, first
// additions, restored lists.
#include <algorithm>
#include <array>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/storage/partition/leaf_appender.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {
namespace {

// Their values' buckets are fetched together.
constexpr size_t kIndexedAtOnce = 16;

// What a full leaf has room for.
size_t FullLeafBytes() { return memory::Arena::BlockBytes(kLeafBytesMax); }

size_t BytesOf(std::span<const HotRow> rows) {
  size_t bytes = 0;
  for (const HotRow& row : rows) bytes += LeafAppender::RowBytes(row);
  return bytes;
}

// How many of the first rows fit.
struct Fitting {
  size_t rows = 0;
  size_t bytes = 0;
};
Fitting FitInto(size_t bytes_max, std::span<const HotRow> rows) {
  Fitting fitting;
  for (const HotRow& row : rows) {
    const size_t bytes = LeafAppender::RowBytes(row);
    if (fitting.bytes + bytes > bytes_max) break;
    fitting.bytes += bytes;
    ++fitting.rows;
  }
  return fitting;
}

// That they can be put into a leaf that has rows.
bool SpansAll(const Leaf& leaf, std::span<const HotRow> rows) {
  return std::ranges::all_of(
      rows, [&](const HotRow& row) { return leaf.SpansTimestamp(row.liveness.timestamp); });
}

}  // namespace

bool Partition::TakesBehind(std::span<const HotRow> rows) const {
  if (rows.empty() || !context_.schema.packs_item_keys() || context_.schema.regular.size() != 1) {
    return false;
  }
  if (!large()) {
    const Leaf leaf(BlockOf(reference_));
    if (!OnlyHotRows()) return false;
    return leaf.empty() ||
           (CompareKeys(leaf.key(leaf.size() - 1), rows.front().key) < 0 && SpansAll(leaf, rows));
  }
  const LargePartition& partition = LargeOf(reference_);
  if (partition.tombstone.present() || !partition.ranges.empty()) return false;
  if (partition.tree.empty()) return true;
  const Leaf last = partition.tree.leaf(partition.tree.Last());
  return CompareKeys(last.key(last.size() - 1), rows.front().key) < 0;
}

void Partition::Append(std::span<const HotRow> rows) {
  LS_DCHECK(TakesBehind(rows), "the rows come behind all others");
  if (!large()) {
    LeafRef at{BlockOf(reference_), {}};
    const Leaf leaf(at.block);
    const size_t want = leaf.used_bytes() + BytesOf(rows);
    if (want > leaf.block_bytes()) {
      if (want > kLeafBytesMax) {
        MakeLarge();
      } else {
        at.block = Leaf::Resize(context_.arena, at.block, want, memory::Arena::Mobility::kMovable);
      }
    }
    if (!large()) {
      AppendToLeaf(at.block, rows);
      LeafChanged(at);
    }
  }
  if (large()) AppendToTree(rows);
  context_.rows += rows.size();
}

// The leaf has room. Values are hashed once, for fingerprints and indexes.
void Partition::AppendToLeaf(char* block, std::span<const HotRow> rows) {
  const bool hashes = !context_.schema.indexes.empty();
  const uint32_t leaf_id = Leaf(block).header().epoch_or_leaf_id;
  const std::span<ValueIndex> indexes =
      large() ? std::span<ValueIndex>(LargeOf(reference_).indexes) : std::span<ValueIndex>();
  LeafAppender appender{Leaf(block)};
  for (size_t first = 0; first < rows.size(); first += kIndexedAtOnce) {
    const auto group = rows.subspan(first, std::min(kIndexedAtOnce, rows.size() - first));
    std::array<uint32_t, kIndexedAtOnce> hash_of;
    for (size_t i = 0; i < group.size(); ++i) {
      const uint64_t hash = hashes ? Hash64(group[i].value) : 0;
      hash_of[i] = static_cast<uint32_t>(hash);
      appender.Append(group[i], static_cast<uint16_t>(hash));
      for (const ValueIndex& index : indexes) index.Prefetch(hash_of[i]);
    }
    for (ValueIndex& index : indexes) {
      for (size_t i = 0; i < group.size(); ++i) index.Add(hash_of[i], leaf_id);
    }
  }
  appender.Finish();
}

void Partition::AppendToTree(std::span<const HotRow> rows) {
  LargePartition& partition = LargeOf(reference_);
  partition.row_count += rows.size();
  for (const HotRow& row : rows) {
    partition.max_timestamp = std::max(partition.max_timestamp, row.liveness.timestamp);
  }
  LeafRef at{nullptr, {}};
  Fitting behind_last;
  if (!partition.tree.empty()) {
    at.position = partition.tree.Last();
    at.block = partition.tree.leaf(at.position).block();
    const Leaf leaf(at.block);
    const size_t full = std::max(FullLeafBytes(), leaf.block_bytes());
    behind_last = FitInto(full - std::min(full, leaf.used_bytes()), rows);
    if (!leaf.packed() || !SpansAll(leaf, rows.first(behind_last.rows))) behind_last = {};
  }
  const bool begins_indexes = BeginIndexes(rows, behind_last.rows);
  if (behind_last.rows != 0) {
    const Leaf leaf(at.block);
    const size_t want = leaf.used_bytes() + behind_last.bytes;
    if (want > leaf.block_bytes()) {
      at.block = Leaf::Resize(context_.arena, at.block, want, memory::Arena::Mobility::kFixed);
    }
    AppendToLeaf(at.block, rows.first(behind_last.rows));
    ReplaceBlock(at, at.block);
    rows = rows.subspan(behind_last.rows);
  }
  while (!rows.empty()) {
    const Fitting fitting = FitInto(FullLeafBytes() - sizeof(LeafHeader), rows);
    LS_CHECK(fitting.rows != 0, "a leaf takes a short row");
    char* const block = Leaf::Create(
        context_.arena, std::max(sizeof(LeafHeader) + fitting.bytes, kTreeLeafBytesMin),
        memory::Arena::Mobility::kFixed, {}, /*packed=*/true);
    Leaf(block).header().epoch_or_leaf_id = partition.NewLeafId(block);
    AppendToLeaf(block, rows.first(fitting.rows));
    at.position = partition.tree.InsertAfter(at.position, block);
    rows = rows.subspan(fitting.rows);
  }
  if (!begins_indexes) return;
  for (ValueIndex& index : partition.indexes) index.ReleaseSpare();
}

// Where the rows, of which `behind_last` come to the last leaf, make enough leaves for indexes; whether
// that is so.
bool Partition::BeginIndexes(std::span<const HotRow> rows, size_t behind_last) {
  LargePartition& partition = LargeOf(reference_);
  if (context_.schema.indexes.empty() || partition.indexed()) return false;
  size_t leaves = partition.tree.leaf_count();
  for (auto rest = rows.subspan(behind_last);
       !rest.empty() && leaves <= LargePartition::kScannedLeavesMax; ++leaves) {
    rest = rest.subspan(FitInto(FullLeafBytes() - sizeof(LeafHeader), rest).rows);
  }
  if (leaves <= LargePartition::kScannedLeavesMax) return false;
  BuildIndexes(partition.row_count);
  return true;
}

}  // namespace liststore::storage
