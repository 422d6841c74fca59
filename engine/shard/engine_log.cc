// The engine's part in its commit logs: steps that stand in all of them, and writes that come again.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/commitlog/record_encoder.h"
#include "engine/commitlog/record_format.h"
#include "engine/shard/call_addresses.h"
#include "engine/shard/engine.h"

namespace liststore::shard {
void Engine::SetWriteLogs(std::span<commitlog::WriteLog* const> logs, uint32_t run) {
  LS_CHECK(logs.size() == router_.shards(), "every shard has its log");
  LS_CHECK(run >> (63 - commitlog::kRunShift) == 0, "runs are below 2^23");
  log_run_ = run;
  next_log_number_.store(uint64_t{run} << commitlog::kRunShift, std::memory_order_relaxed);
  const AllLanes hold(*this);
  logs_.assign(logs.begin(), logs.end());
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->set_log(logs_[router_.ShardOfLane(i).value]);
  }
}

void Engine::WriteDownEvictions(TableId table) {
  LS_CHECK(keeps_log(), "there is a log to write to");
  WithAllLanes([&](Lane& lane) { lane.WriteDownEvictions(table); });
}

void Engine::WriteDownGone(uint64_t now_nanos) {
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] { static_cast<void>(lane->WriteDownGone(now_nanos)); });
  }
}

std::vector<uint64_t> Engine::LostEvictions() {
  std::vector<uint64_t> lost;
  lost.reserve(lanes_.size());
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] { lost.push_back(lane->lost_evictions()); });
  }
  return lost;
}

void Engine::ForgiveLostEvictions(std::span<const uint64_t> lost) {
  LS_CHECK(lost.size() == lanes_.size(), "each lane has its number");
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->ownership.Run([&] { lanes_[i]->ForgiveLostEvictions(lost[i]); });
  }
}

absl::Status Engine::log_refusal() const {
  for (const commitlog::WriteLog* log : logs_) {
    absl::Status status = log->refusal();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<uint64_t> Engine::LogPositions() {
  std::vector<uint64_t> positions;
  positions.reserve(logs_.size());
  const AllLanes hold(*this);
  for (const commitlog::WriteLog* log : logs_) positions.push_back(log->appended());
  return positions;
}

// --- Steps ---------------------------------------------------------------------------------------

bool Engine::ReserveInAll(size_t bytes) {
  if (bytes > commitlog::kRecordBytesMax) return false;
  for (size_t i = 0; i < logs_.size(); ++i) {
    if (logs_[i]->Reserve(bytes)) continue;
    while (i-- > 0) logs_[i]->Unreserve(bytes);
    return false;
  }
  return true;
}

bool Engine::ReserveBarrier(size_t payload_bytes) {
  return ReserveInAll(commitlog::kBarrierHeadBytes + payload_bytes);
}

void Engine::UnreserveBarrier(size_t payload_bytes) {
  for (commitlog::WriteLog* log : logs_) {
    log->Unreserve(commitlog::kBarrierHeadBytes + payload_bytes);
  }
}

void Engine::AppendBarrier(std::string_view payload, size_t reserved_payload_bytes) {
  LS_CHECK(payload.size() <= reserved_payload_bytes, "a barrier has room");
  std::string record;
  record.reserve(BarrierRecordBytes(payload.size()));
  const AllLanes hold(*this);
  AppendBarrierHeld(payload, reserved_payload_bytes, record);
}

size_t Engine::BarrierRecordBytes(size_t payload_bytes) {
  return commitlog::kBarrierHeadBytes + payload_bytes;
}

uint64_t Engine::AppendBarrierHeld(std::string_view payload, size_t reserved_payload_bytes,
                                   std::string& record) {
  LS_CHECK(payload.size() <= reserved_payload_bytes &&
               record.capacity() >= BarrierRecordBytes(payload.size()),
           "a barrier has room");
  const uint64_t number = NextLogNumber();
  commitlog::AppendBarrier(number, payload, record);
  for (commitlog::WriteLog* log : logs_) {
    log->Append(commitlog::RecordKind::kBarrier, record,
                commitlog::kBarrierHeadBytes + reserved_payload_bytes);
  }
  return number;
}

bool Engine::AppendEvent(std::string_view payload) {
  if (logs_.empty()) return true;
  if (payload.size() > commitlog::kRecordBytesMax || !logs_[0]->Reserve(payload.size()))
    return false;
  logs_[0]->Append(commitlog::RecordKind::kEvent, payload, payload.size());
  return true;
}

// Under the hold of all lanes. False: nothing is written down.
bool Engine::WriteDownTruncations(std::span<const TableId> tables,
                                  std::optional<std::string_view> component) {
  std::vector<std::string> records(tables.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    commitlog::AppendTruncation(NextLogNumber(), tables[i], component, records[i]);
  }
  for (size_t i = 0; i < records.size(); ++i) {
    if (ReserveInAll(records[i].size())) continue;
    while (i-- > 0) {
      for (commitlog::WriteLog* log : logs_) log->Unreserve(records[i].size());
    }
    return false;
  }
  for (const std::string& record : records) {
    for (commitlog::WriteLog* log : logs_) {
      log->Append(commitlog::RecordKind::kTruncate, record, record.size());
    }
  }
  return true;
}

// --- Replay --------------------------------------------------------------------------------------

OpStatus Engine::Replay(const commitlog::RecordedWrite& write, TableId table,
                        const Destination& to) {
  OpStatus status = OpStatus::kOk;
  to.lane->ownership.Run([&] { status = to.lane->Replay(write, table, to.address); });
  return status;
}

OpStatus Engine::ReplayWithRoom(const commitlog::RecordedWrite& write, TableId table,
                                const Destination& to, uint64_t now_nanos) {
  // As much as a second of writes may have taken.
  constexpr size_t kUnits = 20'000;
  Reclaim(now_nanos, kUnits);
  CallAddresses guarded;
  guarded.Add(to.lane_number, to.address);
  guarded.Sort();
  return RetryWithRoom(Replay(write, table, to), now_nanos, table, guarded, nullptr,
                       [&] { return Replay(write, table, to); });
}

OpStatus Engine::DropPartitions(TableId table, absl::FunctionRef<bool(std::string_view)> goes) {
  bool gone = false;
  std::vector<std::pair<uint64_t, std::string>> going;
  for (const auto& lane : lanes_) {
    lane->ownership.Run([&] {
      storage::Table* const part = lane->FindTable(table);
      gone |= part == nullptr;
      if (part == nullptr) return;
      going.clear();
      part->ScanPartitions(0, std::nullopt,
                           [&](uint64_t address, const storage::Partition& partition) {
                             if (goes(partition.key()))
                               going.emplace_back(address, partition.key());
                             return true;
                           });
      for (const auto& [address, key] : going) part->Forget({key, address});
    });
  }
  return gone ? OpStatus::kTableGone : OpStatus::kOk;
}

}  // namespace liststore::shard
