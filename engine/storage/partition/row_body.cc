#include "engine/storage/partition/row_body.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore::storage {
namespace {

constexpr uint8_t kHasMarker = 1;
constexpr uint8_t kHasTombstone = 2;

constexpr size_t kMarkerBytes = 20;
constexpr size_t kTombstoneBytes = 16;
constexpr size_t kDeadCellBytes = 2 + 1 + 8 + 8;
constexpr size_t kLiveCellBytes = 2 + 1 + 8 + 8 + 4 + 4;
constexpr size_t kPathLengthBytes = 4;

// More cells than this are not merged one by one: each would move those behind it.
constexpr size_t kMergedAloneMax = 16;

constexpr uint8_t kLive = 1;
constexpr uint8_t kElement = 2;

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
T Take(std::string_view& in) {
  LS_CHECK(in.size() >= sizeof(T), "an encoded row is whole");
  const T value = LoadNative<T>(in.data());
  in.remove_prefix(sizeof(T));
  return value;
}

std::string_view TakeBytes(std::string_view& in, size_t size) {
  LS_CHECK(in.size() >= size, "an encoded row is whole");
  const std::string_view bytes = in.substr(0, size);
  in.remove_prefix(size);
  return bytes;
}

// Into memory that has room for all of it.
class Writer {
 public:
  explicit Writer(char* to) : at_(to) {}

