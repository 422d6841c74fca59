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
#include <vector>

#include "engine/command/command.h"
#include "engine/command/row_follower.h"
#include "engine/memory/memory_budget.h"
#include "engine/model/clustering_key.h"
#include "engine/model/op_status.h"
#include "engine/model/row_view.h"
#include "engine/model/stored_row.h"
#include "engine/shard/foreseen_rows.h"
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

  // Bytes of what SendTouched sends, with those that whoever follows takes for each cell: with as many it
  // ends, and HasEnough.
  void LimitTouched(uint64_t bytes) {
    constexpr uint64_t kBytesOfCell = 256;
    bytes_max_ = bytes;
    bytes_of_cell_ = kBytesOfCell;
  }
  uint64_t bytes() const { return bytes_; }
  // The rows that a batchable command touches, at its timestamp. O(rows log rows of the partition).
  void SendTouched(storage::Table& table, const storage::PartitionRef& partition,
                   const CommandBody& body, WriteTimestamp timestamp);
  // The rows that writes touch, as they will be; they have been told of all writes.
  void SendForeseen(storage::Table& table, const storage::PartitionRef& partition,
                    ForeseenRows& foreseen) {
    table_ = table.schema().id;
    partition_key_ = partition.key;
    foreseen.Send(*this);
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
  // Of SendNext, and SendTouched.
  uint64_t bytes_ = 0;
  uint64_t bytes_max_ = UINT64_MAX;
  uint64_t bytes_of_cell_ = 0;  // beside its own
  std::string last_key_;        // plain
  std::optional<std::string> stopped_at_;
};

// Takes out what there is of the row. The table has seen timestamps of the engine alone, so that
// nothing is left of it.
void TakeOutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds);
// Puts in a row that is not there. kOutOfMemory: it is not, where nothing was pledged.
OpStatus PutDerivedRow(storage::Table& table, const storage::PartitionRef& partition,
                       const DerivedRow& row, int64_t now_seconds);

// What is to become of rows that follow from a write, with all that it takes set aside, so that nothing of
// it can be refused. Under one hold of all lanes.
class PledgedRows {
 public:
  PledgedRows() = default;
  ~PledgedRows() { Clear(); }
  PledgedRows(const PledgedRows&) = delete;
  PledgedRows& operator=(const PledgedRows&) = delete;

  // A row, which is taken out where it is, and put where it is present. Throws std::bad_alloc.
  void Add(storage::Table& table, const storage::PartitionRef& partition, const DerivedRow& row);
  // That something comes to, or goes from.
  size_t table_count() const { return needs_.size(); }
  // Sets memory aside; what of it the limit does not have is returned. kOutOfMemory: the system has no
  // pages for it. Throws std::bad_alloc.
  OpStatus Pledge(memory::MemoryBudget::Purpose purpose, uint64_t& missing_bytes);
  // Does it.
  void Apply(int64_t now_seconds);
  // Nothing is pledged any more.
  void Clear();

 private:
  struct Change {
    storage::Table* table;
    storage::PartitionRef partition;
    const DerivedRow* row;
  };
  struct Need {
    storage::Table* table;
    uint64_t bytes;
    size_t row_bytes;  // of the largest; 0: nothing comes
  };
  Need& NeedOf(storage::Table& table);

  std::vector<Change> changes_;
  std::vector<Need> needs_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_DERIVED_ROWS_H_
