#include "engine/execute/view_deletions.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/execute/view_follower.h"
#include "engine/model/clustering_key.h"
#include "engine/model/read_spec.h"
#include "engine/model/row_view.h"

namespace liststore::execute {
namespace {

// Where a read ended.
class EndOfRead final : public RowSink {
 public:
  void OnRows(std::span<const RowView> rows) override {
    char text[kItemKeyTextBytes];
    if (!rows.empty()) last_key_ = PlainKey(rows.back().key, text);
  }
  void OnPackedRun(const PackedRun&) override { LS_UNREACHABLE("packed runs are not accepted"); }
  bool AcceptsPackedRuns() const override { return false; }
  void OnStop(ClusteringKeyView next) override {
    char text[kItemKeyTextBytes];
    stopped_at_.emplace(PlainKey(next, text));
  }

  // Behind what was read.
  std::string Bound() const { return stopped_at_ ? *stopped_at_ : BoundAfterKey(last_key_); }
  bool stopped() const { return stopped_at_.has_value(); }

 private:
  std::string last_key_;
  std::optional<std::string> stopped_at_;
};

}  // namespace

std::optional<ViewDeletions::Range> ViewDeletions::RangeOf(const Command& write) const {
  const auto plans = std::ranges::find_if(
      views_, [&](const auto& of) { return of->base->storage.id == write.table; });
  if (plans == views_.end()) return std::nullopt;
  const bool packs = (*plans)->base->storage.packs_item_keys();
  if (const auto* range = std::get_if<DeleteRangeCommand>(&write.body)) {
    return Range{range->range, packs};
  }
  if (std::holds_alternative<DeletePartitionCommand>(write.body)) return Range{{}, packs};
  return std::nullopt;
}

ViewDeletions::Read ViewDeletions::ReadFirst(const Command& write, const ClusteringRange& range,
                                             uint64_t rows) const {
  constexpr uint64_t kLooksPerRow = 16;
  const ReadSpec spec{.range = range,
                      .descending = false,
                      .limit = rows,
                      .value_filter = std::nullopt,
                      .looks_max = kLooksPerRow * rows};
  EndOfRead end;
  const Command read{write.table, write.partition_key, ReadCommand{&spec, &end}};
  const Reply reply = engine_.Execute(read, now_nanos_);
  // Whoever writes finds out.
  if (reply.status != OpStatus::kOk) return {};
  if (!end.stopped() && reply.rows < rows) return {reply.rows, std::nullopt};
  return {reply.rows, end.Bound()};
}

bool ViewDeletions::AreLong() const {
  uint64_t left = kRowsAtOnce;
  for (const Command& write : writes_) {
    const std::optional<Range> of = RangeOf(write);
    if (!of) continue;
    const Read first = ReadFirst(write, of->range, left);
    if (first.bound || first.rows >= left) return true;
    left -= first.rows;
  }
  return false;
}

OpStatus ViewDeletions::DeleteStep(const Command& write, const ClusteringRange& range) const {
  const Command step{write.table, write.partition_key,
                     DeleteRangeCommand{.range = range, .counts_rows = false}, write.timestamp};
  ViewFollower follower(views_);
  return engine_
      .ExecuteConditional({.looks = {}, .writes = {&step, 1}, .follower = &follower}, now_nanos_)
      .status;
}

OpStatus ViewDeletions::DeleteBeforehand(absl::FunctionRef<bool()> goes_on) {
  for (size_t i = 0; i < writes_.size(); ++i) {
    const Command& write = writes_[i];
    const std::optional<Range> of = RangeOf(write);
    if (!of) continue;
    ClusteringRange left = of->range;
    std::string lower;  // of `left`, once it has another
    for (bool last = false; !last;) {
      Read first = ReadFirst(write, left, kRowsPerStep);
      last = !first.bound;
      if (last && first.rows == 0) break;
      ClusteringRange step = left;
      if (!last) step.upper = ClusteringBound::At(*first.bound, of->packs_item_keys);
      const OpStatus status = DeleteStep(write, step);
      if (status != OpStatus::kOk) return status;
      if (!last) {
        lower = *std::move(first.bound);
        left.lower = ClusteringBound::At(lower, of->packs_item_keys);
      }
      if (!goes_on()) return OpStatus::kOk;
    }
    auto* const range = std::get_if<DeleteRangeCommand>(&rest_[i].body);
    if (range == nullptr || lower.empty()) continue;
    range->range = left;
    range->range.lower =
        ClusteringBound::At(bounds_.emplace_back(std::move(lower)), of->packs_item_keys);
  }
  return OpStatus::kOk;
}

}  // namespace liststore::execute
