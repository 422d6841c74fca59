// ListItemsSink: rows of list_items on their way into a ListItems.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_ITEMS_SINK_H_
#define LISTSTORE_ENGINE_LISTS_LIST_ITEMS_SINK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/presence.h"
#include "engine/model/row_view.h"
#include "liststore/list_item.h"

namespace liststore {

static_assert(static_cast<int>(ListPresence::kAbsent) == static_cast<int>(Presence::kAbsent) &&
              static_cast<int>(ListPresence::kPartial) == static_cast<int>(Presence::kPartial) &&
              static_cast<int>(ListPresence::kComplete) == static_cast<int>(Presence::kComplete));

// Appends to the ListItems it was made for, which outlives it. Used by whoever executes the read,
// one thread at a time.
//
// A run of packed rows is one memcpy. As long as all rows have a packed key and one length,
// `stride_` of the ListItems says where each begins; the first row that differs, or an expiry that
// was asked for, gives every row a Place (32 bytes). Allocates only where the ListItems has to
// grow.
class ListItemsSink final : public RowSink {
 public:
  ListItemsSink(ListItems& items, bool with_expiry) : items_(&items), with_expiry_(with_expiry) {}

  void OnRows(std::span<const RowView> rows) override;
  void OnPackedRun(const PackedRun& run) override;
  // What the list says of itself, beside its rows.
  void SetInfo(const PartitionInfo& info) {
    items_->presence_ = static_cast<ListPresence>(info.presence);
    items_->fresh_until_seconds_ = info.fresh_until_seconds;
  }
  // A run brings no expiry.
  bool AcceptsPackedRuns() const override { return !with_expiry_; }

 private:
  // `bytes` more bytes behind those in use.
  char* Grow(size_t bytes);
  // The rows so far, and all to come, get a Place each.
  void StartPlaces();
  void AppendRow(const RowView& row);

  ListItems* items_;
  bool with_expiry_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_ITEMS_SINK_H_
