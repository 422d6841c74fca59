// Between tables and a RowFollower: hands on the rows that a write touches, and puts the rows that
// follow from them where they belong.
#ifndef LISTSTORE_ENGINE_SHARD_DERIVED_ROWS_H_
#define LISTSTORE_ENGINE_SHARD_DERIVED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/command/command.h"
#include "engine/command/row_follower.h"
#include "engine/model/clustering_key.h"
#include "engine/model/op_status.h"
#include "engine/model/row_view.h"
#include "engine/storage/table.h"

namespace liststore::shard {

// One look at rows, by the holder of their lane.
class FollowedRows final : public RowSink {
 public:
  enum class When : uint8_t {
    kBefore,
    kAfter
  };
  FollowedRows(RowFollower& follower, When when, int64_t now_seconds)
      : follower_(follower), when_(when), now_seconds_(now_seconds) {}

  // The rows that a batchable command touches. O(rows log rows of the partition).
  void SendTouched(storage::Table& table, const storage::PartitionRef& partition,
                   const CommandBody& body);
  // All rows of a partition.
  void SendAll(storage::Table& table, const storage::PartitionRef& partition) {
    Send(table, partition, {});
  }

  // The live rows from a bound on (plain; empty: the first), in key order: `rows_max`, or until some
  // 64 KiB of values were sent. True: there may be more, from `bound` on, which is moved. O(rows of
  // them, and at most 16 times `rows_max` that are not live).
  bool SendNext(storage::Table& table, const storage::PartitionRef& partition, std::string& bound,
                size_t rows_max);

  void OnRows(std::span<const RowView> rows) override;
  void OnPackedRun(const PackedRun&) override;
  bool AcceptsPackedRuns() const override { return false; }
  bool HasEnough() const override { return bytes_ >= bytes_max_; }
  void OnStop(ClusteringKeyView next) override;

 private:
  void Send(storage::Table& table, const storage::PartitionRef& partition,
            const ClusteringRange& range);
  void SendRow(storage::Table& table, const storage::PartitionRef& partition,
               ClusteringKeyView key);

  RowFollower& follower_;
  const When when_;
  const int64_t now_seconds_;
  TableId table_;
  std::string_view partition_key_;
  // Of SendNext.
  uint64_t bytes_ = 0;
  uint64_t bytes_max_ = UINT64_MAX;
  std::string last_key_;  // plain
  std::optional<std::string> stopped_at_;
};

// Takes out what there is of the row. The table has seen timestamps of the engine alone, so that
// nothing is left of it.
void TakeOutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds);
// Puts in a row that is not there. `may_fail`: kOutOfMemory, and it is not; else what the budget
// does not have is taken from its slack, or beyond the limit.
OpStatus PutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds, bool may_fail);

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_DERIVED_ROWS_H_
