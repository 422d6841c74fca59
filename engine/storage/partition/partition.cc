// Structure of a partition: leaves that grow, split, merge and go; small and large. What the value
// indexes hear of it is in partition_index.cc, the rules of CQL are in partition_write.cc, reading in
// partition_read.cc.
#include "engine/storage/partition/partition.h"

#include <algorithm>
#include <cstring>

#include "engine/base/check.h"

namespace liststore::storage {
namespace {

// Leaves that together fill less than this become one.
constexpr size_t kMergedBytesMax = kLeafBytesMax / 2;
constexpr size_t kSparseLeafBytes = kLeafBytesMax / 8;
// Blocks smaller than this are not worth shrinking.
constexpr size_t kShrunkBytesMin = 512;

memory::Arena::Mobility MobilityOf(bool large) {
  return large ? memory::Arena::Mobility::kFixed : memory::Arena::Mobility::kMovable;
}

}  // namespace

uint64_t Partition::SmallReference(char* block) {
  const Leaf leaf(block);
  const uint64_t hint = (leaf.block_bytes() - leaf.RowsBytes()) / 16;
  return reinterpret_cast<uint64_t>(block) | hint << kHintShift;
}

uint64_t Partition::LargeReference(LargePartition* large) {
  return reinterpret_cast<uint64_t>(large) | 1;
}

uint64_t Partition::Create(PartitionContext& context, std::string_view key, uint32_t epoch,
                           size_t expected_bytes, uint8_t bits, int64_t fresh_until_seconds) {
  const bool fresh = (bits & cache_bits::kFreshness) != 0;
  if (key.size() > kInlinePartitionKeyMax) {
    LargePartition* large = LargePartition::Create(context.arena, key, epoch);
    large->cache_bits = bits & static_cast<uint8_t>(~cache_bits::kFreshness);
    large->fresh_until_seconds = fresh ? fresh_until_seconds : 0;
    return LargeReference(large);
  }
  const size_t front = Leaf::FrontBytes(key.size()) + (fresh ? Leaf::kFreshnessBytes : 0);
  const size_t bytes = std::min(front + expected_bytes, kLeafBytesMax);
  char* block = Leaf::Create(context.arena, bytes, memory::Arena::Mobility::kMovable, key,
                             context.schema.packs_item_keys(), bits);
  if (fresh) Leaf(block).set_fresh_until_seconds(fresh_until_seconds);
  Leaf(block).header().epoch_or_leaf_id = epoch;
  return SmallReference(block);
}

bool Partition::empty() const {
  if (kept_empty()) return false;
  if (!large()) return Leaf(BlockOf(reference_)).empty();
  const LargePartition& partition = LargeOf(reference_);
  return partition.tree.empty() && !partition.tombstone.present() && partition.ranges.empty() &&
         partition.static_row.empty();
}

size_t Partition::row_count() const {
  return large() ? LargeOf(reference_).row_count : Leaf(BlockOf(reference_)).size();
}

uint64_t Partition::RowTombstonesOfSpecial(const Leaf& leaf, size_t first, size_t last) {
  uint64_t rows = 0;
  for (size_t i = first; i < last; ++i) {
    if (leaf.meta(i).complex() && RowBody::HasTombstone(leaf.payload(i))) ++rows;
  }
  return rows;
}

TombstoneCounts Partition::tombstone_counts() const {
  TombstoneCounts counts;
  // Where there are none at all, nobody looks.
  const bool may_have_rows = context_.held.rows != 0 && MayHaveComplexRows();
  const auto add = [&](const Leaf& leaf) { counts.rows += RowTombstones(leaf, 0, leaf.size()); };
  if (may_have_rows) ForEachLeaf(add);
  if (!large()) return counts;
  const LargePartition& partition = LargeOf(reference_);
  if (may_have_rows) partition.tree.ForEachCut(add);
  counts.ranges = partition.ranges.size();
  counts.partitions = partition.tombstone.present() ? 1 : 0;
  return counts;
}

uint32_t Partition::epoch() const {
  return large() ? LargeOf(reference_).epoch : Leaf(BlockOf(reference_)).header().epoch_or_leaf_id;
}

uint32_t Partition::wheel_when() const {
  return large() ? LargeOf(reference_).wheel_when : Leaf(BlockOf(reference_)).header().wheel_when;
}

void Partition::set_wheel_when(uint32_t seconds) {
  if (large()) {
    LargeOf(reference_).wheel_when = seconds;
  } else {
    Leaf(BlockOf(reference_)).header().wheel_when = seconds;
  }
}

void Partition::set_cache_bits(uint8_t bits) {
  if (large()) {
    LargeOf(reference_).cache_bits = bits;
    return;
  }
  LeafHeader& header = Leaf(BlockOf(reference_)).header();
  LS_DCHECK(((header.cache_bits ^ bits) & cache_bits::kFreshness) == 0,
            "the metas stay where they are");
  header.cache_bits = bits;
}

// --- Finding and replacing leaves ----------------------------------------------------------------

Partition::LeafRef Partition::FindLeaf(ClusteringKeyView key) const {
  if (!large()) return {BlockOf(reference_), {}};
  LargePartition& partition = LargeOf(reference_);
  if (partition.tree.empty()) return {nullptr, {}};
  const LeafTree::Position position = partition.tree.Find(key);
  return {partition.tree.leaf(position).block(), position};
}

void Partition::ReplaceBlock(LeafRef& at, char* block) {
  at.block = block;
  if (!large()) {
    reference_ = SmallReference(block);
    return;
  }
  LargePartition& partition = LargeOf(reference_);
  partition.leaf_blocks[Leaf(block).header().epoch_or_leaf_id] = block;
  if (!Leaf(block).empty()) partition.tree.Refresh(at.position, block);
}

bool Partition::LeafChanged(LeafRef& at) {
  Leaf leaf(at.block);
  if (!large()) {
    reference_ = SmallReference(at.block);
    return leaf.empty();
  }
  LargePartition& partition = LargeOf(reference_);
  if (!leaf.empty()) {
    partition.tree.Refresh(at.position, at.block);
    return false;
  }
  partition.tree.Remove(at.position);
  partition.FreeLeafId(leaf.header().epoch_or_leaf_id);
  context_.arena.Free(at.block, leaf.block_bytes());
  at.block = nullptr;
  return true;
}

// --- Growing -------------------------------------------------------------------------------------

void Partition::Expect(const Load& load) {
  // One hot row is put where it fits exactly.
  context_.growth_bytes = load.hot && load.rows == 1 ? 0 : load.growth_bytes;
  if (large() || load.rows < 2) return;
  char* block = BlockOf(reference_);
  const Leaf leaf(block);
  const size_t want = leaf.used_bytes() + load.bytes;
  if (want <= leaf.block_bytes() || want > kLeafBytesMax) return;
  reference_ =
      SmallReference(Leaf::Resize(context_.arena, block, want, memory::Arena::Mobility::kMovable));
}

void Partition::MakeLarge() {
  LS_DCHECK(!large(), "a small partition becomes large");
  char* block = BlockOf(reference_);
  Leaf old(block);
  LargePartition* partition =
      LargePartition::Create(context_.arena, old.partition_key(), old.header().epoch_or_leaf_id);
  partition->wheel_when = old.header().wheel_when;
  partition->cache_bits = old.header().cache_bits & static_cast<uint8_t>(~cache_bits::kFreshness);
  partition->fresh_until_seconds = old.fresh_until_seconds();
  partition->row_count = old.size();
  for (size_t i = 0; i < old.size(); ++i) {
    WriteTimestamp timestamp;
    if (old.meta(i).complex()) {
      const RowBody::Outline row = RowBody::OutlineOf(old.payload(i), 0);
      partition->NoteComplexRow(old.key(i).bytes.size() + old.payload(i).size(), row.cells);
      timestamp = row.max_timestamp;
    } else {
      timestamp = old.timestamp(i);
    }
    partition->max_timestamp = std::max(partition->max_timestamp, timestamp);
  }
  if (!old.empty()) {
    const size_t bytes = old.used_bytes() - old.front_bytes();
    char* moved = Leaf::Create(context_.arena, sizeof(LeafHeader) + bytes,
                               memory::Arena::Mobility::kFixed, {}, old.packed());
    old.MoveTailTo(0, Leaf(moved));
    Leaf(moved).header().epoch_or_leaf_id = partition->NewLeafId(moved);
    partition->tree.InsertAfter({}, moved);
  }
  context_.arena.Free(block, old.block_bytes());
  reference_ = LargeReference(partition);
}

void Partition::MakeRoom(LeafRef& at, size_t bytes, size_t index, ClusteringKeyView key) {
  Leaf leaf(at.block);
  const size_t want = leaf.used_bytes() + bytes;
  if (want <= kLeafBytesMax || leaf.size() < 2) {
    // A small one takes what it needs. When the rows of one write turn out longer than expected it
    // takes what all of them may need, so that it is moved once more and not for each of them.
    size_t target = want;
    if (large()) {
      target =
          std::max({want, kTreeLeafBytesMin, std::min(leaf.block_bytes() * 5 / 4, kLeafBytesMax)});
    }
    if (context_.growth_bytes > bytes) {
      target = std::max(target, std::min(leaf.used_bytes() + context_.growth_bytes, kLeafBytesMax));
    }
    ReplaceBlock(at, Leaf::Resize(context_.arena, at.block, target, MobilityOf(large())));
    return;
  }
  if (!large()) {
    MakeLarge();
    at = FindLeaf(key);
    return;
  }
  SplitLeaf(at, index, key);
}

void Partition::SplitLeaf(LeafRef& at, size_t index, ClusteringKeyView key) {
  LargePartition& partition = LargeOf(reference_);
  Leaf left(at.block);
  const size_t count = left.size();
  // Keys that are appended at either end leave the rest of the leaf full.
  const size_t from = index == count ? count - 1 : index == 0 ? 1 : count / 2;
  size_t bytes = sizeof(LeafHeader);
  for (size_t i = from; i < count; ++i) bytes += sizeof(RowMeta) + left.row_bytes(i);
  char* block = Leaf::Create(context_.arena, std::max(bytes, kTreeLeafBytesMin),
                             memory::Arena::Mobility::kFixed, {}, left.packed());
  Leaf right(block);
  right.header().epoch_or_leaf_id = partition.NewLeafId(block);
  left.MoveTailTo(from, right);
  if (from < count - 1) {
    ReplaceBlock(at, Leaf::Resize(context_.arena, at.block, left.used_bytes(),
                                  memory::Arena::Mobility::kFixed));
    left = Leaf(at.block);
  }
  partition.tree.Refresh(at.position, at.block);
  partition.tree.InsertAfter(at.position, block);
  RenameIndexed(right, left.header().epoch_or_leaf_id);
  // The insertion above may have moved positions; start from the key again.
  at = FindLeaf(key);
  if (!partition.indexed() && !context_.schema.indexes.empty() &&
      partition.tree.leaf_count() > LargePartition::kScannedLeavesMax) {
    BuildIndexes(partition.row_count);
    for (ValueIndex& built : partition.indexes) built.ReleaseSpare();
  }
}

void Partition::UnpackLeaf(LeafRef& at) {
  Leaf old(at.block);
  size_t bytes = old.front_bytes();
  // Rows that were shortened where they lie stay external: all would come into the leaf, which cannot
  // be as long.
  for (size_t i = 0; i < old.size(); ++i) bytes += Leaf::RowBytes(old.image(i), false);
  bytes += old.free_bytes();  // room made for rows to come stays
  char* block = Leaf::Create(context_.arena, bytes, MobilityOf(large()), old.partition_key(), false,
                             old.header().cache_bits);
  Leaf plain(block);
  if (old.fresh_until_seconds() != 0) plain.set_fresh_until_seconds(old.fresh_until_seconds());
  plain.header().base_micros = old.header().base_micros;
  plain.header().wheel_when = old.header().wheel_when;
  plain.header().epoch_or_leaf_id = old.header().epoch_or_leaf_id;
  for (size_t i = 0; i < old.size(); ++i) {
    plain.Insert(context_.arena, i, old.image(i));
    // One by one, so that no more than one of them is there twice.
    if (old.meta(i).external()) old.FreeExternal(context_.arena, i);
  }
  context_.arena.Free(at.block, old.block_bytes());
  ReplaceBlock(at, block);
}

// --- Shrinking -----------------------------------------------------------------------------------

void Partition::TryMerge(LeafRef& at) {
  LargePartition& partition = LargeOf(reference_);
  const Leaf leaf(at.block);
  if (leaf.used_bytes() > kSparseLeafBytes) return;
  LeafTree::Position next = at.position;
  if (!partition.tree.Next(next)) return;
  Leaf right = partition.tree.leaf(next);
  // The right leaf's rows must fit into the block that is there.
  if (right.packed() != leaf.packed() || right.used_bytes() + leaf.used_bytes() > kMergedBytesMax) {
    return;
  }
  Leaf left(at.block);
  if (left.free_bytes() < right.used_bytes() - sizeof(LeafHeader)) return;
  for (size_t i = 0; i < right.size(); ++i) {
    const RowMeta meta = right.meta(i);
    if (meta.external()) return;  // rare; its block would have to change hands
    if (!meta.complex() && !left.SpansTimestamp(right.timestamp(i))) return;
  }
  UnindexRows(right, 0, right.size());
  for (size_t i = 0; i < right.size(); ++i) {
    left.Insert(context_.arena, left.size(), right.image(i));
    IndexRow(left, left.size() - 1);
  }
  partition.FreeLeafId(right.header().epoch_or_leaf_id);
  char* freed = right.block();
  const size_t freed_bytes = right.block_bytes();
  partition.tree.Remove(next);
  context_.arena.Free(freed, freed_bytes);
  partition.tree.Refresh(at.position, at.block);
}

bool Partition::WantsShrink(const Leaf& leaf) {
  return leaf.block_bytes() >= kShrunkBytesMin && leaf.used_bytes() * 2 < leaf.block_bytes();
}

bool Partition::WantsShrink() const { return !large() && WantsShrink(Leaf(BlockOf(reference_))); }

void Partition::ShrinkLeaf(LeafRef& at) {
  if (context_.arena.refuses()) return;  // the larger block can stay
  const Leaf leaf(at.block);
  ReplaceBlock(at, Leaf::Resize(context_.arena, at.block, leaf.used_bytes(), MobilityOf(large())));
}

void Partition::Shrink() {
  LeafRef at{BlockOf(reference_), {}};
  if (WantsShrink()) ShrinkLeaf(at);
}

void Partition::TryDemote() {
  if (!large()) return;
  LargePartition& partition = LargeOf(reference_);
  if (partition.tree.leaf_count() != 1 || partition.has_remains() ||
      partition.tombstone.present() || !partition.ranges.empty() || !partition.static_row.empty() ||
      partition.key_size > kInlinePartitionKeyMax ||
      partition.tree.leaf({}).used_bytes() > kMergedBytesMax) {
    return;
  }
  Leaf old = partition.tree.leaf({});
  const bool fresh = partition.fresh_until_seconds != 0;
  const size_t bytes = old.used_bytes() - sizeof(LeafHeader) +
                       Leaf::FrontBytes(partition.key_size) + (fresh ? Leaf::kFreshnessBytes : 0);
  char* block = Leaf::Create(context_.arena, bytes, memory::Arena::Mobility::kMovable,
                             partition.key(), old.packed(),
                             partition.cache_bits | (fresh ? cache_bits::kFreshness : uint8_t{0}));
  Leaf leaf(block);
  if (fresh) leaf.set_fresh_until_seconds(partition.fresh_until_seconds);
  leaf.header().epoch_or_leaf_id = partition.epoch;
  leaf.header().wheel_when = partition.wheel_when;
  char* old_block = old.block();
  const size_t old_bytes = old.block_bytes();
  partition.tree.Remove({});
  old.MoveTailTo(0, leaf);
  context_.arena.Free(old_block, old_bytes);
  partition.Delete();
  reference_ = SmallReference(block);
}

bool Partition::Destroy(size_t budget) {
  if (!large()) {
    Leaf leaf(BlockOf(reference_));
    LS_CHECK(!leaf.pinned(), "the block of a pinned leaf stays");
    context_.rows -= leaf.size();
    context_.held.rows -= RowTombstones(leaf, 0, leaf.size());
    leaf.FreeExternals(context_.arena);
    context_.arena.Free(leaf.block(), leaf.block_bytes());
    return true;
  }
  LargePartition& partition = LargeOf(reference_);
  const auto free_leaf = [&](Leaf leaf) {
    context_.rows -= leaf.size();
    partition.row_count -= leaf.size();
    context_.held.rows -= RowTombstones(leaf, 0, leaf.size());
    leaf.FreeExternals(context_.arena);
    context_.arena.Free(leaf.block(), leaf.block_bytes());
  };
  for (; partition.tree.has_cut() && budget > 0; --budget)
    free_leaf(Leaf(partition.tree.TakeCut()));
  for (; !partition.tree.empty() && budget > 0; --budget) {
    const LeafTree::Position last = partition.tree.Last();
    const Leaf leaf = partition.tree.leaf(last);
    partition.tree.Remove(last);
    free_leaf(leaf);
  }
  if (partition.tree.has_cut() || !partition.tree.empty()) return false;
  ForgetTombstones();
  if (!partition.ranges.FreeSome(budget)) return false;
  partition.static_row.Free(context_.arena);
  partition.Delete();
  return true;
}

void Partition::ForgetTombstones() {
  LargePartition& partition = LargeOf(reference_);
  const size_t ranges = partition.ranges.size();
  partition.ranges.BuryAll();
  NoteRanges(ranges);
  if (partition.tombstone.present()) --context_.held.partitions;
  partition.tombstone = {};
}

// --- Rows ----------------------------------------------------------------------------------------

void Partition::PutRow(LeafRef& at, size_t index, bool replace, RowImage image) {
  if (at.block == nullptr) {  // the first row of a large partition
    LargePartition& partition = LargeOf(reference_);
    const bool packed = context_.schema.packs_item_keys() && image.key.packed;
    char* block = Leaf::Create(context_.arena, sizeof(LeafHeader) + Leaf::RowBytes(image, packed),
                               memory::Arena::Mobility::kFixed, {}, packed);
    Leaf leaf(block);
    leaf.header().epoch_or_leaf_id = partition.NewLeafId(block);
    if (!image.complex) LS_CHECK(leaf.AdmitTimestamp(image.timestamp), "an empty leaf takes any");
    leaf.Insert(context_.arena, 0, image);
    at = {block, partition.tree.InsertAfter({}, block)};
  } else {
    for (;;) {
      Leaf leaf(at.block);
      if (leaf.packed() && !image.key.packed) {
        UnpackLeaf(at);
        continue;
      }
      if (!image.complex && !leaf.AdmitTimestamp(image.timestamp)) {
        // Timestamps too far apart for the metas of one leaf: this row keeps its own in full.
        Liveness liveness{image.timestamp, kNoExpiry, 0};
        if (image.expiry != kNeverExpires) {
          liveness.expiry_seconds = image.expiry;
          liveness.ttl_seconds =
              image.expiry - (FloorSeconds(image.timestamp) + int64_t{image.ttl_skew});
        }
        context_.other_body.DecodeSimple(context_.schema, liveness, image.payload);
        context_.complex_payload.clear();
        context_.other_body.EncodeComplex(context_.complex_payload);
        context_.has_large_scratch |=
            context_.complex_payload.size() > PartitionContext::kScratchBytesKept;
        image.payload = context_.complex_payload;
        image.complex = true;
        continue;
      }
      const size_t need = Leaf::RowBytes(image, leaf.packed());
      const size_t have =
          leaf.free_bytes() + (replace ? leaf.row_bytes(index) + sizeof(RowMeta) : 0);
      if (have >= need) break;
      MakeRoom(at, need - (replace ? leaf.row_bytes(index) + sizeof(RowMeta) : 0), index,
               image.key);
      index = Leaf(at.block).LowerBound(image.key);
    }
    Leaf leaf(at.block);
    if (replace) {
      UnindexRows(leaf, index, index + 1);
      leaf.Replace(context_.arena, index, image);
    } else {
      leaf.Insert(context_.arena, index, image);
    }
    LeafChanged(at);
  }
  IndexRow(Leaf(at.block), index);
  if (large()) {
    LargePartition& partition = LargeOf(reference_);
    partition.max_timestamp = std::max(partition.max_timestamp, image.timestamp);
    if (image.complex) {
      partition.NoteComplexRow(image.key.bytes.size() + image.payload.size(),
                               RowBody::OutlineOf(image.payload, 0).cells);
    }
    if (!replace) ++partition.row_count;
  }
  if (!replace) ++context_.rows;
}

void Partition::EraseRows(LeafRef& at, size_t first, size_t last) {
  if (first == last) return;
  Leaf leaf(at.block);
  UnindexRows(leaf, first, last);
  context_.held.rows -= RowTombstones(leaf, first, last);
  leaf.Erase(context_.arena, first, last);
  context_.rows -= last - first;
  if (large()) LargeOf(reference_).row_count -= last - first;
  if (!LeafChanged(at) && large()) TryMerge(at);
}

}  // namespace liststore::storage
