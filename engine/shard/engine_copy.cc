// What is stored, on its way out of an engine and back.
#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"

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

template <typename Row>
OpStatus Engine::RestoreRows(TableId table, const StoredPartition& partition,
                             std::span<const Row> rows, uint64_t now_nanos) {
  const int64_t now_seconds = WholeSeconds(now_nanos);
  const Router::Place place = router_.PlaceOf(TokenOf(partition.key));
  Lane& lane = *lanes_[place.lane];
  OpStatus status = OpStatus::kTableGone;
  const auto restore = [&] {
    if (storage::Table* into = lane.FindTable(table)) {
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
  return RestoreRows(table, partition, rows, now_nanos);
}

OpStatus Engine::Restore(TableId table, const StoredPartition& partition,
                         std::span<const HotRow> rows, uint64_t now_nanos) {
  return RestoreRows(table, partition, rows, now_nanos);
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
