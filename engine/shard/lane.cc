#include "engine/shard/lane.h"

#include <algorithm>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/gone_records.h"

namespace liststore::shard {
namespace {

constexpr size_t kTablesAtFirst = 8;

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace

Lane::Lane(const Router& router, memory::PagePool& pool, memory::MemoryBudget& budget)
    : router_(router), pool_(pool), budget_(budget) {
  UseArray(NewArray(kTablesAtFirst), kTablesAtFirst);
}

Lane::~Lane() = default;

std::unique_ptr<Lane::NewTable> Lane::Prepare(const TableSchema& schema, size_t number) {
  auto made = std::make_unique<NewTable>();
  made->schema = schema;
  if (schema.id.value < table_count_) return made;
  const storage::AddressOf& address_of = *this;
  made->table = std::make_unique<storage::Table>(schema, pool_, budget_, address_of);
  const size_t count = table_count_ + number + 1;
  if (owned_.capacity() < count) owned_.reserve(std::max(count, 2 * owned_.capacity()));
  arrays_.reserve(arrays_.size() + number + 1);
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  if (count > capacity) {
    made->larger_size = std::max(count, 2 * capacity);
    made->larger = NewArray(made->larger_size);
  }
  return made;
}

void Lane::Add(NewTable& made) {
  const size_t value = made.schema.id.value;
  if (value < table_count_) {
    table_at(made.schema.id.value).Reuse(std::move(made.schema));
    return;
  }
  LS_CHECK(value == table_count_, "table ids come in order");
  if (table_count_ == capacity_.load(std::memory_order_relaxed)) {
    for (size_t i = 0; i < table_count_; ++i) {
      made.larger[i].store(&table_at(static_cast<uint16_t>(i)), std::memory_order_relaxed);
    }
    UseArray(std::move(made.larger), made.larger_size);
  }
  owned_.push_back(std::move(made.table));
  tables_.load(std::memory_order_relaxed)[table_count_].store(owned_.back().get(),
                                                              std::memory_order_release);
  ++table_count_;
}

void Lane::UseArray(TableArray array, size_t size) {
  arrays_.push_back(std::move(array));
  tables_.store(arrays_.back().get(), std::memory_order_release);
  capacity_.store(size, std::memory_order_release);
}

WriteTimestamp Lane::NextTimestamp(uint64_t now_nanos) const {
  return {std::max(static_cast<int64_t>(now_nanos / 1000), last_timestamp_.micros + 1)};
}

void Lane::AdvanceTimestamp(WriteTimestamp timestamp) {
  last_timestamp_ = std::max(last_timestamp_, timestamp);
}

void Lane::ExecuteOther(const Command& command, storage::Table& into, uint64_t address,
                        uint64_t now_nanos, Reply& reply) {
  if (log_ != nullptr) [[unlikely]]
    return ExecuteLogged(command, into, address, now_nanos, reply);
  Apply(command, into, address, now_nanos, reply);
}

void Lane::Apply(const Command& command, storage::Table& into, uint64_t address, uint64_t now_nanos,
                 Reply& reply) {
  const storage::PartitionRef partition{command.partition_key, address};
  const int64_t now_seconds = WholeSeconds(now_nanos);
  const auto write = [&] {
    WriteContext context;
    context.now_seconds = now_seconds;
    context.foreign_timestamp = !command.timestamp.is_none();
    if (context.foreign_timestamp) {
      context.timestamp = command.timestamp;
    } else {
      context.timestamp = NextTimestamp(now_nanos);
      AdvanceTimestamp(context.timestamp);
    }
    reply.timestamp = context.timestamp;
    into.set_eviction_log(command.evictions);
    return context;
  };
  // What another table's growth evicts is no affair of this call's.
  const absl::Cleanup end = [&] { into.set_eviction_log(nullptr); };
  std::visit(Overloaded{
                 [&](const UpsertCommand& upsert) {
                   reply.status = into.Upsert(partition, upsert.rows, write());
                   if (reply.status == OpStatus::kRowTooLarge) [[unlikely]] {
                     reply.large_row = into.large_row();
                   }
                 },
                 [&](const DeleteRowsCommand& rows) {
                   reply.status = into.DeleteRows(partition, rows.keys, write(), &reply.rows);
                 },
                 [&](const DeleteRangeCommand& range) {
                   reply.status = into.DeleteRange(partition, range.range, write(),
                                                   range.counts_rows ? &reply.rows : nullptr);
                 },
                 [&](const DeletePartitionCommand& all) {
                   reply.status = into.DeletePartition(partition, write(),
                                                       all.counts_rows ? &reply.rows : nullptr);
                 },
                 [&](const DeleteByValueCommand& by_value) {
                   reply.status = into.DeleteRowsByValue(partition, by_value.column, by_value.value,
                                                         write(), &reply.rows);
                 },
                 [](const ReadCommand&) { LS_UNREACHABLE("a read is executed in line"); },
                 [&](const CountCommand& count) {
                   uint64_t dead_rows = 0;
                   LS_DCHECK(count.looks_max == UINT64_MAX || count.stopped_at != nullptr,
                             "who bounds a count is told where it ended");
                   reply.rows = into.Count(partition, count.range, now_seconds, &dead_rows,
                                           count.looks_max, count.stopped_at);
                   reply.info.SetDeadRows(dead_rows);
                 },
                 [&](const PutCommand& put) {
                   const storage::PutSpec spec{put.fresh_until_seconds, put.unless_since};
                   reply.status = into.Put(partition, put.rows, spec, write(), reply.refused);
                   if (reply.status == OpStatus::kRowTooLarge) [[unlikely]] {
                     reply.large_row = into.large_row();
                   }
                 },
                 [&](const ForgetCommand&) {
                   into.set_eviction_log(command.evictions);
                   reply.rows = into.Forget(partition) ? 1 : 0;
                 },
             },
             command.body);
}

}  // namespace liststore::shard
