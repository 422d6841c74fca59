// ListViewSink: writes rows of list_items into a ListView.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_VIEW_SINK_H_
#define LISTSTORE_ENGINE_LISTS_LIST_VIEW_SINK_H_

#include <span>
#include <string_view>

#include "engine/model/row_view.h"
#include "engine/model/view_sink.h"
#include "engine/shard/engine.h"
#include "liststore/list_view.h"

namespace liststore {

// Fills an empty view, which must outlive it: points to rows in the block and copies the others.
// Used by the thread that executes the read.
class ListViewSink final : public ViewSink {
 public:
  ListViewSink(ListView& view, bool with_expiry) : view_(view), with_expiry_(with_expiry) {}

  void OnBlock(std::string_view block) override { block_ = block; }
  void OnRows(std::span<const RowView> rows) override;
  void OnPackedRun(const PackedRun& run) override;
  bool AcceptsPackedRuns() const override { return !with_expiry_; }
  bool PointsIntoBlock() const override { return points_; }

  // After the read: gives the pin to the view, which releases it.
  void Keep(const shard::Engine::RowPin& pin) {
    if (pin.pin == nullptr) return;
    view_.lane_ = pin.lane;
    view_.pin_ = pin.pin;
  }

 private:
  bool InBlock(std::string_view bytes) const {
    return bytes.data() >= block_.data() &&
           bytes.data() + bytes.size() <= block_.data() + block_.size();
  }
  void AppendRow(const RowView& row);

  ListView& view_;
  const bool with_expiry_;
  std::string_view block_;
  bool points_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_VIEW_SINK_H_
