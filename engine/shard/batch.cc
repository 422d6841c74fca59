// Engine::ExecuteBatch: writes of many partitions and tables, all or nothing; and
// Engine::ExecuteConditional, which looks at rows first.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/batch_records.h"
#include "engine/shard/condition_rows.h"
#include "engine/shard/derived_rows.h"
#include "engine/shard/engine.h"

namespace liststore::shard {
namespace {

bool IsUpsert(const Command& command) {
  return std::holds_alternative<UpsertCommand>(command.body);
}

bool IsBatchable(const Command& command) {
  return IsUpsert(command) || std::holds_alternative<DeleteRowsCommand>(command.body) ||
         std::holds_alternative<DeleteRangeCommand>(command.body) ||
         std::holds_alternative<DeletePartitionCommand>(command.body);
}

// The nulls of an upsert, once more, alone. A null that is not kept as a dead cell (no foreign
// timestamp so far, or no grace) would not beat a value of the same timestamp that comes after it.
struct NullsOf {
  size_t command = 0;
  std::vector<RowUpdate> rows;
  std::vector<std::vector<CellUpdate>> cells;
};

std::vector<NullsOf> GatherNulls(std::span<const Command> writes) {
  std::vector<NullsOf> all;
  size_t upserted = 0;
  for (size_t i = 0; i < writes.size(); ++i) {
    const auto* upsert = std::get_if<UpsertCommand>(&writes[i].body);
    if (upsert == nullptr) continue;
    upserted += upsert->rows.size();
    NullsOf nulls;
    nulls.command = i;
    for (const RowUpdate& row : upsert->rows) {
      std::vector<CellUpdate> dead;
      for (const CellUpdate& cell : row.cells) {
        if (!cell.live && !cell.makes_way) dead.push_back(cell);
      }
      if (dead.empty()) continue;
      RowUpdate alone;
      alone.key = row.key;
      alone.marker = false;
      alone.of_static_row = row.of_static_row;
      nulls.rows.push_back(alone);
      nulls.cells.push_back(std::move(dead));
    }
    for (size_t row = 0; row < nulls.rows.size(); ++row) nulls.rows[row].cells = nulls.cells[row];
    if (!nulls.rows.empty()) all.push_back(std::move(nulls));
  }
  if (upserted < 2) all.clear();
  return all;
}

}  // namespace

// One attempt at a batch. Everything but the lanes is prepared before they are taken.
class Engine::Batch {
 public:
  // `looks`: what the writes depend on; `follower`: what follows from them, or nullptr.
  Batch(Engine& engine, std::span<const Command> writes, const CallAddresses& guarded,
        uint64_t now_nanos, std::span<const RowLook> looks = {}, RowFollower* follower = nullptr)
      : engine_(engine),
        writes_(writes),
        guarded_(guarded),
        now_nanos_(now_nanos),
        looks_(looks),
        follower_(follower) {
    for (const Command& command : writes) {
      LS_CHECK(IsBatchable(command), "a batch is of upserts and deletions");
      to_.push_back(engine.DestinationOf(command));
      to_.back().lane->PrefetchSlot(command.table, to_.back().address);
      foreign_ |= !command.timestamp.is_none();
    }
    GatherShares();
    for (const Destination& to : to_) numbers_.push_back(to.lane_number);
    for (const RowLook& look : looks_) {
      looked_at_.push_back(engine.DestinationOf(look.partition_key));
      looked_at_.back().lane->PrefetchSlot(look.table, looked_at_.back().address);
      numbers_.push_back(looked_at_.back().lane_number);
    }
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    // Where the rows are that follow is known when they have been seen.
    if (follower_ != nullptr) {
      for (uint32_t i = 0; i < engine.lanes_.size(); ++i) held_.push_back(i);
    } else {
      held_.assign(numbers_.begin(), numbers_.end());
    }
  }

