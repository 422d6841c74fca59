// A ViewSink that points to all it can, and remembers what it pointed to.
#ifndef LISTSTORE_TESTS_SUPPORT_KEEPING_SINK_H_
#define LISTSTORE_TESTS_SUPPORT_KEEPING_SINK_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/view_sink.h"

namespace liststore::testing {

class KeepingSink final : public ViewSink {
 public:
  explicit KeepingSink(bool accepts_packed_runs) : accepts_packed_runs_(accepts_packed_runs) {}
  void OnBlock(std::string_view block) override { block_ = block; }
  void OnRows(std::span<const RowView> rows) override {
    for (const RowView& row : rows) {
      Keep(row.key.bytes);
      for (const LiveCellView& cell : row.cells) Keep(cell.value);
    }
  }
  void OnPackedRun(const PackedRun& run) override { Keep({run.rows, run.count * run.stride}); }
  bool AcceptsPackedRuns() const override { return accepts_packed_runs_; }
  bool PointsIntoBlock() const override { return !kept_.empty(); }

  bool Unchanged() const {
    for (const auto& [bytes, copy] : kept_) {
      if (bytes != copy) return false;
    }
    return true;
  }
  size_t kept() const { return kept_.size(); }

 private:
  void Keep(std::string_view bytes) {
    if (bytes.empty() || bytes.data() < block_.data() ||
        bytes.data() + bytes.size() > block_.data() + block_.size()) {
      return;
    }
    kept_.emplace_back(bytes, bytes);
  }

  bool accepts_packed_runs_;
  std::string_view block_;
  std::vector<std::pair<std::string_view, std::string>> kept_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_KEEPING_SINK_H_
