#include "engine/shard/gone_records.h"

#include <cstddef>
#include <new>

#include "engine/command/command.h"
#include "engine/commitlog/record_encoder.h"
#include "engine/shard/batch_records.h"
#include "engine/shard/lane.h"

namespace liststore::shard {

void GoneRecords::OnEvicted(std::string_view partition_key, int64_t now_seconds) try {
  if (WriteDownAll(now_seconds) && WriteDown(partition_key, now_seconds)) return;
  waiting_.emplace_back(partition_key);
} catch (const std::bad_alloc&) {
  ++lost_;
}

bool GoneRecords::WriteDownAll(int64_t now_seconds) {
  size_t done = 0;
  while (done < waiting_.size() && WriteDown(waiting_[done], now_seconds)) ++done;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(done));
  return waiting_.empty() && lost_ == forgiven_;
}

bool GoneRecords::WriteDown(std::string_view partition_key, int64_t now_seconds) {
  record_.clear();
  commitlog::AppendWrite(table_, partition_key, ForgetCommand{},
                         {lane_.last_timestamp(), now_seconds, false},
                         RecordedGraceOf(lane_.table(table_)), record_);
  commitlog::WriteLog& log = *lane_.log();
  if (!log.Reserve(record_.size())) return false;
  log.Append(commitlog::RecordKind::kWrite, record_, record_.size());
  return true;
}

}  // namespace liststore::shard
