#include "engine/shard/foreseen_rows.h"

#include <algorithm>
#include <numeric>

#include "engine/base/check.h"
#include "engine/model/read_spec.h"

namespace liststore::shard {
namespace {

class KeySink final : public RowSink {
 public:
  explicit KeySink(std::vector<std::string>& keys) : keys_(keys) {}

  void OnRows(std::span<const RowView> rows) override {
    char text[kItemKeyTextBytes];
    for (const RowView& row : rows) keys_.emplace_back(PlainKey(row.key, text));
  }
  void OnPackedRun(const PackedRun&) override { LS_UNREACHABLE("packed runs are not accepted"); }
  bool AcceptsPackedRuns() const override { return false; }

 private:
  std::vector<std::string>& keys_;
};

}  // namespace

void ForeseenRows::Upsert(std::span<const RowUpdate> rows, const WriteContext& write) {
  for (const RowUpdate& row : rows) {
    if (!row.of_static_row) steps_.push_back({row.key, {&row, write}, WriteTimestamp::None()});
  }
}

void ForeseenRows::DeleteRows(std::span<const ClusteringKeyView> keys, WriteTimestamp timestamp) {
  for (const ClusteringKeyView& key : keys) steps_.push_back({key, {}, timestamp});
}

void ForeseenRows::DeleteRange(const ClusteringRange& range, WriteTimestamp timestamp) {
  TouchRange(range);
  ranges_.push_back({range, timestamp});
}

void ForeseenRows::DeletePartition(WriteTimestamp timestamp) {
  TouchRange(table_.OlderRows(partition_, timestamp));
  ranges_.push_back({{}, timestamp});
}

void ForeseenRows::TouchRange(const ClusteringRange& range) {
  std::vector<std::string> keys;
  KeySink sink(keys);
  const ReadSpec spec{.range = range, .value_filter = std::nullopt};
  table_.Read(partition_, spec, now_seconds_, sink);
  for (std::string& plain : keys) {
    Key& key = keys_.emplace_back();
    key.plain = std::move(plain);
    steps_.push_back({MakeClusteringKey(key.plain, table_.schema().packs_item_keys(), key.packed),
                      {},
                      WriteTimestamp::None()});
  }
}

std::vector<ForeseenRows::Row> ForeseenRows::GatherRows(
    std::vector<storage::ForeseenUpdate>& updates) {
  std::ranges::stable_sort(
      steps_, [](const Step& a, const Step& b) { return CompareKeys(a.key, b.key) < 0; });
  std::vector<Row> rows;
  for (const Step& step : steps_) {
    if (rows.empty() || CompareKeys(rows.back().key, step.key) != 0) {
      rows.push_back({step.key, updates.size(), 0, WriteTimestamp::None()});
    }
    Row& row = rows.back();
    if (step.update.row != nullptr) {
      updates.push_back(step.update);
      ++row.updates;
    }
    row.covered = std::max(row.covered, step.covered);
  }
  return rows;
}

// The youngest first, so that each row is looked at once.
void ForeseenRows::CoverRanges(std::span<Row> rows) {
  std::ranges::sort(ranges_, [](const RangeDeletion& a, const RangeDeletion& b) {
    return a.timestamp > b.timestamp;
  });
  // Of each row, the next one that no range has covered so far: itself, or behind it.
  std::vector<size_t> next(ranges_.empty() ? 0 : rows.size() + 1);
  std::iota(next.begin(), next.end(), size_t{0});
  const auto uncovered = [&](size_t i) {
    while (next[i] != i) i = next[i] = next[next[i]];
    return i;
  };
  const auto is_before = [](const Row& row, const ClusteringBound& bound) {
    return CompareKeyToBound(row.key, bound) < 0;
  };
  for (const RangeDeletion& deletion : ranges_) {
    const auto at = [&](const ClusteringBound& bound) {
      return static_cast<size_t>(std::lower_bound(rows.begin(), rows.end(), bound, is_before) -
                                 rows.begin());
    };
    const size_t end = at(deletion.range.upper);
    for (size_t i = uncovered(at(deletion.range.lower)); i < end; i = uncovered(i)) {
      rows[i].covered = std::max(rows[i].covered, deletion.timestamp);
      next[i] = i + 1;
    }
  }
}

void ForeseenRows::Send(RowSink& sink) {
  std::vector<storage::ForeseenUpdate> updates;
  std::vector<Row> rows = GatherRows(updates);
  CoverRanges(rows);
  for (const Row& row : rows) {
    table_.SendForeseen(partition_, row.key,
                        std::span(updates).subspan(row.first_update, row.updates), row.covered,
                        now_seconds_, sink);
  }
}

}  // namespace liststore::shard
