#include "engine/shard/derived_rows.h"

#include <limits>
#include <string>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/model/stored_row.h"

namespace liststore::shard {

void FollowedRows::Send(storage::Table& table, const storage::PartitionRef& partition,
                        const ClusteringRange& range) {
  table_ = table.schema().id;
  partition_key_ = partition.key;
  const ReadSpec spec{.range = range, .value_filter = std::nullopt};
  table.Read(partition, spec, now_seconds_, *this);
}

void FollowedRows::SendRow(storage::Table& table, const storage::PartitionRef& partition,
                           ClusteringKeyView key) {
  char text[kItemKeyTextBytes];
  const std::string_view plain = PlainKey(key, text);
  const std::string behind = BoundAfterKey(plain);
  const bool packs = table.schema().packs_item_keys();
  Send(table, partition, {ClusteringBound::At(plain, packs), ClusteringBound::At(behind, packs)});
}

void FollowedRows::SendTouched(storage::Table& table, const storage::PartitionRef& partition,
                               const CommandBody& body) {
  if (const auto* upsert = std::get_if<UpsertCommand>(&body)) {
    for (const RowUpdate& row : upsert->rows) {
      if (!row.of_static_row) SendRow(table, partition, row.key);
    }
  } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&body)) {
    for (const ClusteringKeyView& key : rows->keys) SendRow(table, partition, key);
  } else if (const auto* range = std::get_if<DeleteRangeCommand>(&body)) {
    Send(table, partition, range->range);
  } else {
    SendAll(table, partition);
  }
}

bool FollowedRows::SendNext(storage::Table& table, const storage::PartitionRef& partition,
                            std::string& bound, size_t rows_max) {
  constexpr uint64_t kBytesMax = 64 * 1024;
  constexpr uint64_t kLooksPerRow = 16;
  table_ = table.schema().id;
  partition_key_ = partition.key;
  bytes_ = 0;
  bytes_max_ = kBytesMax;
  stopped_at_.reset();
  ReadSpec spec;
  spec.descending = false;
  spec.limit = rows_max;
  spec.looks_max = kLooksPerRow * rows_max;
  if (!bound.empty()) {
    spec.range.lower = ClusteringBound::At(bound, table.schema().packs_item_keys());
  }
  const uint64_t sent = table.Read(partition, spec, now_seconds_, *this);
  if (stopped_at_) {
    bound = *std::move(stopped_at_);
    return true;
  }
  if (sent < rows_max && !HasEnough()) return false;
  bound = BoundAfterKey(last_key_);
  return true;
}

void FollowedRows::OnStop(ClusteringKeyView next) {
  char text[kItemKeyTextBytes];
  stopped_at_.emplace(PlainKey(next, text));
}

void FollowedRows::OnRows(std::span<const RowView> rows) {
  if (bytes_max_ != UINT64_MAX) {
    for (const RowView& row : rows) {
      for (const LiveCellView& cell : row.cells) bytes_ += cell.value.size() + cell.path.size();
    }
    char text[kItemKeyTextBytes];
    if (!rows.empty()) last_key_ = PlainKey(rows.back().key, text);
  }
  for (const RowView& row : rows) {
    if (when_ == When::kBefore) {
      follower_.OnRowBefore(table_, partition_key_, row);
    } else {
      follower_.OnRowAfter(table_, partition_key_, row);
    }
  }
}

void FollowedRows::OnPackedRun(const PackedRun&) { LS_UNREACHABLE("packed runs are not accepted"); }

void TakeOutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds) {
  PackedItemKey packed;
  const ClusteringKeyView key =
      MakeClusteringKey(row.clustering_key, table.schema().packs_item_keys(), packed);
  const WriteContext above_all{WriteTimestamp{std::numeric_limits<int64_t>::max()}, now_seconds};
  LS_CHECK(table.DeleteRows(partition, {&key, 1}, above_all) == OpStatus::kOk,
           "a deletion that leaves nothing takes no memory");
}

OpStatus PutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds, bool may_fail) {
  LS_DCHECK(row.present(), "a row that goes is taken out");
  PackedItemKey packed;
  const ClusteringKeyView key =
      MakeClusteringKey(row.clustering_key, table.schema().packs_item_keys(), packed);
  const StoredPartition whole{.key = partition.key};
  const StoredRow stored{key, row.marker, {}, row.cells};
  OpStatus status = table.Restore(partition, whole, {&stored, 1}, now_seconds);
  if (status == OpStatus::kOk) return status;
  TakeOutDerivedRow(table, partition, row, now_seconds);
  if (may_fail) return status;
  {
    table.RedeemPledges();
    const absl::Cleanup clear = [&] { table.ClearPledges(); };
    status = table.Restore(partition, whole, {&stored, 1}, now_seconds);
  }
  LS_CHECK(status == OpStatus::kOk, "what needs no reservation is not refused");
  return status;
}

}  // namespace liststore::shard
