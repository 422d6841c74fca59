// Sources: ScyllaDB index/secondary_index_manager.cc, create_view_for_index; db/view/view.cc,
// view_updates; schema/schema.cc, token_column_computation, collection_column_computation.
#include "engine/execute/select/index_view_table.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <utility>

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

// As SELECTs of tables have them.
constexpr uint64_t kRowsPerHoldMax = 1024;
constexpr uint64_t kLooksPerHoldMax = 4096;
// As work, see WorkPace: of one that is looked at, and of one that is kept, which becomes a row of
// its own, and is sorted.
constexpr uint64_t kUnitsOfLook = 2;
constexpr uint64_t kUnitsOfRow = 16;
constexpr size_t kPartitionsPerStep = 64;
// Rows that are found beyond those that are wanted before some are given up again.
constexpr uint64_t kSpareRowsMin = 1024;

}  // namespace

// Reads the table, and makes the view's rows of what comes.
class IndexViewTable::Reader final : public RowSink {
 public:
  Reader(shard::Engine& engine, std::shared_ptr<const TableDefinition> base,
         const IndexDefinition& index, const TableDefinition& view,
         std::optional<std::vector<std::string>> keys, uint64_t now_nanos, WorkPace* pace)
      : engine_(engine),
        table_(std::move(base)),
        base_(*table_),
        index_(index),
        view_(view),
        keys_(std::move(keys)),
        now_nanos_(now_nanos),
        pace_(pace),
        row_(base_),
        indexed_(*base_.FindColumn(index.column)),
        indexed_at_(static_cast<size_t>(&indexed_ - base_.columns.data())) {
    for (const ColumnDefinition& column : view.columns) {
      const ColumnDefinition* of_base = base_.FindColumn(column.name);
      shown_.push_back(
          {ShownIn(base_, column), of_base == nullptr ? 0 : of_base - &base_.columns[0]});
    }
    if (keys_ && !index_.local) {
      wanted_.emplace(keys_->begin(), keys_->end());
      // The only case in which storage finds the rows by itself.
      if (wanted_->size() == 1 && indexed_.kind == ColumnKind::kRegular &&
          index_.part == IndexedPart::kValue) {
        value_filter_ = ReadSpec::ValueFilter{indexed_.position, *wanted_->begin()};
      }
    }
  }

  void Begin(const cql::TokenRange& tokens, const std::optional<RowPlace>& behind) {
    tokens_ = tokens;
    if (behind) GoOnBehind(*behind);
  }

  Outcome outcome() const { return outcome_; }

