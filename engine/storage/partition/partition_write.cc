// What writes do to a partition: reconciliation. Deletions are in partition_delete.cc.
// Rules: docs/data_model.md. Sources: ScyllaDB `mutation/mutation_partition.hh`, `atomic_cell.cc`.
#include <algorithm>

#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

// --- Rows in their two forms ---------------------------------------------------------------------

bool Partition::FitsMeta(const Liveness& liveness) {
  if (!liveness.expiring()) return true;
  if (liveness.expiry_seconds <= 0 || liveness.expiry_seconds >= int64_t{kNeverExpires})
    return false;
  const int64_t skew = liveness.written_seconds() - FloorSeconds(liveness.timestamp);
  return skew >= INT16_MIN && skew <= INT16_MAX;
}

void Partition::FillSimple(const Liveness& liveness, RowImage& image) {
  LS_DCHECK(FitsMeta(liveness), "the meta holds the times of a simple row");
  image.complex = false;
  image.timestamp = liveness.timestamp;
  if (!liveness.expiring()) return;
  image.expiry = static_cast<uint32_t>(liveness.expiry_seconds);
  image.ttl_skew =
      static_cast<int16_t>(liveness.written_seconds() - FloorSeconds(liveness.timestamp));
}

bool Partition::SimpleImage(const RowUpdate& update, const WriteContext& write, RowImage& image) {
  const TableSchema& schema = context_.schema;
  if (!update.marker || (schema.regular.size() == 1 && update.cells.size() != 1)) return false;
  for (const CellUpdate& cell : update.cells) {
    if (!cell.live || !cell.path.empty()) return false;
  }
  const Liveness liveness{write.timestamp, update.expiry_seconds, update.ttl_seconds};
  if (!FitsMeta(liveness)) return false;
  FillSimple(liveness, image);
  image.key = update.key;
  if (schema.regular.size() == 1) {
    image.payload = update.cells[0].value;
    image.fingerprint = schema.indexes.empty() ? uint16_t{0} : ValueFingerprint(image.payload);
    return true;
  }
  context_.body.Clear();
  context_.body.Merge(update, write, context_.grace);
  context_.payload.clear();
  image.payload = context_.body.EncodeSimple(schema, context_.payload);
  NoteScratch(context_.body);
  if (!schema.indexes.empty()) {
    const RowBody::Cell* cell = context_.body.LiveCell(schema.indexes[0].column);
    image.fingerprint = cell == nullptr ? uint16_t{0} : ValueFingerprint(cell->view.value);
  }
  return true;
}

void Partition::DecodeRow(const Leaf& leaf, size_t index, RowBody& body) const {
  if (leaf.meta(index).complex()) {
    body.DecodeComplex(leaf.payload(index));
  } else {
    body.DecodeSimple(context_.schema, leaf.liveness(index), leaf.payload(index));
  }
  if (body.cells().size() > PartitionContext::kScratchCellsKept) [[unlikely]]
    context_.has_large_scratch = true;
}

bool Partition::RowLiveAt(const Leaf& leaf, size_t index, int64_t now_seconds) {
  const RowMeta meta = leaf.meta(index);
  if (!meta.complex()) return !EventCame(meta.expiry, now_seconds);
  return RowBody::OutlineOf(leaf.payload(index), now_seconds).live;
}

