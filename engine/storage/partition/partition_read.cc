// Reading a partition: rows of a range in either direction, in runs, to a sink.
#include <algorithm>
#include <array>

#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

// Header and metas of a full leaf of list items.
constexpr size_t kFetchedMetaBytes = 3584;
// From so many cells on the sink has the rows at once: a view of a cell takes 64 bytes, which nobody
// counts. A row that has more has them alone.
constexpr size_t kCellsPerCallMax = 1024;

// Rows for the next call of the sink: views into leaves, which do not move during a read. Made
// when the first row is taken: a page of the hot shape needs none, and clearing 5 KiB costs more
// than its copy.
struct Gathered {
  size_t count = 0;
  std::array<RowView, kRowsPerCallMax> rows;
  std::array<PackedItemKey, kRowsPerCallMax> packed_keys;
  std::array<size_t, kRowsPerCallMax> cell_counts;
  RowBody::LiveCells cells;
};

// One read on its way: how many rows are still wanted, and those gathered for the next call of the
// sink.
class PartitionReader {
 public:
  PartitionReader(const Partition& partition, const ReadSpec& spec, int64_t now_seconds,
                  RowSink& sink)
      : partition_(partition),
        schema_(partition.context_.schema),
        spec_(spec),
        now_seconds_(now_seconds),
        sink_(sink),
        packs_(schema_.packs_item_keys()),
        runs_(sink.AcceptsPackedRuns() && spec.descending && schema_.regular.size() == 1 &&
              spec.looks_max == UINT64_MAX),
        left_(spec.limit),
        looks_left_(spec.looks_max) {}

  uint64_t rows_sent() const { return spec_.limit - left_; }
  // None in leaves where all rows are simple and live, which are not looked at one by one.
  uint64_t dead_rows() const { return dead_rows_; }
  bool done() const { return left_ == 0 || ended_; }

  // Sends the rows of a leaf that lie in the range.
  void ReadLeaf(const Leaf& leaf) {
    size_t last = leaf.LowerBound(spec_.range.upper);
    const size_t first = FirstInRange(leaf, last);
    if (first >= last) return;
    if (spec_.value_filter) {
      ReadMatches(leaf, first, last);
    } else if (runs_ && leaf.packed() && leaf.header().stride != 0 && AllLive(leaf)) {
      SendRun(leaf, first, last);
    } else if (spec_.descending) {
      while (last > first && !done() && MayLook(leaf, last - 1)) TakeRow(leaf, --last);
    } else {
      for (size_t i = first; i < last && !done() && MayLook(leaf, i); ++i) TakeRow(leaf, i);
    }
  }

  void Finish() {
    Flush();
    if (!next_leaf_) return;
    char text[kItemKeyTextBytes];
    const ClusteringKeyView next = next_leaf_->key(next_);
    sink_.OnStop({.bytes = PlainKey(next, text)});
  }

  void Flush() {
    if (!gathered_ || gathered_->count == 0) return;
    Gathered& gathered = *gathered_;
    size_t cell = 0;
    for (size_t i = 0; i < gathered.count; ++i) {
      gathered.rows[i].cells = {gathered.cells.data() + cell, gathered.cell_counts[i]};
      cell += gathered.cell_counts[i];
    }
    sink_.OnRows({gathered.rows.data(), gathered.count});
    gathered.count = 0;
    gathered.cells.clear();
    ended_ |= sink_.HasEnough();
  }

 private:
  // Nothing in the leaf is skipped by a reader.
  bool AllLive(const Leaf& leaf) const {
    return leaf.all_simple() && !EventCame(leaf.header().earliest_expiry, now_seconds_);
  }

  // A page of newest rows as a rule lies inside the lower bound: look at its last row first.
  size_t FirstInRange(const Leaf& leaf, size_t last) const {
    const ClusteringBound& lower = spec_.range.lower;
    if (lower.bytes.empty() && !lower.at_end) return 0;
    if (spec_.descending && left_ < last && !spec_.value_filter && AllLive(leaf)) {
      const size_t page_end = last - static_cast<size_t>(left_);
      if (CompareKeyToBound(leaf.key(page_end), lower) >= 0) return page_end;
    }
    return leaf.LowerBound(lower);
  }