  template <typename T>
  void Put(T value) {
    std::memcpy(at_, &value, sizeof(T));
    at_ += sizeof(T);
  }
  void Put(const Liveness& liveness) {
    Put<int64_t>(liveness.timestamp.micros);
    Put<int64_t>(liveness.expiry_seconds);
    Put<uint32_t>(static_cast<uint32_t>(liveness.ttl_seconds));
  }
  // With their length before them.
  void PutBytes(std::string_view bytes) {
    Put<uint32_t>(static_cast<uint32_t>(bytes.size()));
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  const char* at() const { return at_; }

 private:
  char* at_;
};

bool Precedes(const RowBody::Cell& a, const RowBody::Cell& b) {
  return a.column != b.column ? a.column < b.column : a.path < b.path;
}

// Of cells in order the stronger one of those that are the same; returns the end of what is left.
template <typename Iterator>
Iterator Strongest(Iterator first, Iterator end) {
  if (first == end) return end;
  Iterator last = first;
  for (Iterator at = first + 1; at < end; ++at) {
    if (Precedes(*last, *at)) {
      *++last = *at;
    } else if (CompareCells(at->view, last->view) > 0) {
      last->view = at->view;
    }
  }
  return last + 1;
}

// Puts cells in order and reconciles them, of which `sorted` are in order, and those behind them in any,
// some of them twice.
template <typename Cells>
void Reconcile(Cells& cells, size_t sorted) {
  const auto middle = cells.begin() + static_cast<ptrdiff_t>(sorted);
  std::sort(middle, cells.end(), Precedes);
  std::inplace_merge(cells.begin(), middle, cells.end(), Precedes);
  cells.erase(Strongest(cells.begin(), cells.end()), cells.end());
  // The column's own cell comes before its elements.
  RowBody::Cell own;
  own.view.live = true;
  const auto covered = [&](const RowBody::Cell& cell) {
    if (cell.path.empty()) own = cell;
    return !cell.path.empty() && !own.view.live && cell.column == own.column &&
           cell.view.liveness.timestamp <= own.view.liveness.timestamp;
  };
  auto last = cells.begin();
  for (auto at = cells.begin(); at < cells.end(); ++at) {
    if (!covered(*at)) *last++ = *at;
  }
  cells.erase(last, cells.end());
}

Liveness TakeLiveness(std::string_view& in) {
  Liveness liveness;
  liveness.timestamp.micros = Take<int64_t>(in);
  liveness.expiry_seconds = Take<int64_t>(in);
  liveness.ttl_seconds = Take<uint32_t>(in);
  return liveness;
}

// Calls with what an encoded row that is not simple consists of: how many cells come before the first
// of them, and the cells in their order.
template <typename OnMarker, typename OnTombstone, typename OnCount, typename OnCell>
void WalkComplex(std::string_view payload, OnMarker&& on_marker, OnTombstone&& on_tombstone,
                 OnCount&& on_count, OnCell&& on_cell) {
  const uint8_t flags = Take<uint8_t>(payload);
  if ((flags & kHasMarker) != 0) on_marker(TakeLiveness(payload));
  if ((flags & kHasTombstone) != 0) {
    Tombstone tombstone;
    tombstone.timestamp.micros = Take<int64_t>(payload);
    tombstone.deletion_seconds = Take<int64_t>(payload);
    on_tombstone(tombstone);
  }
  const uint32_t count = Take<uint32_t>(payload);
  on_count(count);
  for (uint32_t left = count; left > 0; --left) {
    RowBody::Cell cell;
    cell.column = Take<uint16_t>(payload);
    const uint8_t cell_flags = Take<uint8_t>(payload);
    cell.view.live = (cell_flags & kLive) != 0;
    if ((cell_flags & kElement) != 0) {
      const uint32_t size = Take<uint32_t>(payload);
      cell.path = TakeBytes(payload, size);
    }
    if (cell.view.live) {
      cell.view.liveness = TakeLiveness(payload);
      const uint32_t size = Take<uint32_t>(payload);
      cell.view.value = TakeBytes(payload, size);
    } else {
      cell.view.liveness.timestamp.micros = Take<int64_t>(payload);
      cell.view.deletion_seconds = Take<int64_t>(payload);
    }
    on_cell(cell);
  }
  LS_CHECK(payload.empty(), "an encoded row has nothing behind it");
}

}  // namespace

void RowBody::Clear() {
  marker_ = {};
  tombstone_ = {};
  cells_.erase(cells_.begin(), cells_.end());  // clear() would give back what was reserved
}

void RowBody::Free() {
  Clear();
  cells_.shrink_to_fit();
}

void RowBody::Assign(const StoredRow& row) {
  marker_ = row.marker;
  tombstone_ = row.tombstone;
  cells_.assign(row.cells.begin(), row.cells.end());
}

void RowBody::DecodeComplex(std::string_view payload) {
  Clear();
  WalkComplex(
      payload, [&](const Liveness& marker) { marker_ = marker; },
      [&](const Tombstone& tombstone) { tombstone_ = tombstone; },
      // Of many no more than there are: growing would take them twice.
      [&](size_t count) { cells_.reserve(count); },
      [&](const Cell& cell) {
        LS_DCHECK(cells_.empty() || Precedes(cells_.back(), cell),
                  "cells ascend by column and path");
        cells_.push_back(cell);
      });
}

RowBody::Outline RowBody::OutlineOf(std::string_view payload, int64_t now_seconds) {
  Outline outline;
  const auto note = [&](WriteTimestamp timestamp) {
    outline.max_timestamp = std::max(outline.max_timestamp, timestamp);
  };
  WalkComplex(
      payload,
      [&](const Liveness& marker) {
        note(marker.timestamp);
        outline.live |= marker.LiveAt(now_seconds);
      },
      [&](const Tombstone& tombstone) { note(tombstone.timestamp); },
      [&](size_t count) { outline.cells = count; },
      [&](const Cell& cell) {
        note(cell.view.liveness.timestamp);
        outline.live |= cell.view.live && cell.view.liveness.LiveAt(now_seconds);
      });
  return outline;
}

size_t RowBody::CellCountOf(std::string_view payload) {
  const uint8_t flags = Take<uint8_t>(payload);
  if ((flags & kHasMarker) != 0) TakeBytes(payload, kMarkerBytes);
  if ((flags & kHasTombstone) != 0) TakeBytes(payload, kTombstoneBytes);
  return Take<uint32_t>(payload);
}

bool RowBody::HasTombstone(std::string_view payload) {
  return (Take<uint8_t>(payload) & kHasTombstone) != 0;
}

bool RowBody::AppendLive(std::string_view payload, int64_t now_seconds, Liveness& marker,
                         LiveCells& cells) {
  const size_t before = cells.size();
  marker = {};
  WalkComplex(
      payload,
      [&](const Liveness& all) {
        if (all.LiveAt(now_seconds)) marker = all;
      },
      [](const Tombstone&) {}, [&](size_t count) { cells.reserve(before + count); },
      [&](const Cell& cell) {
        if (!cell.view.live || !cell.view.liveness.LiveAt(now_seconds)) return;
        cells.push_back({cell.column, cell.view.liveness, cell.view.value, cell.path});
      });
  return marker.present() || cells.size() > before;
}

void RowBody::DecodeSimple(const TableSchema& schema, const Liveness& liveness,
                           std::string_view payload) {
  Clear();
  marker_ = liveness;
  Cell cell;
  cell.view.liveness = liveness;
  if (schema.regular.size() == 1) {
    cell.view.value = payload;
    cells_.push_back(cell);
    return;
  }
  while (!payload.empty()) {
    cell.column = Take<uint16_t>(payload);
    const uint32_t size = Take<uint32_t>(payload);
    cell.view.value = TakeBytes(payload, size);
    cells_.push_back(cell);
  }
}

namespace {

// It has no effect any more.
bool IsGone(const CellView& cell, int64_t now_seconds, const GracePolicy& grace) {
  return cell.live ? grace.Gone(cell.liveness, now_seconds)
                   : grace.Gone(cell.deletion_seconds, now_seconds);
}

}  // namespace

bool RowBody::Purge(int64_t now_seconds, const GracePolicy& grace) {
  bool changed = false;
  if (marker_.present() && grace.Gone(marker_, now_seconds)) {
    marker_ = {};
    changed = true;
  }
  if (tombstone_.present() && grace.Gone(tombstone_, now_seconds)) {
    tombstone_ = {};
    changed = true;
  }
  const auto gone = [&](const Cell& cell) { return IsGone(cell.view, now_seconds, grace); };
  const auto end = std::remove_if(cells_.begin(), cells_.end(), gone);
  changed |= end != cells_.end();
  cells_.erase(end, cells_.end());
  return changed;
}

void RowBody::CoverElements(Cells::iterator dead) {
  const auto begin = dead + 1;
  const auto end = std::find_if(begin, cells_.end(),
                                [&](const Cell& cell) { return cell.column != dead->column; });
  cells_.erase(std::remove_if(begin, end,
                              [&](const Cell& cell) {
                                return cell.view.liveness.timestamp <=
                                       dead->view.liveness.timestamp;
                              }),
               end);
}

bool RowBody::IsCovered(const Cell& element, size_t sorted) const {
  const auto end = cells_.begin() + static_cast<ptrdiff_t>(sorted);
  // The column's own cell lies before its elements.
  const auto own =
      std::lower_bound(cells_.begin(), end, element.column,
                       [](const Cell& a, ColumnId column) { return a.column < column; });
  return own != end && own->column == element.column && own->path.empty() && !own->view.live &&
         element.view.liveness.timestamp <= own->view.liveness.timestamp;
}

void RowBody::MergeCell(const Cell& cell) {
  if (!cell.path.empty() && IsCovered(cell, cells_.size())) return;
  auto at = std::lower_bound(cells_.begin(), cells_.end(), cell, Precedes);
  if (at == cells_.end() || Precedes(cell, *at)) {
    at = cells_.insert(at, cell);
  } else if (CompareCells(cell.view, at->view) > 0) {
    at->view = cell.view;
  }
  if (cell.path.empty() && !cell.view.live) CoverElements(at);
}

bool RowBody::MakeCell(const CellUpdate& assignment, const Liveness& liveness,
                       const WriteContext& context, Cell& cell) const {
  cell.column = assignment.column;
  cell.path = assignment.path;
  cell.view.live = assignment.live;
  if (assignment.makes_way) {
    cell.view.liveness.timestamp.micros = context.timestamp.micros - 1;
    cell.view.deletion_seconds = context.now_seconds;
    // Before all timestamps lies none; and what the row's tombstone covers is covered.
    const WriteTimestamp before = cell.view.liveness.timestamp;
    return !before.is_none() && !tombstone_.Covers(before);
  }
  if (assignment.live) {
    cell.view.liveness = liveness;
    cell.view.value = assignment.value;
  } else {
    cell.view.liveness.timestamp = context.timestamp;
    cell.view.deletion_seconds = context.now_seconds;
  }
  return true;
}

Liveness RowBody::MergeMarker(const RowUpdate& update, const WriteContext& context) {
  const Liveness liveness{context.timestamp, update.expiry_seconds, update.ttl_seconds};
  if (update.marker && (!marker_.present() || CompareMarkers(liveness, marker_) > 0)) {
    marker_ = liveness;
  }
  return liveness;
}

void RowBody::Append(const RowUpdate& update, const WriteContext& context) {
  const Liveness liveness = MergeMarker(update, context);
  for (const CellUpdate& assignment : update.cells) {
    Cell cell;
    if (MakeCell(assignment, liveness, context, cell)) cells_.push_back(cell);
  }
}

void RowBody::Merge(const RowUpdate& update, const WriteContext& context,
                    const GracePolicy& grace) {
  if (tombstone_.Covers(context.timestamp)) return;
  if (update.cells.size() > kMergedAloneMax) {
    const size_t sorted = cells_.size();
    Append(update, context);
    Reconcile(cells_, sorted);
  } else {
    const Liveness liveness = MergeMarker(update, context);
    for (const CellUpdate& assignment : update.cells) {
      Cell cell;
      if (MakeCell(assignment, liveness, context, cell)) MergeCell(cell);
    }
  }
  // A dead cell that nothing can come after leaves no trace; it has done its work above.
  Purge(context.now_seconds, grace);
}

void RowBody::MergeAll(std::span<const RowUpdate* const> updates, const WriteContext& context,
                       const GracePolicy& grace) {
  if (tombstone_.Covers(context.timestamp)) return;
  size_t sorted = cells_.size();
  for (const RowUpdate* const update : updates) {
    // What it covers has to be in its place.
    if (NullsAColumn(*update)) {
      MergeInOrder(sorted, context.now_seconds, grace);
      Merge(*update, context, grace);
      sorted = cells_.size();
      continue;
    }
    const auto before = static_cast<ptrdiff_t>(cells_.size());
    Append(*update, context);
    // Each cell once from each update: what is gone behind one of them the next does not meet.
    std::sort(cells_.begin() + before, cells_.end(), Precedes);
    cells_.erase(Strongest(cells_.begin() + before, cells_.end()), cells_.end());
    if (grace.Gone(marker_, context.now_seconds)) marker_ = {};
  }
  MergeInOrder(sorted, context.now_seconds, grace);
  Purge(context.now_seconds, grace);
}

void RowBody::MergeInOrder(size_t sorted, int64_t now_seconds, const GracePolicy& grace) {
  const auto begin = cells_.begin();
  const auto middle = begin + static_cast<ptrdiff_t>(sorted);
  const auto end = cells_.end();
  if (middle == end) return;
  std::stable_sort(middle, end, Precedes);
  auto there = begin;
  auto added = middle;
  bool any_gone = false;
  for (auto at = middle; at != end;) {
    there = std::lower_bound(there, middle, *at, Precedes);
    const bool is_there = there != middle && !Precedes(*at, *there);
    Cell cell = is_there ? *there : *at;
    bool is_kept = is_there;
    const auto next =
        std::find_if(at, end, [&](const Cell& other) { return Precedes(cell, other); });
    for (; at != next; ++at) {
      if (!at->path.empty() && IsCovered(*at, sorted)) continue;
      if (!is_kept || CompareCells(at->view, cell.view) > 0) cell.view = at->view;
      is_kept = !IsGone(cell.view, now_seconds, grace);
    }
    if (is_there) {
      there->view = cell.view;
      any_gone |= !is_kept;
    } else if (is_kept) {
      *added++ = cell;
    }
  }
  cells_.erase(added, end);
  std::inplace_merge(cells_.begin(), cells_.begin() + static_cast<ptrdiff_t>(sorted), cells_.end(),
                     Precedes);
  if (any_gone) Purge(now_seconds, grace);
}

void RowBody::Cover(WriteTimestamp tombstone) {
  if (marker_.present() && marker_.timestamp <= tombstone) marker_ = {};
  if (tombstone_.present() && tombstone_.timestamp <= tombstone) tombstone_ = {};
  cells_.erase(
      std::remove_if(cells_.begin(), cells_.end(),
                     [&](const Cell& cell) { return cell.view.liveness.timestamp <= tombstone; }),
      cells_.end());
}

void RowBody::DropValues() {
  for (Cell& cell : cells_) cell.view.value = {};
}

void RowBody::DropExpiredValues(int64_t now_seconds) {
  for (Cell& cell : cells_) {
    if (cell.view.live && !cell.view.liveness.LiveAt(now_seconds)) cell.view.value = {};
  }
}

void RowBody::KeepTombstone(const Tombstone& tombstone) {
  tombstone_ = tombstone_.present() ? Tombstone::Stronger(tombstone_, tombstone) : tombstone;
}

bool RowBody::LiveAt(int64_t now_seconds) const {
  if (marker_.LiveAt(now_seconds)) return true;
  return std::any_of(cells_.begin(), cells_.end(), [&](const Cell& cell) {
    return cell.view.live && cell.view.liveness.LiveAt(now_seconds);
  });
}

const RowBody::Cell* RowBody::LiveCell(ColumnId column) const {
  for (const Cell& cell : cells_) {
    if (cell.column == column) return cell.view.live ? &cell : nullptr;
  }
  return nullptr;
}

WriteTimestamp RowBody::MaxTimestamp() const {
  WriteTimestamp max = std::max(marker_.timestamp, tombstone_.timestamp);
  for (const Cell& cell : cells_) max = std::max(max, cell.view.liveness.timestamp);
  return max;
}

std::optional<Liveness> RowBody::SimpleLiveness(const TableSchema& schema) const {
  if (!marker_.present() || tombstone_.present()) return std::nullopt;
  if (schema.regular.size() == 1 && cells_.empty()) return std::nullopt;
  for (const Cell& cell : cells_) {
    if (!cell.view.live || !cell.path.empty() || cell.view.liveness != marker_) {
      return std::nullopt;
    }
  }
  return marker_;
}

std::string_view RowBody::EncodeSimple(const TableSchema& schema, std::string& out) const {
  if (schema.regular.size() == 1) return cells_[0].view.value;
  const size_t start = out.size();
  for (const Cell& cell : cells_) {
    Put<uint16_t>(out, cell.column);
    Put<uint32_t>(out, static_cast<uint32_t>(cell.view.value.size()));
    out.append(cell.view.value);
  }
  return std::string_view(out).substr(start);
}

void RowBody::EncodeComplex(std::string& out) const {
  const size_t start = out.size();
  out.resize(start + ComplexBytes());
  // Written where it goes: to append each of them took most of the time of a write to a long row.
  Writer to(out.data() + start);
  to.Put<uint8_t>(static_cast<uint8_t>((marker_.present() ? kHasMarker : 0) |
                                       (tombstone_.present() ? kHasTombstone : 0)));
  if (marker_.present()) to.Put(marker_);
  if (tombstone_.present()) {
    to.Put<int64_t>(tombstone_.timestamp.micros);
    to.Put<int64_t>(tombstone_.deletion_seconds);
  }
  to.Put<uint32_t>(static_cast<uint32_t>(cells_.size()));
  for (const Cell& cell : cells_) {
    to.Put<uint16_t>(cell.column);
    to.Put<uint8_t>(
        static_cast<uint8_t>((cell.view.live ? kLive : 0) | (cell.path.empty() ? 0 : kElement)));
    if (!cell.path.empty()) to.PutBytes(cell.path);
    if (cell.view.live) {
      to.Put(cell.view.liveness);
      to.PutBytes(cell.view.value);
    } else {
      to.Put<int64_t>(cell.view.liveness.timestamp.micros);
      to.Put<int64_t>(cell.view.deletion_seconds);
    }
  }
  LS_CHECK(to.at() == out.data() + out.size(), "the size of an encoded row is known beforehand");
}

size_t RowBody::CountedBytes() const {
  return ComplexBytes() + (marker_.present() ? 0 : kMarkerBytes) +
         (tombstone_.present() ? 0 : kTombstoneBytes);
}

size_t RowBody::ComplexBytes() const {
  size_t bytes =
      1 + (marker_.present() ? kMarkerBytes : 0) + (tombstone_.present() ? kTombstoneBytes : 0) + 4;
  for (const Cell& cell : cells_) {
    bytes += cell.view.live ? kLiveCellBytes + cell.view.value.size() : kDeadCellBytes;
    if (!cell.path.empty()) bytes += kPathLengthBytes + cell.path.size();
  }
  return bytes;
}

int64_t RowBody::NextEvent(int64_t now_seconds, const GracePolicy& grace) const {
  int64_t next = kNoExpiry;
  const auto consider = [&](int64_t instant) {
    if (instant != kNoExpiry && (next == kNoExpiry || instant < next)) next = instant;
  };
  if (marker_.present()) consider(grace.NextEvent(marker_, now_seconds));
  if (tombstone_.present()) consider(tombstone_.PurgeSeconds(grace.grace_seconds));
  for (const Cell& cell : cells_) {
    consider(cell.view.live ? grace.NextEvent(cell.view.liveness, now_seconds)
                            : cell.view.deletion_seconds + grace.grace_seconds);
  }
  return next;
}

RowView RowBody::ToView(ClusteringKeyView key, int64_t now_seconds,
                        absl::InlinedVector<LiveCellView, 4>& cells) const {
  cells.clear();
  for (const Cell& cell : cells_) {
    if (cell.view.live && cell.view.liveness.LiveAt(now_seconds)) {
      cells.push_back({cell.column, cell.view.liveness, cell.view.value, cell.path});
    }
  }
  RowView view;
  view.key = key;
  if (marker_.LiveAt(now_seconds)) view.marker = marker_;
  view.cells = {cells.data(), cells.size()};
  return view;
}

}  // namespace liststore::storage