void Partition::PutBody(LeafRef& at, size_t index, bool replace, ClusteringKeyView key,
                        int64_t now_seconds, bool shadow, bool in_place) {
  const RowBody& body = context_.body;
  if (body.empty()) {
    if (replace) EraseRows(at, index, index + 1);
    return;
  }
  RowImage image;
  image.key = key;
  image.stays_external = in_place && Leaf(at.block).meta(index).external();
  const std::optional<Liveness> simple = body.SimpleLiveness(context_.schema);
  context_.payload.clear();
  if (simple && !shadow && FitsMeta(*simple)) {
    FillSimple(*simple, image);
    const std::string_view payload = body.EncodeSimple(context_.schema, context_.payload);
    // A single value comes back as it is, perhaps from the very leaf that is about to change.
    if (payload.data() != context_.payload.data()) context_.payload.assign(payload);
  } else {
    body.EncodeComplex(context_.payload);
    image.complex = true;
    image.expiry = ToEvent(body.NextEvent(now_seconds, context_.grace));
    image.timestamp = body.MaxTimestamp();
    image.ttl_skew = 0;
  }
  if (!context_.schema.indexes.empty()) {
    const RowBody::Cell* cell = body.LiveCell(context_.schema.indexes[0].column);
    image.fingerprint = cell == nullptr ? uint16_t{0} : ValueFingerprint(cell->view.value);
  }
  // The key may lie in the leaf too: it goes behind the payload, where there is room for it.
  const size_t payload_bytes = context_.payload.size();
  if (replace) context_.payload.append(key.bytes);
  image.payload = std::string_view(context_.payload).substr(0, payload_bytes);
  if (replace) image.key.bytes = std::string_view(context_.payload).substr(payload_bytes);
  NoteScratch(body);
  // Only here rows come, or change, that are other than simple.
  const uint64_t tombstones_before = replace ? RowTombstones(Leaf(at.block), index, index + 1) : 0;
  context_.held.rows += (body.tombstone().present() ? 1 : 0) - tombstones_before;
  PutRow(at, index, replace, image);
}

// --- Tombstones over rows ------------------------------------------------------------------------

bool Partition::Hides(ClusteringKeyView key, const WriteContext& write) {
  if (!large()) return false;
  const LargePartition& partition = LargeOf(reference_);
  const auto covers = [&] {
    return partition.tombstone.Covers(write.timestamp) ||
           (!partition.ranges.empty() && partition.ranges.At(key).Covers(write.timestamp));
  };
  if (!covers()) return false;
  // One that is over goes before a row is stored under it.
  PurgeTombstones(write.now_seconds);
  PurgeRangeAt(key, write.now_seconds);
  return covers();
}

void Partition::PurgeTombstones(int64_t now_seconds, bool all_ranges) {
  constexpr size_t kRangesAtOnce = 128;
  if (!large()) return;
  LargePartition& partition = LargeOf(reference_);
  if (partition.tombstone.present() && context_.grace.Gone(partition.tombstone, now_seconds)) {
    partition.tombstone = {};
    --context_.held.partitions;
  }
  const size_t ranges = partition.ranges.size();
  partition.ranges.Purge(now_seconds, context_.grace, all_ranges ? SIZE_MAX : kRangesAtOnce);
  NoteRanges(ranges);
}

void Partition::PurgeRangeAt(ClusteringKeyView key, int64_t now_seconds) {
  RangeTombstones& ranges = LargeOf(reference_).ranges;
  const size_t before = ranges.size();
  ranges.PurgeAt(key, now_seconds, context_.grace);
  NoteRanges(before);
}

// What a tombstone covers is never stored under it, and one that is over goes before anything is.
ClusteringBound Partition::YoungerFromBegin(WriteTimestamp timestamp) const {
  if (!large()) return ClusteringBound::Begin();
  const LargePartition& partition = LargeOf(reference_);
  if (partition.tombstone.Covers(timestamp)) return ClusteringBound::End();
  if (partition.ranges.empty()) return ClusteringBound::Begin();
  const ClusteringBound reach = partition.ranges.ReachFromBegin(timestamp);
  if (reach.at_end) return reach;
  return ClusteringBound::At(reach.bytes, context_.schema.packs_item_keys());
}

Tombstone Partition::TombstoneOver(ClusteringKeyView key, int64_t now_seconds,
                                   const GracePolicy& grace) const {
  if (!large()) return {};
  const LargePartition& partition = LargeOf(reference_);
  Tombstone over;
  for (const Tombstone& tombstone :
       {partition.tombstone, partition.ranges.empty() ? Tombstone{} : partition.ranges.At(key)}) {
    if (!tombstone.present() || grace.Gone(tombstone, now_seconds)) continue;
    over = Tombstone::Stronger(over, tombstone);
  }
  return over;
}