  void SendRun(const Leaf& leaf, size_t first, size_t last) {
    Flush();
    PackedRun run;
    run.count = static_cast<size_t>(std::min<uint64_t>(last - first, left_));
    run.rows = leaf.row(last - 1);
    run.stride = leaf.header().stride;
    left_ -= run.count;
    sink_.OnPackedRun(run);
  }

  void ReadMatches(const Leaf& leaf, size_t first, size_t last) {
    const ReadSpec::ValueFilter& filter = *spec_.value_filter;
    const bool fingerprinted =
        !schema_.indexes.empty() && schema_.indexes[0].column == filter.column;
    const uint16_t fingerprint = ValueFingerprint(filter.value);
    RowBody& body = partition_.context_.other_body;
    const auto take = [&](size_t i) {
      if (fingerprinted && leaf.meta(i).fingerprint != fingerprint) return;
      partition_.DecodeRow(leaf, i, body);
      const RowBody::Cell* cell = body.LiveCell(filter.column);
      if (cell == nullptr || !cell->view.liveness.LiveAt(now_seconds_) ||
          cell->view.value != filter.value) {
        return;
      }
      TakeRow(leaf, i);
    };
    if (spec_.descending) {
      while (last > first && !done() && MayLook(leaf, last - 1)) take(--last);
    } else {
      for (size_t i = first; i < last && !done() && MayLook(leaf, i); ++i) take(i);
    }
  }

  // False: the read has looked at enough, and ends before this row.
  bool MayLook(const Leaf& leaf, size_t index) {
    if (looks_left_ > 0) {
      --looks_left_;
      return true;
    }
    next_leaf_ = leaf;
    next_ = index;
    ended_ = true;
    return false;
  }

  void TakeRow(const Leaf& leaf, size_t index) {
    const RowMeta meta = leaf.meta(index);
    if (!meta.complex() && EventCame(meta.expiry, now_seconds_)) {
      ++dead_rows_;
      return;
    }
    if (meta.complex() && sink_.AcceptsEncodedRows()) {
      const std::string_view bytes = leaf.payload(index);
      const size_t cells = RowBody::CellCountOf(bytes);
      if (cells >= kEncodedRowCells) return SendEncoded({leaf.key(index), bytes, cells});
    }
    if (!gathered_) gathered_.emplace();
    Gathered& gathered = *gathered_;
    RowView& row = gathered.rows[gathered.count];
    // Outside of storage a key is packed wherever it can be, whatever the leaf it lies in.
    ClusteringKeyView key = leaf.key(index);
    if (!key.packed) {
      key = MakeClusteringKey(key.bytes, packs_, gathered.packed_keys[gathered.count]);
    }
    if (!meta.complex() && schema_.regular.size() == 1) {
      row.key = key;
      row.marker = leaf.liveness(index);
      gathered.cells.push_back({0, row.marker, leaf.payload(index)});
      gathered.cell_counts[gathered.count] = 1;
    } else {
      const size_t before = gathered.cells.size();
      if (!AddCells(leaf, index, row.marker)) {
        ++dead_rows_;
        return;
      }
      row.key = key;
      gathered.cell_counts[gathered.count] = gathered.cells.size() - before;
    }
    --left_;
    const bool is_full = ++gathered.count == kRowsPerCallMax;
    if (is_full || gathered.cells.size() >= kCellsPerCallMax) Flush();
  }

  // Behind those that came before it, unless the sink has enough with them.
  void SendEncoded(const EncodedRowView& row) {
    Flush();
    if (ended_) return;
    sink_.OnEncodedRow(row);
    ended_ = sink_.HasEnough();
  }

  // Those of a row that lives, behind the others; false: it does not. Row and cells are not taken apart
  // first: of many that is more memory than the views of them are.
  bool AddCells(const Leaf& leaf, size_t index, Liveness& marker) {
    RowBody::LiveCells& cells = gathered_->cells;
    if (leaf.meta(index).complex()) {
      return RowBody::AppendLive(leaf.payload(index), now_seconds_, marker, cells);
    }
    RowBody& body = partition_.context_.other_body;
    partition_.DecodeRow(leaf, index, body);
    if (!body.LiveAt(now_seconds_)) return false;
    marker = body.marker();
    for (const RowBody::Cell& cell : body.cells()) {
      cells.push_back({cell.column, cell.view.liveness, cell.view.value});
    }
    return true;
  }

