// ListItemsSink: writes rows of list_items into a ListItems.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_ITEMS_SINK_H_
#define LISTSTORE_ENGINE_LISTS_LIST_ITEMS_SINK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/base/check.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/presence.h"
#include "engine/model/row_view.h"
#include "liststore/list_item.h"

namespace liststore {

static_assert(static_cast<int>(ListPresence::kAbsent) == static_cast<int>(Presence::kAbsent) &&
              static_cast<int>(ListPresence::kPartial) == static_cast<int>(Presence::kPartial) &&
              static_cast<int>(ListPresence::kComplete) == static_cast<int>(Presence::kComplete));

// Appends to a ListItems, which must outlive it. Used by the thread that executes the read.
//
// A run of packed rows is one memcpy. As long as all rows have a packed key and the same length,
// `stride_` of the ListItems says where each begins. The first row that differs, or a read with
// expiry, gives every row a Place (32 bytes). Allocates only if the ListItems has to grow.
class ListItemsSink final : public RowSink {
 public:
  ListItemsSink(ListItems& items, bool with_expiry) : items_(&items), with_expiry_(with_expiry) {}

  void OnRows(std::span<const RowView> rows) override;
  // In line for what most reads find: one run, for which there is room from an earlier read.
  void OnPackedRun(const PackedRun& run) override {
    LS_DCHECK(AcceptsPackedRuns(), "a run comes only where it is accepted");
    LS_CHECK(run.stride >= kPackedItemKeyBytes, "a row holds a packed key");
    ListItems& items = *items_;
    const size_t bytes = run.count * run.stride;
    if (items.size_ != 0 || bytes > items.bytes_.size()) [[unlikely]]
      return AppendRun(run);
    items.stride_ = run.stride;
    items.size_ = run.count;
    items.used_ = bytes;
    std::memcpy(items.bytes_.data(), run.rows, bytes);
  }
  // Presence and freshness of the list.
  void SetInfo(const PartitionInfo& info) {
    items_->presence_ = static_cast<ListPresence>(info.presence);
    items_->fresh_until_seconds_ = info.fresh_until_seconds;
  }
  // A run has no expiry.
  bool AcceptsPackedRuns() const override { return !with_expiry_; }

 private:
  // Makes room for `bytes` after those in use, and returns it.
  char* Grow(size_t bytes);
  // Gives a Place to each row so far; later rows get one too.
  void StartPlaces();
  void AppendRow(const RowView& row);
  void AppendRun(const PackedRun& run);

  ListItems* items_;
  bool with_expiry_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_ITEMS_SINK_H_
