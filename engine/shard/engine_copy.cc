// What is stored, on its way out of an engine and back.
#include <algorithm>
#include <limits>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"
#include "engine/shard/table_fit.h"

namespace liststore::shard {
namespace {

// Partitions sent under one hold of a lane.
constexpr size_t kPartitionsPerSlice = 128;

}  // namespace

OpStatus Engine::CopyOut(TableId table, uint64_t now_nanos, CopyPosition& position,
                         StoredRowSink& sink) {
  if (position.done) return OpStatus::kOk;
  const int64_t now_seconds = WholeSeconds(now_nanos);
  Lane& lane = *lanes_[position.lane];
  bool gone = false;
  bool more = false;  // of this lane
  lane.ownership.Run([&] {
    storage::Table* from = lane.FindTable(table);
    gone = from == nullptr;
    if (gone) return;
    // The position moves while the scan goes by it.
    const std::optional<std::string> after = position.after_key;
    size_t sent = 0;
    from->ScanPartitions(position.address, after,
                         [&](uint64_t address, const storage::Partition& partition) {
                           if (sent == kPartitionsPerSlice || sink.Full()) {
                             more = true;
                             return false;
                           }
                           ++sent;
                           from->SendStored(partition, now_seconds, sink);
                           position.address = address;
                           position.after_key.emplace(partition.key());
                           return true;
                         });
  });
  if (gone) return OpStatus::kTableGone;
  if (more) return OpStatus::kOk;
  position.address = 0;
  position.after_key.reset();
  position.done = ++position.lane == lanes_.size();
  return OpStatus::kOk;
}

OpStatus Engine::CopyPart(TableId table, uint64_t now_nanos, CopyPosition& position,
                          StoredRowSink& sink, CopiedPart& part) {
  LS_CHECK(!position.done, "something is left to copy");
  const int64_t now_seconds = WholeSeconds(now_nanos);
  Lane& lane = *lanes_[position.lane];
  part = {table, position.lane, std::numeric_limits<uint64_t>::max(), 0};
  bool gone = false;
  bool more = false;  // of this lane
  // On this thread, and not on that of who holds the lane, which has others to serve.
  HoldFor(lane, /*waits_its_turn=*/true, [&] {
    storage::Table* from = lane.FindTable(table);
    gone = from == nullptr;
    if (gone) return;
    if (lane.log() != nullptr) part.position = lane.log()->appended();
    const size_t sent_max = std::min<size_t>(kPartitionsPerSlice, copied_rows_per_hold_);
    size_t sent = 0;
    uint64_t last = 0;
    from->ScanPartitions(position.address, std::nullopt,
                         [&](uint64_t address, const storage::Partition& partition) {
                           const bool full = sent >= sent_max || sink.Full();
                           if (full && sent > 0 && address != last) {
                             more = true;
                             return false;
                           }
                           ++sent;
                           from->SendStored(partition, now_seconds, sink);
                           last = address;
                           return true;
                         });
    if (more) part.last_address = last;
  });
  if (gone) return OpStatus::kTableGone;
  if (more) {
    position.address = part.last_address + 1;
    return OpStatus::kOk;
  }
  position.address = 0;
  position.done = ++position.lane == lanes_.size();
  return OpStatus::kOk;
}

bool Engine::PacksItemKeys(TableId table) {
  bool packs = false;
  lanes_[0]->ownership.Run([&] {
    const storage::Table* const part = lanes_[0]->FindTable(table);
    packs = part != nullptr && part->schema().packs_item_keys();
  });
  return packs;
}

template <typename Row>
OpStatus Engine::RestoreRows(TableId table, const StoredPartition& partition,
                             std::span<const Row> rows, uint64_t now_nanos, bool is_recorded) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  const Router::Place place = router_.PlaceOf(TokenOf(partition.key));
  Lane& lane = *lanes_[place.lane];
  OpStatus status = OpStatus::kTableGone;
  const auto restore = [&] {
    storage::Table* const into = lane.FindTable(table);
    if (into == nullptr) {
      status = OpStatus::kTableGone;
    } else if (is_recorded && !FitsTable(into->schema(), partition, rows)) {
      status = OpStatus::kBadRecord;
    } else {
      status = into->Restore({partition.key, place.address}, partition, rows, now_seconds);
    }
  };
  lane.ownership.Run(restore);
  if (!IsRefusal(status)) return status;
  CallAddresses guarded;
  guarded.Add(place.lane, place.address);
  guarded.Sort();
  // What was put in already is merged with itself.
  return RetryWithRoom(status, now_nanos, table, guarded, nullptr, [&] {
    lane.ownership.Run(restore);
    return status;
  });
}

OpStatus Engine::Restore(TableId table, const StoredPartition& partition,
                         std::span<const StoredRow> rows, uint64_t now_nanos) {
  return RestoreRows(table, partition, rows, now_nanos, /*is_recorded=*/false);
}

OpStatus Engine::Restore(TableId table, const StoredPartition& partition,
                         std::span<const HotRow> rows, uint64_t now_nanos) {
  return RestoreRows(table, partition, rows, now_nanos, /*is_recorded=*/false);
}

OpStatus Engine::RestoreRecorded(TableId table, const StoredPartition& partition,
                                 std::span<const StoredRow> rows, uint64_t now_nanos) {
  return RestoreRows(table, partition, rows, now_nanos, /*is_recorded=*/true);
}

OpStatus Engine::RestoreRecorded(TableId table, const StoredPartition& partition,
                                 std::span<const HotRow> rows, uint64_t now_nanos) {
  return RestoreRows(table, partition, rows, now_nanos, /*is_recorded=*/true);
}

WriteTimestamp Engine::LastTimestamp() {
  WriteTimestamp last;
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] { last = std::max(last, lane->last_timestamp()); });
  }
  return last;
}

void Engine::AdvanceTimestamps(WriteTimestamp timestamp) {
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] { lane->AdvanceTimestamp(timestamp); });
  }
}

}  // namespace liststore::shard