  const Partition& partition_;
  const TableSchema& schema_;
  const ReadSpec& spec_;
  const int64_t now_seconds_;
  RowSink& sink_;
  const bool packs_;
  const bool runs_;
  uint64_t left_;
  uint64_t looks_left_;
  bool ended_ = false;  // before its limit: the sink has enough, or the read has looked enough
  std::optional<Leaf> next_leaf_;  // of the row that it has not looked at
  size_t next_ = 0;
  uint64_t dead_rows_ = 0;
  std::optional<Gathered> gathered_;
};

uint64_t Partition::Read(const ReadSpec& spec, int64_t now_seconds, RowSink& sink,
                         uint64_t* dead_rows) const {
  PartitionReader reader(*this, spec, now_seconds, sink);
  const auto finish = [&] {
    reader.Finish();
    if (dead_rows != nullptr) *dead_rows += reader.dead_rows();
    return reader.rows_sent();
  };
  if (!large()) {
    reader.ReadLeaf(Leaf(BlockOf(reference_)));
    return finish();
  }
  const LargePartition& partition = LargeOf(reference_);
  if (spec.with_static_row) SendStatic(now_seconds, sink);
  if (partition.tree.empty()) return 0;
  const ValueIndex* index = spec.value_filter ? IndexOn(spec.value_filter->column) : nullptr;
  if (index != nullptr) {
    for (const LeafTree::Position at :
         IndexedLeaves(*index, spec.value_filter->value, spec.descending)) {
      if (reader.done()) break;
      reader.ReadLeaf(partition.tree.leaf(at));
    }
    return finish();
  }
  LeafTree::Position at =
      partition.tree.Find(spec.descending ? spec.range.upper : spec.range.lower);
  for (;;) {
    const Leaf leaf = partition.tree.leaf(at);
    reader.ReadLeaf(leaf);
    if (reader.done()) break;
    if (spec.descending) {
      if (CompareKeyToBound(leaf.key(0), spec.range.lower) < 0 || !partition.tree.Previous(at))
        break;
    } else {
      if (CompareKeyToBound(leaf.key(leaf.size() - 1), spec.range.upper) >= 0 ||
          !partition.tree.Next(at)) {
        break;
      }
    }
  }
  return finish();
}

const ValueIndex* Partition::IndexOn(ColumnId column) const {
  const LargePartition& partition = LargeOf(reference_);
  for (size_t i = 0; i < partition.indexes.size(); ++i) {
    if (context_.schema.indexes[i].column == column) return &partition.indexes[i];
  }
  return nullptr;
}

std::vector<LeafTree::Position> Partition::IndexedLeaves(const ValueIndex& index,
                                                         std::string_view value,
                                                         bool descending) const {
  const LargePartition& partition = LargeOf(reference_);
  std::vector<LeafTree::Position> positions;
  if (partition.tree.empty()) return positions;
  index.ForEachLeaf(ValueHash(value), [&](uint32_t leaf_id) {
    char* const block = partition.leaf_blocks[leaf_id];
    const LeafTree::Position at = partition.tree.Find(Leaf(block).key(0));
    // What was cut is out of sight, and in the index until it is freed.
    if (!partition.tree.has_cut() || partition.tree.leaf(at).block() == block) {
      positions.push_back(at);
    }
  });
  std::sort(positions.begin(), positions.end());
  if (descending) std::reverse(positions.begin(), positions.end());
  return positions;
}

std::vector<std::string> Partition::KeysWithValue(ColumnId column, std::string_view value,
                                                  int64_t now_seconds) const {
  struct KeyCollector final : RowSink {
    void OnRows(std::span<const RowView> rows) override {
      char text[kItemKeyTextBytes];
      for (const RowView& row : rows) keys.emplace_back(PlainKey(row.key, text));
    }
    void OnPackedRun(const PackedRun&) override { LS_UNREACHABLE("runs were not accepted"); }
    bool AcceptsPackedRuns() const override { return false; }
    std::vector<std::string> keys;
  } collector;
  ReadSpec spec;
  spec.value_filter = ReadSpec::ValueFilter{column, value};
  Read(spec, now_seconds, collector);
  return std::move(collector.keys);
}