  OpStatus Run(std::span<Reply> replies) {
    // Holding none before, by ascending number, as everybody who takes several does.
    for (const uint32_t number : held_) engine_.lanes_[number]->ownership.Acquire();
    const absl::Cleanup release = [&] {
      for (auto at = held_.rbegin(); at != held_.rend(); ++at) {
        engine_.lanes_[*at]->ownership.Release();
      }
    };
    engine_.BeginGuard(numbers_, guarded_, writes_.empty() ? nullptr : writes_.front().evictions);
    const absl::Cleanup end = [&] {
      ClearPledges();
      derived_.Clear();
      if (many_arenas_ != 0) engine_.pool_.EndMany(std::exchange(many_arenas_, 0));
      engine_.budget_.Release(std::exchange(derived_bytes_, 0));
      // What follows may have made tables of any of them grow.
      engine_.EndGuard(held_, now_nanos_);
    };
    OpStatus status = FindTables() ? OpStatus::kOk : OpStatus::kTableGone;
    if (status == OpStatus::kOk) status = TakeLooks();
    if (applies_) AddNulls();
    if (applies_) status = PledgeAll();
    if (applies_ && follower_ != nullptr && status == OpStatus::kOk) {
      status = ShowRows();
      if (status == OpStatus::kOk) {
        ForeseeRows();
        status = PledgeDerived();
      }
    }
    if (applies_ && status == OpStatus::kOk && engine_.keeps_log()) [[unlikely]]
      status = WriteDown();
    if (applies_ && status == OpStatus::kOk) {
      ApplyAll(replies);
      if (records_) records_->Append();
    }
    ClearPledges();
    if (follower_ != nullptr && applies_ && status == OpStatus::kOk) {
      engine_.budget_.Release(std::exchange(derived_bytes_, 0));
      derived_.Apply(NowSeconds());
    }
    return status;
  }
  void ClearPledges() {
    for (const auto& [id, share] : shares_) {
      if (share.table != nullptr) share.table->ClearPledges();
    }
  }
  // What the conditions said.
  bool applies() const { return applies_; }
  // Of the writes that have none of their own.
  WriteTimestamp timestamp() const { return common_; }
  // kRowTooLarge: that row.
  RowSize large_row() const { return large_row_; }

 private:
  // A partition and what the batch brings to it.
  struct Share {
    size_t command = 0;  // one of its commands
    storage::Table* table = nullptr;
    storage::BatchShare load;
    std::optional<ForeseenRows> foreseen;  // where something follows from them
  };
  using ShareId = std::tuple<uint16_t, uint32_t, std::string_view>;  // table and partition key

  ShareId ShareIdOf(const Command& command) const {
    return {command.table.value, command.table.generation, command.partition_key};
  }

