#include "engine/shard/batch_records.h"

#include <algorithm>
#include <utility>

namespace liststore::shard {

BatchRecords::~BatchRecords() {
  for (const Part& part : parts_) {
    if (part.reserved != 0) part.log->Unreserve(part.reserved);
  }
}

void BatchRecords::Add(commitlog::WriteLog& log, const storage::Table& table, TableId id,
                       std::string_view partition_key, const CommandBody& body,
                       const WriteContext& write) {
  auto part = std::ranges::find(parts_, &log, &Part::log);
  if (part == parts_.end()) {
    part = &parts_.emplace_back();
    part->log = &log;
    commitlog::BeginBatchPart(batch_, part->record);
  }
  commitlog::RecordedGrace grace = RecordedGraceOf(table);
  const bool seen = std::ranges::find(foreign_, &table) != foreign_.end();
  if (!grace.has_seen_foreign && seen) grace = {true, write.now_seconds};
  if (write.foreign_timestamp && !seen) foreign_.push_back(&table);
  const size_t begun = commitlog::BeginBatchWrite(part->record);
  commitlog::AppendWrite(id, partition_key, body, write, grace, part->record);
  commitlog::EndBatchWrite(begun, part->record);
}

bool BatchRecords::Reserve() {
  for (Part& part : parts_) {
    commitlog::EndBatchPart(static_cast<uint32_t>(parts_.size()), part.record);
    if (part.record.size() > commitlog::kRecordBytesMax) return false;
    if (!part.log->Reserve(part.record.size())) return false;
    part.reserved = part.record.size();
  }
  return true;
}

void BatchRecords::Append() {
  for (Part& part : parts_) {
    const size_t reserved = std::exchange(part.reserved, 0);
    if (parts_.size() == 1 && commitlog::WritesOfPart(part.record) == 1) {
      part.log->Append(commitlog::RecordKind::kWrite, commitlog::FirstWriteOfPart(part.record),
                       reserved);
    } else {
      part.log->Append(commitlog::RecordKind::kBatchPart, part.record, reserved);
    }
  }
}

}  // namespace liststore::shard
