#include "liststore/list_view.h"

#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/lists/leading_nanos.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "engine/lists/list_view_sink.h"
#include "engine/model/packed_item_key.h"

namespace liststore {

ListView::ListView() = default;
ListView::~ListView() { Release(); }

// The source of a move is empty afterwards and may be used again.
ListView::ListView(ListView&& other) noexcept { *this = std::move(other); }

ListView& ListView::operator=(ListView&& other) noexcept {
  if (this == &other) return *this;
  Release();
  rows_ = std::exchange(other.rows_, nullptr);
  stride_ = std::exchange(other.stride_, 0);
  size_ = std::exchange(other.size_, 0);
  copied_ = std::exchange(other.copied_, 0);
  items_.swap(other.items_);
  copies_.swap(other.copies_);
  lane_ = std::exchange(other.lane_, nullptr);
  pin_ = std::exchange(other.pin_, nullptr);
  return *this;
}

void ListView::Release() {
  rows_ = nullptr;
  size_ = 0;
  copied_ = 0;
  items_.clear();
  copies_.clear();
  shard::Engine::Unpin({static_cast<shard::Lane*>(std::exchange(lane_, nullptr)),
                        static_cast<storage::ViewPin*>(std::exchange(pin_, nullptr))});
}

ListItemView ListView::operator[](size_t index) const {
  LS_CHECK(index < size_, "the item is one of the view");
  ListItemView view;
  if (items_.empty()) {
    const char* const row = rows_ + index * stride_;
    view.packed_key_ = row;
    view.timestamp_nanos = PackedItemKeyNanos(row);
    view.value = {row + kPackedItemKeyBytes, stride_ - kPackedItemKeyBytes};
    return view;
  }
  const Item& item = items_[index];
  view.value = {item.value, item.value_bytes};
  view.expires_at_seconds = item.expires_at_seconds;
  if (item.packed) {
    view.packed_key_ = item.key;
    view.timestamp_nanos = PackedItemKeyNanos(item.key);
  } else {
    view.plain_key_ = {item.key, item.key_bytes};
    view.timestamp_nanos = LeadingNanos(view.plain_key_);
  }
  return view;
}

void ListViewSink::OnPackedRun(const PackedRun& run) {
  LS_DCHECK(AcceptsPackedRuns(), "a run comes only where it is accepted");
  if (run.count == 0) return;
  std::string_view rows(run.rows, run.count * run.stride);
  const bool in_block = InBlock(rows);
  if (!in_block) {
    rows = view_.copies_.emplace_back(rows);
    view_.copied_ += run.count;
  } else if (view_.size_ == 0) {
    // A partition of one leaf sends one run and nothing else.
    points_ = true;
    view_.rows_ = rows.data();
    view_.stride_ = run.stride;
    view_.size_ = run.count;
    return;
  }
  LS_CHECK(!in_block, "a block holds one run");
  for (size_t i = 0; i < run.count; ++i) {
    const char* const row = rows.data() + i * run.stride;
    view_.items_.push_back({.key = row,
                            .value = row + kPackedItemKeyBytes,
                            .key_bytes = kPackedItemKeyBytes,
                            .value_bytes = static_cast<uint32_t>(run.stride - kPackedItemKeyBytes),
                            .packed = true});
  }
  view_.size_ += run.count;
}

void ListViewSink::OnRows(std::span<const RowView> rows) {
  for (const RowView& row : rows) AppendRow(row);
}

void ListViewSink::AppendRow(const RowView& row) {
  // A row that was written through CQL may have no value.
  const LiveCellView* const cell = row.cells.empty() ? nullptr : &row.cells.front();
  std::string_view key = row.key.bytes;
  std::string_view value = cell != nullptr ? cell->value : std::string_view();
  if (InBlock(key) && (value.empty() || InBlock(value))) {
    points_ = true;
  } else {
    std::string& copy = view_.copies_.emplace_back(key);
    copy.append(value);
    key = std::string_view(copy).substr(0, key.size());
    value = std::string_view(copy).substr(key.size());
    ++view_.copied_;
  }
  const Liveness& liveness = cell != nullptr ? cell->liveness : row.marker;
  view_.items_.push_back({.key = key.data(),
                          .value = value.data(),
                          .expires_at_seconds = with_expiry_ ? liveness.expiry_seconds : 0,
                          .key_bytes = static_cast<uint32_t>(key.size()),
                          .value_bytes = static_cast<uint32_t>(value.size()),
                          .packed = row.key.packed});
  ++view_.size_;
}

absl::Status ListStore::ViewListItems(const ListRef& list, const GetOptions& options,
                                      ListView* view) const try {
  view->Release();
  LS_RETURN_IF_ERROR(CheckGetOptions(options));
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  const NewestItems newest(options);
  if (newest.empty()) return absl::OkStatus();
  ListViewSink sink(*view, options.with_expiry);
  shard::Engine::RowPin pin;
  const OpStatus status =
      impl_->engine.View(impl_->items_schema.id, key.partition_key(), newest.range(), options.limit,
                         impl_->NowForReads(), sink, pin);
  sink.Keep(pin);
  return impl_->Status(status);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