  void GatherShares() {
    for (size_t i = 0; i < writes_.size(); ++i) {
      Share& share = shares_[ShareIdOf(writes_[i])];
      share.command = i;
      storage::BatchShare& load = share.load;
      if (const auto* upsert = std::get_if<UpsertCommand>(&writes_[i].body)) {
        load.upserts.push_back({upsert->rows, writes_[i].timestamp});
      } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&writes_[i].body)) {
        load.deleted_rows.push_back(rows->keys);
      } else if (const auto* range = std::get_if<DeleteRangeCommand>(&writes_[i].body)) {
        load.deleted_ranges.push_back(range->range);
      } else {
        load.deleted_ranges.emplace_back();
      }
    }
  }
  // What is written may have been decided by the rows that were looked at.
  void AddNulls() {
    nulls_ = GatherNulls(writes_);
    for (const NullsOf& nulls : nulls_) {
      const Command& command = writes_[nulls.command];
      shares_[ShareIdOf(command)].load.upserts.push_back({nulls.rows, command.timestamp});
    }
  }

  bool FindTables() {
    for (auto& [id, share] : shares_) {
      share.table = to_[share.command].lane->FindTable(writes_[share.command].table);
      if (share.table == nullptr) return false;
    }
    for (size_t i = 0; i < looks_.size(); ++i) {
      if (looked_at_[i].lane->FindTable(looks_[i].table) == nullptr) return false;
    }
    if (follower_ == nullptr) return true;
    return std::ranges::all_of(follower_->Derived(), [&](TableId table) {
      return engine_.lanes_[0]->FindTable(table) != nullptr;
    });
  }

  // Every look is taken, also behind one that says no: what they see is answered.
  OpStatus TakeLooks() {
    applies_ = true;
    uint64_t cells = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < looks_.size(); ++i) {
      const RowLook& look = looks_[i];
      ConditionRows rows(*look.conditions);
      applies_ &= rows.Hold(looked_at_[i].lane->table(look.table),
                            {look.partition_key, looked_at_[i].address}, look, NowSeconds());
      newest_seen_ = std::max(newest_seen_, rows.newest());
      cells += rows.cells();
      bytes += rows.bytes();
      if (cells > kCellsRewrittenMax) large_row_.rewritten_cells = cells;
      // A row and the static one may be as large as that.
      if (bytes > 2 * engine_.row_bytes_max()) {
        large_row_ = {.looked_at_bytes = bytes, .looked_at_bytes_max = 2 * engine_.row_bytes_max()};
      }
      if (large_row_.any()) {
        applies_ = false;
        return OpStatus::kRowTooLarge;
      }
    }
    return OpStatus::kOk;
  }

  OpStatus PledgeAll() {
    // Above all that the lanes have given out.
    common_ = WriteTimestamp{0};
    for (const uint32_t number : numbers_) {
      common_ = std::max(common_, engine_.lanes_[number]->NextTimestamp(now_nanos_));
    }
    // And above what a client whose clock is ahead has written to the rows: what was applied is
    // seen. The lane does not follow that clock.
    if (newest_seen_ >= common_) {
      constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
      common_.micros = newest_seen_.micros == kLast ? kLast : newest_seen_.micros + 1;
      common_is_foreign_ = true;
      foreign_ = true;
    }
    if (!BackMany(CountTables())) return OpStatus::kOutOfMemory;
    WriteContext write{common_, NowSeconds(), foreign_};
    uint64_t rewritten_cells = 0;
    for (const auto& [id, share] : shares_) {
      const storage::PartitionRef partition{writes_[share.command].partition_key,
                                            to_[share.command].address};
      const OpStatus status = share.table->PledgeShare(partition, share.load, write);
      if (status == OpStatus::kRowTooLarge) large_row_ = share.table->large_row();
      if (status != OpStatus::kOk) return status;
      rewritten_cells += share.table->rewritten_cells();
      if (rewritten_cells > kCellsRewrittenMax) {
        large_row_ = {.rewritten_cells = rewritten_cells};
        return OpStatus::kRowTooLarge;
      }
    }
    for (const auto& [id, share] : shares_) share.table->RedeemPledges();
    return OpStatus::kOk;
  }

  // What the machine may refuse to so many tables at once is there. False: it refuses that.
  bool BackMany(size_t tables) {
    if (tables <= memory::PagePool::kManyArenas) return true;
    const size_t before = std::exchange(many_arenas_, 0);
    if (before != 0) engine_.pool_.EndMany(before);
    if (!engine_.pool_.BeginMany(tables)) return false;
    many_arenas_ = tables;
    return true;
  }
  // In each lane another one.
  size_t CountTables() const {
    if (shares_.size() <= memory::PagePool::kManyArenas) return shares_.size();
    std::vector<const storage::Table*> tables;
    for (const auto& [id, share] : shares_) tables.push_back(share.table);
    std::ranges::sort(tables);
    // Not std::ranges::unique, which Clang 14 cannot compile with this library.
    return static_cast<size_t>(std::unique(tables.begin(), tables.end()) - tables.begin());
  }

  // All that the rows take that follow is set aside before anything is written, where they come. What the
  // limit does not have comes free when those are taken out that were there, or is held until then: all
  // lanes are, so that nobody else takes it.
  OpStatus PledgeDerived() {
    for (const DerivedRow& row : follower_->Changes()) {
      storage::PartitionRef partition;
      storage::Table* const table = engine_.FindHeld(row.table, row.partition_key, partition);
      LS_CHECK(table != nullptr, "the table has been looked for");
      derived_.Add(*table, partition, row);
    }
    if (!BackMany(CountTables() + derived_.table_count())) return OpStatus::kOutOfMemory;
    // What deletes is not refused for want of what it gives back.
    const auto purpose = std::ranges::any_of(writes_, IsUpsert)
                             ? memory::MemoryBudget::Purpose::kGrow
                             : memory::MemoryBudget::Purpose::kGiveBack;
    uint64_t bytes = 0;
    const OpStatus status = derived_.Pledge(purpose, bytes);
    if (status != OpStatus::kOk) return status;
    bytes -= std::min(bytes, follower_->BytesTakenOut());
    // Above a limit that was lowered nothing can be held, not even nothing.
    if (bytes != 0 && !engine_.budget_.TryHold(bytes, purpose)) return OpStatus::kOutOfMemory;
    derived_bytes_ = bytes;
    return OpStatus::kOk;
  }

  // What ApplyAll will do, in its order, with room for it in every log. What follows from the writes is not
  // written down: it follows again.
  OpStatus WriteDown() {
    records_.emplace(engine_.NextLogNumber());
    const auto add = [&](size_t number, const CommandBody& body) {
      const Command& command = writes_[number];
      records_->Add(*to_[number].lane->log(), *shares_.find(ShareIdOf(command))->second.table,
                    command.table, command.partition_key, body, ContextOf(command));
    };
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (IsUpsert(writes_[i])) add(i, writes_[i].body);
    }
    for (const NullsOf& nulls : nulls_) add(nulls.command, UpsertCommand{nulls.rows});
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (!IsUpsert(writes_[i])) add(i, writes_[i].body);
    }
    return records_->Reserve() ? OpStatus::kOk : OpStatus::kNotKept;
  }

  void ApplyAll(std::span<Reply> replies) {
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (IsUpsert(writes_[i])) replies[i] = Apply(i, writes_[i].body);
    }
    for (const NullsOf& nulls : nulls_) Apply(nulls.command, UpsertCommand{nulls.rows});
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (!IsUpsert(writes_[i])) replies[i] = Apply(i, writes_[i].body);
    }
  }

  WriteContext ContextOf(const Command& command) const {
    if (!command.timestamp.is_none()) return {command.timestamp, NowSeconds(), true};
    return {common_, NowSeconds(), common_is_foreign_};
  }

  Reply Apply(size_t number, const CommandBody& body) {
    const Command& command = writes_[number];
    const WriteContext write = ContextOf(command);
    if (command.timestamp.is_none() && !common_is_foreign_) {
      to_[number].lane->AdvanceTimestamp(common_);
    }
    storage::Table& table = *shares_.find(ShareIdOf(command))->second.table;
    const storage::PartitionRef partition{command.partition_key, to_[number].address};
    Reply reply;
    reply.timestamp = write.timestamp;
    if (const auto* upsert = std::get_if<UpsertCommand>(&body)) {
      reply.status = table.Upsert(partition, upsert->rows, write);
    } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&body)) {
      reply.status = table.DeleteRows(partition, rows->keys, write, &reply.rows);
    } else if (const auto* range = std::get_if<DeleteRangeCommand>(&body)) {
      reply.status = table.DeleteRange(partition, range->range, write,
                                       range->counts_rows ? &reply.rows : nullptr);
    } else {
      const bool counts = std::get<DeletePartitionCommand>(body).counts_rows;
      reply.status = table.DeletePartition(partition, write, counts ? &reply.rows : nullptr);
    }
    LS_CHECK(reply.status == OpStatus::kOk, "a pledged write does not fail");
    return reply;
  }

  // Those that the writes touch, to the follower, which keeps them: no more than there is memory for. One row
  // always is.
  OpStatus ShowRows() {
    const uint64_t bytes_max = std::max(4 * engine_.row_bytes_max(), uint64_t{24} << 20);
    follower_->OnAttempt();
    FollowedRows rows(*follower_, FollowedRows::When::kBefore, NowSeconds());
    // What deletes is always possible, and comes in steps where it is about many.
    if (std::ranges::any_of(writes_, IsUpsert)) rows.LimitTouched(bytes_max);
    for (size_t i = 0; i < writes_.size(); ++i) {
      const Command& command = writes_[i];
      if (!follower_->Follows(command.table)) continue;
      Share& share = shares_.find(ShareIdOf(command))->second;
      const storage::PartitionRef partition{command.partition_key, to_[i].address};
      rows.SendTouched(*share.table, partition, command.body, ContextOf(command).timestamp);
      if (rows.HasEnough()) {
        large_row_ = {.looked_at_bytes = rows.bytes(), .looked_at_bytes_max = bytes_max};
        return OpStatus::kRowTooLarge;
      }
      if (!share.foreseen) share.foreseen.emplace(*share.table, partition, NowSeconds());
    }
    return OpStatus::kOk;
  }
  // The same as they will be: what ApplyAll does, in its order, is told and not done.
  void ForeseeRows() {
    absl::InlinedVector<const storage::Table*, 16> foreign;  // have seen such a timestamp by then
    const auto tell = [&](size_t number, const CommandBody& body) {
      Share& share = shares_.find(ShareIdOf(writes_[number]))->second;
      WriteContext write = ContextOf(writes_[number]);
      const bool has_seen = std::ranges::find(foreign, share.table) != foreign.end();
      if (write.foreign_timestamp && !has_seen) foreign.push_back(share.table);
      write.foreign_timestamp |= has_seen;
      if (!share.foreseen) return;
      if (const auto* upsert = std::get_if<UpsertCommand>(&body)) {
        share.foreseen->Upsert(upsert->rows, write);
      } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&body)) {
        share.foreseen->DeleteRows(rows->keys, write.timestamp);
      } else if (const auto* range = std::get_if<DeleteRangeCommand>(&body)) {
        share.foreseen->DeleteRange(range->range, write.timestamp);
      } else {
        share.foreseen->DeletePartition(write.timestamp);
      }
    };
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (IsUpsert(writes_[i])) tell(i, writes_[i].body);
    }
    for (const NullsOf& nulls : nulls_) tell(nulls.command, UpsertCommand{nulls.rows});
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (!IsUpsert(writes_[i])) tell(i, writes_[i].body);
    }
    FollowedRows rows(*follower_, FollowedRows::When::kAfter, NowSeconds());
    for (auto& [id, share] : shares_) {
      if (!share.foreseen) continue;
      rows.SendForeseen(*share.table,
                        {writes_[share.command].partition_key, to_[share.command].address},
                        *share.foreseen);
    }
  }

  int64_t NowSeconds() const { return WholeSeconds(now_nanos_); }

  Engine& engine_;
  const std::span<const Command> writes_;
  const CallAddresses& guarded_;
  const uint64_t now_nanos_;
  const std::span<const RowLook> looks_;
  RowFollower* const follower_;
  std::vector<NullsOf> nulls_;
  bool foreign_ = false;
  absl::InlinedVector<Destination, 16> to_;
  absl::InlinedVector<uint32_t, 16> numbers_;  // of lanes that are written to or looked at
  absl::InlinedVector<uint32_t, 16> held_;     // the same; all where something follows
  std::map<ShareId, Share> shares_;
  WriteTimestamp common_;
  bool common_is_foreign_ = false;
  // Of conditions.
  absl::InlinedVector<Destination, 1> looked_at_;
  WriteTimestamp newest_seen_ = WriteTimestamp::None();
  bool applies_ = false;
  RowSize large_row_;
  std::optional<BatchRecords> records_;  // where a log is kept
  PledgedRows derived_;                  // what follows
  size_t many_arenas_ = 0;               // backed in the pool; 0: so few that it need not be
  uint64_t derived_bytes_ = 0;  // held of the budget for it, beside what is set aside in tables
};