// --- Upsert --------------------------------------------------------------------------------------

bool Partition::OnlyHotRows() const {
  if (large()) return false;
  const Leaf leaf(BlockOf(reference_));
  return leaf.all_simple() && leaf.IsUnpinned(context_.schema.packs_item_keys()) &&
         context_.schema.regular.size() == 1;
}

bool Partition::UpsertInPlace(std::span<const RowUpdate> rows, const Load& load,
                              const WriteContext& write) {
  if (!load.hot || !load.all_short || !OnlyHotRows()) return false;
  LeafRef at{BlockOf(reference_), {}};
  Leaf leaf(at.block);
  if (leaf.empty() || leaf.free_bytes() < load.bytes || !leaf.SpansTimestamp(write.timestamp)) {
    return false;
  }
  // The wheel looks at the partition before any of them expires; 0: never.
  const int64_t looked_at = wheel_when() == 0 ? int64_t{kNeverExpires} : int64_t{wheel_when()};
  for (const RowUpdate& row : rows) {
    if (row.expiry_seconds < looked_at) return false;
  }
  const bool ascending = CompareKeys(rows.front().key, rows.back().key) <= 0;
  const auto row = [&](size_t i) -> const RowUpdate& {
    return ascending ? rows[i] : rows[rows.size() - 1 - i];
  };
  size_t index = leaf.LowerBound(row(0).key);
  if (rows.size() == 1 && leaf.KeyIs(index, row(0).key)) {
    if (leaf.timestamp(index) >= write.timestamp) return false;
    RowImage image;
    LS_CHECK(SimpleImage(row(0), write, image), "a hot row is simple");
    leaf.Replace(context_.arena, index, image);
  } else {
    if (rows.size() > 1 && index != leaf.size()) return false;
    for (size_t i = 1; i < rows.size(); ++i) {
      if (CompareKeys(row(i - 1).key, row(i).key) >= 0) return false;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      RowImage image;
      LS_CHECK(SimpleImage(row(i), write, image), "a hot row is simple");
      leaf.Insert(context_.arena, index++, image);
    }
    context_.rows += rows.size();
  }
  LeafChanged(at);
  return true;
}

namespace {

bool MakesWay(const RowUpdate& update) {
  return std::any_of(update.cells.begin(), update.cells.end(),
                     [](const CellUpdate& cell) { return cell.makes_way; });
}

int CompareRowsOf(const RowUpdate& a, const RowUpdate& b) {
  if (a.of_static_row != b.of_static_row) return a.of_static_row ? -1 : 1;
  return a.of_static_row ? 0 : CompareKeys(a.key, b.key);
}

}  // namespace

void Partition::CoverWhatMadeWay(const RowUpdate& update, const WriteContext& write) {
  if (!large() || !MakesWay(update)) return;
  PurgeTombstones(write.now_seconds);
  PurgeRangeAt(update.key, write.now_seconds);
  const LargePartition& partition = LargeOf(reference_);
  const WriteTimestamp above =
      std::max(partition.tombstone.timestamp, partition.ranges.At(update.key).timestamp);
  if (!above.is_none()) context_.body.Cover(above);
}

void Partition::UpsertAll(std::span<const RowUpdate> updates, const WriteContext& write) {
  std::vector<const RowUpdate*>& order = context_.order;
  order.clear();
  for (const RowUpdate& update : updates) order.push_back(&update);
  const auto precedes = [](const RowUpdate* a, const RowUpdate* b) {
    return CompareRowsOf(*a, *b) < 0;
  };
  if (!std::ranges::is_sorted(order, precedes)) std::ranges::stable_sort(order, precedes);
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first + 1, order.end(), [&](const RowUpdate* other) {
      return CompareRowsOf(**first, *other) != 0;
    });
    if (last - first == 1) {
      Upsert(**first, write);
    } else {
      UpsertTogether({&*first, static_cast<size_t>(last - first)}, write);
    }
    first = last;
  }
}

