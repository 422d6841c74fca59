// Lanes with a commit log: a write is decided, written down as it was decided, and applied.
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "engine/base/seconds.h"
#include "engine/commitlog/record_encoder.h"
#include "engine/shard/batch_records.h"
#include "engine/shard/gone_records.h"
#include "engine/shard/lane.h"
#include "engine/shard/table_fit.h"

namespace liststore::shard {
namespace {

// A record that was much longer than others does not keep its memory.
constexpr size_t kKeptRecordBytes = size_t{64} << 10;

ClusteringBound BoundFor(const TableSchema& schema, const ClusteringBound& bound) {
  if (bound.at_end || bound.bytes.empty()) return bound;
  return ClusteringBound::At(bound.bytes, schema.packs_item_keys());
}

}  // namespace

void Lane::WriteDownEvictions(TableId id) {
  gone_ = std::make_unique<GoneRecords>(*this, id);
  table(id).set_eviction_witness(gone_.get());
}

bool Lane::WriteDownGone(uint64_t now_nanos) {
  return gone_ == nullptr || gone_->WriteDownAll(WholeSeconds(now_nanos));
}

uint64_t Lane::lost_evictions() const { return gone_ == nullptr ? 0 : gone_->lost(); }

void Lane::ForgiveLostEvictions(uint64_t lost) {
  if (gone_ != nullptr) gone_->Forgive(lost);
}

// Its record goes to where it is written from, and takes no memory on the way.
bool Lane::ExecuteLoggedItem(const Command& command, std::span<const RowUpdate> rows,
                             storage::Table& into, uint64_t address, uint64_t now_nanos,
                             Reply& reply) {
  const commitlog::RecordedGrace grace = RecordedGraceOf(into);
  const size_t bytes = commitlog::HotItemRecordBytes(command.partition_key, rows, grace);
  if (bytes > commitlog::kEncodedBytesMax) return false;
  const bool foreign = !command.timestamp.is_none();
  const WriteContext write{foreign ? command.timestamp : NextTimestamp(now_nanos),
                           WholeSeconds(now_nanos), foreign};
  if (!log_->Reserve(bytes)) {
    reply.status = OpStatus::kNotKept;
    return true;
  }
  absl::Cleanup unreserve = [&] { log_->Unreserve(bytes); };
  Apply(command, into, address, now_nanos, reply);
  if (reply.status != OpStatus::kOk || reply.refused) return true;
  std::move(unreserve).Cancel();
  log_->AppendEncoded(commitlog::RecordKind::kWrite, bytes, [&](char* to) {
    commitlog::EncodeHotItem(command.table, command.partition_key, rows, write, grace, to);
    return bytes;
  });
  return true;
}

// Before anything is applied, so that neither the heap nor the disk can refuse it afterwards.
void Lane::ExecuteLogged(const Command& command, storage::Table& into, uint64_t address,
                         uint64_t now_nanos, Reply& reply) {
  if (std::holds_alternative<CountCommand>(command.body)) {
    return Apply(command, into, address, now_nanos, reply);
  }
  if (gone_ != nullptr && gone_->table() == command.table) {
    // What is forgotten is gone here, whatever the disk says.
    if (std::holds_alternative<ForgetCommand>(command.body)) {
      Apply(command, into, address, now_nanos, reply);
      if (reply.rows != 0) gone_->OnEvicted(command.partition_key, WholeSeconds(now_nanos));
      reply.refused = !WriteDownGone(now_nanos);
      return;
    }
    if (!WriteDownGone(now_nanos)) {
      reply.status = OpStatus::kNotKept;
      return;
    }
  }
  const auto* const upsert = std::get_if<UpsertCommand>(&command.body);
  if (upsert != nullptr && commitlog::IsHotItem(upsert->rows) &&
      ExecuteLoggedItem(command, upsert->rows, into, address, now_nanos, reply)) {
    return;
  }
  Command decided = command;
  std::vector<std::string> keys;
  std::vector<PackedItemKey> packed;
  std::vector<ClusteringKeyView> views;
  if (const auto* by_value = std::get_if<DeleteByValueCommand>(&command.body)) {
    keys = into.KeysWithValue({command.partition_key, address}, by_value->column, by_value->value,
                              WholeSeconds(now_nanos));
    // Nothing is deleted: there is nothing to write down.
    if (keys.empty()) return Apply(command, into, address, now_nanos, reply);
    packed.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      views.push_back(MakeClusteringKey(keys[i], into.schema().packs_item_keys(), packed[i]));
    }
    decided.body = DeleteRowsCommand{views};
  }
  WriteContext write{last_timestamp_, WholeSeconds(now_nanos), !command.timestamp.is_none()};
  if (write.foreign_timestamp) {
    write.timestamp = command.timestamp;
  } else if (!std::holds_alternative<ForgetCommand>(command.body)) {
    write.timestamp = NextTimestamp(now_nanos);  // as it will be applied
  }
  record_.clear();
  commitlog::AppendWrite(decided.table, decided.partition_key, decided.body, write,
                         RecordedGraceOf(into), record_);
  const size_t bytes = record_.size();
  if (bytes > commitlog::kRecordBytesMax || !log_->Reserve(bytes)) {
    reply.status = OpStatus::kNotKept;
    return;
  }
  bool appended = false;
  const absl::Cleanup end = [&] {
    if (!appended) log_->Unreserve(bytes);
    if (record_.capacity() > kKeptRecordBytes) record_ = {};
  };
  Apply(decided, into, address, now_nanos, reply);
  if (reply.status != OpStatus::kOk || reply.refused) return;
  // Nothing was there that could be forgotten.
  if (std::holds_alternative<ForgetCommand>(command.body) && reply.rows == 0) return;
  log_->Append(commitlog::RecordKind::kWrite, record_, bytes);
  appended = true;
}

OpStatus Lane::Replay(const commitlog::RecordedWrite& recorded, TableId id, uint64_t address) {
  storage::Table* const into = FindTable(id);
  if (into == nullptr) return OpStatus::kTableGone;
  const TableSchema& schema = into->schema();
  if (!FitsTable(schema, recorded)) return OpStatus::kBadRecord;
  const storage::PartitionRef partition{recorded.partition_key, address};
  const WriteContext& write = recorded.write;
  if (!write.foreign_timestamp) AdvanceTimestamp(write.timestamp);
  const storage::Table::Replayed as_then(*into, recorded.grace.has_seen_foreign,
                                         recorded.grace.start_seconds);
  switch (recorded.kind) {
    case commitlog::BodyKind::kHotItem:
    case commitlog::BodyKind::kUpsert:
      return into->Upsert(partition, recorded.rows, write);
    case commitlog::BodyKind::kDeleteRows:
      return into->DeleteRows(partition, recorded.keys, write);
    case commitlog::BodyKind::kDeleteRange:
      return into->DeleteRange(
          partition,
          {BoundFor(schema, recorded.range.lower), BoundFor(schema, recorded.range.upper)}, write);
    case commitlog::BodyKind::kDeletePartition:
      return into->DeletePartition(partition, write);
    case commitlog::BodyKind::kPut: {
      bool refused = false;
      return into->Put(partition, recorded.rows, {recorded.fresh_until_seconds, std::nullopt},
                       write, refused);
    }
    case commitlog::BodyKind::kForget:
      into->Forget(partition);
      return OpStatus::kOk;
  }
  return OpStatus::kBadRecord;
}

}  // namespace liststore::shard