OpStatus Engine::ExecuteBatch(std::span<const Command> writes, uint64_t now_nanos,
                              std::span<Reply> replies) {
  LS_CHECK(writes.size() == replies.size(), "a reply for every command");
  if (writes.empty()) return OpStatus::kOk;
  CallAddresses guarded;
  if (evicts()) {
    for (const Command& command : writes) {
      const Destination to = DestinationOf(command);
      guarded.Add(to.lane_number, to.address);
    }
    guarded.Sort();
  }
  const auto attempt = [&] {
    Batch batch(*this, writes, guarded, now_nanos);
    const OpStatus status = batch.Run(replies);
    replies.front().large_row = batch.large_row();
    return status;
  };
  const OpStatus status = attempt();
  if (!IsRefusal(status)) return status;
  return RetryWithRoom(status, now_nanos, writes.front().table, guarded, writes.front().evictions,
                       attempt);
}

ConditionalReply Engine::ExecuteConditional(const ConditionalWrite& write, uint64_t now_nanos) {
  LS_CHECK(!write.looks.empty() || write.follower != nullptr,
           "the write depends on something, or something on it");
  if (write.looks.empty() && write.writes.empty()) return {.applied = true, .timestamp = {}};
  CallAddresses guarded;
  for (const RowLook& look : write.looks) {
    LS_CHECK(look.conditions != nullptr, "somebody decides");
    const Destination to = DestinationOf(look.partition_key);
    guarded.Add(to.lane_number, to.address);
  }
  for (const Command& command : write.writes) {
    const Destination to = DestinationOf(command);
    guarded.Add(to.lane_number, to.address);
  }
  guarded.Sort();
  absl::InlinedVector<Reply, 4> replies(write.writes.size());
  ConditionalReply reply;
  const auto attempt = [&] {
    Batch batch(*this, write.writes, guarded, now_nanos, write.looks, write.follower);
    const OpStatus status = batch.Run({replies.data(), replies.size()});
    reply.applied = batch.applies();
    reply.timestamp = batch.timestamp();
    reply.large_row = batch.large_row();
    return status;
  };
  reply.status = attempt();
  if (IsRefusal(reply.status)) {
    LS_CHECK(!write.writes.empty(), "a look needs no memory");
    reply.status = RetryWithRoom(reply.status, now_nanos, write.writes.front().table, guarded,
                                 write.writes.front().evictions, attempt);
  }
  return reply;
}

}  // namespace liststore::shard