void Partition::UpsertTogether(std::span<const RowUpdate* const> updates,
                               const WriteContext& write) {
  const RowUpdate& one = *updates.front();
  if (one.of_static_row) return UpsertStatic(updates, write);
  if (Hides(one.key, write)) return;
  LeafRef at = FindLeaf(one.key);
  size_t index = 0;
  bool found = false;
  if (at.block != nullptr) {
    const Leaf leaf(at.block);
    index = leaf.LowerBound(one.key);
    found = leaf.KeyIs(index, one.key);
  }
  if (found) {
    DecodeRow(Leaf(at.block), index, context_.body);
    PurgeBody(one.key, write.now_seconds);
  } else {
    context_.body.Clear();
  }
  context_.body.MergeAll(updates, write, context_.grace);
  for (const RowUpdate* const update : updates) CoverWhatMadeWay(*update, write);
  PutBody(at, index, found, one.key, write.now_seconds);
}

void Partition::Upsert(const RowUpdate& update, const WriteContext& write) {
  RowImage image;
  const bool simple = SimpleImage(update, write, image);
  if (!simple && update.of_static_row) {
    const RowUpdate* const alone = &update;
    return UpsertStatic({&alone, 1}, write);
  }
  if (Hides(update.key, write)) return;
  const auto merge = [&] {
    context_.body.Merge(update, write, context_.grace);
    CoverWhatMadeWay(update, write);
  };
  LeafRef at = FindLeaf(update.key);
  size_t index = 0;
  if (at.block != nullptr) {
    const Leaf leaf(at.block);
    index = leaf.LowerBound(update.key);
    if (leaf.KeyIs(index, update.key)) {
      // The hot case: what is there is simple too, older, and wholly overwritten (or gone).
      if (simple && !leaf.meta(index).complex()) {
        const bool covers = update.cells.size() == context_.schema.regular.size();
        const Liveness liveness = leaf.liveness(index);
        const bool gone = context_.grace.Gone(liveness, write.now_seconds);
        if ((covers && liveness.timestamp < write.timestamp) || gone) {
          if (gone) NoteExpired(leaf, index);
          PutRow(at, index, true, image);
          return;
        }
        // With one column a simple row has all of it: the one or the other stays, as it is.
        if (context_.schema.regular.size() == 1) {
          const CellView stored{true, liveness, 0, leaf.payload(index)};
          const CellView comes{
              true, {write.timestamp, update.expiry_seconds, update.ttl_seconds}, 0, image.payload};
          if (CompareCells(comes, stored) > 0) PutRow(at, index, true, image);
          return;
        }
      }
      DecodeRow(leaf, index, context_.body);
      PurgeBody(update.key, write.now_seconds);
      merge();
      PutBody(at, index, true, update.key, write.now_seconds);
      return;
    }
  }
  if (simple) {
    PutRow(at, index, false, image);
    return;
  }
  context_.body.Clear();
  merge();
  PutBody(at, index, false, update.key, write.now_seconds);
}

void Partition::Put(const StoredRow& row, int64_t now_seconds) {
  LS_DCHECK(!TombstoneOver(row.key, now_seconds, context_.grace).present(), "nothing hides it");
  context_.body.Assign(row);
  context_.body.Purge(now_seconds, context_.grace);
  LeafRef at = FindLeaf(row.key);
  size_t index = 0;
  if (at.block != nullptr) {
    const Leaf leaf(at.block);
    index = leaf.LowerBound(row.key);
    LS_CHECK(!leaf.KeyIs(index, row.key), "what was there has been taken out");
  }
  PutBody(at, index, /*replace=*/false, row.key, now_seconds);
}

}  // namespace liststore::storage