  // The rows behind the last ones, or behind where it begins.
  std::vector<cql::VirtualRow> Next(uint64_t count) {
    found_.clear();
    bytes_ = 0;
    last_kept_.reset();
    count_ = count;
    if (is_done_) return {};
    Read();
    if (outcome_ != Outcome::kRead) return {};
    if (found_.size() > count_) KeepFirst();
    is_done_ = !last_kept_;
    std::ranges::sort(
        found_, [this](const Found& a, const Found& b) { return IsBefore(a.place, b.place); });
    if (!found_.empty()) {
      const Place& last = found_.back().place;
      GoOnBehind({last.partition_key, last.clustering_key});
    }
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
  // Where a row of the view stands.
  struct Place {
    Token token;
    std::string partition_key;
    std::string clustering_key;
  };
  struct Found {
    Place place;
    cql::VirtualRow row;
    size_t bytes = 0;
  };
  struct Shown {
    IndexViewValue value;
    ptrdiff_t column;  // of the base
  };

  void GoOnBehind(const RowPlace& place) {
    behind_ = place;
    behind_token_ = TokenOf(place.partition);
  }

  bool IsBefore(const Place& a, const Place& b) const {
    const int order = Compare(a.token, a.partition_key, b.token, b.partition_key);
    if (order != 0) return order < 0;
    return view_.storage.reads_backwards() ? b.clustering_key < a.clustering_key
                                           : a.clustering_key < b.clustering_key;
  }
  static int Compare(Token a_token, std::string_view a, Token b_token, std::string_view b) {
    if (a_token != b_token) return a_token < b_token ? -1 : 1;
    return a.compare(b);
  }
  bool IsBehindBegin(const Place& place) const {
    if (!behind_) return true;
    const int order = Compare(behind_token_, behind_->partition, place.token, place.partition_key);
    if (order != 0 || !behind_->row) return order < 0;
    return view_.storage.reads_backwards() ? place.clustering_key < *behind_->row
                                           : *behind_->row < place.clustering_key;
  }

  void Read() {
    if (keys_ && index_.local) {
      for (const std::string& key : *keys_) {
        if (!ReadPartition(key)) return;
      }
      return;
    }
    if (wanted_ && wanted_->empty()) return;
    shard::ScanPosition position;
    // Those of a local index stand in the order of the table.
    if (index_.local) {
      position = engine_.PositionAt(behind_ ? behind_token_ : Token{tokens_.first});
    }
    const std::optional<Token> last =
        index_.local ? std::optional(Token{tokens_.last}) : std::nullopt;
    position.waits_its_turn = waits_its_turn_;
    std::vector<std::string> partitions;
    while (!position.done) {
      const OpStatus status =
          engine_.ScanPartitions(base_.storage.id, std::nullopt, kPartitionsPerStep, now_nanos_,
                                 position, partitions, last);
      if (status == OpStatus::kTableGone) {
        outcome_ = Outcome::kGone;
        return;
      }
      for (const std::string& key : partitions) {
        if (!ReadPartition(key)) return;
        if (index_.local && (last_kept_ || found_.size() > count_)) return;
      }
    }
  }

  // False: nothing more is to be read.
  bool ReadPartition(const std::string& key) {
    row_.SetPartition(key);
    token_ = TokenOf(key);
    token_value_ = cql::EncodeBigint(token_.value);
    const bool of_static = indexed_.kind == ColumnKind::kStatic;
    std::string lower;
    while (true) {
      const bool packs = base_.storage.packs_item_keys();
      ClusteringRange range;
      if (!lower.empty()) range.lower = ClusteringBound::At(lower, packs);
      next_row_.reset();
      kept_ = 0;
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
      const uint64_t units = reply.rows * kUnitsOfLook + kept_ * kUnitsOfRow + reply.info.dead_rows;
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
    Found found;
    Place& place = found.place;
    if (index_.local) {
      place.partition_key = row_.partition_key();
      place.token = token_;
    } else {
      AppendPartitionKey({&part, 1}, place.partition_key);
      place.token = TokenOf(place.partition_key);
    }
    // Most rows of a page that is one of many are told by their token.
    if (place.token < Token{tokens_.first} || Token{tokens_.last} < place.token) return;
    if (behind_ && place.token < behind_token_) return;
    if (last_kept_ && last_kept_->token < place.token) return;
    std::vector<std::string_view> values;
    for (const Shown& shown : shown_) {
      switch (shown.value) {
        case IndexViewValue::kColumn:
          values.push_back(*row_.values()[static_cast<size_t>(shown.column)]);
          break;
        case IndexViewValue::kToken:
          values.push_back(token_value_);
          break;
        case IndexViewValue::kPart:
          values.push_back(part);
          break;
        case IndexViewValue::kElementKey:
          values.push_back(element_key);
          break;
      }
    }
    const std::span<const std::string_view> all = values;
    AppendClusteringKey(view_.storage.clustering, all.subspan(view_.storage.partition_key.size()),
                        place.clustering_key);
    if (!IsBehindBegin(place) || (last_kept_ && IsBefore(*last_kept_, place))) return;
    found.row.assign(values.begin(), values.end());
    found.bytes = sizeof(Found) + 2 * (place.partition_key.size() + place.clustering_key.size()) +
                  values.size() * sizeof(found.row[0]);
    bytes_ += found.bytes;
    ++kept_;
    if (bytes_ > kResultBytesMax) outcome_ = Outcome::kTooLarge;
    found_.push_back(std::move(found));
    if (found_.size() / 2 > count_ && found_.size() >= count_ + kSpareRowsMin) KeepFirst();
  }

  // Of more than are wanted the first ones: no row behind them is taken any more.
  void KeepFirst() {
    const auto last = found_.begin() + static_cast<ptrdiff_t>(count_) - 1;
    std::ranges::nth_element(found_, last, [this](const Found& a, const Found& b) {
      return IsBefore(a.place, b.place);
    });
    last_kept_ = last->place;
    found_.resize(count_);
    bytes_ = 0;
    for (const Found& found : found_) bytes_ += found.bytes;
  }

  shard::Engine& engine_;
  const std::shared_ptr<const TableDefinition> table_;
  const TableDefinition& base_;
  const IndexDefinition& index_;
  const TableDefinition& view_;
  const std::optional<std::vector<std::string>> keys_;
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
  cql::TokenRange tokens_;
  std::optional<RowPlace> behind_;
  Token behind_token_;
  bool is_done_ = false;

  // Of the table's partition that is read.
  Token token_;
  std::string token_value_;
  std::optional<std::string> next_row_;  // where the last read stopped
  uint64_t kept_ = 0;                    // rows that it found

  uint64_t count_ = 0;
  std::vector<Found> found_;
  std::optional<Place> last_kept_;  // there are more behind this one
  size_t bytes_ = 0;
  Outcome outcome_ = Outcome::kRead;
};

IndexViewTable::IndexViewTable(shard::Engine& engine, const TableDefinition& view,
                               std::optional<std::vector<std::string>> keys, WorkPace* pace,
                               const cql::VirtualReadContext& context) {
  auto base = context.schema.FindTable(view.keyspace, view.view->base);
  const auto now = context.schema.FindTable(view.keyspace, view.name);
  if (base == nullptr || now == nullptr || now->columns != view.columns || now->view != view.view) {
    return;
  }
  const IndexDefinition* index = base->FindIndex(view.view->index);
  LS_CHECK(index != nullptr, "the view of an index is there as long as the index");
  reader_ = std::make_unique<Reader>(engine, std::move(base), *index, view, std::move(keys),
                                     context.now_nanos, pace);
}
IndexViewTable::~IndexViewTable() = default;

void IndexViewTable::Begin(const cql::TokenRange& tokens, const std::optional<RowPlace>& behind) {
  if (reader_ != nullptr) reader_->Begin(tokens, behind);
}

std::vector<cql::VirtualRow> IndexViewTable::Next(uint64_t count) {
  LS_CHECK(count > 0, "some rows are wanted");
  outcome_ = Outcome::kGone;
  if (reader_ == nullptr) return {};
  std::vector<cql::VirtualRow> rows = reader_->Next(count);
  outcome_ = reader_->outcome();
  return rows;
}

}  // namespace liststore::execute