std::vector<LeafTree::Position> Partition::LeavesThatMayHold(ColumnId column,
                                                             std::string_view value) const {
  const LeafTree& tree = LargeOf(reference_).tree;
  std::vector<LeafTree::Position> positions;
  if (tree.empty()) return positions;
  if (const ValueIndex* index = IndexOn(column); index != nullptr) {
    // While the tree is searched: 8 % of a removal from a list of a million items.
    index->ForEachLeaf(ValueHash(value), [&](uint32_t leaf_id) {
      const char* const block = LargeOf(reference_).leaf_blocks[leaf_id];
      for (size_t at = 0; at < kFetchedMetaBytes; at += kCacheLineBytes) PrefetchLine(block + at);
      // The key by which the leaf is found in the tree, in blocks that have grown as far as they
      // may.
      PrefetchLine(block + memory::Arena::BlockBytes(kLeafBytesMax) - kCacheLineBytes);
    });
    return IndexedLeaves(*index, value, true);
  }
  LeafTree::Position at = tree.Last();
  do {
    positions.push_back(at);
  } while (tree.Previous(at));
  return positions;
}

uint64_t Partition::Count(const ClusteringRange& range, int64_t now_seconds, uint64_t* dead_rows,
                          uint64_t looks_max, std::string* stopped_at) const {
  // A leaf whose rows are not looked at one by one.
  constexpr uint64_t kLooksOfLeaf = 4;
  uint64_t looks = 0;
  const auto count_leaf = [&](const Leaf& leaf) -> uint64_t {
    const size_t last = leaf.LowerBound(range.upper);
    const size_t first = std::min(leaf.LowerBound(range.lower), last);
    if (leaf.all_simple() && !EventCame(leaf.header().earliest_expiry, now_seconds)) {
      looks += kLooksOfLeaf;
      return last - first;
    }
    looks += last - first;
    uint64_t live = 0;
    for (size_t i = first; i < last; ++i) live += RowLiveAt(leaf, i, now_seconds) ? 1 : 0;
    if (dead_rows != nullptr) *dead_rows += last - first - live;
    return live;
  };
  if (!large()) return count_leaf(Leaf(BlockOf(reference_)));
  const LargePartition& partition = LargeOf(reference_);
  if (partition.tree.empty()) return 0;
  uint64_t live = 0;
  LeafTree::Position at = partition.tree.Find(range.lower);
  do {
    const Leaf leaf = partition.tree.leaf(at);
    if (looks >= looks_max) {
      char text[kItemKeyTextBytes];
      stopped_at->assign(PlainKey(leaf.key(0), text));
      break;
    }
    live += count_leaf(leaf);
    if (CompareKeyToBound(leaf.key(leaf.size() - 1), range.upper) >= 0) break;
  } while (partition.tree.Next(at));
  return live;
}

void Partition::SendStoredRows(int64_t now_seconds, StoredRowSink& sink) const {
  const GracePolicy& grace = context_.grace;
  RowBody& body = context_.body;
  ForEachLeaf([&](const Leaf& leaf) {
    for (size_t i = 0; i < leaf.size(); ++i) {
      // Most rows: not taken apart.
      if (!leaf.meta(i).complex() && context_.schema.regular.size() == 1) {
        const Liveness liveness = leaf.liveness(i);
        if (grace.Gone(liveness, now_seconds)) continue;
        const StoredCell cell{0, {true, liveness, 0, leaf.payload(i)}};
        sink.OnRow({leaf.key(i), liveness, {}, {&cell, 1}});
        continue;
      }
      DecodeRow(leaf, i, body);
      body.Purge(now_seconds, grace);
      if (body.empty()) continue;
      sink.OnRow({leaf.key(i), body.marker(), body.tombstone(), body.cells()});
    }
  });
}

bool Partition::HasLiveData(int64_t now_seconds) const {
  if (!large()) {
    const Leaf leaf(BlockOf(reference_));
    for (size_t i = leaf.size(); i > 0; --i) {
      if (RowLiveAt(leaf, i - 1, now_seconds)) return true;
    }
    return false;
  }
  const LargePartition& partition = LargeOf(reference_);
  if (partition.static_row.LiveAt(now_seconds)) return true;
  if (partition.tree.empty()) return false;
  LeafTree::Position at = partition.tree.Last();
  do {
    const Leaf leaf = partition.tree.leaf(at);
    for (size_t i = leaf.size(); i > 0; --i) {
      if (RowLiveAt(leaf, i - 1, now_seconds)) return true;
    }
  } while (partition.tree.Previous(at));
  return false;
}

}  // namespace liststore::storage
