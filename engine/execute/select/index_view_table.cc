// Sources: ScyllaDB index/secondary_index_manager.cc, create_view_for_index; db/view/view.cc,
// view_updates; schema/schema.cc, token_column_computation, collection_column_computation.
#include "engine/execute/select/index_view_table.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>

#include "engine/base/check.h"
#include "engine/cql/values/encode_value.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/select/row_buffer.h"
#include "engine/model/cell_path.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/clustering_key.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"
#include "engine/model/types/composite_value.h"

namespace liststore::execute {
namespace {

using Outcome = IndexViewTable::Outcome;

// As SELECTs of tables have them.
constexpr uint64_t kRowsPerHoldMax = 1024;
constexpr uint64_t kLooksPerHoldMax = 4096;
// As work, see WorkPace: it becomes a row of its own, and is sorted.
constexpr uint64_t kUnitsOfRow = 16;
constexpr size_t kPartitionsPerStep = 64;

// Reads the table, and makes the view's rows of what comes.
class IndexViewReader final : public RowSink {
 public:
  IndexViewReader(shard::Engine& engine, const TableDefinition& base, const IndexDefinition& index,
                  const TableDefinition& view, uint64_t now_nanos, WorkPace* pace)
      : engine_(engine),
        base_(base),
        index_(index),
        view_(view),
        now_nanos_(now_nanos),
        pace_(pace),
        row_(base),
        indexed_(*base.FindColumn(index.column)),
        indexed_at_(static_cast<size_t>(&indexed_ - base.columns.data())) {
    for (const ColumnDefinition& column : view.columns) {
      const ColumnDefinition* of_base = base.FindColumn(column.name);
      shown_.push_back(
          {ShownIn(base, column), of_base == nullptr ? 0 : of_base - &base.columns[0]});
    }
  }

  Outcome Read(const std::optional<std::vector<std::string>>& keys) {
    if (keys && index_.local) {
      for (const std::string& key : *keys) {
        if (!ReadPartition(key)) break;
      }
      return outcome_;
    }
    if (keys) {
      if (keys->empty()) return outcome_;
      wanted_.emplace(keys->begin(), keys->end());
      // The only case in which storage finds the rows by itself.
      if (wanted_->size() == 1 && indexed_.kind == ColumnKind::kRegular &&
          index_.part == IndexedPart::kValue) {
        value_filter_ = ReadSpec::ValueFilter{indexed_.position, *wanted_->begin()};
      }
    }
    shard::ScanPosition position;
    position.waits_its_turn = waits_its_turn_;
    std::vector<std::string> partitions;
    while (!position.done) {
      const OpStatus status = engine_.ScanPartitions(
          base_.storage.id, std::nullopt, kPartitionsPerStep, now_nanos_, position, partitions);
      if (status == OpStatus::kTableGone) return Outcome::kGone;
      for (const std::string& key : partitions) {
        if (!ReadPartition(key)) return outcome_;
      }
    }
    return outcome_;
  }

  std::vector<cql::VirtualRow> TakeSorted() {
    const bool backwards = view_.storage.reads_backwards();
    std::ranges::sort(found_, [backwards](const Found& a, const Found& b) {
      if (a.token != b.token) return a.token < b.token;
      if (a.partition_key != b.partition_key) return a.partition_key < b.partition_key;
      return backwards ? b.clustering_key < a.clustering_key : a.clustering_key < b.clustering_key;
    });
    std::vector<cql::VirtualRow> rows;
    rows.reserve(found_.size());
    for (Found& found : found_) rows.push_back(std::move(found.row));
    return rows;
  }

  void OnRows(std::span<const RowView> rows) override {
    for (const RowView& row : rows) {
      row_.SetRow(row);
      if (indexed_.kind != ColumnKind::kStatic) TakeCells(row.cells);
    }
  }
  void OnStaticRow(std::span<const LiveCellView> cells) override {
    row_.SetStaticRow(cells);
    if (indexed_.kind == ColumnKind::kStatic) TakeCells(cells);
  }
  void OnStop(ClusteringKeyView next) override {
    char text[kItemKeyTextBytes];
    next_row_ = PlainKey(next, text);
  }
  void OnPackedRun(const PackedRun&) override { LS_UNREACHABLE("packed runs are not accepted"); }
  bool AcceptsPackedRuns() const override { return false; }

 private:
  struct Shown {
    IndexViewValue value;
    ptrdiff_t column;  // of the base
  };
  struct Found {
    Token token;
    std::string partition_key;
    std::string clustering_key;
    cql::VirtualRow row;
  };

