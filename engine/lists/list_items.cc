#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/lists/leading_nanos.h"
#include "engine/lists/list_items_sink.h"
#include "engine/model/packed_item_key.h"
#include "liststore/list_item.h"

namespace liststore {
namespace {

constexpr size_t kBytesMin = 1024;

}  // namespace

std::string ListItemView::item_key() const {
  if (packed_key_ == nullptr) return std::string(plain_key_);
  std::string text(kItemKeyTextBytes, '\0');
  UnpackItemKey(packed_key_, text.data());
  return text;
}

ListItems::ListItems() = default;
ListItems::~ListItems() = default;

// The source of a move is empty afterwards and may be used again.
ListItems::ListItems(ListItems&& other) noexcept
    : bytes_(std::move(other.bytes_)),
      used_(std::exchange(other.used_, 0)),
      size_(std::exchange(other.size_, 0)),
      stride_(std::exchange(other.stride_, 0)),
      places_(std::move(other.places_)),
      fresh_until_seconds_(std::exchange(other.fresh_until_seconds_, 0)),
      presence_(std::exchange(other.presence_, ListPresence::kAbsent)) {
  other.bytes_.clear();
  other.places_.clear();
}

ListItems& ListItems::operator=(ListItems&& other) noexcept {
  if (this == &other) return *this;
  bytes_.swap(other.bytes_);
  places_.swap(other.places_);
  used_ = std::exchange(other.used_, 0);
  size_ = std::exchange(other.size_, 0);
  stride_ = std::exchange(other.stride_, 0);
  fresh_until_seconds_ = std::exchange(other.fresh_until_seconds_, 0);
  presence_ = std::exchange(other.presence_, ListPresence::kAbsent);
  other.places_.clear();
  return *this;
}

ListItemView ListItems::operator[](size_t index) const {
  LS_CHECK(index < size_, "the item is one of the result");
  ListItemView view;
  if (places_.empty()) {
    const char* const row = bytes_.data() + index * stride_;
    view.packed_key_ = row;
    view.timestamp_nanos = PackedItemKeyNanos(row);
    view.value = {row + kPackedItemKeyBytes, stride_ - kPackedItemKeyBytes};
    return view;
  }
  const Place& place = places_[index];
  const char* const key = bytes_.data() + place.offset;
  view.value = {key + place.key_bytes, place.value_bytes};
  view.expires_at_seconds = place.expires_at_seconds;
  if (place.packed) {
    view.packed_key_ = key;
    view.timestamp_nanos = PackedItemKeyNanos(key);
  } else {
    view.plain_key_ = {key, place.key_bytes};
    view.timestamp_nanos = LeadingNanos(view.plain_key_);
  }
  return view;
}

char* ListItemsSink::Grow(size_t bytes) {
  ListItems& items = *items_;
  const size_t needed = items.used_ + bytes;
  if (needed > items.bytes_.size()) {
    items.bytes_.resize(std::max({needed, items.bytes_.size() * 2, kBytesMin}));
  }
  char* const at = items.bytes_.data() + items.used_;
  items.used_ = needed;
  return at;
}

void ListItemsSink::AppendRun(const PackedRun& run) {
  ListItems& items = *items_;
  const size_t bytes = run.count * run.stride;
  if (run.count == 0) return;
  if (items.size_ == 0) {
    items.stride_ = run.stride;
  } else if (items.places_.empty() && items.stride_ != run.stride) {
    StartPlaces();
  }
  if (!items.places_.empty()) {
    for (size_t i = 0; i < run.count; ++i) {
      items.places_.push_back(
          {.offset = items.used_ + i * run.stride,
           .key_bytes = kPackedItemKeyBytes,
           .value_bytes = static_cast<uint32_t>(run.stride - kPackedItemKeyBytes),
           .packed = true});
    }
  }
  std::memcpy(Grow(bytes), run.rows, bytes);
  items.size_ += run.count;
}

void ListItemsSink::OnRows(std::span<const RowView> rows) {
  for (const RowView& row : rows) AppendRow(row);
}

void ListItemsSink::AppendRow(const RowView& row) {
  // A row that was written through CQL may have no value.
  LS_DCHECK(row.cells.size() <= 1, "list_items has one regular column");
  const LiveCellView* const cell = row.cells.empty() ? nullptr : &row.cells.front();
  const std::string_view value = cell != nullptr ? cell->value : std::string_view();
  const size_t bytes = row.key.bytes.size() + value.size();

  ListItems& items = *items_;
  if (items.size_ == 0) items.stride_ = bytes;
  const bool strided = row.key.packed && bytes == items.stride_ && !with_expiry_;
  if (!strided && items.places_.empty()) StartPlaces();
  // `strided` matters below, where places_ of an empty result is still empty.
  if (!strided || !items.places_.empty()) {
    const Liveness& liveness = cell != nullptr ? cell->liveness : row.marker;
    items.places_.push_back({.offset = items.used_,
                             .key_bytes = static_cast<uint32_t>(row.key.bytes.size()),
                             .value_bytes = static_cast<uint32_t>(value.size()),
                             .expires_at_seconds = with_expiry_ ? liveness.expiry_seconds : 0,
                             .packed = row.key.packed});
  }
  char* const at = Grow(bytes);
  if (!row.key.bytes.empty()) std::memcpy(at, row.key.bytes.data(), row.key.bytes.size());
  if (!value.empty()) std::memcpy(at + row.key.bytes.size(), value.data(), value.size());
  ++items.size_;
}

void ListItemsSink::StartPlaces() {
  ListItems& items = *items_;
  LS_DCHECK(items.places_.empty(), "places start once");
  for (size_t i = 0; i < items.size_; ++i) {
    items.places_.push_back(
        {.offset = i * items.stride_,
         .key_bytes = kPackedItemKeyBytes,
         .value_bytes = static_cast<uint32_t>(items.stride_ - kPackedItemKeyBytes),
         .packed = true});
  }
}

}  // namespace liststore
