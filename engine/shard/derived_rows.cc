#include "engine/shard/derived_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "engine/base/check.h"
#include "engine/storage/partition/upsert_load.h"

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
                               const CommandBody& body, WriteTimestamp timestamp) {
  if (const auto* upsert = std::get_if<UpsertCommand>(&body)) {
    // A row as often as it is there, however many updates are about it.
    std::vector<ClusteringKeyView> keys;
    for (const RowUpdate& row : upsert->rows) {
      if (!row.of_static_row) keys.push_back(row.key);
    }
    std::ranges::sort(keys, [](const ClusteringKeyView& a, const ClusteringKeyView& b) {
      return CompareKeys(a, b) < 0;
    });
    const auto is_same = [](const ClusteringKeyView& a, const ClusteringKeyView& b) {
      return CompareKeys(a, b) == 0;
    };
    keys.erase(std::unique(keys.begin(), keys.end(), is_same), keys.end());
    for (const ClusteringKeyView& key : keys) {
      if (!HasEnough()) SendRow(table, partition, key);
    }
  } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&body)) {
    for (const ClusteringKeyView& key : rows->keys) {
      if (!HasEnough()) SendRow(table, partition, key);
    }
  } else if (const auto* range = std::get_if<DeleteRangeCommand>(&body)) {
    Send(table, partition, range->range);
  } else {
    Send(table, partition, table.OlderRows(partition, timestamp));
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
      for (const LiveCellView& cell : row.cells) {
        bytes_ += bytes_of_cell_ + cell.value.size() + cell.path.size();
      }
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

namespace {

StoredRow ToStored(const storage::Table& table, const DerivedRow& row, PackedItemKey& packed) {
  const ClusteringKeyView key =
      MakeClusteringKey(row.clustering_key, table.schema().packs_item_keys(), packed);
  return {key, row.marker, {}, row.cells};
}

}  // namespace

OpStatus PutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds) {
  LS_DCHECK(row.present(), "a row that goes is taken out");
  PackedItemKey packed;
  return table.PutRow(partition, ToStored(table, row, packed), now_seconds);
}

PledgedRows::Need& PledgedRows::NeedOf(storage::Table& table) {
  const auto at = std::ranges::find(needs_, &table, &Need::table);
  return at != needs_.end() ? *at : needs_.emplace_back(Need{&table, 0, 0});
}

void PledgedRows::Add(storage::Table& table, const storage::PartitionRef& partition,
                      const DerivedRow& row) {
  // Those of one partition come one after the other.
  const DerivedRow* const before = changes_.empty() ? nullptr : changes_.back().row;
  const bool same_partition =
      before != nullptr && before->table == row.table && before->partition_key == row.partition_key;
  const bool again = same_partition && before->present();
  changes_.push_back({&table, partition, &row});
  Need& need = NeedOf(table);
  PackedItemKey packed;
  const StoredRow stored = ToStored(table, row, packed);
  const uint64_t moving_bytes = table.PrepareDeletion(partition, stored.key);
  if (!same_partition) need.bytes += moving_bytes;
  if (!row.present()) return;
  if (need.row_bytes == 0) need.bytes += table.PutOnceBytes();
  need.bytes += table.PutRowBytes(partition, stored, again);
  need.row_bytes = std::max(need.row_bytes, storage::RowBytesMax(stored));
}

OpStatus PledgedRows::Pledge(memory::MemoryBudget::Purpose purpose, uint64_t& missing_bytes) {
  missing_bytes = 0;
  for (const Need& need : needs_) {
    if (need.table->PledgeRows(need.bytes, need.row_bytes, purpose)) continue;
    if (need.table->refuses_pages()) return OpStatus::kOutOfMemory;
    missing_bytes += need.bytes;
  }
  for (const Need& need : needs_) need.table->RedeemPledges();
  return OpStatus::kOk;
}

void PledgedRows::Apply(int64_t now_seconds) {
  // What was there goes first, all of it: its memory is what the rows to come were promised.
  for (const Change& change : changes_) {
    TakeOutDerivedRow(*change.table, change.partition, *change.row, now_seconds);
  }
  for (const Change& change : changes_) {
    if (!change.row->present()) continue;
    const OpStatus status =
        PutDerivedRow(*change.table, change.partition, *change.row, now_seconds);
    LS_CHECK(status == OpStatus::kOk, "what is pledged is not refused");
  }
}

void PledgedRows::Clear() {
  for (const Need& need : needs_) need.table->ClearPledges();
  needs_.clear();
  changes_.clear();
}

}  // namespace liststore::shard