  // False: nothing more is to be read.
  bool ReadPartition(const std::string& key) {
    row_.SetPartition(key);
    const bool of_static = indexed_.kind == ColumnKind::kStatic;
    std::string lower;
    while (true) {
      const bool packs = base_.storage.packs_item_keys();
      ClusteringRange range;
      if (!lower.empty()) range.lower = ClusteringBound::At(lower, packs);
      next_row_.reset();
      const ReadSpec spec{.range = range,
                          .descending = false,
                          .limit = of_static ? 0 : kRowsPerHoldMax,
                          .with_static_row = of_static,
                          .value_filter = value_filter_,
                          .looks_max = kLooksPerHoldMax};
      const Reply reply = engine_.Execute({.table = base_.storage.id,
                                           .partition_key = key,
                                           .body = ReadCommand{&spec, this},
                                           .waits_its_turn = waits_its_turn_},
                                          now_nanos_);
      if (reply.status == OpStatus::kTableGone) outcome_ = Outcome::kGone;
      if (outcome_ != Outcome::kRead) return false;
      const uint64_t units = reply.rows * kUnitsOfRow + reply.info.dead_rows;
      if (pace_ != nullptr && !pace_->Spend(WorkPace::kUnitsOfCommand +
                                            std::max(units, next_row_ ? kLooksPerHoldMax : 0))) {
        outcome_ = Outcome::kStopped;
        return false;
      }
      if (next_row_) {
        lower = *next_row_;
      } else if (reply.rows < kRowsPerHoldMax) {
        return true;
      } else {
        lower = BoundAfterKey(row_.clustering_key());
      }
    }
  }

  // What the index is by in the row, or static row, that was set last.
  void TakeCells(std::span<const LiveCellView> cells) {
    if (index_.part == IndexedPart::kValue) {
      const std::optional<std::string_view>& value = row_.values()[indexed_at_];
      if (value) Add(*value, {});
      return;
    }
    const std::vector<DataType>& parts = indexed_.type.parameters();
    const DataType::Kind kind = indexed_.type.kind();
    for (const LiveCellView& cell : cells) {
      if (cell.column != indexed_.position) continue;
      if (kind == DataType::Kind::kList) {
        Add(cell.value, TimeuuidOfPath(cell.path).view());
        continue;
      }
      const std::string element = KeyOfPath(parts[0], cell.path);
      if (kind == DataType::Kind::kSet || index_.part == IndexedPart::kKeys) {
        Add(element, {});
      } else if (index_.part == IndexedPart::kEntries) {
        Add(EncodeTuple({element, std::string(cell.value)}), {});
      } else {
        Add(cell.value, element);
      }
    }
  }

  // `part`: what the index is by; `element_key`: where it stands.
  void Add(std::string_view part, std::string_view element_key) {
    if (outcome_ != Outcome::kRead || part.size() > kKeyBytesMax) return;
    if (wanted_ && !wanted_->contains(part)) return;
    const std::string token = cql::EncodeBigint(TokenOf(row_.partition_key()).value);
    std::vector<std::string_view> values;
    for (const Shown& shown : shown_) {
      switch (shown.value) {
        case IndexViewValue::kColumn:
          values.push_back(*row_.values()[static_cast<size_t>(shown.column)]);
          break;
        case IndexViewValue::kToken:
          values.push_back(token);
          break;
        case IndexViewValue::kPart:
          values.push_back(part);
          break;
        case IndexViewValue::kElementKey:
          values.push_back(element_key);
          break;
      }
    }
    Found found;
    const size_t of_partition = view_.storage.partition_key.size();
    const std::span<const std::string_view> all = values;
    AppendPartitionKey(all.first(of_partition), found.partition_key);
    AppendClusteringKey(view_.storage.clustering, all.subspan(of_partition), found.clustering_key);
    found.token = TokenOf(found.partition_key);
    found.row.assign(values.begin(), values.end());
    bytes_ += sizeof(Found) + 2 * (found.partition_key.size() + found.clustering_key.size()) +
              values.size() * sizeof(found.row[0]);
    if (bytes_ > kResultBytesMax) outcome_ = Outcome::kTooLarge;
    found_.push_back(std::move(found));
  }

  shard::Engine& engine_;
  const TableDefinition& base_;
  const IndexDefinition& index_;
  const TableDefinition& view_;
  const uint64_t now_nanos_;
  WorkPace* const pace_;
  const bool waits_its_turn_ = pace_ != nullptr && pace_->is_beside_loops();  // in lanes
  RowBuffer row_;
  const ColumnDefinition& indexed_;
  const size_t indexed_at_;
  std::vector<Shown> shown_;  // by the view's columns
  // What global indexes are asked for: their partition key is the one value.
  std::optional<std::set<std::string, std::less<>>> wanted_;
  std::optional<ReadSpec::ValueFilter> value_filter_;
  std::optional<std::string> next_row_;  // where the last read stopped
  std::vector<Found> found_;
  size_t bytes_ = 0;
  Outcome outcome_ = Outcome::kRead;
};

}  // namespace

std::vector<cql::VirtualRow> IndexViewTable::Rows(const cql::VirtualReadContext& context) const {
  const auto base = context.schema.FindTable(view_->keyspace, view_->view->base);
  const auto now = context.schema.FindTable(view_->keyspace, view_->name);
  outcome_ = Outcome::kGone;
  if (base == nullptr || now == nullptr || now->columns != view_->columns ||
      now->view != view_->view) {
    return {};
  }
  const IndexDefinition* index = base->FindIndex(view_->view->index);
  LS_CHECK(index != nullptr, "the view of an index is there as long as the index");
  IndexViewReader reader(engine_, *base, *index, *view_, context.now_nanos, pace_);
  outcome_ = reader.Read(keys_);
  return outcome_ == Outcome::kRead ? reader.TakeSorted() : std::vector<cql::VirtualRow>();
}

}  // namespace liststore::execute
